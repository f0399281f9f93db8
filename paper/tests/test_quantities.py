"""What published figures and backends count."""

from pathlib import Path

import pytest
from triptych_paper.errors import DataError
from triptych_paper.quantities import QUANTITIES, differences, published, quantities, read_quantities
from triptych_paper.schema import metrics

UNPUBLISHED = ("conditional_branches", "lockstep_cycles")
"""Counters without a published figure."""


def test_every_published_counter_is_described() -> None:
    for metric in metrics().values():
        if (metric.group in ("counter", "latency") or metric.name == "mpps") and metric.name not in UNPUBLISHED:
            for backend in metric.backends:
                differences(metric.name, backend)


def test_the_model_counts_what_was_published() -> None:
    for metric in metrics().values():
        if "model" in metric.backends and published(metric.name):
            assert not differences(metric.name, "model")
    assert not any(published(name) for name in UNPUBLISHED)


def test_a_backend_names_what_it_counts_instead() -> None:
    texts = [str(difference) for difference in differences("l3_hits", "valgrind")]
    assert any(text.startswith("level: the processor's third-level cache there, ") for text in texts)
    assert any(text.startswith("unit: load micro-operations there") for text in texts)
    assert differences("instructions", "valgrind") == ()


def test_a_real_card_has_the_published_scope() -> None:
    assert differences("mpps", "wall")
    assert differences("mpps", "wall", "software card")
    assert not differences("mpps", "wall", "real card")
    assert differences("tsc_cycles", "lockstep", "real card")
    assert "latency" in quantities()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("[loads]", "[lodas]", "no metric has this name"),
        ('unit = "load micro-operations"\nscope', "scope", "unit or scope is missing"),
        ("valgrind.unit", "oracle.unit", "oracle is neither an aspect nor a backend"),
        ("valgrind.unit", "valgrind.colour", "valgrind is neither an aspect nor a backend"),
        ('"load accesses of instructions"', '"load micro-operations"', "equals the published one"),
        ('"load accesses of instructions"', "3", "unit is not a text"),
    ],
)
def test_a_malformed_quantity_is_named_with_the_fix(tmp_path: Path, old: str, new: str, why: str) -> None:
    text = QUANTITIES.read_text(encoding="utf-8")
    start = text.index("[loads]")
    changed = text[:start] + text[start:].replace(old, new, 1)
    path = tmp_path / "quantities.toml"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(DataError, match=why):
        read_quantities(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml"):
        read_quantities(tmp_path / "none.toml")
