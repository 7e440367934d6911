// Discrete Fourier transforms of many lines at once: real and imaginary parts apart, element j of lane q at j * lanes + q.
//
// Sizes go through one pass for each prime factor up to two hundred (Stockham: no reordering is left at the end), or a few at once; those with larger
// ones become a convolution of a size that has small factors (Bluestein).
#pragma once
#include <adjoint/core/fft.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "compilers.h"
#include "isa.h"

namespace adjoint::cpu::fourier {

template <class T> struct Planar {
  std::vector<T> re, im;
  explicit Planar(int64_t n = 0) : re(n), im(n) {}
};

// e^(-2 pi i j / n) for all j.
template <class T> struct Roots : Planar<T> {
  explicit Roots(int64_t n) : Planar<T>(n) {
    for (int64_t j = 0; j < n; j++) {
      const Complex<double> z = root_of_unity(j, n);
      this->re[j] = static_cast<T>(z.re);
      this->im[j] = static_cast<T>(z.im);
    }
  }
};

// One pass: the transform of size n, whose elements are s lanes wide, becomes R s lanes of transforms of size n / R.
// roots: e^(-2 pi i j / (n stride)); first: e^(-2 pi i p k / n) at k n / R + p, for a pass over one lane.
template <class T> struct Stage {
  const T *xr, *xi;
  T *yr, *yi;
  const T *rr, *ri, *first_r, *first_i;
  int64_t n, s, stride;
};

// b = the transform of the R numbers a. `rr`, `ri`: e^(-2 pi i k / R).
template <int R, class T> [[gnu::always_inline]] inline void butterfly(const T (&ar)[R], const T (&ai)[R], T (&br)[R], T (&bi)[R], const T* rr, const T* ri) {
  if constexpr (R == 2) {
    br[0] = ar[0] + ar[1], bi[0] = ai[0] + ai[1];
    br[1] = ar[0] - ar[1], bi[1] = ai[0] - ai[1];
  } else if constexpr (R == 4) {
    const T pr = ar[0] + ar[2], pi = ai[0] + ai[2], mr = ar[0] - ar[2], mi = ai[0] - ai[2];
    const T qr = ar[1] + ar[3], qi = ai[1] + ai[3], nr = ar[1] - ar[3], ni = ai[1] - ai[3];
    br[0] = pr + qr, bi[0] = pi + qi;
    br[1] = mr + ni, bi[1] = mi - nr;
    br[2] = pr - qr, bi[2] = pi - qi;
    br[3] = mr - ni, bi[3] = mi + nr;
  } else if constexpr (R == 8) {   // two of four, of the even and of the odd elements
    constexpr T h = T(0.70710678118654752440);
    const T er[4] = {ar[0], ar[2], ar[4], ar[6]}, ei[4] = {ai[0], ai[2], ai[4], ai[6]}, fr[4] = {ar[1], ar[3], ar[5], ar[7]}, fi[4] = {ai[1], ai[3], ai[5], ai[7]};
    T pr[4], pi[4], qr[4], qi[4];
    butterfly<4>(er, ei, pr, pi, rr, ri);
    butterfly<4>(fr, fi, qr, qi, rr, ri);
    const T tr[4] = {qr[0], h * (qr[1] + qi[1]), qi[2], h * (qi[3] - qr[3])}, ti[4] = {qi[0], h * (qi[1] - qr[1]), -qr[2], -h * (qr[3] + qi[3])};
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
      br[k] = pr[k] + tr[k], bi[k] = pi[k] + ti[k];
      br[k + 4] = pr[k] - tr[k], bi[k + 4] = pi[k] - ti[k];
    }
  } else {   // odd: elements k and R - k share their products
    br[0] = ar[0], bi[0] = ai[0];
    for (int k = 1; k < R; k++) br[0] += ar[k], bi[0] += ai[k];
    for (int j = 1; j <= R / 2; j++) {
      T cr = ar[0], ci = ai[0], dr = 0, di = 0;
      for (int k = 1; k <= R / 2; k++) {
        const T c = rr[j * k % R], s = ri[j * k % R];
        cr += c * (ar[k] + ar[R - k]), ci += c * (ai[k] + ai[R - k]);
        dr += s * (ai[k] - ai[R - k]), di += s * (ar[k] - ar[R - k]);
      }
      br[j] = cr - dr, bi[j] = ci + di;
      br[R - j] = cr + dr, bi[R - j] = ci - di;
    }
  }
}

