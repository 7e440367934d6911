// Indexing by tensors of positions and masks, as in x[i, :, j]: one index tensor over some dimensions of x, taken together.
#include <adjoint/core/cuda/graph.h>
#include <adjoint/core/batch.h>
#include <adjoint/core/observer.h>
#include <adjoint/core/sparse.h>
#include <adjoint/core/types.h>

#include <algorithm>
#include <numeric>

#include "families.h"
#include "one_zero.h"
#include "positions.h"

namespace adjoint {

namespace {

struct Ravel { Dims sizes, dims; };

Dims rest_of(const Dims& sizes, const Dims& dims) {
  Dims rest;
  for (int i = 0; i < sizes.size(); i++)
    if (!dims.contains(i)) rest.push_back(sizes[i]);
  return rest;
}
Dims result_sizes(const Dims& x, const Dims& positions, const Indexed& a) {
  Dims r = rest_of(x, a.dims);
  for (int i = 0; i < positions.size(); i++) r.insert(a.at + i, positions[i]);
  return r;
}

// Where each flat position lies in x, in elements. Negative positions count from the end.
std::vector<int64_t> offsets(const View& x, const View& position, const Dims& dims, const char* op) {
  int64_t total = 1;
  for (int64_t d : dims) total *= x.sizes[d];
  std::vector<int64_t> r(position.numel);
  const Dims row_major = contiguous_strides(positions::dims_of(position.sizes, position.ndim));
  const View out{reinterpret_cast<char*>(r.data()), position.sizes, row_major.data(), position.ndim, DType::int64, position.numel};
  const View* const v[] = {&out, &position};
  for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
      const int64_t at = *reinterpret_cast<const int64_t*>(p[1] + i * s[1]);
      expect(at >= -total && at < total, ErrorKind::index, op, ": index ", at, " is out of bounds for dimension ", dims.empty() ? 0 : dims[0], " with size ", total);
      int64_t rest = at < 0 ? at + total : at, offset = 0;
      for (int k = dims.size(); k-- > 0; rest /= x.sizes[dims[k]]) offset += rest % x.sizes[dims[k]] * x.strides[dims[k]];
      *reinterpret_cast<int64_t*>(p[0] + i * s[0]) = offset;
    }
  });
  return r;
}

// Kernels of a device cannot raise: positions that still lie on the CPU are looked at before they go there.
void check_here(const Tensor& position, const Dims& sizes, const Dims& dims) {
  if (position.device().type != DeviceType::cpu || position->keys & key_lifted || cuda::without_values(position)) return;
  expect_strided(*position, "index");
  const View at{position->data, position->sizes.data(), position->strides.data(), position.dim(), position.dtype(), position.numel()};
  offsets({nullptr, sizes.data(), sizes.data(), sizes.size(), DType::int64, 0}, at, dims, "index");
}

// The part of x and of the offsets in each element of the result.
positions::Restrided over_result(const View& x, const Dims& result, const View& position, const Indexed& a) {
  Dims strides;
  for (int i = 0; i < x.ndim; i++)
    if (!a.dims.contains(i)) strides.push_back(x.strides[i]);
  for (int i = 0; i < position.ndim; i++) strides.insert(a.at, 0);
  return {x, result, strides};
}
positions::Restrided offsets_over_result(std::vector<int64_t>& values, const Dims& result, const View& position, const Indexed& a) {
  const Dims row_major = contiguous_strides(positions::dims_of(position.sizes, position.ndim));
  Dims strides(result.size(), 0);
  for (int i = 0; i < position.ndim; i++) strides[a.at + i] = row_major[i];
  return {{reinterpret_cast<char*>(values.data()), nullptr, nullptr, 0, DType::int64, 0}, result, strides};
}

void index_kernel(const Launch& l) {
  const Indexed& a = l.attrs.as<Indexed>();
  const View &x = l.x[0], &position = l.x[1], &y = l.y[0];
  std::vector<int64_t> at = offsets(x, position, a.dims, l.op);
  const Dims result = positions::dims_of(y.sizes, y.ndim);
  positions::take(y, over_result(x, result, position, a).view(), offsets_over_result(at, result, position, a).view(), 1);
}

