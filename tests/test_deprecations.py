"""Warnings of old forms and well-known slips: PyTorch's class and beginning, at the line of the user, once where PyTorch warns once."""

import pytest
from warned import given

import adjoint as ad

A, b = ad.eye(3) + 0.1, ad.ones(3, 2)
SIGNAL = ad.arange(32.0)
SPECTRUM = ad.stft(SIGNAL, 16, window=ad.ones(16), return_complex=True)
ONCE = [
    (lambda: ad.ones(2, 3, 4).T, "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated"),
    (lambda: ad.tensor(1.0).T, "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."),
    (lambda: ad.tensor(1.0).H, "Tensor.H is deprecated on 0-D tensors. Consider using x.conj()."),
    (lambda: ad.qr(A), "torch.qr is deprecated in favor of torch.linalg.qr and will be removed"),
    (lambda: A.cholesky(), "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed"),
    (
        lambda: ad.lu(A),
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed",
    ),
    (lambda: ad.triangular_solve(b, A), "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular"),
    (lambda: ad.lu_solve(b, *ad.linalg.lu_factor(A)), "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve"),
    (lambda: ad.chain_matmul(A, A), "torch.chain_matmul is deprecated and will be removed in a future PyTorch release."),
    (lambda: A.cross(A), "Using torch.cross without specifying the dim arg is deprecated."),
    (lambda: ad.tensor(1.0).mT, "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases."),
    (lambda: ad.tensor(1.0).mH, "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj()."),
    (lambda: ad.tensor(1.0).adjoint(), "adjoint() is deprecated on 0-D tensors. Consider using x.conj()."),
    (lambda: ad.meshgrid(b[0], b[1]), "torch.meshgrid: in an upcoming release, it will be required to pass the indexing"),
    (lambda: ad.where(ad.ones(2, dtype=ad.uint8), 1.0, 2.0), "where received a uint8 condition tensor."),
    (lambda: ad.stft(SIGNAL, 16, window=ad.ones(16), return_complex=False), "stft with return_complex=False is deprecated."),
    (lambda: ad.add(A, 2, A), "This overload of add is deprecated: numbers go by name"),
    (lambda: ad.set_default_tensor_type(ad.FloatTensor), "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1"),
    (lambda: ad.stft(SIGNAL, 16, return_complex=True), "A window was not provided. A rectangular window will be applied,which"),
    (lambda: ad.istft(SPECTRUM, 16), "A window was not provided. A rectangular window will be applied.Please provide the same"),
]


@pytest.mark.parametrize(("call", "text"), ONCE)
def test_once_in_a_process(call, text):
    both = given(call, True)
    assert [str(w.message).startswith(text) for w in both] == [True, True]
    assert {(w.category, w.filename) for w in both} == {(UserWarning, __file__)}
    assert not given(call, False)


def test_what_is_asked_for_in_words_does_not_warn():
    for call in (
        lambda: ad.ones(2, 3).T,
        lambda: ad.linalg.cross(A, A),
        lambda: ad.cross(A, A, dim=0),
        lambda: ad.linalg.qr(A),
        lambda: ad.istft(SPECTRUM, 16, window=ad.ones(16)),
    ):
        assert not given(call, True)


def test_range_warns_each_time():
    said = given(lambda: ad.range(0, 3), False)
    assert len(said) == 2 and str(said[0].message).startswith("torch.range is deprecated and will be removed")


@pytest.mark.filterwarnings("ignore:torch.meshgrid")
def test_meshgrid_without_indexing_is_that_of_matrices():
    assert ad.meshgrid(ad.ones(2), ad.ones(3))[0].shape == (2, 3)


def schedule(before=0):
    optimizer = ad.optim.SGD([ad.nn.Parameter(ad.ones(1))], lr=0.1)
    steps = ad.optim.lr_scheduler.StepLR(optimizer, 1)
    for _ in range(before):
        optimizer.step()
    steps.step()
    steps.step()


def test_a_schedule_before_its_optimizer():
    with pytest.warns(UserWarning, match=r"Detected call of `lr_scheduler.step\(\)` before `optimizer.step\(\)`") as said:
        schedule()
    assert len(said) == 1 and said[0].filename == __file__
    assert not given(lambda: schedule(1), False)
