"""What the tables say."""

import math
from pathlib import Path

import pandas as pd
import pytest
from triptych_paper import counters, render
from triptych_paper.published import read_published
from triptych_paper.records import DataError, read_run
from triptych_paper.report.build import read_data
from triptych_paper.report.sections import counters as counters_section
from triptych_paper.statistics import paired_ratio, summarise

from tests.example import DRIVERS, MakeRun, rows

C, RUST, CHECKS, UNSAFE = range(4)


def table(folder: Path, batch: int = 32) -> counters.Table:
    return counters.build(read_run(folder), read_published(), batch)


def cell(built: counters.Table, key: str, driver: int) -> counters.Cell:
    line = next(line for line in (*built.counters, *built.beside) if line.row.key == key)
    return line.cells[driver]


def test_the_median_passes_over_a_disturbance() -> None:
    summary = summarise(pd.Series([1.0, 2.0, 3.0, 4.0, 100.0]))
    assert summary is not None
    assert (summary.median, summary.count) == (3.0, 5)
    assert summary.low < summary.median < summary.high
    assert summarise(pd.Series(dtype=float)) is None


def test_pairs_cancel_what_disturbs_both() -> None:
    base = pd.Series([10.0, 30.0, 11.0], index=[0, 1, 2])
    ratio = paired_ratio(base * 1.5, base)
    assert ratio is not None
    assert (ratio.low, ratio.median, ratio.high) == (1.5, 1.5, 1.5)


def test_only_common_repeats_are_paired() -> None:
    ratio = paired_ratio(pd.Series([4.0, 9.0], index=[1, 7]), pd.Series([5.0, 2.0, 0.0], index=[0, 1, 2]))
    assert ratio is not None
    assert (ratio.median, ratio.count) == (2.0, 1)
    assert paired_ratio(pd.Series([4.0], index=[1]), pd.Series([5.0], index=[2])) is None


def test_measured_stands_beside_published(make_run: MakeRun) -> None:
    built = table(make_run())
    instructions = cell(built, "instructions", RUST)
    assert instructions.measured == pytest.approx(208.0)
    assert instructions.published is not None
    assert instructions.published.text == "209"
    assert instructions.ratio == pytest.approx(208 / 209)
    assert cell(built, "instructions", CHECKS).published is None
    assert cell(built, "branch_misses", C).backend == "valgrind"


def test_the_papers_loads_are_taken_not_the_pages_typing_error(make_run: MakeRun) -> None:
    published = cell(table(make_run(), 8), "loads", C).published
    assert published is not None
    assert published.text == "33.4"


def test_c2rust_is_compared_at_batch_32_only(make_run: MakeRun) -> None:
    folder = make_run()
    figure = cell(table(folder), "instructions", UNSAFE).published
    assert figure is not None
    assert figure.batch_unknown
    assert cell(table(folder, 8), "instructions", UNSAFE).published is None


def test_ipc_is_of_two_backends_and_says_so(make_run: MakeRun) -> None:
    built = table(make_run())
    instructions, cycles = cell(built, "instructions", C).measured, cell(built, "cycles", C).measured
    assert instructions is not None
    assert cycles is not None
    ipc = cell(built, "ipc", C)
    assert ipc.measured == pytest.approx(instructions / cycles)
    assert ipc.backend == "both"
    line = next(line for line in built.counters if line.row.key == "ipc")
    assert "two backends, two clocks" in "".join(line.row.notes)


def test_hardware_counters_are_preferred_where_they_exist(make_run: MakeRun) -> None:
    perf = "c,default,cc 1.0,32,perf,instructions,140,instructions/packet,1000,0"
    found = cell(table(make_run(lines=[*rows(), perf])), "instructions", C)
    assert (found.measured, found.backend) == (140.0, "perf")


def test_the_ratio_to_c_is_paired(make_run: MakeRun) -> None:
    found = cell(table(make_run()), "cycles_ratio", RUST)
    assert found.measured == pytest.approx(1.6)
    assert found.spread == pytest.approx((1.6, 1.6))
    assert found.published is not None
    assert found.published.text == "1.06"


def test_no_ratio_to_a_published_zero(make_run: MakeRun) -> None:
    found = cell(table(make_run()), "l3_hits", RUST)
    assert found.published is not None
    assert found.published.value == 0
    assert found.ratio is None


def test_what_needs_a_pmu_is_absent_with_the_reason(make_run: MakeRun) -> None:
    found = cell(table(make_run()), "l2_hits", C)
    assert found.measured is None
    assert found.missing == "not measurable here: no PMU"


