// Every kernel of the table against core's reference kernel, over types, shapes and strides; no Python is needed, so it runs under an emulator too.
//   adjoint_kernels_cpu_test_kernels [write FILE | compare FILE]     results for, or against, another processor
#include <adjoint/core/attention.h>
#include <adjoint/core/distance.h>
#include <adjoint/core/embedding_bag.h>
#include <adjoint/core/fft.h>
#include <adjoint/core/grid_sample.h>
#include <adjoint/core/linalg.h>
#include <adjoint/core/margin.h>
#include <adjoint/core/norms.h>
#include <adjoint/core/random_words.h>
#include <adjoint/core/resize.h>
#include <adjoint/core/special.h>

#include <cblas.h>

#include <bit>
#include <set>

#include "checked_kernels.h"
#include "random.h"

using namespace adjoint;

namespace {

enum class Layout { dense, transposed, strided, broadcast };

// Numbers that every processor makes alike: a few thousand multiples of 2^-10 in [-3, 3), or whole ones.
Tensor numbers(const Dims& sizes, DType dtype, uint64_t seed) {
  Tensor x = empty(sizes, dtype);
  with_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto next = [&] {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const auto number = static_cast<double>(seed >> 40) * 6 / 0x1p24 - 3;
      return std::floor(is_integral(dtype) ? number * 20 : number * 1024) / (is_integral(dtype) ? 1 : 1024);
    };
    for (int64_t i = 0; i < x.numel(); i++) {
      const double re = next();
      if constexpr (is_complex_v<T>) x.data<T>()[i] = convert<T>(Complex<double>{re, next()});
      else if constexpr (std::is_unsigned_v<T>) x.data<T>()[i] = static_cast<T>(static_cast<int64_t>(re) & 63);
      else x.data<T>()[i] = convert<T>(re);
    }
  });
  return x;
}

// Operands of one type and layout. What they hold follows from their shape: compilers differ in which argument they evaluate first.
struct Draw {
  DType dtype;
  Layout layout;

  Tensor operator()(const Dims& sizes) const { return (*this)(sizes, dtype); }
  Tensor other(const Dims& sizes) const { return (*this)(sizes, dtype, 1); }
  Tensor operator()(const Dims& sizes, DType t, uint64_t seed = 0) const {
    Dims s = sizes;
    for (int64_t n : sizes) seed = seed * 1000003 + static_cast<uint64_t>(n);
    if (layout == Layout::transposed && s.size() > 1) {
      std::swap(s[s.size() - 1], s[s.size() - 2]);
      return mT(numbers(s, t, seed));
    }
    if (layout == Layout::strided && s.size() > 0) {
      const int last = s.size() - 1;
      s[last] = 2 * s[last] + 1;
      return slice(numbers(s, t, seed), last, 1, s[last], 2);
    }
    if (layout == Layout::broadcast && s.size() > 0) {
      s[0] = 1;
      return expand(numbers(s, t, seed), sizes);
    }
    return numbers(s, t, seed);
  }
  Tensor index(const Dims& sizes, int64_t below) const {
    const Tensor x = numbers(sizes, DType::int64, static_cast<uint64_t>(below));
    for (int64_t i = 0; i < x.numel(); i++) x.data<int64_t>()[i] = (x.data<int64_t>()[i] + 64) * 7 % below;
    return x;
  }
  // Each of 0 ... n - 1 once.
  Tensor permutation(int64_t n) const {
    const Tensor x = empty({n}, DType::int64);
    for (int64_t i = 0; i < n; i++) x.data<int64_t>()[i] = (i * 5 + 2) % n;
    return x;
  }
  // Well conditioned: eigenvalues far apart, and a diagonal that outweighs what stands beside it.
  Tensor matrix(int64_t n, int64_t batch) const {
    const Tensor x = mul((*this)({batch, n, n}), full({}, 0.0625, real_of(dtype)));
    const Tensor d = empty({n}, dtype);
    with_type(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t i = 0; i < n; i++) d.data<T>()[i] = convert<T>(static_cast<double>(2 * i + 4));
    });
    return add(x, diag(d));
  }
};

using Case = void (*)(const Draw&);
using Cases = std::span<const Case>;
const Window window{{3, 2}, {2, 1}, {1, 0}, {1, 1}, 1, false, true};
const Convolution convolution{{2, 1}, {1, 0}, {1, 1}, 2, {}};

