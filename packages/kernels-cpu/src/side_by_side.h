// Planes side by side, whose windows are walked for many of them at once: small ones, which are turned, and those that lie so, channels last.
#pragma once
#include <adjoint/core/borrowed.h>
#include <adjoint/core/math/bits.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compilers.h"
#include "isa.h"
#include "kernels.h"
#include "lines.h"
#include "pool.h"

namespace adjoint::cpu {

constexpr int64_t side_by_side = 32;

// A window's number, and the number of an element in it.
struct Member { int32_t window, element; };
// Of all windows of a plane; those of one window in their order.
struct Members {
  int64_t in, out;
  std::vector<Member> each;
};

// From one element of a plane to the next, if planes lie beside each other, enough of them, and their elements without gaps between them; 0 if not.
inline int64_t step_across(const View& x, int spatial) {
  const int channel = x.ndim - spatial - 1;
  if (channel < 0 || x.strides[channel] != 1 || x.sizes[channel] < side_by_side) return 0;
  int64_t first = 0, step = 0;
  for (int d = x.ndim - 1; d > channel; d--) {
    if (x.sizes[d] == 1) continue;
    if (first == 0) first = step = x.strides[d];
    if (x.strides[d] != step || step < x.sizes[channel]) return 0;
    step *= x.sizes[d];
  }
  return first;
}

// Planes of x: `along` as above, or 0 where rows are read.
class SideBySide {
 public:
  SideBySide(const View& x, int spatial, int64_t along, const Members& members)
      : rows_(!along ? std::optional<Contiguous>(std::in_place, x) : std::nullopt), x_(along ? x : rows_->view()), lead_(x.ndim - spatial), along_(along), in_(members.in), work_(side_by_side * (members.in + static_cast<int64_t>(members.each.size()))) {
    for (int d = 0; d < lead_; d++) count_ *= x.sizes[d];
  }
  // Whether it is worth it: work is the number of elements in all windows of a plane, whose elements have so many bytes.
  static bool serves(int64_t along, int64_t planes, int64_t in, int64_t out, int64_t work, size_t size) {
    return planes >= side_by_side && (along ? work <= 1 << 15 : std::max(in, out) * static_cast<int64_t>(size) <= small);
  }
  // f(planes, distance between their elements, first plane, planes that are wanted) for groups; planes that are not wanted may come first.
  template <class T> void for_groups(Borrowed<const T*, int64_t, int64_t, int64_t, int64_t> f) const {
    const int64_t channels = along_ ? x_.sizes[lead_ - 1] : count_, groups = (channels + side_by_side - 1) / side_by_side;
    pool::parallel_for(count_ / channels * groups, std::max<int64_t>(1, grain / work_), [&](int64_t begin, int64_t end) {
      const Buffer memory(along_ ? 0 : in_ * side_by_side * static_cast<int64_t>(sizeof(T)));
      T* const turned = memory.as<T>();
      if (!along_) std::fill_n(turned, in_ * side_by_side, T(0));
      for (int64_t g = begin; g < end; g++) {
        const int64_t image = g / groups, first = g % groups * side_by_side, n = std::min(side_by_side, channels - first);
        if (along_) {
          const int64_t before = side_by_side - n;   // the last group begins among planes that another has
          f(x_.as<const T>() + offset(image) + first - before, along_, image * channels + first, before, n);
        } else {
          turn(x_.as<const T>() + first * in_, n, turned);
          f(turned, side_by_side, first, 0, n);
        }
      }
    });
  }

 private:
  static constexpr int64_t grain = 32768, small = 1024;   // bytes of a plane: as much of all planes as a first-level cache holds
  const std::optional<Contiguous> rows_;
  const View& x_;
  const int lead_;
  const int64_t along_, in_, work_;
  int64_t count_ = 1;

