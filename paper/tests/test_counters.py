"""The tables of counters per packet."""

import math
from pathlib import Path

import pandas as pd
import pytest
from triptych_paper import counters
from triptych_paper.drivers import RUST, C
from triptych_paper.errors import DataError
from triptych_paper.published import read_published
from triptych_paper.records import read_run
from triptych_paper.report.build import read_data
from triptych_paper.report.sections import counters as counters_section
from triptych_paper.schema import metric
from triptych_paper.statistics import paired_ratio, summarise
from triptych_paper.tables import markdown, terminal
from triptych_paper.tables.model import Cell, Record, Table

from tests.example import DRIVERS, MakeRun, rows

C_COLUMN, RUST_COLUMN, CHECKED_COLUMN, UNSAFE_COLUMN, SOURCE = range(1, 6)


def per_packet(folder: Path, batch: int = 32) -> Table:
    return counters.per_packet(read_run(folder), read_published(), batch)


def compared(folder: Path, batch: int = 32) -> Table:
    return counters.compared(read_run(folder), read_published(), batch)


def cell(table: Table, label: str, column: int) -> Cell:
    return next(row for row in table.rows if row[0].text == label)[column]


def record(table: Table, metric: str, impl: str, variant: str = "default") -> Record:
    key = (metric, impl, variant)
    return next(r for r in table.records if (r["metric"], r["impl"], r["variant"]) == key)


def test_a_median_ignores_an_outlier() -> None:
    summary = summarise(pd.Series([1.0, 2.0, 3.0, 4.0, 100.0]))
    assert summary is not None
    assert (summary.median, summary.count) == (3.0, 5)
    assert summary.low < summary.median < summary.high
    assert summarise(pd.Series(dtype=float)) is None


def test_a_paired_ratio_cancels_a_common_disturbance() -> None:
    base = pd.Series([10.0, 30.0, 11.0], index=[0, 1, 2])
    ratio = paired_ratio(base * 1.5, base)
    assert ratio is not None
    assert (ratio.low, ratio.median, ratio.high) == (1.5, 1.5, 1.5)


def test_only_common_repeats_are_paired() -> None:
    ratio = paired_ratio(pd.Series([4.0, 9.0], index=[1, 7]), pd.Series([5.0, 2.0, 0.0], index=[0, 1, 2]))
    assert ratio is not None
    assert (ratio.median, ratio.count) == (2.0, 1)
    assert paired_ratio(pd.Series([4.0], index=[1]), pd.Series([5.0], index=[2])) is None


def test_measured_values_have_their_published_counterparts(make_run: MakeRun) -> None:
    table = per_packet(make_run())
    instructions = cell(table, "instructions", RUST_COLUMN)
    assert (instructions.text, instructions.published) == ("208.0", "209, 1.00")
    assert record(table, "instructions", "rust")["value"] == pytest.approx(208.0)
    assert record(table, "instructions", "rust")["ratio_to_published"] == pytest.approx(208 / 209)
    assert cell(table, "instructions", CHECKED_COLUMN).published == ""
    assert record(table, "branch_misses", "c")["backend"] == "valgrind"


def test_every_counter_of_the_schema_has_a_row(make_run: MakeRun) -> None:
    names = counters.counter_names()
    assert names[:3] == ["cycles", "instructions", "ipc"]
    assert {"l1_hits", "l2_hits", "l3_hits", "l3_misses"} <= set(names)
    assert len(per_packet(make_run()).rows) == len(names)


def test_the_loads_of_the_paper_win_over_the_typing_error_of_the_page(make_run: MakeRun) -> None:
    assert cell(per_packet(make_run(), 8), "loads", C_COLUMN).published.startswith("33.4")


def test_c2rust_is_compared_at_batch_32_only(make_run: MakeRun) -> None:
    folder = make_run()
    figure = cell(per_packet(folder), "instructions", UNSAFE_COLUMN)
    assert figure.published.startswith("121")
    assert any("without batch size" in note for note in figure.notes)
    assert cell(per_packet(folder, 8), "instructions", UNSAFE_COLUMN).published == ""


