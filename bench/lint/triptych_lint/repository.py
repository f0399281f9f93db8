"""The files of the repository and the rules for them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RULES = "bench/lint/rules.toml"


@dataclass(frozen=True)
class Repository:
    """A working copy: its folder, its files (relative to the folder) and its rules."""

    root: Path
    files: tuple[str, ...]
    rules: dict[str, Any]

    def read(self, file: str) -> str:
        """The text of `file`; empty if it is binary."""
        try:
            return (self.root / file).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return ""

    def checked_files(self, *suffixes: str) -> list[str]:
        """The files with one of these suffixes (by default all files), without the ignored files."""
        ignored = [re.compile(pattern) for pattern in self.rules["ignored"]]
        named = [file for file in self.files if not suffixes or file.endswith(suffixes)]
        return [file for file in named if not any(pattern.search(file) for pattern in ignored)]


def open_repository(root: Path) -> Repository:
    """The working copy in `root`, with all files that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    files = sorted({name for name in listed.split("\0") if name and (root / name).is_file()})
    return Repository(root, tuple(files), tomllib.loads((root / RULES).read_text(encoding="utf-8")))


def line_of(text: str, position: int) -> int:
    """The line of a position in a text, counted from 1."""
    return text.count("\n", 0, position) + 1


def blank(pattern: re.Pattern[str], text: str) -> str:
    """The text with spaces in place of what matches, but with all its lines."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
