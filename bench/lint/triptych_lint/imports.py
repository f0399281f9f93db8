"""Imports between the files of C programs and Python packages, and the circles in any imports."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from triptych_lint.repository import blank, line_of

# For each file, the files that it imports, with the first line that imports each.
Imports = dict[str, dict[str, int]]

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# A definition starts in the first column. Calls and declarations end with `;`, definitions with `{`.
_DEFINITION = re.compile(
    r"^(?!static|typedef|struct\s+\w+\s*\{|#)[A-Za-z_][\w\s*()]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)
_IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def add(imports: Imports, source: str, target: str | None, line: int) -> None:
    """Records that `source` imports `target` in `line`. Imports within one file do not count."""
    if target is not None and source != target:
        lines = imports.setdefault(source, {})
        lines[target] = min(line, lines.get(target, line))


def circle(imports: Imports) -> str | None:
    """A circle of imports, such as `a.rs:3 -> b.rs:7 -> a.rs`, if there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        files = error.args[1][::-1]
        return " -> ".join([*(f"{file}:{imports[file][to]}" for file, to in pairwise(files)), files[-1]])
    return None


def c_imports(folder: Path, base: Path) -> Imports:
    """A C file imports the headers that it includes, and a `.c` file also those `.c` files whose functions it calls."""
    texts = {str(file.relative_to(base)): file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.[ch]"))}
    bare = {file: blank(_IGNORED, text) for file, text in texts.items() if file.endswith(".c")}
    definers = {found[1]: file for file, text in bare.items() for found in _DEFINITION.finditer(text)}
    imports: Imports = {}
    for file, text in texts.items():
        for found in _INCLUDE.finditer(text):
            headers = [str((place / found[1]).relative_to(base)) for place in ((base / file).parent, folder)]
            add(imports, file, next(filter(texts.__contains__, headers), None), line_of(text, found.start()))
    for file, text in bare.items():
        for found in re.finditer(r"\b[A-Za-z_]\w*\b", text):
            if found[0] in definers:
                add(imports, file, definers[found[0]], line_of(text, found.start()))
    return imports


def python_imports(package: Path, base: Path) -> Imports:
    """The imports between the modules of a package, which all have absolute names, including those inside functions."""
    names = {file: file.relative_to(package.parent).with_suffix("") for file in sorted(package.rglob("*.py"))}
    files = {".".join(name.parts).removesuffix(".__init__"): file for file, name in names.items()}
    imports: Imports = {}
    for file in names:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            within = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for name in (within + alias.name for alias in node.names):
                if target := files.get(name) or files.get(name.rpartition(".")[0]):
                    add(imports, str(file.relative_to(base)), str(target.relative_to(base)), node.lineno)
    return imports
