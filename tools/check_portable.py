"""Check that what only some systems or compilers have stands in one file per subject: python tools/check_portable.py [root]

C++ outside the files below uses C++20 and its library. macOS and Windows then need another version of these files at most.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Headers outside C++, by the first part of their name.
HEADERS = ("alloca.h", "arm_", "arpa/", "cpuid.h", "cxxabi.h", "dirent.h", "dlfcn.h", "execinfo.h", "fcntl.h", "features.h", "immintrin.h",
           "intrin.h", "io.h", "link.h", "linux/", "mach", "malloc.h", "netinet/", "poll.h", "pthread.h", "quadmath.h", "sched.h", "semaphore.h",
           "signal.h", "spawn.h", "strings.h", "sys/", "termios.h", "ucontext.h", "unistd.h", "wchar.h", "windows.h", "x86intrin.h")  # fmt: skip
INCLUDE = re.compile(r'#\s*include\s*[<"]([^>"]+)[>"]')

# Calls of C or POSIX that the C++ library does not have, and types and compilers' words of one system.
CALLS = ("aligned_alloc", "backtrace", "clock_gettime", "dladdr", "dlclose", "dlopen", "dlsym", "fork", "getpid", "getpagesize", "gettid",
         "gettimeofday", "getrlimit", "gmtime_r", "kill", "lgamma_r", "localtime_r", "madvise", "memalign", "memfd_create", "mlock", "mmap", "mprotect",
         "mremap", "munmap", "nanosleep", "posix_memalign", "qsort_r", "rand_r", "setenv", "setrlimit", "shm_open", "sigaction", "sincos", "strcasecmp",
         "strdup", "strerror_r", "strtok_r", "syscall", "sysconf", "unsetenv", "usleep", "vasprintf", "_aligned_malloc", "_aligned_free")  # fmt: skip
CALL = re.compile(rf"(?<![\w.>])(?:{'|'.join(CALLS)}|(?:pthread|sched)_\w+)\s*\(")
TYPE = re.compile(r"\b(?:ssize_t|pid_t|off_t|cpu_set_t|__float128|__int128|__uint128_t|u?int128_t|long double)\b")
CLANG_LACKS = re.compile(r"#\s*pragma\s+GCC\s+ivdep|__builtin_shuffle\b|__builtin_assoc_barrier\b")

# subject: its files. The rest of the repository goes through them.
SUBJECTS: dict[str, set[str]] = {
    "forks and shared libraries": {"packages/core/src/process.cpp"},
    "memory from the system": {"packages/core/src/allocator.cpp"},
    "memory that processes share": {"packages/core/src/shared_file.cpp"},
    "how many processors": {"packages/kernels-cpu/src/processors.cpp"},
    "waiting for a moment": {"packages/kernels-cpu/src/pool.cpp"},
    "which thread this is": {"packages/core/python/site.cpp"},
    "a logarithm without a global sign": {"packages/core/include/adjoint/core/math/gamma.h"},
    "the upper half of a product": {"packages/core/src/ops/random.cpp"},
    "conversions of half precision": {"packages/kernels-cpu/src/half.cpp"},
    "functions of sixteen floats, and of eight doubles": {
        "packages/kernels-cpu/src/sixteens.cpp",
        "packages/kernels-cpu/src/eights.cpp",
    },
    "products of words in lanes": {"packages/kernels-cpu/src/random.cpp"},
    "products of bfloat16": {"packages/kernels-cpu/src/bfloat16.cpp"},
    "which instructions there are": {"packages/core/src/isa.cpp"},
    "numbers below the normal ones": {"packages/kernels-cpu/src/flushed.h"},
    "what GCC and Clang spell differently": {
        "packages/kernels-cpu/src/compilers.h",
        "packages/core/include/adjoint/core/math/bits.h",
    },
    "functions of four words' precision": {"packages/core/tests/math/accuracy.cpp"},
}
ALLOWED = set().union(*SUBJECTS.values())


def without_comments(text: str) -> str:
    """The code alone, on the same lines: comments and the contents of strings are left out, but for the names of headers."""
    kept = re.compile(r'#\s*include[^\n]*|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return kept.sub(lambda m: m.group() if m.group().startswith("#") else "\n" * m.group().count("\n") + '""', text)


def findings(text: str) -> Iterator[tuple[int, str]]:
    """What stands in a file, with its lines."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        if m := INCLUDE.match(line.strip()):
            if m.group(1).startswith(HEADERS):
                yield number, f"the header {m.group(1)}"
            continue
        for pattern in (CALL, TYPE, CLANG_LACKS):
            yield from ((number, m.group().rstrip("( ")) for m in pattern.finditer(line))


def check(root: Path) -> list[str]:
    """Complaints, one for each place; also about files that are listed and need not be."""
    complaints, needed = [], set()
    for path in sorted(root.glob("packages/*/*/**/*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in {".h", ".cpp"} or "/tests/" in name and name not in ALLOWED:
            continue
        for number, what in findings(path.read_text()):
            needed.add(name)
            if name not in ALLOWED:
                complaints.append(f"{name}:{number}: {what} stands outside the files of tools/check_portable.py")
    return complaints + [f"tools/check_portable.py: {name} is listed, and portable" for name in sorted(ALLOWED - needed)]


def main() -> int:
    complaints = check(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    print(
        "\n".join(complaints)
        if complaints
        else f"check_portable: {len(ALLOWED)} files for {len(SUBJECTS)} subjects, the rest is C++20"
    )
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