// Multiplied, the factors must give the matrix back: they are not unique.
template <class F> void agree(const char* name, const Tensor& matrix, F&& product) {
  const auto elements = [](const Tensor& t) { return test::Elements(View{t->data, t->sizes.data(), t->strides.data(), t.dim(), t.dtype(), t.numel()}); };
  test::results.pause(true);
  const Tensor x = contiguous(product()), y = contiguous(matrix);
  test::results.pause(false);
  const double apart = test::distance(elements(x), elements(y), true);
  test::check(apart <= test::most_epsilons, "the factors give the matrix back", name, "of", x.dtype(), ", epsilons apart:", apart);
}

Tensor call(const char* name, std::initializer_list<Lent> x, const Attrs& attrs = {}) { return apply(*find_op(name), x, attrs); }

// ---- what is not elementwise

const Case copies[] = {
    [](const Draw& x) { clone(x({40, 33})); },
    [](const Draw& x) { contiguous(x({5, 40, 33})); },
    [](const Draw& x) { copy_(x({40, 33}), x({40, 33}, DType::float32)); },
    [](const Draw& x) { for (const DTypeInfo& t : dtype_table) to_dtype(x({30, 21}), static_cast<DType>(&t - dtype_table)); },
};
const Case reductions[] = {
    [](const Draw& x) { for (const Dims& d : {Dims{}, Dims{0}, Dims{1}, Dims{0, 2}}) sum(x({7, 60, 33}), d), mean(x({7, 60, 33}), d); },
    [](const Draw& x) { for (const Dims& d : {Dims{}, Dims{0}, Dims{1}, Dims{0, 2}}) all(x({7, 60, 33}), d), any(x({7, 60, 33}), d); },
    [](const Draw& x) { for (const Dims& d : {Dims{}, Dims{0}, Dims{1}, Dims{0, 2}}) amax(x({7, 60, 33}), d), amin(x({7, 60, 33}), d); },
    [](const Draw& x) { for (const Dims& d : {Dims{}, Dims{0}, Dims{1}}) var(x({60, 133}), d), adjoint::std(x({60, 133}), d); },
    [](const Draw& x) { for (double p : {0., 1., 2., double(INFINITY)}) vector_norm(x({60, 133}), p, Dims{1}), vector_norm(x({60, 133}), p, Dims{0}); },
    [](const Draw& x) { for (int dim : {0, 1}) argmax(x({60, 133}), dim), argmin(x({60, 133}), dim), max(x({60, 133}), dim), min(x({60, 133}), dim); },
    [](const Draw& x) { for (int dim : {0, 1}) call("median", {x({9, 133})}, DimKeep{dim, false}), call("nanmedian", {x({9, 133})}, DimKeep{dim, false}), logcumsumexp(x({9, 133}), dim); },
    [](const Draw& x) { for (const Dims& d : {Dims{}, Dims{0}, Dims{1}, Dims{0, 2}}) call("nansum", {x({7, 60, 33})}, Reduce{d, false}); },
    [](const Draw& x) { for (bool right : {false, true}) searchsorted(sort(x({90}), 0).values, x({40, 13}), right); },
    [](const Draw& x) { sum(x({70001})), amax(x({70001})), argmax(x({70001}), 0); },
    [](const Draw& x) { for (int dim : {0, 1}) cumsum(x({9, 133}), dim), cummax(x({9, 133}), dim), cummin(x({9, 133}), dim); },
    [](const Draw& x) { for (int dim : {0, 1}) cumprod(mul(x({9, 9}), full({}, 0.25, real_of(x.dtype))), dim); },
    [](const Draw& x) { for (int dim : {0, 1}) prod(mul(x({9, 133}), full({}, 0.25, real_of(x.dtype))), dim), call("softmax_vjp", {x({40, 133}), x.other({40, 133})}, Dim{dim}), call("log_softmax_vjp", {x({40, 133}), x.other({40, 133})}, Dim{dim}); call("softmax_vjp", {x({30, 7, 5}), x.other({30, 7, 5})}, Dim{1}), call("log_softmax_vjp", {x({3, 4, 600}), x.other({3, 4, 600})}, Dim{1}), call("softmax_vjp", {x({2, 1100, 3}), x.other({2, 1100, 3})}, Dim{1}); },
    [](const Draw& x) {
      for (bool sums : {false, true})
        for (bool centred : {false, true})
          for (const auto& [groups, each] : {std::pair{1, 1}, {2, 7}, {5, 133}})
            call("standardise_vjp", {x({70, 133}), x.other({70, 133}), x({70, 1}), abs(x.other({70, 1})), x({groups, 133 / each})}, StandardiseVjp{1, 0.5, centred, sums, groups, each});
    },
    [](const Draw& x) { call("layer_norm_vjp", {x({20, 133}), x.other({20, 133}), x({20, 1})}, Dim{1}); },
    [](const Draw& x) { for (int dim : {0, 1}) softmax(x({40, 133}), dim), log_softmax(x({40, 133}), dim), logsumexp(x({40, 133}), Dims{dim}), softmax(x({530, 5}), dim), log_softmax(x({530, 20}), dim), logsumexp(x({530, 20}), Dims{dim}); softmax(x({300, 3, 6}), 1), log_softmax(x({90, 7, 15}), 1), logsumexp(x({90, 7, 5}), Dims{1}); },
    [](const Draw& x) { layer_norm(x({20, 133}), {133}, x({133}), x.other({133}), 1e-5), grouped_norm(x({5, 6, 9}), 15, 18, x({6}), x.other({6}), 1e-5, false), rms_norm(x({20, 133}), {133}, x({133}), 1e-5); },
    [](const Draw& x) {
      for (const Dims& d : {Dims{79, 33, 1}, Dims{1030, 3, 1}, Dims{20, 7, 9}, Dims{70, 2, 50}, Dims{2, 3, 1100}})
        for (bool sums : {false, true}) {
          const Dims c{1, d[1], 1};
          call("batch_norm_vjp", {x(d), x.other(d), x(c), abs(x.other(c)), x(c)}, ChannelsVjpOf{{0, 2}, 0.5, sums});
        }
    },
    [](const Draw& x) { batch_norm(x({20, 7, 9}), {}, {}, x({7}), x.other({7}), true, 0.1, 1e-5); },
    [](const Draw& x) { for (int dim : {0, 1}) sort(x({40, 133}), dim), sort(x({40, 133}), dim, true), topk(x({40, 133}), 5, dim); },
    [](const Draw& x) { for (int n : {2, 7, 32}) sort(x({70, n}), 1), sort(x({70, n}), 1, true), topk(x({70, n}), 2, 1), cumsum(x({70, n}), 1); },
};
const Case indices[] = {
    [](const Draw& x) { call("masked_scale", {x({40, 33}), gt(x.other({40, 33}), zeros({}, x.dtype))}, KeptScale{1.25}); },
    [](const Draw& x) { embedding(x({20, 33}), x.index({15}, 20)); },
    [](const Draw& x) { for (int dim : {0, 1}) gather(x({20, 33}), dim, x.index({20, 33}, 20)), index_select(x({20, 33}), dim, x.index({15}, 20)); },
    [](const Draw& x) { index(x({20, 33}), {{x.index({15}, 20), x.index({15}, 33)}}), index(x({20, 33}), {{Tensor{}, x.index({15}, 33)}}); },
    [](const Draw& x) { for (bool add : {false, true}) index_put(x({20, 33}), {{x.permutation(20)}}, x.other({20, 33}), add); },
    [](const Draw& x) { index_add(x({20, 33}), 0, x.index({15}, 20), x({15, 33})), index_copy(x({20, 33}), 1, x.permutation(33), x.other({20, 33})); },
    [](const Draw& x) { scatter(x({20, 33}), 0, expand(unsqueeze(x.permutation(20), 1), {20, 33}), x.other({20, 33})), scatter_add(x({20, 33}), 1, x.index({20, 33}, 33), x.other({20, 33})); },
    [](const Draw& x) { for (Combine how : {Combine::prod, Combine::amax, Combine::amin}) scatter_reduce(x({20, 33}), 0, x.index({20, 33}, 20), x.other({20, 33}), how), scatter_reduce(x({20, 33}), 1, expand(x.index({15}, 33), {20, 15}), x.other({20, 15}), how); },
};
const Case products[] = {
    [](const Draw& x) { for (int64_t m : {1, 150}) call("sparse_matmul", {x({2000}), x.index({2000}, 40), x.index({2000}, 30), x({30, m})}, RowCount{40}), call("sparse_matmul", {x({2000}), floor_divide(counting(2000, {}), wrapped(50)), x.index({2000}, 30), x({30, m})}, RowCount{40}); },
    [](const Draw& x) {
      const Tensor index = x.index({200}, 30), offsets = arange(int64_t(0), int64_t(200), int64_t(40), DType::int64), none = empty({0}, x.dtype);
      for (int64_t m : {1, 3, 13, 70, 300}) {
        for (int mode : {0, 1, 2}) call("embedding_bag", {x({30, m}), index, offsets, mode ? none : x({200})}, Bags{0, mode * 2 - 1, mode, mode == 1});
        call("embedding_bag_vjp", {x({5, m}), index, offsets, x({200})}, Bags{30, 3, 0, false}), call("embedding_bag_vjp", {x({4, m}), index, offsets, none}, Bags{30, -1, 0, true});
      }
    },
    [](const Draw& x) { for (int64_t m : {1, 150}) call("sampled_matmul", {x({40, m}), x({30, m}), x.index({2000}, 40), x.index({2000}, 30)}); },
    [](const Draw& x) { for (int64_t n : {5, 700}) { const Tensor a = x({n}), number = wrapped(0.1); mul(a, number), div(a, number), div(number, a), floor_divide(a, number), trunc_divide(a, number); } },   // numbers beside them
    [](const Draw& x) { for (int64_t n : {1, 2, 3, 7}) matmul(x({5, 1, 4, 3}), x({7, 3, n})), matmul(mT(x({9, 3, 4})), mT(x({9, n, 3}))), matmul(x({2, n}), x({n, 5})); },   // tiny ones
    [](const Draw& x) { matmul(x({40, 33}), x({33, 50})), matmul(x({3, 17, 9}), x({3, 9, 33})), matmul(x({50, 70}), x({70})), matmul(x({130, 150}), x({150, 140})); },
    [](const Draw& x) { for (int64_t n : {1, 3, 5, 11, 17, 37, 67}) for (int64_t m : {1, 2, 9, 14}) matmul(x({2, m, 6}), x({2, 6, n})), matmul(x({m, 1100}), x({1100, n})), matmul(mT(x({40, m})), mT(x({n, 40}))); },   // rows and columns that fill no tile, and parts of long sums
    [](const Draw& x) { conv(x({2, 4, 13, 11}), x({6, 2, 3, 2}), x({6}), {{3, 2}, {2, 1}, {1, 0}, {1, 1}, 2, false, true}); },
    [](const Draw& x) {   // channels of a group on either side: few ones, one strip of 16, several of 32
      for (auto [in_channels, out_channels] : {std::pair(2, 3), std::pair(20, 17), std::pair(40, 50)}) {
        const Tensor in = x({2, 2 * in_channels, 13, 11}), weight = x({2 * out_channels, in_channels, 3, 2}), out = call("conv", {in, weight}, convolution);
        Convolution a = convolution;
        a.sizes = {13, 11};
        call("conv_input_vjp", {out, weight}, a);
        a.sizes = {3, 2};
        call("conv_weight_vjp", {in, out}, a);
      }
    },
    [](const Draw& x) { for (int64_t k : {1, 9}) call("conv_input_vjp", {x({1, 3, 9, 9}), x({3, 18, k, 9})}, Convolution{{1, 1}, {0, 0}, {1, 1}, 1, {8 + k, 17}}); },   // most of the padded image is padding
    [](const Draw& x) { conv(x({13, 40, 7, 7}), x({50, 40, 3, 3}), x({50}), {{3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, false, true}); },   // a last unit of few images, whose outputs are odd in number
    [](const Draw& x) {   // filters as large as the image
      const Tensor in = x({70, 6, 4, 3}), weight = x({10, 3, 4, 3}), out = x({70, 10, 1, 1});
      call("conv", {in, weight}, Convolution{{1, 1}, {0, 0}, {1, 1}, 2, {}}), call("conv_input_vjp", {out, weight}, Convolution{{1, 1}, {0, 0}, {1, 1}, 2, {4, 3}});
      call("conv_weight_vjp", {in, out}, Convolution{{1, 1}, {0, 0}, {1, 1}, 2, {4, 3}});
    },
    [](const Draw& x) {   // blocks of queries and of keys, a mask for all heads, fewer queries than keys and more
      for (auto [queries, keys] : {std::pair(5, 3), std::pair(3, 7), std::pair(150, 70)})
        for (bool causal : {false, true}) {
          const Tensor q = x({2, 1, queries, 6}), k = x({2, 1, keys, 6}), v = x({2, 1, keys, 5}), w = x({2, 1, queries, 5}), mask = x({1, 1, queries, keys});
          const Attention a{0.4, causal, {}};
          Tensor y[max_outputs];
          apply(*find_op("attention"), TensorVector{q, k, v, mask}, a, y);
          apply(*find_op("attention"), TensorVector{q, k, v}, a, y);
          Tensor cotangents[max_outputs];
          apply(*find_op("attention_vjp"), TensorVector{q, k, v, w, y[0], y[1]}, a, cotangents);
        }
    },
    [](const Draw& x) { binary_cross_entropy(sigmoid(x({17, 39})), sigmoid(x.other({17, 39})), {}, Reduction::none); },
    [](const Draw& x) { max_pool(x({2, 3, 13, 11}), window), max_pool(x({7, 10, 8, 7}), window), max_pool_values(x({2, 3, 13, 11}), window), avg_pool(x({7, 10, 8, 7}), window); },
    [](const Draw& x) {   // channels last: many, few, some left over
      for (int64_t channels : {20, 32, 70}) {
        const Tensor last = permute(x({2, 13, 11, channels}), Dims{0, 3, 1, 2});
        max_pool(last, window), max_pool_values(last, window), avg_pool(last, window), adaptive_max_pool(last, {3, 4}), adaptive_avg_pool(last, {3, 4});
      }
    },
    [](const Draw& x) { for (int d : {1, 7, 32, 40, 300}) distances(x({20, d}), x.other({15, d})), distances(x({2, 5, d}), x.other({2, 270, d}), true), distances(x({20, d}), x.other({15, d}), false, 0), distances(x({20, d}), x.other({15, d}), false, 1), call("distances", {x({30, d}), x({30, d})}, Distances{true, false, 2}); },
    [](const Draw& x) { margin_rows(x({20, 7}), x.index({20, 3}, 7), 1, true), call("margin_vjp", {x({20}), x({20, 7}), x.index({20, 3}, 7)}, Hinge{1, true}); },
    [](const Draw& x) { for (int mode : {0, 1, 2, 3}) resize(x({2, 3, 9, 8}), {5, 12}, {9 / 5., 8 / 12.}, mode, false), call("resize_vjp", {x({2, 3, 5, 12})}, Resize{{9, 8}, {std::bit_cast<int64_t>(9 / 5.), std::bit_cast<int64_t>(8 / 12.)}, mode, false}); },
    [](const Draw& x) {
      for (int mode : {0, 1, 2}) for (int outside : {0, 1, 2}) {
        const Tensor image = x({2, 3, 9, 8}), grid = mul(x({2, 4, 5, 2}), full({}, 0.4375, real_of(x.dtype))), v = x({2, 3, 4, 5});
        const GridSample a{{9, 8}, mode, outside, false, {0, 0}};
        grid_sample(image, grid, mode, outside, false), call("grid_sample_image_vjp", {v, grid}, a), call("grid_sample_grid_vjp", {v, image, grid}, a);
      }
    },
    [](const Draw& x) { call("avg_pool_vjp", {avg_pool(x({2, 3, 13, 11}), window)}, Averaging{window, 0, {13, 11}}); },
    [](const Draw& x) { for (int64_t n : {1, 2, 16, 30, 31, 60}) fft(x({5, n}), 1, false, 1.), fft(x({n, 5}), 0, true, 0.5); },
    [](const Draw& x) { for (int64_t n : {2, 16, 30, 31, 60}) rfft(x({5, n}), 1, 1.), irfft(x({5, n / 2 + 1}, complex_of(x.dtype)), 1, n, 0.5); },
};
const Case polynomials[] = {
    [](const Draw& x) { for (Family of : {Family::chebyshev_t, Family::hermite, Family::laguerre}) orthogonal_polynomial(mul(x({17, 39}), full({}, 0.25, real_of(x.dtype))), x.index({39}, 9), {of, 0.5}); },
};
const Case matrices[] = {
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); matrix_exp(mul(a, full({}, 0.0625, real_of(x.dtype)))), det(a), slogdet(a), inverse(a), lu_factor(a); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3), s = add(a, conj(mT(a))); cholesky(s); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); const QR f = qr(a); agree("qr", a, [&] { return matmul(f.q, f.r); }); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); const PackedQR f = geqrf(a); householder_product(f.a, f.tau); for (bool left : {false, true}) ormqr(f.a, f.tau, x({3, 12, 12}), left, !left), ormqr(f.a, f.tau, x({3, 12, 12}), left, left); },
    [](const Draw& x) { const PackedQR f = geqrf(x({9, 5, 3})); householder_product(f.a, f.tau); },
    [](const Draw& x) { for (bool hermitian : {false, true}) { const Tensor a = x.matrix(12, 3), s = add(a, hermitian ? conj(mT(a)) : mT(a)); const LDL f = ldl_factor(s, hermitian); ldl_solve(f.factors, f.pivots, x({3, 12, 2}), hermitian); } },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); const SVD f = svd(a, false); agree("svd", a, [&] { return matmul(mul(f.u, unsqueeze(f.s, -2)), f.vh); }); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3), s = add(a, conj(mT(a))); const Eigen f = eigh(s); agree("eigh", s, [&] { return matmul(mul(f.vectors, unsqueeze(f.values, -2)), conj(mT(f.vectors))); }); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); const Eigen f = eig(a); agree("eig", to_dtype(a, complex_of(x.dtype)), [&] { return matmul(mul(f.vectors, unsqueeze(f.values, -2)), inverse(f.vectors).factor); }); },
    [](const Draw& x) { const Tensor a = x.matrix(3, 40); det(a), inverse(a), solve(a, x({40, 3, 2})); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3); solve_triangular(a, x({3, 12, 5}), true), solve_triangular(a, x({3, 12, 5}), false); },
    [](const Draw& x) { const Tensor a = x.matrix(30, 2); slogdet(a), inverse(a), solve(a, x({2, 30, 30})), solve_triangular(a, x({2, 30, 50}), true), solve_triangular(mT(a), x({2, 30, 50}), true), solve_triangular(a, x({2, 30, 2}), false); },
    [](const Draw& x) { const Tensor a = x.matrix(12, 3), b = x({3, 12, 5}); const Solved s = solve(a, b); call("solve_factored", {a, s.factors, s.pivots, b}, Solving{true}); },
    [](const Draw& x) { if (test::epsilon(x.dtype) < 1e-6 && !is_integral(x.dtype)) { const Tensor a = x.matrix(6, 2); Tensor y[max_outputs]; apply(*find_op("rank_order"), {&a, 1}, {}, y); } },   // below what checks its type
};

