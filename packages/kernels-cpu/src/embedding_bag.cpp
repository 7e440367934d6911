// Bags of rows: sums by lists, and the largest elements.
#include <adjoint/core/embedding_bag.h>

#include "kernels.h"
#include "lines.h"
#include "row_sums.h"

namespace adjoint::cpu {

namespace {

// Bags [first, last): the largest of each column, NaN above all, and the row it comes from.
template <class T> struct Largest {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(const Items<T>* a, int64_t first, int64_t last, const T* x, T* y, int64_t* from, int64_t m) {
    for (int64_t b = first; b < last; b++) {
      T* __restrict to = y + b * m;
      int64_t* __restrict at = from + b * m;
      const int64_t begin = a->bounds[b], end = a->bounds[b + 1];
      for (int64_t j = 0; j < m; j++) to[j] = begin < end ? x[a->columns[begin] * m + j] : T(0), at[j] = begin < end ? a->columns[begin] : -1;
      for (int64_t i = begin + 1; i < end; i++) {
        const int64_t row = a->columns[i];
        const T* p = x + row * m;
        for (int64_t j = 0; j < m; j++) {
          const bool larger = (p[j] > to[j]) | ((p[j] != p[j]) & (to[j] == to[j]));
          to[j] = larger ? p[j] : to[j];
          at[j] = larger ? row : at[j];
        }
      }
    }
  }
};

// A call's list, in the order of bags, without what does not count.
template <class T> class CountingItems {
 public:
  std::vector<int64_t> bounds;
  CountingItems(const Launch& l, int64_t table_rows) : bounds(bag_bounds(l.x[1], l.x[2], table_rows, l.attrs.as<Bags>())), rows_(l.x[1]), values_(l.x[3]), any_(l.x[3].numel > 0) {
    const int64_t padding = l.attrs.as<Bags>().padding;
    int64_t* const rows = rows_.own<int64_t>(padding >= 0);
    if (!rows) return;
    T* const values = values_.own<T>(true);
    int64_t kept = 0, begin = 0;
    for (size_t b = 0; b + 1 < bounds.size(); b++) {
      const int64_t end = bounds[b + 1];
      for (int64_t i = begin; i < end; i++) {
        if (rows[i] == padding) continue;
        if (any_) values[kept] = values[i];
        rows[kept++] = rows[i];
      }
      bounds[b + 1] = kept, begin = end;
    }
  }
  const int64_t* rows() const { return rows_.data<const int64_t>(); }
  const T* factors() const { return any_ ? values_.data<const T>() : nullptr; }

 private:
  // A list where it lies, or a copy.
  class List {
   public:
    explicit List(const View& v) : view_(v) { if (!v.contiguous()) own_.emplace(v, v.dtype); }
    template <class N> N* data() const { return (own_ ? own_->view : view_).template as<N>(); }
    template <class N> N* own(bool wanted) {   // memory that may be written to, if wanted
      if (!wanted) return nullptr;
      if (!own_) own_.emplace(view_, view_.dtype);
      return own_->view.template as<N>();
    }

   private:
    const View& view_;
    std::optional<Dense> own_;
  } rows_, values_;
  bool any_;
};

template <class T> void run_bags(const Launch& l) {
  const Contiguous table(l.x[0]);
  const int64_t bags = l.y[0].sizes[0], m = l.y[0].sizes[1];
  const auto mode = static_cast<BagMode>(l.attrs.as<Bags>().mode);
  const CountingItems<T> list(l, table.view().sizes[0]);
  const Items<T> items{list.factors(), list.rows(), list.bounds.data()};
  T* const y = l.y[0].as<T>();
  const T* const x = table.as<const T>();
  if (mode == BagMode::max)
    return pool::parallel_for(bags, std::max<int64_t>(1, (1 << 14) / (m + 1)), [&](int64_t first, int64_t last) {
      isa::call<Largest<T>, const Items<T>*, int64_t, int64_t, const T*, T*, int64_t*, int64_t>(&items, first, last, x, y, l.y[1].as<int64_t>(), m);
    });
  row_sums<T>(items, bags, x, y, m);
  if (mode == BagMode::sum) return;
  for (int64_t b = 0; b < bags; b++) {
    const int64_t count = list.bounds[static_cast<size_t>(b) + 1] - list.bounds[static_cast<size_t>(b)];
    const T divisor = static_cast<T>(std::max<int64_t>(1, count));
    for (int64_t j = 0; j < m; j++) y[b * m + j] /= divisor;
    l.y[1].as<int64_t>()[b] = count;
  }
}

template <class T> void run_transposed(const Launch& l) {
  const Contiguous v(l.x[0]);
  const CountingItems<T> list(l, l.y[0].sizes[0]);
  const int64_t n = list.bounds.back();
  std::vector<int64_t> bags(static_cast<size_t>(n));
  for (size_t b = 0; b + 1 < list.bounds.size(); b++) std::fill(bags.begin() + list.bounds[b], bags.begin() + list.bounds[b + 1], static_cast<int64_t>(b));
  const ByRows<T> by_rows(list.rows(), bags.data(), list.factors(), n, l.y[0].sizes[0]);
  row_sums<T>(by_rows.items(), l.y[0].sizes[0], v.as<const T>(), l.y[0].as<T>(), l.y[0].sizes[1]);
}

// f(0 of the result's type), of those that have code here.
template <class F> void of_result(const Launch& l, F&& f) {
  if (!l.y[0].contiguous()) return reference(l);
  switch (l.y[0].dtype) {
    case DType::float32: return f(0.f);
    case DType::float64: return f(0.);
    default: return reference(l);
  }
}
void bag_kernel(const Launch& l) { of_result(l, [&]<class T>(T) { run_bags<T>(l); }); }
void transposed_bag_kernel(const Launch& l) { of_result(l, [&]<class T>(T) { run_transposed<T>(l); }); }

constexpr Entry bag_entries[] = {{"embedding_bag", bag_kernel}, {"embedding_bag_vjp", transposed_bag_kernel}};

}  // namespace

Entries bag_kernels() { return bag_entries; }

}  // namespace adjoint::cpu
