// How the C++ tests speak: check(what should hold, "its name", values seen...); main returns the number of failures.
#pragma once
#include <adjoint/core/error.h>

#include <atomic>
#include <cstdio>
#include <sstream>
#include <thread>
#include <vector>

namespace test {

inline std::atomic<int> failures{0};

template <class... Seen>
void check(bool ok, const char* name, const Seen&... seen) {
  if (ok) return;
  std::ostringstream text;
  ((text << ' ' << seen), ...);
  std::printf("FAILED: %s%s%s\n", name, sizeof...(Seen) ? ", got" : "", text.str().c_str());
  failures++;
}

// f() must raise an Error of this kind.
template <class F>
void check_raises(adjoint::ErrorKind kind, const char* name, F&& f) {
  try {
    f();
  } catch (const adjoint::Error& e) {
    return check(e.kind() == kind, name, e.what());
  }
  check(false, name, "no error");
}

// f(0), ..., f(count - 1), each in a thread of its own, all at once.
template <class F>
void in_threads(int count, F&& f) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++)
    threads.emplace_back([&, i] {
      waiting--;
      while (waiting.load() > 0) std::this_thread::yield();
      f(i);
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace test
