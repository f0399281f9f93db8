"""Finds the imports between the files of the C driver.

A file imports the headers that it includes. A `.c` file also imports each other `.c` file whose functions it calls. A
header is an interface, so it does not stand for the `.c` file of the same name.
"""

from __future__ import annotations

import re
from pathlib import Path

from triptych_lint.graph import ImportGraph
from triptych_lint.repository import blank, line_of

_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
# A definition starts in the first column. Calls and declarations end with `;`, definitions with `{`.
_DEFINITION = re.compile(
    r"^(?!static|typedef|struct\s+\w+\s*\{|#)[A-Za-z_][\w\s*()]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)
_IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def c_graph(folder: Path, base: Path) -> ImportGraph:
    """The imports between the C sources in `folder`."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.[ch]"))}
    bare = {file: blank(_IGNORED, text) for file, text in texts.items()}
    definers = {}
    for file, text in bare.items():
        if file.suffix == ".c":
            definers.update({match.group(1): file for match in _DEFINITION.finditer(text)})
    graph = ImportGraph(str(folder.relative_to(base)))
    name = {file: str(file.relative_to(base)) for file in texts}
    for file, text in texts.items():
        for match in _INCLUDE.finditer(text):
            for header in (file.parent / match.group(1), folder / match.group(1)):
                if header in texts:
                    graph.add(name[file], name[header], line_of(text, match.start()))
                    break
        for match in re.finditer(r"\b[A-Za-z_]\w*\b", bare[file]):
            definer = definers.get(match.group())
            if definer is not None and file.suffix == ".c":
                graph.add(name[file], name[definer], line_of(bare[file], match.start()))
    return graph
