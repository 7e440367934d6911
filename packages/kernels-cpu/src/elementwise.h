// Elementwise kernels: core's scalar functors in vector loops.
//
// A loop sees dense operands of one compute type. Strides, broadcasts and half types reach it through tiles of 512
// elements, which the driver in elementwise.cpp fills; so a functor is compiled for its compute types only.
#pragma once
#include <adjoint/core/elementwise.h>
#include <adjoint/core/math/trig.h>

#include <algorithm>
#include <cstring>

#include "compilers.h"
#include "half.h"
#include "isa.h"
#include "kernels.h"

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

enum class Cost {
  cheap,   // as fast as memory
  series,  // a polynomial or a few divisions
  call,    // a library function: nothing to vectorise
};
constexpr int64_t grain_of(Cost cost) { return cost == Cost::cheap ? 32768 : cost == Cost::series ? 4096 : 1024; }

// ---- loops

// The form of a functor over elements C that vectorises, and the elements `hard` that it does not hold for.
template <class F, class C> struct Moderate { static constexpr bool exists = false; };

template <class F, class C, Cost cost, class I> struct Functor;
template <class F, class C, Cost cost, size_t... I>
struct Functor<F, C, cost, std::index_sequence<I...>> {
  using R = std::invoke_result_t<const F&, detail::repeat_t<C, I>...>;
  static constexpr bool narrow = (!std::is_floating_point_v<C> && std::is_same_v<R, C>) || requires { requires F::narrow; };
  template <int W> [[gnu::always_inline]] static inline void run(char* y, const char* const* x, const void* functor, int64_t n) {
    const F f = *static_cast<const F*>(functor);
    if constexpr (Moderate<F, C>::exists) tiles<W>(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
    else if constexpr (cost == Cost::series && std::is_floating_point_v<C>) padded<W>(reinterpret_cast<R*>(y), f, n, reinterpret_cast<const C*>(x[I])...);
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
  template <class... X> [[gnu::noinline]] static void exactly(R* y, const F& f, int64_t n, const X*... x) {
    for (int64_t i = 0; i < n; i++) y[i] = f(x[i]...);
  }
};

// The same on stored halves of type T: no tiles are needed where conversions are a few operations each.
template <class F, class T, class I> struct Rounded;
template <class F, class T, size_t... I>
struct Rounded<F, T, std::index_sequence<I...>> {
  template <int W> [[gnu::always_inline]] static inline void run(char* y, const char* const* x, const void* functor, int64_t n) {
    const F f = *static_cast<const F*>(functor);
    if constexpr (std::is_same_v<T, Half>) vectors<W>(reinterpret_cast<Half*>(y), f, n, reinterpret_cast<const Half*>(x[I])...);
    else dense(reinterpret_cast<T*>(y), f, n, reinterpret_cast<const T*>(x[I])...);
  }

 private:
  template <class... X> [[gnu::always_inline]] static inline void dense(T* y, const F& f, int64_t n, const X*... x) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = T(f(static_cast<float>(x[i])...));
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
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) y[i] = convert<To>(x[i]);
  }
};
template <class To, class From> void convert_dense(char* to, const char* from, int64_t n) {
  if constexpr (std::is_same_v<To, float> && std::is_same_v<From, Half>) widen(reinterpret_cast<float*>(to), reinterpret_cast<const Half*>(from), n);
  else if constexpr (std::is_same_v<To, Half> && std::is_same_v<From, float>) narrow(reinterpret_cast<Half*>(to), reinterpret_cast<const float*>(from), n);
  else isa::call<Convert<To, From>>(to, from, n);
}
template <class T> void load(char* to, const char* from, int64_t step, int64_t n) {
  using C = compute_t<T>;
  if (step == sizeof(T)) return convert_dense<C, T>(to, from, n);
  C* y = reinterpret_cast<C*>(to);
  for (int64_t i = 0; i < n; i++) y[i] = convert<C>(*reinterpret_cast<const T*>(from + i * step));
}
template <class T> void store(char* to, const char* from, int64_t step, int64_t n) {
  using C = compute_t<T>;
  if (step == sizeof(T)) return convert_dense<T, C>(to, from, n);
  const C* x = reinterpret_cast<const C*>(from);
  for (int64_t i = 0; i < n; i++) *reinterpret_cast<T*>(to + i * step) = convert<T>(x[i]);
}
template <class T> constexpr Format input_format() { return {sizeof(T), sizeof(compute_t<T>), std::is_same_v<T, compute_t<T>>, load<T>}; }
template <class T> constexpr Format output_format() { return {sizeof(T), sizeof(compute_t<T>), std::is_same_v<T, compute_t<T>>, store<T>}; }