void index_put_kernel(const Launch& l) {
  const Indexed& a = l.attrs.as<Indexed>();
  const View &x = l.x[0], &values = l.x[1], &position = l.x[2], &y = l.y[0];
  std::vector<int64_t> at = offsets(y, position, a.dims, l.op);
  const Dims result = positions::dims_of(values.sizes, values.ndim);
  positions::scatter(y, x, values, offsets_over_result(at, result, position, a).view(), 1, a.accumulate,
                     [&](const View& to) { return over_result(to, result, position, a); });
}

// Row-major position of one index per dimension, each of which may be negative.
void ravel_kernel(const Launch& l) {
  const Ravel& a = l.attrs.as<Ravel>();
  for (size_t k = 0; k < l.x.size(); k++) {
    const int64_t size = a.sizes[static_cast<int>(k)], dim = a.dims[static_cast<int>(k)];
    const View* const v[] = {&l.y[0], &l.x[k]};
    for_rows(v, [&](char* const* p, const int64_t* s, int64_t n) {
      for (int64_t i = 0; i < n; i++) {
        const int64_t at = *reinterpret_cast<const int64_t*>(p[1] + i * s[1]);
        expect(at >= -size && at < size, ErrorKind::index, "index: index ", at, " is out of bounds for dimension ", dim, " with size ", size);
        int64_t& flat = *reinterpret_cast<int64_t*>(p[0] + i * s[0]);
        flat = (k ? flat * size : 0) + (at < 0 ? at + size : at);
      }
    });
  }
}

// Calls f(index of the row, its elements, their number of elements to step, their number) for each row of x. Of bools the bytes, which need
// not be 0 or 1 where elements of another type are seen as bool.
template <class F> void for_index_rows(const View& x, F&& f) {
  with_type(x.dtype == DType::bool_ ? DType::uint8 : x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int outer = std::max(x.ndim - 1, 0);
    const int64_t n = x.ndim ? x.sizes[outer] : 1, step = x.ndim ? x.strides[outer] : 1;
    std::vector<int64_t> index(outer, 0);
    const T* p = x.as<T>();
    for (int64_t row = 0; n && row < x.numel / n; row++) {
      f(index, p, step, n);
      for (int d = outer; d-- > 0;) {
        p += x.strides[d];
        if (++index[d] < x.sizes[d]) break;
        p -= x.strides[d] * x.sizes[d];
        index[d] = 0;
      }
    }
  });
}

void nonzero_shape(Tensors x, const Attrs&, Dims* out) {
  constexpr int64_t few = 4096;   // elements that are counted here
  int64_t count = 0;
  if (const Tensor given = alias_of(x[0]); given.device().type != DeviceType::cpu || given.numel() > few)
    count = item(sum(given.dtype() == DType::bool_ ? given : ne(given, zeros({}, given.dtype())))).to<int64_t>();
  else for_index_rows({x[0]->data, x[0].sizes().data(), x[0]->strides.data(), x[0].dim(), x[0].dtype(), x[0].numel()}, [&](const auto&, const auto* p, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++) count += convert<bool>(p[i * step]) ? 1 : 0;
  });
  out[0] = {count, x[0].dim()};
}
// Positions in a row of all that share the other indices: `count` rows of y.
void put_positions(int64_t* y, const std::vector<int64_t>& index, const int64_t* at, int64_t count) {
  const auto put = [&](auto outer) {
    for (int64_t k = 0; k < count; k++, y += outer + 1) {
      for (int64_t d = 0; d < outer; d++) y[d] = index[static_cast<size_t>(d)];
      y[outer] = at[k];
    }
  };
  switch (index.size()) {
    case 0: std::copy_n(at, count, y); return;
    case 1: return put(std::integral_constant<int64_t, 1>{});
    case 2: return put(std::integral_constant<int64_t, 2>{});
    default: return put(static_cast<int64_t>(index.size()));
  }
}
// Every element is written where the next one that is not zero belongs: no branch is mispredicted.
void nonzero_kernel(const Launch& l) {
  constexpr int64_t some = 512;
  int64_t* y = l.y[0].as<int64_t>();
  if (l.x[0].ndim == 0) return;
  for_index_rows(l.x[0], [&](const std::vector<int64_t>& index, const auto* p, int64_t step, int64_t n) {
    int64_t at[some];
    for (int64_t i = 0; i < n;) {
      int64_t count = 0;
      const int64_t end = std::min(n, i + some);
      for (; i < end; i++, p += step) {
        at[count] = i;
        count += convert<bool>(*p) ? 1 : 0;
      }
      put_positions(y, index, at, count);
      y += count * l.x[0].ndim;
    }
  });
}

