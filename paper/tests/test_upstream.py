"""The tables of a run with the paper's own drivers and others."""

from pathlib import Path

import pytest
from triptych_paper import others, table, upstream
from triptych_paper.counter_tables import tables
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.tables.model import Cell, Record, Table

from tests.example import MakeRun, peer_rows, rows

PUBLISHED, UPSTREAM, OURS, REPRODUCTION, PROGRESS, SOURCE = range(2, 8)


@pytest.fixture
def both(make_run: MakeRun) -> Path:
    """Write a run with our drivers and other projects'."""
    return make_run(lines=[*rows(), *peer_rows()])


def per_packet(folder: Path, batch: int = 32) -> Table:
    return upstream.per_packet(read_run(folder), read_published(), batch)


def row(found: Table, label: str, driver: str) -> tuple[Cell, ...]:
    """Return the row of a driver below a label; only the first row of a group has the label."""
    current = ""
    for cells in found.rows:
        current = cells[0].text or current
        if (current, cells[1].text) == (label, driver):
            return cells
    raise AssertionError(f"no row {label}, {driver}")


def record(found: Table, metric: str, impl: str, variant: str = "default") -> Record:
    key = (metric, impl, variant)
    return next(r for r in found.records if (r["metric"], r["impl"], r["variant"]) == key)


def test_published_upstream_and_ours_stand_in_this_order(both: Path) -> None:
    found = per_packet(both)
    assert [column.heading for column in found.columns][1:7] == [
        "driver", "published", "upstream here", "ours", "upstream ÷ published", "ours ÷ upstream"
    ]  # fmt: skip
    cells = row(found, "instructions", "safe Rust")
    assert [cell.text for cell in cells[PUBLISHED : PROGRESS + 1]] == ["209", "214.5", "208.0", "1.03", "1.00"]


def test_upstream_has_its_own_flags_and_the_progress_has_ours(both: Path) -> None:
    cells = row(per_packet(both), "instructions", "C")
    # 130 * 1.05 by its own flags is compared with 127, and our 130 with 130 * 1.02 by our flags.
    assert (cells[UPSTREAM].text, cells[UPSTREAM].detail) == ("136.5", ("(132.6)",))
    assert (cells[REPRODUCTION].text, cells[PROGRESS].text) == ("1.07", "0.98")
    transpiled = row(per_packet(both), "instructions", "unsafe Rust")
    assert (transpiled[UPSTREAM].text, transpiled[UPSTREAM].detail) == ("126.1", ())


def test_a_reproduction_needs_the_published_unit_and_a_progress_does_not(both: Path) -> None:
    cells = row(per_packet(both), "stores", "C")
    assert (cells[PUBLISHED].text, cells[REPRODUCTION].text, cells[PROGRESS].text) == ("21.8", "–", "0.98")


def test_lockstep_has_no_value_of_another_projects_program(both: Path) -> None:
    cells = row(per_packet(both), "TSC cycles", "C")
    assert cells[UPSTREAM].text == "–"
    assert "programs of their own" in cells[UPSTREAM].notes[0]
    assert cells[OURS].text == "35.0"


def test_the_progress_of_a_noisy_value_is_paired_and_has_its_spread(both: Path) -> None:
    found = upstream.compared(read_run(both), read_published(), 32)
    cells = row(found, "throughput, Mpps", "C")
    assert cells[PROGRESS].text == "1.69"
    assert cells[PROGRESS].detail == ("1.67 to 1.70",)
    ours = record(found, "mpps", "c")
    assert ours["ratio_to_upstream"] == pytest.approx(20 / (12.1 / 1.02))
    assert ours["ratio_to_upstream_p10"] < ours["ratio_to_upstream"] < ours["ratio_to_upstream_p90"]


