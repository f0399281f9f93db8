"""The shell blocks of a Markdown page, and the commands in them."""

import re
import shlex
import subprocess
from dataclasses import dataclass
from functools import cache

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


@cache
def helped(program: str, subcommand: str = "") -> str:
    """The help of a program; empty without such a subcommand."""
    command = [str(ROOT / program), *([subcommand] if subcommand else []), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return "" if done.returncode else done.stdout


def problems(command: str) -> list[str]:
    """Say which goals, programs, subcommands and options of a command do not exist."""
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
        elif re.fullmatch(r"build/bin/(triptych|nic|[a-z-]+/ixgbe-fwd)", program):
            said = helped(program, rest[0] if program.endswith("triptych") else "")
            options = [word.split("=")[0] for word in rest if word.startswith("--") and word != "--"]
            found += [f"{program} {option}" for option in options if option not in said]
            found += [] if said else [f"{program} {rest[0]}"]
        elif program not in SYSTEM and not (ROOT / program).is_file():
            found.append(f"{program}: an unknown program")
    return found
