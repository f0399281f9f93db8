"""The part of a run that is committed."""

import json
from pathlib import Path

import pandas as pd
import pytest
from triptych_paper import example
from triptych_paper.prose.archive import Archive
from triptych_paper.prose.check import bare_cycles
from triptych_paper.report.build import read_data
from triptych_paper.report.sections import claims
from triptych_paper.tables import tidy_csv

from tests.example import MakeRun, peer_rows, rows, write_run


def test_the_copy_does_not_identify_the_machine(make_run: MakeRun, tmp_path: Path) -> None:
    host = {"host": "secret", "kernel": "6.1", "cpu": {"cpus": 2}, "nics": [{"address": "0000:01:00.0"}]}
    command = [str(Path.cwd() / "build/bin/triptych"), "run", "--results", "/home/me/results"]
    folder = make_run(host=host, command=command)
    (folder / "report" / "figures").mkdir(parents=True)
    (folder / "report" / "figures" / "latency.svg").write_text("<svg/>")
    target = tmp_path / "example"
    target.mkdir()
    (target / "old.svg").write_text("")
    (target / "README.md").write_text("stays")
    assert example.main([str(folder), str(target)]) == 0
    text = (target / "run.json").read_text()
    assert "secret" not in text
    assert "0000:01" not in text
    assert "/home" not in text
    assert json.loads(text)["command"] == ["build/bin/triptych", "run", "--results", "results"]
    assert sorted(path.name for path in target.iterdir()) == [
        "README.md", "latency.svg", "readme-table.md", "run.json", "summary.csv"
    ]  # fmt: skip


def test_the_samples_become_a_row_for_each_cell(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run()
    (folder / "report").mkdir()
    assert example.main([str(folder), str(tmp_path / "example")]) == 0
    summary = pd.read_csv(tmp_path / "example" / "summary.csv")
    cell = summary[(summary["impl"] == "c") & (summary["batch"] == 8) & (summary["backend"] == "lockstep")]
    assert len(cell) == 1
    assert cell["repeats"].item() == 11
    assert cell["p10"].item() < cell["median"].item() < cell["p90"].item()


def test_an_archive_with_the_papers_drivers_counts_their_verdicts_first(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run(lines=[*rows(), *peer_rows()], peers=[{"impl": "ixy", "variant": "default", "commit": "0e00605"}])
    tables = folder / "report" / "tables"
    tables.mkdir(parents=True)
    section = claims.build(read_data(folder))
    records = [record for table in section.tables for record in table.records]
    (tables / "claims.csv").write_text(tidy_csv.render(records, section.joined), encoding="utf-8")
    target = tmp_path / "example"
    assert example.main([str(folder), str(target)]) == 0
    archive = Archive(target)
    assert archive.verdicts.startswith("The paper's own drivers: of ")
    assert "Our drivers (progress): of " in archive.verdicts
    assert archive.info["peers"][0]["commit"] == "0e00605"
    assert "| instructions | C | 127 |" in archive.text("readme-table.md")
    assert bare_cycles(archive.text("readme-table.md")) == []


def test_an_archive_without_subjects_is_about_our_drivers(tmp_path: Path) -> None:
    (tmp_path / "claims.csv").write_text("id,verdict\na,differs\n", encoding="utf-8")
    assert Archive(tmp_path).verdicts == "Our drivers (progress): of 1 published claims, 1 differ."


def test_a_ladder_has_its_own_parts(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run()
    for part in ("figures/latency.svg", "figures/ladder-batch-32.svg", "tables/ladder-batch-8.md"):
        path = folder / "report" / part
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(part)
    (folder / "ladder.json").write_text("{}")
    target = tmp_path / "example"
    assert example.main([str(folder), str(target)]) == 0
    copied = {"ladder-batch-32.svg", "ladder-batch-8.md", "run.json"}
    assert {path.name for path in (target / "ladder").iterdir()} == copied
    table = (target / "ladder" / "ladder-batch-8.md").read_text()
    assert table.endswith("Measured in the run 2026-01-02T03-04-05Z: A Processor, 2 CPUs, virtual machine.\n")


def test_the_newest_run_and_the_newest_ladder_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, ladder, end in (("1", False, "x"), ("2", False, "x"), ("3", True, "x"), ("4", False, None)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "samples.csv").write_text("")
        (folder / "run.json").write_text(json.dumps({"end": end}))
        if ladder:
            (folder / "ladder.json").write_text("{}")
    (tmp_path / "latest").symlink_to("4")
    assert example.main([str(tmp_path), "--newest"]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "2"), str(tmp_path / "3")]
    assert example.main([str(tmp_path / "1"), "--newest"]) == 1
    assert "make bench" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        example.main([str(tmp_path)])


def test_a_run_without_a_report_is_refused(
    make_run: MakeRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert example.main([str(make_run()), str(tmp_path / "example")]) == 1
    assert "make paper" in capsys.readouterr().err


def test_the_newest_comparison_of_compilers_is_a_part(make_run: MakeRun, tmp_path: Path) -> None:
    folder = make_run()
    tables = folder / "report" / "tables"
    tables.mkdir(parents=True)
    compared = tmp_path / "compilers"
    compared.mkdir()
    there = write_run(compared)
    (compared / "latest").symlink_to(there.name)
    head = "llvm,c,rust,impl,batch,metric,times_c,p10,p90\n"
    for batch in (32, 8):
        rows = [
            f"{llvm},clang,rustc,{impl},{batch},instructions,{ratio},,\n"
            for llvm, impl, ratio in ((19, "rust", 1.25), (9, "rust", 3.0), (19, "rust-unsafe", 1.0))
        ]
        (tables / f"compilers-same-llvm-batch-{batch}.csv").write_text(head + "".join(rows))
    target = tmp_path / "example"
    assert example.main([str(folder), str(target)]) == 0
    kept = {"compilers-same-llvm-batch-32.csv", "compilers-same-llvm-batch-8.csv", "run.json"}
    assert {path.name for path in (target / "compilers").iterdir()} == kept
    found = Archive(target).part("compilers").same_llvm(8)
    assert found is not None
    assert (found[0], found[1].value, found[1].exact) == ("19", 1.25, True)
