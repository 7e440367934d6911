"""Operations that the CPU computes for GPUs, between copies, and why: the first call of each warns."""

EIGENVALUES = (
    "reductions to a condensed form and iterations of small steps depend on each other, and LAPACK's are faster than a GPU's"
)

ROWS = "a kernel takes up to 8192 rows; a program holds a column in its registers, where more have no room"

ON_HOST = {
    **dict.fromkeys(
        ("cholesky", "det", "inv", "lu_factor", "qr", "slogdet", "solve", "solve_factored", "solve_triangular"), ROWS
    ),
    "eig": EIGENVALUES,
    "eigh": f"a kernel takes up to 64 columns; beyond, {EIGENVALUES}",
    "svd": f"a kernel takes up to 64 columns or rows, and 1024 (to fill up a basis: 128) of the others; beyond, {EIGENVALUES}",
    "geqrf": "LAPACK packs the reflections, whose product and triangle `qr` finds by a kernel",
    "ldl_factor": "each step chooses between a pivot and a block of two by the largest of what is left",
    "ldl_solve": "each step follows the pivots that `ldl_factor` chose",
    "rank_order": "each step looks for the largest of all numbers that are left; derivatives of det above 3 x 3 take it",
    "matrix_exp": "how many products it takes depends on the values",
}
