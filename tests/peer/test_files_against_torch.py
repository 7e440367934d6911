"""Files of PyTorch: each of the two libraries reads what the other wrote."""

import collections
import io

import pytest
import torch

import adjoint as ad

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "complex64",
    "complex128",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "bool",
]
DTYPES += ["uint16", "uint32", "uint64"]


def content(lib):
    """Something of everything that a file of weights holds."""
    base = lib.arange(12.0).view(3, 4)
    leaf = lib.ones(2, requires_grad=True)
    return {
        **{name: (lib.arange(6) % 2).to(getattr(lib, name)).view(2, 3) for name in DTYPES},
        "views": [base, base.t(), base[1:, ::2], base.view(-1)[5]],
        "leaf": leaf,
        "result": leaf * 2,
        "parameter": lib.nn.Parameter(lib.ones(2, 2), requires_grad=False),
        "sparse": lib.eye(3).to_sparse(),
        "empty": lib.ones(0, 3),
        "dtype": lib.float16,
        "size": base.shape,
        "device": lib.device("cpu"),
        "others": (1, 2.5, "text", b"bytes", None, True, 1j, {1, 2}, collections.OrderedDict(a=1), [1, [2]]),
    }


def facts(x):
    """What can be compared across the two."""
    if hasattr(x, "to_dense"):
        dense = x.detach().to_dense() if x.is_sparse else x.detach()
        places = () if x.is_sparse else (tuple(x.stride()), x.storage_offset())
        name = str(x.dtype).rpartition(".")[2]
        return type(x).__name__, name, tuple(x.shape), x.requires_grad, places, dense.to(dense.dtype).tolist()
    if isinstance(x, dict):
        return {k: facts(v) for k, v in x.items()}
    if type(x) in (list, tuple):
        return [facts(v) for v in x]
    return repr(x).replace("torch.", "").replace("adjoint.", "")


def written(lib, obj, **options):
    file = io.BytesIO()
    lib.save(obj, file, **options)
    file.seek(0)
    return file


@pytest.mark.filterwarnings("ignore:Detected pickle protocol 4")
@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("reader, writer", [(ad, torch), (torch, ad), (ad, ad)], ids=["ad reads", "torch reads", "ad alone"])
def test_files_hold_the_same(reader, writer, protocol):
    file = written(writer, content(writer), pickle_protocol=protocol)
    found = reader.load(file, weights_only=reader is ad or protocol == 2)  # PyTorch's safe reader knows protocol 2 only
    assert facts(found) == facts(content(writer))
    base, turned, *_ = found["views"]
    base[0, 1] = 100
    assert turned[1, 0] == 100  # one memory still


@pytest.mark.parametrize("reader, writer", [(ad, torch), (torch, ad)], ids=["ad reads", "torch reads"])
def test_states_of_modules_and_optimizers(reader, writer, tmp_path):
    def trained(lib):
        model = lib.nn.Sequential(lib.nn.Conv2d(1, 2, 3), lib.nn.BatchNorm2d(2), lib.nn.Flatten(), lib.nn.Linear(8, 2))
        optimizer = lib.optim.Adam(model.parameters(), lr=0.01)
        model(lib.rand(3, 1, 4, 4)).sum().backward()
        optimizer.step()
        return model, optimizer

    model, optimizer = trained(writer)
    file = tmp_path / "state.pt"
    writer.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    state = reader.load(file)
    other, its = trained(reader)
    other.load_state_dict(state["model"])
    its.load_state_dict(state["optimizer"])
    assert facts(dict(other.state_dict())) == facts(dict(model.state_dict()))
    for a, b in zip(other.parameters(), model.parameters()):
        assert its.state[a]["exp_avg"].tolist() == optimizer.state[b]["exp_avg"].tolist()


@pytest.mark.parametrize("reader, writer", [(ad, torch), (torch, ad), (ad, ad)], ids=["ad reads", "torch reads", "ad alone"])
def test_mapped_files(reader, writer, tmp_path):
    file = str(tmp_path / "w.pt")
    writer.save({"w": writer.arange(100_000.0), "v": writer.ones(3)}, file)
    for _ in range(2):
        found = reader.load(file, mmap=True, map_location="cpu")
        assert found["w"][-1] == 99_999 and found["w"].sum() > 4e9 and found["v"].tolist() == [1, 1, 1]
        found["w"].zero_()  # the file does not change


@pytest.mark.parametrize("reader, writer", [(ad, torch), (torch, ad)], ids=["ad reads", "torch reads"])
def test_files_of_the_format_before(reader, writer):
    base = writer.arange(6.0).view(2, 3)
    model = writer.nn.Linear(3, 2)
    state = {"base": base, "turned": base.t(), "state": model.state_dict(), "weight": model.weight, "ids": writer.arange(3)}
    x = reader.load(written(writer, state, _use_new_zipfile_serialization=False))
    assert x["turned"].tolist() == base.t().tolist() and x["state"]["weight"].tolist() == model.weight.tolist()
    assert type(x["weight"]) is reader.nn.Parameter and x["ids"].dtype == reader.int64
    x["base"].zero_()
    assert not x["turned"].any()


def test_classes_of_pytorch_are_not_made_from_weights():
    file = written(torch, torch.nn.Linear(2, 3))
    with pytest.raises(Exception, match="Weights only load failed"):
        ad.load(file)
    file.seek(0)
    assert ad.load(written(torch, torch.optim.lr_scheduler.StepLR), weights_only=False) is ad.optim.lr_scheduler.StepLR
