"""Finds the imports between the modules of a Rust crate, outside of test code, by the layout that rustfmt gives.

A file imports the file that defines an item: a name that another file imports or re-exports leads there. `pub use`
itself is no import.
"""

from __future__ import annotations

import re
from pathlib import Path

from triptych_lint.imports import Imports, add
from triptych_lint.repository import blank, line_of

_IGNORED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\b[bc]?r(#*)".*?"\1|\b[bc]"(?:\\.|[^"\\])*"|"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]+?|[^'\\\n])'""",
    re.DOTALL,
)
# From the attribute to the first line of the same indentation that ends an item, field or statement.
_TEST = re.compile(
    r"^( *)#\[(?:test\]|cfg\((?:test|all\(test|any\(test)\b).*(?:\n.*)*?\n\1(?! ).*[;},] *$", re.MULTILINE
)
_USE = re.compile(r"(\bpub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
_GROUP = re.compile(r"([\w:]+)::\{([^{}]*)\}")
_DECLARED = re.compile(r"\bmod\s+(\w+)\s*;")
_PATH = re.compile(r"(?<![\w:])[a-z_]\w*(?:::[A-Za-z_]\w*)+")

Names = tuple[str, ...]


def test_lines(text: str) -> int:
    """The number of lines that only tests compile."""
    return sum(found[0].count("\n") + 1 for found in _TEST.finditer(blank(_IGNORED, text)))


def _expanded(tree: str) -> list[tuple[Names, str]]:
    """The paths in the tree of a `use` item, each with its name here: `a::{b, c::{self, D as E}}`."""
    while found := _GROUP.search(tree):
        parts = [f"{found[1]}::{part.strip()}" for part in found[2].split(",") if part.strip()]
        tree = tree[: found.start()] + ", ".join(parts) + tree[found.end() :]
    named = [part.strip().removesuffix("::self").partition(" as ") for part in tree.split(",")]
    return [(tuple(path.split("::")), new or path.rpartition("::")[2]) for path, _, new in named]


class Crate:
    """The modules of a crate, by their paths."""

    def __init__(self, root: Path, base: Path) -> None:
        """Reads the crate of a root file. The imports name files relative to `base`."""
        self.base = base
        self.modules: dict[Names, tuple[str, str]] = {}
        self.names: dict[Names, Names] = {}
        self._read(root, ())
        self.known = self.modules.keys() | self.names.keys()

    def _read(self, file: Path, module: Names) -> None:
        """Reads a module and those that it declares. What only tests compile is not declared."""
        text = blank(_TEST, blank(_IGNORED, file.read_text(encoding="utf-8")))
        self.modules[module] = str(file.relative_to(self.base)), text
        self.names |= {(*module, name): path for use in _USE.finditer(text) for path, name in _expanded(use[2])}
        folder = file.parent if file.stem in ("lib", "main", "mod") or not module else file.with_suffix("")
        for name in _DECLARED.findall(text):
            for place in filter(Path.is_file, (folder / f"{name}.rs", folder / name / "mod.rs")):
                self._read(place, (*module, name))

    def imports(self) -> Imports:
        """The imports between the files."""
        imports: Imports = {}
        for module, (file, text) in self.modules.items():
            found = [(path, use.start()) for use in _USE.finditer(text) if not use[1] for path, _ in _expanded(use[2])]
            found += [(tuple(one[0].split("::")), one.start()) for one in _PATH.finditer(blank(_USE, text))]
            for path, position in found:
                add(imports, file, self._definer(module, path), line_of(text, position))
        return imports

    def _definer(self, module: Names, path: Names, depth: int = 0) -> str | None:
        """The file that defines an item, as a path in a module names it; None if it is of another crate."""
        if path[0] == "crate":
            module = ()
        elif path[0] not in ("self", "super") and (*module, path[0]) not in self.known:
            return None
        for index, name in enumerate(path):
            if name == "super":
                module = module[:-1]
            elif (*module, name) in self.modules:
                module = (*module, name)
            elif name not in ("crate", "self"):
                used = self.names.get((*module, name))
                if used is None or depth > 9:
                    break
                found = self._definer(module, (*used, *path[index + 1 :]), depth + 1)
                return found or self.modules[module][0]
        return self.modules[module][0]


def crate_roots(folder: Path) -> list[Path]:
    """The root files of the library and the programs of the package in `folder`."""
    source = folder / "src"
    roots = [source / "lib.rs", source / "main.rs", *source.glob("bin/*.rs"), *source.glob("bin/*/main.rs")]
    return sorted(root for root in roots if root.is_file())
