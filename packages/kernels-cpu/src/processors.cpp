#include "processors.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace adjoint::pool {

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int rounded_up(int64_t quota, int64_t period) {
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>(std::min<int64_t>((quota + period - 1) / period, most_threads));
}

// "50000 100000", or "max 100000".
int quota_of(const std::string& text) {
  std::istringstream words(text);
  int64_t quota = 0, period = 0;
  return words >> quota >> period ? rounded_up(quota, period) : 0;
}

int smaller(int a, int b) { return a && b ? std::min(a, b) : std::max(a, b); }

// The least along a group's path: a limit of a parent holds for its children. `root` itself is the container's own group.
template <class Limit>
int least_along(const std::string& root, std::string path, Limit limit) {
  int least = limit(root);
  for (; path.size() > 1; path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'))) least = smaller(least, limit(root + path));
  return least;
}

int processors() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace

int parse_num_threads(const char* text) {
  if (text == nullptr) return 0;
  char* end = nullptr;
  const long threads = std::strtol(text, &end, 10);
  const bool whole = end != text && (*end == 0 || *end == ',' || *end == ' ');
  return whole && threads >= 1 && threads <= most_threads ? static_cast<int>(threads) : 0;
}

int quota_of_groups(const std::string& root, const std::string& groups) {
  int least = 0;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {  // "0::/path", or "4:cpu,cpuacct:/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",", path = line.substr(second + 1);
    if (controllers == ",,")
      least = smaller(least, least_along(root, path, [](const std::string& group) { return quota_of(read(group + "/cpu.max")); }));
    else if (controllers.find(",cpu,") != std::string::npos)
      least = smaller(least, least_along(root + "/cpu", path, [](const std::string& group) {
        return quota_of(read(group + "/cpu.cfs_quota_us") + " " + read(group + "/cpu.cfs_period_us"));
      }));
  }
  return least;
}

int initial_num_threads() {
  for (const char* name : {"ADJOINT_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const int threads = parse_num_threads(std::getenv(name))) return threads;
  return smaller(std::min(processors(), most_threads), quota_of_groups("/sys/fs/cgroup", read("/proc/self/cgroup")));
}

}  // namespace adjoint::pool
