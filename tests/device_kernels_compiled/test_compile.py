"""Every variant that the cases need compiles, loads and launches: the parameters in the compiled kernel are those that are packed."""

import gc
import itertools
import re
from operator import methodcaller

import pytest

import adjoint as ad
from adjoint_core import registry
from adjoint_kernels_triton import _build, _compile, _declare, _kinds, _registered
from adjoint_kernels_triton._cubin import frame_size, registers
from adjoint_kernels_triton._variant import ALIGNED_POINTER, BY_VALUE
from op_cases import CASES

_registered.declare()
WITH_STACK = {"sin", "cos", "tan", "sinc", "lgamma", "digamma", "pow", "polygamma", "igamma", "igammac"}
WITH_STACK |= {"bessel_j0", "bessel_y0", "spherical_bessel_j0", "erfcx", "zeta"}
WITH_STACK |= {
    "expm1",
    "logsumexp",
    "float_power",
    "local_response_norm",
    "eigvals",
}  # of complex numbers: the last takes their powers
"libdevice keeps a table on the stack for very large angles, which these take; the functions of gamma and zeta are long."

LEAST_SHARED = 99 * 1024
"What a block may have on every GPU from 8.0 on (8.6 and 8.9 have the least; 8.0: 163 KiB, 9.0: 227). Registers: 65536 of a multiprocessor."


def spec(form, dtype):
    return form << 4 | [name for name, _ in registry.element_types()].index(dtype)


@pytest.fixture(autouse=True)
def fresh_memory():
    """Nothing from earlier tests stands where a kernel was to write a count or a code of success."""
    gc.collect()
    ad.cuda.empty_cache()


@pytest.fixture
def images(monkeypatch):
    """What was compiled during a test."""
    made = []

    def compile(function, signature, arch, options):
        made.append((function, _compile.image(function, signature, arch, options)))
        return made[-1][1]

    monkeypatch.setattr(_registered, "indices", [])
    monkeypatch.setattr(_build, "compile_image", compile)
    return made


@pytest.mark.parametrize("dtype", [ad.float32, ad.bfloat16, ad.complex64], ids=lambda t: t.name)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_launches(case, dtype, images):
    tensors = [ad.tensor(a) for a in case.sample()]
    tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
    try:
        case.run(ad, tensors)
    except (RuntimeError, TypeError, ValueError) as error:
        pytest.skip(f"not on the CPU: {error}")
    try:
        case.run(ad, [t.cuda() for t in tensors])
    except NotImplementedError as error:
        if "no kernel for" not in str(error) and "not implemented for" not in str(error):
            raise
        pytest.skip(str(error))
    except IndexError:
        pytest.skip("reads what a kernel wrote, and nothing ran")
    except ad.linalg.LinAlgError:
        pass  # where its success would stand is what the upload of a matrix left: the kernels are compiled
    except RuntimeError as error:
        if case.name.rpartition(".")[2] in ("bincount", "masked_scatter", "embedding_bag"):
            pytest.skip("reads what a kernel wrote, and nothing ran")
        if case.call is None or "on the same device" not in str(error):
            raise
        pytest.skip("the case adds a matrix of its own")
    for function, image in images:
        assert image.image.startswith(b"\x7fELF")
        if case.name.rpartition(".")[2] not in WITH_STACK:
            assert frame_size(image.image) == 0, function.__name__
        assert image.threads * registers(image.image) <= 65536 and image.shared <= LEAST_SHARED, function.__name__


@pytest.mark.parametrize(("dtype", "features"), [(ad.bfloat16, 64), (ad.float32, 128), (ad.float64, 64)], ids=str)
def test_attention_of_models(dtype, features, images):
    x = ad.ones(1, 2, 128, features, dtype=dtype, device="cuda", requires_grad=True)
    mask = ad.ones(128, 128, dtype=ad.bool, device="cuda")
    for options in ({"is_causal": True}, {"attn_mask": mask}, {"dropout_p": 0.1}, {"attn_mask": mask, "dropout_p": 0.1}):
        ad.nn.functional.scaled_dot_product_attention(x, x, x, **options).sum().backward()
    odd = x[:, :, 1:]
    ad.nn.functional.scaled_dot_product_attention(x, odd, odd, dropout_p=0.1, is_causal=True).sum().backward()
    found = [(f.__name__, i) for f, i in images if f.__name__.startswith("attention")]
    assert {name for name, _ in found} == {"attention", "attention_of_keys", "attention_of_queries", "attention_of_values"}
    for name, image in found:
        assert frame_size(image.image) <= (32 if features * dtype.itemsize > 256 else 0), name  # bytes of spilled registers
        assert image.threads * registers(image.image) <= 65536 and image.shared <= LEAST_SHARED, name


