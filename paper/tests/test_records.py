"""Reading a results folder, and refusing a malformed one."""

import json
from pathlib import Path

import pytest
from triptych_paper.conditions import DEFAULT_CONDITIONS, Conditions
from triptych_paper.drivers import C
from triptych_paper.errors import DataError
from triptych_paper.records import read_run
from triptych_paper.schema import metrics, source
from triptych_paper.statistics import select

from tests.example import CONDITIONS, HEADER, MODEL_CONDITIONS, MakeRun, rows, with_conditions

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


def test_a_file_without_conditions_has_the_default_ones(make_run: MakeRun) -> None:
    samples = read_run(make_run()).samples
    assert set(samples["ring_size"]) == {512}
    assert set(samples["frame_size"]) == {60}
    assert samples["offered_mpps"].isna().all()
    assert set(samples["note"]) == {""}


def test_conditions_distinguish_samples(make_run: MakeRun) -> None:
    lines = [*with_conditions([GOOD]), *with_conditions([GOOD], ring=64), *with_conditions([GOOD], offered="1.5")]
    run = read_run(make_run(lines=lines, header=f"{HEADER},{CONDITIONS}"))
    found = [
        select(run.samples, C, 32, source("mpps", "wall"), conditions)
        for conditions in (
            DEFAULT_CONDITIONS,
            Conditions(ring_size=64),
            Conditions(offered_mpps=1.5),
            Conditions(frame_size=1514),
        )
    ]
    assert [len(values) for values in found] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ("32,60,,", "ring_size '32'"),
        ("512,9000,,", "frame_size '9000'"),
        ("512,60,-1,", "offered_mpps '-1' is not a positive load"),
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


MODELLED = "c,default,gcc 12.2.0,32,model,core_cycles,94.0,core cycles/packet,1024,0,512,60,,"
"""A modelled value without the columns of the processor."""


def test_a_modelled_value_has_a_processor_and_a_clock(make_run: MakeRun) -> None:
    lines = [f"{MODELLED},haswell,1.6", f"{MODELLED},haswell,3.3", f"{MODELLED},zen4,", f"{GOOD},512,60,,,,"]
    samples = read_run(make_run(lines=lines, header=f"{HEADER},{MODEL_CONDITIONS}")).samples
    assert list(samples["cpu"]) == ["haswell", "haswell", "zen4", ""]
    assert list(samples["clock_ghz"].fillna(0)) == [1.6, 3.3, 0, 0]


def test_older_columns_have_no_processor(make_run: MakeRun) -> None:
    samples = read_run(make_run(lines=with_conditions([GOOD]), header=f"{HEADER},{CONDITIONS}")).samples
    assert list(samples["cpu"]) == [""]
    assert samples["clock_ghz"].isna().all()


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (f"{GOOD},512,60,,,haswell,", "cpu 'haswell' beside the backend wall"),
        (f"{GOOD},512,60,,,,1.6", "clock_ghz '1.6' without a cpu"),
        (f"{MODELLED},,", "core_cycles of the model names no cpu"),
        (f"{MODELLED},haswell,0", "clock_ghz '0' is not a positive clock"),
        (f"{MODELLED},haswell,fast", "clock_ghz 'fast' is not a number"),
        (f"{MODELLED},haswell,1.60", "a second time"),
    ],
)
def test_a_wrong_processor_is_named_by_line(make_run: MakeRun, row: str, why: str) -> None:
    lines = [f"{MODELLED},haswell,1.6", row]
    with pytest.raises(DataError, match="line 3") as error:
        read_run(make_run(lines=lines, header=f"{HEADER},{MODEL_CONDITIONS}"))
    assert why in str(error.value)


def test_a_failure_has_conditions(make_run: MakeRun) -> None:
    failure = {"impl": "c", "variant": "default", "batch": 8, "backend": "wall", "cause": "x", "ring_size": 64}
    assert read_run(make_run(failures=[failure])).failures[0].conditions == Conditions(ring_size=64)


def test_links_are_followed(make_run: MakeRun) -> None:
    folder = make_run()
    latest = folder.parent / "latest"
    latest.symlink_to(folder.name)
    assert read_run(latest).folder == folder.resolve()


def test_failures_and_an_interruption_are_recorded(make_run: MakeRun) -> None:
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


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (GOOD.replace("mpps", "joules"), "metric 'joules' is not in metrics.toml; the valid names are core_cycles, "),
        (
            GOOD.replace("wall,mpps", "lockstep,core_cycles"),
            "backend lockstep does not count core_cycles; perf, model do",
        ),
        (GOOD.replace("wall,mpps", "valgrind,cycles"), "metric 'cycles' is not in metrics.toml"),
    ],
)
def test_an_unknown_metric_lists_the_valid_ones(make_run: MakeRun, row: str, why: str) -> None:
    with pytest.raises(DataError) as error:
        read_run(make_run(lines=[GOOD, row]))
    assert "samples.csv: line 3: " in str(error.value)
    assert why in str(error.value)


def test_old_cycles_are_core_cycles_by_perf_and_tsc_cycles_by_the_others(make_run: MakeRun) -> None:
    backends = {"perf": "core_cycles", "lockstep": "tsc_cycles", "wall": "tsc_cycles"}
    old = [f"c,default,gcc,32,{backend},cycles,{value},x,1,0" for value, backend in enumerate(backends)]
    settings = {"perf": {"not_measurable_metrics": {"cycles": "no such event"}}}
    run = read_run(make_run(lines=old, settings=settings))
    assert dict(zip(run.samples["backend"], run.samples["metric"], strict=True)) == backends
    assert select(run.samples, C, 32, source("tsc_cycles", "wall")).to_list() == [2.0]
    assert run.not_measurable_metrics == {"perf": {"core_cycles": "no such event"}}


def test_an_old_and_a_new_record_of_the_same_cycles_are_refused(make_run: MakeRun) -> None:
    lines = [f"c,default,gcc,32,lockstep,{name},10,x,1,0" for name in ("cycles", "tsc_cycles")]
    with pytest.raises(DataError, match="line 3: the same sample a second time"):
        read_run(make_run(lines=lines))


def test_an_old_name_of_a_variant_is_replaced(make_run: MakeRun) -> None:
    failure = {"impl": "c", "variant": "sanitized", "batch": 8, "backend": "wall", "cause": "x"}
    run = read_run(make_run(lines=[GOOD.replace("default", "sanitized")], failures=[failure]))
    assert list(run.samples["variant"]) == ["trapping-ubsan"]
    assert run.failures[0].variant == "trapping-ubsan"


def test_every_metric_has_a_label_a_unit_and_a_backend() -> None:
    for name, metric in metrics().items():
        assert metric.name == name
        assert metric.label and metric.unit and metric.backends
        assert metric.simulated <= set(metric.backends)


def test_unknown_columns_are_refused(make_run: MakeRun) -> None:
    with pytest.raises(DataError, match="line 1: the columns are"):
        read_run(make_run(header=HEADER.replace("metric", "counter")))


def test_a_file_without_samples_is_refused(make_run: MakeRun) -> None:
    with pytest.raises(DataError, match="holds no samples"):
        read_run(make_run(lines=[]))


def test_an_empty_file_is_refused(make_run: MakeRun) -> None:
    folder = make_run()
    (folder / "samples.csv").write_text("")
    with pytest.raises(DataError, match="is empty"):
        read_run(folder)


def test_a_binary_file_is_refused(make_run: MakeRun) -> None:
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