// ---- what is elementwise: from the tables of kernels

int operands(const std::string& name) {
  static const std::set<std::string> two{"binary_cross_entropy", "binary_cross_entropy_with_logits", "elu_derivative", "gated", "gelu_derivative", "gelu_tanh_derivative", "huber", "piecewise", "prelu", "shrink_derivative", "relu_derivative", "sigmoid_derivative", "silu_derivative", "tanh_derivative", "erf_derivative"};
  static const std::set<std::string> three{"addcdiv", "addcmul", "affine", "clamp", "huber_derivative", "lerp", "prelu_derivative"};
  if (three.contains(name)) return 3;
  for (cpu::Entries entries : {cpu::binary_kernels(), cpu::compare_kernels()})
    for (const cpu::Entry& e : entries) if (name == e.name) return 2;
  return two.contains(name) ? 2 : 1;
}

Attrs attributes(const std::string& name) {
  if (name == "hardtanh") return Factors{-1, 1};
  if (name == "softplus") return Factors{1, 2};
  if (name.starts_with("elu")) return EluFactors{0.5, 2, 1.5};
  if (name == "piecewise") return Pieces{-0.5, 0.5, 0, 1, 2, 0.25, 0.5};
  if (name == "leaky_relu" || name.find("shrink") != std::string::npos) return Factors{0.5, 0};
  if (name == "round_decimals") return Factors{100, 0};
  if (name.starts_with("huber")) return Factors{0.75, 2};
  if (name == "addcmul" || name == "affine" || name == "addcdiv") return Scale{0.5};
  if (name == "logit") return Epsilon{0.25};
  if (name == "nan_to_num") return Replacements{0.5, 2, -2};
  if (name == "polygamma" || name == "erfcx" || name.starts_with("bessel")) return Order{2};
  if (name == "sinc") return Order{0};
  return {};
}

