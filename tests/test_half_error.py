"""No operation and no function loses more than the rounding of its result in half precision, however many steps it has."""

import inspect

import pytest

import adjoint as ad
from op_cases import CASES, half
from op_checks.halves import MEASURED, TYPES, computed, distances, report

VALUE, GRADIENT = 0.51, 1.0
"""In units of eps times the largest number. A result is rounded once (0.5). A gradient is the product of a cotangent and a
derivative, each rounded (1.0): products with one more factor cost less than a conversion would."""

ALLOWED = {
    "nn.functional.triplet_margin_with_distance_loss": (
        1.0,
        1.0,
        "the distance is the user's: it is given halves, and rounds its result",
    ),
}
"Other limits of values and gradients, each with its reason."

EVERY = pytest.mark.parametrize(
    ("case", "dtype"), [pytest.param(c, dtype, id=f"{c.id}-{dtype}") for c in MEASURED for dtype in TYPES]
)


def measured(case, dtype):
    return distances(ad, case, dtype, computed(ad, case, dtype, "float64"))


@EVERY
@pytest.mark.filterwarnings("ignore:`nn.functional.upsample")
def test_one_rounding(case, dtype):
    value, gradient = measured(case, dtype)
    most_value, most_gradient, _ = ALLOWED.get(case.id, (VALUE, GRADIENT, ""))
    assert value <= most_value and gradient <= most_gradient, f"value {value:.2f}, gradient {gradient:.2f}"


@pytest.mark.filterwarnings("ignore:`nn.functional.upsample")
def test_distribution():
    """Half of all errors are far below a rounding of the largest number (`pytest -s` prints them)."""
    rows = [(f"{c.id} {dtype}", *measured(c, dtype)) for c in MEASURED for dtype in TYPES]
    print("\n" + report(rows))
    for at in (1, 2):
        assert sorted(r[at] for r in rows)[len(rows) // 2] <= 0.25


# ---- no function is forgotten

SPACES = ("", "nn.functional", "linalg", "special", "fft", "signal.windows")
WITHOUT = {
    "other names of functions that have cases": """
        absolute grid_sampler grid_sampler_2d grid_sampler_3d native_batch_norm native_group_norm native_layer_norm
        adjoint arccos arccosh arcsin arcsinh arctan arctan2 arctanh clip concat concatenate divide expit fix gammainc
        gammaincc gammaln ger greater greater_equal inverse less less_equal moveaxis multiply negative not_equal pinverse psi ravel
        row_stack split_with_sizes subtract swapaxes swapdims true_divide""",
    "copies, chooses or counts numbers: nothing is rounded": """
        alias_copy as_strided_copy detach_copy empty_permuted histogram histogramdd resize_as slice_copy atleast_1d atleast_2d atleast_3d broadcast_tensors column_stack detach diagflat diagonal_copy dsplit dstack
        eye fill fliplr flipud full full_like lu_unpack narrow_copy nextafter one_hot ones ones_like resolve_neg select_copy
        split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unique_consecutive unsafe_chunk
        unsafe_split unsafe_split_with_sizes unsqueeze_copy zeros zeros_like""",
    "made of random numbers": """
        alpha_dropout bernoulli binomial dropout dropout1d dropout2d dropout3d feature_alpha_dropout fractional_max_pool2d
        fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices gumbel_softmax multinomial normal poisson rand
        rand_like randint randint_like randn randn_like randperm""",
    "gives truth values, positions or integers": """
        allclose argwhere bucketize equal gcd hash_tensor nonzero_static isclose isin isneginf isposinf isreal lcm matrix_rank signbit tril_indices
        triu_indices unravel_index""",
    "refuses half precision, as PyTorch does": """
        pca_lowrank svd_lowrank bartlett bartlett_window blackman blackman_window cholesky_ex cosine exponential gaussian general_cosine general_hamming
        geqrf ldl_factor ldl_factor_ex orgqr hamming hamming_window hann hann_window hfft2 ihfft2 inv_ex istft kaiser kaiser_window lu_factor_ex nuttall solve_ex stft view_as_complex_copy view_as_real_copy""",
    "is another function that has a case, and gives positions too": """
        adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices max_pool1d_with_indices
        max_pool2d_with_indices max_pool3d_with_indices""",
    "multiplies by a sparse matrix": "dsmm hsmm hspmm smm spmm sspaddmm",
    "makes a tensor from numbers or memory": """
        arange as_tensor asarray empty empty_like empty_strided fftfreq from_dlpack from_file from_numpy frombuffer linspace logspace range rfftfreq
        scalar_tensor sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor
        sparse_csc_tensor sparse_csr_tensor tensor""",
    "jumps from step to step": "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine",
    "layers and steps of them, of parts that have cases and round each": "gru gru_cell lstm lstm_cell norm_except_dim rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
    "of Python's numbers": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
    "calls what it is given": "fork wait while_loop",
    "raises, and says what to use": "symeig",
    "computes nothing": """
        get_num_interop_threads is_distributed set_default_tensor_type set_flush_denormal set_num_interop_threads
        are_deterministic_algorithms_enabled get_default_device get_deterministic_debug_mode
        is_deterministic_algorithms_warn_only_enabled set_default_device set_deterministic_debug_mode use_deterministic_algorithms
        broadcast_shapes can_cast compile device_generator get_default_dtype get_device_module get_float32_matmul_precision get_num_threads get_rng_state
        initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_complex is_conj is_floating_point is_grad_enabled
        is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size is_signed is_storage is_tensor is_warn_always_enabled
        load manual_seed numel promote_types random_states result_type save seed set_default_dtype set_float32_matmul_precision
        set_num_threads set_printoptions set_random_states set_rng_state set_warn_always skip_prefix typename vmap""",
}


def space(path):
    found = ad
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def test_every_function_has_a_case():
    known = {c.name.rpartition(".")[2] for c in (*CASES, *half.CASES)}
    known |= {name for names in WITHOUT.values() for name in names.split()}
    forgotten = []
    for path in SPACES:
        room = space(path)
        for name in dir(room):
            function = getattr(room, name)
            public = callable(function) and not name.startswith("_") and not inspect.isclass(function)
            if public and name.removesuffix("_") not in known and name not in known:
                forgotten.append(f"{path}.{name}")
    assert not forgotten, "neither a case in tests/op_cases/half.py nor a reason in WITHOUT"
