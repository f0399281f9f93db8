"""Several runs in one folder."""

import json
from pathlib import Path

import pytest
from triptych_paper import merged, table
from triptych_paper.errors import DataError

from tests.example import write_run


@pytest.fixture
def two_clocks(tmp_path: Path) -> Path:
    """Write a folder with a run at each clock."""
    folder = tmp_path / "merged"
    entries = []
    for name, ghz in (("low", 1.6), ("high", 3.3)):
        parent = tmp_path / name
        parent.mkdir()
        run = write_run(parent, core_clock={"fixed_ghz": ghz, "measured_ghz": []}, host={"host": "xeon7"})
        folder.mkdir(exist_ok=True)
        run.rename(folder / name)
        entries.append({"folder": name})
    (folder / "merged.json").write_text(json.dumps({"runs": entries}), encoding="utf-8")
    return folder


def test_merged_runs_stand_side_by_side(two_clocks: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(two_clocks)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Counters per packet by run, batch 32" in out
    written = (two_clocks / "merged.md").read_text(encoding="utf-8")
    assert "| C, 1.6 GHz |" in written
    assert "| unsafe Rust, 3.3 GHz |" in written
    assert "| throughput |" in written
    rows = (two_clocks / "merged.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("run,run_name,impl")
    assert any(",instructions," in row and "3.3 GHz" in row for row in rows)
    for name in ("low", "high"):
        assert (two_clocks / name / "counters.md").is_file()


def test_runs_of_several_machines_are_named_by_machine(two_clocks: Path) -> None:
    other = two_clocks / "high" / "run.json"
    info = json.loads(other.read_text(encoding="utf-8"))
    info["host"]["host"] = "xeon8"
    other.write_text(json.dumps(info), encoding="utf-8")
    assert merged.names(merged.read_runs(two_clocks)) == ["xeon7, 1.6 GHz", "xeon8, 3.3 GHz"]


@pytest.mark.parametrize("text", ["{", "{}", '{"runs": []}', '{"runs": [{"folder": "../x"}]}', '{"runs": [1]}'])
def test_a_malformed_list_of_runs_is_named(two_clocks: Path, text: str) -> None:
    (two_clocks / "merged.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"merged\.json is malformed"):
        merged.read_runs(two_clocks)