  int64_t offset(int64_t image) const {
    int64_t at = 0;
    for (int d = lead_ - 2; d >= 0; image /= x_.sizes[d--]) at += image % x_.sizes[d] * x_.strides[d];
    return at;
  }
  template <class T> void turn(const T* x, int64_t n, T* to) const {
    for (int64_t p = 0; p < n; p++)
      for (int64_t e = 0; e < in_; e++) to[e * side_by_side + p] = x[p * in_ + e];
  }
};
// Results of a group, into planes.
template <class T, class U> void turn_back(const T* x, int64_t elements, int64_t planes, U* to) {
  constexpr int64_t block = 16;
  if constexpr (std::is_same_v<T, U>)
    if (elements >= block && planes >= block) {   // in squares
      const int64_t sizes[] = {planes, elements}, from[] = {1, side_by_side}, strides[] = {elements, 1};
      const View turned{reinterpret_cast<char*>(const_cast<T*>(x)), sizes, from, 2, dtype_of<T>(), planes * elements};
      return copy({reinterpret_cast<char*>(to), sizes, strides, 2, dtype_of<T>(), planes * elements}, turned);
    }
  for (int64_t first = 0; first < elements; first += block)
    for (int64_t p = 0; p < planes; p++)
      for (int64_t e = first; e < std::min(elements, first + block); e++) to[p * elements + e] = static_cast<U>(x[e * side_by_side + p]);
}

template <class T> struct MaxAcross {
  using Index = math::Bits<T>;
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t along, const Members* members, T* largest, Index* places) {
    for (const Member m : members->each) {
      const T* v = x + m.element * along;
      T* best = largest + m.window * side_by_side;
      if (!places) {
        ADJOINT_INDEPENDENT
        for (int64_t i = 0; i < side_by_side; i++) best[i] = (v[i] > best[i]) | (v[i] != v[i]) ? v[i] : best[i];
        continue;
      }
      Index* at = places + m.window * side_by_side;
      const auto here = static_cast<Index>(m.element);
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < side_by_side; i++) {
        const T b = best[i];
        const bool enters = (v[i] > b) | (v[i] != v[i]);
        best[i] = enters ? v[i] : b;
        at[i] = enters ? here : at[i];
      }
    }
  }
};
template <class T> struct MeanAcross {
  template <int W> [[gnu::always_inline]] static inline void run(const T* x, int64_t along, const Members* members, const T* by, T* sums) {
    for (const Member m : members->each) {
      const T* v = x + m.element * along;
      T* sum = sums + m.window * side_by_side;
      ADJOINT_INDEPENDENT
      for (int64_t i = 0; i < side_by_side; i++) sum[i] += v[i];
    }
    for (int64_t o = 0; o < members->out; o++)
      for (int64_t i = 0; i < side_by_side; i++) sums[o * side_by_side + i] /= by[o];
  }
};

template <class T> void max_across(const SideBySide& planes, const Members& members, T* y, int64_t* index) {
  using Index = math::Bits<T>;
  const int64_t all = members.out * side_by_side;
  std::vector<Index> first(static_cast<size_t>(all));  // what windows of -infinity alone have
  if (index)
    for (auto m = members.each.rbegin(); m != members.each.rend(); ++m) std::fill_n(first.begin() + m->window * side_by_side, side_by_side, static_cast<Index>(m->element));
  planes.for_groups<T>([&](const T* x, int64_t along, int64_t plane, int64_t before, int64_t n) {
    const Buffer memory(all * static_cast<int64_t>(sizeof(T) + sizeof(Index)));
    T* const best = memory.as<T>();
    Index* const at = index ? reinterpret_cast<Index*>(best + all) : nullptr;
    std::fill_n(best, all, -math::infinity<T>);
    if (index) std::copy_n(first.data(), all, at);
    isa::call<MaxAcross<T>, const T*, int64_t, const Members*, T*, Index*>(x, along, &members, best, at);
    turn_back(best + before, members.out, n, y + plane * members.out);
    if (index) turn_back(at + before, members.out, n, index + plane * members.out);
  });
}
template <class T> void mean_across(const SideBySide& planes, const Members& members, const T* by, T* y) {
  planes.for_groups<T>([&](const T* x, int64_t along, int64_t plane, int64_t before, int64_t n) {
    const Buffer memory(members.out * side_by_side * static_cast<int64_t>(sizeof(T)));
    T* const sums = memory.as<T>();
    std::fill_n(sums, members.out * side_by_side, T(0));
    isa::call<MeanAcross<T>, const T*, int64_t, const Members*, const T*, T*>(x, along, &members, by, sums);
    turn_back(sums + before, members.out, n, y + plane * members.out);
  });
}

}  // namespace adjoint::cpu
