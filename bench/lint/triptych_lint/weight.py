"""Checks the amount of example data in the repository, and the length of pages."""

from __future__ import annotations

from triptych_lint.repository import Repository


def problems(repository: Repository) -> list[str]:
    """A line for each limit that the example data or a page exceeds."""
    rules = repository.rules["weight"]
    files = [file for file in repository.files if file.startswith(rules["folder"] + "/")]
    contents = [(repository.root / file).read_bytes() for file in files]
    measured = {"bytes": sum(map(len, contents)), "lines": sum(content.count(b"\n") for content in contents)}
    lengths = {
        page: len((repository.read(page) or "").splitlines()) for page in rules["pages"] if page in repository.files
    }
    long = [
        f"{page}: {lines} lines, at most {rules['pages'][page]}: move details into a linked page"
        for page, lines in lengths.items()
        if lines > rules["pages"][page]
    ]
    return long + [
        f"{rules['folder']}: {measured[unit]:,} {unit} in {len(files)} files, at most {rules[unit]:,}"
        for unit in ("bytes", "lines")
        if measured[unit] > rules[unit]
    ]