void run_elementwise(const char* name, const Draw& x) {
  const Attrs attrs = attributes(name);
  const Op& op = *find_op(name);
  for (const Dims& sizes : {Dims{3}, Dims{17, 39}, Dims{2, 5, 130}}) {
    const Tensor a = x(sizes), b = x.other(sizes), c = x(sizes, x.dtype, 2);
    if (op.name == std::string("where")) where(x(sizes, DType::bool_), a, b);
    else if (op.name == std::string("masked_fill")) masked_fill(a, x(sizes, DType::bool_), wrapped(2));
    else if (op.name == std::string("nextafter")) nextafter(a, b);   // its option is of the type
    else if (operands(name) == 1) apply(op, {a}, attrs);
    else if (operands(name) == 2) apply(op, {a, b}, attrs);
    else apply(op, {a, b, c}, attrs);
    if (op.name == std::string("erfcx") || std::string(op.name).starts_with("bessel_i"))
      for (int64_t order : {0, 1}) apply(op, {a}, Order{order});   // which have forms of their own
  }
}

// Types that an operation does not take are refused with an error; which, is what other tests look at.
template <class F> void run(F&& f) {
  for (int t = 0; t < dtype_count; t++)
    for (Layout layout : {Layout::dense, Layout::transposed, Layout::strided, Layout::broadcast}) {
      const Draw draw{static_cast<DType>(t), layout};
      try {
        f(draw);
      } catch (const Error&) {
      }
    }
}

