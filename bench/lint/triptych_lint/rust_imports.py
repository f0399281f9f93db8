"""Finds the imports between the files of a Rust crate.

A file imports another file with `use` or with a path (`crate::a::b`, `super::c`, `child::d`), also inside macros. The
path counts as an import of the file that defines the item, even if it goes through a re-export. Neither `mod x;` nor
the re-export of a child's item (`pub use x::Item`) counts as an import, unless the parent itself uses the item. The
check ignores method calls, because an `impl` block may be in any file that imports the type.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from triptych_lint.graph import ImportGraph
from triptych_lint.rust_source import Token, matching_end, read_source

ModulePath = tuple[str, ...]
_DEFINING = {"struct", "enum", "union", "fn", "const", "static", "type", "trait", "macro_rules"}


@dataclass(frozen=True)
class Use:
    """One name that a `use` item imports. A glob has the name `*`."""

    name: str
    path: tuple[str, ...]
    line: int
    public: bool


@dataclass
class Module:
    """A module of a crate, inline or in its own file."""

    path: ModulePath
    file: str
    defined: set[str] = field(default_factory=set)
    uses: list[Use] = field(default_factory=list)
    paths: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    words: set[str] = field(default_factory=set)


class Crate:
    """All modules of one crate."""

    def __init__(self, root: Path, base: Path) -> None:
        """Reads the crate with the root file `root`. Results name files relative to `base`."""
        self.base = base
        self.root = root
        self.modules: dict[ModulePath, Module] = {}
        self._read_file(root, (), root.parent)

    def graph(self) -> ImportGraph:
        """The imports between the crate's files."""
        graph = ImportGraph(str(self.root.relative_to(self.base)))
        for module in self.modules.values():
            for use in module.uses:
                target = self._resolve(module, use.path)
                if target is not None and not self._is_facade(module, use, target):
                    graph.add(module.file, target.file, use.line)
            for path, line in module.paths:
                target = self._resolve(module, path)
                if target is not None:
                    graph.add(module.file, target.file, line)
        return graph

    def _is_facade(self, module: Module, use: Use, target: Module) -> bool:
        """Does this only re-export an item of a descendant, without a use in the module itself?"""
        below = len(target.path) > len(module.path) and target.path[: len(module.path)] == module.path
        return use.public and below and use.name not in module.words

    def _read_file(self, file: Path, path: ModulePath, folder: Path) -> None:
        source = read_source(file.read_text(encoding="utf-8"))
        self._read_module(source.tokens, path, str(file.relative_to(self.base)), file.parent, folder)

    def _read_module(self, tokens: list[Token], path: ModulePath, file: str, here: Path, folder: Path) -> None:
        module = self.modules[path] = Module(path, file)
        index = 0
        path_attribute: str | None = None
        public = False
        while index < len(tokens):
            token = tokens[index]
            following = tokens[index + 1].text if index + 1 < len(tokens) else ""
            if token.text == "#" and following == "[":
                end = matching_end(tokens, index + 1)
                attribute = tokens[index + 2 : end - 1]
                if len(attribute) == 3 and attribute[0].text == "path":
                    path_attribute = attribute[2].text.strip('"')
                index = end
            elif token.text == "pub":
                public = True
                index = matching_end(tokens, index + 1) if following == "(" else index + 1
            elif token.text == "mod" and index + 2 < len(tokens) and tokens[index + 2].text in (";", "{"):
                index = self._read_child(tokens, index, module, here, folder, path_attribute)
                path_attribute, public = None, False
            elif token.text == "use" and token.kind == "word" and following != "<":
                end = _statement_end(tokens, index)
                module.uses.extend(_uses(tokens[index + 1 : end], public))
                index, public = end + 1, False
            else:
                index = self._read_other(tokens, index, module)
                public = public and token.text in ("unsafe", "const", "async", "extern")

    def _read_child(
        self, tokens: list[Token], index: int, module: Module, here: Path, folder: Path, path_attribute: str | None
    ) -> int:
        name, what = tokens[index + 1].text, tokens[index + 2].text
        path = (*module.path, name)
        if what == "{":
            end = matching_end(tokens, index + 2)
            self._read_module(tokens[index + 3 : end - 1], path, module.file, here, folder / name)
            return end
        candidates = [folder / f"{name}.rs", folder / name / "mod.rs"]
        if path_attribute is not None:
            candidates = [here / path_attribute]
        for file in candidates:
            if file.is_file() and path not in self.modules:
                self._read_file(file, path, file.parent if file.name == "mod.rs" else file.with_suffix(""))
        return index + 3

    @staticmethod
    def _read_other(tokens: list[Token], index: int, module: Module) -> int:
        token = tokens[index]
        if token.kind != "word":
            return index + 1
        if token.text in _DEFINING:
            name = index + 2 if token.text == "macro_rules" else index + 1
            if name < len(tokens) and tokens[name].kind == "word":
                module.defined.add(tokens[name].text)
                return name + 1
            return index + 1
        segments = [token.text]
        after = index + 1
        while after + 1 < len(tokens) and tokens[after].kind == "separator" and tokens[after + 1].kind == "word":
            segments.append(tokens[after + 1].text)
            after += 2
        module.words.add(segments[0])
        continues_another = index > 0 and tokens[index - 1].kind == "separator"
        if len(segments) > 1 and not continues_another:
            module.paths.append((tuple(segments), token.line))
        return after

    def _resolve(
        self, module: Module, path: tuple[str, ...], seen: frozenset[tuple[ModulePath, str]] = frozenset()
    ) -> Module | None:
        """The module that defines the item `path` in the scope of `module`, or None for an item of another crate."""
        position = module.path
        rest = list(path)
        if rest[0] == "crate":
            position, rest = (), rest[1:]
        elif rest[0] == "self":
            rest = rest[1:]
        elif rest[0] == "super":
            while rest and rest[0] == "super":
                position, rest = position[:-1], rest[1:]
        elif not self._knows(module, rest[0]):
            return None
        for index, name in enumerate(rest):
            if (*position, name) in self.modules:
                position = (*position, name)
                continue
            return self._definer(self.modules[position], name, rest[index + 1 :], seen)
        return self.modules.get(position)

    def _knows(self, module: Module, name: str) -> bool:
        return (*module.path, name) in self.modules or (
            name not in module.defined and any(use.name == name for use in module.uses)
        )

    def _definer(
        self, module: Module, name: str, rest: list[str], seen: frozenset[tuple[ModulePath, str]]
    ) -> Module | None:
        if name in module.defined or (module.path, name) in seen:
            return module
        seen = seen | {(module.path, name)}
        for use in module.uses:
            if use.name == name and use.path != (name,):
                return self._resolve(module, (*use.path, *rest), seen)
        for use in module.uses:
            if use.name == "*":
                source = self._resolve(module, use.path, seen)
                if source is not None and source is not module and self._exports(source, name):
                    return self._resolve(source, ("self", name, *rest), seen)
        return module

    def _exports(self, module: Module, name: str) -> bool:
        return name in module.defined or any(use.name in (name, "*") and use.public for use in module.uses)