def test_cycles_are_core_cycles_from_perf_or_else_tsc_cycles_from_lockstep(make_run: MakeRun) -> None:
    assert cell(per_packet(make_run()), "TSC cycles", SOURCE).text == "lockstep"
    perf = [f"{impl},{variant},cc 1.0,32,perf,core_cycles,50,x/packet,1000,0" for impl, variant, _ in DRIVERS]
    table = per_packet(make_run(lines=[*rows(), *perf]))
    label = metric("core_cycles").label
    assert cell(table, label, SOURCE).text == "perf"
    assert cell(table, label, C_COLUMN).text == "50.0"
    assert not any(row[0].text == "TSC cycles" for row in table.rows)


def test_instructions_of_one_backend_are_not_divided_by_cycles_of_another(make_run: MakeRun) -> None:
    found = cell(per_packet(make_run()), "instructions per cycle", C_COLUMN)
    assert (found.text, found.published, found.notes) == ("–", "1.35", ("not measurable here: no PMU",))


def test_a_quotient_needs_the_published_unit(make_run: MakeRun) -> None:
    table = per_packet(make_run())
    assert cell(table, "loads", RUST_COLUMN).published == "77.0"
    assert record(table, "loads", "rust")["ratio_to_published"] is None
    assert cell(table, "TSC cycles", C_COLUMN).published == "94"


def test_the_cycles_of_the_readme_have_their_spread_and_their_machine(make_run: MakeRun) -> None:
    table = counters.readme(read_run(make_run()), read_published())
    assert cell(table, "TSC cycles", C_COLUMN).detail
    assert not cell(table, "instructions", C_COLUMN).detail
    assert "Measured in the run 2026-01-02T03-04-05Z: A Processor, 2 CPUs, virtual machine." in table.note


def test_hardware_counters_are_preferred(make_run: MakeRun) -> None:
    perf = "c,default,cc 1.0,32,perf,instructions,140,instructions/packet,1000,0"
    table = per_packet(make_run(lines=[*rows(), perf]))
    assert (cell(table, "instructions", C_COLUMN).text, cell(table, "instructions", SOURCE).text) == ("140.0", "perf")


def test_the_ratio_to_c_is_paired(make_run: MakeRun) -> None:
    table = compared(make_run())
    found = record(table, "tsc_cycles_times_c", "rust")
    assert found["value"] == pytest.approx(1.6)
    assert (found["p10"], found["p90"]) == pytest.approx((1.6, 1.6))
    assert cell(table, "TSC cycles, times C", RUST_COLUMN).published.startswith("1.06")


def test_a_published_zero_has_no_ratio(make_run: MakeRun) -> None:
    table = per_packet(make_run())
    assert cell(table, "load L3 hits", RUST_COLUMN).published == "0.0"
    assert record(table, "l3_hits", "rust")["ratio_to_published"] is None


def test_a_counter_without_a_pmu_is_absent_with_the_reason(make_run: MakeRun) -> None:
    found = cell(per_packet(make_run()), "load L2 hits", C_COLUMN)
    assert (found.text, found.notes) == ("–", ("not measurable here: no PMU",))


def test_a_counter_that_the_hardware_lacks_has_the_reason(make_run: MakeRun) -> None:
    absent = {"l2_hits": "the processor has no such event", "loads": "the kernel refuses the event"}
    perf = [f"{impl},{variant},cc 1.0,32,perf,core_cycles,50,x/packet,1000,0" for impl, variant, _ in DRIVERS]
    settings = {"valgrind": {}, "lockstep": {}, "wall": {}, "perf": {"not_measurable_metrics": absent}}
    run = make_run(lines=[*rows(), *perf], settings=settings, not_measurable={})
    table = per_packet(run)
    reason = "not measurable here by perf: the processor has no such event"
    assert cell(table, "load L2 hits", C_COLUMN).notes == (reason,)
    # Another backend counts the loads instead.
    assert cell(table, "loads", SOURCE).text == "valgrind"
    why = "Not measurable here by hardware counters: the kernel refuses the event."
    assert why in terminal.render_all([table])
    report = counters_section.build(read_data(run)).tables[0]
    assert {why, reason} <= set(report.footnotes())


def test_an_unavailable_backend_is_named(make_run: MakeRun) -> None:
    lines = [line for line in rows() if ",valgrind," not in line]
    run = make_run(lines=lines, not_measurable={"perf": "no PMU", "valgrind": "valgrind is not installed"})
    table = per_packet(run)
    reason = "not measurable here: valgrind is not installed"
    assert cell(table, "loads", C_COLUMN).notes == (reason,)
    assert cell(table, "branches", C_COLUMN).notes == (reason,)
    assert cell(table, "TSC cycles", C_COLUMN).text != "–"
    assert "Not measurable here: valgrind is not installed" in terminal.render_all([table])


