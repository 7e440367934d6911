// Fork-join: a caller publishes a job, workers that still spin take shares at once, parked ones are woken.

#include "pool.h"

#include <adjoint/core/process.h>

#include "processors.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace adjoint::pool {

namespace {

// About 50 us: a parked worker needs as long to wake.
constexpr int spins_before_parking = 2000;

// Each thread's part of a job, so that one that is disturbed holds up little.
constexpr int64_t shares_per_thread = 4;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
  asm volatile("isb");   // some dozen cycles, as _mm_pause; `yield` is none on most processors
#endif
}

// True in workers, and in a caller while it works: a nested run is then serial.
thread_local bool inside = false;

class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 0; i < count; i++) threads_.emplace_back([this] { work(); });
  }
  ~Workers() {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int count() const { return static_cast<int>(threads_.size()); }

  void run(int64_t blocks, Body body, void* context) {
    body_ = body;
    context_ = context;
    blocks_ = blocks;
    error_ = nullptr;
    next_share_.store(0, std::memory_order_relaxed);
    job_.store((job_.load(std::memory_order_relaxed) / number + 1) * number + open, std::memory_order_seq_cst);
    if (parked_.load(std::memory_order_seq_cst) != 0) {
      // The lock orders this after a worker's last look at the job.
      std::lock_guard lock(mutex_);
      wake_.notify_all();
    }
    inside = true;
    take_shares();
    inside = false;
    // Only those that came are waited for: one that still wakes up finds the job closed.
    job_.fetch_and(~open, std::memory_order_acq_rel);
    while ((job_.load(std::memory_order_acquire) & at_work) != 0) pause();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    inside = true;
    for (uint64_t seen = 0; wait_for_job(seen);) {
      uint64_t job = job_.load(std::memory_order_acquire);
      while ((job & open) != 0 && !job_.compare_exchange_weak(job, job + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {}
      seen = job / number;
      if ((job & open) == 0) continue;
      take_shares();
      job_.fetch_sub(1, std::memory_order_release);
    }
  }

  // For another than number `seen`. Returns false when the pool ends.
  bool wait_for_job(uint64_t seen) {
    for (int i = 0; i < spins_before_parking; i++) {
      if (job_.load(std::memory_order_acquire) / number != seen) return true;
      pause();
    }
    std::unique_lock lock(mutex_);
    parked_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(lock, [&] { return stop_ || job_.load(std::memory_order_seq_cst) / number != seen; });
    parked_.fetch_sub(1, std::memory_order_relaxed);
    return !stop_;
  }

  void take_shares() {
    const int64_t shares = shares_per_thread * (count() + 1);
    for (int64_t s; (s = next_share_.fetch_add(1, std::memory_order_relaxed)) < shares;) {
      const int64_t end = blocks_ * (s + 1) / shares;
      for (int64_t b = blocks_ * s / shares; b < end; b++) run_block(b);
    }
  }

  void run_block(int64_t block) noexcept {
    try {
      body_(context_, block);
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  // The workers at a job, whether more may come, and the job's number.
  static constexpr uint64_t open = uint64_t(1) << 16, at_work = open - 1, number = open << 1;
  std::atomic<uint64_t> job_{0};
  std::atomic<int64_t> next_share_{0};
  std::atomic<int> parked_{0};
  Body body_ = nullptr;
  void* context_ = nullptr;
  int64_t blocks_ = 0;
  std::exception_ptr error_;
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

struct State {
  std::mutex mutex;  // held while a job runs: one caller at a time has the workers
  std::atomic<int> threads{initial_num_threads()};
  std::unique_ptr<Workers> workers;
};

// Never destroyed: at exit, or in the child of a fork, there may be no thread to join.
State*& state_pointer() {
  static State* state = [] {
    // The child has the caller's thread only. It starts over, and leaves the parent's pool as it lies.
    on_fork(nullptr, nullptr, [] {
      State* fresh = new State;
      fresh->threads = state_pointer()->threads.load();
      state_pointer() = fresh;
      inside = false;
    });
    return new State;
  }();
  return state;
}
State& state() { return *state_pointer(); }

void run_serially(int64_t blocks, Body body, void* context) {
  for (int64_t b = 0; b < blocks; b++) body(context, b);
}

}  // namespace

int num_threads() { return state().threads.load(std::memory_order_relaxed); }

void set_num_threads(int threads) { state().threads.store(std::clamp(threads, 1, most_threads)); }

void run(int64_t blocks, Body body, void* context) {
  const int threads = num_threads();
  if (blocks <= 1 || threads <= 1 || inside) return run_serially(blocks, body, context);
  State& s = state();
  std::unique_lock lock(s.mutex, std::try_to_lock);
  // Another thread has the workers: waiting for them would be slower than working alone.
  if (!lock.owns_lock()) return run_serially(blocks, body, context);
  if (!s.workers || s.workers->count() != threads - 1) {
    s.workers.reset();
    s.workers = std::make_unique<Workers>(threads - 1);
  }
  s.workers->run(blocks, body, context);
}

}  // namespace adjoint::pool
