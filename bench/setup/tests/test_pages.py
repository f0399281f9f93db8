"""The commands in the project's pages: the marked blocks run as they are, and all goals and subcommands exist."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from machine import ROOT
from pages import GOALS, blocks, problems

LIMIT = 120
"""Longest time for the blocks of a page, seconds. They take about 10 s."""
OTHER_USER = "65534"


def pages() -> list[Path]:
    """All Markdown files but the changelog, which lists old names."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if name != "CHANGELOG.md" and (ROOT / name).is_file()]


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


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    """Build what the commands use."""
    subprocess.run(["make", "build"], cwd=ROOT, check=True, timeout=1800)


def test_the_blocks_of_the_readme_forward_packets(tmp_path: Path) -> None:
    running = start(run_blocks("README.md"), tmp_path)
    said = end(running)
    assert running.returncode == 0, said
    assert len(re.findall(r"port[01]\.sock: RX [\d.]+ Mpps", said)) >= 4, said


def test_the_blocks_of_the_bench_page_pass(tmp_path: Path) -> None:
    running = start(run_blocks("bench/README.md"), tmp_path)
    said = end(running)
    assert running.returncode == 0, said


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


def test_each_goal_and_subcommand_of_the_pages_exists() -> None:
    helped = subprocess.run([ROOT / "build/bin/triptych", "--help"], capture_output=True, text=True, check=True).stdout
    subcommands = set(re.findall(r"^  ([a-z-]+) ", helped, re.MULTILINE))
    assert {"run", "compare", "doctor"} <= subcommands
    unknown = set()
    for page in pages():
        text = page.read_text()
        name = page.relative_to(ROOT)
        code = re.findall(r"`([^`\n]+)`", text) + [
            line for block in blocks(text) for line in re.split(r"\n|&&|;", block.text)
        ]
        for command in code:
            words = re.sub('"[^"]*"', "", command.split("#")[0]).split()
            while words and (words[0] == "sudo" or re.fullmatch(r"\w+=\S*", words[0])):
                words.pop(0)
            if words[:1] == ["make"]:
                goals = [word for word in words[1:] if re.fullmatch(r"[a-z][a-z0-9-]*", word)]
                unknown |= {f"{name}: make {goal}" for goal in goals if goal not in GOALS}
            elif words and re.fullmatch(r"(build/bin/)?triptych", words[0]) and len(words) > 1:
                subcommand = words[1]
                if re.fullmatch(r"[a-z][a-z-]*", subcommand) and subcommand not in subcommands:
                    unknown.add(f"{name}: triptych {subcommand}")
    assert unknown == set()


def test_the_readme_names_only_options_that_exist() -> None:
    commands = [block.text for block in blocks((ROOT / "README.md").read_text())]
    lines = [line for text in commands for line in text.splitlines() if not line.startswith("SOCKETS=")]
    assert len(lines) > 8
    assert [problem for line in lines for problem in problems(line.removesuffix("&"))] == []
