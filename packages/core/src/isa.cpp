#include <adjoint/core/error.h>
#include <adjoint/core/isa.h>

#include <cstdlib>
#include <string>

namespace adjoint::isa {

const char* name(Level level) {
#if defined(__aarch64__) || defined(_M_ARM64)
  return "neon";
#else
  static const char* const names[levels] = {"baseline", "avx2", "avx512", "avx512_bf16"};
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
  if (v4) return __builtin_cpu_supports("avx512bf16") ? avx512_bf16 : avx512;
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