Tensor index_at(const Tensor& x, const Tensor& position, const Indexed& a);
Tensor index_put_at(const Tensor& x, const Tensor& values, const Tensor& position, const Indexed& a);
Tensor ravel(Tensors indices, const Ravel& a);

// The dimensions of the positions moved between front (behind the batch) and the place they have in the result.
Tensor positions_to_place(const Tensor& y, int count, int at) {
  Dims order{0};
  for (int i = 0; i < at; i++) order.push_back(1 + count + i);
  for (int i = 0; i < count; i++) order.push_back(1 + i);
  for (int i = order.size(); i < y.dim(); i++) order.push_back(i);
  return permute(y, order);
}
Tensor positions_to_front(const Tensor& y, int count, int at) {
  Dims order{0};
  for (int i = 0; i < count; i++) order.push_back(1 + at + i);
  for (int i = 0; i < at; i++) order.push_back(1 + i);
  for (int i = order.size(); i < y.dim(); i++) order.push_back(i);
  return permute(y, order);
}

Indexed shifted(Indexed a) {
  for (int64_t& d : a.dims) d++;
  a.at++;
  return a;
}
// Positions of all lanes in x with its batch dimension in front: the lane is one more index.
Tensor lane_positions(const Tensor& position, const Tensor& x, const Indexed& a) {
  int64_t total = 1;
  for (int64_t d : a.dims) total *= x.size(static_cast<int>(d) + 1);
  Dims lane(position.dim(), 1);
  lane[0] = position.size(0);
  const Tensor both[] = {reshape(counting(position.size(0), position.device()), lane), position};
  return ravel(both, {{position.size(0), total}, {0, 1}});
}
Indexed with_lanes(const Indexed& a) {
  Indexed r = shifted(a);
  r.dims.insert(0, 0);
  r.at = 0;
  return r;
}

void batch_index(const BatchCall& c, Tensor* out) {
  const Indexed& a = c.attrs.as<Indexed>();
  if (c.dims[1] < 0) { out[0] = index_at(batch::front(c, 0), c.x[1], shifted(a)); return; }
  const Tensor position = batch::front(c, 1);
  if (c.dims[0] < 0) { out[0] = movedim(index_at(c.x[0], position, a), a.at, 0); return; }
  const Tensor x = batch::front(c, 0);
  out[0] = positions_to_place(index_at(x, lane_positions(position, x, a), with_lanes(a)), position.dim() - 1, a.at);
}
void batch_index_put(const BatchCall& c, Tensor* out) {
  const Indexed& a = c.attrs.as<Indexed>();
  const Tensor x = batch::spread(c, 0), values = batch::spread(c, 1);
  if (c.dims[2] < 0) { out[0] = index_put_at(x, values, c.x[2], shifted(a)); return; }
  const Tensor position = batch::front(c, 2);
  out[0] = index_put_at(x, positions_to_front(values, position.dim() - 1, a.at), lane_positions(position, x, a), with_lanes(a));
}

}  // namespace

const Op op_index{.name = "index", .torch = "|self indices", .fields = fields_of<Indexed>, .kind = Kind::linear, .indices = 2, .types = types::first,
    .shape = [](Tensors x, const Attrs& attrs, Dims* out) {
      const Indexed& a = attrs.as<Indexed>();
      for (int64_t d : a.dims) expect(d < x[0].dim(), ErrorKind::index, "index: too many indices for tensor of dimension ", x[0].dim());
      out[0] = result_sizes(x[0].sizes(), x[1].sizes(), a);
    },
    .d = {rule([](V v, X<1> position, XShape<0> x, const Indexed& a) {
      return index_put_at(one_zero(x.sizes, v), v, position, {a.dims, a.at, true});
    })},
    .batch = batch_index,
    .doc = "The elements of `x` at positions given by tensors of integers or masks.", .reference = index_kernel};

