"""The archive: what `make paper-example` writes, and that documents and archive agree."""

import json
import re
from pathlib import Path

import pytest
from triptych_paper import applications, example, report
from triptych_paper.errors import DataError

from tests.synthetic import row, rows, write_run

ROOT = Path(__file__).parents[2]
APPS = (
    "application,server,variant,client,round,requests,failed,seconds,rate,p50_ms,p99_ms,p999_ms\n"
    "kv,c,default,GET,1,10,0,1,1000,1,2,3\nkv,c,default,GET,2,10,0,1,2000,1,2,3\n"
    "kv,rust,default,GET,1,10,0,1,1100,1,1,3\nkv,rust,default,GET,2,10,0,1,2000,1,4,3\n"
    "kv,redis-server,default,GET,1,10,0,1,500,1,2,3\n"
)
LAYERS = (
    "application,server,client,round,requests,layer,instructions\n"
    "kv,c,GET,1,10,driver,100\nkv,c,GET,1,10,stack,300\nkv,c,GET,1,10,application,600\n"
)


def test_documents_and_archive_agree() -> None:
    """`make paper-example` puts the tables into the documents."""
    included = 0
    for name in example.DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert example.included(text, ROOT) == text, f"{name} differs from paper/example: run `make paper-example`"
        included += len(example.INCLUDED.findall(text))
        assert text.count("<!-- table:") == text.count("<!-- /table -->")
    assert included >= 5


def test_the_archive_has_tables_summary_and_no_name_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("# A\n<!-- table: paper/example/readme.md -->\nold\n<!-- /table -->\nend\n")
    run = write_run(tmp_path / "results")
    target = tmp_path / "paper" / "example"
    assert example.main([str(run), str(target)]) == 1
    assert "run `make paper` first" in capsys.readouterr().err
    assert report.main([str(run)]) == 0
    assert example.main([str(run), str(target)]) == 0
    names = {path.name for path in target.iterdir()}
    assert {
        "run.json",
        "summary.csv",
        "readme.md",
        "counters-batch-8.md",
        "counters-batch-32.svg",
        "claims.csv",
    } <= names
    assert "secret" not in (target / "run.json").read_text()
    assert "| instructions | **127**" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "README.md").read_text().endswith("<!-- /table -->\nend\n")
    summary = (target / "summary.csv").read_text()
    assert "low,high,p10,p90" in summary and "lockstep" in summary


def test_applications_are_archived_with_ratios_in_the_same_round(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, text in (("apps.csv", APPS), ("layers.csv", LAYERS), ("run.json", json.dumps({"id": "x"}))):
        (folder / name).write_text(text)
    rates, ratios, layers = applications.tables(folder)
    assert [cell.text for cell in rates.rows[0]] == ["kv: GET", "1.50 k", "1.55 k", "0.500 k (redis-server)"]
    assert (
        ratios.rows[0][1]
        == ratios.rows[1][1]
        == type(ratios.rows[0][1])("1.05 (1.00 to 1.10)", ("1.25 (0.50 to 2.00)",))
    )
    assert [cell.text for cell in layers.rows[0][2:]] == ["100", "300", "600", "0", "1,000", "10.0 %"]
    written = example.archive(folder, tmp_path / "example")
    assert {path.name for path in written} == {
        "apps.csv",
        "layers.csv",
        "rates.md",
        "ratios.md",
        "layers.md",
        "run.json",
    }
    (folder / "apps.csv").write_text(APPS.replace("kv,rust,", "kv,perl,"))
    with pytest.raises(DataError, match="perl/default"):
        applications.tables(folder)


def test_each_step_of_the_history_is_explained() -> None:
    folder = ROOT / "paper/example/history"
    text = (folder / "README.md").read_text(encoding="utf-8")
    steps = {line[:10] for line in (folder / "history.csv").read_text(encoding="utf-8").splitlines()[1:]}
    assert steps == {line[2:12] for line in text.splitlines() if re.match(r"\| [0-9a-f]{10} \|.*\w\. \|$", line)}


def test_the_newest_finished_run_of_each_kind_is_found(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="run `make bench` first"):
        example.newest(tmp_path)
    kinds: dict[str, list[str]] = {"1": [], "2": ["ladder.json"], "3": [], "4": []}
    for name, files in kinds.items():
        folder = write_run(tmp_path, rows(False)[:1], end=None if name == "4" else "now").rename(tmp_path / name)
        for file in files:
            (folder / file).write_text("{}")
    for name, command in (("5", ["apps"]), ("6", ["apps", "--quick"])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "apps.csv").write_text(APPS)
        (tmp_path / name / "run.json").write_text(json.dumps({"command": command}))
    (tmp_path / "latest").symlink_to("4")
    assert [path.name for path in example.newest(tmp_path)] == ["3", "2", "5"]


def test_the_table_of_the_ladder_has_both_batch_sizes(tmp_path: Path) -> None:
    lines = [row(*rung, batch, "trace", "instructions", value + batch) for batch in (32, 8) for rung, value in (
        (("rust-unsafe", "default"), 70), (("rust", "default"), 77))]  # fmt: skip
    folder = write_run(tmp_path, lines)
    rungs = [
        {"name": title, "impl": impl, "variant": "default", "title": title, "shipped": impl == "rust", "alone": None}
        for impl, title in (("rust-unsafe", "transpiled"), ("rust", "checks"))
    ]
    (folder / "ladder.json").write_text(json.dumps({"rungs": rungs}))
    assert report.main([str(folder)]) == 0
    example.archive(folder, tmp_path / "example")
    table = (tmp_path / "example" / "ladder" / "readme.md").read_text().splitlines()
    assert table[0] == "| instructions per packet | batch 32 | alone | batch 8 | alone |"
    assert table[2:] == [
        "| transpiled | 102.0 |  | 78.0 |  |",
        "| checks (the shipped driver) | +7.0 | +7.0 | +7.0 | +7.0 |",
    ]
