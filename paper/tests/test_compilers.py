"""The section about compilers: a comparison that lies beside the runs."""

from collections.abc import Callable
from typing import Any

import pytest
from triptych_paper.records import DataError
from triptych_paper.report.build import read_data
from triptych_paper.report.figures import canvas
from triptych_paper.report.model import Section
from triptych_paper.report.sections import compilers

from tests.example import MakeRun, write_run


def way(family: str, version: str, llvm: int | None, **more: Any) -> dict[str, Any]:
    usual = {"opt": "3" if family == "rustc" else "2", "target_cpu": "usual", "lto": True, "pgo": False, "usual": True}
    return {"variant": f"{family}-{version}", "family": family, "version": version, "llvm": llvm, **usual, **more}


WAYS = [
    way("gcc", "12.2.0", None),
    way("gcc", "12.2.1", None, lto=False, pgo=True, usual=False),
    way("clang", "19.1.7", 19),
    way("rustc", "1.85.0", 19),
]
PLAN = {"compare": {"ways": WAYS, "skipped": [{"name": "gcc-11", "why": "not installed", "mend": None}]}}


def lines() -> list[str]:
    found = []
    for impl, variant, instructions, factor in (
        ("c", "gcc-12.2.0", 76.8, 1.0),
        ("c", "gcc-12.2.1", 70.8, 1.0),
        ("c", "clang-19.1.7", 70.0, 1.0),
        ("rust", "rustc-1.85.0", 77.0, 1.5),
    ):
        found.append(f"{impl},{variant},cc 1.0,32,valgrind,instructions,{instructions},x/packet,1000,0")
        for repeat in range(3):
            cycles = (10 + 5 * repeat) * factor
            found.append(f"{impl},{variant},cc 1.0,32,lockstep,cycles,{cycles},x/packet,1000,{repeat}")
    return found


@pytest.fixture
def compared(make_run: MakeRun) -> Callable[..., Section]:
    def section(plan: dict[str, Any]) -> Section:
        run = make_run()
        folder = run.resolve().parent / "compilers"
        folder.mkdir()
        there = write_run(folder, lines(), plan=plan)
        (folder / "latest").symlink_to(there.name)
        return compilers.build(read_data(run))

    return section


def test_without_a_comparison_the_section_says_what_makes_one(make_run: MakeRun) -> None:
    section = compilers.build(read_data(make_run()))
    assert "make compilers" in section.missing[0]
    assert not section.tables


def test_each_build_has_a_row_and_what_was_skipped_is_named(compared: Callable[..., Section]) -> None:
    section = compared(PLAN)
    rows = [[cell.text for cell in row] for row in section.tables[0].rows]
    assert rows[0][:5] == ["C", "gcc 12.2.0", "–", "-O2", "76.8"]
    assert rows[1][3] == "-O2 no LTO PGO"
    assert len(rows) == 4
    assert section.missing == ("Not measured: gcc-11, not installed.",)
    canvas(section.figures[0])


def test_c_and_rust_are_paired_by_llvm_and_round(compared: Callable[..., Section]) -> None:
    pairs = compared(PLAN).tables[1]
    assert [[cell.text for cell in row] for row in pairs.rows] == [
        ["19", "clang 19.1.7", "rustc 1.85.0", "safe Rust", "1.10", "1.50"],
        ["19", "clang 19.1.7", "rustc 1.85.0", "unsafe Rust", "–", "–"],
    ]


def test_a_run_of_something_else_is_refused(compared: Callable[..., Section]) -> None:
    with pytest.raises(DataError, match="comparison of compilers"):
        compared({"blocks": []})