// Words are the same wherever they come from; normal numbers where products and sums are not fused.
void random_numbers() {
  const RandomWords core = random_words;
  std::vector<uint32_t> a(4 * 150), b(4 * 150), state(twister_size), twisted(twister_size), words(twister_size);
  for (int64_t blocks : {1, 7, 8, 9, 64, 73, 150})
    for (uint64_t first : {uint64_t(0), (uint64_t(1) << 32) - 3, uint64_t(1) << 40}) {
      core.fill(a.data(), blocks, first, 0x123456789abcdef0, (uint64_t(1) << 32) + 5);
      cpu::random_blocks(b.data(), blocks, first, 0x123456789abcdef0, (uint64_t(1) << 32) + 5);
      test::check(std::equal(a.begin(), a.begin() + 4 * blocks, b.begin()), "Philox's words", blocks, first);
    }
  for (size_t i = 0; i < twister_size; i++) state[i] = twisted[i] = a[i % 600] + static_cast<uint32_t>(i);
  for (int round = 0; round < 3; round++) {
    core.twist(state.data(), words.data());
    std::vector<uint32_t> found(twister_size);
    cpu::random_twist(twisted.data(), found.data());
    test::check(state == twisted && words == found, "the twister's words", round);
  }
  std::vector<float> x(600), y(600);
  const auto alike = [&](const char* what) {
    for (size_t i = 0; i < 600; i++) test::check(std::fabs(x[i] - y[i]) <= 4e-7f * std::max(1.f, std::fabs(x[i])), what, i, x[i], y[i]);
  };
  core.normal(x.data(), a.data(), 600), cpu::random_normals(y.data(), a.data(), 600);
  alike("normal numbers");
  core.uniform(x.data(), a.data(), 600), cpu::random_uniforms(y.data(), a.data(), 600);
  test::check(x == y, "uniform numbers");
  core.normal_sixteens(x.data(), 592), cpu::random_normal_sixteens(y.data(), 592);
  alike("normal numbers of sixteens");
}

}  // namespace

int main(int argc, char** argv) {
  isa::level = isa::chosen();
  scipy_openblas_set_num_threads(1);
  test::check_all_kernels();
  if (argc == 3 && argv[1] == std::string("write")) test::results.write(argv[2]);
  if (argc == 3 && argv[1] == std::string("compare")) test::results.compare(argv[2]);
  for (cpu::Entries entries : {cpu::activation_kernels(), cpu::binary_kernels(), cpu::compare_kernels(), cpu::unary_kernels()})
    for (const cpu::Entry& e : entries) run([&](const Draw& x) { run_elementwise(e.name, x); });
  for (Cases cases : {Cases(copies), Cases(reductions), Cases(indices), Cases(products), Cases(polynomials), Cases(matrices)})
    for (Case f : cases) run(f);
  random_numbers();
  int launches = 0;
  for (const auto& [name, found] : test::kernels) {
    test::check(found.launches >= 4, "a kernel is launched in each layout", name, found.launches);
    launches += found.launches;
  }
  std::printf("%zu kernels in %d launches\n", test::kernels.size(), launches);
  test::results.report();
  return test::failures != 0;
}