@pytest.mark.parametrize("keys", [128, 126])
def test_attention_with_dropout_on_all_architectures(keys, monkeypatch):
    made = []

    def compile(function, signature, sm_90, options):
        made.append([_compile.image(function, signature, arch, options) for arch in (sm_90, 80, 100)])
        return made[-1][0]

    monkeypatch.setattr(_registered, "indices", [])
    monkeypatch.setattr(_build, "compile_image", compile)
    q, k = (ad.ones(3, 2, n, 64, dtype=ad.float16, device="cuda", requires_grad=True) for n in (128, keys))
    for seed, draws in ((0, 0), (1, 1), (2**40, 16), (-1, 17)):  # of which none makes a variant
        ad.manual_seed(seed)
        for _ in range(draws):
            ad.rand(1, device="cuda")
        ad.nn.functional.scaled_dot_product_attention(q, k, k, dropout_p=0.2).sum().backward()
    images = [i for each in made for i in each if i.entry.startswith("attention")]
    assert len(images) == 4 * 3
    for image in images:
        assert frame_size(image.image) == 0 and image.threads * registers(image.image) <= 65536 and image.shared <= LEAST_SHARED


def cases_of(name):
    return [c for c in CASES if name in (c.name.rpartition(".")[2], *c.records)]


def attended(x):
    return ad.nn.functional.scaled_dot_product_attention(x, x, x)


IN_DERIVATIVES = {
    **dict.fromkeys(("attention", *(f"attention_vjp.attention_of_{name}" for name in ("queries", "keys", "values"))), attended),
    "avg_pool_vjp": lambda x: ad.nn.functional.avg_pool1d(x, 2),
    "batch_norm_vjp": lambda x: ad.nn.functional.batch_norm(x, None, None, x[0].detach(), training=True),
    "conv_input_vjp": lambda x: ad.nn.functional.conv1d(x[:, None], x[:, None, :2].detach()),
    "conv_weight_vjp.products": lambda x: ad.nn.functional.conv1d(x[:, None].detach(), x[:, None, :2]),
    "conv_weight_vjp.added_up": lambda x: ad.nn.functional.conv1d(x[:, None].detach(), x[:, None, :2]),
    "cross_entropy_vjp": lambda x: ad.nn.functional.cross_entropy(x, ad.zeros(3, dtype=ad.long, device="cuda")),
    "embedding_bag_vjp": lambda x: ad.nn.functional.embedding_bag(ad.zeros(2, 3, dtype=ad.long, device="cuda"), x),
    "grid_sample_grid_vjp": lambda x: ad.nn.functional.grid_sample(
        x[None, None].detach(), x.view(1, 3, 20, 2), align_corners=False
    ),
    "grid_sample_image_vjp": lambda x: ad.nn.functional.grid_sample(
        x[None, None], x.detach().view(1, 3, 20, 2), align_corners=False
    ),
    "index": lambda x: x[[0, 2]],
    "layer_norm_vjp": lambda x: ad.autograd.grad(ad.nn.functional.layer_norm(x, (40,)).sum(), x, create_graph=True)[0],
    "linear_recurrence": lambda x: x.cumprod(1),
    "log_softmax_vjp": lambda x: x.log_softmax(1),
    "sampled_matmul": lambda x: ad.nn.functional.embedding_bag(
        ad.zeros(3, 40, dtype=ad.long, device="cuda"),
        ad.ones(5, 2, dtype=ad.float64, device="cuda"),
        mode="sum",
        per_sample_weights=x,
    ),
    "margin_vjp": lambda x: ad.nn.functional.multi_margin_loss(x, ad.zeros(3, dtype=ad.long, device="cuda")),
    "resize_vjp": lambda x: ad.nn.functional.interpolate(x[None], scale_factor=2, mode="linear"),
    **dict.fromkeys(
        ("standardise_vjp.weight_sums", "standardise_vjp.added_up"),
        lambda x: ad.nn.functional.rms_norm(x.detach(), (40,), x[0]),
    ),
    "standardise_vjp.standardise_vjp": lambda x: ad.nn.functional.rms_norm(x, (40,)),
    "softmax_vjp": lambda x: x.softmax(1),
}
"Calls that run a kernel, or whose derivatives do, where no case comes to it: the masks of `index` select nothing here."
ALONG = "all amax amin any argmax argmin cumprod cumsum log_softmax logsumexp max mean median min nansum prod softmax std sum var".split()


