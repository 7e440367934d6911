#include "eights.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include <utility>

#include "eights_tables.h"
#include "isa.h"

namespace adjoint::cpu::eights {

namespace {

#define EIGHT [[ADJOINT_AVX512, gnu::always_inline]] static inline

using V = __m512d;

EIGHT V every(double x) { return _mm512_set1_pd(x); }
EIGHT V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
// Which the compiler does not fuse with what follows.
EIGHT V rounded_product(V a, V b) { return _mm512_mul_round_pd(a, b, _MM_FROUND_CUR_DIRECTION); }
// The smaller one, NaN if x is.
EIGHT V at_most(double high, V x) { return _mm512_min_pd(every(high), x); }

// t[at mod 16]
EIGHT V look(const double (&t)[16], __m512i at) { return _mm512_permutex2var_pd(_mm512_load_pd(t), at, _mm512_load_pd(t + 8)); }

// c[0] + c[1] x + c[2] x^2 + ..., whose even and odd powers are two chains.
template <size_t n, size_t... k> EIGHT V chain(V z, const double (&c)[n], std::index_sequence<k...>, size_t last) {
  V y = every(c[last]);
  ((y = fma(y, z, every(c[last - 2 - 2 * k]))), ...);
  return y;
}
template <size_t n> EIGHT V poly(V x, const double (&c)[n]) {
  const V z = _mm512_mul_pd(x, x);
  constexpr size_t even = (n - 1) / 2 * 2, odd = (n - 2) / 2 * 2 + 1;
  return fma(x, chain(z, c, std::make_index_sequence<(odd - 1) / 2>(), odd), chain(z, c, std::make_index_sequence<even / 2>(), even));
}

// x = m 2^e with m in [3/4, 3/2); 1 / m is about inverse, whose logarithm has few bits; a polynomial for what is left of m, at most 1/16.
// An exponent is infinite for 0 and infinity, and the mantissa of a negative number is NaN. `rest` is added before the last rounding.
template <const Base& b> EIGHT V logarithm(V x, V rest) {
  const V m = _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan), e = _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(m));
  const __m512i at = _mm512_srli_epi64(_mm512_castpd_si512(m), 48);
  const V inverse = look(b.inverse, at), product = rounded_product(m, inverse), lost = _mm512_fmsub_pd(m, inverse, product);
  const V r = _mm512_sub_pd(product, every(1)), q = poly(r, b.q);
  V low = fma(_mm512_mul_pd(r, r), q, fma(lost, fma(r, every(-b.unit), every(b.unit)), rest));
  if constexpr (b.unit_low != 0) low = fma(r, every(b.unit_low), low);
  if constexpr (b.two_low != 0) low = fma(e, every(b.two_low), low);
  const V high = fma(e, every(b.two), look(b.logarithm, at)), sum = fma(r, every(b.unit), high);   // high is 0, or larger
  const __mmask8 finite = _mm512_cmp_pd_mask(_mm512_abs_pd(sum), every(math::infinity<double>), _CMP_NEQ_UQ);
  return _mm512_mask_add_pd(sum, finite, sum, _mm512_add_pd(fma(r, every(b.unit), _mm512_sub_pd(high, sum)), low));
}
template <const Base& b> struct Logarithm {
  EIGHT V of(V x) { return logarithm<b>(x, _mm512_setzero_pd()); }
};

// log(x / (1 - x)): the logarithm of the rounded quotient q and what rounding took, (x - q (1 - x)) / x.
struct Logit {
  double low, high;
  [[ADJOINT_AVX512, gnu::always_inline]] inline V of(V x) const {
    x = _mm512_mask_mov_pd(at_most(high, x), _mm512_cmp_pd_mask(x, every(low), _CMP_LT_OQ), every(low));   // low may be above high
    const V below = _mm512_sub_pd(every(1), x), lost = _mm512_sub_pd(_mm512_sub_pd(every(1), below), x);
    const V q = _mm512_div_pd(x, below), rest = _mm512_fnmadd_pd(q, lost, _mm512_fnmadd_pd(q, below, x));
    const __mmask8 some = _mm512_cmp_pd_mask(_mm512_abs_pd(rest), _mm512_setzero_pd(), _CMP_GT_OQ);
    V inverse = _mm512_rcp14_pd(x);
#pragma GCC unroll 2
    for (int k = 0; k < 2; k++) inverse = fma(inverse, _mm512_fnmadd_pd(x, inverse, every(1)), inverse);   // next to 1/2 most of q is lost
    return logarithm<natural>(q, _mm512_maskz_mul_pd(some, rest, inverse));
  }
};

