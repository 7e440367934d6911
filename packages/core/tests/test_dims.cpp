// Dims: every way to grow, copy and move across the border between inline and heap values.
#include <adjoint/core/dims.h>

#include "check.h"

using adjoint::Dims;
using test::check;

namespace {

Dims counting(int n) {
  Dims d;
  for (int i = 0; i < n; i++) d.push_back(i);
  return d;
}

bool counts(const Dims& d, int n) {
  if (d.size() != n) return false;
  for (int i = 0; i < n; i++)
    if (d[i] != i) return false;
  return true;
}

void sizes_around_the_inline_capacity() {
  for (int n = 0; n <= 2 * Dims::inline_capacity; n++) {
    const Dims d = counting(n);
    check(counts(d, n), "push_back keeps the values", d);
    check(d.empty() == (n == 0), "only no dims are empty", d);
    check(counts(Dims(std::span<const int64_t>(d)), n), "a span is copied", d);
    Dims moved_from = d;
    const Dims moved = std::move(moved_from);
    check(counts(moved, n), "moving keeps the values", moved);
    check(moved == d && !(moved == counting(n + 1)), "equality sees values and size", moved);
  }
}

void assignment_between_all_sizes() {
  for (int from = 0; from <= 2 * Dims::inline_capacity; from++)
    for (int to = 0; to <= 2 * Dims::inline_capacity; to++) {
      const Dims source = counting(from);
      Dims copied = counting(to), moved = counting(to), source2 = source;
      copied = source;
      moved = std::move(source2);
      check(counts(copied, from), "copy assignment", from, "over", to, copied);
      check(counts(moved, from), "move assignment", from, "over", to, moved);
      Dims resized = counting(to);
      resized.resize(from);
      bool ok = resized.size() == from;
      for (int i = 0; ok && i < from; i++) ok = resized[i] == (i < to ? i : 0);
      check(ok, "resize keeps what stays and clears what is new", to, "to", from, resized);
    }
}

void self_assignment() {
  for (int n : {3, 8}) {
    Dims d = counting(n);
    Dims& same = d;
    d = same;
    check(counts(d, n), "copying onto itself", d);
    d = std::move(same);
    check(counts(d, n), "moving onto itself", d);
  }
}

void insert_and_erase() {
  for (int n : {0, 4, 5, 6, 9})
    for (int at = 0; at <= n; at++) {
      Dims d = counting(n);
      d.insert(at, 42);
      check(d.size() == n + 1 && d[at] == 42, "insert", at, d);
      d.erase(at);
      check(counts(d, n), "erase undoes insert", at, d);
    }
  check(Dims{2, 3, 4}.product() == 24 && Dims{}.product() == 1, "product");
  check(Dims{2, 3}.contains(3) && !Dims{2, 3}.contains(4), "contains");
  check(Dims(7, 2) == Dims{2, 2, 2, 2, 2, 2, 2}, "n equal values");
}

}  // namespace

int main() {
  sizes_around_the_inline_capacity();
  assignment_between_all_sizes();
  self_assignment();
  insert_and_erase();
  return test::failures;
}
