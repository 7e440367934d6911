// searchsorted, and sort and topk along one dimension: stable radix sorts of keys whose unsigned order is that of the elements. NaN is the
// largest, and -0 equals 0.
#include <adjoint/core/functors/number.h>
#include <adjoint/core/op_attrs.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <type_traits>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

template <class T> using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T> struct Item { Key<T> key; Key<T> at; };

// descending: all bits flipped, so that equal elements keep their order.
template <class T> [[gnu::always_inline]] inline Key<T> key_of(T x, bool descending) {
  using K = Key<T>;
  constexpr K top = K(1) << (8 * sizeof(K) - 1);
  K k;
  if constexpr (std::is_floating_point_v<T>) {
    const K bits = std::bit_cast<K>(x), positive = bits == top ? K(0) : bits;
    const K ordered = positive & top ? ~positive : positive | top;
    k = x != x ? ~K(0) : ordered;
  } else if constexpr (std::is_signed_v<T>) {
    k = static_cast<K>(static_cast<std::make_signed_t<K>>(x)) ^ top;
  } else {
    k = x;
  }
  return descending ? ~k : k;
}

template <class T> struct FillItems {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, bool descending, Item<T>* items) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < n; i++) items[i] = {key_of(x[i], descending), static_cast<Key<T>>(i)};
  }
};

// Eight bits at a time, from the lowest; a byte that is the same in all keys costs nothing. The result lies in `items` or in
// `other`, which is returned.
template <class T> Item<T>* radix_sort(Item<T>* items, Item<T>* other, int64_t n) {
  using K = Key<T>;
  constexpr int bytes = sizeof(K);
  uint32_t count[bytes][256] = {};
  for (int64_t i = 0; i < n; i++)
    for (int b = 0; b < bytes; b++) count[b][items[i].key >> (8 * b) & 255]++;
  for (int b = 0; b < bytes; b++) {
    if (count[b][items[0].key >> (8 * b) & 255] == n) continue;
    uint32_t start = 0;
    for (uint32_t& c : count[b]) start += std::exchange(c, start);
    for (int64_t i = 0; i < n; i++) other[count[b][items[i].key >> (8 * b) & 255]++] = items[i];
    std::swap(items, other);
  }
  return items;
}

template <class T> bool before(const Item<T>& a, const Item<T>& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }

template <class T> void put(const T* x, const Item<T>* items, int64_t n, T* values, int64_t* at) {
  for (int64_t i = 0; i < n; i++) {
    at[i] = static_cast<int64_t>(items[i].at);
    values[i] = x[items[i].at];
  }
}

template <class T> void sort_row(const T* x, int64_t n, bool descending, T* values, int64_t* at, Item<T>* items, Item<T>* other) {
  constexpr int64_t few = 128 * sizeof(Key<T>) / 4;  // below, counting 256 buckets is most of the work
  isa::call<FillItems<T>>(x, n, descending, items);
  if (n > few) items = radix_sort<T>(items, other, n);
  else std::sort(items, items + n, before<T>);
  put(x, static_cast<const Item<T>*>(items), n, values, at);
}

// ---- short rows, side by side

constexpr int64_t side_by_side = 32;                               // rows
template <class K> constexpr int64_t shortest = 256 / sizeof(K);  // elements, above which a row alone is faster

// Neighbours change places in so many rounds as rows have elements, in all rows at once. Equal ones do not, so that the sort is stable.
template <class K> struct SortAcross {
  static constexpr bool narrow = true;
  template <int W> [[gnu::always_inline]] static inline void run(K* keys, K* at, int64_t n) {
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < side_by_side; i++) at[j * side_by_side + i] = static_cast<K>(j);
    for (int64_t round = 0; round < n; round++)
      for (int64_t j = round % 2; j + 1 < n; j += 2) exchange(keys + j * side_by_side, at + j * side_by_side);
  }

 private:
  [[gnu::always_inline]] static inline void exchange(K* keys, K* at) {
    ADJOINT_INDEPENDENT
    for (int64_t i = 0; i < side_by_side; i++) {
      const K a = keys[i], b = keys[side_by_side + i], p = at[i], q = at[side_by_side + i];
      const bool change = b < a;
      keys[i] = change ? b : a, keys[side_by_side + i] = change ? a : b;
      at[i] = change ? q : p, at[side_by_side + i] = change ? p : q;
    }
  }
};

// The first `keep` of each sorted row.
template <class T> void sort_short(const T* x, int64_t n, int64_t keep, bool descending, T* values, int64_t* at, int64_t rows) {
  using K = Key<T>;
  K keys[shortest<K> * side_by_side] = {}, places[shortest<K> * side_by_side];
  for (int64_t first = 0; first < rows; first += side_by_side) {
    const int64_t m = std::min(side_by_side, rows - first);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++) keys[j * side_by_side + i] = key_of(x[(first + i) * n + j], descending);
    isa::call<SortAcross<K>, K*, K*>(keys, places, n);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < keep; j++) {
        const auto from = static_cast<int64_t>(places[j * side_by_side + i]);
        at[(first + i) * keep + j] = from;
        values[(first + i) * keep + j] = x[(first + i) * n + from];
      }
  }
}