def test_a_counter_that_the_hardware_lacks_is_named_with_its_reason(make_run: MakeRun) -> None:
    absent = {"l2_hits": "the processor has no such event", "loads": "the kernel refuses the event"}
    perf = [f"{impl},{variant},cc 1.0,32,perf,cycles,50,x/packet,1000,0" for impl, variant, _ in DRIVERS]
    settings = {"valgrind": {}, "lockstep": {}, "wall": {}, "perf": {"not_measurable_metrics": absent}}
    run = make_run(lines=[*rows(), *perf], settings=settings, not_measurable={})
    built = table(run)
    assert cell(built, "l2_hits", C).missing == "not measurable here by perf: the processor has no such event"
    # Another backend stands in for it.
    assert cell(built, "loads", C).backend == "valgrind"
    text = render.text_report(read_run(run), [built])
    assert "Not measurable here by hardware counters: the kernel refuses the event." in text
    report = counters_section.build(read_data(run)).tables[0]
    assert "Not measurable here by hardware counters: the kernel refuses the event." in report.footnotes()
    assert "not measurable here by perf: the processor has no such event" in report.footnotes()


def test_a_backend_that_does_not_work_here_is_named(make_run: MakeRun) -> None:
    lines = [line for line in rows() if ",valgrind," not in line]
    run = make_run(lines=lines, not_measurable={"perf": "no PMU", "valgrind": "valgrind is not installed"})
    built = table(run)
    assert cell(built, "loads", C).missing == "not measurable here: valgrind is not installed"
    assert cell(built, "ipc", C).missing == "not measurable here: valgrind is not installed"
    assert cell(built, "cycles", C).measured is not None
    assert "not measurable here: valgrind is not installed" in render.text_report(read_run(run), [built])


def test_a_failed_driver_is_absent_with_the_cause(make_run: MakeRun) -> None:
    failure = {"impl": "c", "variant": "default", "batch": 32, "backend": "lockstep", "cause": "no link"}
    lines = [line for line in rows() if not line.startswith("c,default,cc 1.0,32,lockstep")]
    built = table(make_run(lines=lines, failures=[failure]))
    assert cell(built, "cycles", C).missing == "failed: c/default: no link"
    # Without C there is nothing to compare with, and that is the reason that counts.
    assert "c/default" in cell(built, "cycles_ratio", RUST).missing
    assert cell(built, "cycles", RUST).measured is not None


def test_a_driver_or_backend_that_was_left_out_is_no_mystery(make_run: MakeRun) -> None:
    lines = [line for line in rows() if line.startswith("c,")]
    built = table(make_run(lines=lines, settings={"valgrind": {}, "wall": {}}))
    assert "backend lockstep was not used" in cell(built, "cycles", RUST).missing
    assert "rust/default at batch 32 was not part of it" in cell(built, "loads", RUST).missing


def test_batches_come_in_the_published_order(make_run: MakeRun) -> None:
    extra = [f"c,default,cc 1.0,{batch},wall,mpps,1,Mpackets/s,1,0" for batch in (64, 1)]
    assert counters.batches(read_run(make_run(lines=[*rows(), *extra]))) == [32, 8, 1, 64]


def test_the_text_fits_a_terminal(make_run: MakeRun) -> None:
    run = read_run(make_run(warnings=["lockstep: " + "words " * 60]))
    published = read_published()
    text = render.text_report(run, [counters.build(run, published, batch) for batch in (32, 8)])
    assert max(map(len, text.splitlines())) <= 120
    assert "per packet, batch 32" in text
    assert "not measurable here: no PMU" in text
    assert "conditional and indirect branches only" in text
    assert not any(line != line.rstrip() for line in text.splitlines())


def test_markdown_and_csv_hold_the_same(make_run: MakeRun) -> None:
    run = read_run(make_run())
    built = [counters.build(run, read_published(), batch) for batch in (32, 8)]
    text = render.markdown_report(run, built)
    assert "| instructions | **130.0** (127, 1.02) | **208.0** (209, 1.00) |" in text
    rows_of_csv = render.csv_rows(built)
    assert len(rows_of_csv) == 2 * 4 * (11 + 5)
    absent = rows_of_csv[rows_of_csv["counter"] == "l2_hits"]
    assert absent["measured"].isna().all()
    assert (absent["note"] == "not measurable here: no PMU").all()


def test_numbers_keep_to_their_column() -> None:
    assert render.number(1234.56, 1) == "1235"
    assert render.number(0.054, 2) == "0.05"
    assert render.ratio_text(None) == ""
    assert render.ratio_text(123.4) == "123"


def test_published_figures_are_complete() -> None:
    published = read_published()
    for key in counters.ROWS:
        for impl in ("c", "rust"):
            for batch in (32, 8):
                figure = published.get(key.key, impl, "default", batch)
                assert figure is not None
                assert math.isfinite(figure.value)
    assert published.get("mpps", "c", "default", 32) is None


def test_missing_published_figures_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"counters\.csv"):
        read_published(tmp_path)
    (tmp_path / "counters.csv").write_text("counter,impl,batch,value,source\ncycles,C,32,many,paper\n")
    with pytest.raises(DataError, match="malformed"):
        read_published(tmp_path)
