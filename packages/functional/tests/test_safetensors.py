"""Files of safetensors: the same as the library's own of NumPy arrays, without copies."""

import os

import pytest

import adjoint as ad

library = pytest.importorskip("safetensors", reason="safetensors is not installed")
from adjoint.safetensors import load, load_file, save, save_file  # noqa: E402

DTYPES = [
    ad.float64,
    ad.float32,
    ad.float16,
    ad.bfloat16,
    ad.complex64,
    ad.int64,
    ad.int32,
    ad.int16,
    ad.int8,
    ad.uint8,
    ad.bool,
]
TENSORS = {str(t): (ad.arange(12) % 5).to(t).view(3, 4) for t in DTYPES} | {"turned": ad.rand(3, 5).t(), "empty": ad.ones(0, 2)}


def test_files_hold_what_was_written(tmp_path):
    file = tmp_path / "all.safetensors"
    save_file(TENSORS, file, metadata={"by": "a test"})
    for found in (load_file(file), load(file.read_bytes()), load(save(TENSORS))):
        assert found.keys() == TENSORS.keys()
        assert all(
            x.dtype == TENSORS[k].dtype and x.shape == TENSORS[k].shape and ad.equal(x, TENSORS[k]) for k, x in found.items()
        )
    with library.safe_open(file, framework="np") as f:
        assert f.metadata() == {"by": "a test"}
        assert f.get_tensor("turned").tolist() == TENSORS["turned"].tolist()
    assert os.listdir(tmp_path) == ["all.safetensors"]


def test_files_are_mapped(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    file = tmp_path / "w.safetensors"
    numpy.save_file({"w": ad.ones(1000, 1000).numpy()}, file)
    before = file.read_bytes()
    w = load_file(file)["w"]
    with open("/proc/self/maps") as maps:
        assert any("w.safetensors" in line and int(line[: line.index("-")], 16) <= w.data_ptr() for line in maps)
    w.mul_(2)
    assert w.sum() == 2e6 and file.read_bytes() == before and load_file(file)["w"].sum() == 1e6


def test_what_is_no_such_file_is_refused(tmp_path):
    file = tmp_path / "bad"
    file.write_bytes(b"\x08\0\0\0\0\0\0\0{broken}")
    with pytest.raises(library.SafetensorError):
        load_file(file)
    whole = save({"w": ad.ones(10)})
    with pytest.raises(library.SafetensorError):
        load(whole[:-4])
    with pytest.raises(ValueError, match="save: expected tensors, got list for 'w'"):
        save({"w": [1]})
    with pytest.raises(ValueError, match="sparse"):
        save_file({"w": ad.eye(2).to_sparse()}, file)
