"""Every op record is tested, and every hole in the table of tests has a reason."""

import pytest

from adjoint_core import registry
from op_cases import CASES
from op_checks.cells import CELLS

DERIVED = {
    **{f"{name}_derivative": f"the rule of {name}: its derivatives, and theirs, are those of {name}" for name in
       ("elu", "erf", "gelu", "gelu_tanh", "huber", "prelu", "relu", "sigmoid", "silu", "tanh")},
    "piecewise": "the rule of hardsigmoid, hardswish, hardtanh, leaky_relu and threshold: its derivatives, and theirs, are those of these",
    "shrink_derivative": "the rule of hardshrink and softshrink: its derivatives, and theirs, are those of both",
    **{name: "the rule of a window operation, reached by its derivatives" for name in ("avg_pool_vjp", "conv_input_vjp", "conv_weight_vjp")},
    **{name: "a rule of grid_sample: its derivatives, and theirs, are those of grid_sample" for name in ("grid_sample_grid_vjp", "grid_sample_image_vjp")},
    "dropout": "random: test_dropout.py, tests/device_kernels/test_random.py",
    "masked_scale": "the rule of dropout: test_dropout.py",
    "margin_vjp": "the rule of margin: its derivatives, and theirs, are those of margin",
    "resize_vjp": "the transpose of resize, reached by its derivatives",
    **{f"{name}_vjp": f"the rule of {name}: its derivatives, and theirs, are those of {name}" for name in ("cross_entropy", "layer_norm", "log_softmax", "softmax")},
    "axpby": "running statistics of batch_norm: tests/device_kernels/test_norms.py",
    "attention": "scaled_dot_product_attention on GPUs: test_attention.py, tests/device_kernels/test_attention.py",
    "attention_vjp": "the rule of attention: test_attention.py",
    "batch_norm_vjp": "the rule of batch_norm where no history is kept: test_rows_vjp.py, tests/device_kernels/test_norms.py",
    "standardise_vjp": "the rule of layer_norm and rms_norm where no history is kept: test_rows_vjp.py, tests/device_kernels/test_norms.py",
    "igamma_derivative": "the rule of igamma: its derivatives, and theirs, are those of igamma",
    "linear_recurrence": "the rule of every scan in op_cases/scan.py",
    "to_device": "tests/cuda: there is no second device here",
    "nextafter": "moves by one number, which differences do not see: test_places.py",
    "alias": "what view_as and detach are made of",
    **{name: "what sparse tensors are made of: test_sparse.py" for name in
       ("coalesce", "masked_gradient", "sparse_at", "sparse_coo_tensor", "sparse_layout", "sparse_matmul", "sparse_values", "to_dense", "to_sparse")},
    "copy": "assignment through indices and copy_: op_cases/index.py and every in-place cell on a view",
    "detach_where": "the double where that keeps rules finite at kinks",
    "ravel_index": "the positions of op_cases/index.py",
    **{name: "no derivative, as in PyTorch: packages/functional/tests/test_packed_factors.py" for name in ("geqrf", "ldl_factor")},
    "lu_permutation": "the order of rows in lu and lu_solve, and in the rule of lu_factor: no derivative",
    "rank_order": "the order in which det's adjugate is composed: no derivative",
    "solve_factored": "the rule of solve: its derivatives, and theirs, are those of solve",
    "slice": "basic indexing: op_cases/index.py",
}  # fmt: skip
"Records without a case of their own, each with the reason."

TESTED = {name for c in CASES for name in (c.name.rpartition(".")[2], *c.records)}


@pytest.mark.parametrize("name", sorted(registry.names()))
def test_every_record_has_a_case(name):
    assert name in TESTED or name in DERIVED, f"{name}: no case in tests/op_cases, and no reason in DERIVED"


def test_derived_holds_no_tested_or_unknown_record():
    assert not DERIVED.keys() & TESTED
    assert not DERIVED.keys() - set(registry.names())
    assert all(DERIVED.values())


@pytest.mark.parametrize("case", [c for c in CASES if c.skip], ids=lambda c: c.id)
def test_holes_have_reasons(case):
    assert not case.skip.keys() - CELLS
    assert all(case.skip.values())
