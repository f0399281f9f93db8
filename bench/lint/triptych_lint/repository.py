"""The files of the repository and the rules for them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
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

    def read(self, file: str) -> str | None:
        """The text of `file`, or None if it is binary."""
        try:
            return (self.root / file).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return None

    def checked_files(self, *suffixes: str) -> list[str]:
        """The files with one of these suffixes (by default all files), without the ignored files."""
        patterns = self.rules["ignored"]
        return [
            file
            for file in self.files
            if (not suffixes or file.endswith(suffixes)) and not any(matches(file, pattern) for pattern in patterns)
        ]


def open_repository(root: Path) -> Repository:
    """The working copy in `root`, with all files that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    files = sorted({name for name in listed.split("\0") if name and (root / name).is_file()})
    rules = tomllib.loads((root / RULES).read_text(encoding="utf-8"))
    return Repository(root, tuple(files), rules)


def matches(file: str, pattern: str) -> bool:
    """Does `pattern` match the whole path `file`? At either end, `**` stands for any number of folders."""
    if pattern.startswith("**/") and pattern.endswith("/**"):
        return pattern[3:-3] in PurePosixPath(file).parts[:-1]
    if pattern.endswith("/**"):
        return file.startswith(pattern[:-2])
    if pattern.startswith("**/"):
        return PurePosixPath(file).name == pattern[3:]
    return file == pattern
