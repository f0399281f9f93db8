"""Reading ``claims.toml``."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any, TypeGuard

from triptych_paper.claims.expressions import ExpressionError, metrics_of, parse, quantities_of, uses_batch
from triptych_paper.claims.model import Claim, Compare, Measure
from triptych_paper.claims.verdicts import accepted
from triptych_paper.errors import DataError
from triptych_paper.quantities import SOURCES, differences
from triptych_paper.schema import BACKENDS, metrics

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIMS = Path(__file__).parents[2] / "claims.toml"


def read_claims(path: Path = CLAIMS) -> list[Claim]:
    """Read the claims; :class:`DataError` names the claim that is wrong, and the fix."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the claims {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not TOML: {error}") from None
    entries = document.get("claim")
    if not isinstance(entries, list) or not entries:
        raise DataError(f"{path} holds no claims: it needs [[claim]] tables")
    like = document.get("like", {})
    if not isinstance(like, dict) or not all(isinstance(text, str) and text for text in like.values()):
        raise DataError(f"{path}: [like] is not a table of sentences")
    claims: list[Claim] = []
    for place, entry in enumerate(entries, start=1):
        name = entry.get("id") or f"number {place}"
        try:
            claim = _claim(entry, like)
            if any(other.id == claim.id for other in claims):
                raise ValueError("another claim has this id: choose a different one")
        except (ValueError, ExpressionError) as error:
            raise DataError(f"{path}: claim {name}: {error}") from None
        claims.append(claim)
    return claims


FIELDS = {
    "id", "topic", "says", "source", "unit", "published", "compare", "tolerance", "batches", "neutral", "note",
    "measure",
}  # fmt: skip
MEASURE_FIELDS = {"backends", "formula", "needs", "otherwise", "like"}


def _claim(entry: dict[str, Any], like: dict[str, str]) -> Claim:
    _no_others(entry, FIELDS)
    published = _published(entry)
    one = published[0] == published[1]
    compare = _text(entry, "compare") if "compare" in entry else ("about" if one else "within")
    kinds = [kind.value for kind in Compare if (kind is Compare.WITHIN) != one]
    if compare not in kinds:
        raise ValueError(f"compare {compare!r} does not fit: use one of {', '.join(kinds)}")
    tolerance = entry.get("tolerance", 0.0 if compare.startswith("at ") else None)
    if not _is_number(tolerance) or tolerance < 0:
        raise ValueError("tolerance is missing or negative: say by how much, in its unit, a value may differ")
    batches = entry.get("batches", [])
    if not isinstance(batches, list) or not all(isinstance(batch, int) and 1 <= batch <= 512 for batch in batches):
        raise ValueError("batches is not a list of batch sizes, such as [8, 32]")
    neutral = entry.get("neutral")
    if neutral is not None and not _is_number(neutral):
        raise ValueError("neutral is not a number: give the value that means no effect, or leave it out")
    measures = entry.get("measure")
    if not isinstance(measures, list) or not measures:
        raise ValueError("[[claim.measure]] is missing: give the backends and the formula of the check")
    claim = Claim(
        id=_text(entry, "id"),
        topic=_text(entry, "topic"),
        says=_text(entry, "says"),
        source=_text(entry, "source"),
        unit=_text(entry, "unit"),
        published=published,
        compare=Compare(compare),
        tolerance=float(tolerance),
        measures=tuple(_measure(measure, bool(batches), like) for measure in measures),
        batches=tuple(batches),
        neutral=None if neutral is None else float(neutral),
        note=_text(entry, "note") if "note" in entry else "",
    )
    low, high = accepted(claim)
    if claim.neutral is not None and low <= claim.neutral <= high:
        raise ValueError("the tolerance includes neutral, so no effect would count as reproduced: make it smaller")
    return claim


def _measure(entry: dict[str, Any], batches: bool, like: dict[str, str]) -> Measure:
    _no_others(entry, MEASURE_FIELDS)
    backends = entry.get("backends")
    known = (*BACKENDS, SOURCES)
    if not isinstance(backends, list) or not backends or any(backend not in known for backend in backends):
        raise ValueError(f"backends is not a list of some of {', '.join(known)}, the best first")
    formula = _expression(entry, "formula", batches)
    if isinstance(formula, ast.Compare):
        raise ValueError("formula compares, but must be a number: write comparisons in `needs`")
    needs = _expression(entry, "needs", batches) if "needs" in entry else None
    if needs is not None and not isinstance(needs, ast.Compare):
        raise ValueError("needs does not compare: use >=, >, <= or <")
    if (needs is None) != ("otherwise" not in entry):
        raise ValueError(
            "`needs` and `otherwise` belong together: a condition, and the reason to report if it is false"
        )
    for tree in (formula, needs) if needs is not None else (formula,):
        _counted(metrics_of(tree), backends)
    for backend in backends:
        for name in quantities_of(formula):
            differences(name, backend)
    otherwise = _text(entry, "otherwise") if needs is not None else ""
    reason = _text(entry, "like") if "like" in entry else ""
    if reason and reason not in like:
        raise ValueError(f"like {reason!r} is not in the table [like]; it has {', '.join(like) or 'no entry'}")
    return Measure(tuple(backends), formula, needs, otherwise, like.get(reason, ""))


def _counted(names: set[str], backends: list[str]) -> None:
    """Refuse a backend that does not count one of the metrics."""
    for name in sorted(names):
        for backend in backends:
            if backend not in metrics()[name].backends:
                counted_by = ", ".join(metrics()[name].backends)
                raise ValueError(f"backend {backend} does not count {name}; {counted_by} do: use a measure of its own")


def _expression(entry: dict[str, Any], key: str, batches: bool) -> ast.expr:
    try:
        tree = parse(_text(entry, key))
    except ExpressionError as error:
        raise ValueError(f"{key}: {error}") from None
    if uses_batch(tree) and not batches:
        raise ValueError(f"{key}: `batch` has no value: give the claim `batches = [8, 32]`")
    return tree


def _published(entry: dict[str, Any]) -> tuple[float, float]:
    published: object = entry.get("published")
    if _is_number(published):
        return float(published), float(published)
    if isinstance(published, list) and len(published) == 2 and all(_is_number(value) for value in published):
        low, high = map(float, published)
        if low < high:
            return low, high
    raise ValueError("published is neither a number nor a range such as [90, 98]")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} is missing or empty: it needs a string")
    return value


def _no_others(entry: dict[str, Any], known: set[str]) -> None:
    others = set(entry) - known
    if others:
        raise ValueError(f"{', '.join(sorted(others))} is unknown; the valid fields are {', '.join(sorted(known))}")
