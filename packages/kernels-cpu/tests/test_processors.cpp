// How many threads a process takes: numbers in the environment, and quotas of control groups.
#include "processors.h"

#include <filesystem>
#include <fstream>

#include "check.h"

using namespace adjoint;
using test::check;
namespace fs = std::filesystem;

namespace {

void numbers() {
  const struct { const char* text; int threads; } cases[] = {
      {nullptr, 0}, {"", 0}, {"4", 4}, {" 3", 3}, {"4,2", 4}, {"1024", 1024}, {"0", 0}, {"-3", 0}, {"two", 0}, {"3x", 0}, {"2.5", 0},
      {"1000000", 0}, {"99999999999999999999", 0}, {"0x10", 0}, {"+2", 2},
  };
  for (const auto& c : cases) check(pool::parse_num_threads(c.text) == c.threads, "number of threads", c.text ? c.text : "nullptr", pool::parse_num_threads(c.text));
}

struct Tree {
  fs::path root = fs::temp_directory_path() / ("adjoint_groups_" + std::to_string(reinterpret_cast<uintptr_t>(this)));
  ~Tree() { fs::remove_all(root); }
  void write(const char* file, const char* text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  int quota(const char* groups) const { return pool::quota_of_groups(root.string(), groups); }
};

void version_2() {
  const Tree tree;
  check(tree.quota("0::/\n") == 0, "no file, no quota");
  tree.write("cpu.max", "50000 100000\n");
  check(tree.quota("0::/\n") == 1, "half a processor is one thread", tree.quota("0::/\n"));
  tree.write("cpu.max", "250000 100000\n");
  check(tree.quota("0::/\n") == 3, "two and a half are three", tree.quota("0::/\n"));
  tree.write("cpu.max", "max 100000\n");
  check(tree.quota("0::/\n") == 0, "no limit");
  tree.write("a/cpu.max", "200000 100000\n");
  tree.write("a/b/cpu.max", "max 100000\n");
  check(tree.quota("0::/a/b\n") == 2, "a parent's limit holds", tree.quota("0::/a/b\n"));
  tree.write("a/cpu.max", "nonsense");
  check(tree.quota("0::/a/b\n") == 0, "what cannot be read says nothing");
}

void version_1() {
  const Tree tree;
  const char* groups = "5:memory:/x\n4:cpu,cpuacct:/docker/1\n";
  tree.write("cpu/docker/1/cpu.cfs_quota_us", "150000\n");
  tree.write("cpu/docker/1/cpu.cfs_period_us", "100000\n");
  check(tree.quota(groups) == 2, "version 1", tree.quota(groups));
  tree.write("cpu/docker/1/cpu.cfs_quota_us", "-1\n");
  check(tree.quota(groups) == 0, "version 1 without a limit", tree.quota(groups));
  for (const char* odd : {"", ":", "::", "no colons", "0::", "0::relative", "0::/missing/group"}) check(tree.quota(odd) == 0, "odd lines", odd);
}

}  // namespace

int main() {
  numbers();
  version_2();
  version_1();
  check(pool::initial_num_threads() >= 1, "at least one thread");
  return test::failures;
}
