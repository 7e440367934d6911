// Tensors without Python and engine: layout, ownership of memory, numbers, and the errors of the basic helpers.
#include <adjoint/core/ops.h>
#include <adjoint/core/sparse.h>

#include <cmath>
#include <limits>

#include "check.h"

using namespace adjoint;
using test::check;
using test::check_raises;

namespace {

void layout() {
  const Tensor x = empty({2, 3, 4});
  check(x->strides == Dims{12, 4, 1} && x->contiguous() && x.numel() == 24, "row-major", x->strides);
  const Tensor t = permute(x, {2, 0, 1});
  check(t.sizes() == Dims{4, 2, 3} && t->strides == Dims{1, 12, 4} && !t->contiguous(), "permute moves strides", t->strides);
  const Tensor e = expand(full({3, 1}, 1.0, DType::float32), {3, 5});
  check(overlaps_itself(*e) && !overlaps_itself(*t) && !overlaps_itself(*x), "only expanded memory overlaps itself");
  check(empty({0, 3})->contiguous() && empty({0, 3}).numel() == 0, "no elements");
  check(empty(Dims(7, 1)).dim() == 7, "more dimensions than are stored inline");
  check(select(x, 0, 1)->offset() == 12, "a view starts inside", select(x, 0, 1)->offset());
  check(broadcast({3, 1}, {2, 1, 4}, "test") == Dims{2, 3, 4}, "broadcast");
  check(wrap_dim(-1, 3, "test") == 2 && wrap_dim(0, 0, "test") == 0, "wrap_dim");
}

void errors() {
  check_raises(ErrorKind::shape, "shapes that do not broadcast", [] { broadcast({2}, {3}, "test"); });
  check_raises(ErrorKind::index, "a dimension out of range", [] { wrap_dim(2, 2, "test"); });
  check_raises(ErrorKind::runtime, "a negative size", [] { empty({-1}); });
  check_raises(ErrorKind::shape, "more elements than an int64 counts", [] { empty({int64_t(1) << 40, int64_t(1) << 40}); });
  check_raises(ErrorKind::shape, "more bytes than an int64 counts", [] { empty({int64_t(1) << 31, int64_t(1) << 31}); });
  check_raises(ErrorKind::runtime, "the value of two elements", [] { item(empty({2})); });
  check_raises(ErrorKind::shape, "adding shapes that do not match", [] { add(empty({2}), empty({3})); });
}

// Storage lives as long as its last view; borrowed memory is handed back then.
void ownership() {
  static double memory[6] = {0, 1, 2, 3, 4, 5};
  static int released = 0;
  Tensor view;
  {
    const Tensor x = empty({2, 3}, DType::float64);
    x->storage->dec_ref();
    x->storage = Storage::borrow(memory, sizeof memory, [](void* p) noexcept { ++*static_cast<int*>(p); }, &released);
    x->data = reinterpret_cast<char*>(memory);
    view = select(x, 0, 1);
    check(x->use_count() == 1 && x->storage->refs == 2, "a view counts on the storage", x->storage->refs);
  }
  check(released == 0, "the view keeps the memory");
  check(item(sum(view)).to<double>() == 12, "it reads it", item(sum(view)).to<double>());
  view = {};
  check(released == 1, "the last view hands the memory back", released);

  const Tensor x = full({2}, 1.0, DType::float32), same = x;
  check(x->use_count() == 2 && same.is(x), "a handle counts");
  const uint32_t before = x->storage->version;
  const Tensor one = full({2}, 1.0, DType::float32);
  apply_inplace(op_add, x, {&one, 1});
  check(x->storage->version == before + 1, "a write counts", x->storage->version);
  check(item(select(x, 0, 0)).to<double>() == 2, "a write is seen by every handle");
}

// Conversions that C++ leaves undefined have the results of PyTorch on x86.
void conversions() {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  check(convert<int64_t>(infinity) == INT64_MIN && convert<int64_t>(nan) == INT64_MIN, "not a number to int64");
  check(convert<int32_t>(1e10) == INT32_MIN, "to int32 past its end", convert<int32_t>(1e10));
  check(convert<uint8_t>(300.0) == 44 && convert<uint8_t>(-1.0f) == 255, "to uint8 past its ends");
  check(convert<bool>(nan) && convert<bool>(0.5) && !convert<bool>(0.0), "to bool");
  check(std::isinf(static_cast<float>(Half(70000.f))), "to float16 past its end");
  check(convert<float>(Complex<double>{3, 4}) == 3, "complex to real takes the real part");
  check(std::isinf(convert<float>(1e300)), "to float32 past its end");
  check(Scalar(true).to<double>() == 1 && Scalar(2.5).to<int64_t>() == 2, "numbers of a call");
}

void promotion() {
  check(promote(DType::uint8, DType::int8) == DType::int16, "uint8 with int8");
  check(promote(DType::int64, DType::float16) == DType::float16, "an integer with a float");
  check(promote(DType::float16, DType::bfloat16) == DType::float32, "the two halves");
  check(promote(DType::complex64, DType::float64) == DType::complex128, "complex with a wide float");
  const Tensor y = full({2}, int64_t{3}, DType::int64) * 0.5;
  check(y.dtype() == DType::float32, "integers with a number that is a float", y.dtype());
}

void every_record() {
  check(!all_ops().empty(), "there are records");
  for (const Op* op : all_ops()) {
    check(find_op(op->name) == op, "find_op finds each record by its name", op->name);
    check(op->alias || op->make || op->reference || sparse_kernel(op->name), "each is a view or has a kernel of its own", op->name);
  }
  check(!find_op("no such operation"), "and nothing else");
}

}  // namespace

int main() {
  layout();
  errors();
  ownership();
  conversions();
  promotion();
  every_record();
  return test::failures;
}