// The same type in a tile as in memory.
template <class U> constexpr Format plain_input() {
  return {sizeof(U), sizeof(U), true, [](char* to, const char* from, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++) reinterpret_cast<U*>(to)[i] = *reinterpret_cast<const U*>(from + i * step);
  }};
}
template <class U> constexpr Format plain_output() {
  return {sizeof(U), sizeof(U), true, [](char* to, const char* from, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++) *reinterpret_cast<U*>(to + i * step) = reinterpret_cast<const U*>(from)[i];
  }};
}

// ---- kernels

// A few elements: straight to the loop.
template <class C, int N> void run_small(const Launch& l, Loop loop, const void* functor) {
  const View& y = l.y[0];
  alignas(64) char tiles[N][tile_size * sizeof(C)];
  const char* x[N];
  for (int k = 0; k < N; k++) {
    x[k] = l.x[k].data;
    if (l.x[k].strides == y.strides) continue;
    std::fill_n(reinterpret_cast<C*>(tiles[k]), y.numel, *l.x[k].as<C>());
    x[k] = tiles[k];
  }
  loop(y.data, x, functor, y.numel);
}

template <class F, int N, Cost cost, class T> void run_typed(const Launch& l) {
  using C = compute_t<T>;
  using Body = Functor<F, C, cost, std::make_index_sequence<N>>;
  using R = typename Body::R;
  using Out = std::conditional_t<std::is_same_v<R, C>, T, R>;
  constexpr bool vectorises = cost == Cost::cheap || Moderate<F, C>::exists || (cost == Cost::series && !is_complex_v<C>);
  const F f = make_functor<F>(l.attrs);
  Loop loop;
  if constexpr (vectorises) loop = isa::table<Body, char*, const char* const*, const void*, int64_t>[isa::level];
  else loop = isa::run_plain<Body, char*, const char* const*, const void*, int64_t>;
  if constexpr (std::is_same_v<T, C>)
    if (l.flat && l.y[0].numel <= tile_size) return run_small<C, N>(l, loop, &f);
  Program p{loop, &f, grain_of(cost), output_format<Out>(), {}};
  for (int k = 0; k < N; k++) p.x[k] = input_format<T>();
  if constexpr ((std::is_same_v<T, BFloat16> && std::is_same_v<R, float> && cost == Cost::cheap) || (std::is_same_v<T, Half> && is_arithmetic<F>)) {
    p.loop = isa::table<Rounded<F, T, std::make_index_sequence<N>>, char*, const char* const*, const void*, int64_t>[isa::level];
    p.y = plain_output<T>();
    for (int k = 0; k < N; k++) p.x[k] = plain_input<T>();
  }
  run(p, l.y[0], l.x);
}

template <class F, class T, class I> constexpr bool accepts = false;
template <class F, class T, size_t... I>
constexpr bool accepts<F, T, std::index_sequence<I...>> = std::is_invocable_v<const F&, detail::repeat_t<compute_t<T>, I>...>;

// F over N operands of the first of the types T... that they have; other types go to the reference.
template <class F, int N, Cost cost, class... T> void kernel_for(const Launch& l) {
  const DType type = l.x[0].dtype;
  auto try_type = [&](auto tag) {
    using U = typename decltype(tag)::type;
    if (type != dtype_of<U>()) return false;
    if constexpr (accepts<F, U, std::make_index_sequence<N>>) {
      run_typed<F, N, cost, U>(l);
      return true;
    } else {
      return false;
    }
  };
  if (!(try_type(TypeTag<T>{}) || ...)) reference(l);
}

// The usual types: integers too where they are as cheap as memory.
template <class F, int N, Cost cost = Cost::series> void kernel(const Launch& l) {
  if constexpr (cost == Cost::cheap) kernel_for<F, N, cost, float, double, Half, BFloat16, Complex<float>, Complex<double>, int32_t, int64_t>(l);
  else kernel_for<F, N, cost, float, double, Half, BFloat16, Complex<float>, Complex<double>>(l);
}

// Also the narrow integers of images, masks and quantised numbers.
template <class F, int N> void kernel_all_widths(const Launch& l) {
  if (itemsize(l.x[0].dtype) > 2 || !is_integral(l.x[0].dtype)) return kernel<F, N, Cost::cheap>(l);
  kernel_for<F, N, Cost::cheap, bool, uint8_t, int8_t, int16_t>(l);
}

}  // namespace adjoint::cpu
