"""Comparing the documents with the archived run, and updating them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any

from triptych_paper.errors import DataError
from triptych_paper.prose import blocks
from triptych_paper.prose.archive import ARCHIVE, Archive
from triptych_paper.prose.documents import ROOT, documents, replaced
from triptych_paper.prose.documents import blocks as blocks_of
from triptych_paper.prose.unheld import read_allowed, stale, unheld

CYCLES = re.compile(r"\d[\d.]*(?:\s+\([^)]*\))?\s+(?:times the |times as many |more |fewer )?(?:TSC |core )?cycles\b")
"""A figure of cycles, perhaps with its spread in parentheses."""


def update(root: Path = ROOT, archive: Path = ARCHIVE) -> list[str]:
    """Render all blocks again; return the names of the changed files."""
    changed = []
    for path in documents(root):
        text = path.read_text(encoding="utf-8")
        new = _named(path, root, partial(replaced, text, partial(blocks.render, archive=Archive(archive))))
        if new != text:
            try:
                path.write_text(new, encoding="utf-8")
            except OSError as error:
                raise DataError(f"cannot write {path}: {error.strerror}") from None
            changed.append(str(path.relative_to(root)))
    return changed


def problems(root: Path = ROOT, archive: Path = ARCHIVE) -> list[str]:
    """Return a line for each figure that differs from the archived run, has no source, or lacks its spread."""
    files, allowed = read_allowed()
    found = []
    texts = {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in documents(root)}
    for name, text in texts.items():
        render = partial(blocks.render, archive=Archive(archive))
        held = _named(root / name, root, partial(blocks_of, text))
        for block, content in held.items():
            if _named(root / name, root, partial(render, block)) != content:
                found.append(f"{name}: block {block} differs from the archived run: run `make figures`")
            # Published figures have neither a spread nor a machine of ours.
            measured = not block.startswith("published-")
            found += [f"{name}: block {block}: {line}" for line in bare_cycles(content) if measured]
        if not any(fnmatch(name, pattern) for pattern in files):
            found += map(str, unheld(name, text, allowed))
    found += [
        f"paper/prose/allowed.toml: {entry.file} does not contain “{entry.text}”" for entry in stale(texts, allowed)
    ]
    used = {block for text in texts.values() for block in blocks_of(text)}
    found += [f"paper/prose/{name}.md.j2: no document has this block" for name in blocks.names() if name not in used]
    return found


def bare_cycles(text: str) -> list[str]:
    """Return the figures of cycles without a spread beside them; all of them if the text names no machine."""
    found = [" ".join(match.group().split()) for match in CYCLES.finditer(text)]
    bare = [f"“{figure}” has no spread" for figure in found if "(" not in figure]
    if (found or "| TSC cycles |" in text) and not re.search(r"\d{4}-\d\d-\d\d[^.]*CPUs", text):
        bare.append("cycles stand here without the run and its machine")
    for line in text.splitlines():
        # Modelled cycles are equal in every run.
        measured = re.match(r"\| (TSC )?cycles \|", line) and "| modelled" not in line
        cells = line.split("|")[2:-1] if measured else []
        bare += [
            f"“{cell.strip()}” has no spread" for cell in cells if cell.strip().startswith("**") and " to " not in cell
        ]
    return bare


def _named(path: Path, root: Path, action: Callable[[], str | dict[str, str]]) -> Any:
    try:
        return action()
    except DataError as error:
        raise DataError(f"{path.relative_to(root)}: {error}") from None
