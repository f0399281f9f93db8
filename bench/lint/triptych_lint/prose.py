"""Checks the English for words that the project avoids and for long sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triptych_lint.repository import Repository, blank, line_of

_NO_PROSE = re.compile(r"^( *)(```|~~~).*?^ *\2[^\n]*$|<[a-zA-Z!/][^<>]*>|^[ ]*[#|][^\n]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)")
# A sentence ends at a point, at an empty line, and before the next item of a list.
_END = re.compile(r"(?<=[.!?])(?<!\n\d\.)[)\"'*_]*\s+|\n[ ]*\n\s*|\n\s*(?=(?:[-*+>]|\d+[.)])\s)")
_MARKER = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")


def word_problems(repository: Repository) -> list[str]:
    """A line for each word that the project avoids, in texts and in file names."""
    rules = repository.rules["prose"]
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(rules['words'])})(?![A-Za-z])".replace(" ", r"\s+"), re.IGNORECASE)
    found = []
    for file in repository.checked_files():
        if file in rules["may_name_words"]:
            continue
        if match := pattern.search(file):
            found.append(f"{file}: the file name contains `{match.group()}`: choose another word")
        text = repository.read(file)
        for match in pattern.finditer(text):
            word = re.sub(r"\s+", " ", match.group())
            line = line_of(text, match.start())
            found.append(f"{file}:{line}: `{word}` is a word that the project avoids: choose another one")
    return found


def sentence_problems(repository: Repository) -> list[str]:
    """A line for each sentence of Markdown that is too long."""
    limit = repository.rules["prose"]["sentence_words"]
    found = []
    for file in repository.checked_files(".md"):
        for line, sentence in sentences(repository.read(file)):
            words = [word for word in sentence.split() if re.search(r"[^\W_]", word)]
            if len(words) > limit:
                start = " ".join(sentence.split()[:8])
                found.append(f"{file}:{line}: a sentence of {len(words)} words, at most {limit}: {start} …")
    return found


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of Markdown, each with its first line. Code blocks, tables and headings do not count."""
    text = _LINK.sub(lambda link: link[1], blank(_NO_PROSE, text))
    start = 0
    for end in [*_END.finditer(text), None]:
        part = text[start : end.start() if end else len(text)]
        sentence = " ".join(_MARKER.sub("", part).split())
        if sentence:
            yield line_of(text, start + len(part) - len(part.lstrip())), sentence
        start = end.end() if end else len(text)
