"""A program in a process of its own, and what became of it."""

from __future__ import annotations

import faulthandler
import gc
import linecache
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import adjoint as ad

from .pool import State, note_broken

SECONDS = 60
Actions = list[tuple[str, int]]


def tell(frame: Any, event: str, _: Any) -> Any:
    """For `sys.settrace`: each piece of an action, as it is written, when it begins to run."""
    code = frame.f_code
    if "state_programs" not in code.co_filename:
        return None
    if event == "line" and (code.co_name == "<lambda>" or Path(code.co_filename).stem not in ("pool", "run")):
        text = linecache.getline(code.co_filename, frame.f_lineno)
        if code.co_name == "<lambda>":
            found = [p for p in code.co_positions() if p[3]]
            text = text[min(p[2] for p in found) : max(p[3] for p in found)]
        print(f"    {text.strip()[:150]}", flush=True)
    return tell


def follow(actions: Actions, loud: bool) -> None:
    sys.unraisablehook = note_broken
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(400)
    random.seed(0)
    ad.manual_seed(0)
    ad.set_num_threads(1)
    state = State()
    if loud:
        sys.settrace(tell)
    for name, seed in actions:
        if loud:
            print(name, seed, flush=True)
        state.act(name, seed)
    state.tensors.clear()
    state.kept.clear()
    del state
    gc.collect()


def in_a_process(actions: Actions, loud: bool, log: int) -> None:
    """The child's part of a fork; ends the process."""
    code = 70
    try:
        os.dup2(log, 2)
        if not loud:
            os.dup2(log, 1)
        faulthandler.enable()
        faulthandler.dump_traceback_later(SECONDS)
        signal.alarm(SECONDS + 5)
        follow(actions, loud)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever comes out is what the parent wants to see
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def crash_of(actions: Actions, loud: bool = False) -> str | None:
    """None where a program came to its end, else how it died and the last of what it said."""
    with tempfile.TemporaryFile() as log:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            in_a_process(actions, loud, log.fileno())
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            return None
        log.seek(0)
        said = log.read().decode(errors="replace")
    how = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit {status}"
    return f"{how}\n{said[:6000]}"


def shrunk(actions: Actions) -> Actions:
    """Drops runs of actions, shorter and shorter ones, while what is left still crashes."""
    size = len(actions) // 2
    while size:
        at = 0
        while at < len(actions):
            less = actions[:at] + actions[at + size :]
            if crash_of(less):
                actions = less
            else:
                at += size
        size //= 2
    return actions
