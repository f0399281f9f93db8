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

from tests.example import HEADER, MODEL_CONDITIONS, MakeRun, write_run


def way(family: str, version: str, llvm: int | None, **more: Any) -> dict[str, Any]:
    usual = {"opt": "3" if family == "rustc" else "2", "target_cpu": "usual", "lto": True, "pgo": False, "usual": True}
    return {"variant": f"{family}-{version}", "family": family, "version": version, "llvm": llvm, **usual, **more}


PAIR = {
    "batch": 32,
    "llvm": 19,
    "c": "clang 19.1.7",
    "rust": "rustc 1.85.0",
    "impl": "rust",
    "instructions": 1.1,
    "cycles": {"low": 1.4, "median": 1.5, "high": 1.6},
}


def change(before: float, after: float, verdict: str) -> dict[str, Any]:
    spreads = [{"low": value, "median": value, "high": value} for value in (before, after)]
    return {"before": spreads[0], "after": spreads[1], "percent": 100 * (after / before - 1), "verdict": verdict}


def made(basis: str, **metrics: dict[str, Any]) -> dict[str, Any]:
    sides = {
        "from": {"compiler": "rustc 1.85.0", "flags": "-O3", "variant": "a"},
        "to": {"compiler": "patched", "flags": "-O3", "variant": "b"},
    }
    return {"basis": basis, "impl": "rust-unsafe", "batch": 32, **sides, "metrics": metrics}


FOUND = {
    "format": "triptych-compilers-1",
    "judge": {"instructions_percent": 1.0, "instructions": 0.2, "cycles_percent": 2.0},
    "comparisons": [made("version", instructions=change(70.0, 77.0, "worse"))],
    "not_compared": [
        {"basis": "flags", "impl": "c", "why": "only -O2", "what": ["clang 19.1.7", "gcc 12.2.0"]},
    ],
    "same_llvm": [PAIR],
}
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
    assert section.missing[0] == "Not measured: gcc-11, not installed."
    canvas(section.figures[0])


def test_pairs_and_comparisons_are_those_of_the_runner(compared: Callable[..., Section]) -> None:
    section = compared(PLAN)
    assert texts(section, "compilers-same-llvm-batch-32") == [
        ["19", "clang 19.1.7", "rustc 1.85.0", "safe Rust", "1.10", "1.50"]
    ]
    table = next(table for table in section.tables if table.key == "compilers-by-version-batch-32")
    assert [cell.text for cell in table.rows[0]] == [
        "unsafe Rust",
        "rustc 1.85.0 -O3",
        "patched -O3",
        "70.0 → 77.0",
        "–",
    ]
    assert table.rows[0][3].detail == ("+10.0 %, worse",)
    assert table.rows[0][3].tone == "bad"
    assert "beyond 1 % and 0.2 instructions" in table.note


def test_what_was_not_compared_is_never_called_free_of_regressions(compared: Callable[..., Section]) -> None:
    section = compared(PLAN)
    assert section.text[-1] == ("Worse with a newer version: 1 of 1 comparisons. Worse with other flags: not compared.")
    assert "Not compared: C by flags: clang 19.1.7, gcc 12.2.0: only -O2." in section.missing


def test_a_baseline_has_a_table_of_its_own(compared: Callable[..., Section]) -> None:
    better = made("baseline", tsc_cycles=change(20.0, 10.0, "better"))
    section = compared(PLAN, {**FOUND, "comparisons": [better]})
    assert "Worse with the new build: 0 of 1 comparisons." in section.text[-1]
    table = next(table for table in section.tables if table.key == "compilers-by-baseline-batch-32")
    assert table.rows[0][4].detail[0].endswith("50.0 %, better")
    assert table.rows[0][4].tone == "good"


def test_a_label_names_a_build(compared: Callable[..., Section]) -> None:
    labelled = [way("gcc", "12.2.0", None, label="patched")]
    section = compared({"compare": {"settings": labelled, "skipped": []}})
    assert texts(section, "compilers-batch-32")[0][1] == "patched"


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


