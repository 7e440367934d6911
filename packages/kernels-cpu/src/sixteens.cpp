#include "sixteens.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "isa.h"
#include "sixteens_tables.h"

namespace adjoint::cpu::sixteens {

namespace {

#define SIXTEEN [[ADJOINT_AVX512, gnu::always_inline]] static inline

using V = __m512;
using I = __m512i;

SIXTEEN V every(float x) { return _mm512_set1_ps(x); }
SIXTEEN I every(int32_t x) { return _mm512_set1_epi32(x); }
SIXTEEN I bits(V x) { return _mm512_castps_si512(x); }
SIXTEEN V number(I x) { return _mm512_castsi512_ps(x); }
SIXTEEN V minus(V x) { return _mm512_sub_ps(_mm512_setzero_ps(), x); }
SIXTEEN V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
SIXTEEN V with_sign(V size, V of) { return _mm512_or_ps(size, _mm512_and_ps(of, every(-0.f))); }
// The smaller one, NaN if x is.
SIXTEEN V at_most(float high, V x) { return _mm512_min_ps(every(high), x); }

// t[at mod 32]
SIXTEEN V look(const float (&t)[32], I at) { return _mm512_permutex2var_ps(_mm512_load_ps(t), at, _mm512_load_ps(t + 16)); }

template <class... C> SIXTEEN V poly(V x, float c, C... rest) {
  if constexpr (sizeof...(rest) == 0) return every(c);
  else return fma(x, poly(x, rest...), every(c));
}

// ---- logarithms

// x = m 2^e with m in [3/4, 3/2); 1 / m is about inverse, whose logarithm has few bits; a polynomial for what is left of m, at most 1/32.
// An exponent is infinite for 0 and infinity, and the mantissa of a negative number is NaN. `rest` is added before the last rounding.
template <const Base& b> SIXTEEN V logarithm(V x, V rest) {
  const V m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), e = _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(m));
  const I at = _mm512_srli_epi32(bits(m), 18);
  const V r = fma(m, look(b.inverse, at), every(-1.f)), q = poly(r, b.unit_low, b.q[0], b.q[1], b.q[2], b.q[3]);
  V small = fma(r, every(b.unit), fma(r, q, rest));
  if constexpr (b.two_low != 0) small = fma(e, every(b.two_low), small);
  return _mm512_add_ps(fma(e, every(b.two), look(b.logarithm, at)), small);
}
template <const Base& b> struct Logarithm {
  SIXTEEN V of(V x) { return logarithm<b>(x, _mm512_setzero_ps()); }
};

// log(x / (1 - x)): the logarithm of the rounded quotient q and what rounding took, (x - q (1 - x)) / x.
struct Logit {
  float low, high;
  [[ADJOINT_AVX512, gnu::always_inline]] inline V of(V x) const {
    x = _mm512_mask_mov_ps(at_most(high, x), _mm512_cmp_ps_mask(x, every(low), _CMP_LT_OQ), every(low));   // low may be above high
    const V below = _mm512_sub_ps(every(1.f), x), lost = _mm512_sub_ps(_mm512_sub_ps(every(1.f), below), x);
    const V q = _mm512_div_ps(x, below), rest = _mm512_fnmadd_ps(q, lost, _mm512_fnmadd_ps(q, below, x));
    const __mmask16 some = _mm512_cmp_ps_mask(_mm512_abs_ps(rest), _mm512_setzero_ps(), _CMP_GT_OQ);
    return logarithm<natural>(q, _mm512_maskz_mul_ps(some, rest, _mm512_rcp14_ps(x)));
  }
};

// ---- angles

