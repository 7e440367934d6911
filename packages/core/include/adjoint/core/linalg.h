// Dense linear algebra: factorisations of matrices and what is solved with them. Leading dimensions are a batch.
#pragma once
#include <adjoint/core/ops.h>

namespace adjoint {

// What a factorisation cannot do with the numbers it is given: a RuntimeError of its own.
class ADJOINT_API LinAlgError : public Error {
 public:
  explicit LinAlgError(std::string text) : Error(ErrorKind::runtime, std::move(text)) {}
};

// ---- attributes of the records
struct Checked { bool check; };                    // raise where the factorisation fails
struct Triangular { bool upper, unit; };
struct Solving { bool adjoint; };                  // with the conjugate transpose
struct Spectral { bool vectors; };                 // else the vectors are left out: empty
struct Singular { bool vectors, full; };           // full: square U and Vh
struct Orthogonal { bool complete; };              // a square Q
struct Symmetric { bool hermitian, check; };       // else symmetric, complex or not
struct Reflecting { bool left, transpose; };       // from that side, with the conjugate transpose

// For kernels. The record's failures, as LAPACK numbers them: 0 is success, one for each matrix of the batch.
constexpr int32_t not_finite = -1;
ADJOINT_API void check_info(const char* op, std::span<const int32_t> info, bool batched);

// ---- factorisations (ops/factor.cpp)
struct Factored { Tensor factor, info; };
struct LU { Tensor factors, pivots, info; };       // L below the diagonal, U on and above it; pivots as LAPACK's, from 1
struct QR { Tensor q, r; };
ADJOINT_API Factored cholesky(const Tensor& x, bool upper = false, bool check = true);
ADJOINT_API LU lu_factor(const Tensor& x, bool check = true);
ADJOINT_API Tensor lu_permutation(const Tensor& pivots, int64_t rows);   // row i of P^T x is row permutation[i] of x
ADJOINT_API QR qr(const Tensor& x, bool complete = false);

// ---- of symmetric matrices (ops/ldl.cpp)
struct LDL { Tensor factors, pivots, info; };      // L below the blocks of D; pivots as LAPACK's, from 1
ADJOINT_API LDL ldl_factor(const Tensor& x, bool hermitian = false, bool check = true);
ADJOINT_API Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b, bool hermitian = false);
ADJOINT_API void expect_blocks(std::span<const int32_t> pivots);   // for kernels: rows there are, and blocks of two whole

// ---- products of reflections (ops/reflections.cpp)
struct PackedQR { Tensor a, tau; };                // R, with the vectors of Q's reflections below it, and their factors
ADJOINT_API PackedQR geqrf(const Tensor& x);
ADJOINT_API Tensor householder_product(const Tensor& a, const Tensor& tau);
ADJOINT_API Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& c, bool left = true, bool transpose = false);

// ---- solutions (ops/solve.cpp)
ADJOINT_API Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true, bool unit = false);
struct Solved { Tensor x, factors, pivots; };
ADJOINT_API Solved solve(const Tensor& a, const Tensor& b, bool check = true);   // b: matrices
ADJOINT_API Factored inverse(const Tensor& x, bool check = true);

// ---- determinants (ops/determinant.cpp)
struct SignLog { Tensor sign, logarithm; };
ADJOINT_API Tensor det(const Tensor& x);
ADJOINT_API SignLog slogdet(const Tensor& x);

// ---- spectra (ops/spectral.cpp)
struct Eigen { Tensor values, vectors; };
struct SVD { Tensor u, s, vh; };
ADJOINT_API Eigen eigh(const Tensor& x, bool upper = false);
ADJOINT_API Tensor eigvalsh(const Tensor& x, bool upper = false);
ADJOINT_API Eigen eig(const Tensor& x);
ADJOINT_API Tensor eigvals(const Tensor& x);
ADJOINT_API SVD svd(const Tensor& x, bool full);
ADJOINT_API Tensor svdvals(const Tensor& x);

// ---- sums with products (ops/linalg.cpp): beta * c + alpha * product; of a half c and a product in float, rounded once
ADJOINT_API Tensor scaled_sum(const Tensor& c, Tensor product, const Scalar& beta, const Scalar& alpha);
ADJOINT_API Tensor addr(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha);
ADJOINT_API Tensor multi_dot(Tensors x);           // the product of matrices (or vectors at the ends) in the cheapest order
ADJOINT_API Tensor block_diag(Tensors x);          // matrices along the diagonal (ops/join.cpp)

// ---- functions of matrices (ops/matrix_function.cpp)
ADJOINT_API Tensor matrix_exp(const Tensor& x);
ADJOINT_API Tensor pinv(const Tensor& a, const Tensor& known);   // `known`, which is the pseudo-inverse of a, with its derivative by a

}  // namespace adjoint
