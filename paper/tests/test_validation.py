"""The section that says how far the model is from measured and published values."""

import json
from pathlib import Path
from typing import Any

import pytest
from triptych_paper.drivers import C
from triptych_paper.errors import DataError
from triptych_paper.published import read_published
from triptych_paper.records import Run, read_run
from triptych_paper.report.figures import canvas, svg
from triptych_paper.report.model import Data, Section
from triptych_paper.report.sections import validation as section
from triptych_paper.sensitivity import FILE, ranked, read_sensitivities
from triptych_paper.tables.model import Table
from triptych_paper.validation import agreement, host_cells, paper_cpus

from tests.example import (
    HEADER,
    HOST_CLOCK,
    HOST_CPU,
    MODEL_CONDITIONS,
    RUNGS,
    MakeRun,
    info,
    ladder,
    ladder_rows,
    modelled_rows,
    peer_rows,
    with_conditions,
    write_run,
)

SETTINGS = {"model": {"version": "7", "host_cpu": HOST_CPU}}
SENSITIVITY = """cpu,implementation,batch_size,parameter,factor,cycles_per_packet
haswell,ixy,32,all,1,100
haswell,ixy,32,l3_latency,0.8,90
haswell,ixy,32,l3_latency,1.2,112
haswell,ixy,32,fill_buffers,0.8,101
haswell,ixy,32,fill_buffers,1.2,99.5
haswell,ixy-rs,32,all,1,110
haswell,ixy-rs,32,l3_latency,0.8,109
haswell,ixy-rs,32,l3_latency,1.2,111
"""


def host(tsc_mhz: float = 2000.0) -> dict[str, Any]:
    description: dict[str, Any] = info()["host"]
    return {**description, "cpu": {**description["cpu"], "tsc_mhz": tsc_mhz}}


def modelled_run(make_run: MakeRun, lines: list[str] | None = None, **changes: Any) -> Run:
    peers = [f"{row},," for row in with_conditions(peer_rows())]
    given = modelled_rows() + peers if lines is None else lines
    settings = {"settings": SETTINGS, "host": host(), **changes}
    return read_run(make_run(lines=given, header=f"{HEADER},{MODEL_CONDITIONS}", **settings))


def built(run: Run) -> Section:
    return section.build(Data(run, read_published()))


def table(found: Section, key: str) -> Table:
    return next(each for each in found.tables if each.key == key)


def test_cycles_of_the_model_become_ticks_of_the_time_stamp_counter(make_run: MakeRun) -> None:
    cells = {(cell.driver, cell.batch): cell for cell in host_cells(modelled_run(make_run))}
    # The fixture models 30 cycles at 2 GHz. The time-stamp counter has the same clock, or half of it.
    assert cells[C, 32].modelled == pytest.approx(30)
    assert cells[C, 32].measured == pytest.approx(33 * 1.05, rel=0.03)
    slow = {(cell.driver, cell.batch): cell for cell in host_cells(modelled_run(make_run, host=host(1000.0)))}
    assert slow[C, 32].modelled == pytest.approx(15)
    assert slow[C, 32].measured == cells[C, 32].measured


def test_the_measured_clock_of_the_core_says_how_long_a_cycle_took(make_run: MakeRun) -> None:
    run = modelled_run(make_run, core_clock={"fixed_ghz": None, "measured_ghz": [2.4, 2.6, 2.5]})
    cells = {(cell.driver, cell.batch): cell for cell in host_cells(run)}
    assert cells[C, 32].modelled == pytest.approx(30 * 2.0 / 2.5)


def test_what_the_model_predicts_for_lockstep_comes_before_its_cycles_with_a_real_card(make_run: MakeRun) -> None:
    predicted = f"c,default,cc 1.0,32,model,lockstep_cycles,40,x,1024,0,512,60,,,{HOST_CPU},{HOST_CLOCK}"
    cells = host_cells(modelled_run(make_run, [*modelled_rows(), predicted]))
    assert [(cell.driver, cell.batch) for cell in cells] == [(C, 32)]
    assert cells[0].modelled == pytest.approx(40)