// x = n pi/2 + r + low, for |x| < 2^13: what is left of three parts of pi/2, as the sum of two floats however near 0 it is.
struct Angle {
  V r, low;
  I n;
};
constexpr float large = 0x1p13f;
SIXTEEN Angle reduce(V x) {
  const V magic = every(0x1.8p23f), shifted = fma(x, every(0x1.45f306p-1f), magic), n = _mm512_sub_ps(shifted, magic);
  const V a = _mm512_fnmadd_ps(n, every(0x1.921fb6p0f), x);                                       // exact
  const V b = _mm512_mul_ps(n, every(-0x1.777a5cp-25f)), lost = _mm512_fmsub_ps(n, every(-0x1.777a5cp-25f), b);
  const V r = _mm512_sub_ps(a, b), taken = _mm512_sub_ps(r, a);                                   // r + error = a - b, whichever is larger
  const V error = _mm512_sub_ps(_mm512_sub_ps(a, _mm512_sub_ps(r, taken)), _mm512_add_ps(b, taken));
  return {r, _mm512_sub_ps(fma(n, every(0x1.ee59dap-50f), error), lost), bits(shifted)};
}
SIXTEEN __mmask16 is_odd(I n) { return _mm512_test_epi32_mask(n, every(1)); }
// sin(x + quarters pi/2)
template <int quarters> struct Sine {
  static float exact(float x) { return quarters ? math::cos(x) : math::sin(x); }
  SIXTEEN V of(V x) {
    const Angle a = reduce(x);
    const I n = _mm512_add_epi32(a.n, every(quarters));
    const V z = _mm512_mul_ps(a.r, a.r), half = _mm512_mul_ps(z, every(.5f)), most = _mm512_sub_ps(every(1.f), half);
    const V s = fma(_mm512_mul_ps(a.r, z), poly(z, -0x1.555546p-3f, 0x1.11075cp-7f, -0x1.994cf8p-13f), a.low);
    const V lost = _mm512_fnmadd_ps(a.r, a.low, _mm512_sub_ps(_mm512_sub_ps(every(1.f), most), half));
    const V c = fma(_mm512_mul_ps(z, z), poly(z, 0x1.55554ap-5f, -0x1.6c0c2ep-10f, 0x1.99ea02p-16f), lost);
    const __mmask16 odd = is_odd(n);
    const V y = _mm512_add_ps(_mm512_mask_blend_ps(odd, a.r, most), _mm512_mask_blend_ps(odd, s, c));
    const V signed_y = number(_mm512_xor_si512(bits(y), _mm512_slli_epi32(_mm512_srli_epi32(n, 1), 31)));
    return quarters ? signed_y : _mm512_mask_mov_ps(signed_y, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ), x);   // keeps -0
  }
};
struct Tangent {
  static float exact(float x) { return math::tan(x); }
  SIXTEEN V of(V x) {
    const Angle a = reduce(x);
    const V z = _mm512_mul_ps(a.r, a.r);
    const V tail = poly(z, 0x1.55556p-2f, 0x1.110d88p-3f, 0x1.badd12p-5f, 0x1.5ca31ap-6f, 0x1.63561p-7f, 0x1.4acaap-14f, 0x1.1f2858p-8f);
    const V q = fma(_mm512_mul_ps(a.r, z), tail, fma(a.low, z, a.low)), y = _mm512_add_ps(a.r, q), low = _mm512_add_ps(_mm512_sub_ps(a.r, y), q);
    const V inverse = _mm512_div_ps(every(-1.f), y), error = fma(inverse, low, fma(inverse, y, every(1.f)));
    const V both = _mm512_mask_blend_ps(is_odd(a.n), y, fma(inverse, error, inverse));
    return _mm512_mask_mov_ps(both, _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ), x);
  }
};

// ---- in 32 pieces

// f(a) = c + rest for 0 <= a <= 15, c without an error: pieces of [0, 1), [1, 3), [3, 7) and [7, 15), eight each.
struct Value {
  V c, rest;
};
template <const Pieces& p, size_t... k> SIXTEEN Value piece(V a, std::index_sequence<k...>) {
  const I at = _mm512_srli_epi32(bits(_mm512_add_ps(at_most(14.99f, a), every(1.f))), 20);
  const V t = _mm512_sub_ps(a, look(p.centre, at));
  V y = look(p.c[p.degree - 1], at);
  ((y = fma(y, t, look(p.c[p.degree - 2 - k], at))), ...);
  return {look(p.c0, at), fma(y, t, look(p.c0_low, at))};
}
template <const Pieces& p> SIXTEEN Value piece(V a) { return piece<p>(a, std::make_index_sequence<p.degree - 1>()); }