const Op op_index_put{.name = "index_put", .torch = "|self values indices", .fields = fields_of<Indexed>, .kind = Kind::linear, .updates = true, .indices = 4, .types = types::first,
    .shape = [](Tensors x, const Attrs& attrs, Dims* out) {
      const Dims places = result_sizes(x[0].sizes(), x[2].sizes(), attrs.as<Indexed>());
      expect(x[1].sizes() == places, ErrorKind::shape, "index_put: shape mismatch: values of shape ", x[1].sizes(), " do not fit the places, of shape ", places);
      out[0] = x[0].sizes();
    },
    .d = {rule([](V v, X<2> position, XShape<1> values, const Indexed& a) -> Tensor {
            return a.accumulate ? Tensor(v) : index_put_at(v, zeros(values.sizes, v.dtype(), v.device()), position, a);
          }),
          rule([](V v, X<2> position, const Indexed& a) { return index_at(v, position, a); })},
    .batch = batch_index_put,
    .doc = "`x` with `values` written, or added, at positions given by tensors of integers or masks.", .reference = index_put_kernel};

const Op op_ravel_index{.name = "ravel_index", .variadic = true, .types = types::first,
    .doc = "The row-major position that one index per dimension points to.", .reference = ravel_kernel};

const Op op_nonzero{.name = "nonzero", .types = types::positions, .shape = nonzero_shape,
    .batch = [](const BatchCall&, Tensor*) { fail(ErrorKind::runtime, "nonzero: vmap: We do not support batching operators that can output dynamic shape."); },
    .doc = "The positions of the elements of `x` that are not zero, one a row.", .reference = nonzero_kernel};
Tensor nonzero(const Tensor& x) {
  cuda::expect_values(x, "nonzero");
  return apply(op_nonzero, {x});
}

namespace {

// Where nothing is read or written, a kernel sees no position.
void expect_elements(const Tensor& x, const Tensor& position, const Indexed& a, const char* op) {
  if (x.numel() || !position.numel()) return;
  for (int64_t d : a.dims) expect(x.size(static_cast<int>(d)) > 0, ErrorKind::index, op, ": index is out of bounds for dimension ", d, " with size 0");
}

Tensor index_at(const Tensor& x, const Tensor& position, const Indexed& a) {
  expect_elements(x, position, a, "index");
  if (x.device().type != DeviceType::cpu) check_here(position, x.sizes(), a.dims);
  return apply(op_index, {x, position}, a);
}
// The dimensions of x with those that are indexed side by side where the result has the positions'.
Dims side_by_side(int ndim, const Indexed& a) {
  Dims order;
  for (int i = 0; i < ndim; i++)
    if (!a.dims.contains(i)) order.push_back(i);
  for (int k = 0; k < a.dims.size(); k++) order.insert(a.at + k, a.dims[k]);
  return order;
}
// Kernels of a device write along dimensions that are neighbours.
Tensor index_put_apart(const Tensor& x, const Tensor& values, const Tensor& position, const Indexed& a) {
  const Dims order = side_by_side(x.dim(), a);
  Dims back(order.size(), 0);
  for (int i = 0; i < order.size(); i++) back[static_cast<int>(order[i])] = i;
  Indexed together = a;
  std::iota(together.dims.begin(), together.dims.end(), a.at);
  return permute(index_put_at(permute(x, order), values, position, together), back);
}
Tensor index_put_at(const Tensor& x, const Tensor& values, const Tensor& position, const Indexed& a) {
  expect_elements(x, position, a, "index_put");
  const bool neighbours = a.dims.empty() || a.dims[a.dims.size() - 1] - a.dims[0] == a.dims.size() - 1;
  if (x.device().type != DeviceType::cpu) {
    check_here(position, x.sizes(), a.dims);
    if (!neighbours) return index_put_apart(x, values, position, a);
  }
  const Tensor others[] = {values, position};
  return update(op_index_put, x, others, a);
}
Tensor ravel(Tensors indices, const Ravel& a) {
  const auto far = std::find_if(indices.begin(), indices.end(), [](const Tensor& t) { return t.device().type != DeviceType::cpu; });
  if (far != indices.end()) {   // kernels there look at the bounds of what they read
    Tensor position;
    for (size_t k = 0; k < indices.size(); k++) {
      if (indices[k].dtype() == DType::int64) check_here(indices[k], a.sizes, {static_cast<int64_t>(k)});
      const Tensor size = wrapped(a.sizes[static_cast<int>(k)]), index = to_device(to_dtype(indices[k], DType::int64), far->device());
      const Tensor i = where(lt(index, wrapped(0)), add(index, size), index);
      position = position ? add(mul(position, size), i) : i;
    }
    return position;
  }
  Tensor y[max_outputs];
  apply(op_ravel_index, indices, a, y);
  return y[0];
}

// Which elements x[indices] names.
struct Place { Tensor position; Indexed at; };

bool is_mask(DType t) { return t == DType::bool_ || t == DType::uint8; }

class Resolver {
 public:
  Resolver(const Tensor& x, Tensors indices, const char* op) : x_(x), op_(op) {
    for (size_t i = 0; i < indices.size(); i++) {
      const Tensor& index = indices[i];
      if (!index) dim_++;
      else if (is_mask(index.dtype())) mask(index, i);
      else integers(index);
      expect(dim_ <= x.dim(), ErrorKind::index, op, ": too many indices for tensor of dimension ", x.dim());
      if (!index) gap_ = !parts_.empty();
      else if (gap_) adjacent_ = false;
    }
  }
  bool any() const { return !parts_.empty(); }
  Place place() {
    const int at = adjacent_ ? first_ : 0;
    if (parts_.size() == 1) return {parts_[0], {dims_, at, false}};
    check_broadcast();
    return {ravel(parts_, {part_sizes_, part_dims_}), {dims_, at, false}};
  }