def test_cells_agree_by_rank_and_by_median_error(make_run: MakeRun) -> None:
    cells = host_cells(modelled_run(make_run))
    found = agreement(cells)
    assert found is not None
    assert found.cells == len(cells) == 8
    assert found.correlation == pytest.approx(1)
    assert found.median_error == pytest.approx(1 - 30 / (33 * 1.05), abs=0.02)
    assert found.worst.error == max(cell.error for cell in cells)
    assert agreement([]) is None
    assert agreement(cells[:2]).correlation is None  # type: ignore[union-attr]


def test_an_opposite_order_has_a_negative_correlation(make_run: MakeRun) -> None:
    lines = modelled_rows()
    for impl, value in (("c", 90), ("rust", 20), ("rust-unsafe", 100)):
        start = f"{impl},default,cc 1.0,32,model,core_cycles,"
        lines = [
            f"{start}{value},x/packet,1024,0,512,60,,,{HOST_CPU},2.0"
            if row.startswith(start) and HOST_CPU in row
            else row
            for row in lines
        ]
    cells = [
        cell
        for cell in host_cells(modelled_run(make_run, lines))
        if cell.batch == 32 and cell.driver.variant == "default"
    ]
    found = agreement(cells)
    assert found is not None
    assert found.correlation is not None
    assert found.correlation < -0.9


def test_without_a_file_of_this_processor_the_reason_is_given(make_run: MakeRun) -> None:
    found = built(modelled_run(make_run, settings={"model": {"version": "7"}}))
    assert not [each for each in found.tables if each.key == "validation-lockstep"]
    assert any("settings.model.host_cpu" in text for text in found.missing)


def test_another_processor_does_not_stand_for_this_one(make_run: MakeRun) -> None:
    lines = [line for line in modelled_rows() if HOST_CPU not in line]
    assert host_cells(modelled_run(make_run, lines)) == []


def test_rungs_of_the_newest_ladder_are_cells_too(make_run: MakeRun, tmp_path: Path) -> None:
    run = modelled_run(make_run)
    parent = tmp_path / "ladder"
    parent.mkdir()
    lines = [f"{row},," for row in ladder_rows()]
    for _, impl, variant, _, cycles in RUNGS:
        lines.append(f"{impl},{variant},cc 1.0,32,model,core_cycles,{cycles},x,1024,0,512,60,,,{HOST_CPU},2.0")
    written = write_run(parent, lines, f"{HEADER},{MODEL_CONDITIONS}", settings=SETTINGS, host=host())
    (written / "ladder.json").write_text(json.dumps(ladder()), encoding="utf-8")
    written.rename(run.folder.parent / "2026-01-02T03-04-09Z")
    shown = table(built(run), "validation-lockstep")
    rows = {row[0].text: row for row in shown.rows}
    assert rows["rungs of the cost ladder"][1].text == "4"
    assert int(rows["all"][1].text) == 12
    assert sum(bool(record["rung"]) for record in shown.records) == 4


def test_published_counters_stand_beside_modelled_ones_of_the_papers_drivers(make_run: MakeRun) -> None:
    run = modelled_run(make_run)
    assert paper_cpus(run) == ["haswell"]
    shown = table(built(run), "validation-published-haswell")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in shown.rows}
    # ixy by its own flags has 1.05 times the values of the fixture.
    assert rows["instructions"][:3] == ["136.5", "127", "1.07"]
    assert rows["cycles"][:3] == ["96.6", "94", "1.03"]
    assert rows["L2 hits, L3 hits and L3 misses"][:3] == ["2.31", "2.3", "1.00"]
    assert rows["cycles, ixy.rs ÷ ixy"][3:6] == ["1.57", "1.06", "1.48"]
    kinds = {record["metric"]: record["kind"] for record in shown.records}
    assert (kinds["loads"], kinds["l2_hits"], kinds["beyond_l1"]) == ("counted", "modelled", "modelled")


