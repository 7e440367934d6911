"""Many points and small matrices: operations on (2000, 3) and (2000, 3, 3), whose rows are shorter than any vector."""

from _compare import Row, Table, main

EXPRESSIONS = """
(v * w).sum(-1)             v.mean(-1)                  v.std(-1)                   v.norm(dim=-1)
v.amax(-1)                  v.argmax(-1)                v.softmax(-1)               v.logsumexp(-1)
v.prod(-1)                  v.cumsum(-1)                v.sort(-1)                  v.topk(2, -1)
v + w[:, :1]                v[:, :, None] * w[:, None]  v.flip(-1)                  v.roll(1, -1)
v[:, [0, 2]]                v.repeat(1, 2)              v.t().contiguous()          A.mT.contiguous()
lib.cat([v, w], -1)         lib.stack([v, w], 1)        lib.stack([v, w], -1)       F.pad(v, (0, 1))
A @ B                       A @ B.mT                    A.mT @ B                    (A @ v[..., None])[..., 0]
v @ B[0]                    lib.baddbmm(A, A, B)        A[:, :2, :2] @ B[:, :2, :2]  lib.linalg.matrix_power(A, 3)
lib.linalg.inv(S)           lib.linalg.det(S)           lib.linalg.solve(S, v)      lib.linalg.cholesky(S)
lib.linalg.eigh(S)          lib.linalg.svd(A)           lib.linalg.qr(A)            lib.linalg.matrix_exp(A)
lib.linalg.cross(v, w)      lib.linalg.vecdot(v, w)     F.normalize(v, dim=-1)      F.cosine_similarity(v, w)
F.pairwise_distance(v, w)   F.layer_norm(v, (3,))       F.cross_entropy(v, classes)  F.max_pool1d(A, 2)
lib.cdist(v[:200], w[:200])  lib.kron(v[:30], w[:30])    lib.trapezoid(v)            lib.diagonal(A, 0, 1, 2).sum(-1)
lib.einsum('bij,bj->bi', A, v)                          lib.einsum('bij,bjk->bik', A, B)
"""


def prepared(expression):
    code = compile(expression, expression, "eval")

    def make(lib):
        lib.manual_seed(0)
        v, w, A, B = (lib.randn(2000, 3), lib.randn(2000, 3), lib.randn(2000, 3, 3), lib.randn(2000, 3, 3))
        names = {"lib": lib, "F": lib.nn.functional, "v": v, "w": w, "A": A, "B": B}
        names |= {"S": A @ A.mT + 3 * lib.eye(3), "classes": lib.arange(2000) % 3}
        return lambda: eval(code, names)

    return make


def expressions():
    """The expressions, two or more spaces apart."""
    return [e for line in EXPRESSIONS.splitlines() for e in map(str.strip, line.split("  ")) if e]


if __name__ == "__main__":
    main(Table("2000 points, 2000 matrices 3 x 3", [Row(e, prepared(e)) for e in expressions()], alone=True))