 private:
  // n dimensions of x from dim_ on, indexed together.
  void add(const Tensor& position, int n) {
    if (parts_.empty()) first_ = dim_;
    int64_t size = 1;
    part_dims_.push_back(dim_);
    for (int i = 0; i < n; i++) {
      size *= x_.size(dim_);
      dims_.push_back(dim_++);
    }
    part_sizes_.push_back(size);
    parts_.push_back(position);
  }
  void integers(const Tensor& index) {
    expect(index.dtype() == DType::int64 || index.dtype() == DType::int32, ErrorKind::index, op_, ": tensors used as indices must be long, int, byte or bool tensors, got ", index.dtype());
    expect(dim_ < x_.dim(), ErrorKind::index, op_, ": too many indices for tensor of dimension ", x_.dim());
    add(to_dtype(index, DType::int64), 1);
  }
  void mask(const Tensor& mask, size_t number) {
    expect(dim_ + mask.dim() <= x_.dim(), ErrorKind::index, op_, ": too many indices for tensor of dimension ", x_.dim());
    for (int i = 0; i < mask.dim(); i++)
      expect(mask.size(i) == x_.size(dim_ + i), ErrorKind::index, op_, ": The shape of the mask ", mask.sizes(), " at index ", i, " does not match the shape of the indexed tensor ", x_.sizes(),
             " at index ", dim_ + i, " (index number ", number, ")");
    add(select(nonzero(reshape(mask, {-1})), 1, 0), mask.dim());
  }
  void check_broadcast() const {
    try {
      Dims common;
      for (const Tensor& p : parts_) common = broadcast(common, p.sizes(), op_);
    } catch (const Error&) {
      std::ostringstream shapes;
      for (size_t i = 0; i < parts_.size(); i++) shapes << (i ? ", " : "") << parts_[i].sizes();
      fail(ErrorKind::index, op_, ": shape mismatch: indexing tensors could not be broadcast together with shapes ", shapes.str());
    }
  }

