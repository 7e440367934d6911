// Runs accuracy.cpp where the processor has the instructions that it is compiled for; elsewhere says so, and is skipped.
#include <cstdio>

int run_accuracy();

int main() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports(LEVEL)) {
    std::puts("skipped: this processor lacks " LEVEL);
    return 77;  // ctest's SKIP_RETURN_CODE
  }
  return run_accuracy();
}
