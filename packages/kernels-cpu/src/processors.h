// How many threads the process may sensibly use.
#pragma once

#include <string>

namespace adjoint::pool {

// ADJOINT_NUM_THREADS or OMP_NUM_THREADS where they are numbers, else the processors that the process may run on,
// as far as a container's quota of processor time lets them run.
int initial_num_threads();

// The number that `text` begins with ("4,2" is OpenMP's list for nested levels) if it is from 1 to most_threads, else 0.
int parse_num_threads(const char* text);

// The processors' worth of time that control groups (Linux, version 1 or 2) leave this process, rounded up; 0 where nothing is said.
// `root` is where their tree is mounted, `groups` the text of /proc/self/cgroup.
int quota_of_groups(const std::string& root, const std::string& groups);

constexpr int most_threads = 1024;

}  // namespace adjoint::pool
