// Every operation as a plain function: what derivative rules, bindings and C++ users call.
// An op that has a record is one call of apply(); the others are composed of those.
#pragma once
#include <adjoint/core/op.h>
#include <adjoint/core/op_fields.h>
#include <adjoint/core/pool.h>

#include <memory>
#include <optional>
#include <vector>

namespace adjoint {

using OptionalDims = std::optional<Dims>;
using TensorVector = Vector<Tensor>;

// ---- elementwise, one operand (ops/unary.cpp)
ADJOINT_API Tensor neg(const Tensor& x), abs(const Tensor& x), sign(const Tensor& x), sgn(const Tensor& x), square(const Tensor& x), reciprocal(const Tensor& x);
ADJOINT_API Tensor exp(const Tensor& x), exp2(const Tensor& x), expm1(const Tensor& x), log(const Tensor& x), log2(const Tensor& x), log10(const Tensor& x), log1p(const Tensor& x);
ADJOINT_API Tensor sqrt(const Tensor& x), rsqrt(const Tensor& x), floor(const Tensor& x), ceil(const Tensor& x), round(const Tensor& x), trunc(const Tensor& x), frac(const Tensor& x);
ADJOINT_API Tensor sin(const Tensor& x), cos(const Tensor& x), tan(const Tensor& x), asin(const Tensor& x), acos(const Tensor& x), atan(const Tensor& x);
ADJOINT_API Tensor sinh(const Tensor& x), cosh(const Tensor& x), tanh(const Tensor& x), asinh(const Tensor& x), acosh(const Tensor& x), atanh(const Tensor& x);
ADJOINT_API Tensor erf(const Tensor& x), erfc(const Tensor& x), erfinv(const Tensor& x), lgamma(const Tensor& x), digamma(const Tensor& x), polygamma(int64_t n, const Tensor& x), sinc(const Tensor& x), mantissa(const Tensor& x), exponent(const Tensor& x);
ADJOINT_API Tensor rad2deg(const Tensor& x), deg2rad(const Tensor& x), logit(const Tensor& x, std::optional<double> eps = {}), nan_to_num(const Tensor& x, double nan = 0, std::optional<double> positive = {}, std::optional<double> negative = {});
ADJOINT_API Tensor isnan(const Tensor& x), isinf(const Tensor& x), isfinite(const Tensor& x), logical_not(const Tensor& x), bitwise_not(const Tensor& x);
// ---- activations (ops/activation.cpp)
ADJOINT_API Tensor sigmoid(const Tensor& x), relu(const Tensor& x), silu(const Tensor& x), logsigmoid(const Tensor& x), glu(const Tensor& x, int64_t dim), mish(const Tensor& x), softsign(const Tensor& x);
ADJOINT_API Tensor gelu(const Tensor& x, bool tanh_form), softplus(const Tensor& x, double beta, double threshold), elu(const Tensor& x, double alpha), selu(const Tensor& x), celu(const Tensor& x, double alpha), leaky_relu(const Tensor& x, double slope);
ADJOINT_API Tensor hardshrink(const Tensor& x, double bound), softshrink(const Tensor& x, double bound), prelu(const Tensor& x, const Tensor& slope), threshold(const Tensor& x, const Scalar& bound, const Scalar& value);
ADJOINT_API Tensor elu_derivative(const Tensor& v, const Tensor& x, const EluFactors& a), piecewise(const Tensor& v, const Tensor& x, const Pieces& a);
ADJOINT_API Tensor shrink_derivative(const Tensor& v, const Tensor& x, double bound), prelu_derivative(const Tensor& v, const Tensor& x, const Tensor& slope);
ADJOINT_API Tensor hardtanh(const Tensor& x, double lo, double hi), hardsigmoid(const Tensor& x), hardswish(const Tensor& x);
// v f'(x) in one pass, for the rules of f; relu's takes its result
ADJOINT_API Tensor sigmoid_derivative(const Tensor& v, const Tensor& x), tanh_derivative(const Tensor& v, const Tensor& x), silu_derivative(const Tensor& v, const Tensor& x), gelu_derivative(const Tensor& v, const Tensor& x, bool tanh_form), relu_derivative(const Tensor& v, const Tensor& y), erf_derivative(const Tensor& v, const Tensor& x);
// ---- elementwise, several operands (ops/binary.cpp)
ADJOINT_API Tensor add(const Tensor& a, const Tensor& b), sub(const Tensor& a, const Tensor& b), mul(const Tensor& a, const Tensor& b), div(const Tensor& a, const Tensor& b), pow(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor floor_divide(const Tensor& a, const Tensor& b), trunc_divide(const Tensor& a, const Tensor& b), remainder(const Tensor& a, const Tensor& b), fmod(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor atan2(const Tensor& a, const Tensor& b), hypot(const Tensor& a, const Tensor& b), maximum(const Tensor& a, const Tensor& b), minimum(const Tensor& a, const Tensor& b), fmax(const Tensor& a, const Tensor& b), fmin(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor igamma(const Tensor& a, const Tensor& x), igammac(const Tensor& a, const Tensor& x), igamma_derivative(const Tensor& a, const Tensor& x);
ADJOINT_API Tensor heaviside(const Tensor& x, const Tensor& values), xlogy(const Tensor& a, const Tensor& b), logaddexp(const Tensor& a, const Tensor& b), logaddexp2(const Tensor& a, const Tensor& b), nextafter(const Tensor& a, const Tensor& b), copysign(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b), masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);
ADJOINT_API Tensor clamp(const Tensor& x, const Tensor& lo, const Tensor& hi);  // an empty bound is absent
ADJOINT_API Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight), addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value), addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value);
// ---- comparison and logic: no derivative (ops/compare.cpp)
ADJOINT_API Tensor eq(const Tensor& a, const Tensor& b), ne(const Tensor& a, const Tensor& b), lt(const Tensor& a, const Tensor& b), le(const Tensor& a, const Tensor& b), gt(const Tensor& a, const Tensor& b), ge(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor logical_and(const Tensor& a, const Tensor& b), logical_or(const Tensor& a, const Tensor& b), logical_xor(const Tensor& a, const Tensor& b);
ADJOINT_API Tensor bitwise_and(const Tensor& a, const Tensor& b), bitwise_or(const Tensor& a, const Tensor& b), bitwise_xor(const Tensor& a, const Tensor& b), bitwise_left_shift(const Tensor& a, const Tensor& b), bitwise_right_shift(const Tensor& a, const Tensor& b);
// ---- complex (ops/complex.cpp)
ADJOINT_API Tensor real(const Tensor& x), imag(const Tensor& x), conj(const Tensor& x), angle(const Tensor& x), complex(const Tensor& re, const Tensor& im), polar(const Tensor& abs, const Tensor& angle);
ADJOINT_API Tensor view_as_real(const Tensor& x), view_as_complex(const Tensor& x);
// ---- reductions (ops/reduce.cpp): no dims = all; dims may be negative
ADJOINT_API Tensor sum(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
ADJOINT_API Tensor mean(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
ADJOINT_API Tensor prod(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false, std::optional<DType> dtype = {});
ADJOINT_API Tensor amax(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false), amin(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false);
ADJOINT_API Tensor all(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false), any(const Tensor& x, const OptionalDims& dims = {}, bool keepdim = false);
ADJOINT_API Tensor var(const Tensor& x, const OptionalDims& dims = {}, double correction = 1, bool keepdim = false), std(const Tensor& x, const OptionalDims& dims = {}, double correction = 1, bool keepdim = false);
ADJOINT_API Tensor vector_norm(const Tensor& x, double p = 2, const OptionalDims& dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
ADJOINT_API Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim = false);
ADJOINT_API Tensor argmax(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false), argmin(const Tensor& x, std::optional<int64_t> dim = {}, bool keepdim = false);
struct Values { Tensor values, indices; };
ADJOINT_API Values max(const Tensor& x, int64_t dim, bool keepdim = false), min(const Tensor& x, int64_t dim, bool keepdim = false), median(const Tensor& x, int64_t dim, bool keepdim = false);
ADJOINT_API Tensor unbroadcast(const Tensor& v, const Dims& sizes);   // sums what broadcasting repeated
// ---- scans (ops/scan.cpp)
ADJOINT_API Tensor cumsum(const Tensor& x, int64_t dim), cumprod(const Tensor& x, int64_t dim), logcumsumexp(const Tensor& x, int64_t dim);
ADJOINT_API Values cummax(const Tensor& x, int64_t dim), cummin(const Tensor& x, int64_t dim);
// ---- sorting (ops/sort.cpp)
ADJOINT_API Values sort(const Tensor& x, int64_t dim = -1, bool descending = false), topk(const Tensor& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);
struct Unique { Tensor values, inverse, counts; };
ADJOINT_API Unique unique(const Tensor& x);
// ---- searching and counting (ops/search.cpp)
ADJOINT_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false), bincount(const Tensor& x, const Tensor& weights, int64_t minlength = 0);
// ---- views (ops/view.cpp)
ADJOINT_API Tensor alias(const Tensor& x), expand(const Tensor& x, const Dims& sizes), view(const Tensor& x, const Dims& sizes), reshape(const Tensor& x, const Dims& sizes), as_result(Tensor y), permute(const Tensor& x, const Dims& dims), transpose(const Tensor& x, int64_t a, int64_t b), mT(const Tensor& x);
ADJOINT_API Tensor squeeze(const Tensor& x, const OptionalDims& dims = {}), unsqueeze(const Tensor& x, int64_t dim), slice(const Tensor& x, int64_t dim, int64_t start, int64_t stop, int64_t step = 1), narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length), select(const Tensor& x, int64_t dim, int64_t index);
ADJOINT_API Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t a = 0, int64_t b = 1), as_strided(const Tensor& x, const Dims& sizes, const Dims& strides, std::optional<int64_t> offset = {}), movedim(const Tensor& x, int64_t from, int64_t to), flatten(const Tensor& x, int64_t first = 0, int64_t last = -1), unfold(const Tensor& x, int64_t dim, int64_t size, int64_t step);
ADJOINT_API TensorVector unbind(const Tensor& x, int64_t dim = 0), split(const Tensor& x, int64_t size, int64_t dim = 0), split_sizes(const Tensor& x, const Dims& sizes, int64_t dim = 0), chunk(const Tensor& x, int64_t n, int64_t dim = 0);
// transposes of views: a zero tensor of `sizes` with v written where the view looked
ADJOINT_API Tensor slice_scatter_zeros(const Tensor& v, const Dims& sizes, const Slice& at), select_scatter_zeros(const Tensor& v, const Dims& sizes, const At& at), diagonal_scatter_zeros(const Tensor& v, const Dims& sizes, const Diagonal& at), as_strided_scatter_zeros(const Tensor& v, const Dims& sizes, const Strided& at);
// ---- copies and joins (ops/join.cpp, ops/cast.cpp)
ADJOINT_API Tensor clone(const Tensor& x), contiguous(const Tensor& x), to_dtype(const Tensor& x, DType dtype), to_device(const Tensor& x, Device device, bool non_blocking = false), cat(Tensors x, int64_t dim = 0), stack(Tensors x, int64_t dim = 0), flip(const Tensor& x, const Dims& dims), roll(const Tensor& x, const Dims& shifts, const Dims& dims), repeat(const Tensor& x, const Dims& repeats), tril(const Tensor& x, int64_t diagonal = 0), triu(const Tensor& x, int64_t diagonal = 0), diag(const Tensor& x, int64_t diagonal = 0), diag_embed(const Tensor& x, int64_t offset = 0, int64_t a = -2, int64_t b = -1), pad(const Tensor& x, const Dims& before, const Dims& after, double value = 0);
// compositions (ops/rearrange.cpp)
ADJOINT_API Tensor atleast(const Tensor& x, int n), hstack(Tensors x), vstack(Tensors x), dstack(Tensors x), column_stack(Tensors x);   // n: 1, 2 or 3 dimensions
ADJOINT_API Tensor rot90(const Tensor& x, int64_t k = 1, const Dims& dims = {0, 1}), diff(const Tensor& x, int64_t n = 1, int64_t dim = -1, const Tensor& prepend = {}, const Tensor& append = {});
ADJOINT_API Tensor repeat_interleave(const Tensor& x, int64_t repeats, std::optional<int64_t> dim = {}), repeat_interleave(const Tensor& x, const Tensor& repeats, std::optional<int64_t> dim = {}), repeat_interleave_index(const Tensor& repeats);
ADJOINT_API Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t dim, int64_t index), slice_scatter(const Tensor& x, const Tensor& source, int64_t dim, int64_t start, int64_t stop, int64_t step = 1), diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset = 0, int64_t a = 0, int64_t b = 1), masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
ADJOINT_API void copy_(const Tensor& self, const Tensor& source, bool non_blocking = false);   // in place, recorded, broadcasts and casts
// ---- indexing (ops/index.cpp)
ADJOINT_API Tensor gather(const Tensor& x, int64_t dim, const Tensor& index), scatter(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source), scatter_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source), index_select(const Tensor& x, int64_t dim, const Tensor& index), index_add(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1), index_copy(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source), index_fill(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& value);
ADJOINT_API Tensor scatter_reduce(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& source, Combine how, bool include_self = true);
ADJOINT_API Tensor index(const Tensor& x, Tensors indices), index_put(const Tensor& x, Tensors indices, const Tensor& values, bool accumulate = false);   // an empty index stands for a full slice; boolean masks allowed
ADJOINT_API Tensor take_along_dim(const Tensor& x, const Tensor& index, std::optional<int64_t> dim = {}), masked_select(const Tensor& x, const Tensor& mask), nonzero(const Tensor& x), embedding(const Tensor& weight, const Tensor& index, int64_t padding_idx = -1, bool by_frequency = false, bool sparse = false), one_hot(const Tensor& index, int64_t classes = -1);
// ---- linear algebra (ops/linalg.cpp)
ADJOINT_API Tensor matmul(const Tensor& a, const Tensor& b, bool in_float), mm(const Tensor& a, const Tensor& b, bool in_float), bmm(const Tensor& a, const Tensor& b, bool in_float), mv(const Tensor& a, const Tensor& b, bool in_float);   // in_float: not rounded to a half type
ADJOINT_API Tensor matmul(const Tensor& a, const Tensor& b), mm(const Tensor& a, const Tensor& b), bmm(const Tensor& a, const Tensor& b), mv(const Tensor& a, const Tensor& b), dot(const Tensor& a, const Tensor& b), outer(const Tensor& a, const Tensor& b), addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1), linear(const Tensor& x, const Tensor& weight, const Tensor& bias), tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b), trace(const Tensor& x), kron(const Tensor& a, const Tensor& b), cross(const Tensor& a, const Tensor& b, int64_t dim = -1);
ADJOINT_API Tensor einsum(const char* equation, Tensors x);
// ---- convolution and pooling (ops/conv.cpp, ops/pool.cpp)
ADJOINT_API Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const Window& w);   // 1-d, 2-d, 3-d by the rank of weight
ADJOINT_API Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const Window& w, const Dims& output_padding);
ADJOINT_API Values max_pool(const Tensor& x, const Window& w);
ADJOINT_API Tensor max_pool_values(const Tensor& x, Window w);
ADJOINT_API Tensor avg_pool(const Tensor& x, const Window& w, std::optional<int64_t> divisor = {});
ADJOINT_API Tensor adaptive_avg_pool(const Tensor& x, const Dims& sizes);   // of the last dimensions
ADJOINT_API Values adaptive_max_pool(const Tensor& x, const Dims& sizes);
// ---- normalisation and losses (ops/normalise.cpp, ops/loss.cpp)
ADJOINT_API Tensor softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}), log_softmax(const Tensor& x, int64_t dim, std::optional<DType> dtype = {}), layer_norm(const Tensor& x, const Dims& shape, const Tensor& weight, const Tensor& bias, double eps), rms_norm(const Tensor& x, const Dims& shape, const Tensor& weight, std::optional<double> eps), batch_norm(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps);
enum class Reduction { none, mean, sum };
// -log_softmax(x, dim) at one class of each row, as one operation; NaN where there is no such class. And 1 of each row that counts; both are 0 where the class is `ignore_index`.
ADJOINT_API std::pair<Tensor, Tensor> class_entropy(const Tensor& x, const Tensor& index, int dim, int64_t ignore_index);
// The cotangent of x in lines of n elements, from v, that of layer_norm's or, without `mean`, of rms_norm's result; weight: n elements or none.
ADJOINT_API Tensor rows_vjp(const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& weight, int64_t n, double eps, bool sums, int64_t groups = 1, int64_t each = 1);
ADJOINT_API Tensor channels_vjp(const Tensor& v, const Tensor& x, const Tensor& mean, const Tensor& square, const Tensor& weight, double eps, bool sums);
ADJOINT_API Tensor nll_loss(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r, int64_t ignore_index), cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r, int64_t ignore_index, double label_smoothing), mse_loss(const Tensor& x, const Tensor& target, Reduction r), l1_loss(const Tensor& x, const Tensor& target, Reduction r), binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight, Reduction r), binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target, const Tensor& weight, const Tensor& pos_weight, Reduction r), smooth_l1_loss(const Tensor& x, const Tensor& target, Reduction r, double beta), huber_loss(const Tensor& x, const Tensor& target, Reduction r, double delta), kl_div(const Tensor& x, const Tensor& target, Reduction r, bool log_target);
// ---- factories (ops/create.cpp) and random numbers (ops/random.cpp)
ADJOINT_API Tensor zeros(const Dims& sizes, DType dtype = DType::float32, Device device = {}), ones(const Dims& sizes, DType dtype = DType::float32, Device device = {}), zeros_like(const Tensor& x), ones_like(const Tensor& x), arange(const Scalar& start, const Scalar& stop, const Scalar& step, DType dtype, Device device = {}), linspace(double start, double stop, int64_t n, DType dtype, Device device = {}), eye(int64_t n, int64_t m, DType dtype, Device device = {});
inline Tensor counting(int64_t n, Device device) { return arange(int64_t(0), n, int64_t(1), DType::int64, device); }   // 0 ... n - 1
class Twister;
struct Generator {                                       // Philox 4x32-10: a key and a counter
  uint64_t seed = 0, offset = 0;
  Device device = {};                                    // whose default it is, or was asked for; it may draw for any
  std::shared_ptr<Twister> twister = nullptr;            // what draws on the CPU instead, where the library's numbers are PyTorch's
  ADJOINT_API void restart(uint64_t with);
};
ADJOINT_API Generator new_generator(uint64_t seed, Device device);
ADJOINT_API void draw_as_pytorch();                             // from now on, with generators of the CPU
ADJOINT_API Generator& default_generator(Device device = {});   // of the CPU, or of a GPU
ADJOINT_API void seed_all(uint64_t seed);                       // all default ones
ADJOINT_API Tensor rand(const Dims& sizes, DType dtype, Generator& g, Device device = {}), randn(const Dims& sizes, DType dtype, Generator& g, Device device = {}), randint(int64_t low, int64_t high, const Dims& sizes, DType dtype, Generator& g, Device device = {}), random_integers(uint64_t range, const Dims& sizes, DType dtype, Generator& g, Device device = {}), randperm(int64_t n, DType dtype, Generator& g, Device device = {}), bernoulli(const Tensor& p, Generator& g), dropout(const Tensor& x, double p, bool training, Generator& g);

