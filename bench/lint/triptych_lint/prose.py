"""Checks the English for words that the project avoids and for long sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triptych_lint.repository import Repository, matches

_CODE_BLOCK = re.compile(r"^( *)(```|~~~).*?^ *\2[^\n]*$", re.MULTILINE | re.DOTALL)
_HTML_BLOCK = re.compile(r"<[a-zA-Z!/][^<>]*>")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)")
_NEW_BLOCK = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|>|#|\||$)")
_MARKER = re.compile(r"^(?:[-*+>]|\d+[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+")
_WORD = re.compile(r"[^\W_]")


def word_problems(repository: Repository) -> list[str]:
    """A line for each word that the project avoids, in texts and in file names."""
    rules = repository.rules["prose"]
    pattern = re.compile(rf"(?<![A-Za-z])({'|'.join(rules['words'])})(?![A-Za-z])".replace(" ", r"\s+"), re.IGNORECASE)
    found = []
    for file in repository.checked_files():
        if any(matches(file, exception) for exception in rules["may_name_words"]):
            continue
        if match := pattern.search(file):
            found.append(f"{file}: the file name contains `{match.group()}`: choose another word")
        text = repository.read(file) or ""
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            word = re.sub(r"\s+", " ", match.group())
            found.append(f"{file}:{line}: `{word}` is a word that the project avoids: choose another one")
    return found


def sentence_problems(repository: Repository) -> list[str]:
    """A line for each sentence of Markdown that is longer than the limit of the check."""
    return _long_sentences(repository, repository.rules["prose"]["words_failed"])


def sentence_reports(repository: Repository) -> list[str]:
    """A line for each sentence of Markdown that is longer than the style guide allows."""
    return _long_sentences(repository, repository.rules["prose"]["words_reported"])


def _long_sentences(repository: Repository, limit: int) -> list[str]:
    found = []
    for file in repository.checked_files(".md"):
        for line, sentence in sentences(repository.read(file) or ""):
            words = sum(1 for word in sentence.split() if _WORD.search(word))
            if words > limit:
                start = " ".join(sentence.split()[:8])
                found.append(f"{file}:{line}: a sentence of {words} words, at most {limit}: {start} …")
    return found


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of Markdown, each with its first line. Code blocks, tables and headings do not count."""
    text = _CODE_BLOCK.sub(lambda match: "\n" * match.group().count("\n"), text)
    text = _HTML_BLOCK.sub(lambda match: "\n" * match.group().count("\n"), text)
    text = _LINK.sub(lambda match: match.group(1), text)
    block: list[str] = []
    start = 1
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if _NEW_BLOCK.match(line):
            yield from _split(" ".join(block), start)
            block = []
            stripped = line.strip()
            if not stripped or stripped.startswith(("#", "|")):
                continue
            start = number
        if not block:
            start = number
        block.append(_MARKER.sub("", line.strip()))


def _split(block: str, line: int) -> Iterator[tuple[int, str]]:
    for sentence in _SENTENCE_END.split(block):
        if sentence:
            yield line, sentence
