"""Reading a results folder, and refusing what is none."""

import json
from pathlib import Path

import pytest
from triptych_paper.records import USUAL, Conditions, DataError, read_run
from triptych_paper.statistics import select

from tests.example import CONDITIONS, HEADER, MakeRun, rows, with_conditions

GOOD = "c,default,gcc 12.2.0,32,wall,mpps,1.5,Mpackets/s,100,0"


def test_a_run_is_read(make_run: MakeRun) -> None:
    run = read_run(make_run())
    assert run.id == "2026-01-02T03-04-05Z"
    assert run.backends == ("valgrind", "lockstep", "wall")
    assert run.not_measurable == {"perf": "no PMU"}
    assert run.ended
    assert len(run.samples) == len(rows())
    assert run.samples["batch"].dtype.kind == "i"
    assert run.samples["value"].dtype.kind == "f"


def test_a_file_of_before_the_conditions_means_the_usual_ones(make_run: MakeRun) -> None:
    samples = read_run(make_run()).samples
    assert set(samples["ring_size"]) == {512}
    assert set(samples["frame_size"]) == {60}
    assert samples["offered_mpps"].isna().all()
    assert set(samples["note"]) == {""}


def test_conditions_tell_samples_apart(make_run: MakeRun) -> None:
    lines = [*with_conditions([GOOD]), *with_conditions([GOOD], ring=64), *with_conditions([GOOD], offered="1.5")]
    run = read_run(make_run(lines=lines, header=f"{HEADER},{CONDITIONS}"))
    found = [
        select(run.samples, "c", "default", 32, "wall", "mpps", conditions)
        for conditions in (USUAL, Conditions(ring_size=64), Conditions(offered_mpps=1.5), Conditions(frame_size=1514))
    ]
    assert [len(values) for values in found] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ("32,60,,", "ring_size '32'"),
        ("512,9000,,", "frame_size '9000'"),
        ("512,60,-1,", "offered_mpps '-1' is no load"),
        ("512,60,lots,", "offered_mpps 'lots' is not a number"),
        ("512,60,inf,", "not finite"),
        ("512,60,,maybe", "note 'maybe'"),
        ("512,60,,", "a second time"),
    ],
)
def test_malformed_conditions_are_named_by_line(make_run: MakeRun, conditions: str, why: str) -> None:
    lines = [*with_conditions([GOOD]), f"{GOOD},{conditions}"]
    with pytest.raises(DataError) as error:
        read_run(make_run(lines=lines, header=f"{HEADER},{CONDITIONS}"))
    assert why in str(error.value)
    assert "line 3" in str(error.value)


def test_a_failure_has_conditions(make_run: MakeRun) -> None:
    failure = {"impl": "c", "variant": "default", "batch": 8, "backend": "wall", "cause": "x", "ring_size": 64}
    assert read_run(make_run(failures=[failure])).failures[0].conditions == Conditions(ring_size=64)


def test_links_are_followed(make_run: MakeRun) -> None:
    folder = make_run()
    latest = folder.parent / "latest"
    latest.symlink_to(folder.name)
    assert read_run(latest).folder == folder.resolve()


def test_failures_and_an_early_end_are_kept(make_run: MakeRun) -> None:
    failure = {"impl": "rust", "variant": "default", "batch": 8, "backend": "wall", "cause": "signal 11"}
    run = read_run(make_run(end=None, failures=[failure], warnings=["busy"]))
    assert not run.ended
    assert run.failures[0].cause == "signal 11"
    assert run.warnings == ("busy",)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (GOOD.replace("1.5", "fast"), "value 'fast' is not a number"),
        (GOOD.replace("1.5", "inf"), "not finite"),
        (GOOD.replace("1.5", "nan"), "not finite"),
        (GOOD.replace(",32,", ",0,"), "batch '0'"),
        (GOOD.replace(",32,", ",513,"), "batch '513'"),
        (GOOD.replace(",32,", ",x,"), "batch 'x'"),
        (GOOD.replace(",100,", ",0,"), "packets '0'"),
        (GOOD.replace("c,default", "fortran,default"), "impl 'fortran'"),
        (GOOD.replace("wall", "guess"), "backend 'guess'"),
        (GOOD.replace("mpps", ""), "a column is empty"),
        ("c,default,gcc,32,wall", "empty"),
        (GOOD + ",more", "malformed"),
        (GOOD, "a second time"),
    ],
)
def test_a_malformed_row_is_named_by_line(make_run: MakeRun, row: str, why: str) -> None:
    with pytest.raises(DataError) as error:
        read_run(make_run(lines=[GOOD, row]))
    assert why in str(error.value)
    assert "line 3" in str(error.value)


def test_other_columns_are_refused(make_run: MakeRun) -> None:
    with pytest.raises(DataError, match="line 1: the columns are"):
        read_run(make_run(header=HEADER.replace("metric", "counter")))


def test_no_samples_are_no_result(make_run: MakeRun) -> None:
    with pytest.raises(DataError, match="holds no samples"):
        read_run(make_run(lines=[]))


def test_an_empty_file_is_refused(make_run: MakeRun) -> None:
    folder = make_run()
    (folder / "samples.csv").write_text("")
    with pytest.raises(DataError, match="is empty"):
        read_run(folder)


def test_bytes_that_are_no_text_are_refused(make_run: MakeRun) -> None:
    folder = make_run()
    (folder / "samples.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="malformed"):
        read_run(folder)


@pytest.mark.parametrize("name", ["samples.csv", "run.json"])
def test_a_missing_file_is_named(make_run: MakeRun, name: str) -> None:
    folder = make_run()
    (folder / name).unlink()
    with pytest.raises(DataError, match=f"{name} is missing"):
        read_run(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a results folder"):
        read_run(tmp_path / "none")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"id": "x", "settings": [], "not_measurable": {}, "failures": [], "warnings": []}),
        json.dumps({"id": "x", "settings": {}, "not_measurable": {}, "failures": ["y"], "warnings": []}),
    ],
)
def test_a_malformed_run_json_is_named(make_run: MakeRun, text: str) -> None:
    folder = make_run()
    (folder / "run.json").write_text(text)
    with pytest.raises(DataError, match=r"run\.json is malformed"):
        read_run(folder)