def test_the_papers_own_code_has_rows_and_the_figure_shows_ours(
    compared: Callable[..., Section], make_run: MakeRun
) -> None:
    compared(PLAN)
    samples = make_run().resolve().parent / "compilers" / "latest" / "samples.csv"
    peer = "ixy,gcc-12.2.0,cc 1.0,32,valgrind,instructions,127,x/packet,1000,0\n"
    samples.write_text(samples.read_text() + peer)
    section = compilers.build(read_data(make_run()))
    rows = texts(section, "compilers-batch-32")
    assert rows[-1][:5] == ["ixy", "gcc 12.2.0", "–", "-O2", "127.0"]
    canvas(section.figures[0])


def test_failed_builds_and_an_interruption_are_named(compared: Callable[..., Section]) -> None:
    failure = {"impl": "c", "variant": "gcc-9", "batch": 32, "backend": "valgrind", "cause": "not built: no -flto"}
    section = compared(PLAN, None, failures=[failure])
    assert "Not measured: c, gcc-9: not built: no -flto" in section.missing
    assert any("was interrupted" in text for text in section.missing)


def test_another_kind_of_run_is_refused(compared: Callable[..., Section]) -> None:
    with pytest.raises(DataError, match="comparison of compilers"):
        compared({"blocks": []})


@pytest.mark.parametrize("found", [[], {"batch": 32}, {**FOUND, "format": "another"}])
def test_malformed_results_are_refused(compared: Callable[..., Section], found: Any) -> None:
    with pytest.raises(DataError, match=r"compilers\.json is malformed.*make compilers"):
        compared(PLAN, found)


def modelled_lines() -> list[str]:
    """Return the rows of a comparison that the model counted."""
    found = [line.replace(",valgrind,", ",model,") + ",512,60,,,," for line in lines()]
    for impl, variant, cycles in (("c", "clang-19.1.7", 80.0), ("rust", "rustc-1.85.0", 88.0)):
        found.append(f"{impl},{variant},cc 1.0,32,model,core_cycles,{cycles},x/packet,1000,0,512,60,,,haswell,1.6")
    return found


def test_modelled_cycles_have_columns_that_name_their_processor(make_run: MakeRun) -> None:
    on = {"cpu": "haswell", "clock_ghz": 1.6}
    worse = {**on, "before": 80.0, "after": 82.0, "percent": 2.5, "verdict": "worse"}
    same = made("version", instructions=change(70.0, 70.0, "unchanged")) | {"modelled": [worse]}
    judge: dict[str, Any] = {"instructions_percent": 1.0, "instructions": 0.2, "cycles_percent": 2.0}
    found = {
        **FOUND,
        "judge": {**judge, "modelled_percent": 1.0, "modelled_cycles": 2.0},
        "comparisons": [same],
        "same_llvm": [{**PAIR, "modelled": [{**on, "ratio": 1.1}]}],
    }
    run = make_run()
    folder = run.resolve().parent / "compilers"
    folder.mkdir()
    there = write_run(folder, modelled_lines(), f"{HEADER},{MODEL_CONDITIONS}", plan=PLAN, builds=BUILDS)
    (there / "compilers.json").write_text(json.dumps(found), encoding="utf-8")
    (folder / "latest").symlink_to(there.name)
    section = compilers.build(read_data(run))
    tables = {table.key: table for table in section.tables}
    heading = "cycles (modelled, haswell at 1.6 GHz)"
    rows = tables["compilers-batch-32"]
    assert rows.columns[-1].heading == heading
    assert [row[-1].text for row in rows.rows] == ["–", "–", "80.0", "88.0"]
    assert rows.rows[0][4].text == "76.8"
    assert rows.note.startswith("The model counts")
    assert texts(section, "compilers-same-llvm-batch-32")[0][-1] == "1.10"
    version = tables["compilers-by-version-batch-32"]
    assert version.columns[-1].heading == heading
    assert (version.rows[0][-1].text, version.rows[0][-1].tone) == ("80.0 → 82.0", "bad")
    assert "of 2 cycles a packet, counts, too" in version.note
    assert any("Worse with a newer version: 1 of 1 comparisons." in text for text in section.text)
    canvas(section.figures[0])
