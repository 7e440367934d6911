"""Stores: what PyTorch 2.13 gives for the same calls."""

from __future__ import annotations

import copy
import threading
from datetime import timedelta

import pytest

import adjoint as ad
from adjoint.distributed import DistNetworkError, DistStoreError, HashStore, PrefixStore, Store, TCPStore

SHORT = timedelta(milliseconds=50)


def alone() -> TCPStore:
    return TCPStore("127.0.0.1", 0, 1, is_master=True)


@pytest.mark.parametrize("make", [alone, HashStore, lambda: PrefixStore("p", HashStore())])
def test_values(make):
    s = make()
    s.set("a", "1")
    assert s.get("a") == b"1" and (s.add("n", 3), s.add("n", 4), s.get("n")) == (3, 7, b"7")
    assert s.compare_set("a", "1", "2") == s.compare_set("a", "1", "3") == b"2"
    assert s.compare_set("q", "x", "3") == b"x" and s.compare_set("z", "", "3") == b"3" and not s.check(["q"])
    s.append("a", "xx")
    assert s.get("a") == b"2xx" and s.check(["a"]) and not s.check(["a", "nope"])
    assert s.delete_key("a") and not s.delete_key("a")
    s.multi_set(["u", "v"], [b"\x00\xff", "ä"])
    assert s.multi_get(["u", "v"]) == [b"\x00\xff", "ä".encode()] and s.has_extended_api()
    s.wait(["u"])
    with pytest.raises(DistStoreError, match="wait timeout after 50ms, keys: /nope"):
        s.wait(["nope"], SHORT)
    s.set_timeout(SHORT)
    with pytest.raises(DistStoreError):
        s.get("nope")
    with pytest.raises(TypeError, match="str or bytes"):
        s.set("k", 3)
    with pytest.raises(TypeError, match="cannot pickle"):
        copy.deepcopy(s)


def test_keys():
    assert HashStore().num_keys() == 0 and alone().num_keys() == 1  # its count of users
    s = alone()
    s.set("a", "1")
    assert s.list_keys() == ["a"] and s.num_keys() == 2
    below = HashStore()
    PrefixStore("p", below).set("a", "9")
    assert below.get("p/a") == b"9" and PrefixStore("p", below).underlying_store is below
    with pytest.raises(NotImplementedError, match="overrides set"):
        Store().set("a", "1")


def test_two_users():
    master = TCPStore("127.0.0.1", 0, 2, is_master=True, wait_for_workers=False)
    other = TCPStore("127.0.0.1", master.port, 2)
    waiting = threading.Thread(target=lambda: other.set("seen", other.get("late")))
    waiting.start()
    master.set("late", "yes")
    assert master.get("seen") == b"yes"
    waiting.join()
    del master
    with pytest.raises(DistNetworkError, match="timed out after 50ms"):
        TCPStore("127.0.0.1", other.port, 2, timeout=SHORT)
    assert other.timeout == timedelta(seconds=300)


def test_who_does_not_come():
    with pytest.raises(DistStoreError, match=r"waiting for clients\. 1/2 clients joined"):
        TCPStore("127.0.0.1", 0, 2, is_master=True, timeout=SHORT)
    taken = alone()
    with pytest.raises(DistNetworkError, match="failed to listen"):
        TCPStore("127.0.0.1", taken.port, 1, is_master=True)
    assert ad.distributed.TCPStore is TCPStore
