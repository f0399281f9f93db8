"""Checks the amount of example data in the repository."""

from __future__ import annotations

from triptych_lint.repository import Repository


def problems(repository: Repository) -> list[str]:
    """A line for each limit that the example data exceeds."""
    rules = repository.rules["weight"]
    files = [file for file in repository.files if file.startswith(rules["folder"] + "/")]
    contents = [(repository.root / file).read_bytes() for file in files]
    measured = {"bytes": sum(map(len, contents)), "lines": sum(content.count(b"\n") for content in contents)}
    return [
        f"{rules['folder']}: {measured[unit]:,} {unit} in {len(files)} files, at most {rules[unit]:,}"
        for unit in ("bytes", "lines")
        if measured[unit] > rules[unit]
    ]
