// Kernels that are compared with core's reference kernel in every launch, and their results with those of another processor.
#pragma once
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "check.h"
#include "isa.h"
#include "kernels.h"

namespace test {

using namespace adjoint;

struct Found {
  Kernel kernel = nullptr;
  int launches = 0;
};
inline std::map<std::string, Found> kernels;

// Whether there is one right answer. Vectors of a spectrum may be turned, eigenvalues come in any order, and so do pivots.
inline bool is_unique(const std::string& op, size_t output) {
  if (op == "svd") return output == 1;
  if (op == "eigh") return output == 0;
  return op != "eig" && op != "qr" && op != "rank_order";
}

inline double epsilon(DType t) {
  return t == DType::float16 ? 0x1p-10 : t == DType::bfloat16 ? 0x1p-7 : real_of(t) == DType::float32 ? 0x1p-23 : 0x1p-52;
}

// Elements of one output in memory, gaps of an in-place result included.
struct Elements {
  DType dtype;
  std::vector<char> bytes;

  explicit Elements(DType t = DType::bool_) : dtype(t) {}
  explicit Elements(const View& v) : dtype(v.dtype) {
    int64_t last = 0;
    for (int d = 0; d < v.ndim; d++) last += (v.sizes[d] - 1) * v.strides[d];
    bytes.assign(v.data, v.data + (last + 1) * itemsize(dtype));
  }
  int64_t size() const { return static_cast<int64_t>(bytes.size()) / itemsize(dtype); }
  Complex<double> at(int64_t i) const {
    return with_type(dtype, [&](auto tag) {
      typename decltype(tag)::type value;
      std::memcpy(&value, bytes.data() + i * itemsize(dtype), sizeof value);
      return convert<Complex<double>>(value);
    });
  }
  bool operator==(const Elements& o) const { return dtype == o.dtype && bytes == o.bytes; }
};

// How far a is from b, in epsilons of their type. The measure is an element's own size and 1 besides, or for `whole` the largest element: that is what
// sums of many terms can hold. Infinite where one alone is NaN or infinite, or where integers differ.
inline double distance(const Elements& a, const Elements& b, bool whole) {
  if (a == b) return 0;
  if (a.dtype != b.dtype || a.size() != b.size() || is_integral(a.dtype)) return INFINITY;
  double largest = 0, worst = 0;
  const auto size_of = [](Complex<double> v) { return std::fmax(std::fabs(v.re), std::fabs(v.im)); };
  for (int64_t i = 0; whole && i < b.size(); i++)
    if (const double s = size_of(b.at(i)); std::isfinite(s)) largest = std::fmax(largest, s);
  for (int64_t i = 0; i < a.size(); i++) {
    const Complex<double> x = a.at(i), y = b.at(i);
    for (auto [p, q] : {std::pair(x.re, y.re), std::pair(x.im, y.im)}) {
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      if (!std::isfinite(p) || !std::isfinite(q)) return INFINITY;
      worst = std::fmax(worst, std::fabs(p - q) / (1 + std::fmax(largest, size_of(y))));
    }
  }
  return worst / epsilon(a.dtype);
}

// All results, written to a file, or compared with those that another processor or compiler wrote: of each operation in the order of its launches.
class Results {
 public:
  void write(const char* path) { open(path, std::ios::out | std::ios::trunc), writes_ = true; }
  void compare(const char* path) {
    open(path, std::ios::in);
    for (uint64_t head[3]; file_.read(reinterpret_cast<char*>(head), sizeof head);) {
      std::string op(head[0], ' ');
      Elements e(static_cast<DType>(head[1]));
      e.bytes.resize(head[2]);
      file_.read(op.data(), static_cast<std::streamsize>(op.size()));
      file_.read(e.bytes.data(), static_cast<std::streamsize>(e.bytes.size()));
      there_[op].push_back(std::move(e));
    }
  }
  void pause(bool paused) { paused_ = paused; }   // while what is computed follows from a choice among right answers
  void add(const std::string& op, const Elements& e, bool whole) {
    if (writes_ && !paused_) put(op, e);
    if (there_.empty() || paused_) return;
    std::deque<Elements>& queue = there_[op];
    if (queue.empty()) throw std::runtime_error("the results to compare with are of another program: they end within " + op);
    const Elements other = std::move(queue.front());
    queue.pop_front();
    outputs_++, same_ += e == other;
    auto& [worst, name] = worst_[e.dtype];
    if (const double d = distance(e, other, whole); d > worst) worst = d, name = op;
  }
  void report() const {
    if (there_.empty()) return;
    std::printf("%lld of %lld results are the same bits as there; the largest differences:\n", static_cast<long long>(same_), static_cast<long long>(outputs_));
    for (const auto& [dtype, found] : worst_) std::printf("  %-10s %8.3g eps %s\n", info(dtype).name, found.first, found.second.c_str());
  }

 private:
  void open(const char* path, std::ios::openmode mode) {
    file_.open(path, mode | std::ios::binary);
    if (!file_) throw std::runtime_error(std::string("can't open ") + path);
  }
  void put(const std::string& op, const Elements& e) {
    const uint64_t head[] = {op.size(), static_cast<uint64_t>(e.dtype), e.bytes.size()};
    file_.write(reinterpret_cast<const char*>(head), sizeof head);
    file_.write(op.data(), static_cast<std::streamsize>(op.size()));
    file_.write(e.bytes.data(), static_cast<std::streamsize>(e.bytes.size()));
  }

  std::fstream file_;
  bool writes_ = false, paused_ = false;
  std::map<std::string, std::deque<Elements>> there_;
  int64_t outputs_ = 0, same_ = 0;
  std::map<DType, std::pair<double, std::string>> worst_;
};
inline Results results;

constexpr double most_epsilons = 64;

// Stands in the table of kernels.
inline void launch_both(const Launch& l) {
  Found& found = kernels.at(l.op);
  found.launches++;
  std::vector<Elements> expected;
  std::vector<View> y(l.y.begin(), l.y.end());
  for (const View& v : l.y) expected.emplace_back(v);
  for (size_t i = 0; i < y.size(); i++) y[i].data = expected[i].bytes.data();
  find_op(l.op)->reference({l.x, y, l.attrs, l.op, l.flat, l.device, l.numbers});
  found.kernel(l);
  const bool whole = find_op(l.op)->shape != nullptr;
  for (size_t i = 0; i < y.size(); i++) {
    if (!is_unique(l.op, i)) continue;
    const Elements given(l.y[i]);
    const double apart = distance(given, expected[i], whole);
    check(apart <= most_epsilons, "a kernel agrees with the reference kernel", l.op, "of", l.x[0].dtype, ", output", i, ", epsilons apart:", apart);
    results.add(l.op, given, whole);
  }
}

inline void check_all_kernels() {
  cpu::for_entries([](const cpu::Entry& e) {
    kernels[e.name].kernel = e.kernel;
    register_kernel(e.name, DeviceType::cpu, launch_both);
  });
}

}  // namespace test
