"""The published table: the backend of each row, quotients, reasons, and the README's table."""

import json
from pathlib import Path
from typing import Any

import pytest
from triptych_paper import counters, table
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.tables.model import Table
from triptych_paper.values import Values

from tests.synthetic import cycles, row, rows, write_run


def built(folder: Path, batch: int = 32) -> Table:
    return counters.per_packet(Values(read_run(folder)), read_published(), batch)


def texts(found: Table, label: str) -> list[list[str]]:
    """The cells of a row, from its label to that of the next one."""
    lines: list[list[str]] = []
    for cells in found.rows:
        if cells[0].text == label or (lines and not cells[0].text):
            lines.append([cell.text for cell in cells[1:]])
        elif lines:
            break
    return lines


def test_a_row_of_counts_has_published_upstream_and_ours_from_one_backend(tmp_path: Path) -> None:
    found = texts(built(write_run(tmp_path)), "instructions")
    assert found[0] == ["C", "127", "128.0", "80.0", "1.01", "0.67", "trace"]
    assert [line[0] for line in found] == ["C", "safe Rust", "safe Rust, overflow checks", "unsafe Rust"]


def test_cycles_of_ours_are_by_lockstep_and_of_upstream_by_burst_and_perf_alone_gives_core_cycles(
    tmp_path: Path,
) -> None:
    found = built(write_run(tmp_path))
    memory = texts(found, "TSC cycles, lines in memory")
    assert memory[0][-1] == "lockstep; upstream: burst"
    # The progress divides values of one backend, and no TSC cycles stand beside published core cycles.
    assert (memory[0][1], memory[0][4], memory[0][5]) == ("–", "–", "0.67")
    core = texts(found, "core cycles")
    assert [line[1:4] for line in core[:2]] == [["94", "–", "–"], ["100", "–", "–"]]
    assert "not measurable here: no PMU" in found.footnotes()


def test_instructions_per_tsc_cycle_are_not_instructions_per_core_cycle(tmp_path: Path) -> None:
    found = built(write_run(tmp_path))
    assert texts(found, "instructions per core cycle")[0][1:4] == ["1.35", "–", "–"]
    per_tsc = texts(found, "instructions per TSC cycle")[0]
    assert per_tsc[1] == "–"
    assert float(per_tsc[3]) == pytest.approx(80 / 50, rel=0.05)


def test_no_quotient_of_values_near_zero(tmp_path: Path) -> None:
    misses = texts(built(write_run(tmp_path)), "branch mispredicts")
    assert [line[4:6] for line in misses] == [["–", "–"]] * 3


def test_hardware_counters_come_first(tmp_path: Path) -> None:
    more = [
        row("c", "default", 32, "perf", metric, value) for metric, value in (("core_cycles", 95), ("instructions", 81))
    ]
    settings: dict[str, object] = {"perf": {}, "trace": {}, "lockstep": {}}
    found = built(write_run(tmp_path, [*rows(), *more], not_measurable={}, settings=settings))
    assert texts(found, "instructions")[0][3] == "81.0"
    assert texts(found, "core cycles")[0][3] == "95.0"


def test_throughput_that_the_card_limits_is_not_shown(tmp_path: Path) -> None:
    starved = [line.replace("full_batch_ratio,0.99", "full_batch_ratio,0.04") for line in rows()]
    found = built(write_run(tmp_path, starved))
    assert texts(found, "throughput, Mpps (published: 1.6 GHz)")[0][:4] == ["C", "16.3", "–", "–"]
    assert sum("set the pace" in note for note in found.footnotes()) == 1


def test_the_reason_of_a_failed_cell_stands_once(tmp_path: Path) -> None:
    kept = [line for line in rows() if not line.startswith("rust-unsafe,default,cc 1.0,32,lockstep")]
    failed = {"impl": "rust-unsafe", "variant": "default", "batch": 32, "backend": "lockstep", "cause": "a broken wire"}
    found = built(write_run(tmp_path, kept, failures=[failed]))
    assert texts(found, "TSC cycles, lines in memory")[3][3] == "–"
    assert [note for note in found.footnotes() if "broken wire" in note] == ["failed: a broken wire"]


