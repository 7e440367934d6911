// Attributes by name: what a kernel that C++ does not know reads of a call (fields_of<Reduce> in the record of sum).
#pragma once
#include <adjoint/core/attrs.h>
#include <adjoint/core/op_attrs.h>

#include <concepts>

namespace adjoint {

struct Field {
  const char* name;
  double number;        // also of integers and flags
  int64_t whole;
  bool real, flag;      // of a floating-point attribute; of a bool
  const Dims* dims;     // null: one value
};

struct FieldList {
  static constexpr int most = 8;
  Field field[most];
  int count = 0;

  void add(const char* name, std::integral auto v) { field[count++] = {name, static_cast<double>(v), static_cast<int64_t>(v), false, std::is_same_v<decltype(v), bool>, nullptr}; }
  void add(const char* name, std::floating_point auto v) { field[count++] = {name, v, 0, true, false, nullptr}; }
  void add(const char* name, const Dims& v) { field[count++] = {name, 0, v.size() == 1 ? v[0] : 0, false, false, &v}; }
};

inline void describe(const Dim& a, FieldList& f) { f.add("dim", a.dim); }
inline void describe(const Dims2& a, FieldList& f) { f.add("a", a.a); f.add("b", a.b); }
inline void describe(const Reduce& a, FieldList& f) { f.add("dims", a.dims); f.add("keepdim", a.keepdim); }
inline void describe(const KeptScale& a, FieldList& f) { f.add("scale", a.scale); }
inline void describe(const DimKeep& a, FieldList& f) { f.add("dim", a.dim); f.add("keepdim", a.keepdim); }
inline void describe(const Sizes& a, FieldList& f) { f.add("sizes", a.sizes); }
inline void describe(const Factors& a, FieldList& f) { f.add("a", a.a); f.add("b", a.b); }
inline void describe(const EluFactors& a, FieldList& f) { f.add("alpha", a.alpha); f.add("scale", a.scale); f.add("input_scale", a.input_scale); }
inline void describe(const Pieces& a, FieldList& f) {
  f.add("low", a.low); f.add("high", a.high); f.add("below", a.below); f.add("inside", a.inside);
  f.add("above", a.above); f.add("slope", a.slope); f.add("middle", a.middle);
}
inline void describe(const Triangle& a, FieldList& f) { f.add("diagonal", a.diagonal); }
inline void describe(const Variance& a, FieldList& f) { f.add("dims", a.dims); f.add("correction", a.correction); f.add("keepdim", a.keepdim); }
inline void describe(const VectorNorm& a, FieldList& f) { f.add("dims", a.dims); f.add("p", a.p); f.add("keepdim", a.keepdim); }
inline void describe(const Scan& a, FieldList& f) { f.add("dim", a.dim); f.add("reverse", a.reverse); }
inline void describe(const Normalize& a, FieldList& f) { f.add("dims", a.dims); f.add("eps", a.eps); }
inline void describe(const Sorting& a, FieldList& f) { f.add("dim", a.dim); f.add("descending", a.descending); }
inline void describe(const Indexed& a, FieldList& f) { f.add("dims", a.dims); f.add("at", a.at); f.add("accumulate", a.accumulate); }
inline void describe(const ScatterReduce& a, FieldList& f) { f.add("dim", a.dim); f.add("how", static_cast<int>(a.how)); }
inline void describe(const Slice& a, FieldList& f) { f.add("dim", a.dim); f.add("start", a.start); f.add("end", a.stop); f.add("step", a.step); }
inline void describe(const At& a, FieldList& f) { f.add("dim", a.dim); f.add("index", a.index); }
inline void describe(const Strided& a, FieldList& f) { f.add("size", a.sizes); f.add("stride", a.strides); f.add("storage_offset", a.offset); }
inline void describe(const Windows& a, FieldList& f) { f.add("dimension", a.dim); f.add("size", a.size); f.add("step", a.step); }
inline void describe(const Diagonal& a, FieldList& f) { f.add("offset", a.offset); f.add("dim1", a.a); f.add("dim2", a.b); }
inline void describe(const Shifts& a, FieldList& f) { f.add("shifts", a.shifts); f.add("dims", a.dims); }
inline void describe(const TopK& a, FieldList& f) { f.add("k", a.k); f.add("dim", a.dim); f.add("largest", a.largest); f.add("sorted", a.sorted); }
inline void describe(const Window& a, FieldList& f) {
  f.add("kernel_size", a.kernel); f.add("stride", a.stride); f.add("padding", a.padding); f.add("dilation", a.dilation);
  f.add("groups", a.groups); f.add("ceil_mode", a.ceil_mode); f.add("count_include_pad", a.count_include_pad);
}
inline void describe(const Averaging& a, FieldList& f) { describe(a.window, f); f.add("divisor_override", a.divisor); }
inline void describe(const Convolution& a, FieldList& f) { f.add("stride", a.stride); f.add("padding", a.padding); f.add("dilation", a.dilation); f.add("groups", a.groups); }
inline void describe(const Epsilon& a, FieldList& f) { f.add("eps", a.eps); }
inline void describe(const Replacements& a, FieldList& f) { f.add("nan", a.nan); f.add("positive", a.positive); f.add("negative", a.negative); }
inline void describe(const Order& a, FieldList& f) { f.add("n", a.n); }
inline void describe(const Polynomials& a, FieldList& f) { f.add("family", static_cast<int>(a.family)); f.add("parameter", a.parameter); }
inline void describe(const Search& a, FieldList& f) { f.add("right", a.right); }
inline void describe(const Scale& a, FieldList& f) { f.add("value", a.value.to<double>()); }

template <class A> void fields_of(const Attrs* a, FieldList& f) {
  if (a) describe(a->as<A>(), f);
  else describe(A{}, f);
}

}  // namespace adjoint
