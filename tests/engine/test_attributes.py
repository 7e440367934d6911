"""What may be assigned to the attributes that autograd adds to Tensor, and what the errors say."""

import pytest

import adjoint as ad

LEAF_ONLY = "Only Tensors of floating point and complex dtype can require gradients"


@pytest.mark.parametrize(
    ("name", "value", "error", "match"),
    [
        ("requires_grad", 1, RuntimeError, "requires_grad must be a bool"),
        ("data", None, TypeError, "Variable data has to be a tensor, but got NoneType"),
        ("grad", 5, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
        ("grad", ad.ones(3), RuntimeError, r"attempting to assign a gradient of size '\[3\]' to a tensor of size '\[2\]'"),
    ],
)
def test_wrong_values_are_told(name, value, error, match):
    with pytest.raises(error, match=match):
        setattr(ad.ones(2, requires_grad=True), name, value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ad.tensor([1], requires_grad=True),
        lambda: ad.ones(2, dtype=ad.int64, requires_grad=True),
        lambda: ad.arange(3, requires_grad=True),
    ],
)
def test_integers_cannot_be_made_to_require_grad(make):
    with pytest.raises(RuntimeError, match=LEAF_ONLY):
        make()


def test_volatile_warns_that_it_does_nothing():
    x = ad.ones(2)
    with pytest.warns(UserWarning, match=r"volatile was removed \(Variable.volatile is always False\)"):
        assert not x.volatile
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        assert not ad.autograd.Variable(x, volatile=True).requires_grad


def test_hooks_may_be_assigned_to_what_does_not_require_grad():
    x = ad.ones(2)
    x._backward_hooks = {0: lambda g: 1 / 0}
    y = x * ad.ones(2, requires_grad=True)
    y.sum().backward()
    assert list(x._backward_hooks) == [0]


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("data", "Deleting tensor data is not allowed"),
        ("requires_grad", "requires_grad must be a bool"),
        ("_backward_hooks", "not allowed"),
        ("_grad_fn", "Detach tensor instead"),
    ],
)
def test_attributes_that_cannot_be_deleted(name, match):
    x = ad.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=match):
        delattr(x, name)
    y = x * 2
    assert y._grad_fn is y.grad_fn


def test_a_leaf_with_other_memory_is_another_end_of_graphs():
    for replace in (lambda x: x.set_(ad.zeros(2)), lambda x: setattr(x, "data", ad.zeros(3))):
        x = ad.ones(2, requires_grad=True)
        y, edge = x.clone().sum(), ad.autograd.graph.get_gradient_edge(x)
        with ad.no_grad():
            replace(x)
        with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
            ad.autograd.grad(y, x, retain_graph=True)
        assert ad.autograd.grad(y, edge)[0].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.set_(ad.zeros(3))


def test_one_value_may_be_written_to_all_of_an_expanded_tensor():
    x = ad.zeros(3)
    for write, value in ((lambda t: t.fill_(2), 2), (lambda t: t.zero_(), 0), (lambda t: t.fill_(ad.tensor(5)), 5)):
        assert write(x.expand(2, 3)).tolist() == [[value] * 3] * 2 and x.tolist() == [value] * 3
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory location"):
        x.expand(2, 3).copy_(ad.ones(2, 3))