// ---- the first k

// Keys of 256 interleaved groups: the k-th smallest of their minima is no less than the k-th smallest of all.
template <class T> struct GroupMinima {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, bool descending, Key<T>* least) {
    for (int j = 0; j < 256; j++) least[j] = ~Key<T>(0);
    for (int64_t i = 0; i + 256 <= n; i += 256)
      ADJOINT_INDEPENDENT
      for (int j = 0; j < 256; j++) {
        const Key<T> k = key_of(x[i + j], descending);
        least[j] = k < least[j] ? k : least[j];
      }
  }
};
// The items with keys up to `limit`; returns through `count`.
template <class T> struct Filter {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t n, bool descending, Key<T> limit, Item<T>* items, int64_t* count) {
    constexpr int64_t step = 64;
    Key<T> keys[step];
    int64_t c = 0;
    for (int64_t i = 0; i < n; i += step) {
      const int64_t m = n - i < step ? n - i : step;
      Key<T> any = 0;
      for (int64_t j = 0; j < m; j++) {
        keys[j] = key_of(x[i + j], descending);
        any |= keys[j] <= limit ? 1 : 0;
      }
      if (!any) continue;
      for (int64_t j = 0; j < m; j++) {
        items[c] = {keys[j], static_cast<Key<T>>(i + j)};
        c += keys[j] <= limit;
      }
    }
    *count = c;
  }
};

template <class T> void topk_row(const T* x, int64_t n, int64_t k, bool largest, T* values, int64_t* at, Item<T>* items) {
  Key<T> limit = ~Key<T>(0);
  if (k <= 128 && n >= 1024) {
    Key<T> least[256];
    isa::call<GroupMinima<T>, const T*, int64_t, bool, Key<T>*>(x, n, largest, least);
    std::nth_element(least, least + k - 1, least + 256);
    limit = least[k - 1];
  }
  int64_t count;
  isa::call<Filter<T>, const T*, int64_t, bool, Key<T>, Item<T>*, int64_t*>(x, n, largest, limit, items, &count);
  std::partial_sort(items, items + k, items + count, before<T>);
  put(x, static_cast<const Item<T>*>(items), k, values, at);
}

// ---- kernels

// rows(x, values, positions, lines, items, other) for lines along dim that follow each other, all dense and of `type`; results have lines of `keep`.
using Rows = Borrowed<const char*, char*, int64_t*, int64_t, char*, char*>;
void for_lines(const Launch& l, DType type, int64_t item, int dim, int64_t keep, Rows rows) {
  const Dims order = dim_last(l.x[0].ndim, dim);
  const Ordered x(l.x[0], order), values(l.y[0], order), at(l.y[1], order);
  const Contiguous in(x.view, type);
  const bool direct = values.view.contiguous() && l.y[0].dtype == type;
  std::optional<Dense> own_values, own_at;
  if (!direct) own_values.emplace(values.view, type), own_at.emplace(at.view);
  char* const to_values = direct ? values.view.data : own_values->view.data;
  int64_t* const to_at = direct ? at.view.as<int64_t>() : own_at->view.as<int64_t>();
  const int64_t n = l.x[0].sizes[dim], lines = l.x[0].numel / n, size = itemsize(type);
  pool::parallel_for(lines, std::max<int64_t>(1, 4096 / n), [&](int64_t first, int64_t last) {
    const Buffer memory(2 * (n + 1) * item);
    char* const items = memory.as<char>();
    rows(in.as<const char>() + first * n * size, to_values + first * keep * size, to_at + first * keep, last - first, items, items + (n + 1) * item);
  });
  if (direct) return;
  cast(values.view, own_values->view);
  copy(at.view, own_at->view);
}
// row(x, values, positions, items, other) for each line.
template <class T, class F> void for_lines(const Launch& l, int dim, int64_t keep, bool descending, F&& row) {
  const int64_t n = l.x[0].sizes[dim];
  for_lines(l, dtype_of<T>(), sizeof(Item<T>), dim, keep, [&](const char* from, char* to, int64_t* at, int64_t lines, char* items, char* other) {
    const T* const x = reinterpret_cast<const T*>(from);
    T* const values = reinterpret_cast<T*>(to);
    if (n <= shortest<Key<T>> && lines > 1) return sort_short(x, n, keep, descending, values, at, lines);
    for (int64_t r = 0; r < lines; r++) row(x + r * n, values + r * keep, at + r * keep, reinterpret_cast<Item<T>*>(items), reinterpret_cast<Item<T>*>(other));
  });
}

