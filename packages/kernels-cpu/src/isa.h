// One kernel body, compiled for several instruction sets and chosen when it is called.
//
// A kernel is a struct with `template <int W> static void run(args...)`, W = the bytes of a vector.
// run and all it calls must be always_inline, and no lambda may be handed to a function that is not:
// it would be compiled for the baseline. A namespace-scope inline function of the standard library is
// never compiled here for more than the baseline, since the linker may keep that copy for every machine.
#pragma once

#include <adjoint/core/isa.h>

namespace adjoint::isa {

#if defined(__x86_64__) && defined(__GNUC__)

// The processors without AVX2 are old, and get small code.
template <class K, class... A>
[[gnu::cold, gnu::flatten]] void run_baseline(A... args) {
  K::template run<16>(args...);
}
template <class K, class... A>
[[gnu::target("arch=x86-64-v3"), gnu::flatten]] void run_avx2(A... args) {
  K::template run<32>(args...);
}
#if defined(__clang__)
#define ADJOINT_AVX512 gnu::target("arch=x86-64-v4"), clang::min_vector_width(512)
#else
#define ADJOINT_AVX512 gnu::target("arch=x86-64-v4,prefer-vector-width=512")
#endif
template <class K, class... A>
[[ADJOINT_AVX512, gnu::flatten]] void run_avx512(A... args) {
  K::template run<64>(args...);
}

// The one that kernels run at. Whoever loads them sets it to chosen(), which may raise.
inline Level level = best();

// K's code for it: a choice is less code than a table of addresses, which the loader would have to move. A kernel that is as fast as memory
// already says `static constexpr bool narrow = true`.
template <class K, class... A>
auto at_level() -> void (*)(A...) {
  if (level == baseline) return run_baseline<K, A...>;
  if constexpr (requires { requires K::narrow; }) return run_avx2<K, A...>;
  else return level == avx2 ? run_avx2<K, A...> : run_avx512<K, A...>;
}

#else  // NEON is the baseline of arm64; MSVC builds for the one set named by /arch.

template <class K, class... A>
void run_baseline(A... args) {
  K::template run<16>(args...);
}
inline Level level = best();
template <class K, class... A>
auto at_level() -> void (*)(A...) { return run_baseline<K, A...>; }

#endif

// What is not worth a copy for each level.
template <class K, class... A>
void run_plain(A... args) {
  K::template run<16>(args...);
}

// Runs K at the chosen level.
template <class K, class... A>
inline void call(A... args) {
  at_level<K, A...>()(args...);
}

}  // namespace adjoint::isa