def normalised(x):
    return ad.nn.functional.batch_norm(x.view(-1, 2), None, None, ad.ones_like(x[:2]), training=True)


def derivative(call):
    def run(x):
        y = call(x.requires_grad_())
        ad.autograd.grad(y, x, ad.ones_like(y))

    return run


def products(x):
    x[None] @ x[:, None]
    wide = ad.zeros(600, 600, device="cuda")
    before, ad.backends.cuda.matmul.allow_tf32 = ad.backends.cuda.matmul.allow_tf32, True
    wide.t() @ wide
    ad.backends.cuda.matmul.allow_tf32 = before


LARGE = {
    **{name: methodcaller(name, 0) for name in ALONG},
    "batch_norm": normalised,
    "batch_norm_vjp": derivative(normalised),
    "log_softmax_vjp": derivative(lambda x: x.log_softmax(0)),
    "matmul": products,
    "scatter_add": lambda x: x.scatter_add(0, ad.zeros_like(x, dtype=ad.int64), x),
    "softmax_vjp": derivative(lambda x: x.softmax(0)),
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(5),
    "vector_norm": ad.linalg.vector_norm,
}
"Operations with steps that run for large operands alone."


def drawn(*sizes, dtype=ad.float64):
    return ad.ones(*sizes, dtype=dtype, device="cuda")


def captured(call):
    """Where nothing reads whether it succeeded, which nobody writes."""
    with ad.cuda.graph(ad.cuda.CUDAGraph()):
        call()


def solved_again():
    a = drawn(3, 3).requires_grad_()
    ad.autograd.grad(ad.linalg.solve(a, drawn(3, 2)).sum(), a)


WITHOUT_HALVES = {
    "cholesky": lambda: ad.linalg.cholesky_ex(drawn(66, 66)),
    "eigh": lambda: captured(lambda: ad.linalg.eigh(drawn(60, 60))),
    "det": lambda: ad.linalg.det(drawn(66, 66)),
    "fft": lambda: ad.fft.fft(drawn(67, dtype=ad.complex128)),
    "inv": lambda: ad.linalg.inv_ex(drawn(66, 66)),
    "irfft": lambda: ad.fft.irfft(drawn(34, dtype=ad.complex128), 67),
    "lu_factor": lambda: ad.linalg.lu_factor_ex(drawn(66, 66)),
    "lu_permutation": lambda: ad.linalg.lu(drawn(3, 3)),
    "pinv": lambda: captured(lambda: ad.linalg.pinv(drawn(5, 3))),
    "qr": lambda: ad.linalg.qr(drawn(66, 66)),
    "rfft": lambda: ad.fft.rfft(drawn(67)),
    "slogdet": lambda: ad.linalg.slogdet(drawn(66, 66)),
    "solve": lambda: ad.linalg.solve_ex(drawn(66, 66), drawn(66, 2)),
    "solve_factored": solved_again,
    "svd": lambda: captured(lambda: ad.linalg.svd(drawn(60, 70))),
    "solve_triangular": lambda: ad.linalg.solve_triangular(drawn(3, 3), drawn(3, 2), upper=True),
}
"Calls that run every step of operations which take no halves."


STEPS = [k for k, v in _build.DECLARED.items() if type(v) in (_kinds.Structured, _kinds.ComplexStructured)]


