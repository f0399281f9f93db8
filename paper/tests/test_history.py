"""The history: the rule of the alarm, false alarms, plots and exports."""

import json
import random
from pathlib import Path

import pytest
from triptych_paper import index, track
from triptych_paper.history import Measured, Point, direction, history, judge
from triptych_paper.index import Index

from tests.synthetic import cell, write_cells

IMPLS = (("c", 65.25), ("rust", 71.0), ("rust-unsafe", 61.75))


@pytest.fixture(autouse=True)
def build_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BUILD", tmp_path_factory.mktemp("build"))


def revision(number: int) -> str:
    return f"{number + 1:02x}" * 20


def commits(results: Path, count: int, seeded: int = 0, backend: str = "trace", again: int = 0) -> Path:
    """Write a history; the commit `seeded` costs safe Rust one instruction for each batch of 32."""
    for number in range(count):
        # 01:00 in a zone of +02:00 is before 00:00 UTC.
        where = {"revision": revision(number), "committed": f"2026-01-{1 + number:02}T01:00:00+02:00"}
        for run in range(1 + again):
            for impl, value in IMPLS:
                dearer = bool(seeded) and number >= seeded and impl == "rust"
                value += dearer * (1 / 32 if backend == "trace" else 5)
                value += 0 if backend == "trace" else random.Random(f"{number}{run}{impl}").uniform(-0.2, 0.2)
                at = {
                    "run": f"{number}-{run}",
                    "start": f"2026-02-{1 + run:02}T00:00:00Z",
                    "program": f"{impl}{dearer}",
                }
                write_cells(results, [cell(impl, backend, value, **where, **at)], "history")
    return results


@pytest.mark.parametrize("seeded", range(1, 5))
def test_one_instruction_in_a_batch_alarms_and_a_commit_of_documents_does_not(
    tmp_path: Path, seeded: int, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = commits(tmp_path / "quiet", 3)
    assert track.main([str(quiet), "-o", str(tmp_path / "a")]) == 0
    dearer = commits(tmp_path / "dearer", 5, seeded=seeded)
    capsys.readouterr()
    assert track.main([str(dearer), "-o", str(tmp_path / "b")]) == 3
    said = capsys.readouterr().out
    assert revision(seeded)[:10] in said
    assert "rust/default batch 32, trace, cc 1.0: instructions 71.000 at " in said
    assert "now 71.031 (+0.04 %, below 1 %)" in said
    assert said.count(" is dearer ") == 1


def test_cycles_alarm_only_after_a_confirming_run(tmp_path: Path) -> None:
    once = history(Index([commits(tmp_path / "once", 4, seeded=2, backend="lockstep")]))
    assert [(step.verdict, step.series.cell["impl"]) for step in once.steps] == [("unconfirmed", "rust")]
    twice = history(Index([commits(tmp_path / "twice", 4, seeded=2, backend="lockstep", again=1)]))
    assert [(step.verdict, round(step.change, 2)) for step in twice.steps] == [("dearer", 0.07)]


def test_the_interval_of_the_ratio_decides() -> None:
    before = Measured(100, 99, 101)
    assert direction(before, Measured(103, 102, 104)) == 1
    assert direction(before, Measured(101.2, 100.2, 102.2)) == 0
    assert direction(Measured(103, 102, 104), before) == -1
    assert direction(before, Measured(200, None, None)) == 0
    points = [Point(str(value), "", (Measured(value, value, value),)) for value in (65.25, 65.2504, 65.44)]
    assert [judge(backend, points[0], points[1]) for backend in ("trace", "valgrind")] == ["", ""]
    assert [judge(backend, points[0], points[2]) for backend in ("trace", "valgrind")] == ["dearer", ""]


def test_steps_can_begin_at_a_revision_and_the_page_has_the_plot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = commits(tmp_path / "results", 5, seeded=2)
    assert track.main([str(results), "--since", revision(1), "-o", str(tmp_path / "out")]) == 3
    assert track.main([str(results), "--since", revision(2), "-o", str(tmp_path / "out")]) == 0
    assert track.main([str(results), "--since", "fffff", "-o", str(tmp_path / "out")]) == 1
    assert track.main([str(results), "--since", "HEAD", "-o", str(tmp_path / "out")]) == 0
    assert "0 measured ones begin so" in capsys.readouterr().err
    assert "<svg" in (tmp_path / "out/track.html").read_text()
    assert (tmp_path / "out/figures/history-box1-trace.svg").is_file()


def test_exports_have_the_fields_that_the_tools_read(tmp_path: Path) -> None:
    results = commits(tmp_path / "results", 3, seeded=2)
    write_cells(
        results, [cell("c", "wall", 9.0, metric="mpps", revision=revision(2), committed="2026-01-03T01:00:00Z")]
    )
    out = tmp_path / "out"
    options = [word for name in ("asv", "github", "bencher") for word in ("--export", name)]
    assert track.main([str(results), *options, "-o", str(out)]) == 3
    smaller = json.loads((out / "github-smaller-box1.json").read_text())
    assert {entry["name"]: entry["value"] for entry in smaller}[
        "trace-rust-default-b32-r512-f60.instructions, cc 1.0"
    ] == 71.03125
    assert {"name", "unit", "value", "extra"} == set(smaller[0])
    (bigger,) = json.loads((out / "github-bigger-box1.json").read_text())
    assert bigger["unit"] == "Mpackets/s" and bigger["range"] == "8.91 to 9.09"
    bencher = json.loads((out / "bencher-box1.json").read_text())
    assert bencher["wall-c-default-b32-r512-f60, cc 1.0"]["mpps"] == pytest.approx(
        {"value": 9.0, "lower_value": 8.91, "upper_value": 9.09}
    )
    asv = out / "asv/results"
    names = {path.name for path in (asv / "box1").iterdir()}
    assert names == {"machine.json", *(f"{revision(number)[:8]}-cc-1.0.json" for number in range(3))}
    listed = json.loads((asv / "benchmarks.json").read_text())
    assert listed["version"] == 2 and listed["trace-c-default-b32-r512-f60.instructions"]["type"] == "track"