def test_a_failed_driver_is_absent_with_the_cause(make_run: MakeRun) -> None:
    failure = {"impl": "c", "variant": "default", "batch": 32, "backend": "lockstep", "cause": "no link"}
    lines = [line for line in rows() if not line.startswith("c,default,cc 1.0,32,lockstep")]
    run = make_run(lines=lines, failures=[failure])
    assert "failed: c/default: no link" in cell(per_packet(run), "TSC cycles", C_COLUMN).notes
    assert cell(per_packet(run), "TSC cycles", RUST_COLUMN).text != "–"
    # Without C there is no ratio, and C's failure is the reason.
    assert "c/default" in "".join(cell(compared(run), "TSC cycles, times C", RUST_COLUMN).notes)


def test_an_omitted_driver_or_backend_has_a_reason(make_run: MakeRun) -> None:
    lines = [line for line in rows() if line.startswith("c,")]
    table = per_packet(make_run(lines=lines, settings={"valgrind": {}, "wall": {}}))
    assert "did not use the backend lockstep" in "".join(cell(table, "TSC cycles", RUST_COLUMN).notes)
    assert "no samples of rust/default at batch 32" in "".join(cell(table, "loads", RUST_COLUMN).notes)


def test_published_batches_come_first(make_run: MakeRun) -> None:
    extra = [f"c,default,cc 1.0,{batch},wall,mpps,1,Mpackets/s,1,0" for batch in (64, 1)]
    assert counters.measured_batches(read_run(make_run(lines=[*rows(), *extra]))) == [32, 8, 1, 64]


def test_the_tables_fit_a_terminal(make_run: MakeRun) -> None:
    run, published = read_run(make_run()), read_published()
    tables = [build(run, published, batch) for batch in (32, 8) for build in (counters.per_packet, counters.compared)]
    text = terminal.render_all(tables)
    assert max(map(len, text.splitlines())) <= 120
    assert "Counters per packet, batch 32" in text
    assert "Not measurable here: no PMU" in text
    assert "conditional and indirect branches only" in text
    assert not any(line != line.rstrip() for line in text.splitlines())
    # Several tables share their footnotes.
    assert text.count("conditional and indirect branches only") == 1


def test_markdown_shows_measured_and_published_values(make_run: MakeRun) -> None:
    text = markdown.render(per_packet(make_run()))
    assert "| instructions | **130.0** (127, 1.02) | **208.0** (209, 1.00) | **221.0** |" in text


def test_missing_values_are_records_with_a_note(make_run: MakeRun) -> None:
    folder = make_run()
    records = [*per_packet(folder).records, *compared(folder).records]
    assert len(records) == 4 * (len(counters.counter_names()) + 5)
    absent = [r for r in records if r["metric"] == "l2_hits"]
    assert all(r["value"] is None and r["note"] == "not measurable here: no PMU" for r in absent)


def test_the_table_of_the_readme_is_short(make_run: MakeRun) -> None:
    run = read_run(make_run())
    table = counters.readme(run, read_published())
    assert len(table.rows) <= 7
    assert len(table.footnotes()) <= 3
    assert cell(table, "instructions", RUST_COLUMN).published == "209, 1.00"
    assert cell(table, "load L1 hits", SOURCE).text == "valgrind, simulated"


def test_published_figures_are_complete() -> None:
    published = read_published()
    counted = ("instructions", "ipc", "branches", "branch_misses", "stores", "loads")
    for name in ("core_cycles", "tsc_cycles", *counted, "l1_hits", "l2_hits", "l3_hits", "l3_misses"):
        for driver in (C, RUST):
            for batch in (32, 8):
                figure = published.get(name, driver, batch)
                assert figure is not None
                assert math.isfinite(figure.value)
    assert published.get("mpps", C, 32) is None


def test_missing_or_malformed_published_figures_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"counters\.csv"):
        read_published(tmp_path)
    path = tmp_path / "counters.csv"
    path.write_text("metric,impl,batch,value,source\nloads,C,32,many,paper\n")
    with pytest.raises(DataError, match="line 2: value 'many' is not a number"):
        read_published(tmp_path)
    path.write_text("metric,impl,batch,value,source\ncycles,C,32,94,paper\n")
    with pytest.raises(DataError, match=r"line 2: metric 'cycles' .* core_cycles"):
        read_published(tmp_path)
