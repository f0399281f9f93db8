"""Checks that no files import each other in a circle, and that the driver's core does without the rooms above it."""

from __future__ import annotations

from triptych_lint.c_imports import c_graph
from triptych_lint.graph import ImportGraph
from triptych_lint.python_imports import python_graph
from triptych_lint.repository import RULES, Repository
from triptych_lint.rust_imports import Crate, crate_roots

PYTHON_PACKAGES = ("paper/triptych_paper", "bench/lint/triptych_lint", "bench/apps/clients")


def graphs(repository: Repository) -> list[ImportGraph]:
    """One graph for each crate (including the fuzzers), for the C driver, and for each Python package."""
    root = repository.root
    packages = [(root / file).parent for file in repository.files if file.endswith("/Cargo.toml")]
    crates = [Crate(file, root).graph() for package in packages for file in crate_roots(package)]
    return [
        *crates,
        c_graph(root / "c/src", root),
        *(python_graph(root / package, root) for package in PYTHON_PACKAGES),
    ]


def problems(repository: Repository) -> list[str]:
    """A line for each circle: its files, each with the line that imports the next file."""
    return [f"{graph.name}: {circle}" for graph in graphs(repository) for circle in graph.circles()]


def room_problems(repository: Repository) -> list[str]:
    """A line for each import of a folder that `rules.toml` forbids, and one for each folder that has no files."""
    forbidden: dict[str, list[str]] = repository.rules["rooms"]
    empty = [
        f"{RULES} names {folder}, which has no files: correct the entry"
        for folder in forbidden
        if not any(file.startswith(f"{folder}/") for file in repository.files)
    ]
    return empty + [problem for graph in graphs(repository) for problem in upward(graph, forbidden)]


def upward(graph: ImportGraph, forbidden: dict[str, list[str]]) -> list[str]:
    """A line for each import from a folder of `forbidden` to one that it must not know."""
    return [
        f"{source}:{line} imports {target}: {folder} does without {higher}"
        for source, targets in sorted(graph.edges.items())
        for target, line in sorted(targets.items())
        for folder, highers in forbidden.items()
        for higher in highers
        if source.startswith(f"{folder}/") and target.startswith(f"{higher}/")
    ]
