// Elementwise kernels: core's scalar functors in vector loops.
//
// A loop sees dense operands of one compute type. Strides, broadcasts and half types reach it through tiles of 512
// elements, which the driver in elementwise.cpp fills; so a functor is compiled for its compute types only.
#pragma once
#include <adjoint/core/elementwise.h>
#include <adjoint/core/math/trig.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "compilers.h"
#include "eights.h"
#include "half.h"
#include "isa.h"
#include "kernels.h"
#include "sixteens.h"

namespace adjoint::cpu {

constexpr int64_t tile_size = 512;  // elements

// Runs a functor over n elements: outputs, inputs.
using Loop = void (*)(char* y, const char* const* x, const void* functor, int64_t n);

// How an operand lies in memory and in a tile; `move` brings elements `step` bytes apart into a tile, or out of one.
struct Format {
  int64_t stored, computed;  // bytes an element
  bool direct;               // the same type in both
  void (*move)(char* to, const char* from, int64_t step, int64_t n);
};

struct Program {
  Loop loop;
  const void* functor;
  int64_t grain;  // elements a block
  Format y, x[3];
};

// Over all elements of y; x[k] has the sizes of y.
void run(const Program& p, const View& y, std::span<const View> x);

// A function that does not vectorise has no kernel here: core's own loop runs on all threads. Complex functions have, since core's are
// compiled for size.
enum class Cost {
  cheap,   // as fast as memory
  series,  // a polynomial or a few divisions
};
constexpr int64_t grain_of(Cost cost) { return cost == Cost::cheap ? 32768 : 4096; }

// ---- loops

// The form of a functor over elements C that vectorises, and the elements `hard` that it does not hold for.
template <class F, class C> struct Moderate { static constexpr bool exists = false; };

// The form of a functor of one operand that vectorises, and is unknown for the elements that it does not hold for.
template <class F, class C> struct Partial { static constexpr bool exists = false; };

// The form of a functor for which x86-64 has an instruction from AVX2 on.
template <class F> struct Instruction { static constexpr bool exists = false; };
template <int W, class F> constexpr bool has_instruction = W >= 32 && Instruction<F>::exists;

// A functor as its loop takes it: with its numbers in the type of the elements, where it has such a form.
template <class C, class F> [[gnu::always_inline]] inline auto functor_of(const void* functor) {
  const F& f = *static_cast<const F*>(functor);
  if constexpr (requires { f.template of<C>(); }) return f.template of<C>();
  else return f;
}

template <class F, class C, Cost cost, class I> struct Functor;
template <class F, class C, Cost cost, size_t... I>
struct Functor<F, C, cost, std::index_sequence<I...>> {
  using R = std::invoke_result_t<const F&, detail::repeat_t<C, I>...>;
  static constexpr bool narrow = (!std::is_floating_point_v<C> && std::is_same_v<R, C>) || requires { requires F::narrow; } || requires { requires Moderate<F, C>::narrow; } || requires { requires Partial<F, C>::narrow; };
  template <int W> [[gnu::always_inline]] static inline void run(char* y, const char* const* x, const void* functor, int64_t n) {
    if constexpr (W == 64 && std::is_same_v<C, float> && Sixteens<F>::exists) return Sixteens<F>::run(reinterpret_cast<R*>(y), reinterpret_cast<const C*>(x[I])..., functor, n);
    if constexpr (W == 64 && std::is_same_v<C, double> && Eights<F>::exists) return Eights<F>::run(reinterpret_cast<R*>(y), reinterpret_cast<const C*>(x[I])..., functor, n);
    const auto f = functor_of<C, F>(functor);
    if constexpr (Partial<F, C>::exists) partly<W>(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
    else if constexpr (Moderate<F, C>::exists) tiles<W>(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
    else if constexpr (cost == Cost::series && std::is_floating_point_v<C>) padded<W>(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
    else if constexpr (std::is_floating_point_v<C> && has_instruction<W, F>) dense(reinterpret_cast<R*>(y), Instruction<F>{}, n, reinterpret_cast<const C*>(x[I])...);
    else dense(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
  }

 private:
  // y may be one of x.
  template <class G, class... X> [[gnu::always_inline]] static inline void dense(R* y, const G& f, int64_t n, const X*... x) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = f(x[i]...);
  }
  // Long functions: the rest of the elements go round once more as a whole vector, which spares the loop other ends.
  template <int W, class G, class... X> [[gnu::always_inline]] static inline void padded(R* y, const G& f, int64_t n, const X*... x) {
    constexpr int64_t lanes = W / std::min(sizeof(C), sizeof(R));
    alignas(W) C inputs[sizeof...(X)][lanes];
    alignas(W) R results[lanes];
    const C* in[] = {x...};
    R* out = y;
    const int64_t rest = n & (lanes - 1);
    for (int64_t m = n - rest;; m = lanes) {
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < (m & -lanes); i++) out[i] = f(in[I][i]...);
      if (rest == 0) return;
      if (out == results) break;
      (pad(inputs[I], in[I] + m, rest), ...);
      ((in[I] = inputs[I]), ...);
      out = results;
    }
    std::memcpy(y + (n - rest), results, rest * sizeof(R));
  }
  template <int64_t lanes> [[gnu::always_inline]] static inline void pad(C (&to)[lanes], const C* from, int64_t n) {
    const C first = from[0];
    for (int64_t i = 0; i < lanes; i++) to[i] = first;
    std::memcpy(to, from, n * sizeof(C));
  }
  // A tile with a hard element is left to the exact function.
  template <int W, class... X> [[gnu::always_inline]] static inline void tiles(R* y, const F& f, int64_t n, const X*... x) {
    for (int64_t at = 0; at < n; at += tile_size) {
      const int64_t m = n - at < tile_size ? n - at : tile_size;
      math::Bits<C> hard = 0;
      for (int64_t i = 0; i < m; i++) hard |= Moderate<F, C>::hard(x[at + i]...) ? 1 : 0;
      if (hard) exactly(y + at, f, m, (x + at)...);
      else padded<W>(y + at, typename Moderate<F, C>::Form{}, m, (x + at)...);
    }
  }
  // Elements without a value are left to the exact function, one by one. y may be x.
  template <int W> [[gnu::always_inline]] static inline void partly(R* y, const F& f, int64_t n, const C* x) {
    alignas(W) C kept[tile_size];
    for (int64_t at = 0; at < n; at += tile_size) {
      const int64_t m = n - at < tile_size ? n - at : tile_size;
      std::memcpy(kept, x + at, m * sizeof(C));
      padded<W>(y + at, typename Partial<F, C>::Form{}, m, kept);
      math::Bits<C> left = 0;
      for (int64_t i = 0; i < m; i++) left |= is_unknown(y[at + i]) ? 1 : 0;
      if (left) complete(y + at, f, m, kept);
    }
  }
  [[gnu::always_inline]] static inline bool is_unknown(R y) { return math::to_bits(y) == math::to_bits(math::unknown); }
  [[gnu::noinline]] static void complete(R* y, const F& f, int64_t n, const C* x) {
    for (int64_t i = 0; i < n; i++)
      if (is_unknown(y[i])) y[i] = f(x[i]);
  }
  template <class... X> [[gnu::noinline]] static void exactly(R* y, const F& f, int64_t n, const X*... x) {
    for (int64_t i = 0; i < n; i++) y[i] = f(x[i]...);
  }
};

// Functors whose values of bfloat16 are bfloat16 and need no rounding.
template <class F> constexpr bool keeps_halves = false;

template <class To, class From> void convert_dense(char* to, const char* from, int64_t n);

// The same on stored halves of type T: no tiles are needed where conversions are a few operations each.
template <class F, class T, class I> struct Rounded;
template <class F, class T, size_t... I>
struct Rounded<F, T, std::index_sequence<I...>> {
  template <int W> [[gnu::always_inline]] static inline void run(char* y, const char* const* x, const void* functor, int64_t n) {
    if constexpr (W == 64 && Sixteens<F>::exists) return tiles(y, x[0], functor, n);
    const auto f = functor_of<float, F>(functor);
    if constexpr (has_instruction<W, F>) dense(reinterpret_cast<T*>(y), Instruction<F>{}, n, reinterpret_cast<const T*>(x[I])...);
    else if constexpr (std::is_same_v<T, Half>) vectors<W>(reinterpret_cast<Half*>(y), f, n, reinterpret_cast<const Half*>(x[I])...);
    else dense(reinterpret_cast<T*>(y), f, n, reinterpret_cast<const T*>(x[I])...);
  }

 private:
  static void tiles(char* y, const char* x, const void* functor, int64_t n) {
    alignas(64) float tile[tile_size];
    for (int64_t at = 0; at < n; at += tile_size) {
      const int64_t m = n - at < tile_size ? n - at : tile_size;
      convert_dense<float, T>(reinterpret_cast<char*>(tile), x + at * sizeof(T), m);
      Sixteens<F>::run(tile, tile, functor, m);
      convert_dense<T, float>(y + at * sizeof(T), reinterpret_cast<const char*>(tile), m);
    }
  }
  template <class G, class... X> [[gnu::always_inline]] static inline void dense(T* y, const G& f, int64_t n, const X*... x) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      const float value = f(static_cast<float>(x[i])...);
      if constexpr (keeps_halves<F>) y[i] = T::from_bits(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
      else y[i] = T(value);
    }
  }
  // The conversions of half precision are single instructions, of whole vectors.
  template <int W, class... X> [[gnu::always_inline]] static inline void vectors(Half* y, const F& f, int64_t n, const X*... x) {
    constexpr int lanes = W / 4;
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const typename Halves<W>::Wide in[] = {load_halves<W>(x + i)...};
      typename Halves<W>::Wide out;
#pragma GCC unroll 16
      for (int j = 0; j < lanes; j++) out[j] = f(in[I][j]...);
      store_halves<W>(y + i, out);
    }
    for (; i < n; i++) y[i] = Half(f(static_cast<float>(x[i])...));
  }
};

// Functors that stay vector operations when they are written out for each lane; comparisons do not.
template <class F> constexpr bool is_arithmetic = false;

// ---- formats

template <class To, class From> struct Convert {
  template <int W> [[gnu::always_inline]] static inline void run(char* to, const char* from, int64_t n) {
    To* y = reinterpret_cast<To*>(to);
    const From* x = reinterpret_cast<const From*>(from);
    if constexpr (W == 32 && std::is_floating_point_v<compute_t<From>> && !std::is_same_v<From, Half> && std::is_integral_v<To> && !std::is_same_v<To, bool>) by_tiles(y, x, n);
    else each(y, x, n);
  }

 private:
  [[gnu::always_inline]] static inline void each(To* y, const From* x, int64_t n) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = convert<To>(x[i]);
  }
  // AVX2 makes integers of 32 bits of a vector, none of 64: tiles of numbers that are all below 2^31.
  [[gnu::always_inline]] static inline void by_tiles(To* y, const From* x, int64_t n) {
    using C = compute_t<From>;
    for (int64_t at = 0; at < n; at += tile_size) {
      const int64_t m = n - at < tile_size ? n - at : tile_size;
      math::Bits<C> outside = 0;
      for (int64_t i = at; i < at + m; i++) outside |= math::abs(static_cast<C>(x[i])) < C(0x1p31) ? 0 : 1;
      if (outside) {
        each(y + at, x + at, m);
        continue;
      }
      ADJOINT_INDEPENDENT
      for (int64_t i = at; i < at + m; i++) y[i] = static_cast<To>(static_cast<int32_t>(static_cast<C>(x[i])));
    }
  }
};
template <class To, class From> void convert_dense(char* to, const char* from, int64_t n) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>) widen(reinterpret_cast<float*>(to), reinterpret_cast<const Half*>(from), n);
  else if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>) narrow(reinterpret_cast<Half*>(to), reinterpret_cast<const float*>(from), n);
  else isa::call<Convert<To, From>>(to, from, n);
}

