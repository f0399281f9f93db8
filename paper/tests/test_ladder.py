"""The cost ladder: its arithmetic, and its section in the report."""

import json
from pathlib import Path

import pytest
from triptych_paper import table as command
from triptych_paper.errors import DataError
from triptych_paper.ladder import Step, read_ladder, steps, total
from triptych_paper.report.build import build, read_data
from triptych_paper.report.figures import canvas, svg
from triptych_paper.report.model import Section
from triptych_paper.schema import source
from triptych_paper.tables import terminal

from tests.example import CONDITIONS, HEADER, MakeRun, ladder, ladder_rows, with_conditions


def run_of(make_run: MakeRun, skip: tuple[str, ...] = ()) -> Path:
    folder = make_run(lines=ladder_rows(skip), header=f"{HEADER},{CONDITIONS}")
    (folder / "ladder.json").write_text(json.dumps(ladder()), encoding="utf-8")
    return folder


def section(folder: Path) -> Section:
    return next(found for found in build(read_data(folder)).sections if found.key == "ladder")


def found(folder: Path, metric: str, backend: str) -> tuple[Step, ...]:
    data = read_data(folder)
    return steps(data.run, data.ladder, 32, source(metric, backend))


def added(step: Step) -> float:
    assert step.added is not None
    return step.added.median


def test_a_rung_is_compared_with_the_one_below(make_run: MakeRun) -> None:
    instructions = found(run_of(make_run), "instructions", "valgrind")
    assert instructions[0].added is None
    assert [added(step) for step in instructions[1:]] == [-6.0, 10.5, 3.5]
    assert total(instructions[1:]) == 80.0 - 72.0


def test_a_disturbed_round_leaves_the_difference_unchanged(make_run: MakeRun) -> None:
    cycles = found(run_of(make_run), "tsc_cycles", "lockstep")
    assert [added(step) for step in cycles[1:]] == pytest.approx([1.0, -2.0, 3.5])
    assert cycles[1].added is not None
    assert cycles[1].added.high - cycles[1].added.low < 1e-9
    assert total(cycles[1:]) == pytest.approx(2.5)


@pytest.mark.parametrize(("shipped", "place", "expected"), [(2, 1, 76.5 - 70.0), (1, 3, 70.0 - 66.0)])
def test_a_rung_alone_is_compared_with_the_shipped_driver(
    make_run: MakeRun, shipped: int, place: int, expected: float
) -> None:
    document = ladder()
    for other, entry in enumerate(document["rungs"]):
        entry["shipped"] = other == shipped
    document["rungs"][place]["alone"] = "ladder-alone"
    row = "rust,ladder-alone,cc 1.0,32,valgrind,instructions,70.0,x/packet,204800,0"
    folder = make_run(lines=[*ladder_rows(), *with_conditions([row])], header=f"{HEADER},{CONDITIONS}")
    (folder / "ladder.json").write_text(json.dumps(document), encoding="utf-8")
    instructions = found(folder, "instructions", "valgrind")
    summary = instructions[place].alone
    assert summary is not None
    assert summary.median == expected
    # The rungs next to the shipped driver differ from it by one feature only.
    assert [step.alone == step.added for step in instructions[shipped : shipped + 2]] == [True, True]
    cell = section(folder).tables[0].rows[place][3]
    assert cell.text == f"+{expected:.2f}"


