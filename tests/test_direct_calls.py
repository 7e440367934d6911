"""The short way of frequent calls: the same as nanobind's in all but time."""

import pytest

import adjoint as ad


def test_a_function_in_a_class_stays_a_function():
    class Layer:
        activation = ad.exp

        def __call__(self, x):
            return self.activation(x)

    assert Layer()(ad.zeros(2)).tolist() == [1, 1] and Layer().activation(ad.zeros(1)).item() == 1


def test_a_method_binds_with_and_without_a_call():
    x = ad.ones(2)
    bound = x.add
    assert bound(1).tolist() == x.add(other=1).tolist() == ad.Tensor.add(x, 1).tolist() == [2, 2]


@pytest.mark.parametrize("direct", [ad.exp, ad.Tensor.exp])
def test_the_types_cannot_be_made_by_hand(direct):
    assert direct.__name__ == "exp" and direct.__doc__
    for make in (type(direct), lambda: object.__new__(type(direct)), lambda: type("Derived", (type(direct),), {})):
        with pytest.raises(TypeError):
            make()


@pytest.mark.parametrize("arguments", [(), (1,), (None,), (ad.ones(1), ad.ones(1), ad.ones(1)), (ad.ones(1), "a")])
def test_what_is_refused_names_the_function(arguments):
    with pytest.raises(TypeError, match="mul"):
        ad.mul(*arguments)
