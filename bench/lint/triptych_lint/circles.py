"""Checks that no files import each other in a circle."""

from __future__ import annotations

from triptych_lint.c_imports import c_graph
from triptych_lint.graph import ImportGraph
from triptych_lint.python_imports import python_graph
from triptych_lint.repository import Repository
from triptych_lint.rust_imports import Crate, crate_roots

C_SOURCES = ("c/src",)
PYTHON_PACKAGES = ("paper/triptych_paper", "bench/lint/triptych_lint", "bench/apps/clients")


def graphs(repository: Repository) -> list[ImportGraph]:
    """One graph for each crate (including the fuzzers), for the C driver, and for each Python package."""
    root = repository.root
    packages = [(root / file).parent for file in repository.files if file.endswith("/Cargo.toml")]
    crates = [Crate(file, root).graph() for package in packages for file in crate_roots(package)]
    c_sources = [c_graph(root / folder, root) for folder in C_SOURCES]
    return crates + c_sources + [python_graph(root / package, root) for package in PYTHON_PACKAGES]


def problems(repository: Repository) -> list[str]:
    """Lines for each circle: its files, each with the line that imports the next file."""
    found = []
    for graph in graphs(repository):
        for group in graph.groups():
            found.append(f"{graph.name}: {len(group)} files import each other in a circle")
            found.extend(f"    {chain}" for chain in graph.chains(group))
    return found