// Of elements that lie in a tile as they do in memory.
Format plain_input(int64_t size);
Format plain_output(int64_t size);

// ---- kernels

// What runs a functor over operands of one type; nothing where that is left to the reference.
struct Typed {
  Loop loop = nullptr;
  bool stored = false;  // it takes halves as they are stored
};

[[gnu::noinline, gnu::noipa]] void run_functor(const Launch& l, Typed typed, const void* functor, int64_t grain);

// Complex functions that have a loop in complex_functions.cpp.
template <class F, class C> constexpr bool by_parts = false;
template <class F, class C, int N> Loop loop_by_parts();

template <class F, int N, Cost cost, class T> Typed typed() {
  using C = compute_t<T>;
  if constexpr (by_parts<F, C>) return {loop_by_parts<F, C, N>()};
  using Operands = std::make_index_sequence<N>;
  using Body = Functor<F, C, cost, Operands>;
  using R = typename Body::R;
  if constexpr ((std::is_same_v<T, BFloat16> && std::is_same_v<R, float> && cost == Cost::cheap) || (std::is_same_v<T, Half> && is_arithmetic<F>))
    return {isa::at_level<Rounded<F, T, Operands>, char*, const char* const*, const void*, int64_t>(), true};
  else if constexpr (cost == Cost::series && is_complex_v<C>) return {isa::run_plain<Body, char*, const char* const*, const void*, int64_t>};
  else return {isa::at_level<Body, char*, const char* const*, const void*, int64_t>()};
}

