"""The cells of PyTorch's table of operators in which adjoint differs on purpose, by the words of docs/differences.md that say so."""

DERIVATIVES = ("gradient", "second", "forward")
NEW_FORMS = ("value", "in place", "vmap")
ROUNDED = (
    *(
        "nn.functional.conv_transpose2d",
        "nn.functional.conv_transpose3d",
        "grid_sampler_2d",
        "nn.functional.grid_sample",
        "histc",
    ),
    *("addbmm", "matrix_exp", "nn.functional.hinge_embedding_loss", "div"),
)
NAMING_POSITIONS = ("sort", "argsort", "topk", "kthvalue", "mode")
SHARING_OUT = ("gather", "take", "masked_select", "cat", "kthvalue", "bernoulli", "index_select")

KNOWN = {
    "complex32 is a name that no tensor can have": [("chalf", None)],
    "as_strided_scatter` has the right gradient": [("as_strided_scatter", DERIVATIVES)],
    "differentiate the triangle that they read": [
        *((name, DERIVATIVES) for name in ("cholesky_inverse", "cholesky_solve", "triangular_solve")),
    ],
    "complex `cholesky` are Hermitian": [
        *(
            (name, DERIVATIVES)
            for name in ("linalg.eigh", "linalg.eigvalsh", "linalg.cholesky", "linalg.cholesky_ex", "cholesky")
        ),
    ],
    "derivatives of the statistics": [
        *((name, DERIVATIVES) for name in ("native_layer_norm", "native_batch_norm", "_native_batch_norm_legit")),
    ],
    "The gradient of `ctc_loss` is that of the loss": [("nn.functional.ctc_loss", DERIVATIVES)],
    "have derivatives (PyTorch: an error in reverse, tangents dropped in forward mode)": [
        *((f"nn.functional.{name}", DERIVATIVES) for name in ("nll_loss", "cross_entropy", "linear_cross_entropy")),
    ],
    "everything is masked out": [
        *((name, DERIVATIVES) for name in ("masked.logaddexp", "masked.logsumexp", "linalg.norm", "masked.prod")),
    ],
    "Tangents of `logcumsumexp` are accurate": [("logcumsumexp", DERIVATIVES)],
    "`interpolate` of uint8": [("nn.functional.interpolate", NEW_FORMS), ("nn.functional.upsample_bilinear", NEW_FORMS)],
    "PyTorch rounds between the steps of many": [(name, NEW_FORMS) for name in ROUNDED],
    "may name another one of several equal elements": [(name, NEW_FORMS) for name in NAMING_POSITIONS],
    "vmap of `addmv`, `addbmm` and `baddbmm`": [
        *((name, ("vmap",)) for name in ("addmv", "addbmm", "baddbmm", "linspace", "logspace")),
    ],
    "`addbmm_` into a tensor of another shape": [("addbmm", ("in place",))],
    "`resize_` inside of vmap raises": [("resize_", ("vmap",))],
    "`out=` among them": [(name, ("error",)) for name in SHARING_OUT],
    "`out=` takes any type": [(name, ("error",)) for name in ("complex", "aminmax", "multinomial")],
    "statistics, polynomials": [("cov", ("forward",))],
}


def reason(op: str, cell: str) -> str | None:
    """What docs/differences.md says of a cell of an operator."""
    for words, cells in KNOWN.items():
        if any(op == name and (which is None or cell in which) for name, which in cells):
            return words
    return None
