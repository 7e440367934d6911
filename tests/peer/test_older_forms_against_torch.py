"""Calls in the older order of arguments beside PyTorch's, limits of Python's number types, sizes that losses do not expect."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import pytest

import adjoint as ad

torch = pytest.importorskip("torch")


def operands(lib: Any) -> tuple[Any, Any, Any, Any]:
    make = lib.tensor
    return make([1.0, 2.0]), make([3.0, 4.0]), make([5.0, 7.0]), make([[1.0, 2.0], [3.0, 4.0]])


CALLS = {
    "add": lambda lib, a, b, c, m: a.add(0.5, b), "add_": lambda lib, a, b, c, m: a.add_(0.5, b),
    "torch.add": lambda lib, a, b, c, m: lib.add(a, 2, b), "sub_": lambda lib, a, b, c, m: a.sub_(2, b),
    "addcmul": lambda lib, a, b, c, m: a.addcmul(0.5, b, c), "addcmul_": lambda lib, a, b, c, m: a.addcmul_(0.5, b, c),
    "addcdiv": lambda lib, a, b, c, m: lib.addcdiv(a, 0.5, b, c), "addcdiv_": lambda lib, a, b, c, m: a.addcdiv_(0.5, b, c),
    "addmm": lambda lib, a, b, c, m: m.addmm(2, m, m), "addmm 2": lambda lib, a, b, c, m: m.addmm(2, 3, m, m),
    "torch.addmm": lambda lib, a, b, c, m: lib.addmm(2, m, m, m), "torch.addmm 2": lambda lib, a, b, c, m: lib.addmm(2, m, 3, m, m),
    "addmm_": lambda lib, a, b, c, m: m.clone().addmm_(2, 3, m, m), "addmv": lambda lib, a, b, c, m: a.addmv(2, m, b),
    "torch.addmv": lambda lib, a, b, c, m: lib.addmv(2, a, 3, m, b), "addr": lambda lib, a, b, c, m: m.addr(2, a, b),
    "addbmm": lambda lib, a, b, c, m: m.addbmm(2, m[None], m[None]),
    "baddbmm": lambda lib, a, b, c, m: m[None].baddbmm(2, m[None], m[None]),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize("name", CALLS)
def test_older_order(name: str) -> None:
    assert CALLS[name](ad, *operands(ad)).tolist() == CALLS[name](torch, *operands(torch)).tolist()


@pytest.mark.filterwarnings("ignore:This overload of")
def test_what_is_in_no_order() -> None:
    for lib in (ad, torch):
        a, b, _, _ = operands(lib)
        for call in (lambda a=a, b=b: a.add(2, 3, b), lambda a=a: a.addcmul(1, 2), lambda a=a, b=b: a.mul(2, b)):
            with pytest.raises(TypeError):
                call()


MIXED = """T.add(a,2,3) T.add(a,two,3) T.add(2,3,4) T.add(2,3,a) T.add(a,two,b) T.add(a,grown,b) T.add(a,m,b) T.add(a,2,other=b) T.add(a,alpha=2,other=b)
    T.add(whole,two,whole) T.add(a,b,2) T.add(a,None,b) T.add(a,b,2,3) T.add(a,2,b,alpha=1) T.add(a,2,b,out=T.empty(2)) a.add(2,3) a.add(two,b) a.add(b,two)
    a.clone().add_(2,3) a.clone().add_(2,other=b) a.sub(2,3) a.clone().sub_(2,3) T.sub(a,2,other=b) T.sub(a,2,alpha=3) a.subtract(2,3) T.subtract(a,2,3)
    T.subtract(a,2,b) a.subtract(2,b) T.rsub(a,2,3) T.rsub(a,b,3) T.rsub(a,2,b) T.addmm(m,2,m,m) T.addmm(two,m,m,m) T.addmm(2,m,two,m,m) T.addmm(2,m,mat1=m,mat2=m)
    T.addmm(2,m,3,m,m,out=T.empty(2,2)) m.addmm(2,3,mat1=m,mat2=m) m.addmm(m,m,2) T.addmv(2,a,3,mat=m,vec=a) T.addbmm(m,2,m[None],m[None]) T.addr(m,2,a,b)
    a.addcmul(2,b,tensor2=b) a.addcmul(b,b,2) T.addcmul(a,2,b,b,out=T.empty(2)) T.addcdiv(a,2,b,tensor2=b) T.addcdiv(a,2,3,b) a.mul(2,b)
    T.bucketize(a,m) T.bucketize(a,b) T.searchsorted(m,m) T.searchsorted(m,a)""".split()


@pytest.mark.filterwarnings("ignore:This overload of")
@pytest.mark.parametrize("text", MIXED)
def test_names_and_numbers_in_the_older_order(text: str) -> None:
    def answer(lib: Any) -> Any:
        a, b, _, m = operands(lib)
        two, grown = lib.tensor(2.0), lib.tensor(2.0, requires_grad=True)
        try:
            return eval(text, {"T": lib}, dict(a=a, b=b, m=m, two=two, grown=grown, whole=lib.tensor([1, 2]))).tolist()
        except (TypeError, RuntimeError) as error:
            return TypeError if isinstance(error, TypeError) else RuntimeError

    assert answer(ad) == answer(torch)


@pytest.mark.parametrize("given", ["float", "complex", "lib.float16", "lib.bfloat16", "lib.float32"])
def test_limits(given: str) -> None:
    kinds = {"float": float, "complex": complex}
    ours, theirs = (lib.finfo(kinds.get(given) or getattr(lib, given.partition(".")[2])) for lib in (ad, torch))
    assert repr(ours) == repr(theirs) and ours.bits == theirs.bits and repr(ad.iinfo(int)) == repr(torch.iinfo(int))


def test_sizes_of_losses() -> None:
    for lib in (ad, torch):
        F = lib.nn.functional
        for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
            with pytest.warns(UserWarning, match="different to the input size"):
                loss(lib.ones(2, 1), lib.ones(2))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                loss(lib.ones(2), lib.ones(2))


SIZES = [(2, 3), (3,), (1, 3), (), (1,), (4, 2, 3)]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("loss", ["mse_loss", "l1_loss", "huber_loss"])
def test_weights_of_losses(loss: str) -> None:
    """The weight has the size that the input had before the target broadcast it."""

    def answers(lib: Any, sizes: tuple[tuple[int, ...], ...], reduction: str) -> Any:
        given = (lib.arange(1.0, 1 + math.prod(size)).reshape(size) ** 0.5 for size in sizes)
        input, target, weight = given
        try:
            found = getattr(lib.nn.functional, loss)(input, target / 2, reduction=reduction, weight=weight)
        except (ValueError, RuntimeError) as error:
            return "weights" if "Weights and input must have the same size" in str(error) else "shapes"
        return (*found.shape, "elements", *found.flatten().tolist())

    for sizes in itertools.product(SIZES, repeat=3):
        for reduction in ("mean", "sum", "none"):
            mine, theirs = answers(ad, sizes, reduction), answers(torch, sizes, reduction)
            assert mine == theirs or all(a == b or a == pytest.approx(b, rel=1e-5) for a, b in zip(mine, theirs, strict=True))


def test_a_sparse_tensor_of_a_size() -> None:
    assert ad.sparse_coo_tensor(size=(2, 3)).to_dense().tolist() == [[0] * 3] * 2
    with pytest.raises(TypeError):
        ad.sparse_coo_tensor()


def test_types_by_class() -> None:
    for lib in (ad, torch):
        assert lib.ones(1).double().type(lib.Tensor).dtype is lib.float32 and lib.typename(3) == "int"


@pytest.mark.parametrize(
    "text",
    [
        "ij,jk->ik",
        "ij,jk->ki",
        "bij,bjk->bki",
        "bij,bjk->kbi",
        "ij,kj->ki",
        "i,j->ji",
        "abc,cd->dab",
        "abc,adb->dc",
        "ij,jk,kl->li",
    ],
)
def test_results_without_gaps(text: str) -> None:
    sizes = dict(zip("abcdijklm", range(2, 11), strict=True))

    def strides(lib: Any) -> tuple[int, ...]:
        return lib.einsum(text, *(lib.ones(*(sizes[c] for c in term)) for term in text.split("->")[0].split(","))).stride()

    assert strides(ad) == strides(torch)
    assert ad.linalg.lu(ad.rand(3, 3)).P.is_contiguous()


CORNERS = """F.cosine_similarity(whole,b,0) F.cosine_similarity(whole,whole,0) F.cosine_similarity(a,b,0,-1.0) F.margin_ranking_loss(whole,whole,whole) F.margin_ranking_loss(m,a,a)
    F.triplet_margin_loss(m,a,m) F.instance_norm(m[None],a) F.local_response_norm(m[None],0) F.pixel_shuffle(m,2) F.unfold(m[None],(1,2,3)) T.gcd(whole,whole>1)
    T.lcm(whole,whole>1) T.split_copy(a,split_size=1)[0] T.view_copy(a,dtype=T.int32) T.histogram(a)[0] T.round(1.7*m.bfloat16(),decimals=1).float() T.index_add(whole,0,whole-1,whole,alpha=2.5)
    F.linear(a,m,m) F.linear(a,m,m[:1]) F.linear(m,m,m) F.linear(m[:1],m,m) F.linear(m,m[:1],a) F.linear(m,m,T.ones(5,2,2)) F.multi_margin_loss(a,whole[0],reduction="none")
    F.multi_margin_loss(a,whole[:1],p=2,reduction="none") F.multilabel_soft_margin_loss(m[:,:1],m)
    T.index_add(whole>1,0,whole-1,whole>0,alpha=2.5) T.adaptive_max_pool1d(m,1)[1] T.nn.Hardtanh(max_value=3.0)(m)""".split()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CORNERS)
def test_corners(text: str) -> None:
    """What random calls found to differ."""

    def answer(lib: Any) -> Any:
        a, b, _, m = operands(lib)
        try:
            found = eval(text, {"T": lib, "F": lib.nn.functional}, dict(a=a, b=b, m=m, whole=lib.tensor([1, 2])))
        except (ValueError, RuntimeError) as error:
            return error
        return (
            str(found.dtype).partition(".")[2],
            *found.shape,
            pytest.approx(found.flatten().tolist()) if lib is ad else found.flatten().tolist(),
        )

    ours, theirs = answer(ad), answer(torch)
    assert isinstance(ours, type(theirs)) and (isinstance(theirs, Exception) or ours == theirs)
