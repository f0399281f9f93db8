"""Finds the imports between the modules of a Python package, including those inside functions."""

from __future__ import annotations

import ast
from pathlib import Path

from triptych_lint.graph import ImportGraph


def python_graph(package: Path, base: Path) -> ImportGraph:
    """The imports between the modules of `package`."""
    files = {_module(file, package): file for file in sorted(package.rglob("*.py"))}
    graph = ImportGraph(str(package.relative_to(base)))
    for module, file in files.items():
        source = str(file.relative_to(base))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for target in _imported(node, module, file, files):
                graph.add(source, str(files[target].relative_to(base)), getattr(node, "lineno", 1))
    return graph


def _module(file: Path, package: Path) -> str:
    parts = file.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(node: ast.AST, module: str, file: Path, files: dict[str, Path]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in files]
    if not isinstance(node, ast.ImportFrom):
        return []
    origin = node.module or ""
    if node.level > 0:
        parts = module.split(".")
        is_package = file.name == "__init__.py"
        parts = parts[: len(parts) - node.level + is_package]
        origin = ".".join([*parts, *([origin] if origin else [])])
    named = [f"{origin}.{alias.name}" for alias in node.names]
    submodules = [name for name in named if name in files]
    # An import of submodules alone does not count as an import of the package.
    own = [origin] if origin in files and len(submodules) < len(named) else []
    return submodules + own
