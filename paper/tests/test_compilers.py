"""The section about compilers, which reads a folder beside the runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from triptych_paper.errors import DataError
from triptych_paper.report.build import read_data
from triptych_paper.report.figures import canvas
from triptych_paper.report.model import Section
from triptych_paper.report.sections import compilers

from tests.example import MakeRun, write_run


def way(family: str, version: str, llvm: int | None, **more: Any) -> dict[str, Any]:
    usual = {"opt": "3" if family == "rustc" else "2", "target_cpu": "usual", "lto": True, "pgo": False, "usual": True}
    return {"variant": f"{family}-{version}", "family": family, "version": version, "llvm": llvm, **usual, **more}


PAIR = {
    "llvm": 19,
    "c": "clang 19.1.7",
    "rust": "rustc 1.85.0",
    "implementation": "rust",
    "instructions": 1.1,
    "cycles": {"low": 1.4, "median": 1.5, "high": 1.6},
}
WORSE = {
    "implementation": "rust-unsafe",
    "from": "rustc 1.85.0",
    "to": "rustc 1.95.0",
    "flags": "-O3",
    "metric": "instructions",
    "values": [70.0, 77.0],
}
FOUND = [{"batch": 32, "pairs": [PAIR], "regressions": [WORSE]}]
BUILDS = [
    {"impl": "c", "variant": "gcc-12.2.0", "toolchain": "gcc 12.2.0", "flags": "-O2", "checks_in_loops": {}},
    {
        "impl": "rust",
        "variant": "rustc-1.85.0",
        "toolchain": "rustc 1.85.0",
        "flags": "",
        "checks_in_loops": {"bounds": 2, "overflow": 0, "trap": 0, "other": 1},
    },
]
WAYS = [
    way("gcc", "12.2.0", None),
    way("gcc", "12.2.1", None, lto=False, pgo=True, usual=False),
    way("clang", "19.1.7", 19),
    way("rustc", "1.85.0", 19),
]
PLAN = {"compare": {"ways": WAYS, "skipped": [{"name": "gcc-11", "why": "not installed", "fix": None}]}}


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
            found.append(f"{impl},{variant},cc 1.0,32,lockstep,tsc_cycles,{cycles},x/packet,1000,{repeat}")
    return found


@pytest.fixture
def compared(make_run: MakeRun) -> Callable[..., Section]:
    def section(plan: dict[str, Any], found: Any = FOUND, **changes: Any) -> Section:
        run = make_run()
        folder = run.resolve().parent / "compilers"
        folder.mkdir()
        there = write_run(folder, lines(), plan=plan, builds=BUILDS, **changes)
        if found is not None:
            (there / "compilers.json").write_text(json.dumps(found), encoding="utf-8")
        (folder / "latest").symlink_to(there.name)
        return compilers.build(read_data(run))

    return section


def texts(section: Section, key: str) -> list[list[str]]:
    table = next(table for table in section.tables if table.key == key)
    return [[cell.text for cell in row] for row in table.rows]


def test_without_a_comparison_the_section_names_the_command(make_run: MakeRun) -> None:
    section = compilers.build(read_data(make_run()))
    assert "make compilers" in section.missing[0]
    assert not section.tables


def test_each_build_has_a_row_and_skipped_ones_are_named(compared: Callable[..., Section]) -> None:
    section = compared(PLAN)
    rows = texts(section, "compilers-batch-32")
    assert rows[0][:5] == ["C", "gcc 12.2.0", "–", "-O2", "76.8"]
    assert rows[1][3] == "-O2 no LTO PGO"
    assert len(rows) == 4
    assert section.missing == ("Not measured: gcc-11, not installed.",)
    canvas(section.figures[0])


def test_pairs_and_regressions_are_those_of_the_runner(compared: Callable[..., Section]) -> None:
    section = compared(PLAN)
    assert texts(section, "compilers-same-llvm-batch-32") == [
        ["19", "clang 19.1.7", "rustc 1.85.0", "safe Rust", "1.10", "1.50"]
    ]
    assert texts(section, "compilers-worse-batch-32") == [
        ["unsafe Rust", "-O3", "rustc 1.85.0", "rustc 1.95.0", "instructions", "70.0", "77.0", "+10.0 %"]
    ]


def test_the_checks_of_each_rust_build_are_shown(compared: Callable[..., Section]) -> None:
    assert texts(compared(PLAN), "compilers-checks") == [["rustc 1.85.0 -O3", "2", "0", "0", "1"]]


def test_each_batch_size_has_its_tables(compared: Callable[..., Section], make_run: MakeRun) -> None:
    section = compared(PLAN)
    assert [figure.key for figure in section.figures] == ["compilers-batch-32"]
    folder = make_run().resolve().parent / "compilers" / "latest"
    samples = folder / "samples.csv"
    samples.write_text(samples.read_text() + "c,gcc-12.2.0,cc 1.0,8,valgrind,instructions,90,x/packet,1000,0\n")
    section = compilers.build(read_data(make_run()))
    assert [figure.key for figure in section.figures] == ["compilers-batch-32", "compilers-batch-8"]
    assert texts(section, "compilers-batch-8") == [["C", "gcc 12.2.0", "–", "-O2", "90.0", "–", "–", "–", "–"]]


def test_failed_builds_and_an_interruption_are_named(compared: Callable[..., Section]) -> None:
    failure = {"impl": "c", "variant": "gcc-9", "batch": 32, "backend": "valgrind", "cause": "not built: no -flto"}
    section = compared(PLAN, None, failures=[failure])
    assert "Not measured: c, gcc-9: not built: no -flto" in section.missing
    assert any("was interrupted" in text for text in section.missing)


def test_another_kind_of_run_is_refused(compared: Callable[..., Section]) -> None:
    with pytest.raises(DataError, match="comparison of compilers"):
        compared({"blocks": []})


def test_malformed_findings_are_refused(compared: Callable[..., Section]) -> None:
    with pytest.raises(DataError, match=r"compilers\.json"):
        compared(PLAN, {"batch": 32})
