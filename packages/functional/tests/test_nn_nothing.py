"""Modules given nothing: batches without elements, entries of None."""

import pytest

import adjoint as ad
from adjoint import nn


@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0)])
def test_an_empty_batch_says_nothing_of_the_statistics(shape):
    norm = nn.BatchNorm1d(3)
    norm(ad.ones(shape)).sum().backward()
    assert norm.running_mean.tolist() == [0, 0, 0] and norm.running_var.tolist() == [1, 1, 1]
    assert norm.num_batches_tracked.item() == 1 and norm.weight.grad.tolist() == [0, 0, 0]


def test_lists_of_modules_have_entries_of_none():
    layers = ad.nn.ModuleList([None, ad.nn.ReLU()])
    layers.append(None).insert(0, None)
    layers[1] = ad.nn.Tanh()
    assert [type(layer).__name__ for layer in layers] == ["NoneType", "Tanh", "ReLU", "NoneType"]
    assert (
        [name for name, _ in layers.named_children()] == ["1", "2"] and layers[0:1][0] is None and (layers + [None])[-1] is None
    )
    layers.train(False).to(ad.float64).requires_grad_(False)
    assert repr(ad.nn.ModuleList([None, None])) == "ModuleList(\n  (0-1): 2 x None\n)"
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        ad.nn.ModuleList([3])


def test_patches_of_no_images_and_pairs_of_one_element():
    patches, one = ad.ones(0, 16, 25, requires_grad=True), ad.ones(1, requires_grad=True)
    nn.functional.fold(patches, (6, 6), 2).sum().backward()
    ad.combinations(one).sum().backward()
    assert patches.grad.shape == patches.shape and one.grad.tolist() == [0]