def test_a_placement_that_the_processor_lacks_has_its_reason(tmp_path: Path) -> None:
    kept = [line for line in rows() if ",warm," not in line]
    settings = {"trace": {}, "lockstep": {"not_placeable": {"warm": "no such cache"}}}
    notes = built(write_run(tmp_path, kept, settings=settings)).footnotes()
    assert "not measurable here by lockstep: no such cache" in notes


def test_two_states_stand_beside_each_other(tmp_path: Path) -> None:
    kept = [line for line in rows() if not line.startswith("ixy-rs,own-flags,cc 1.0,32,burst")]
    slow = cycles("ixy-rs", "own-flags", 32, "burst", 62)
    fast = cycles("ixy-rs", "own-flags", 32, "burst", 45)
    split = slow[:30] + fast[30:]
    found = texts(built(write_run(tmp_path, [*kept, *split])), "TSC cycles, lines in memory")
    assert found[1][2].count(" or ") == 1


def test_the_program_prints_both_batch_sizes_and_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_run(tmp_path)
    assert table.main([str(folder)]) == 0
    said = capsys.readouterr().out
    for text in ("batch 32", "batch 8", "times C", "safe Rust,", "at revision 0123456789", "claims, "):
        assert text in said
    assert max(map(len, said.splitlines()[:-1])) <= 120
    assert "unit" in (folder / "counters.csv").read_text().splitlines()[0]
    assert "Counters per packet, batch 8" in (folder / "counters.md").read_text()


def test_without_upstream_a_line_says_how_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main([str(write_run(tmp_path, rows(upstream=False)))]) == 0
    assert "`make peers` builds them" in capsys.readouterr().out


def test_the_table_of_the_readme_has_seven_rows_and_four_results_with_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table.main([str(write_run(tmp_path)), "--readme"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("| ")]) == 8
    results = [line for line in lines if line.startswith("- ")]
    assert [line.split("**")[1] for line in results] == [
        "Instructions, one LLVM", "Instructions", "TSC cycles with lines in memory", "TSC cycles with lines warm"
    ]  # fmt: skip
    assert "1.20 (1.20 to 1.20) at batch 32" in results[2]
    # The tuned path has a row if it was measured.
    assert not any("tuned" in line for line in lines)
    tuned = [row(impl, "tuned", 32, "trace", "instructions", value) for impl, value in (("c", 20), ("rust", 21))]
    assert table.main([str(write_run(tmp_path, [*rows(), *tuned])), "--readme"]) == 0
    assert "| instructions, tuned path | – | – | **20.0** | – | – | **21.0** | trace |" in capsys.readouterr().out
    assert any("2026-01-02T03-04-05Z at revision 0123456789" in line for line in lines)


def test_several_runs_stand_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write_run(tmp_path / name) for name in ("one", "two")]
    assert table.main([str(run) for run in runs]) == 0
    assert "Counters and ratios, batch 32" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"end": None}, "is incomplete"),
        ({"git": {"revision": "fedcba9876543210", "dirty": False}}, "other revisions"),
        ({"git": {"revision": "0123456789abcdef", "dirty": True}}, "other revisions"),
        ({"plan": {"wall": {"repeats": 4}, "devices": ["a", "b"]}}, "differ in: wall"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any], why: str
) -> None:
    runs = [write_run(tmp_path / name) for name in ("one", "two")]
    info = json.loads((runs[1] / "run.json").read_text())
    (runs[1] / "run.json").write_text(json.dumps({**info, **change}))
    assert table.main([str(run) for run in runs]) == 1
    assert why in capsys.readouterr().err
