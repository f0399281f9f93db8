"""Checks that the driver's core does without the rooms above it: no import from a lower folder to a higher one."""

from __future__ import annotations

from triptych_lint.circles import graphs
from triptych_lint.graph import ImportGraph
from triptych_lint.repository import RULES, Repository


def problems(repository: Repository) -> list[str]:
    """A line for each import of a folder that `rules.toml` forbids, and one for each folder that has no files."""
    forbidden: dict[str, list[str]] = repository.rules["rooms"]
    all_graphs = graphs(repository)
    files = {file for graph in all_graphs for file in graph.edges}
    found = [
        f"{RULES} names {folder}, which has no files: correct the entry"
        for folder in forbidden
        if not any(file.startswith(f"{folder}/") for file in files)
    ]
    return found + [problem for graph in all_graphs for problem in upward(graph, forbidden)]


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
