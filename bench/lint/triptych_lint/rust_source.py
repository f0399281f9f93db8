"""Splits Rust source into tokens and removes test code."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      (?P<line_comment>//[^\n]*)
    | (?P<block_comment>/\*)
    | (?P<raw_string>\b(?:r|br|cr)(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes))
    | (?P<string>\b[bc]?"(?:\\(?:.|\n)|[^"\\])*"|"(?:\\(?:.|\n)|[^"\\])*")
    | (?P<char>\bb?'(?:\\[^\n]+?|[^'\\\n])'|'(?:\\[^\n]+?|[^'\\\n])')
    | (?P<lifetime>'[A-Za-z_]\w*)
    | (?P<number>\b\d[\w.]*)
    | (?P<word>(?:r\#)?[A-Za-z_]\w*)
    | (?P<separator>::)
    | (?P<space>\s+)
    | (?P<other>.)
    """,
    re.VERBOSE,
)
_SKIPPED = {"line_comment", "space"}
_OPENING, _CLOSING = "([{", ")]}"
# Items that end at a semicolon even if they contain braces.
_ENDS_AT_SEMICOLON = {"use", "const", "static", "type", "let"}
_ITEM_WORDS = _ENDS_AT_SEMICOLON | {
    "fn", "mod", "struct", "enum", "union", "impl", "trait", "unsafe", "extern", "async", "macro_rules",
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    """One token: its kind (a group of `_TOKEN`), its text and its line, counted from 1."""

    kind: str
    text: str
    line: int


@dataclass
class RustSource:
    """The tokens of a file outside its test code, and the lines of the test code."""

    tokens: list[Token]
    test_lines: set[int] = field(default_factory=set)


def tokenize(text: str) -> list[Token]:
    """All tokens of `text` except comments and white space."""
    tokens = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:  # pragma: no cover, the last alternative matches every character
            raise ValueError(f"line {line}: cannot read {text[position : position + 20]!r}")
        kind = match.lastgroup or "other"
        if kind == "hashes":
            kind = "raw_string"
        end = _block_comment_end(text, position) if kind == "block_comment" else match.end()
        if kind not in _SKIPPED and kind != "block_comment":
            tokens.append(Token(kind, match.group(), line))
        line += text.count("\n", position, end)
        position = end
    return tokens


def _block_comment_end(text: str, start: int) -> int:
    depth, position = 0, start
    while position < len(text):
        if text.startswith("/*", position):
            depth, position = depth + 1, position + 2
        elif text.startswith("*/", position):
            depth, position = depth - 1, position + 2
            if depth == 0:
                return position
        else:
            position += 1
    return position


def read_source(text: str) -> RustSource:
    """The tokens of `text` without the items that only tests compile."""
    tokens = tokenize(text)
    kept: list[Token] = []
    test_lines: set[int] = set()
    index = 0
    while index < len(tokens):
        end = _attribute_end(tokens, index)
        if end is None:
            kept.append(tokens[index])
            index += 1
        elif _marks_test_code(tokens[index:end]):
            item_end = _item_end(tokens, end)
            last = tokens[min(item_end, len(tokens)) - 1].line
            test_lines.update(range(tokens[index].line, last + 1))
            index = item_end
        else:
            kept.extend(tokens[index:end])
            index = end
    return RustSource(kept, test_lines)


def _attribute_end(tokens: list[Token], index: int) -> int | None:
    """The index behind the attribute `#[…]` that starts at `index`, or None without an attribute."""
    if tokens[index].text != "#" or index + 1 >= len(tokens) or tokens[index + 1].text != "[":
        return None
    return matching_end(tokens, index + 1)


def matching_end(tokens: list[Token], index: int) -> int:
    """The index behind the bracket that closes the one at `index`."""
    depth = 0
    for position in range(index, len(tokens)):
        text = tokens[position].text
        if text in _OPENING:
            depth += 1
        elif text in _CLOSING:
            depth -= 1
            if depth == 0:
                return position + 1
    return len(tokens)


def _marks_test_code(attribute: list[Token]) -> bool:
    text = "".join(token.text for token in attribute)
    return text in ("#[test]", "#[cfg(test)]") or text.startswith(("#[cfg(all(test,", "#[cfg(any(test,"))


def _item_end(tokens: list[Token], index: int) -> int:
    """The index behind the item, field, variant or statement at `index`. More attributes may precede it."""
    while index < len(tokens) and (end := _attribute_end(tokens, index)) is not None:
        index = end
    words = {token.text for token in tokens[index : index + 5] if token.kind == "word"}
    is_item = bool(words & _ITEM_WORDS)
    ends_at_semicolon = bool(words & _ENDS_AT_SEMICOLON) and "fn" not in words
    while index < len(tokens):
        text = tokens[index].text
        if text == ";" or (text == "," and not is_item):
            return index + 1
        if text in _CLOSING:
            return index
        if text in _OPENING:
            index = matching_end(tokens, index)
            if text == "{" and not ends_at_semicolon:
                return index
        else:
            index += 1
    return index
