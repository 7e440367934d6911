// Handing work to the threads of GPUs. A thread that waits for one of them serves its own queue, so that none waits for itself.
#include "device_threads.h"

#include <adjoint/core/cuda/stream.h>
#include <adjoint/core/inference.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/without_gil.h>
#include <adjoint/engine/autograd.h>
#include <adjoint/engine/carried.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "thread_state.h"

namespace adjoint::engine {

constinit thread_local bool multithreading = true;

namespace {

std::vector<Carried>& all_carried() {
  static auto* all = new std::vector<Carried>{
      carried<[]() -> auto& { return window; }>(),
      carried<[]() -> auto& { return level_top; }>(),
      carried<[]() -> auto& { return levels_of_thread(); }>(),
      carried<[]() -> auto& { return sequence_of_thread(); }>(),
      carried<[]() -> auto& { return grad_layout_policy; }>(),
      carried<[]() -> auto& { return forward_mode; }>(),
      carried<[]() -> auto& { return multithreading; }>(),
      carried<[]() -> auto& { return marks_intermediates; }>(),
      carried<[]() -> auto& { return before_write; }>(),
      carried<[]() -> auto& { return saved_packer; }>(),
      carried<[]() -> auto& { return inference_mode; }>(),
      {observers_here, swap_observers},
      {cuda::current_streams, cuda::swap_streams},
  };
  return *all;
}

std::mutex mutex;   // of all queues: work is handed over a few times in a backward

struct Job {
  void (*const f)(void*);
  void* const context;
  std::condition_variable* const waiter = nullptr;
  std::vector<void*> there;   // the variables of the thread that waits
  std::exception_ptr error;
  bool done = false;

  Job(void (*f)(void*), void* context, std::condition_variable* waiter) : f(f), context(context), waiter(waiter) {
    for (const Carried& c : all_carried()) there.push_back(c.here());
  }
  void swap_all() noexcept {
    for (size_t i = 0; i < there.size(); i++) all_carried()[i].swap(there[i]);
  }
  void run() noexcept {
    const int python = python_hooks.attach ? python_hooks.attach() : 0;
    swap_all();
    try { f(context); }
    catch (...) { error = std::current_exception(); }
    swap_all();
    if (python_hooks.detach) python_hooks.detach(python);
  }
};

struct DeviceThread {
  std::condition_variable wake;
  std::deque<Job*> jobs;
  bool started = false;

  void serve(std::unique_lock<std::mutex>& lock, const Job* until) {
    for (;;) {
      wake.wait(lock, [&] { return !jobs.empty() || (until && until->done); });
      if (until && until->done) return;
      Job* j = jobs.front();
      jobs.pop_front();
      lock.unlock();
      j->run();
      lock.lock();
      j->done = true;
      j->waiter->notify_one();
    }
  }
};

thread_local DeviceThread* here = nullptr;

// Never destroyed: the threads wait as long as the process lives.
DeviceThread& thread_of(int device) {
  static auto* threads = new DeviceThread[cuda::max_devices];
  return threads[device];
}

void expect_no_fork() {
  expect(!cuda::forked(), "backward: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method");
}

void start(DeviceThread& t, int device) {
  t.started = true;
  std::thread([&t, device] {
    here = &t;
    cuda::set_device(device);
    // Python keeps its view of this thread, instead of making one for each job.
    if (python_hooks.attach) {
      python_hooks.attach();
      python_hooks.release_gil();
    }
    std::unique_lock lock(mutex);
    t.serve(lock, nullptr);
  }).detach();
}

}  // namespace

void carry(Carried variable) { all_carried().push_back(variable); }

bool on_thread_of(int device) noexcept { return here == &thread_of(device); }

void run_on_thread_of(int device, void (*f)(void*), void* context) {
  expect_no_fork();
  std::condition_variable finished;
  Job job(f, context, here ? &here->wake : &finished);
  {
    WithoutGil free(true);
    std::unique_lock lock(mutex);
    DeviceThread& t = thread_of(device);
    if (!t.started) start(t, device);
    t.jobs.push_back(&job);
    t.wake.notify_one();
    if (here) here->serve(lock, &job);
    else finished.wait(lock, [&] { return job.done; });
  }
  if (job.error) std::rethrow_exception(job.error);
}

void run_on_new_thread(void (*f)(void*), void* context) {
  Job job(f, context, nullptr);
  {
    WithoutGil free(true);
    const int device = cuda::in_use.load(std::memory_order_relaxed) ? cuda::current_device() : -1;
    std::thread([&job, device, of = here] {
      here = of;   // it stands in for the thread of a GPU that waits for it
      if (device >= 0) cuda::set_device(device);
      job.run();
    }).join();
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace adjoint::engine
