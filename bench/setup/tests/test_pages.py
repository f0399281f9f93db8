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
from pathlib import Path

import pytest
from machine import ROOT
from pages import GOALS, blocks, helped, problems

HARDWARE = blocks((ROOT / "bench/HARDWARE.md").read_text())
MODES = ("variables", "run", "software-card", "cabled-card", "needs-hardware")
SMALL_MATRIX = """
wall = { seconds = 1, warm_up = 0, repeats = 1 }
[[block]]
backends = ["wall"]
impl = ["c", "rust"]
"""
LIMIT = 600
"""Longest time for the commands of a page, seconds. They take about 20 s after a build."""
OTHER_USER = "65534"


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    """Build what the commands use."""
    subprocess.run(["make", "build", "variants"], cwd=ROOT, check=True, timeout=1800)


def run_blocks(page: str) -> str:
    """The blocks of a page that are marked `sh run`, as one script. It waits for what the blocks started."""
    marked = [block.text for block in blocks((ROOT / page).read_text()) if block.mode == "run"]
    assert marked, f"{page} has no block with the mark `run`"
    return "\n".join(["set -e", *marked, "wait || true"])


def start(script: str, folder: Path | None, user: str | None = None) -> subprocess.Popen[str]:
    """Start a script as a user pastes it, with a folder for sockets or without."""
    as_user = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    if folder is not None:
        environment["XDG_RUNTIME_DIR"] = str(folder)
    return subprocess.Popen(
        [*as_user, "bash", "-c", script],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def end(running: subprocess.Popen[str]) -> str:
    """Wait for the end of a script, and return what it printed. No process of the script stays behind."""
    try:
        return running.communicate(timeout=LIMIT)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


@pytest.mark.parametrize(("page", "rates"), [("README.md", 4), ("bench/README.md", 0)])
def test_the_blocks_of_a_page_run(tmp_path: Path, page: str, rates: int) -> None:
    running = start(run_blocks(page), tmp_path)
    said = end(running)
    assert running.returncode == 0, said
    assert len(re.findall(r"port[01]\.sock: RX [\d.]+ Mpps", said)) >= rates, said


def test_two_users_of_a_machine_do_not_disturb_each_other() -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("another user needs root and setpriv")
    reachable = subprocess.run(
        ["setpriv", f"--reuid={OTHER_USER}", "--clear-groups", ROOT / "build/bin/nic", "--version"], check=False
    )
    if reachable.returncode != 0:
        pytest.skip(f"user {OTHER_USER} cannot read {ROOT}")
    script = run_blocks("README.md")
    folders = {Path(f"/tmp/triptych-{user}") for user in (os.geteuid(), OTHER_USER)}
    before = {folder for folder in folders if folder.exists()}
    both = [start(script, None), start(script, None, OTHER_USER)]
    try:
        said = [end(running) for running in both]
    finally:
        for folder in folders - before:
            shutil.rmtree(folder)
    assert [running.returncode for running in both] == [0, 0], said
    assert [len(re.findall("Mpps", text)) >= 4 for text in said] == [True, True], said


def test_what_the_pages_name_exists() -> None:
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    subcommands = set(re.findall(r"^  ([a-z-]+) ", helped("build/bin/triptych"), re.MULTILINE))
    assert {"run", "compare", "doctor"} <= subcommands
    unknown = set()
    # The changelog lists old names.
    for name in (name for name in listed.splitlines() if name != "CHANGELOG.md" and (ROOT / name).is_file()):
        text = (ROOT / name).read_text()
        code = re.findall(r"`([^`\n]+)`", text) + [
            line for block in blocks(text) for line in re.split(r"\n|&&|;", block.text)
        ]
        for command in code:
            words = re.sub('"[^"]*"', "", command.split("#")[0]).split()
            while words and (words[0] == "sudo" or re.fullmatch(r"\w+=\S*", words[0])):
                words.pop(0)
            names = [word for word in words[1:] if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
            if words[:1] == ["make"]:
                unknown |= {f"{name}: make {goal}" for goal in names if goal not in GOALS}
            elif words and re.fullmatch(r"(build/bin/)?triptych", words[0]) and names[:1] == words[1:2]:
                unknown |= {
                    f"{name}: triptych {subcommand}" for subcommand in names[:1] if subcommand not in subcommands
                }
    assert unknown == set()


def test_commands_with_options_have_options_that_exist() -> None:
    readme = [block.text for block in blocks((ROOT / "README.md").read_text())]
    commands = [line for text in readme for line in text.splitlines() if not line.startswith("SOCKETS=")]
    commands += [block.text for block in HARDWARE if block.mode == "needs-hardware"]
    # The last column of the page's tables.
    table = re.findall(r"^\|.*\| `([^`]+ [^`]+)` \|$", (ROOT / "bench/HARDWARE.md").read_text(), re.MULTILINE)
    assert len(commands) > 15 and len(table) > 5
    assert [problem for command in (*commands, *table) for problem in problems(command.removesuffix("&"))] == []


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
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
    link = results / "latest"
    if link.is_symlink() and str(link.readlink()) != latest:
        link.unlink()
        if latest is not None:
            link.symlink_to(latest)
