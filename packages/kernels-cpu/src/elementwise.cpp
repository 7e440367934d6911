// The driver of elementwise loops: cuts the elements into blocks by shape, and brings operands into the form of the loop.
#include "elementwise.h"

#include <algorithm>
#include <optional>

#include "copy.h"
#include "pool.h"

namespace adjoint::cpu {

namespace {

constexpr int max_inputs = 3;
constexpr int64_t word = 32;  // bytes

// The operands of a row, y first, and the bytes from one element to the next.
struct Row {
  char* at[max_inputs + 1];
  int64_t step[max_inputs + 1];
};

template <int N> void run_tiles(const Program& p, const Row& row, int64_t n) {
  alignas(64) char tiles[N + 1][tile_size * 16];
  const char* in[N];
  bool in_place[N];
  for (int k = 0; k < N; k++) {
    const Format& x = p.x[k];
    in_place[k] = x.direct && row.step[1 + k] == x.stored;
    in[k] = tiles[1 + k];
    if (row.step[1 + k] == 0) {
      alignas(16) char value[16];
      x.move(value, row.at[1 + k], 0, 1);
      fill(tiles[1 + k], value, x.computed, std::min(n, tile_size));
    }
  }
  const bool out_in_place = p.y.direct && row.step[0] == p.y.stored;
  for (int64_t i = 0; i < n; i += tile_size) {
    const int64_t m = std::min(tile_size, n - i);
    for (int k = 0; k < N; k++) {
      const int64_t step = row.step[1 + k];
      const char* from = row.at[1 + k] + i * step;
      if (in_place[k]) in[k] = from;
      else if (step != 0) p.x[k].move(tiles[1 + k], from, step, m);
    }
    char* to = row.at[0] + i * row.step[0];
    p.loop(out_in_place ? to : tiles[0], in, p.functor, m);
    if (!out_in_place) p.y.move(to, tiles[0], row.step[0], m);
  }
}

template <int N> void run_row(const Program& p, const Row& row, int64_t n) {
  bool dense = p.y.direct && row.step[0] == p.y.stored;
  for (int k = 0; k < N; k++) dense = dense && p.x[k].direct && row.step[1 + k] == p.x[k].stored;
  if (!dense) return run_tiles<N>(p, row, n);
  const char* in[N];
  for (int k = 0; k < N; k++) in[k] = row.at[1 + k];
  p.loop(row.at[0], in, p.functor, n);
}

template <int N> Row shifted(const Row& row, int64_t elements) {
  Row r = row;
  for (int k = 0; k <= N; k++) r.at[k] += elements * row.step[k];
  return r;
}

bool is_scalar(const View& v) {
  for (int i = 0; i < v.ndim; i++)
    if (v.strides[i] != 0 && v.sizes[i] != 1) return false;
  return true;
}

// One row: every operand row-major, or one value.
template <int N> bool run_flat(const Program& p, const View& y, std::span<const View> x) {
  if (!y.contiguous()) return false;
  Row row{{y.data}, {p.y.stored}};
  for (int k = 0; k < N; k++) {
    const bool contiguous = x[k].contiguous();
    if (!contiguous && !is_scalar(x[k])) return false;
    row.at[1 + k] = x[k].data;
    row.step[1 + k] = contiguous ? p.x[k].stored : 0;
  }
  pool::parallel_for(y.numel, p.grain, [&](int64_t begin, int64_t end) { run_row<N>(p, shifted<N>(row, begin), end - begin); });
  return true;
}

// ---- short rows: as many as a tile holds are taken at a time

// Each of `rows` values, `width` times; whole words are written, over what the next one writes.
template <class U> void spread(U* to, const U* values, int64_t rows, int64_t width) {
  constexpr int64_t lanes = word / static_cast<int64_t>(sizeof(U));
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < width; j += lanes) std::fill_n(to + r * width + j, lanes, values[r]);
}
template <class U> void pack(U* to, const char* from, int64_t down, int64_t step, int64_t rows, int64_t width) {
  constexpr int64_t size = sizeof(U);
  for (int64_t r = 0; r < rows; r++, from += down, to += width) {
    if (step == size && width > 8) std::memcpy(to, from, static_cast<size_t>(width * size));
    else for (int64_t j = 0; j < width; j++) to[j] = *reinterpret_cast<const U*>(from + j * step);
  }
}
// Rows of x, `down` bytes apart, into a tile.
void gather_rows(const Format& x, char* to, const char* from, int64_t down, int64_t step, int64_t rows, int64_t width) {
  if (step == 0) {
    alignas(word) char values[tile_size * 16];
    x.move(values, from, down, rows);
    with_bytes(x.computed, [&](auto zero) { spread(reinterpret_cast<decltype(zero)*>(to), reinterpret_cast<const decltype(zero)*>(values), rows, width); });
  } else if (down == width * step) {
    x.move(to, from, step, rows * width);
  } else if (x.direct) {
    with_bytes(x.computed, [&](auto zero) { pack(reinterpret_cast<decltype(zero)*>(to), from, down, step, rows, width); });
  } else {
    for (int64_t r = 0; r < rows; r++) x.move(to + r * width * x.computed, from + r * down, step, width);
  }
}
void scatter_rows(const Format& y, char* to, const char* from, int64_t down, int64_t step, int64_t rows, int64_t width) {
  if (down == width * step) return y.move(to, from, step, rows * width);
  if (y.direct && width <= 8)
    return with_bytes(y.computed, [&](auto zero) {
      using U = decltype(zero);
      for (int64_t r = 0; r < rows; r++, to += down)
        for (int64_t j = 0; j < width; j++, from += sizeof(U)) *reinterpret_cast<U*>(to + j * step) = *reinterpret_cast<const U*>(from);
    });
  for (int64_t r = 0; r < rows; r++) y.move(to + r * down, from + r * width * y.computed, step, width);
}

// row: the first of `count` rows of `width` elements; down: bytes from one to the next.
template <int N> void run_short_rows(const Program& p, const Row& row, const int64_t* down, int64_t count, int64_t width) {
  alignas(64) char tiles[N + 1][tile_size * 16 + word];
  const int64_t most = std::min(count, tile_size / width);
  const char* in[N];
  auto is_flat = [&](const Format& f, int k) { return f.direct && row.step[k] == f.stored && down[k] == width * f.stored; };
  bool in_place[N];
  for (int k = 0; k < N; k++) {
    in_place[k] = is_flat(p.x[k], 1 + k);
    in[k] = tiles[1 + k];
    if (down[1 + k] == 0) gather_rows(p.x[k], tiles[1 + k], row.at[1 + k], 0, row.step[1 + k], most, width);
  }
  const bool out_in_place = is_flat(p.y, 0);
  for (int64_t i = 0; i < count; i += most) {
    const int64_t m = std::min(most, count - i);
    for (int k = 0; k < N; k++) {
      const char* from = row.at[1 + k] + i * down[1 + k];
      if (in_place[k]) in[k] = from;
      else if (down[1 + k] != 0) gather_rows(p.x[k], tiles[1 + k], from, down[1 + k], row.step[1 + k], m, width);
    }
    char* to = row.at[0] + i * down[0];
    p.loop(out_in_place ? to : tiles[0], in, p.functor, m * width);
    if (!out_in_place) scatter_rows(p.y, to, tiles[0], down[0], row.step[0], m, width);
  }
}

// Lines of elements, or of short rows.
template <int N> void run_rows(const Program& p, const Rows<N + 1>& rows) {
  const bool is_short = rows.ndim > 1 && rows.sizes[0] <= tile_size / 2;
  const int64_t width = is_short ? rows.sizes[0] : 1, grain = std::max<int64_t>(1, p.grain / width);
  Rows<N + 1> lines = rows;
  if (is_short) {
    lines.ndim--;
    std::copy_n(rows.sizes + 1, lines.ndim, lines.sizes);
    for (int k = 0; k <= N; k++) std::copy_n(rows.strides[k] + 1, lines.ndim, lines.strides[k]);
    if (lines.sizes[0] * width < 64) {   // a tile of the longest dimension, not of a few numbers
      const auto longest = std::max_element(lines.sizes, lines.sizes + lines.ndim) - lines.sizes;
      std::swap(lines.sizes[0], lines.sizes[longest]);
      for (int k = 0; k <= N; k++) std::swap(lines.strides[k][0], lines.strides[k][longest]);
    }
  }
  const int64_t n = lines.sizes[0], count = row_count(lines);
  auto each = [&](int64_t begin, int64_t end) {
    return [&, begin, end](char* const* at, const int64_t* step, int64_t) {
      Row line;
      std::copy_n(at, N + 1, line.at);
      std::copy_n(step, N + 1, line.step);
      line = shifted<N>(line, begin);
      if (!is_short) return run_row<N>(p, line, end - begin);
      for (int k = 0; k <= N; k++) line.step[k] = rows.strides[k][0];
      run_short_rows<N>(p, line, step, end - begin, width);
    };
  };
  if (n > grain) {
    const int64_t parts = (n + grain - 1) / grain;
    pool::parallel(count * parts, [&](int64_t b) {
      const int64_t line = b / parts, begin = b % parts * grain;
      walk_rows(lines, line, line + 1, each(begin, std::min(n, begin + grain)));
    });
  } else {
    pool::parallel_for(count, std::max<int64_t>(1, grain / n), [&](int64_t first, int64_t last) { walk_rows(lines, first, last, each(0, n)); });
  }
}

template <int N> void run_inputs(const Program& p, const View& y, std::span<const View> x) {
  if (run_flat<N>(p, y, x)) return;
  const Order order(y);
  const Ordered out(y, order);
  std::optional<Ordered> in[N];
  std::optional<Dense> copies[N];
  const View* v[N + 1] = {&out.view};
  for (int k = 0; k < N; k++) {
    v[1 + k] = &in[k].emplace(x[k], order).view;
    if (runs_across(*v[1 + k])) v[1 + k] = &copies[k].emplace(*v[1 + k]).view;
  }
  const View* const(&operands)[N + 1] = v;
  run_rows<N>(p, make_rows<N + 1>(operands));
}

// ---- formats

template <class U> void gather(char* to, const char* from, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; i++) reinterpret_cast<U*>(to)[i] = *reinterpret_cast<const U*>(from + i * step);
}
template <class U> void scatter(char* to, const char* from, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; i++) *reinterpret_cast<U*>(to + i * step) = reinterpret_cast<const U*>(from)[i];
}
template <class T> void load(char* to, const char* from, int64_t step, int64_t n) {
  if (step == sizeof(T)) return convert_dense<float, T>(to, from, n);
  for (int64_t i = 0; i < n; i++) reinterpret_cast<float*>(to)[i] = convert<float>(*reinterpret_cast<const T*>(from + i * step));
}
template <class T> void store(char* to, const char* from, int64_t step, int64_t n) {
  if (step == sizeof(T)) return convert_dense<T, float>(to, from, n);
  for (int64_t i = 0; i < n; i++) *reinterpret_cast<T*>(to + i * step) = convert<T>(reinterpret_cast<const float*>(from)[i]);
}
Format input_format(DType type) {
  if (!is_half(type)) return plain_input(itemsize(type));
  return {2, 4, false, type == DType::float16 ? load<Half> : load<BFloat16>};
}
Format output_format(DType type) {
  if (!is_half(type)) return plain_output(itemsize(type));
  return {2, 4, false, type == DType::float16 ? store<Half> : store<BFloat16>};
}

