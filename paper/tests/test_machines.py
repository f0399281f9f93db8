"""Merged folders: the index, machines beside each other, duplicates, contradictions, and what is missing."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from triptych_paper import capacity, index, report
from triptych_paper.errors import DataError
from triptych_paper.index import Index
from triptych_paper.records import read_run
from triptych_paper.several import Merged

from tests.synthetic import cell, many, row, write_cells, write_run

OURS = (("c", 80.0), ("rust", 96.0), ("rust-unsafe", 72.0))


@pytest.fixture(autouse=True)
def build_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BUILD", tmp_path_factory.mktemp("build"))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two machines: on the second, safe Rust is slow in time, and C was not measured in L3."""
    cells = [cell(impl, "trace", value, machine="box1") for impl, value in OURS]
    for machine, slow in (("box1", 1.0), ("box2", 2.0)):
        for impl, value in OURS:
            level = value * (slow if impl == "rust" else 1)
            cells.append(cell(impl, "lockstep", level, machine=machine, placement="memory"))
    cells.append(cell("c", "lockstep", 50, machine="box1", placement="l3"))
    return write_cells(tmp_path / "results", cells)


def table(results: Path, name: str) -> str:
    return (results / "report" / "tables" / f"{name}.csv").read_text()


def test_machines_stand_beside_each_other_with_what_was_published(results: Path) -> None:
    assert report.main([str(results)]) == 0
    page = (results / "report" / "report.html").read_text()
    for text in ("published Xeon", "upstream&#39;s raw data, 1.2 GHz", "box1", "box2", "Processor box2"):
        assert text in page
    lines = [line.split(",") for line in table(results, "machines-batch-32").splitlines()]
    ratios = {line[0]: float(line[8]) for line in lines[1:] if line[4] == "rust" and line[1] == "tsc_memory"}
    assert ratios == {"box1": pytest.approx(1.2), "box2": pytest.approx(2.4)}
    disagree = table(results, "machines-disagree")
    assert '"TSC cycles, lines in memory, batch 32: safe Rust ÷ C",box1: 1.200' in disagree
    assert "reproduced" in table(results, "machines-claims") and "box2" in table(results, "machines-claims")


def test_a_cell_that_only_another_machine_has_is_missing_with_its_command(results: Path) -> None:
    (results / "box2" / "r1" / "run.json").write_text(json.dumps(
        {"id": "r1", "command": ["triptych", "run", "--quick", "--cell", "x", "--id", "r1"]}))  # fmt: skip
    assert Merged([results]).missing() == [(
        "box2", "lockstep-c-default-b32-r512-f60-l3",
        "triptych run --quick --machine box2 --id r1 --cell lockstep-b32-r512-f60-l3",
    )]  # fmt: skip


def test_copied_folders_merge_and_count_once_and_newer_runs_win(results: Path) -> None:
    shutil.copytree(results / "box1", results / "copied" / "box1")
    write_cells(results, [cell("c", "trace", 80.0, run="r2", start="2026-02-02T00:00:00Z", machine="box1")])
    merged = Merged([results])
    assert merged.copies() == (7, 1)
    assert merged.contradictions() == []
    newest = {path.parents[1].name for _, _, cells in merged.machines() for path in cells if "trace-c" in path.name}
    assert newest == {"r2"}


def test_compilers_of_one_machine_stand_for_themselves(results: Path) -> None:
    write_cells(results, [cell("c", "trace", 90.0, machine="box1", toolchain="cc 2.0", program="other")])
    names = {name: [path.name[:12] for path in cells] for name, _, cells in Merged([results]).machines()}
    assert list(names) == ["box1, cc 1.0", "box1, cc 2.0", "box2"] and len(names["box1, cc 2.0"]) == 7
    with pytest.raises(DataError, match="shows compilers"):
        (results / "box1/r1/run.json").write_text('{"id": "r1"}')
        read_run(results / "box1" / "r1")


def test_exact_cells_of_one_program_that_differ_are_named(results: Path) -> None:
    write_cells(results, [cell("c", "trace", 81.0, machine="box2")])
    ((name, said),) = Merged([results]).contradictions()
    assert name.startswith("trace-c-default-b32") and said == "instructions 80 (box1/r1) or 81 (box2/r1)"


def test_the_index_reads_only_what_changed_and_forgets_what_is_gone(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = sorted(results.rglob("*.json"))
    Index([results]).close()
    # A file of the same time and size is not read again.
    text = paths[0].read_text()
    status = paths[0].stat()
    paths[0].write_text("x" * len(text))
    os.utime(paths[0], ns=(status.st_atime_ns, status.st_mtime_ns))
    paths[1].unlink()
    paths[2].write_text('{"format": "triptych-cell-1"')
    paths[3].write_text(json.dumps(json.loads(paths[3].read_text()), sort_keys=True, separators=(",", ":")))
    again = Index([results])
    assert again.ask("SELECT count(*) FROM cell") == [(len(paths) - 2,)]
    assert [Path(path) for path, _ in again.wrong] == [paths[2]]
    # A process that was killed while it wrote left the version 0.
    again._connection.close()
    again.file.write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(DataError, match="delete the file"):
        Index([results])
    again.file.unlink()
    assert Index([results]).ask("SELECT count(*) FROM cell") == [(len(paths) - 3,)]


def test_a_run_is_read_from_its_cells_if_it_has_no_newer_table(tmp_path: Path) -> None:
    folder = write_run(tmp_path, [row("c", "default", 32, "trace", "instructions", 70)])
    one = cell("c", "trace", 80.0)
    one["samples"].append(["l1_hits", 6.0, "x", 1000, 0, 0, "", "haswell", "memory"])
    (folder / "cells").mkdir()
    (folder / "cells" / "a.json").write_text(json.dumps(one))
    os.utime(folder / "samples.csv", (0, 0))
    samples = read_run(folder).samples
    assert dict(zip(samples["metric"], samples["value"], strict=True)) == {"instructions": 80.0, "l1_hits": 6.0}
    assert list(samples["placement"]) == ["", "memory"]
    os.utime(folder / "samples.csv")
    assert list(read_run(folder).samples["value"]) == [70.0]
    (folder / "samples.csv").unlink()
    (folder / "cells" / "a.json").write_text("{")
    with pytest.raises(DataError, match=r"a\.json is no cell"):
        read_run(folder)


def test_folders_without_cells_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main([str(tmp_path)]) == report.main([str(tmp_path / "nothing")]) == 1
    assert "no cells" in capsys.readouterr().err


def test_the_plan_is_computed_from_measured_times(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capacity, "COPIES", 50)
    many(results, 1, 1, 10)
    assert capacity.main([str(results), "--cells", "3600", "--overhead", "0", "-o", str(tmp_path / "plan")]) == 0
    assert "2.0 s for an exact cell" in capsys.readouterr().out
    hours = pd.read_csv(tmp_path / "plan/tables/capacity.csv", index_col="nodes")
    assert hours["exclusive cells, h"][1] + hours["exact cells, h"][1] == pytest.approx(2.0, rel=0.01)
    assert hours["exact cells, h"][2] == pytest.approx(hours["exact cells, h"][1] / 2)
    assert "<svg" in (tmp_path / "plan/capacity.html").read_text()
