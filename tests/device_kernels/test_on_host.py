"""Operations that the CPU computes for a GPU: results, derivatives, one warning of each, and an error in a capture."""

import subprocess
import sys
import warnings

import pytest
from device_checks import agree, on_device, real_parts

import adjoint as ad
from adjoint_kernels_triton._on_host import ON_HOST, ROWS


def symmetric(n=4, batch=2, dtype=ad.float64):
    x = (ad.arange(batch * n * n, dtype=ad.float64) * 0.71).sin().view(batch, n, n)
    return (x + x.transpose(1, 2)).to(dtype)


CALLS = {
    "eig": lambda x: (ad.linalg.eigvals(x).abs().sum(-1),),
    "eigh": ad.linalg.eigh,
    "svd": lambda x: (ad.linalg.svdvals(x),),
    "rank_order": lambda x: (ad.linalg.det(x),),
    "matrix_exp": lambda x: (ad.linalg.matrix_exp(x),),
    "geqrf": lambda x: (ad.geqrf(x.detach()).a + x,),
    "ldl_factor": lambda x: (ad.linalg.ldl_factor(x.detach()).LD + x,),
    "ldl_solve": lambda x: (ad.linalg.ldl_solve(*ad.linalg.ldl_factor(x.detach()), x),),
}


LARGE = ("eigh", "svd")
"Those of small matrices have a kernel."


def test_every_one_is_tested():
    assert CALLS.keys() == {op for op, why in ON_HOST.items() if why != ROWS} and all(ON_HOST.values())


@pytest.mark.parametrize("call", [lambda x: ad.linalg.qr(x), lambda x: ad.linalg.lu_factor(x)], ids=["qr", "lu_factor"])
def test_more_rows_than_a_program_holds(call):
    x = (ad.arange(8200 * 2) * 0.71).sin().view(8200, 2)
    agree(tuple(call(x.cuda())), tuple(call(x)), ad.float32)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [ad.float64, ad.complex128])
def test_values_and_derivatives(name, dtype):
    def run(x):
        x = x.transpose(1, 2).requires_grad_()  # strided
        results = CALLS[name](x)
        (gradient,) = ad.autograd.grad(sum((y.real if y.is_complex() else y).sum() for y in results[:1]), x)
        return [*(y.detach() for y in results[:1]), gradient]

    x = symmetric(66, 1, dtype) if name in LARGE else symmetric(dtype=dtype)
    agree(real_parts(on_device(lambda: run(x.cuda()))), real_parts(run(x)), dtype)


@pytest.mark.parametrize("name", ["eig", "eigh"])
def test_derivatives_of_vectors(name):
    """Of a loss that does not depend on their phases, and the error of one that does."""

    def run(x, loss):
        x = x.requires_grad_()
        return ad.autograd.grad(loss(getattr(ad.linalg, name)(x)[1]), x)

    x = symmetric(3, 1, ad.complex128)
    x = x + 1j * ad.arange(9, dtype=ad.float64).view(1, 3, 3).tril(-1)
    x = (x + x.mH) if name == "eigh" else x
    free = lambda v: (v.abs() * ad.arange(9, dtype=ad.float64, device=v.device).view(3, 3)).sum()  # noqa: E731
    agree(real_parts(run(x.cuda(), free)), real_parts(run(x.clone(), free)), ad.complex128)
    with pytest.raises(RuntimeError, match="ill-defined"):
        run(x.cuda(), lambda v: v.real.sum())


def test_nothing_to_compute():
    assert ad.linalg.eigvalsh(ad.zeros(0, 3, 3, device="cuda")).shape == (0, 3)


def test_errors_are_the_cpu_s():
    with pytest.raises(ad.linalg.LinAlgError, match="eigh"):
        ad.linalg.eigh(ad.full((3, 3), float("nan"), device="cuda"))
    with pytest.raises(ad.linalg.LinAlgError, match="svd"):
        ad.linalg.svd(ad.full((65, 65), float("nan"), device="cuda"))


def test_a_capture_names_it():
    x = symmetric().cuda()
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing: eig: the CPU computes it"):
        with ad.cuda.graph(ad.cuda.CUDAGraph()):
            ad.linalg.eig(x)
    assert not ad.cuda.is_current_stream_capturing()


PROGRAM = """
import warnings
import adjoint as ad
x = ad.eye(3, device="cuda")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(3):
        ad.linalg.eig(x)
        ad.linalg.matrix_exp(x)
for each in told:
    print(each.category.__name__, each.message)
"""


def test_each_warns_once_in_a_process():
    told = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told == [
        f"UserWarning {op}: on cuda this runs on the CPU, between copies: {ON_HOST[op]}" for op in ("eig", "matrix_exp")
    ]


def test_the_cpu_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.linalg.eigh(symmetric())
