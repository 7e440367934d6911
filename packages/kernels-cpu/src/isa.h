// One kernel body, compiled for several instruction sets and chosen when it is called.
//
// A kernel is a struct with `template <int W> static void run(args...)`, W = the bytes of a vector.
// run and all it calls must be always_inline, and no lambda may be handed to a function that is not:
// it would be compiled for the baseline. A namespace-scope inline function of the standard library is
// never compiled here for more than the baseline, since the linker may keep that copy for every machine.
#pragma once

#include <cstdlib>

namespace adjoint::isa {

enum Level : int { baseline = 0, v3 = 1, v4 = 2 };  // x86-64, with AVX2 and FMA, with AVX-512

#if defined(__x86_64__) && defined(__GNUC__)

// The processors without AVX2 are old, and get small code.
template <class K, class... A>
[[gnu::cold, gnu::flatten]] void run_baseline(A... args) {
  K::template run<16>(args...);
}
template <class K, class... A>
[[gnu::target("arch=x86-64-v3"), gnu::flatten]] void run_v3(A... args) {
  K::template run<32>(args...);
}
template <class K, class... A>
[[gnu::target("arch=x86-64-v4,prefer-vector-width=512"), gnu::flatten]] void run_v4(A... args) {
  K::template run<64>(args...);
}

// A kernel that is as fast as memory already says `static constexpr bool narrow = true`.
template <class K, class... A>
constexpr auto widest() {
  if constexpr (requires { requires K::narrow; }) return run_v3<K, A...>;
  else return run_v4<K, A...>;
}

template <class K, class... A>
inline constexpr void (*table[3])(A...) = {run_baseline<K, A...>, run_v3<K, A...>, widest<K, A...>()};

inline Level best_level() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return v4;
  return __builtin_cpu_supports("x86-64-v3") ? v3 : baseline;
}

#else  // NEON is the baseline of arm64; MSVC builds for the one set named by /arch.

template <class K, class... A>
void run_baseline(A... args) {
  K::template run<16>(args...);
}
template <class K, class... A>
inline constexpr void (*table[3])(A...) = {run_baseline<K, A...>, run_baseline<K, A...>, run_baseline<K, A...>};

inline Level best_level() { return baseline; }

#endif

// ADJOINT_ISA=0, 1 or 2 lowers the level, to test what other machines run.
inline Level initial_level() {
  const char* wanted = std::getenv("ADJOINT_ISA");
  const Level best = best_level();
  if (wanted == nullptr || wanted[0] < '0' || wanted[0] > '2' || wanted[1] != 0) return best;
  const auto level = static_cast<Level>(wanted[0] - '0');
  return level < best ? level : best;
}

inline Level level = initial_level();

// What is not worth a copy for each level.
template <class K, class... A>
void run_plain(A... args) {
  K::template run<16>(args...);
}

// Runs K at the chosen level.
template <class K, class... A>
inline void call(A... args) {
  table<K, A...>[level](args...);
}

}  // namespace adjoint::isa
