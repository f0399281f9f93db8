"""bench/HARDWARE.md: each of its commands runs here, from the first line to the last.

The mark behind `sh` of a code block says how. `variables` are the variables of a user. `run` blocks run as they are.
`software-card` blocks run with the ports of a software card, which sends, and with a matrix of one cell. `cabled-card`
blocks run with a software card whose ports are cabled to each other. `needs-hardware: REASON` blocks do not run, but
their goals, programs and options must exist.
"""

import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machine import ROOT
from pages import Block, blocks, problems

PAGE = ROOT / "bench" / "HARDWARE.md"
MODES = ("variables", "run", "software-card", "cabled-card", "needs-hardware")
SMALL_MATRIX = """
wall = { seconds = 1, warm_up = 0, repeats = 1 }
[[block]]
backends = ["wall"]
impl = ["c", "rust"]
"""
LIMIT = 600
"""Longest time for all commands together, seconds. They take about 20 s after a build."""


def page_blocks() -> list[Block]:
    """Read the shell blocks of the page."""
    return blocks(PAGE.read_text())


def table_commands() -> list[str]:
    """Read the commands in the last column of the page's tables."""
    rows = re.findall(r"^\|.*\| `([^`]+)` \|$", PAGE.read_text(), re.MULTILINE)
    return [row for row in rows if " " in row]


@pytest.fixture(scope="module")
def programs() -> None:
    """Build what the page's commands use."""
    subprocess.run(["make", "build", "variants"], cwd=ROOT, check=True, timeout=1800)


@contextmanager
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
def cards(tmp_path: Path, programs: None) -> Iterator[dict[str, str]]:
    """Run a software card that sends, and one whose ports are cabled; returns the ports by mode."""
    with (
        software_card(tmp_path / "sends", "--traffic", "saturate") as sends,
        software_card(tmp_path / "cabled", "--cable", "0:1") as cabled,
    ):
        yield {"software-card": sends, "cabled-card": cabled}


def test_each_block_says_how_it_is_tested() -> None:
    marks = [(block.line, block.mode, block.reason) for block in page_blocks()]
    assert len(marks) >= 10
    assert [mark for mark in marks if mark[1] not in MODES] == []
    assert [mark for mark in marks if (mark[1] == "needs-hardware") != bool(mark[2])] == []


@pytest.mark.usefixtures("programs")
def test_commands_that_need_hardware_have_goals_and_options_that_exist() -> None:
    commands = [block.text for block in page_blocks() if block.mode == "needs-hardware"] + table_commands()
    assert len(commands) > 15
    assert [problem for command in commands for problem in problems(command)] == []


@pytest.mark.usefixtures("programs")
def test_an_option_a_goal_or_a_program_that_does_not_exist_is_found() -> None:
    assert problems("sudo build/bin/triptych bind 03:00.0 --users me") == ["build/bin/triptych --users"]
    assert problems("make reproduced DEVICES=x") == ["make reproduced"]
    assert problems("testpmd --version") == ["testpmd: an unknown program"]
    assert len(problems("build/bin/triptych tie 03:00.0")) == 1


def test_the_page_runs_from_the_first_command_to_the_last(cards: dict[str, str], tmp_path: Path) -> None:
    matrix = tmp_path / "small.toml"
    matrix.write_text(SMALL_MATRIX)
    results = ROOT / "results"
    before = set(results.iterdir()) if results.is_dir() else set()
    latest = str((results / "latest").readlink()) if (results / "latest").is_symlink() else None
    script = ["set -euo pipefail"]
    for block in page_blocks():
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
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
    link = results / "latest"
    if link.is_symlink() and str(link.readlink()) != latest:
        link.unlink()
        if latest is not None:
            link.symlink_to(latest)