// A few elements: straight to the loop.
void run_small(const Launch& l, Loop loop, const void* functor, int64_t size) {
  const View& y = l.y[0];
  alignas(64) char tiles[max_inputs][tile_size * 16];
  const char* x[max_inputs];
  for (size_t k = 0; k < l.x.size(); k++) {
    x[k] = l.x[k].data;
    if (l.x[k].strides == y.strides) continue;
    fill(tiles[k], l.x[k].data, size, y.numel);
    x[k] = tiles[k];
  }
  loop(y.data, x, functor, y.numel);
}

}  // namespace

Format plain_input(int64_t size) {
  return with_bytes(size, [&](auto zero) { return Format{size, size, true, gather<decltype(zero)>}; });
}
Format plain_output(int64_t size) {
  return with_bytes(size, [&](auto zero) { return Format{size, size, true, scatter<decltype(zero)>}; });
}

void run_functor(const Launch& l, Typed typed, const void* functor, int64_t grain) {
  if (!typed.loop) return reference(l);
  const DType type = operand_type(l);
  if (l.flat && l.y[0].numel <= tile_size && !is_half(type)) return run_small(l, typed.loop, functor, itemsize(type));
  const bool plain = typed.stored;
  if (plain && std::any_of(l.x.begin(), l.x.end(), [&](const View& v) { return v.dtype != type; })) return reference(l);   // numbers
  Program p{typed.loop, functor, grain, plain ? plain_output(2) : output_format(l.y[0].dtype), {}};
  for (size_t k = 0; k < l.x.size(); k++) p.x[k] = plain ? plain_input(2) : input_format(l.x[k].dtype);
  run(p, l.y[0], l.x);
}

void run(const Program& p, const View& y, std::span<const View> x) {
  if (y.numel == 0) return;
  switch (x.size()) {
    case 1: return run_inputs<1>(p, y, x);
    case 2: return run_inputs<2>(p, y, x);
    default: return run_inputs<3>(p, y, x);
  }
}

}  // namespace adjoint::cpu
