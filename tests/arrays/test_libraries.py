"""Libraries that take arrays of others: what they make of tensors."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"

import einops
import matplotlib
import numpy as np
import opt_einsum
import pandas as pd
import pytest
import scipy.cluster.vq
import scipy.fft
import scipy.integrate
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_squared_error, r2_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import adjoint as ad

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))


def same(x, expected, rtol=1e-10):
    assert isinstance(x, ad.Tensor)
    np.testing.assert_allclose(x.numpy(force=True), expected, rtol=rtol, atol=1e-12)


SCIPY = [
    lambda x: scipy.stats.zscore(x),
    lambda x: scipy.stats.skew(x),
    lambda x: scipy.stats.kurtosis(x, axis=1),
    lambda x: scipy.stats.ttest_1samp(x, 0.0).pvalue,
    lambda x: scipy.stats.pearsonr(x[:, 0], x[:, 1]).statistic,
    lambda x: scipy.special.logsumexp(x, axis=0),
    lambda x: scipy.special.softmax(x, axis=1),
    lambda x: scipy.special.expit(x),
    lambda x: scipy.special.gammaln(x * x + 1),
    lambda x: scipy.special.ndtr(x),
    lambda x: scipy.fft.fft(x, axis=0),
    lambda x: scipy.fft.rfftn(x),
    lambda x: scipy.signal.hilbert(x, axis=0),
    lambda x: scipy.signal.detrend(x, axis=0),
    lambda x: scipy.integrate.trapezoid(x, axis=0),
    lambda x: scipy.ndimage.gaussian_filter(x, 1.0),
    lambda x: scipy.cluster.vq.whiten(x),
    lambda x: scipy.optimize.rosen(x),
]


@pytest.mark.parametrize("number", range(len(SCIPY)))
def test_scipy(number):
    same(SCIPY[number](ad.from_numpy(X)), SCIPY[number](X))


TRANSFORMERS = [PCA(2, svd_solver="full"), StandardScaler(), MinMaxScaler()]


@pytest.mark.parametrize("number", range(len(TRANSFORMERS)))
def test_sklearn_transforms(number):
    one = TRANSFORMERS[number]
    expected = sklearn.clone(one).fit_transform(X)
    with sklearn.config_context(array_api_dispatch=True):
        same(sklearn.clone(one).fit_transform(ad.from_numpy(X)), expected, rtol=1e-8)


def test_sklearn_predicts_and_measures():
    y, label = X @ np.arange(4.0) + 1, (X[:, 0] > 0).astype(np.int64)
    t, u, v = ad.from_numpy(X), ad.from_numpy(y), ad.from_numpy(label)
    with sklearn.config_context(array_api_dispatch=True):
        same(Ridge(solver="svd").fit(t, u).predict(t), Ridge(solver="svd").fit(X, y).predict(X), rtol=1e-8)
        found = LinearDiscriminantAnalysis().fit(t, v).predict(t)
        assert accuracy_score(v, found) == pytest.approx(
            accuracy_score(label, LinearDiscriminantAnalysis().fit(X, label).predict(X))
        )
        assert float(mean_squared_error(u, u + 1)) == pytest.approx(1)
        assert float(r2_score(u, u)) == 1


def test_einops():
    x = ad.arange(24.0).reshape(2, 3, 4).requires_grad_()
    n = x.numpy(force=True)
    same(einops.rearrange(x, "a b c -> b (a c)"), einops.rearrange(n, "a b c -> b (a c)"))
    same(einops.reduce(x, "a b c -> a c", "mean"), n.mean(1))
    same(einops.repeat(x, "a b c -> a b c d", d=2), np.repeat(n[..., None], 2, -1))
    same(einops.einsum(x, x, "a b c, a d c -> b d"), np.einsum("abc,adc->bd", n, n))
    packed, shapes = einops.pack([x, x], "a * c")
    same(einops.unpack(packed, shapes, "a * c")[1], n)
    assert np.array_equal(einops.asnumpy(x), n)
    einops.reduce(x, "a b c -> ", "sum").backward()
    same(x.grad, np.ones((2, 3, 4)))


def test_opt_einsum():
    arrays = [RNG.standard_normal(shape) for shape in ((3, 4), (4, 5), (5, 2))]
    tensors = [ad.from_numpy(a).requires_grad_() for a in arrays]
    y = opt_einsum.contract("ij,jk,kl->il", *tensors)
    same(y, arrays[0] @ arrays[1] @ arrays[2])
    y.sum().backward()
    assert all(t.grad is not None for t in tensors)


def test_numpy_and_dlpack():
    x = ad.arange(6.0).reshape(2, 3)
    for array in (np.asarray(x), np.from_dlpack(x)):
        assert np.shares_memory(array, x.numpy())
    same(ad.from_dlpack(np.from_dlpack(x)), x.numpy())
    same(ad.from_dlpack(x.numpy()), x.numpy())
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    same(ad.asarray(x.numpy()), x.numpy())


def test_pandas():
    x = ad.arange(6.0).reshape(2, 3)
    assert pd.DataFrame(x).to_numpy().tolist() == x.tolist()
    assert pd.Series(x[0]).tolist() == x[0].tolist()
    frame = pd.DataFrame({"a": x[0], "b": x[1]})
    frame["c"] = x[1]
    assert frame["c"].tolist() == x[1].tolist()
    same(ad.tensor(frame["c"]), x[1].numpy())


def test_matplotlib():
    import matplotlib.pyplot as plt

    x = ad.linspace(0, 1, 5)
    figure, axes = plt.subplots()
    (line,) = axes.plot(x, x * 2)
    assert line.get_ydata().tolist() == (x * 2).tolist()
    axes.scatter(x, x, c=x)
    axes.imshow(ad.ones(3, 3))
    axes.hist(x)
    axes.fill_between(x, x, x + 1)
    axes.bar(x, x)
    axes.errorbar(x, x, yerr=x)
    plt.close(figure)


def test_pytest_approx():
    x = ad.tensor([1.0, 2.0])
    assert x == pytest.approx(np.array([1.0, 2.0 + 1e-9]))
    assert x == pytest.approx(x + 1e-9)
    assert x[0] == pytest.approx(1.0)
    assert x.sum() == pytest.approx(3)
    assert not x[0] == pytest.approx(1.1)
