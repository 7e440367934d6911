#include <adjoint/core/error.h>
#include <adjoint/core/isa.h>

#include <cstdlib>
#include <string>
#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace adjoint::isa {

namespace {

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
constexpr long supported = 0x1021, ask = 0x1023, tile_data = 18;   // ARCH_GET_XCOMP_SUPP, ARCH_REQ_XCOMP_PERM

// Whether the processor has tiles and products of bfloat16 on them, and the system keeps their state for those who ask.
bool has_tiles() {
  constexpr unsigned tiles = 1u << 24 | 1u << 22;   // AMX-TILE and AMX-BF16
  unsigned a = 0, b = 0, c = 0, d = 0;
  unsigned long states = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & tiles) == tiles && syscall(SYS_arch_prctl, supported, &states) == 0 && (states >> tile_data & 1);
}
bool ask_for_tiles() { return syscall(SYS_arch_prctl, ask, tile_data) == 0; }
#else
[[maybe_unused]] bool has_tiles() { return false; }
bool ask_for_tiles() { return false; }
#endif

}  // namespace

bool may_use_tiles() {
  static const bool granted = ask_for_tiles();
  return granted;
}

const char* name(Level level) {
#if defined(__aarch64__) || defined(_M_ARM64)
  return "neon";
#else
  static const char* const names[levels] = {"baseline", "avx2", "avx512", "avx512_bf16", "amx_bf16"};
  return names[level];
#endif
}

Level best() {
#if defined(__x86_64__) && defined(__GNUC__)
  // By what is in them: Clang knows x86-64-v3 and -v4 as such from 18 on.
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (v4) return !__builtin_cpu_supports("avx512bf16") ? avx512 : has_tiles() ? amx_bf16 : avx512_bf16;
  if (v3) return avx2;
#endif
  return baseline;
}

Level chosen() {
  const char* wanted = std::getenv("ADJOINT_ISA");
  const Level highest = best();
  if (wanted == nullptr || *wanted == 0) return highest;
  std::string here;
  for (int i = 0; i <= highest; i++) {
    const auto level = static_cast<Level>(i);
    if (std::string(wanted) == name(level)) return level;
    here += std::string(i ? ", " : "") + name(level);
  }
  fail(ErrorKind::value, "ADJOINT_ISA: expected an instruction set that this processor has (", here, "), got '", wanted, "'");
}

}  // namespace adjoint::isa
