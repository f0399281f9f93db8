"""Checks that no files import each other in a circle, and that the driver's core does without the rooms above it."""

from __future__ import annotations

from itertools import chain, combinations, product

from triptych_lint.imports import Imports, c_imports, circle, python_imports
from triptych_lint.repository import RULES, Repository
from triptych_lint.rust_imports import Crate, crate_roots

PYTHON_PACKAGES = ("paper/triptych_paper", "bench/lint/triptych_lint", "bench/apps/clients")


def all_imports(repository: Repository) -> list[Imports]:
    """The imports of each crate (including the fuzzers), of the C driver, and of each Python package."""
    root = repository.root
    packages = [(root / file).parent for file in repository.files if file.endswith("/Cargo.toml")]
    crates = [Crate(file, root).imports() for package in packages for file in crate_roots(package)]
    return [*crates, c_imports(root / "c/src", root), *(python_imports(root / name, root) for name in PYTHON_PACKAGES)]


def problems(repository: Repository) -> list[str]:
    """A circle of each crate, program and package that has one: files, each with the line that imports the next."""
    return [found for imports in all_imports(repository) if (found := circle(imports))]


def room_problems(repository: Repository) -> list[str]:
    """A line for each import of a folder that `rules.toml` forbids, and one for each folder that has no files."""
    layers: dict[str, list[list[str]]] = repository.rules["rooms"]
    empty = [
        f"{RULES} names {root}/{name}, which has no files: correct the entry"
        for root, names in layers.items()
        for name in chain(*names)
        if not any(file.startswith(f"{root}/{name}/") for file in repository.files)
    ]
    return empty + [problem for imports in all_imports(repository) for problem in upward(imports, layers)]


def upward(imports: Imports, layers: dict[str, list[list[str]]]) -> list[str]:
    """A line for each import from a folder to one of a later layer."""
    return [
        f"{source}:{line} imports {target}: {root}/{lower} does without {root}/{higher}"
        for source, targets in sorted(imports.items())
        for target, line in sorted(targets.items())
        for root, names in layers.items()
        for lowers, highers in combinations(names, 2)
        for lower, higher in product(lowers, highers)
        if source.startswith(f"{root}/{lower}/") and target.startswith(f"{root}/{higher}/")
    ]