// ---- operators, and operators with numbers
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return add(a, wrapped(b)); }
inline Tensor operator-(const Tensor& a, double b) { return sub(a, wrapped(b)); }
inline Tensor operator*(const Tensor& a, double b) { return mul(a, wrapped(b)); }
inline Tensor operator/(const Tensor& a, double b) { return div(a, wrapped(b)); }
inline Tensor operator+(double a, const Tensor& b) { return add(wrapped(a), b); }
inline Tensor operator-(double a, const Tensor& b) { return sub(wrapped(a), b); }
inline Tensor operator*(double a, const Tensor& b) { return mul(wrapped(a), b); }
inline Tensor operator/(double a, const Tensor& b) { return div(wrapped(a), b); }

// ---- memory-level helpers, below all levels
ADJOINT_API Tensor cast_memory(const Tensor& x, DType dtype);
ADJOINT_API Tensor clone_memory(const Tensor& x);
ADJOINT_API void follow_layout(const Tensor& like, TensorImpl& y);  // strides of an elementwise result on `like`
ADJOINT_API void bump_version(TensorImpl& x);
ADJOINT_API Dims normal_dims(const OptionalDims& dims, int ndim, const char* op);   // wrapped, sorted, checked for repeats; none or empty = all

// ---- records that other layers name
ADJOINT_API extern const Op op_to_dtype, op_alias, op_add, op_mul, op_expand, op_copy, op_clone;

}  // namespace adjoint