template <int R> struct Pass {
  // S lanes, or as many as the stage says.
  template <int S, class T> [[gnu::always_inline]] static inline void lanes(const Stage<T>& a, int64_t p, const T (&wr)[R], const T (&wi)[R], const T* rr, const T* ri) {
    const int64_t s = S ? S : a.s, m = a.n / R;
    const T *__restrict xr = a.xr + s * p, *__restrict xi = a.xi + s * p;
    T *__restrict yr = a.yr + s * R * p, *__restrict yi = a.yi + s * R * p;
    ADJOINT_INDEPENDENT
    for (int64_t q = 0; q < s; q++) {
      T ar[R], ai[R], br[R], bi[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) ar[k] = xr[q + s * m * k], ai[k] = xi[q + s * m * k];
      butterfly<R>(ar, ai, br, bi, rr, ri);
      yr[q] = br[0], yi[q] = bi[0];
#pragma GCC unroll 16
      for (int k = 1; k < R; k++) {
        yr[q + s * k] = br[k] * wr[k] - bi[k] * wi[k];
        yi[q + s * k] = br[k] * wi[k] + bi[k] * wr[k];
      }
    }
  }
  template <int S, class T> [[gnu::always_inline]] static inline void all(const Stage<T>& a, const T* rr, const T* ri) {
    const int64_t m = a.n / R;
    T wr[R], wi[R];
    for (int64_t p = 0; p < m; p++) {
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) wr[k] = a.rr[p * k * a.stride], wi[k] = a.ri[p * k * a.stride];
      lanes<S>(a, p, wr, wi, rr, ri);
    }
  }
  // One lane: vectors run along it.
  template <class T> [[gnu::always_inline]] static inline void alone(const Stage<T>& a, const T* rr, const T* ri) {
    const int64_t m = a.n / R;
    const T *__restrict xr = a.xr, *__restrict xi = a.xi, *__restrict wr = a.first_r, *__restrict wi = a.first_i;
    T *__restrict yr = a.yr, *__restrict yi = a.yi;
    ADJOINT_INDEPENDENT
    for (int64_t p = 0; p < m; p++) {
      T ar[R], ai[R], br[R], bi[R];
#pragma GCC unroll 16
      for (int k = 0; k < R; k++) ar[k] = xr[p + m * k], ai[k] = xi[p + m * k];
      butterfly<R>(ar, ai, br, bi, rr, ri);
      yr[R * p] = br[0], yi[R * p] = bi[0];
#pragma GCC unroll 16
      for (int k = 1; k < R; k++) {
        yr[R * p + k] = br[k] * wr[m * k + p] - bi[k] * wi[m * k + p];
        yi[R * p + k] = br[k] * wi[m * k + p] + bi[k] * wr[m * k + p];
      }
    }
  }
  template <int W, class T> [[gnu::always_inline]] static inline void run(Stage<T> a) {
    T rr[R], ri[R];
    for (int k = 0; k < R; k++) rr[k] = a.rr[k * (a.n / R) * a.stride], ri[k] = a.ri[k * (a.n / R) * a.stride];
    if (a.s == 1) return alone(a, rr, ri);
    // Powers of two come first, and among these 8: what few lanes there are.
    if constexpr (R == 4) if (a.s == 4) return all<4>(a, rr, ri);
    if constexpr (R == 4 || R == 8) if (a.s == 8) return all<8>(a, rr, ri);
    all<0>(a, rr, ri);
  }
};

constexpr int largest_radix = 199;