def _statement_end(tokens: list[Token], index: int) -> int:
    while index < len(tokens) and tokens[index].text != ";":
        index += 1
    return index


def _uses(tokens: list[Token], public: bool, prefix: tuple[str, ...] = ()) -> list[Use]:
    """The names that the tree of a `use` item imports."""
    uses = []
    path = list(prefix)
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "{":
            end = matching_end(tokens, index)
            for part in _split_at_commas(tokens[index + 1 : end - 1]):
                uses.extend(_uses(part, public, tuple(path)))
            return uses
        if token.text == "*":
            return [Use("*", tuple(path), token.line, public)] if path else []
        if token.text == "as":
            return [Use(tokens[index + 1].text, tuple(path), token.line, public)]
        if token.kind == "word":
            path.append(token.text)
        index += 1
    if not path:
        return uses
    if path[-1] == "self":
        path.pop()
    return [Use(path[-1], tuple(path), tokens[0].line, public)] if path else []


def _split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.text == "," and depth == 0:
            parts.append([])
            continue
        depth += (token.text == "{") - (token.text == "}")
        parts[-1].append(token)
    return [part for part in parts if part]


def crate_roots(folder: Path) -> list[Path]:
    """The root files of the library and the programs of the package in `folder`."""
    source = folder / "src"
    roots = [
        source / "lib.rs",
        source / "main.rs",
        *sorted(source.glob("bin/*.rs")),
        *sorted(source.glob("bin/*/main.rs")),
    ]
    return [root for root in roots if root.is_file()]
