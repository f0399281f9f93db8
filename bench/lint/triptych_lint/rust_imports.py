"""Finds the imports between the modules of a Rust crate, outside of test code.

A file imports the file that defines an item: a re-export leads there, and `pub use` itself is no import.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from triptych_lint.graph import ImportGraph
from triptych_lint.repository import blank, line_of

_IGNORED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\b[bc]?r(#*)".*?"\1|\b[bc]"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]+?|[^'\\\n])'""",
    re.DOTALL,
)
_TEST = re.compile(r"#\[(?:test\]|cfg\((?:test|all\(test|any\(test)\b[^\]]*\])")
_SEMICOLON = re.compile(r"\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:use|const|static|type|let)\b")
_ITEM = re.compile(r"\b(?:fn|mod|struct|enum|union|impl|trait|unsafe|extern|async|macro_rules|use|const|static|type)\b")
_USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
_DECLARED = re.compile(r"\bmod\s+(\w+)\s*;")
_PATH = re.compile(r"(?<![\w:])[a-z_]\w*(?:::[A-Za-z_]\w*)+")

ModulePath = tuple[str, ...]


def without_tests(text: str) -> str:
    """The text without comments, strings and what only tests compile, but with all its lines up to there."""
    text = blank(_IGNORED, text)
    while found := _TEST.search(text):
        end = _item_end(text, found.end())
        text = text[: found.start()] + "\n" * text.count("\n", found.start(), end) + text[end:]
    return text


def test_lines(text: str) -> int:
    """The number of lines that only tests compile."""
    text, lines = blank(_IGNORED, text), 0
    while found := _TEST.search(text):
        end = _item_end(text, found.end())
        lines += text.count("\n", found.start(), end) + 1
        text = text[: found.start()] + text[end:]
    return lines


def _item_end(text: str, start: int) -> int:
    """The end of the item, field, variant or statement behind an attribute."""
    at_semicolon = _SEMICOLON.match(text, start) is not None
    is_item = _ITEM.search(text, start, start + 60) is not None
    depth = 0
    for place in range(start, len(text)):
        letter = text[place]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                return place
            if depth == 0 and letter == "}" and not at_semicolon:
                return place + 1
        elif depth == 0 and (letter == ";" or (letter == "," and not is_item)):
            return place + 1
    return len(text)


@dataclass
class Module:
    """A file of a crate."""

    file: Path
    text: str
    exports: dict[str, ModulePath] = field(default_factory=dict)
    """What it re-exports, by name."""
    uses: dict[str, ModulePath] = field(default_factory=dict)
    """What it imports for itself, by name."""
    globs: list[ModulePath] = field(default_factory=list)

    def defines(self, name: str) -> bool:
        """Is the item in this file?"""
        kinds = r"fn|struct|enum|union|trait|type|const|static|mod|macro_rules!"
        return re.search(rf"\b(?:{kinds})\s+(?:mut\s+)?{re.escape(name)}\b", self.text) is not None


class Crate:
    """The modules of a crate, by their paths."""

    def __init__(self, root: Path, base: Path) -> None:
        """Reads the crate of a root file. The graph names files relative to `base`."""
        self.root, self.base = root, base
        self.modules: dict[ModulePath, Module] = {}
        self._read(root, ())

    def _read(self, file: Path, path: ModulePath) -> None:
        """Reads a module and those that it declares. What only tests compile is not declared."""
        module = self.modules[path] = Module(file, without_tests(file.read_text(encoding="utf-8")))
        for public, names in _USE.findall(module.text):
            for used, name in _expanded(names):
                if name != "*":
                    (module.exports if public else module.uses)[name] = used
                elif public:
                    module.globs.append(used[:-1])
        folder = file.parent if file.stem in ("lib", "main", "mod") or not path else file.with_suffix("")
        for name in _DECLARED.findall(module.text):
            places = (folder / f"{name}.rs", folder / name / "mod.rs")
            for place in (place for place in places if place.is_file()):
                self._read(place, (*path, name))

    def graph(self) -> ImportGraph:
        """The imports between the files."""
        graph = ImportGraph(str(self.root.relative_to(self.base)))
        for path, module in self.modules.items():
            found = [
                (used, use.start()) for use in _USE.finditer(module.text) if not use[1] for used, _ in _expanded(use[2])
            ]
            paths = _PATH.finditer(blank(_USE, module.text))
            found += [(tuple(one.group().split("::")), one.start()) for one in paths]
            for segments, position in found:
                if (target := self._resolve(path, segments)) is not None:
                    names = [str(file.relative_to(self.base)) for file in (module.file, target.file)]
                    graph.add(names[0], names[1], line_of(module.text, position))
        return graph

    def _resolve(self, position: ModulePath, path: ModulePath, depth: int = 0) -> Module | None:
        """The module that defines an item, as a path in another module names it; None if it is of another crate."""
        rest = list(path)
        if rest[0] == "crate":
            position = ()
        elif rest[0] not in ("self", "super") and (*position, rest[0]) not in self.modules:
            used = self.modules[position].uses.get(rest[0])
            return self._resolve(position, (*used, *rest[1:]), depth + 1) if used and depth < 9 else None
        while rest and rest[0] in ("crate", "self", "super"):
            position = position[:-1] if rest.pop(0) == "super" else position
        for index, name in enumerate(rest):
            module = self.modules.get(position)
            if (*position, name) in self.modules:
                position = (*position, name)
            elif module is None or depth > 9 or name == "*":
                return module
            elif name in module.exports:
                return self._resolve(position, (*module.exports[name], *rest[index + 1 :]), depth + 1) or module
            else:
                sources = [self._resolve(position, (*glob, name), depth + 1) for glob in module.globs]
                defining = (source for source in sources if source is not None and source.defines(name))
                return module if module.defines(name) else next(defining, module)
        return self.modules.get(position)


def _expanded(tree: str, prefix: ModulePath = ()) -> list[tuple[ModulePath, str]]:
    """The paths in the tree of a `use` item, each with its name here: `a::{b, c::{self, D as E}}`."""
    head, brace, rest = tree.strip().partition("{")
    old, _, new = head.partition(" as ")
    path = (*prefix, *(name.strip() for name in old.split("::") if name.strip()))
    if not brace:
        path = path[:-1] if path[-1] == "self" and len(path) > 1 else path
        return [(path, new.strip() or path[-1])]
    parts, depth = [""], 0
    for letter in rest[: rest.rindex("}")]:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [one for part in parts if part.strip() for one in _expanded(part, path)]


def crate_roots(folder: Path) -> list[Path]:
    """The root files of the library and the programs of the package in `folder`."""
    source = folder / "src"
    roots = [source / "lib.rs", source / "main.rs", *source.glob("bin/*.rs"), *source.glob("bin/*/main.rs")]
    return sorted(root for root in roots if root.is_file())
