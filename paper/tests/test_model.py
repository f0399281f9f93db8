"""Values of the model in tables: they have labels of their own, and no row is empty."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from triptych_paper import counter_tables, counters, others, throughput, upstream
from triptych_paper.claims.check import check, check_all, count, given
from triptych_paper.claims.model import Outcome, Verdict
from triptych_paper.claims.reader import read_claims
from triptych_paper.drivers import CHECKED, RUST, C, Subject
from triptych_paper.facts import facts
from triptych_paper.lookup import apart, choose, recorded
from triptych_paper.published import read_published
from triptych_paper.records import Run, read_run
from triptych_paper.report.figures import canvas, svg
from triptych_paper.report.model import Data
from triptych_paper.report.sections import claims as claims_section
from triptych_paper.report.sections import counters as counters_section
from triptych_paper.report.sections import latency as latency_section
from triptych_paper.report.sections import rings as rings_section
from triptych_paper.report.sections import throughput as throughput_section
from triptych_paper.schema import CYCLES, TSC_CYCLES, source
from triptych_paper.tables.model import ABSENT, Cell, Table

from tests.example import (
    HEADER,
    MODEL_CONDITIONS,
    MakeRun,
    matrix_rows,
    model_rows,
    modelled_rows,
    peer_rows,
    rows,
    with_conditions,
)


def read(make_run: MakeRun, lines: Iterable[str], **changes: object) -> Run:
    return read_run(make_run(lines=lines, header=f"{HEADER},{MODEL_CONDITIONS}", **changes))


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    """Read a run with the model, lockstep, valgrind and starved whole processes."""
    peers = [f"{row},," for row in with_conditions(peer_rows())]
    return read(make_run, modelled_rows() + peers)


def column(table: Table, heading: str) -> list[Cell]:
    place = [each.heading for each in table.columns].index(heading)
    return [row[place] for row in table.rows]


def test_no_row_of_the_published_table_is_empty(run: Run) -> None:
    for batch in (32, 8):
        table = upstream.per_packet(run, read_published(), batch)
        rows_by_label = [row[0].text for row in table.rows if row[0].text]
        assert len(rows_by_label) == 11
        # The paper's driver with overflow checks is not among the drivers of this run.
        shown = [row for row in table.rows if row[1].text != CHECKED.name]
        assert len(shown) == 33
        assert all(ABSENT not in (row[3].text, row[4].text) for row in shown)


def test_modelled_rows_name_processor_and_clock_and_counted_ones_do_not(run: Run) -> None:
    table = upstream.per_packet(run, read_published(), 32)
    by_label = {row[0].text: row[-1].text for row in table.rows if row[0].text}
    assert by_label["cycles"] == "modelled, haswell at 1.6 GHz"
    assert by_label["load L2 hits"] == "modelled, haswell at 1.6 GHz"
    assert by_label["instructions"] == by_label["loads"] == "model"


def test_records_say_how_a_value_came_about(run: Run) -> None:
    records = {
        (record["metric"], record["impl"], record["variant"]): record
        for record in upstream.per_packet(run, read_published(), 32).records
    }
    cycles, count = records["core_cycles", "c", "default"], records["instructions", "c", "default"]
    assert (cycles["kind"], cycles["cpu"], cycles["clock_ghz"]) == ("modelled", "haswell", 1.6)
    assert (count["kind"], count["cpu"], count["clock_ghz"]) == ("counted", "", None)
    assert cycles["ratio_to_published"] == pytest.approx(92 / 94)


def test_hardware_counters_come_before_the_model_and_lockstep_after_it(run: Run) -> None:
    assert choose(run, CYCLES, (C,)).backend == "model"
    perf = "c,default,cc 1.0,32,perf,core_cycles,90.0,core cycles/packet,1000,0,512,60,,,,"
    header = f"{HEADER},{MODEL_CONDITIONS}"
    lines = [*modelled_rows(), perf]
    (run.folder / "samples.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    assert choose(read_run(run.folder), CYCLES, (C,)).backend == "perf"
    without = [line for line in lines if ",model," not in line and ",perf," not in line]
    (run.folder / "samples.csv").write_text("\n".join([header, *without]) + "\n", encoding="utf-8")
    assert choose(read_run(run.folder), CYCLES, (C,)).metric.name == TSC_CYCLES


def test_starved_whole_processes_are_left_out_and_virtual_time_takes_their_place(run: Run) -> None:
    table = upstream.compared(run, read_published(), 32)
    labels = [row[0].text for row in table.rows if row[0].text]
    assert labels[-2:] == ["throughput at 1.6 GHz, Mpps", "throughput at 3.3 GHz, Mpps"]
    assert "fewer than 90 % of the batches were full" in table.note
    c = next(row for row in table.rows if row[0].text == "throughput at 1.6 GHz, Mpps")
    assert (c[2].text, c[4].text, c[7].text) == ("16.3", "17.4", "modelled, haswell at 1.6 GHz")


def test_full_batches_keep_whole_processes_in_the_table(make_run: MakeRun) -> None:
    run = read(make_run, [f"{row},," for row in with_conditions(rows())] + model_rows())
    shown = [whole.label for whole in throughput.shown(run, 32)]
    assert shown[:2] == ["throughput at 1.6 GHz, Mpps", "throughput at 3.3 GHz, Mpps"]
    assert "throughput, Mpps" in shown
    assert not throughput.left_out(run, 32)


def test_a_real_card_keeps_its_throughput(make_run: MakeRun) -> None:
    lines = [line for line in modelled_rows() if "full_batch_ratio" not in line]
    run = read(make_run, lines, plan={"devices": ["0000:03:00.0", "0000:03:00.1"]})
    assert [whole.source.backend for whole in throughput.shown(run, 32)] == ["wall"] * 3
    assert choose(run, "mpps", (C,)).backend == "wall"


def test_without_a_real_card_virtual_time_comes_before_whole_processes(run: Run) -> None:
    assert choose(run, "mpps", (C,)).name == "modelled, haswell at 1.6 GHz"


def test_another_processor_than_the_published_one_is_not_compared(make_run: MakeRun) -> None:
    lines = [line.replace("haswell", "zen4") for line in model_rows() if "sapphire" not in line]
    run = read(make_run, lines)
    chosen = choose(run, CYCLES, (C, RUST))
    assert chosen.cpu == "zen4"
    assert any("zen4" in str(difference) for difference in apart(run, chosen))
    table = counters.per_packet(run, read_published(), 32)
    assert column(table, "C")[0].published == "94"


def test_the_nearest_recorded_clock_is_used_and_another_clock_is_not_compared(run: Run) -> None:
    latency = recorded(run, source("latency_p50_us", "model"))
    assert latency.clock_ghz == 1.6
    fast = replace(source("core_cycles", "model"), clock_ghz=3.3)
    assert recorded(run, fast).clock_ghz == 3.3
    assert any("3.3 GHz" in str(difference) for difference in apart(run, fast))


def outcomes(run: Run, subject: Subject = Subject.OURS) -> dict[str, Outcome]:
    return {claim.id: check(claim, run, None, subject) for claim in read_claims()}


def test_cycles_throughput_and_latency_are_judged_by_the_model(run: Run) -> None:
    for subject in Subject:
        found = outcomes(run, subject)
        for claim in ("cycles-b32", "ipc-c-b32", "transpiled-cycles", "slower-abstract", "share-of-c-b8"):
            modelled = found[claim].modelled
            assert modelled is not None, claim
            assert modelled.name == "modelled, haswell at 1.6 GHz"
            assert found[claim].verdict in (Verdict.REPRODUCED, Verdict.SAME_DIRECTION, Verdict.DIFFERS)
    assert found["cycles-b32"].results[0].value == pytest.approx(60)
    assert found["latency-20mpps-p50"].kind == "modelled"
    assert found["latency-20mpps-p99.9999"].verdict is Verdict.NOT_MEASURED


def test_throughput_uses_virtual_time_and_counts_are_not_modelled(run: Run) -> None:
    found = outcomes(run)
    assert found["share-of-c-b32"].results[0].sources[0].metric.name == "mpps"
    assert found["instructions-b32"].backend == "model"
    assert (found["instructions-b32"].kind, found["instructions-b32"].modelled) == ("counted", None)


def test_a_latency_at_another_clock_than_the_published_one_is_shown_and_not_judged(run: Run, make_run: MakeRun) -> None:
    other = outcomes(run)["latency-1mpps-absolute"]
    assert (other.verdict, other.kind) == (Verdict.NOT_COMPARABLE, "modelled")
    assert "2.4 GHz there, 1.6 GHz here" in other.reason
    same = [line.replace("haswell,3.3", "haswell,2.4") for line in modelled_rows()]
    found = outcomes(read(make_run, same))["latency-1mpps-absolute"]
    assert found.verdict is Verdict.DIFFERS
    assert found.modelled is not None
    assert found.modelled.clock_ghz == 2.4


def test_verdicts_by_the_model_are_counted_and_labelled(run: Run) -> None:
    found = check_all(read_claims(), run, None)
    assert re.search(r"\d+ differ \(\d+ modelled\)", count(given(found)))
    section = claims_section.build(Data(run, read_published()))
    texts = [cell.text for table in section.tables for row in table.rows for cell in row]
    assert "modelled, haswell at 1.6 GHz" in texts
    records = {(r["id"], r["subject"]): r for table in section.tables for r in table.records}
    record = records["cycles-b32", "upstream"]
    assert (record["backend"], record["kind"], record["cpu"], record["clock_ghz"]) == (
        "model",
        "modelled",
        "haswell",
        1.6,
    )


def test_a_claim_with_hardware_counters_is_not_judged_by_the_model(make_run: MakeRun) -> None:
    perf = [
        f"{impl},default,cc 1.0,32,perf,core_cycles,{value},core cycles/packet,1000,{repeat},512,60,,,,"
        for impl, value in (("c", 90.0), ("rust", 95.4))
        for repeat in range(11)
    ]
    found = outcomes(read(make_run, modelled_rows() + perf, plan={"devices": ["0000:03:00.0", "0000:03:00.1"]}))
    assert (found["cycles-b32"].backend, found["cycles-b32"].verdict) == ("perf", Verdict.REPRODUCED)


def test_figures_and_tables_of_throughput_use_virtual_time(run: Run) -> None:
    found = throughput_section.build(Data(run, read_published()))
    by_key = {table.key: table for table in found.tables}
    assert set(by_key) == {"throughput-modelled-1.6ghz", "throughput-modelled-3.3ghz", "throughput-batches"}
    shown = by_key["throughput-modelled-1.6ghz"]
    assert [column.heading for column in shown.columns][-2:] == ["paper: C, 1.6 GHz", "paper: Rust, 1.6 GHz"]
    assert "modelled, haswell at 1.6 GHz" in shown.note
    assert "ixy, own flags" in [column.heading for column in shown.columns]
    for figure in found.figures:
        assert "odelled" in figure.caption
        assert svg(canvas(figure), figure.key).startswith("<svg")


def test_parameters_that_the_model_did_not_vary_are_shown_as_measured(make_run: MakeRun) -> None:
    measured = [f"{row},," for row in matrix_rows()]
    found = rings_section.build(Data(read(make_run, measured + model_rows()), read_published()))
    table = found.tables[0]
    assert "counted by wall" in table.note
    assert all(row[1].text != ABSENT for row in table.rows)


def test_other_drivers_have_virtual_time_or_no_throughput_of_starved_processes(run: Run, make_run: MakeRun) -> None:
    table = others.table(run, 32)
    assert "throughput: modelled, haswell at 3.3 GHz" in table.note
    assert "Mpps" in [each.heading for each in table.columns]
    peers = [f"{row},," for row in with_conditions(peer_rows())]
    without = [line for line in modelled_rows() if ",model," not in line]
    starved = others.table(read(make_run, without + peers), 32)
    assert "Mpps" not in [each.heading for each in starved.columns]
    assert "fewer than 90 % of the batches were full" in starved.note
    assert all(len(row) == len(starved.columns) for row in starved.rows)


def test_latency_is_modelled_without_a_real_card(run: Run) -> None:
    found = latency_section.build(Data(run, read_published()))
    assert [table.key for table in found.tables] == ["latency-1mpps", "latency-10mpps", "latency-20mpps"]
    records = [record for record in found.tables[0].records if record.get("kind")]
    assert {record["kind"] for record in records} == {"modelled"}
    assert "Virtual time" in " ".join(found.text)
    assert "modelled, haswell at 1.6 GHz" in found.figures[0].caption
    assert svg(canvas(found.figures[0]), "latency").startswith("<svg")


def test_the_head_names_the_version_and_the_processors(run: Run) -> None:
    assert dict(facts(run))["model"] == "version not recorded; processors: haswell, sapphire-rapids"
    settings = {**run.info, "settings": {"model": {"version": "7"}}}
    assert dict(facts(replace(run, info=settings)))["model"].startswith("version 7; ")


def test_modelled_bars_are_hatched_and_named(run: Run) -> None:
    found = counters_section.build(Data(run, read_published()))
    figure = found.figures[0]
    assert "Hatched bars are modelled." in figure.caption
    drawn = canvas(figure)
    assert "modelled" in [text.get_text() for text in drawn.legends[0].get_texts()]
    hatched = {axes.get_title(loc="left") for axes in drawn.axes if any(bar.get_hatch() for bar in axes.patches)}
    assert hatched == {"cycles", "branch mispredicts"}


def test_the_table_of_the_readme_has_all_rows_with_the_model(run: Run) -> None:
    table = counter_tables.readme(run, read_published())
    assert len([row for row in table.rows if row[0].text]) == 11 + 2
    notes = table.footnotes()
    assert sum(note.startswith("Modelled:") for note in notes) == 1


def test_a_run_without_upstream_has_all_rows(make_run: MakeRun, tmp_path: Path) -> None:
    ours = [line for line in modelled_rows() if not line.startswith("ixy")]
    table = counters.per_packet(read(make_run, ours), read_published(), 32)
    assert len(table.rows) == 11
    assert all(cell.text != ABSENT for heading in ("C", "safe Rust", "unsafe Rust") for cell in column(table, heading))
