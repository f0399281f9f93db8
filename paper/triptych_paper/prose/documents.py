"""Markdown documents with generated blocks between markers.

::

    <!-- figures: readme-table -->
    this text is generated
    <!-- /figures -->
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from triptych_paper.errors import DataError

ROOT = Path(__file__).parents[3]

BLOCK = re.compile(r"(?ms)^<!-- figures: (?P<name>[a-z0-9-]+) -->\n(?P<text>.*?)^<!-- /figures -->$")
MARKER = re.compile(r"(?m)^.*<!-- /?figures.*$")
CODE = re.compile(r"`[^`\n]*`")


def documents(root: Path = ROOT) -> list[Path]:
    """Return all Markdown files of the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    if listed.returncode:
        raise DataError(f"cannot list the documents: {listed.stderr.strip()}")
    return [root / name for name in sorted(filter(None, listed.stdout.split("\0"))) if (root / name).is_file()]


def blocks(text: str) -> dict[str, str]:
    """Return the generated blocks of a document by name; :class:`DataError` if a marker has no partner."""
    found = {match["name"]: match["text"].rstrip("\n") for match in BLOCK.finditer(text)}
    count = len(MARKER.findall(CODE.sub("", text)))
    if count != 2 * len(found):
        raise DataError(f"{count} markers of figures make {len(found)} blocks: each needs a line of its own and an end")
    return found


def replaced(text: str, render: Callable[[str], str]) -> str:
    """Return a document with every block rendered again."""
    blocks(text)
    return BLOCK.sub(
        lambda match: f"<!-- figures: {match['name']} -->\n{render(match['name'])}\n<!-- /figures -->", text
    )


def without_blocks(text: str) -> str:
    """Return a document with empty blocks, and with as many lines."""
    return BLOCK.sub(lambda match: "\n" * match.group().count("\n"), text)
