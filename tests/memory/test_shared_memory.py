"""Memory that NumPy or other libraries look at stays, whatever the tensor does next."""

import numpy as np
import pytest

import adjoint as ad


def _exchange_data(x):
    x.data = ad.zeros(5)


def _exchange_set(x):
    x.set_(ad.zeros(5))


def _grow(x):
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(100_000)


@pytest.mark.parametrize("export", [lambda x: x.numpy(), np.asarray, np.from_dlpack], ids=["numpy", "asarray", "dlpack"])
@pytest.mark.parametrize("change", [_exchange_data, _exchange_set, _grow, lambda x: x.resize_(2)])
def test_arrays_keep_their_memory(export, change):
    x = ad.ones(1000)
    array = export(x)
    change(x)
    del x
    others = [ad.full((1000,), 7.0) for _ in range(20)]
    assert set(array.tolist()) == {1.0} and len(others) == 20


def test_memory_grows_only_where_nobody_shares_it():
    x = ad.arange(3.0)
    assert x.resize_(2, 3).shape == (2, 3) and x.reshape(-1)[:3].tolist() == [0, 1, 2]
    view = x.view(-1)
    with pytest.raises(RuntimeError, match="not resizable"):
        x.resize_(7)
    with pytest.raises(RuntimeError, match="not resizable"):
        view.resize_(7)
    with pytest.raises(RuntimeError, match="not resizable"):
        ad.from_numpy(np.ones(3)).resize_(4)


def test_the_older_constructors_share_what_has_their_type() -> None:
    for make in (ad.Tensor, ad.FloatTensor, ad.ones(1).new):
        single, double = np.ones(2, "float32"), np.ones(2)
        shared, own = make(single), make(double)
        single[0] = double[0] = 5
        assert shared.tolist() == [5, 1] and own.tolist() == [1, 1]
