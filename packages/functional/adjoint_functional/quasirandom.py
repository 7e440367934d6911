"""`quasirandom`: sequences that fill a cube more evenly than random points do."""

from __future__ import annotations

import base64

from adjoint_core import Tensor, _core
from adjoint_core import dtype as DType

__all__ = ["SobolEngine"]

_DEGREES = (1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176)
"How many primitive polynomials over two elements there are of each degree from one on."

_NUMBERS = (
    "7ZHWEP)L-"
    "Vn@d0=<<*CAaKlx>xbehC*xXpA(g*LJnYitUhdl8^N?@83Q>>?`{Zp|?J+28Oel{ckyexI4$c{?u1)KU<N907bcvA}v+yme5rg_YtVndGn4W_U3-"
    "#?fotzz;`Y1fhP^0lCr*uxJz$$~6_nMS5^oVXVt%N;I9&XMuGxi_dnJs2KFwsP3>he#UDqyD{GFIClq2$iGD`rfbxun8g%5Y9!gY7y~yX89Rtp^vu3!jgm"
    "MwJ&^HYVb?*eM*ULH^`p*ow7s!*%(khGT&(hIE1S9`I1U*4ek^gMWI0hK~nY(u-"
    "|@FPz{s?Tk;#@KkqfjXInpK3Z(vLhsN!b@{nyTYJFR;2Z1rrtb97~d;pP{PDRgGiovz-kMY>Fr>mHe3<Qp^geeI>3{Rct6xs-PI(6q|hplDdtdj$4to29H"
    "wbBaOR$}W<33=kV51FR{{+s8VSO>xYKoZ$|oL_Ye@!C!{HF(XvNL<3M;~TZ9Ls>2sGVo63KXb^drf$$CQ*7*Wwgtx*-"
    ")s&1@AOm&OUKr~xrBO21ac8l{H<IAOXl|<nl~Y%vGUngT9D}u@Y+2x?leS*0Pc+{`#|}W3WWK8RL&F^F>MAHd@5oxMR4Mo_?jc$c$4}uhXtSR%1-"
    "B*$tSRj2!FhD-wRrup^(YQQ3J-"
    "P{ws4PR7Fyr`&QeDm=5EiGd!#(ObyMl79WblZ0($ktoqEh1R%M!j^&|osiQCzuUp%7a%?J9WvG%bV{Xf#ah%XfSk8qt<+x9<(+o8!Zxi}^1kLXIaOoi+{Q"
    "cyb%DD$qLeax}nIoYv1g9&w14)c^`swYo8y);P3qx?oyP#bAAaRm1{tdOUwAA{$7wC9Ag>}FeW5G|IHz8|#Ni>_3^@%fSU3eoU)Bs>%Mxf>0Sz51g3{_kE"
    "wpdY7`dItj%1^7`(2I2&&VawU<3rx%^wtMigGwZGTymZT?CEj(qa{m0zNED24^qpQHK`f|W{Ve_vCfxw!><ytc~_JF*Ol)nt+yOgZ@ea78;t-"
    "YPn)SU&GgvU9QoU|LVHtZuSk5J-#&WfFSYT<CLA&5vjXgm@g7bHbryJIt<;@(V^qKovgKK7<g$P+#0--yGCM*5K3scYZ!-"
    "oPA>p=WbF>U<hr{Ipn?W2trhG)VSHV4u6)iI!fewtwA`e)N^DHPKHNfYUdtG~CXD9rNdf!h)V8jMTzd!&BGloMM8XemiCgYxsV|)!XoIRD0ZIp0uD5k%j`"
    "`B9N(8rZKE$@5Ofi|<3g)y|%;}@YJ3)H%6$U$|KJH4ztk(q(eSa<b<B*03-Z3tXxN|bk5Vv{2Fom{e!N&8cNJux6&4eeqvi{jX-hNDG<A>|>~GOXJGgo<Q"
    "tCo4MXzm>+hftZRrU@nuZxA8Z%UtN9@%E$vemcP`;Ay;|qH-"
    "f>j{@)NR7#@S~P{t*aO0MR<sVG6@eqznLMrJ7v9E+Pjn_A|EG5a`)Go@MZMGSVVE~tz=>eBK=EI=^DM#J`r>fom4tt$c~mfouyl>8Y8sEHS)TBVfGOGq}L"
    "h!R_&Kx<CGDJ~R64l!N)w5}bJ!cyE>UZ&45dA+eWi;8@0Vv<^!?@Fce6a&<coLw;d$&&)YczL-iRG{$%#VlA8DKg|c&7l^XQ!~iMi!xQPsZ{VW-I_cGRbl"
    "*NsUG7Uvtp}mppiz1Xhl(w`?0-"
    "BRtwj!#xU$|`WD@Uul$vTgs!L)@;2!>>|Km?zaKV{Y`k`B7)`i*UVZgjquO_0KLTqtAQSv$F%f3p!x0Pp%16wP^Dw7R?30<9Y^m}$7ymO-"
    "8~+ws!4+r}r8@TMSKHE*WPz-TZ5ONwwp3Rn8VO#*nVEjm>=?=>qT4QinDoDG^iRy_tLN+6KaaiQrb=nJo5gtUyTw#-"
    "i?TBE04n6<zyhG4fYd_DF=>!Wue@KbtBt5h`ouPF7f6<XVU+gvPEX!x$GPH9-"
    "q8d^ih3cVz5G`qkQdpIdv+Z##dZ3#`MTNU;qo8u_LZZogE26b3Vha(?*H6)8mK}hxe(`}WpK={Oj0Er@u2ZAnd<cXX+=a#mx^_DJ&aHWO$hUPy&7YpEzJr"
    "BPB}7zbK%IG35B$<UKad_dJ);H@4tKxc3SepQE-2#Jl`Z;g}^xYSj<WMsWC;g#zB@%j|dGy2-"
    "h#;Pug*afPZ7!FLLIQ_nXXQIXMr?>)oU|Y57s_47yTN<p(Fi41*OX^`$(E>DHf4l$JBkM8NKzY}K2dS+LGPEl{<5RXQ7oqM`ht@=9+Vt!P3h;U$$#>J8}L"
    "gb3xgG@+$xF9=}(YMYA~I92+7)aZmlb4Z1ts(?UHbp!StRxyg^Y6+AKv2qA9@l|CrZ{1g_+`ETu;hN39ZIIjYNY+Iiu>(~H{cH$-"
    "MUZF=ky@oFz?mE*V7EkD8`>-_S8rR6*Ebc~*W~gF-"
    "2N+@xz}A|lugbw^|U(`k)h(qD}+}#`x~RydOYt2@FS6^YFgj=rdBtJp`F0=BiOKJX?TYXkgbcmPmK_tENBtR^=v18zZ&QU{`yqx1AORE{esDO5)EPZa}Lk"
    "3JAQwV%SnA?K7~eh(hXtBC&UcLM-4xfJJnKiht*CmclT`3e#+Hx9yo%*WU%}6{3R@y7CiIud8**J<{^9qw640&20wQ@X-"
    "#dGyz)fL)7Y3JZ`j!SsHKEluA5;_U5_yt50_a6&wfVM%mG6dyX_2ZDM<9(%$uA+qmq|3!nfJmF@c5Gu5gBP{Yh4S8RO3QBtyP(A<U1>H1lrF=9^2sPRzZ9"
    "<6TGVZo>Qd+Saajb`i0Ci?%(1aPIOE#HTxO)j~{}e=K;UG3$s&K0oq`lyX3kI;Q25;ZqN=Q9sSEy>NL~B_XDl>C2{YDyUfhM7P3n&zRA^sWiGOSmR>;nJ`"
    "b_ecdDdR-)28w~wLx4<9?_B0@^~J5jE1Xv%N"
)
"""For each dimension but the first the coefficients of its polynomial between the ends, and its first direction numbers without
their last bit: those that S. Joe and F. Kuo found (Constructing Sobol sequences with better two-dimensional projections, SIAM J. Sci.
Comput. 30, 2008; their list new-joe-kuo-6.21201), bit after bit."""