  const Tensor& x_;
  const char* op_;
  int dim_ = 0, first_ = 0;
  bool gap_ = false, adjacent_ = true;
  TensorVector parts_;
  Dims dims_, part_sizes_, part_dims_;
};

// values with the shape of what is written.
Tensor fit(const Tensor& values, const Dims& sizes) {
  Tensor v = values;
  while (v.dim() > sizes.size() && v.size(0) == 1) v = select(v, 0, 0);
  bool fits = v.dim() <= sizes.size();
  for (int i = 1; fits && i <= v.dim(); i++) fits = v.size(-i) == 1 || v.size(-i) == sizes[sizes.size() - i];
  expect(fits, ErrorKind::shape, "index_put: shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ", sizes);
  return v.sizes() == sizes ? v : expand(v, sizes);
}

// Whether one element is written where one mask is true, as masked_fill does, which takes numbers of any type.
bool fills(const Tensor& x, Tensors indices, const Tensor& value) {
  const auto given = [](const Tensor& i) { return static_cast<bool>(i); };
  const auto mask = std::ranges::find_if(indices, given);
  return value.numel() == 1 && value.device().type == DeviceType::cpu && (is_complex(x.dtype()) || !is_complex(value.dtype())) &&
         std::ranges::count_if(indices, given) == 1 && is_mask(mask->dtype());
}

}  // namespace

Tensor index(const Tensor& x, Tensors indices) {
  Resolver r(x, indices, "index");
  if (!r.any()) return alias(x);
  const Place p = r.place();
  return index_at(x, p.position, p.at);
}
Tensor index_put(const Tensor& x, Tensors indices, const Tensor& values, bool accumulate) {
  const bool fits = values.dtype() == x.dtype() || values->flags & flag_wrapped || (!accumulate && fills(x, indices, values));
  expect(fits, "index_put: Index put requires the source and destination dtypes match, got ", x.dtype(), " for the destination and ", values.dtype(), " for the source.");
  const Tensor v = to_dtype(values, x.dtype());
  if (x.device().type == DeviceType::meta && std::ranges::any_of(indices, [](const Tensor& i) { return i && is_mask(i.dtype()); }))
    return add(x, to_dtype(sum(v), x.dtype()));   // how many elements a mask names is not known: only the form of the result, and who takes part, are
  Resolver r(x, indices, "index_put");
  if (!r.any()) return accumulate ? x + fit(to_device(v, x.device()), x.sizes()) : clone(fit(to_device(v, x.device()), x.sizes()));
  Place p = r.place();
  p.at.accumulate = accumulate;
  return index_put_at(x, fit(to_device(v, x.device()), result_sizes(x.sizes(), p.position.sizes(), p.at)), p.position, p.at);
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  expect(mask.dtype() == DType::bool_, "masked_select: expected BoolTensor for mask, got ", mask.dtype());
  const Dims sizes = broadcast(x.sizes(), mask.sizes(), "masked_select");
  const Tensor m = expand(mask, sizes);
  return index(expand(x, sizes), {&m, 1});
}

const Op op_detach_where{.name = "detach_where", .indices = 2, .types = types::first,
    .d = {rule([](V v, X<1> mask) { return where(mask, wrapped(0.0), v); })},
    .doc = "The elements of `x`, without derivative where `mask` is true.", .reference = [](const Launch& l) { positions::copy(l.x[0], l.y[0]); }};

Tensor one_hot(const Tensor& index, int64_t classes) {
  expect(index.dtype() == DType::int64, "one_hot: is only applicable to index tensor of type LongTensor, got ", index.dtype());
  const bool readable = !(index->keys & key_lifted) && !cuda::without_values(index);
  if (classes < 0) {
    cuda::expect_values(index, "one_hot");
    expect(index.numel() > 0, "one_hot: Can not infer total number of classes from empty tensor.");
    expect(readable, "one_hot: num_classes must be given inside a transform");
    classes = item(amax(index)).to<int64_t>() + 1;
  }
  if (readable && index.numel() > 0) {
    expect(item(amin(index)).to<int64_t>() >= 0, "one_hot: Class values must be non-negative.");
    expect(item(amax(index)).to<int64_t>() < classes, "one_hot: Class values must be smaller than num_classes.");
  }
  return to_dtype(eq(unsqueeze(index, -1), counting(classes, index.device())), DType::int64);
}

const Op* const index_ops[] = {&op_detach_where, &op_index, &op_index_put, &op_nonzero, &op_ravel_index};
Ops families::index() { return index_ops; }

}  // namespace adjoint
