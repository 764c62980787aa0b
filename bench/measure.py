"""What a program costs: wall time, processor time, memory."""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

DIVIDER = "\f"


@dataclass
class Cost:
    """Seconds on the clock, seconds of all processors, and the memory of the largest process in bytes."""

    wall: float
    cpu: float
    memory: float


class Failed(Exception):
    """A program that ended badly, with the last line that it said."""


def run(command):
    """Runs a program to its end; its children count too."""
    adopt_orphans()
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss
        for usage in orphans():
            cpu, memory = cpu + usage.ru_utime + usage.ru_stime, max(memory, usage.ru_maxrss)
        if child.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise Failed(lines[-1] if lines else f"exit status {child.returncode}")
    return Cost(wall, cpu, memory * (1 if sys.platform == "darwin" else 1024))


def alternate(commands, rounds):
    """Runs the commands in turn, round after round, and gives the median cost of each.

    In turn, so that a slow minute of the machine does not fall on one of them alone.
    """
    costs = {name: [] for name in commands}
    for number in range(rounds):
        for name, command in commands.items():
            say(f"round {number + 1} of {rounds}: {name}")
            costs[name].append(run(command))
    median = lambda runs, what: statistics.median(getattr(cost, what) for cost in runs)
    return {
        name: {what: median(runs, what) for what in ["wall", "cpu", "memory"]}
        for name, runs in costs.items()
    }


def adopt_orphans():
    """Makes this process the parent of grandchildren that are left behind, so that they are counted."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def orphans():
    """What the processes that a program left behind have used, once they have ended."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            pid, _, usage = os.wait3(os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            yield usage
        else:
            time.sleep(0.01)


def read_documents(path):
    """Texts divided by form feeds."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read().split(DIVIDER)


def write_documents(path, texts):
    """Writes texts divided by form feeds; those that they contain become spaces."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(DIVIDER.join(text.replace(DIVIDER, " ") for text in texts))


def say(message):
    print(message, file=sys.stderr, flush=True)
