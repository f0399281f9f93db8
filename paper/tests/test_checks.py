"""The section about checks in the machine code."""

from typing import Any

import pytest
from triptych_paper.errors import DataError
from triptych_paper.report.build import read_data
from triptych_paper.report.sections import checks

from tests.example import MakeRun

COUNTS = {"bounds": 3, "overflow": 12, "trap": 0, "other": 1}


def build(variant: str, **more: Any) -> dict[str, Any]:
    return {"impl": "rust", "variant": variant, "toolchain": "rustc 1.95.0", "flags": "", **more}


def test_each_inspected_build_has_a_row(make_run: MakeRun) -> None:
    builds = [
        build("default", checks_in_loops=COUNTS, checks_not_counted=None),
        build("no-lto", checks_not_counted="it is stripped"),
        {**build("default"), "impl": "c"},
    ]
    (table,) = checks.build(read_data(make_run(builds=builds))).tables
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["safe Rust, rustc 1.95.0", "3", "12", "0", "1"],
        ["safe Rust, without LTO, rustc 1.95.0", "–", "–", "–", "–"],
    ]
    assert table.footnotes() == ["Not counted: it is stripped."]
    assert table.records[0]["in_loops"] == 3


def test_a_run_without_counts_has_a_reason(make_run: MakeRun) -> None:
    section = checks.build(read_data(make_run(builds=[])))
    assert not section.tables
    assert "Not counted" in section.missing[0]


@pytest.mark.parametrize("counts", [{"bounds": "many"}, {"unknown": 1}, [1]])
def test_malformed_counts_are_refused(make_run: MakeRun, counts: Any) -> None:
    with pytest.raises(DataError, match=r"run\.json"):
        checks.build(read_data(make_run(builds=[build("default", checks_in_loops=counts)])))