def test_the_ratio_to_c_is_of_the_same_project(both: Path) -> None:
    found = upstream.compared(read_run(both), read_published(), 32)
    cells = row(found, "instructions, times C", "safe Rust")
    assert [cell.text for cell in cells[PUBLISHED : PROGRESS + 1]] == ["1.65", "1.57", "1.60", "0.95", "1.02"]


def test_records_name_each_driver_and_its_flags(both: Path) -> None:
    found = per_packet(both)
    assert record(found, "instructions", "ixy", "own-flags")["ratio_to_published"] == pytest.approx(136.5 / 127)
    assert record(found, "instructions", "ixy")["value"] == pytest.approx(132.6)
    assert record(found, "instructions", "c")["ratio_to_upstream"] == pytest.approx(1 / 1.02)
    keys = [(r["metric"], r["impl"], r["variant"]) for r in found.records]
    assert len(keys) == len(set(keys))


def test_the_tables_fit_100_columns(both: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(both)]) == 0
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= 100
    assert "The paper's own drivers are not in this run" not in out
    text = " ".join(out.split())
    assert text.index("The paper's own drivers: of") < text.index("Our drivers (progress): of")
    assert "Other drivers on the same card, batch 32" in out


def test_a_run_without_upstream_says_so_above_the_table(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = [{"impl": "ixy", "variant": "default", "reason": "no network"}]
    folder = make_run(skipped_peers=skipped)
    assert table.main([str(folder)]) == 0
    out = capsys.readouterr().out
    above = " ".join(out[: out.index("Counters per packet")].split())
    assert "not in this run: `make peers` builds them" in above
    assert "Skipped: ixy: no network." in above
    assert "upstream here" not in out
    assert "`make peers`" in (folder / "counters.md").read_text(encoding="utf-8")


def test_a_missing_driver_has_its_reason(make_run: MakeRun) -> None:
    lines = [line for line in [*rows(), *peer_rows()] if not line.startswith("ixy-rs,")]
    skipped = [{"impl": "ixy-rs", "variant": "default", "reason": "cargo is missing"}]
    cells = row(per_packet(make_run(lines=lines, skipped_peers=skipped)), "instructions", "safe Rust")
    assert cells[UPSTREAM].notes == ("not measured: ixy-rs/default was skipped: cargo is missing",)
    assert (cells[PUBLISHED].text, cells[OURS].text, cells[PROGRESS].text) == ("209", "208.0", "–")


def test_other_drivers_say_what_they_change_and_how_ours_compares(both: Path) -> None:
    found = others.table(read_run(both), 32)
    names = [(cells[0].text, cells[1].text) for cells in found.rows]
    assert names[0] == ("C", "one byte")
    assert names[-4:] == [
        ("DPDK, vector", "nothing (io)"),
        ("DPDK, vector", "both MAC addresses"),
        ("DPDK, scalar", "nothing (io)"),
        ("DPDK, scalar", "both MAC addresses"),
    ]
    vector = next(cells for cells in found.rows if cells[0].text == "DPDK, vector")
    assert vector[2].text == "117.0"
    assert vector[7].text == "1.11"
    throughput = record(found, "mpps", "dpdk-vector")
    assert throughput["our_c_divided_by_it"] == pytest.approx(20 / (12.1 / 0.9))


def test_only_dpdk_is_no_upstream(make_run: MakeRun) -> None:
    lines = [*rows(), *(line for line in peer_rows() if line.startswith("dpdk"))]
    found = tables(read_run(make_run(lines=lines)), read_published(), 32)
    assert [each.key for each in found] == ["counters-batch-32", "compared-batch-32", "others-batch-32"]
    assert found[0].columns[1].heading == "C"


def test_the_readme_has_the_three_columns(both: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(both), "--readme"]) == 0
    out = capsys.readouterr().out
    assert "| instructions | C | 127 | **136.5**<br>(132.6) | **130.0** | 1.07 | 0.98 | valgrind |" in out
    assert "| throughput, Mpps | C |" in out
    assert out.count("\n- ") <= 3
