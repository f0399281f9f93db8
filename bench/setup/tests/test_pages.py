"""The commands in the project's pages: marked blocks run here, and all goals, subcommands and options exist.

The mark behind `sh` of a code block says how. `variables` are the variables of a user. `run` blocks run as they are.
`software-card` blocks run with the ports of a software card, which sends, and with a matrix of one cell. `cabled-card`
blocks run with a software card whose ports are cabled to each other. `needs-hardware: REASON` blocks do not run.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from machine import ROOT

MODES = ("variables", "run", "software-card", "cabled-card", "needs-hardware")
SMALL_MATRIX = """
wall = { seconds = 1, warm_up = 0, repeats = 1 }
[[block]]
backends = ["wall"]
impl = ["c", "rust"]
"""
LIMIT = 600
"""Longest time for the commands of a page, seconds. They take about 20 s after a build."""


GOALS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


class Block(NamedTuple):
    """A code block of a page. `mode` and `reason` are the marks `sh MODE: REASON` in its first line."""

    line: int
    mode: str
    reason: str
    text: str


def blocks(page: str) -> list[Block]:
    """Read the shell blocks of a page."""
    found, text = [], (ROOT / page).read_text()
    for match in re.finditer(r"^( *)```sh\b *(.*)\n((?:.*\n)*?)\1```$", text, re.MULTILINE):
        mode, _, reason = match[2].partition(":")
        body = "\n".join(line.removeprefix(match[1]) for line in match[3].splitlines())
        found.append(Block(text.count("\n", 0, match.start()) + 1, mode.strip(), reason.strip(), body))
    return found


HARDWARE = blocks("bench/HARDWARE.md")


@cache
def helped(*program: str) -> str:
    """The help of a program or subcommand; empty without such a one."""
    command = [str(ROOT / program[0]), *program[1:], "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return "" if done.returncode else done.stdout


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    """Build what the commands use."""
    subprocess.run(["make", "build", "variants"], cwd=ROOT, check=True, timeout=1800)


def run_blocks(page: str) -> str:
    """The blocks of a page that are marked `sh run`, as one script. It waits for what the blocks started."""
    marked = [block.text for block in blocks(page) if block.mode == "run"]
    assert marked, f"{page} has no block with the mark `run`"
    return "\n".join(["set -e", *marked, "wait || true"])


@pytest.mark.parametrize(("page", "rates"), [("README.md", 4), ("bench/README.md", 0)])
def test_the_blocks_of_a_page_run(tmp_path: Path, page: str, rates: int) -> None:
    running = subprocess.Popen(
        ["bash", "-c", run_blocks(page)],
        cwd=ROOT,
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said = running.communicate(timeout=LIMIT)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    assert running.returncode == 0, said
    assert len(re.findall(r"port[01]\.sock: RX [\d.]+ Mpps", said)) >= rates, said


def problems(command: str) -> list[str]:
    """Say which goals, subcommands and options of a command do not exist."""
    words = re.sub("\"[^\"]*\"|'[^']*'", "TEXT", command.split("#")[0]).split()
    while words and (words[0] == "sudo" or re.fullmatch(r"\w+=\S*", words[0])):
        words.pop(0)
    if words[:1] == ["make"]:
        return [f"make {word}" for word in words[1:] if re.fullmatch(r"[a-z][a-z0-9-]*", word) and word not in GOALS]
    if len(words) < 2 or not re.fullmatch(r"(build/bin/)?(triptych|nic|[a-z-]+/ixgbe-fwd)", words[0]):
        return []
    program = f"build/bin/{words[0].removeprefix('build/bin/')}"
    names = [word for word in words[1:2] if program.endswith("triptych") and re.fullmatch(r"[a-z][a-z-]+", word)]
    # Options behind `--` are those of another program.
    own = words[: words.index("--")] if "--" in words else words
    options = [word.split("=")[0] for word in own if re.match("--[a-z]", word)]
    said = helped(program, *names)
    return [f"{program} {names} {option}" for option in options or [""] if not said or option not in said]


def test_what_the_pages_name_exists() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    unknown = set()
    # The changelog lists old names.
    for page in (page for page in listed.splitlines() if page != "CHANGELOG.md" and (ROOT / page).is_file()):
        code = re.findall(r"`([^`\n]+)`", (ROOT / page).read_text())
        code += [line for block in blocks(page) for line in re.split(r"\n|&&|;", block.text.replace("\\\n", " "))]
        unknown |= {f"{page}: {problem}" for command in code for problem in problems(command)}
    assert unknown == set()


def test_each_block_says_how_it_is_tested() -> None:
    marks = [(block.line, block.mode, block.reason) for block in HARDWARE]
    assert len(marks) >= 10
    assert [mark for mark in marks if mark[1] not in MODES] == []
    assert [mark for mark in marks if (mark[1] == "needs-hardware") != bool(mark[2])] == []


@contextlib.contextmanager
def software_card(folder: Path, *options: str) -> Iterator[str]:
    """Run a software card; returns its two ports."""
    folder.mkdir()
    card = subprocess.Popen(
        [ROOT / "build/bin/nic", "--socket-dir", folder, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sockets = [folder / "port0.sock", folder / "port1.sock"]
    try:
        deadline = time.monotonic() + 30
        while not all(socket.exists() for socket in sockets):
            assert time.monotonic() < deadline and card.poll() is None, "the software card does not start"
            time.sleep(0.05)
        yield " ".join(f"vfio-user:{socket}" for socket in sockets)
    finally:
        card.terminate()
        card.wait(timeout=30)


@pytest.fixture
def cards(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Run a software card that sends, and one whose ports are cabled; returns the ports by mode."""
    with (
        software_card(tmp_path / "sends", "--traffic", "saturate") as sends,
        software_card(tmp_path / "cabled", "--cable", "0:1") as cabled,
    ):
        yield {"software-card": sends, "cabled-card": cabled}


def test_the_page_runs_from_the_first_command_to_the_last(cards: dict[str, str], tmp_path: Path) -> None:
    matrix = tmp_path / "small.toml"
    matrix.write_text(SMALL_MATRIX)
    results = ROOT / "results"
    before = set(results.iterdir()) if results.is_dir() else set()
    latest = str((results / "latest").readlink()) if (results / "latest").is_symlink() else None
    script = ["set -euo pipefail"]
    for block in HARDWARE:
        echo = f"echo '== line {block.line}'"
        if block.mode in ("variables", "run"):
            script += [echo, block.text]
        elif block.mode in cards:
            values = f"PORTS={shlex.quote(cards[block.mode])} GENERATOR=none"
            small = f"CARD={shlex.quote(str(matrix))} CLOCKS=keep"
            script += [echo, "(", f"export {values} {small}", block.text, ")"]
    try:
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
        )
        made = {path for path in results.iterdir() if not path.is_symlink()} - before
    finally:
        remove_new_runs(results, before, latest)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "This would stop the run" in done.stdout, "the plan with the ports of the page"
    assert "ssh -T" in done.stdout
    assert len(made) == 1, "the measurement wrote one run"
    assert "of a software card; load from outside of the run" in " ".join(done.stdout.split())


def remove_new_runs(results: Path, before: set[Path], latest: str | None) -> None:
    """Remove the runs that the page made, and point `latest` where it pointed before."""
    for path in set(results.iterdir()) - before if results.is_dir() else set():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    link = results / "latest"
    if link.is_symlink() and str(link.readlink()) != latest:
        link.unlink()
        if latest is not None:
            link.symlink_to(latest)