def test_a_variant_beside_the_ladder_is_compared_with_the_shipped_driver(make_run: MakeRun) -> None:
    document = ladder()
    document["beside"] = [{"impl": "rust", "variant": "apart", "title": "apart", "adds": "a feature"}]
    row = "rust,apart,cc 1.0,32,valgrind,instructions,90.25,x/packet,204800,0"
    folder = make_run(lines=[*ladder_rows(), *with_conditions([row])], header=f"{HEADER},{CONDITIONS}")
    (folder / "ladder.json").write_text(json.dumps(document), encoding="utf-8")
    rows = section(folder).tables[0].rows
    assert [cell.text for cell in rows[-1][:4]] == ["apart", "90.25", "+13.75", "+13.75"]
    # It is no rung, so the sums leave it out.
    assert next(row for row in rows if row[0].text == "sum of all")[2].text == "+8.00"

    document["beside"] = [{"impl": "rust"}]
    (folder / "ladder.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match="malformed"):
        read_data(folder)


def test_the_sum_of_the_rungs_stands_beside_the_whole_difference(make_run: MakeRun) -> None:
    table = section(run_of(make_run)).tables[0]
    sums = {row[0].text: row[2] for row in table.rows if row[0].text.startswith("sum")}
    assert {text: (cell.text, cell.detail) for text, cell in sums.items()} == {
        "sum up to the shipped safe driver": ("+4.50", ("+4.50",)),
        "sum from the shipped safe driver to the top": ("+3.50", ("+3.50",)),
        "sum of all": ("+8.00", ("+8.00",)),
    }


def test_a_missing_rung_breaks_the_sum_and_has_a_reason(make_run: MakeRun) -> None:
    folder = run_of(make_run, skip=("02-drop",))
    assert total(found(folder, "instructions", "valgrind")[1:]) is None
    table = section(folder).tables[0]
    row = next(row for row in table.rows if row[0].text == "drop")
    assert row[1].text == "–"
    assert row[1].notes
    assert next(row for row in table.rows if row[0].text == "sum of all")[2].text == "–"


def test_the_shipped_driver_is_marked_and_compared_with_itself(make_run: MakeRun) -> None:
    shown = section(run_of(make_run))
    marked = [row[0].text for row in shown.tables[0].rows if "the shipped safe driver" in row[0].detail]
    assert marked == ["drop"]
    assert any("76.50 instructions a packet, the driver itself 76.51" in text for text in shown.text)


def test_a_ladder_that_misses_the_shipped_driver_has_a_warning(make_run: MakeRun) -> None:
    assert not any("should be equal" in text for text in section(run_of(make_run)).text)
    lines = [line.replace("76.51", "77.51") for line in ladder_rows()]
    folder = make_run(lines=lines, header=f"{HEADER},{CONDITIONS}")
    (folder / "ladder.json").write_text(json.dumps(ladder()), encoding="utf-8")
    assert any("should be equal" in text for text in section(folder).text)


def test_the_figure_can_be_drawn(make_run: MakeRun) -> None:
    for skip in ((), ("02-drop",)):
        figure = section(run_of(make_run, skip)).figures[0]
        text = svg(canvas(figure), figure.key)
        assert "bounds" in text
        assert "+3.5" in text or skip


def test_without_a_ladder_the_section_names_the_command(make_run: MakeRun) -> None:
    shown = section(make_run())
    assert not shown.tables
    assert "make ladder" in shown.missing[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("variant"),
        lambda entry: entry.pop("alone"),
        lambda entry: entry.update(impl="ada"),
        lambda entry: entry.update(shipped="yes"),
        lambda entry: entry.update(shipped=True),
        lambda entry: entry.update(impl="rust", variant="ladder-02-drop"),
    ],
)
def test_a_malformed_list_of_rungs_is_refused(tmp_path: Path, change: object) -> None:
    document = ladder()
    assert callable(change)
    change(document["rungs"][0])
    (tmp_path / "ladder.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=r"ladder\.json"):
        read_ladder(tmp_path)


def test_one_section_can_be_printed(make_run: MakeRun, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run_of(make_run)
    assert command.main([str(folder), "--section", "ladder"]) == 0
    assert terminal.render_all(section(folder).tables).rstrip() in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        command.main([str(folder), "--section", "nothing"])
    assert ended.value.code == 2
    assert "the sections are claims, counters" in capsys.readouterr().err
    assert command.main([str(folder / "nowhere"), "--section", "ladder"]) == 1
