"""Checks the licences of crates, without a network."""

from __future__ import annotations

import re
import subprocess

from triptych_lint.repository import RULES, Repository


def problems(repository: Repository) -> list[str]:
    """A line for each crate of others whose licence is not allowed, with the fix."""
    command = ["cargo", "tree", "--workspace", "--offline", "--locked", "--target", "x86_64-unknown-linux-gnu"]
    command += ["--prefix", "none", "--no-dedupe", "--format", "{p}\t{l}"]
    done = subprocess.run(command, cwd=repository.root, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[0]
        return [f"cargo cannot list the crates without a network: {reason}: run `cargo fetch --locked`"]
    # Empty lines separate the project's own crates, which have their folders behind their names.
    crates = [line.split("\t") for line in sorted(set(done.stdout.split("\n"))) if line and "(/" not in line]
    return [
        f"crate {name} has the licence `{licence}`: replace it, or allow the licence in {RULES}"
        for name, licence in crates
        if not is_allowed(licence, repository.rules["licences"])
    ]


def is_allowed(expression: str, licences: list[str]) -> bool:
    """Can a user choose a licence of `licences` under this SPDX expression? In old expressions, `/` means OR."""

    def python(word: re.Match[str]) -> str:
        return word[0].lower() if word[0] in ("OR", "AND") else str(word[0] in licences)

    try:
        # Only brackets, `and`, `or`, `True` and `False` remain.
        return bool(eval(re.sub(r"[^\s()]+(?: WITH [^\s()]+)?", python, expression.replace("/", " OR "))))
    except SyntaxError:
        return False
