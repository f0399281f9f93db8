"""The shell blocks of a Markdown page, and the commands in them."""

import re
import shlex
import subprocess
from dataclasses import dataclass

from machine import ROOT

GOALS = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Programs of the system, which this machine need not have.
SYSTEM = {"cp", "kill", "lspci", "perf", "reboot", "ssh", "ssh-copy-id", "sysctl", "tar", "update-grub"}


@dataclass(frozen=True)
class Block:
    """A code block of a page. `mode` and `reason` are the marks `sh MODE: REASON` in its first line."""

    line: int
    mode: str
    reason: str
    text: str


def blocks(text: str) -> list[Block]:
    """Read the shell blocks of a page."""
    found = []
    for match in re.finditer(r"^( *)```sh\b *(.*)\n((?:.*\n)*?)\1```$", text, re.MULTILINE):
        mode, _, reason = match[2].partition(":")
        body = "\n".join(line.removeprefix(match[1]) for line in match[3].splitlines())
        found.append(Block(text.count("\n", 0, match.start()) + 1, mode.strip(), reason.strip(), body))
    return found


def problems(command: str) -> list[str]:
    """Say which goals, programs and options of a command do not exist."""
    found = []
    for line in command.splitlines():
        words = shlex.split(line, comments=True)
        while words and (words[0] == "sudo" or re.fullmatch(r"\w+=.*", words[0])):
            words.pop(0)
        if not words:
            continue
        program, rest = words[0], words[1:]
        if program == "make":
            found += [f"make {word}" for word in rest if "=" not in word and word not in GOALS]
        elif program == "build/bin/triptych":
            found += unknown_options(program, rest)
        elif re.fullmatch(r"build/bin/([a-z-]+/ixgbe-fwd|nic)", program):
            found += unknown_options(program, ["", *rest])
        elif program not in SYSTEM and not (ROOT / program).is_file():
            found.append(f"{program}: an unknown program")
    return found


def unknown_options(program: str, words: list[str]) -> list[str]:
    """Compare the options of a command with the program's help."""
    subcommand = [word for word in words[:1] if word]
    done = subprocess.run(
        [str(ROOT / program), *subcommand, "--help"], capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode != 0:
        return [f"{program} {' '.join(subcommand)}: {done.stderr.strip()}"]
    options = [word.split("=")[0] for word in words if word.startswith("--") and word != "--"]
    return [f"{program} {option}" for option in options if option not in done.stdout]