@pytest.mark.parametrize("name", sorted(k for k in STEPS if _registered.operation_of(k) != "nonzero"))
def test_structured_kernels_on_other_architectures(name, monkeypatch):
    asked = []

    def compile(function, signature, sm_90, options):
        asked.append((function, signature, options))
        return _compile.image(function, signature, sm_90, options)

    monkeypatch.setattr(_registered, "indices", [])
    monkeypatch.setattr(_build, "compile_image", compile)
    op = _registered.operation_of(name)
    _registered.put(op, _registered.OPERATIONS.pop(op), own=True)  # anew: no variant has been met
    if name in IN_DERIVATIVES:
        x = ad.ones(3, 40, dtype=ad.float64, device="cuda", requires_grad=True)
        ad.autograd.grad(IN_DERIVATIVES[name](x).sum(), x)
    if op in WITHOUT_HALVES:
        WITHOUT_HALVES[op]()
    for case in cases_of(op) if op not in WITHOUT_HALVES else ():
        tensors = [ad.tensor(a) for a in case.sample()]  # of a type that no other test takes: a variant is asked for once
        case.run(ad, [(t.to(ad.float16) if t.is_floating_point() else t).cuda() for t in tensors])
    for n in (2000, 300_000) if op in LARGE else ():
        LARGE[op](ad.zeros(n, dtype=ad.float16, device="cuda"))
    own = [(f, s, o) for f, s, o in asked if f is _build.DECLARED[name].function]
    assert own, "no case runs it"
    for (function, signature, options), arch in itertools.product(own[:2], (80, 100)):
        assert _compile.image(function, signature, arch, options).image.startswith(b"\x7fELF")


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64"])
def test_nonzero(dtype, arch):
    """Here nothing counts what there is to write, so that no call would come to it."""
    x, positions, number = spec(ALIGNED_POINTER, dtype), spec(ALIGNED_POINTER, "int64"), spec(BY_VALUE, "int32")
    parts = 1 + dtype.startswith("complex")
    for name, specs in (("found", [x, positions, number]), ("put_coordinate", [x, positions, positions, *[number] * 5])):
        image = _build.build(_build.DECLARED[f"nonzero.{name}"], arch, bytes(specs), [parts, 1024])
        assert image.image.startswith(b"\x7fELF")
        assert frame_size(image.image) == 0


MASKS = {"where": 0, "masked_fill": 1, "masked_scale": 1}
"Operations with an operand that is a mask, and which it is."


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("name", sorted(k for k, v in _build.DECLARED.items() if isinstance(v, _kinds.Elementwise)))
def test_elementwise_kernels_on_all_architectures(name, arch):
    declared = _build.DECLARED[name]
    pointer = spec(ALIGNED_POINTER, "int32" if name.startswith("bitwise") else "float32")
    operands = [pointer] * declared.operands
    if name in MASKS:
        operands[MASKS[name]] = spec(ALIGNED_POINTER, "bool")
    specs = bytes([*operands, *[spec(BY_VALUE, "float32")] * len(declared.fields), pointer, spec(BY_VALUE, "int32")])
    assert _build.build(declared, arch, specs, [0, declared.block]).image.startswith(b"\x7fELF")


TRUTHS = ("eq", "ne", "isnan", "isfinite", "isinf", "logical_not", "logical_and", "logical_or", "logical_xor")


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("name", sorted(k for k, v in _build.COMPLEX.items() if isinstance(v, _kinds.Elementwise)))
def test_kernels_of_complex_numbers(name, arch):
    declared = _build.COMPLEX[name]
    operands = [spec(ALIGNED_POINTER, "complex64")] * declared.operands
    if name in MASKS:
        operands[MASKS[name]] = spec(ALIGNED_POINTER, "bool")
    numbers = [*operands[:-1], spec(BY_VALUE, "complex64"), spec(BY_VALUE, "complex64")]
    result = "float32" if name in ("abs", "angle") else "bool" if name in TRUTHS else "complex64"
    end = [*[spec(BY_VALUE, "float32")] * len(declared.fields), spec(ALIGNED_POINTER, result), spec(BY_VALUE, "int32")]
    strided = [spec(BY_VALUE, "int32")] * (2 + 2 * (declared.operands + 1))
    for variant, dims in ((operands + end, 0), (numbers + end, 0), (operands + strided + end, 2)):
        image = _build.build(declared, arch, bytes(variant), [dims, _declare.BLOCK])
        assert image.image.startswith(b"\x7fELF")


