"""Operations that the CPU computes for GPUs, between copies, and why: the first call of each warns."""

EIGENVALUES = (
    "reductions to a condensed form and iterations of small steps depend on each other, and LAPACK's are faster than a GPU's"
)

ON_HOST = {
    "eig": EIGENVALUES,
    "eigh": EIGENVALUES,
    "svd": EIGENVALUES,
    "pinv": f"it stands on singular values; {EIGENVALUES}",
    "matrix_exp": "how many products it takes depends on the values",
}