// f(zero of the type that elements are compared in)
template <class F> void with_ordered(const Launch& l, int dim, F&& f) {
  if (l.x[0].numel == 0 || l.y[0].numel == 0 || l.x[0].sizes[dim] >= int64_t(1) << 31) return reference(l);
  switch (l.x[0].dtype) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32: return f(0.f);
    case DType::float64: return f(0.);
    case DType::uint8: return f(uint8_t{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    default: return reference(l);
  }
}

void sort_kernel(const Launch& l) {
  const Sorting& a = l.attrs.as<Sorting>();
  const int64_t n = l.x[0].sizes[a.dim];
  with_ordered(l, a.dim, [&](auto zero) {
    using T = decltype(zero);
    for_lines<T>(l, a.dim, n, a.descending, [&](const T* x, T* values, int64_t* at, Item<T>* items, Item<T>* other) { sort_row(x, n, a.descending, values, at, items, other); });
  });
}

void topk_kernel(const Launch& l) {
  const TopK& a = l.attrs.as<TopK>();
  const int64_t n = l.x[0].sizes[a.dim];
  with_ordered(l, a.dim, [&](auto zero) {
    using T = decltype(zero);
    for_lines<T>(l, a.dim, a.k, a.largest, [&](const T* x, T* values, int64_t* at, Item<T>* items, Item<T>*) { topk_row(x, n, a.k, a.largest, values, at, items); });
  });
}

// ---- searchsorted: the first position whose element is not before a value; NaN comes after all

// Many values take each step together: none waits for another, and no step has a branch.
template <class T, bool right> struct SearchLine {
  static constexpr bool narrow = true;
  static constexpr int64_t together = 128, few = 24;
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;  // as wide as the data: loops over both vectorise
  template <int W> [[gnu::always_inline]] static inline void run(const T* sorted, int64_t n, const T* values, int64_t m, int64_t* at) {
    for (int64_t i = 0; i < m; i += together) {
      const int64_t count = m - i < together ? m - i : together;
      Index first[together] = {}, nan = 0;
      for (int64_t j = 0; j < count; j++) nan |= functors::is_nan(values[i + j]) ? 1 : 0;
      if (n <= few) {   // all that are before it are counted: gathers wait longer
        for (int64_t k = 0; k < n; k++)
          for (int64_t j = 0; j < count; j++) first[j] += is_before(sorted[k], values[i + j]) ? 1 : 0;
        for (int64_t j = 0; j < count; j++) at[i + j] = first[j];
      } else {
        for (Index left = static_cast<Index>(n), half = left / 2; left > 1; left -= half, half = left / 2)
          for (int64_t j = 0; j < count; j++) first[j] += is_before(sorted[first[j] + half - 1], values[i + j]) ? half : 0;
        for (int64_t j = 0; j < count; j++) at[i + j] = first[j] + (is_before(sorted[first[j]], values[i + j]) ? 1 : 0);
      }
      for (int64_t j = 0; nan && j < count; j++)
        if (functors::is_nan(values[i + j])) at[i + j] = right ? n : std::partition_point(sorted, sorted + n, [](T x) { return !functors::is_nan(x); }) - sorted;
    }
  }

 private:
  [[gnu::always_inline]] static inline bool is_before(T element, T value) { return right ? element <= value : element < value; }  // NaN is before no number
};
template <class T> void search(const View& sorted, const View& values, const View& y, bool right) {
  const Contiguous in(sorted, dtype_of<T>()), wanted(values, dtype_of<T>());
  const int64_t n = sorted.sizes[sorted.ndim - 1], m = values.sizes[values.ndim - 1], part = std::min<int64_t>(m, 8192), parts = (m + part - 1) / part;
  pool::parallel_for(y.numel / m * parts, std::max<int64_t>(1, 4096 / part), [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; u++) {
      const int64_t line = u / parts, from = line * m + u % parts * part, count = std::min(part, m - u % parts * part);
      const auto search = right ? isa::at_level<SearchLine<T, true>, const T*, int64_t, const T*, int64_t, int64_t*>() : isa::at_level<SearchLine<T, false>, const T*, int64_t, const T*, int64_t, int64_t*>();
      search(in.as<const T>() + line * n, n, wanted.as<const T>() + from, count, y.as<int64_t>() + from);
    }
  });
}
void search_kernel(const Launch& l) {
  const bool right = l.attrs.as<Search>().right;
  if (l.y[0].numel == 0 || l.x[0].numel == 0 || l.x[0].numel >= int64_t(1) << 31) return reference(l);
  switch (l.x[0].dtype) {
    case DType::float16:
    case DType::bfloat16:
    case DType::float32: return search<float>(l.x[0], l.x[1], l.y[0], right);
    case DType::float64: return search<double>(l.x[0], l.x[1], l.y[0], right);
    case DType::int64: return search<int64_t>(l.x[0], l.x[1], l.y[0], right);
    default: return reference(l);
  }
}

constexpr Entry entries[] = {
    {"searchsorted", search_kernel},
    {"sort", sort_kernel},
    {"topk", topk_kernel},
};

}  // namespace

Entries sort_kernels() { return entries; }

}  // namespace adjoint::cpu