RANDOM = [
    (name, dtype)
    for name, dtypes in (
        ("random_uniform", ("float32", "float16", "bfloat16", "float64")),
        ("random_normal", ("float32", "bfloat16", "float64")),
        ("random_integers", ("int64", "uint8", "bool", "float16")),
        ("random_mask", ("float32", "bfloat16", "float64")),
        ("random_dropout", ("float32", "bfloat16", "float64")),
    )
    for dtype in dtypes
]


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize(("name", "dtype"), RANDOM)
def test_random_numbers(name, dtype, arch):
    declared = _build.DECLARED[name]
    state = [spec(ALIGNED_POINTER, "int64"), *[spec(BY_VALUE, "int64")] * 2, spec(BY_VALUE, "float64")]
    before = [spec(ALIGNED_POINTER, t) for t in ("bool", dtype)] if name == "random_dropout" else []
    specs = bytes([*before, spec(ALIGNED_POINTER, dtype), spec(BY_VALUE, "int32"), *[spec(BY_VALUE, "int64")] * 2, *state])
    for captured, pairs in ((0, 0), (1, name in ("random_uniform", "random_normal") and dtype in ("float32", "float64"))):
        constants = [captured, int(pairs), _declare.RANDOM_BLOCK]
        made = _compile.compiled(declared.function, declared.signature(specs, constants), arch, declared.options(constants))
        assert frame_size(made.asm["cubin"]) == 0
        assert not re.search("fma.rn.f(32|64)", made.asm["ptx"])  # products are rounded before they are added, as on the CPU


LISTS = {"adam": (9, [(0, 0, 0), (2, 1, 1)]), "sgd": (5, [(0, 0, 0), (1, 2, 1)]), "count_steps": (0, [()])}
"How many numbers the kernels over lists of tensors take, and constants."


@pytest.mark.parametrize("arch", [80, 90, 100])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_tensors(name, dtype, arch):
    declared, (numbers, forms) = _build.DECLARED[name], LISTS[name]
    table, like = spec(ALIGNED_POINTER, "int64"), spec(ALIGNED_POINTER, dtype)
    number = spec(BY_VALUE, "float64" if dtype == "float64" else "float32")
    for constants in forms:
        known = [1, *constants, _declare.LISTS_BLOCK]
        signature = declared.signature(bytes([table, like, spec(BY_VALUE, "int32"), *[number] * numbers]), known)
        made = _compile.compiled(declared.function, signature, arch, declared.options(known))
        assert frame_size(made.asm["cubin"]) == 0
        assert name == "count_steps" or ("ld.global.v2.b64" if dtype == "float64" else "ld.global.v4.b32") in made.asm["ptx"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_loads_are_of_sixteen_bytes(dtype):
    declared = _build.DECLARED["mul"]
    pointer = spec(ALIGNED_POINTER, dtype)
    constants = [0, _declare.BLOCK]
    signature = declared.signature(bytes([pointer, pointer, pointer, spec(BY_VALUE, "int32")]), constants)
    ptx = _compile.compiled(declared.template(constants), signature, 90, declared.options(constants)).asm["ptx"]
    assert ("ld.global.v2.b64" if dtype == "float64" else "ld.global.v4.b32") in ptx


@pytest.mark.parametrize("allowed", [False, True])
def test_products_of_float32_round_to_tf32_only_when_allowed(allowed, monkeypatch):
    made = []

    def compile(function, signature, arch, options):
        made.append(_compile.compiled(function, signature, arch, options).asm["ptx"])
        return _compile.image(function, signature, arch, options)

    monkeypatch.setattr(_registered, "indices", [])
    monkeypatch.setattr(_build, "compile_image", compile)
    monkeypatch.setattr(ad.backends.cuda.matmul, "allow_tf32", allowed)
    ad.ones(2, 129, 129, device="cuda") @ ad.ones(2, 129, 129 + allowed, device="cuda")  # a variant that no other test asks for
    assert ("tf32" in made[-1]) == allowed and ("fma.rn.f32" in made[-1]) != allowed