// A pass for any odd R, `wide` lanes at a time: elements k and R - k share their products.
struct OddPass {
  template <int W, class T> [[gnu::always_inline]] static inline void run(Stage<T> a, int R) {
    constexpr int wide = 64 / sizeof(T), most = largest_radix / 2 + 1;
    const int64_t m = a.n / R, turn = m * a.stride;
    const int half = R / 2;
    T sum_r[most][wide], sum_i[most][wide], gap_r[most][wide], gap_i[most][wide];
    for (int64_t p = 0; p < m; p++)
      for (int64_t q = 0; q < a.s; q += wide) {
        const int count = static_cast<int>(a.s - q < wide ? a.s - q : wide);
        const T *xr = a.xr + a.s * p + q, *xi = a.xi + a.s * p + q;
        T *yr = a.yr + a.s * R * p + q, *yi = a.yi + a.s * R * p + q;
        T first_r[wide] = {}, first_i[wide] = {}, br[wide], bi[wide];
        for (int l = 0; l < count; l++) br[l] = first_r[l] = xr[l], bi[l] = first_i[l] = xi[l];
        for (int k = 1; k <= half; k++) {
          const T *low_r = xr + a.s * m * k, *low_i = xi + a.s * m * k, *high_r = xr + a.s * m * (R - k), *high_i = xi + a.s * m * (R - k);
          for (int l = count; l < wide; l++) sum_r[k][l] = sum_i[k][l] = gap_r[k][l] = gap_i[k][l] = 0;
          for (int l = 0; l < count; l++) {
            sum_r[k][l] = low_r[l] + high_r[l], sum_i[k][l] = low_i[l] + high_i[l];
            gap_r[k][l] = low_r[l] - high_r[l], gap_i[k][l] = low_i[l] - high_i[l];
          }
          for (int l = 0; l < count; l++) br[l] += sum_r[k][l], bi[l] += sum_i[k][l];
        }
        for (int l = 0; l < count; l++) yr[l] = br[l], yi[l] = bi[l];
        for (int j = 1; j <= half; j++) {
          T cr[wide], ci[wide], dr[wide] = {}, di[wide] = {};
          for (int l = 0; l < wide; l++) cr[l] = first_r[l], ci[l] = first_i[l];
          for (int k = 1, at = j; k <= half; k++, at = at + j < R ? at + j : at + j - R) {
            const T c = a.rr[at * turn], s = a.ri[at * turn];
            for (int l = 0; l < wide; l++) {
              cr[l] += c * sum_r[k][l], ci[l] += c * sum_i[k][l];
              dr[l] += s * gap_i[k][l], di[l] += s * gap_r[k][l];
            }
          }
          const int64_t low = p * j * a.stride, high = p * (R - j) * a.stride;
          store(a, low, cr, ci, dr, di, T(1), count, yr + a.s * j, yi + a.s * j);
          store(a, high, cr, ci, dr, di, T(-1), count, yr + a.s * (R - j), yi + a.s * (R - j));
        }
      }
  }
  // (c + sign i d) times a root of unity.
  template <class T, size_t wide> [[gnu::always_inline]] static inline void store(const Stage<T>& a, int64_t root, const T (&cr)[wide], const T (&ci)[wide], const T (&dr)[wide], const T (&di)[wide], T sign, int count, T* yr, T* yi) {
    const T wr = a.rr[root], wi = a.ri[root];
    ADJOINT_INDEPENDENT
    for (int l = 0; l < count; l++) {
      const T br = cr[l] - sign * dr[l], bi = ci[l] + sign * di[l];
      yr[l] = br * wr - bi * wi, yi[l] = br * wi + bi * wr;
    }
  }
};

template <class T> void pass(int radix, const Stage<T>& a) {
  switch (radix) {
    case 2: return isa::call<Pass<2>>(a);
    case 3: return isa::call<Pass<3>>(a);
    case 4: return isa::call<Pass<4>>(a);
    case 5: return isa::call<Pass<5>>(a);
    case 7: return isa::call<Pass<7>>(a);
    case 8: return isa::call<Pass<8>>(a);
    default: return isa::call<OddPass>(a, radix);
  }
}

// What of n is left when all small factors are taken out; these, in the order of the passes: few and wide ones first.
inline int64_t factors(int64_t n, std::vector<int>& radices) {
  int twos = 0;
  for (; n % 2 == 0; n /= 2) twos++;
  for (; twos >= 3 && twos != 4; twos -= 3) radices.push_back(8);
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  for (int r : {5, 3, 7})
    for (; n % r == 0; n /= r) radices.push_back(r);
  for (int r = 11; r <= largest_radix; r += 2)
    for (; n % r == 0; n /= r) radices.push_back(r);
  if (twos) radices.push_back(2);   // the lanes are many by then
  return n;
}

template <class T> class Plan;
template <class T> std::shared_ptr<const Plan<T>> plan(int64_t n);   // kept for the next call

// For sizes with a large prime factor: y_k = c_k (x c * conj c)_k with the chirp c_k = e^(-pi i k^2 / n), a circular convolution.
template <class T> class Chirp {
 public:
  explicit Chirp(int64_t n);
  void run(int64_t n, int64_t lanes, T* xr, T* xi) const;

 private:
  int64_t size_;
  Planar<T> chirp_, spectrum_;
  std::shared_ptr<const Plan<T>> plan_;
};

