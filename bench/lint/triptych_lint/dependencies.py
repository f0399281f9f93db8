"""Checks the licences of crates, without a network."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from triptych_lint.repository import RULES, Repository


def problems(repository: Repository) -> list[str]:
    """A line for each crate of others whose licence is not allowed, with the fix."""
    command = ["cargo", "metadata", "--offline", "--locked", "--format-version", "1"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    done = subprocess.run(command, cwd=repository.root, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        reason = done.stderr.strip().splitlines()[0]
        return [f"cargo cannot list the crates without a network: {reason}: run `cargo fetch --locked`"]
    return licence_problems(json.loads(done.stdout), repository.rules["licences"])


def is_allowed(expression: str, licences: list[str]) -> bool:
    """Can a user choose a licence of `licences` under this SPDX expression? In old expressions, `/` means OR."""
    words = re.findall(r"[()]|[^\s()]+(?: WITH \S+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "OR": "or", "AND": "and"}
    try:
        # Only brackets, `and`, `or`, `True` and `False` remain.
        return bool(eval(" ".join(python.get(word) or str(word in licences) for word in words)))
    except SyntaxError:
        return False


def licence_problems(metadata: dict[str, Any], licences: list[str]) -> list[str]:
    """A line for each crate of others whose licence is not allowed."""
    chosen = {node["id"] for node in metadata["resolve"]["nodes"]}
    return [
        f"crate {one['name']} has the licence `{one['license']}`: replace it, or allow the licence in {RULES}"
        for one in metadata["packages"]
        if one["id"] in chosen and one["source"] is not None and not is_allowed(one["license"] or "", licences)
    ]
