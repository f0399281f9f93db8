"""Checks the English for words that the project avoids."""

from __future__ import annotations

import re

from triptych_lint.repository import Repository, line_of


def problems(repository: Repository) -> list[str]:
    """A line for each word that the project avoids, in texts and in file names."""
    words = "|".join(repository.rules["prose"]["words"])
    pattern = re.compile(rf"(?<![A-Za-z])({words})(?![A-Za-z])".replace(" ", r"\s+"), re.IGNORECASE)
    found = []
    for file in repository.checked_files():
        if match := pattern.search(file):
            found.append(f"{file}: the file name contains `{match.group()}`: choose another word")
        text = repository.read(file)
        for match in pattern.finditer(text):
            word = re.sub(r"\s+", " ", match.group())
            line = line_of(text, match.start())
            found.append(f"{file}:{line}: `{word}` is a word that the project avoids: choose another one")
    return found