def _directions(dimension: int, bits: int) -> list[list[int]]:
    """The direction numbers of each dimension, as multiples of 2**-bits."""
    rest = int.from_bytes(base64.b85decode(_NUMBERS), "little")

    def taken(width: int) -> int:
        nonlocal rest
        value, rest = rest & ((1 << width) - 1), rest >> width
        return value

    found = [[1 << (bits - 1 - i) for i in range(bits)]]
    for degree in (s for s, count in enumerate(_DEGREES, 1) for _ in range(count)):
        if len(found) == dimension:
            break
        polynomial = taken(degree - 1)
        m = [2 * taken(i) + 1 for i in range(degree)]
        for i in range(degree, bits):
            new = m[i - degree] ^ (m[i - degree] << degree)
            for k in range(1, degree):
                if polynomial >> (degree - 1 - k) & 1:
                    new ^= m[i - k] << k
            m.append(new)
        found.append([v << (bits - 1 - i) for i, v in enumerate(m)])
    return found


class SobolEngine:
    """Points of Sobol's sequence in [0, 1)**dimension, in the order of the Gray code.

    Arguments:
        dimension: from 1 to MAXDIM, 337.
        scramble: multiply the bits of all points by random triangular matrices, and shift them.
        seed: of those; without it the default generator draws them.

    Raises:
        ValueError: a dimension out of range.

    Example::

        >>> ad.quasirandom.SobolEngine(2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])
    """

    MAXBIT = 30
    MAXDIM = 1 + sum(_DEGREES)

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}], got {dimension}")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = _core.tensor(_directions(dimension, self.MAXBIT), dtype=_core.int64)
        self.shift = _core.zeros(dimension, dtype=_core.int64)
        if scramble:
            self._scramble()
        self.quasi, self.num_generated = self.shift.clone(), 0

    def _scramble(self) -> None:
        drawn = {} if self.seed is None else {"generator": _core.Generator().manual_seed(self.seed)}
        n, bits = self.dimension, self.MAXBIT
        up = _core.arange(bits, dtype=_core.int64)
        self.shift = (_core.randint(0, 2, (n, bits), **drawn) << up).sum(1)
        lower = _core.randint(0, 2, (n, bits, bits), **drawn).tril(-1) + _core.eye(bits, dtype=_core.int64)
        down = bits - 1 - up
        own = (self.sobolstate.unsqueeze(-1) >> down) & 1
        self.sobolstate = (((own.double() @ lower.mT.double()).long() & 1) << down).sum(-1)

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next n points, (n, dimension), also put into `out`; ValueError where n is negative."""
        if n < 0:
            raise ValueError(f"SobolEngine: the number of points must not be negative, got {n}")
        at = _core.arange(n, dtype=_core.int64).unsqueeze(1) + self.num_generated
        code, points = at ^ (at >> 1), self.shift.expand(n, self.dimension)
        for bit in range((self.num_generated + n).bit_length()):
            points = points ^ (((code >> bit) & 1) * self.sobolstate[:, bit])
        if n:
            self.quasi = points[-1].clone()
        self.num_generated += n
        found = points.to(_core.get_default_dtype() if dtype is None else dtype) / 2**self.MAXBIT
        return found if out is None else out.resize_(found.shape).copy_(found)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next 2**m points; ValueError where those before them do not add up to a power of two."""
        total = self.num_generated + 2**m
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}={total}. "
                "If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(2**m, out, dtype)

    def reset(self) -> SobolEngine:
        """Back to the first point."""
        self.quasi, self.num_generated = self.shift.clone(), 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves n points out."""
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        told = [f"dimension={self.dimension}"] + ["scramble=True"] * self.scramble
        return f"{type(self).__name__}({', '.join(told + ([] if self.seed is None else [f'seed={self.seed}']))})"
