"""Programs that always end, what they print, and what they cost."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parents[3]
LIMIT, START, LOOK = 120.0, 20.0, 0.005
"""Seconds that a client may run and that a program may take to start, and between two looks at a condition."""

INSIDE = "TRIPTYCH_APPS_INSIDE"
"""Set for a program that is in name spaces of its own."""

Cpu = tuple[float, float]
"""Seconds of processor time in user mode, and in the kernel."""


class AppError(Exception):
    """What did not work, as a message for the user."""


def words(line: str, *more: str | Path) -> list[str | Path]:
    """Return a command: the words of a line, and more of them as they are."""
    return [*line.split(), *more]


def go_inside() -> None:
    """Start this program again in name spaces of its own. All programs in them end with it, and it needs no root."""
    if INSIDE not in os.environ:
        # Only a user who is not root needs a name space of users.
        user = "" if os.geteuid() == 0 else "--user --map-root-user"
        spaces = f"unshare {user} --net --mount --pid --fork --kill-child --mount-proc".split()
        test = subprocess.run([*spaces, "true"], capture_output=True, text=True, check=False)
        if test.returncode:
            sys.exit(f"no name spaces of its own: {test.stderr.strip()}")
        os.execvpe(spaces[0], [*spaces, *sys.orig_argv], os.environ | {INSIDE: "1"})
    # The first process of a name space has to ask for this signal.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    run("ip link set lo up")


def start(parser: argparse.ArgumentParser, main: Callable[[argparse.Namespace], int]) -> NoReturn:
    """Parse the options, go inside and run a program. A failure is a message and the exit status 1."""
    options = parser.parse_args()
    go_inside()
    try:
        sys.exit(main(options))
    except AppError as error:
        sys.exit(f"{parser.prog}: {error}")


def built(path: str) -> Path:
    """Return a file below `build/`."""
    file = ROOT / "build" / path
    if not file.is_file():
        raise AppError(f"build/{path} is missing: run make build, or make apps for the variants")
    return file


def wait_until(what: str, condition: Callable[[], bool], limit: float = START) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AppError(f"{what} did not come in {limit} s")
        time.sleep(LOOK)


class Output(NamedTuple):
    """What a program printed, how long it ran, and its processor time."""

    text: str
    error: str
    seconds: float
    cpu: Cpu


def run(line: str, *more: str | Path, check: bool = True, text: str = "", limit: float = LIMIT) -> Output:
    """Run a program to its end. No other child may end meanwhile, or its processor time counts here."""
    command, begin, before = words(line, *more), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=limit)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise AppError(f"{' '.join(map(str, command))}: {error}") from None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if check and done.returncode:
        name = " ".join(map(str, command))
        raise AppError(f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return Output(done.stdout, done.stderr, time.monotonic() - begin, cpu)


class Process:
    """A program in the background, which writes what it prints to a file."""

    def __init__(self, command: list[str | Path], log: Path, processor: int | None = None) -> None:
        """Start it, on one processor only if `processor` is a number."""
        own = sorted(os.sched_getaffinity(0))
        pinned = words("" if processor is None else f"taskset --cpu-list {own[processor % len(own)]}")
        self.name, self.log = log.stem, log
        with log.open("w") as output:
            self.popen = subprocess.Popen([*pinned, *command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def lines(self, begin: str) -> int:
        """Return how many lines that begin so it has printed."""
        return sum(line.startswith(begin) for line in self.log.read_text(errors="replace").splitlines())

    def wait_for_line(self, begin: str, count: int = 1, limit: float = START) -> None:
        """Wait until it has printed so many lines that begin so."""
        end, ended = time.monotonic() + limit, False
        while self.lines(begin) < count:
            if ended or time.monotonic() > end:
                reason = f"it ended with {self.popen.poll()} before" if ended else f"{limit} s passed without"
                raise AppError(f"{self.name}: {reason} a line '{begin}'; it printed:\n{self.log.read_text()}")
            ended = self.popen.poll() is not None
            time.sleep(LOOK)

    def cpu(self) -> Cpu:
        """Return its processor time so far (proc(5), fields 14 and 15)."""
        fields = Path(f"/proc/{self.popen.pid}/stat").read_text().rpartition(")")[2].split()
        user, system = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:13])
        return user, system

    def memory_kib(self) -> int:
        """Return its memory now (proc(5), VmRSS)."""
        text = Path(f"/proc/{self.popen.pid}/status").read_text()
        return int(text.partition("VmRSS:")[2].split()[0])

    def end(self, limit: float = 10) -> float:
        """End it by SIGTERM; return how many seconds it took."""
        begin = time.monotonic()
        self.popen.terminate()
        if (status := self.wait(limit)) not in (0, -signal.SIGTERM):
            raise AppError(f"{self.name} ended with {status}:\n{self.log.read_text()}")
        return time.monotonic() - begin

    def wait(self, limit: float = START) -> int:
        """Wait for its end; return its status."""
        try:
            return self.popen.wait(limit)
        except subprocess.TimeoutExpired:
            raise AppError(f"{self.name} did not end in {limit} s") from None

    def kill(self) -> None:
        """Kill it, if it still runs."""
        self.popen.kill()
        self.popen.wait()