template <class F, class T, class I> constexpr bool accepts = false;
template <class F, class T, size_t... I>
constexpr bool accepts<F, T, std::index_sequence<I...>> = std::is_invocable_v<const F&, detail::repeat_t<compute_t<T>, I>...>;

// F over N operands of the first of the types T... that they have; other types go to the reference.
template <class F, int N, Cost cost, class... T> void kernel_for(const Launch& l) {
  const DType type = operand_type(l);
  Typed found;
  auto try_type = [&](auto tag) {
    using U = typename decltype(tag)::type;
    if (type != dtype_of<U>()) return false;
    if constexpr (accepts<F, U, std::make_index_sequence<N>>) found = typed<F, N, cost, U>();
    return true;
  };
  (try_type(TypeTag<T>{}) || ...);
  const F f = make_functor<F>(l.attrs);
  run_functor(l, found, &f, grain_of(cost));
}

// The usual types: integers too where they are as cheap as memory.
template <class F, int N, Cost cost = Cost::series> void kernel(const Launch& l) {
  if constexpr (cost == Cost::cheap) kernel_for<F, N, cost, float, double, Half, BFloat16, Complex<float>, Complex<double>, int32_t, int64_t>(l);
  else kernel_for<F, N, cost, float, double, Half, BFloat16, Complex<float>, Complex<double>>(l);
}

// Also the narrow integers of images, masks and quantised numbers.
template <class F, int N>
constexpr Kernel kernel_all_widths =
    kernel_for<F, N, Cost::cheap, float, double, Half, BFloat16, Complex<float>, Complex<double>, int32_t, int64_t, bool, uint8_t, int8_t, int16_t>;

// In incomplete_gamma.cpp.
void igamma_kernel(const Launch& l), igammac_kernel(const Launch& l);

// y = y ** exponent, of float32 or float64.
void power(const View& y, double exponent);
// y = |x|.
void magnitudes(const View& y, const View& x);

}  // namespace adjoint::cpu