// tanh(a) / a, a up to 9.1.
struct Tanh {
  SIXTEEN V of(V x) {
    const V a = at_most(9.1f, _mm512_abs_ps(x));
    const Value f = piece<tanh_ratio>(a);
    return with_sign(at_most(1.f, fma(a, f.c, _mm512_mul_ps(a, f.rest))), x);
  }
};
// erfinv(y) / y of w = -log(1 - y^2), up to 16.
struct Erfinv {
  SIXTEEN V of(V x) {
    const V a = _mm512_abs_ps(x);
    const V w = minus(Logarithm<natural>::of(_mm512_mul_ps(_mm512_sub_ps(every(1.f), a), _mm512_add_ps(every(1.f), a))));
    const Value f = piece<erfinv_ratio>(w);
    const V y = fma(a, f.c, _mm512_mul_ps(a, f.rest));
    return with_sign(_mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(a, every(1.f), _CMP_EQ_OQ), every(math::infinity<float>)), x);
  }
};
// e^-a^2 erfcx(a), with a^2 = h^2 + l, h^2 exact.
struct Erfc {
  SIXTEEN V of(V x) {
    const V a = at_most(10.1f, _mm512_abs_ps(x));
    const V h = _mm512_and_ps(a, number(every(static_cast<int32_t>(0xfffff000)))), square = _mm512_mul_ps(h, h);
    const V magic = every(0x1.8p23f), rounded = _mm512_sub_ps(_mm512_fnmadd_ps(square, every(1.44269504f), magic), magic);
    const V n = _mm512_max_ps(every(-200.f), rounded);   // of NaN, which -infinity would make 0
    const V first = _mm512_fnmsub_ps(n, every(.693359375f), square);   // exact
    const V rest = fma(_mm512_sub_ps(a, h), _mm512_add_ps(a, h), _mm512_mul_ps(n, every(-2.12194440e-4f)));
    const V r = _mm512_sub_ps(first, rest), lost = _mm512_sub_ps(_mm512_sub_ps(first, r), rest);
    const V tail = poly(r, .500000007f, .166666659f, .0416662922f, .00833349834f, .00139448689f, .000197901378f);
    const V e = _mm512_add_ps(r, fma(_mm512_mul_ps(r, r), tail, lost));
    const Value f = piece<erfcx>(a);
    const V y = _mm512_scalef_ps(_mm512_add_ps(f.c, fma(e, f.c, fma(e, f.rest, f.rest))), n);
    return _mm512_mask_sub_ps(y, _mm512_movepi32_mask(bits(x)), every(2.f), y);
  }
};

// ---- loops

template <class F> [[ADJOINT_AVX512, gnu::always_inline]] inline V checked(V x, const F& f) {
  V y = f.of(x);
  if constexpr (requires { F::exact(0.f); }) {
    const __mmask16 hard = _mm512_cmp_ps_mask(_mm512_abs_ps(x), every(large), _CMP_GE_OQ);
    if (hard) [[unlikely]]
      for (int j = 0; j < 16; j++)
        if (hard >> j & 1) y[j] = F::exact(x[j]);
  }
  return y;
}
template <class F> [[ADJOINT_AVX512]] void loop(float* y, const float* x, int64_t n, F f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, checked(_mm512_loadu_ps(x + i), f));
  if (i == n) return;
  const __mmask16 rest = static_cast<__mmask16>((1 << (n - i)) - 1);
  _mm512_mask_storeu_ps(y + i, rest, checked(_mm512_maskz_loadu_ps(rest, x + i), f));
}

}  // namespace

void cos(float* y, const float* x, int64_t n) { loop(y, x, n, Sine<1>{}); }
void erfc(float* y, const float* x, int64_t n) { loop(y, x, n, Erfc{}); }
void erfinv(float* y, const float* x, int64_t n) { loop(y, x, n, Erfinv{}); }
void log(float* y, const float* x, int64_t n) { loop(y, x, n, Logarithm<natural>{}); }
void log10(float* y, const float* x, int64_t n) { loop(y, x, n, Logarithm<decimal>{}); }
void log2(float* y, const float* x, int64_t n) { loop(y, x, n, Logarithm<binary>{}); }
void logit(float* y, const float* x, int64_t n, float low, float high) { loop(y, x, n, Logit{low, high}); }
void sin(float* y, const float* x, int64_t n) { loop(y, x, n, Sine<0>{}); }
void tan(float* y, const float* x, int64_t n) { loop(y, x, n, Tangent{}); }
void tanh(float* y, const float* x, int64_t n) { loop(y, x, n, Tanh{}); }

}  // namespace adjoint::cpu::sixteens

#endif
