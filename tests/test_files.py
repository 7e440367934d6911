"""Files of `save`: what comes back, and that a file cannot run code."""

import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad


def written(obj, **options):
    file = io.BytesIO()
    ad.save(obj, file, **options)
    file.seek(0)
    return file


def changed(file, **entries):
    """The archive with other contents of some entries."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, entries.get(name.rpartition("/")[2].replace(".", "_"), old.read(name)))
    out.seek(0)
    return out


class Runs:
    """What would run a command when it is loaded."""

    def __reduce__(self):
        return os.system, ("echo run",)


def test_values_and_shared_memory_come_back(tmp_path):
    base = ad.arange(12.0).view(3, 4)
    model = ad.nn.Linear(3, 2)
    for f in (tmp_path / "x.pt", str(tmp_path / "y.pt"), io.BytesIO()):
        ad.save(
            {
                "base": base,
                "turned": base.t(),
                "again": base,
                "state": model.state_dict(),
                "half": ad.ones(2, dtype=ad.bfloat16),
            },
            f,
        )
        if isinstance(f, io.BytesIO):
            f.seek(0)
        x = ad.load(f)
        assert x["base"] is x["again"] and ad.equal(x["turned"], base.t()) and ad.equal(x["state"]["weight"], model.weight)
        x["base"].zero_()
        assert not x["turned"].any()
    whole = ad.load(written(model), weights_only=False)
    assert ad.equal(whole.weight, model.weight) and whole.weight.requires_grad and type(whole) is ad.nn.Linear


def test_plain_pickles_are_read_too():
    assert ad.load(io.BytesIO(pickle.dumps({"w": ad.ones(2)}, protocol=4)))["w"].tolist() == [1, 1]


@pytest.mark.parametrize("protocol", [2, 4])
def test_the_format_without_an_archive(protocol):
    base = ad.arange(6.0).view(2, 3)
    old = {"_use_new_zipfile_serialization": False, "pickle_protocol": protocol}
    state = {
        "base": base,
        "turned": base.t(),
        "half": ad.ones(3, dtype=ad.bfloat16),
        "none": ad.empty(0),
        "uint16": ad.ones(2, dtype=ad.uint16),
    }
    file = written(state, **old)
    x = ad.load(file, map_location="cpu")
    assert all(x[name].dtype == t.dtype and x[name].tolist() == t.tolist() for name, t in state.items())
    x["base"].zero_()
    assert not x["turned"].any()  # it is one memory
    assert x["base"].shape == (2, 3) and x["turned"].stride() == (1, 3)
    for wrong in (file.getvalue()[:-5], file.getvalue()[:-70]):
        with pytest.raises((pickle.UnpicklingError, EOFError)):
            ad.load(io.BytesIO(wrong))
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: (posix|nt).system"):
        ad.load(written([ad.ones(1), Runs()], **old))


def test_a_file_runs_no_code():
    for file in (written(Runs()), io.BytesIO(pickle.dumps(Runs())), written([ad.ones(1), Runs()])):
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed: (posix|nt).system"):
            ad.load(file)


def test_files_that_are_broken_are_refused():
    good = written({"w": ad.arange(10.0)})
    with pytest.raises(pickle.UnpicklingError, match="memory 0 has 4 bytes, expected 10 elements of float32"):
        ad.load(changed(good, **{"0": b"1234"}))
    with pytest.raises(NotImplementedError, match="order of bytes"):
        ad.load(changed(good, byteorder=b"big"))
    with pytest.raises(zipfile.BadZipFile):
        ad.load(io.BytesIO(good.getvalue()[:-30]))
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme", "hello")
    other.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="holds no data.pkl"):
        ad.load(other)
    far = pickle.dumps([1])
    with pytest.raises((pickle.UnpicklingError, RuntimeError)):
        ad.load(changed(good, data_pkl=far[:-2]))


def test_mapped_files_are_not_copied(tmp_path):
    file = tmp_path / "w.pt"
    ad.save({"w": ad.arange(100_000.0)}, file)
    before = file.read_bytes()
    w = ad.load(file, mmap=True)["w"]
    assert w.data_ptr() % 64 == 0
    w.zero_()
    assert file.read_bytes() == before and ad.load(file, map_location={"cpu": "cpu"})["w"][5] == 5
    for place in (ad.device("cpu"), "cpu", lambda memory, where: memory * (where == "cpu"), lambda memory, where: None):
        assert ad.load(file, map_location=place)["w"][5] == 5


def test_a_parameter_wants_the_engine(tmp_path):
    """In PyTorch's files a Parameter has PyTorch's name; core alone knows no such class, and says whose it is."""
    pickled = b"\x80\x02ctorch._utils\n_rebuild_parameter\n(K\x01\x89NtR."
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
    code = f"import adjoint_core\nadjoint_core.load({str(tmp_path / 'x.pt')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "UnpicklingError" in done.stderr and "adjoint_engine" in done.stderr


def test_elements_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    np.arange(4.0).tofile(file)
    own, shared = ad.from_file(file, size=3, dtype=ad.float64), ad.from_file(str(file), shared=True, size=5, dtype=ad.float64)
    own[1] = 9.0
    shared[0] = 7.0
    assert own.tolist()[1:] == [9.0, 2.0] and np.fromfile(file).tolist() == [7.0, 1.0, 2.0, 3.0, 0.0]
    assert ad.from_file(tmp_path / "new", shared=True, size=2).tolist() == [0.0, 0.0] and ad.from_file(file).shape == (0,)
    with pytest.raises(RuntimeError, match="has 40 bytes, fewer than the 48"):
        ad.from_file(file, size=6, dtype=ad.float64)
    with pytest.raises(RuntimeError, match="the size must not be negative, got -8 bytes"):
        ad.from_file(file, size=-2)
    with pytest.raises(FileNotFoundError):
        ad.from_file(tmp_path / "none", size=1)


def test_records_by_name(tmp_path):
    ad.save({"a": ad.ones(2)}, tmp_path / "x.pt")
    reader = ad.PyTorchFileReader(str(tmp_path / "x.pt"))
    assert reader.has_record("data.pkl") and not reader.has_record("x") and "data/0" in reader.get_all_records()
    assert reader.get_record("data/0")[:8] == ad.ones(2).numpy().tobytes()
    with pytest.raises(RuntimeError, match="PyTorchFileReader: the file has no record 'x'"):
        reader.get_record("x")
    (tmp_path / "y.pt").write_bytes(b"no archive")
    with pytest.raises(RuntimeError, match="PyTorchFileReader: the file is no zip archive"):
        ad.PyTorchFileReader(tmp_path / "y.pt")
