"""Checks the lengths of source files and functions, without test code."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from triptych_lint.repository import Repository
from triptych_lint.rust_source import Token, matching_end, read_source, tokenize

_PREPROCESSOR = re.compile(r"^#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
SUFFIXES = (".rs", ".c", ".h", ".py", ".sh", ".lua")


def problems(repository: Repository) -> list[str]:
    """A line for each file and each function that is too long."""
    rules = repository.rules["sizes"]
    found = []
    for file in repository.checked_files(*SUFFIXES):
        path = PurePosixPath(file)
        if path.name in rules["test_files"] or set(path.parts[:-1]) & set(rules["test_folders"]):
            continue
        text = repository.read(file) or ""
        lines = file_lines(file, text)
        if lines > rules["file_lines"]:
            found.append(f"{file}: {lines} lines without tests, at most {rules['file_lines']}: split the file")
        for name, line, length in functions(file, text):
            if length > rules["function_lines"] and f"{file}:{name}" not in rules["long_functions"]:
                limit = rules["function_lines"]
                found.append(f"{file}:{line}: `{name}` has {length} lines, at most {limit}: split the function")
    return found


def file_lines(file: str, text: str) -> int:
    """The number of lines of `text` outside test code."""
    lines = len(text.splitlines())
    return lines - len(read_source(text).test_lines) if file.endswith(".rs") else lines


def functions(file: str, text: str) -> list[tuple[str, int, int]]:
    """The name, first line and number of lines of each function outside test code."""
    if file.endswith(".rs"):
        return _rust_functions(read_source(text).tokens)
    if file.endswith((".c", ".h")):
        return _c_functions(text)
    if file.endswith(".py"):
        return [
            (node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
    return []


def _rust_functions(tokens: list[Token]) -> list[tuple[str, int, int]]:
    found = []
    for index, token in enumerate(tokens[:-1]):
        if token.text == "fn" and tokens[index + 1].kind == "word":
            body = index + 2
            while body < len(tokens) and tokens[body].text not in "{;":
                body = matching_end(tokens, body) if tokens[body].text in "([" else body + 1
            if body < len(tokens) and tokens[body].text == "{":
                last = tokens[matching_end(tokens, body) - 1].line
                found.append((tokens[index + 1].text, token.line, last - token.line + 1))
    return found


def _c_functions(text: str) -> list[tuple[str, int, int]]:
    """Finds each `name(…) {` outside all brackets, and ignores preprocessor lines."""
    bare = _PREPROCESSOR.sub(lambda match: "\n" * match.group().count("\n"), text)
    tokens = tokenize(bare)
    found = []
    index = 0
    while index < len(tokens):
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if tokens[index].kind == "word" and following == "(":
            after = matching_end(tokens, index + 1)
            if after < len(tokens) and tokens[after].text == "{":
                end = matching_end(tokens, after)
                line = tokens[index].line
                found.append((tokens[index].text, line, tokens[end - 1].line - line + 1))
                index = end
                continue
            index = after
        elif tokens[index].text in "([{":
            index = matching_end(tokens, index)
        else:
            index += 1
    return found
