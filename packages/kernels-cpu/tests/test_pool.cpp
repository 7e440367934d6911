// The thread pool: every block once, from any caller, with nesting, errors and a changing number of threads.
#include "pool.h"

#include <stdexcept>

#include "check.h"

using namespace adjoint;
using test::check;
using test::in_threads;

namespace {

bool each_once(int64_t blocks) {
  std::vector<int> seen(blocks, 0);   // not atomic: a block run twice at once is a race that the thread sanitizer reports
  pool::parallel(blocks, [&](int64_t b) { seen[b]++; });
  for (int n : seen)
    if (n != 1) return false;
  return true;
}

void every_block_once() {
  for (int threads : {1, 2, 4, 3}) {
    pool::set_num_threads(threads);
    check(pool::num_threads() == threads, "set_num_threads", pool::num_threads());
    for (int64_t blocks : {0, 1, 2, 3, 15, 16, 17, 1000}) check(each_once(blocks), "every block once", blocks, "blocks,", threads, "threads");
  }
}

void ranges() {
  for (int64_t n : {0, 1, 63, 64, 65, 1000}) {
    std::vector<int> seen(n, 0);
    pool::parallel_for(n, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) seen[i]++;
    });
    bool once = true;
    for (int s : seen) once = once && s == 1;
    check(once, "parallel_for covers the range", n);
  }
}

void nested() {
  std::vector<int> seen(64 * 64, 0);
  pool::parallel(64, [&](int64_t a) { pool::parallel(64, [&](int64_t b) { seen[a * 64 + b]++; }); });
  bool once = true;
  for (int s : seen) once = once && s == 1;
  check(once, "a run inside a run");
}

void errors() {
  for (int i = 0; i < 50; i++) {
    bool caught = false;
    try {
      pool::parallel(100, [](int64_t b) { if (b == 37) throw std::runtime_error("37"); });
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "37";
    }
    check(caught, "an error of a block ends in the caller");
  }
  check(each_once(100), "the pool works after it");
}

// One has the workers, the others work alone; workers come and go meanwhile.
void several_callers() {
  in_threads(4, [](int me) {
    for (int i = 0; i < 300; i++) {
      if (me == 0 && i % 20 == 0) pool::set_num_threads(2 + i / 20 % 3);
      check(each_once(1 + i % 40), "every block once, with several callers");
    }
  });
}

// Workers that have parked are woken.
void after_a_rest() {
  for (int i = 0; i < 20; i++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    check(each_once(64), "every block once after a rest");
  }
}

}  // namespace

int main() {
  every_block_once();
  ranges();
  nested();
  errors();
  several_callers();
  after_a_rest();
  return test::failures;
}