// e^x = 2^(n / 16) e^r. What vanishes is chosen: a product that underflows takes long.
struct Exponential {
  EIGHT V of(V given) {
    const __mmask8 some = _mm512_cmp_pd_mask(given, every(-745.2), _CMP_NLT_UQ);
    const V x = _mm512_maskz_mov_pd(some, at_most(720, given)), magic = every(0x1.8p52);
    const V shifted = fma(x, every(0x1.71547652b82fep+4), magic), n = _mm512_sub_pd(shifted, magic);
    const V r = _mm512_fnmadd_pd(n, every(0x1.cf79abc9e3b3ap-44), _mm512_fnmadd_pd(n, every(0x1.62e42fefap-5), x));
    const __m512i at = _mm512_castpd_si512(shifted);
    constexpr double c[] = {0x1.0000000000005p-1, 0x1.555555548f75bp-3, 0x1.5555555460983p-5, 0x1.11123abca337fp-7, 0x1.6c185ca82eedp-10};
    const V power = look(eights::power, at), e = fma(_mm512_mul_pd(r, r), poly(r, c), r);
    const V y = _mm512_add_pd(power, fma(power, e, look(power_low, at)));
    return _mm512_maskz_scalef_pd(some, y, _mm512_mul_pd(n, every(.0625)));
  }
};

// Sixteen pieces of 25/64 each.
template <size_t... k> EIGHT V piece(const Pieces& p, V t, __m512i at, std::index_sequence<k...>) {
  V y = look(p.c[11], at);
  ((y = fma(y, t, look(p.c[10 - k], at))), ...);
  return fma(y, t, look(p.c0_low, at));
}
struct Erf {
  EIGHT V of(V x) {
    const V a = at_most(5.95, _mm512_abs_pd(x)), magic = every(0x1.8p52);
    const V shifted = fma(a, every(2.56), magic), t = _mm512_fnmadd_pd(_mm512_sub_pd(shifted, magic), every(25. / 64), a);
    const __m512i at = _mm512_castpd_si512(shifted);
    const __mmask8 is_small = _mm512_cmp_pd_mask(shifted, every(0x1.8p52 + 2), _CMP_LE_OQ);
    const V factor = _mm512_mask_mov_pd(every(1), is_small, a);
    const V y = fma(factor, look(erf_pieces.c0, at), _mm512_mul_pd(factor, piece(erf_pieces, t, at, std::make_index_sequence<11>())));
    return _mm512_or_pd(y, _mm512_and_pd(x, every(-0.)));
  }
};

// ---- loops

template <class F> [[ADJOINT_AVX512]] void loop(double* y, const double* x, int64_t n, F f) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm512_storeu_pd(y + i, f.of(_mm512_loadu_pd(x + i)));
  if (i == n) return;
  const __mmask8 rest = static_cast<__mmask8>((1 << (n - i)) - 1);
  _mm512_mask_storeu_pd(y + i, rest, f.of(_mm512_maskz_loadu_pd(rest, x + i)));
}

}  // namespace

void erf(double* y, const double* x, int64_t n) { loop(y, x, n, Erf{}); }
void exp(double* y, const double* x, int64_t n) { loop(y, x, n, Exponential{}); }
void log(double* y, const double* x, int64_t n) { loop(y, x, n, Logarithm<natural>{}); }
void log10(double* y, const double* x, int64_t n) { loop(y, x, n, Logarithm<decimal>{}); }
void log2(double* y, const double* x, int64_t n) { loop(y, x, n, Logarithm<binary>{}); }
void logit(double* y, const double* x, int64_t n, double low, double high) { loop(y, x, n, Logit{low, high}); }

}  // namespace adjoint::cpu::eights

#endif