template <class T> class Plan {
 public:
  explicit Plan(int64_t n) : n_(n), roots_(n) {
    if (factors(n, radices_) > 1) chirp_ = std::make_unique<Chirp<double>>(n);
    else if (n > 1) {
      first_ = Planar<T>(n);
      const int64_t m = n / radices_[0];
      for (int64_t k = 0; k < radices_[0]; k++)
        for (int64_t p = 0; p < m; p++) first_.re[k * m + p] = roots_.re[p * k], first_.im[k * m + p] = roots_.im[p * k];
    }
  }
  const Planar<T>& roots() const { return roots_; }
  bool is_chirp() const { return chirp_ != nullptr; }
  int64_t work(int64_t lanes) const { return chirp_ ? 0 : n_ * lanes; }   // elements of the scratch that run wants for each part

  // The forward transform in place; `w`: scratch.
  void run(int64_t lanes, T* xr, T* xi, T* wr, T* wi) const {
    if (chirp_) return run_chirp(lanes, xr, xi);
    T *ar = xr, *ai = xi, *br = wr, *bi = wi;
    int64_t n = n_, s = lanes;
    for (int r : radices_) {
      pass<T>(r, {ar, ai, br, bi, roots_.re.data(), roots_.im.data(), first_.re.data(), first_.im.data(), n, s, n_ / n});
      std::swap(ar, br), std::swap(ai, bi);
      n /= r, s *= r;
    }
    if (ar != xr) std::copy_n(ar, n_ * lanes, xr), std::copy_n(ai, n_ * lanes, xi);
  }

 private:
  void run_chirp(int64_t lanes, T* xr, T* xi) const {   // in double precision: a convolution loses some
    if constexpr (std::is_same_v<T, double>) return chirp_->run(n_, lanes, xr, xi);
    else {
      std::vector<double> re(xr, xr + n_ * lanes), im(xi, xi + n_ * lanes);
      chirp_->run(n_, lanes, re.data(), im.data());
      for (int64_t i = 0; i < n_ * lanes; i++) xr[i] = static_cast<T>(re[i]), xi[i] = static_cast<T>(im[i]);
    }
  }

  int64_t n_;
  Roots<T> roots_;
  Planar<T> first_;
  std::vector<int> radices_;
  std::unique_ptr<Chirp<double>> chirp_;
};

template <class T> Chirp<T>::Chirp(int64_t n) : size_(2 * n - 1), chirp_(n) {
  for (std::vector<int> r; factors(size_, r) > 1 || *std::max_element(r.begin(), r.end()) > 8; r.clear()) size_++;
  spectrum_ = Planar<T>(size_);
  plan_ = plan<T>(size_);
  int64_t square = 0;   // k^2 modulo 2 n
  for (int64_t k = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
    const Complex<double> z = root_of_unity(square, 2 * n);
    chirp_.re[k] = static_cast<T>(z.re), chirp_.im[k] = static_cast<T>(z.im);
    for (int64_t at : {k, (size_ - k) % size_}) spectrum_.re[at] = static_cast<T>(z.re), spectrum_.im[at] = -static_cast<T>(z.im);
  }
  Planar<T> work(size_);
  plan_->run(1, spectrum_.re.data(), spectrum_.im.data(), work.re.data(), work.im.data());
}

// y = x c scale, of n elements with the same factor in all lanes.
struct Twist {
  template <int W, class T> [[gnu::always_inline]] static inline void run(const T* xr, const T* xi, const T* cr, const T* ci, int64_t n, int64_t lanes, T scale, T* yr, T* yi) {
    const auto one = [=](int64_t i, T re, T im) __attribute__((always_inline)) {
      const T a = xr[i], b = xi[i];
      yr[i] = a * re - b * im, yi[i] = a * im + b * re;
    };
    if (lanes == 1) {
      ADJOINT_INDEPENDENT
      for (int64_t k = 0; k < n; k++) one(k, cr[k] * scale, ci[k] * scale);
      return;
    }
    for (int64_t k = 0; k < n; k++) {
      const T re = cr[k] * scale, im = ci[k] * scale;
      ADJOINT_INDEPENDENT
      for (int64_t q = 0; q < lanes; q++) one(k * lanes + q, re, im);
    }
  }
};

template <class T> void Chirp<T>::run(int64_t n, int64_t lanes, T* xr, T* xi) const {
  Planar<T> x(size_ * lanes), work(size_ * lanes);
  const T *cr = chirp_.re.data(), *ci = chirp_.im.data();
  T *re = x.re.data(), *im = x.im.data();
  isa::call<Twist>(static_cast<const T*>(xr), static_cast<const T*>(xi), cr, ci, n, lanes, T(1), re, im);
  plan_->run(lanes, re, im, work.re.data(), work.im.data());
  isa::call<Twist>(static_cast<const T*>(re), static_cast<const T*>(im), spectrum_.re.data(), spectrum_.im.data(), size_, lanes, T(1) / static_cast<T>(size_), re, im);
  plan_->run(lanes, im, re, work.re.data(), work.im.data());   // parts exchanged: the inverse transform
  isa::call<Twist>(static_cast<const T*>(re), static_cast<const T*>(im), cr, ci, n, lanes, T(1), xr, xi);
}

}  // namespace adjoint::cpu::fourier
