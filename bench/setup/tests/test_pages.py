"""The commands in the project's pages: marked blocks run here, and all subcommands and options exist.

The mark behind `sh` of a code block says how. `variables` are the variables of a user. `run` blocks run as they are.
`software-card` blocks run with the ports of a software card, which sends, and with a matrix of one cell. `cabled-card`
blocks run with a software card whose ports are cabled to each other. `needs-hardware: REASON` blocks do not run.
"""

import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from machine import ROOT, output

MODES = ("variables", "run", "software-card", "cabled-card", "needs-hardware")
SMALL_MATRIX = """
wall = { seconds = 1, warm_up = 0, repeats = 1 }
[[block]]
backends = ["wall"]
impl = ["c", "rust"]
"""
# Starts a software card with the options $2... in the folder $1.
SOFTWARE_CARD = """
software_card() {
    mkdir "$1"
    build/bin/nic --socket-dir "$@" >/dev/null 2>&1 &
    until [ -S "$1/port0.sock" ] && [ -S "$1/port1.sock" ]; do kill -0 $!; sleep 0.05; done
}"""


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
    output("timeout", "1800", "make", "build", "variants")


def run(script: list[str], **environment: str) -> str:
    """Run a script, end the programs that it leaves behind, and return what it printed."""
    # The commands of a page take about 20 s after a build.
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", *script]
    return output("timeout", "600", "bash", "-c", "\n".join(lines), **environment)


@pytest.mark.parametrize(("page", "rates"), [("README.md", 4), ("bench/README.md", 0)])
def test_the_blocks_of_a_page_run(tmp_path: Path, page: str, rates: int) -> None:
    marked = [block.text for block in blocks(page) if block.mode == "run"]
    assert marked, f"{page} has no block with the mark `run`"
    said = run([*marked, "wait || true"], XDG_RUNTIME_DIR=str(tmp_path))
    assert len(re.findall(r"port[01]\.sock: RX [\d.]+ Mpps", said)) >= rates, said


def problems(command: str) -> list[str]:
    """Say which subcommands and options of a command do not exist."""
    words = re.sub("\"[^\"]*\"|'[^']*'", "TEXT", command.split("#")[0]).split()
    while words and (words[0] == "sudo" or re.fullmatch(r"\w+=\S*", words[0])):
        words.pop(0)
    if len(words) < 2 or not re.fullmatch(r"(build/bin/)?(triptych|nic|[a-z-]+/ixgbe-fwd)", words[0]):
        return []
    program = f"build/bin/{words[0].removeprefix('build/bin/')}"
    # `lab` has commands of its own.
    last = 3 if words[1] == "lab" else 2
    names = [word for word in words[1:last] if program.endswith("triptych") and re.fullmatch(r"[a-z][a-z-]+", word)]
    # Options behind `--` are those of another program.
    own = words[: words.index("--")] if "--" in words else words
    options = [word.split("=")[0] for word in own if re.match("--[a-z]", word)]
    said = helped(program, *names)
    return [f"{program} {names} {option}" for option in options or [""] if not said or option not in said]


def test_what_the_pages_name_exists() -> None:
    unknown = set()
    # The changelog lists old names.
    for page in (
        page
        for page in output("git", "ls-files", "*.md").splitlines()
        if page != "CHANGELOG.md" and (ROOT / page).is_file()
    ):
        code = re.findall(r"`([^`\n]+)`", (ROOT / page).read_text())
        code += [line for block in blocks(page) for line in re.split(r"\n|&&|;", block.text.replace("\\\n", " "))]
        unknown |= {f"{page}: {problem}" for command in code for problem in problems(command)}
    assert unknown == set()


def test_each_block_says_how_it_is_tested() -> None:
    marks = [(block.line, block.mode, block.reason) for block in HARDWARE]
    assert len(marks) >= 10
    assert [mark for mark in marks if mark[1] not in MODES] == []
    assert [mark for mark in marks if (mark[1] == "needs-hardware") != bool(mark[2])] == []


def test_the_page_runs_from_the_first_command_to_the_last(tmp_path: Path) -> None:
    matrix = tmp_path / "small.toml"
    matrix.write_text(SMALL_MATRIX)
    cards = {"software-card": "--traffic saturate", "cabled-card": "--cable 0:1"}
    script = [SOFTWARE_CARD, *(f"software_card {tmp_path / mode} {options}" for mode, options in cards.items())]
    for block in HARDWARE:
        echo = f"echo '== line {block.line}'"
        if block.mode in ("variables", "run"):
            script += [echo, block.text]
        elif block.mode in cards:
            ports = shlex.quote(" ".join(f"vfio-user:{tmp_path / block.mode}/port{port}.sock" for port in (0, 1)))
            export = f"export PORTS={ports} GENERATOR=none CARD={shlex.quote(str(matrix))} CLOCKS=keep"
            script += [echo, "(", export, block.text, ")"]
    results, latest = ROOT / "results", ROOT / "results/latest"

    def runs() -> set[Path]:
        return {path.parent for path in results.rglob("run.json")}

    before = runs()
    pointed = latest.readlink() if latest.is_symlink() else None
    try:
        said = run(script)
        made = runs() - before
    finally:
        for path in runs() - before:
            shutil.rmtree(path)
        latest.unlink(missing_ok=True)
        if pointed is not None:
            latest.symlink_to(pointed)
    assert "This would stop the run" in said, "the plan with the ports of the page"
    assert "ssh -T" in said
    assert len(made) == 1, "the measurement wrote one run"
    assert "of a software card; load from outside of the run" in " ".join(said.split())
