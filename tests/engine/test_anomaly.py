"""Anomaly detection: who made the node that failed."""

import threading
import warnings

import pytest

import adjoint as ad
from adjoint import autograd


class Failing(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ZeroDivisionError("in backward")


def report_of(run, error):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(error):
            run()
    return "\n".join(str(w.message) for w in caught)


def the_forward_line(x):
    return Failing.apply(x)


def test_the_forward_stack_is_reported():
    x = ad.ones(2, requires_grad=True)
    with autograd.set_detect_anomaly(True):
        y = the_forward_line(x).sum()
        text = report_of(y.backward, ZeroDivisionError)
    assert "Error detected in FailingBackward. Traceback of forward call that caused the error" in text
    assert "the_forward_line" in text


def test_nodes_made_outside_have_no_stack():
    y = the_forward_line(ad.ones(2, requires_grad=True)).sum()
    with autograd.set_detect_anomaly(True):
        assert "No forward pass information available" in report_of(y.backward, ZeroDivisionError)
    assert report_of(the_forward_line(ad.ones(1, requires_grad=True)).backward, ZeroDivisionError) == ""


@pytest.mark.parametrize(
    ("f", "at", "name"),
    [(ad.sqrt, 0.0, "SqrtBackward0"), (ad.log, 0.0, "LogBackward0"), (lambda x: x**0.5, 0.0, "PowBackward0")],
)
def test_nan_names_its_node(f, at, name):
    def run():
        x = ad.tensor([at], requires_grad=True)
        (f(x) * 0).sum().backward()

    run()
    with autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=f"Function '{name}' returned nan values in its 0th output"):
            run()
    with autograd.set_detect_anomaly(True, check_nan=False):
        run()


def test_the_chain_of_backwards_is_reported():
    with autograd.set_detect_anomaly(True):
        x = ad.tensor(0.0, requires_grad=True)
        (g,) = autograd.grad(x**1.5, x, create_graph=True)
        text = report_of(lambda: autograd.grad(g * 0, x), RuntimeError)
    assert "Previous calculation was induced by PowBackward0" in text


def test_the_state_is_restored():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"), autograd.detect_anomaly(check_nan=False):
        assert ad.is_anomaly_enabled() and not ad.is_anomaly_check_nan_enabled()
        with autograd.set_detect_anomaly(False):
            assert not ad.is_anomaly_enabled()
        assert ad.is_anomaly_enabled()
    assert not ad.is_anomaly_enabled() and ad.is_anomaly_check_nan_enabled()


def test_metadata_holds_the_stack():
    with autograd.set_detect_anomaly(True):
        y = ad.ones(1, requires_grad=True) * 2
    assert any("test_metadata_holds_the_stack" in line for line in y.grad_fn.metadata["traceback_"])


def test_it_is_of_the_process_not_of_a_thread():
    seen = []
    with autograd.set_detect_anomaly(True):
        thread = threading.Thread(target=lambda: seen.append(ad.is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [True] and not ad.is_anomaly_enabled()


def test_where_warnings_are_errors_the_report_is_printed(capfd):
    with autograd.set_detect_anomaly(True), warnings.catch_warnings(action="error"):
        y = the_forward_line(ad.ones(2, requires_grad=True)).sum()
        with pytest.raises(ZeroDivisionError):
            y.backward()
    assert "Error detected in FailingBackward. Traceback of forward call" in capfd.readouterr().err