def test_each_limit_has_its_farthest_value_and_whether_it_is_met(make_run: MakeRun) -> None:
    shown = table(built(modelled_run(make_run)), "validation-limits-haswell")
    rows = {row[0].text: row for row in shown.rows}
    assert rows["instructions"][4].text == "met"
    assert rows["branches"][4].text == "exceeded"
    assert rows["branches"][4].tone == "bad"
    assert rows["cycles"][3].text == "ixy.rs, batch 32"
    assert rows["cycles"][2].text.startswith("+51")
    assert rows["cycles, ixy.rs ÷ ixy, batch 32"][4].text == "exceeded"
    met = {record["what"]: record["met"] for record in shown.records}
    assert met["instructions"] is True


def test_the_text_says_by_how_much_the_model_is_wrong(make_run: MakeRun) -> None:
    text = " ".join(built(modelled_run(make_run)).text)
    assert "version 7 of the model" in text
    assert "most wrong for ixy.rs at batch 32" in text
    assert "over 8 cells: the rank correlation is 1.00" in text


def test_without_the_papers_drivers_the_command_is_named(make_run: MakeRun) -> None:
    ours = [line for line in modelled_rows() if not line.startswith("ixy")]
    assert any("`make peers`" in text for text in built(modelled_run(make_run, ours)).missing)


def test_a_run_without_the_model_says_so(make_run: MakeRun) -> None:
    found = built(read_run(make_run()))
    assert found.missing == ("Not measured: this run did not use the backend model.",)
    assert not found.tables


def test_sensitivities_are_ranked_and_drawn(make_run: MakeRun) -> None:
    run = modelled_run(make_run)
    (run.folder / FILE).write_text(SENSITIVITY, encoding="utf-8")
    found = read_sensitivities(run.folder)
    assert ranked(found) == ["l3_latency", "fill_buffers"]
    first = next(each for each in found if each.driver.impl == "ixy" and each.parameter == "l3_latency")
    assert first.changes == {0.8: pytest.approx(-0.1), 1.2: pytest.approx(0.12)}
    shown = built(run)
    rows = [[cell.text for cell in row] for row in table(shown, "validation-sensitivity-haswell-batch-32").rows]
    assert rows == [["l3_latency", "−10.0 / +12.0", "−0.9 / +0.9"], ["fill_buffers", "+1.0 / −0.5", "–"]]
    assert any("l3_latency matters most" in text and "up to 12.0 %" in text for text in shown.text)
    for figure in shown.figures:
        assert svg(canvas(figure), figure.key).startswith("<svg")
    assert len(shown.figures) == 2


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("parameter,factor", "factor,parameter", "line 1: the columns are cpu,"),
        ("haswell,ixy,32,all,1,100\n", "", "haswell ixy 32 has no row with factor 1"),
        ("ixy,32,l3_latency,0.8,90", "fortran,32,l3_latency,0.8,90", "line 3: implementation 'fortran' is unknown"),
        ("0.8,90", "0.8,many", "line 3: could not convert"),
        ("0.8,90", "0,90", "line 3: factor and cycles_per_packet are not above 0"),
        ("0.8,90", "0.8,inf", "line 3: factor and cycles_per_packet are not above 0"),
    ],
)
def test_a_malformed_sensitivity_is_named_by_line(tmp_path: Path, old: str, new: str, why: str) -> None:
    (tmp_path / FILE).write_text(SENSITIVITY.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_sensitivities(tmp_path)
    assert why in str(error.value)


def test_no_sensitivities_need_no_file(tmp_path: Path) -> None:
    assert read_sensitivities(tmp_path) == ()


def test_equal_modelled_values_have_no_correlation(make_run: MakeRun) -> None:
    lines = [line for line in modelled_rows() if HOST_CPU not in line]
    for impl in ("c", "rust", "rust-unsafe"):
        lines.append(f"{impl},default,cc 1.0,32,model,core_cycles,30,x,1024,0,512,60,,,{HOST_CPU},2.0")
    found = agreement(host_cells(modelled_run(make_run, lines)))
    assert found is not None
    assert (found.cells, found.correlation) == (3, None)
