"""Finding figures in prose that no generated block holds."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from triptych_paper.errors import DataError
from triptych_paper.prose.documents import without_blocks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ALLOWED = Path(__file__).parents[2] / "prose" / "allowed.toml"

NUMBER = r"[−+±-]?\d[\d,]*(?:\.\d+)?"
UNIT = (
    r"(?:(?:more|fewer|other|TSC|core|extra)\s+)?"
    r"(?:cycles?|instructions?|loads|stores|branches|mispredicts|lines of code|Mpps|ns|claims|million packets)\b"
    r"|%|×|times\s+(?:as|the|faster|slower|more)\b"
)
FIGURE = re.compile(rf"(?<![\w.])(?:{NUMBER}(?:\s+(?:to|and|or)\s+{NUMBER})?)[\s*]*(?:{UNIT})|\bIPC of {NUMBER}")
CODE = re.compile(r"(?ms)^ *```.*?^ *```|`[^`\n]*`")


@dataclass(frozen=True)
class Allowed:
    """A figure that no archived run can hold."""

    file: str
    text: str
    """Words of the document around the figure, on one line."""
    why: str


@dataclass(frozen=True)
class Unheld:
    """A figure outside of the generated blocks."""

    file: str
    line: int
    figure: str

    def __str__(self) -> str:
        """Name the place and the fix."""
        return (
            f"{self.file}:{self.line}: the figure “{self.figure}” has no source: put it into a template of "
            "paper/prose/, or list it in paper/prose/allowed.toml with the reason"
        )


def read_allowed(path: Path = ALLOWED) -> tuple[dict[str, str], list[Allowed]]:
    """Read the files that are not searched, with the reasons, and the allowed figures."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        allowed = [
            Allowed(entry["file"], text, entry["why"]) for entry in document["figure"] for text in entry["texts"]
        ]
        files = {str(name): str(why) for name, why in document["files"].items()}
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
    if not all(entry.why.strip() for entry in allowed) or not all(files.values()):
        raise DataError(f"{path}: an entry has no reason")
    return files, allowed


def unheld(file: str, text: str, allowed: Sequence[Allowed]) -> list[Unheld]:
    """Return the figures of a document that neither a block nor an entry holds."""
    prose = CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), without_blocks(text))
    # Allowed texts become blank, so that a figure beside them is still found.
    for entry in (entry for entry in allowed if entry.file == file):
        prose = prose.replace(entry.text, " " * len(entry.text))
    return [
        Unheld(file, prose[: match.start()].count("\n") + 1, " ".join(match.group().split()))
        for match in FIGURE.finditer(prose)
    ]


def stale(texts: dict[str, str], allowed: Sequence[Allowed]) -> list[Allowed]:
    """Return the entries whose text no longer occurs in their file."""
    return [entry for entry in allowed if entry.text not in texts.get(entry.file, "")]
