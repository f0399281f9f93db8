"""Figures of the applications in prose."""

import json
from pathlib import Path

import pytest
from triptych_paper import applications, example
from triptych_paper.errors import DataError
from triptych_paper.prose.applications import Applications, more, overall, peer, ratio, shown
from triptych_paper.prose.archive import Value

from tests.test_applications import layers, row, write

C, RUST = ("c", "default"), ("rust", "default")


@pytest.fixture
def archived(tmp_path: Path) -> Applications:
    """Write two rounds of two clients of three servers, and the layers of two drivers."""
    rates = {("c", 1): "1000", ("c", 2): "2000", ("rust", 1): "1100", ("rust", 2): "1800", ("nginx", 1): "500"}
    rows = [row(server, round=str(number), rate=rate) for (server, number), rate in rates.items()]
    bits = {"client": "iperf3 up", "rate": "2.5e9", "p50_ms": "", "p99_ms": ""}
    rows += [row(server, **bits) for server in ("c", "rust")]
    write(tmp_path, *rows)
    counts = {"c": (100, 900), "rust": (150, 850)}
    layers(tmp_path, *(f"http,{s},wrk,1,10,{layer},{n}" for s, both in counts.items()
                       for layer, n in zip(("driver", "stack"), both, strict=True)))  # fmt: skip
    return Applications(tmp_path)


def test_cells_have_rate_latency_and_the_name_of_a_peer(archived: Applications) -> None:
    wrk, iperf = archived.loads
    assert shown(wrk, C) == "1.50 k<br>1.5 ms"
    assert shown(wrk, peer(wrk)) == "0.500 k<br>1.5 ms (nginx)"
    assert shown(iperf, C) == "2.50 Gbit/s"
    assert (shown(iperf, peer(iperf)), shown(iperf, ("kernel", "default"))) == ("–", "–")
    assert (archived.rounds, archived.failed) == (2, 0)


def test_ratios_are_of_the_same_round_and_means_are_geometric(archived: Applications) -> None:
    wrk, iperf = archived.loads
    assert ratio(wrk, RUST, "rate") == Value(1.0, 0.9, 1.1)
    assert ratio(iperf, RUST, "p99") is None
    two = overall([wrk, wrk], RUST, "rate")
    assert two.low == pytest.approx(0.9)
    assert two.high == pytest.approx(1.1)
    with pytest.raises(DataError, match="rust-unsafe/default"):
        overall([wrk], ("rust-unsafe", "default"), "rate")


@pytest.mark.parametrize(("low", "high", "says"), [(0.9, 1.1, "covers both"), (1.01, 1.1, "1.05 (1.01 to 1.10) times")])
def test_the_words_follow_the_range(low: float, high: float, says: str) -> None:
    text = more(Value(1.05, low, high), "as many", "fewer")
    assert says in text
    assert ("covers both" in text) == (low < 1 < high)


def test_shares_and_ratios_of_layers_have_their_range(archived: Applications) -> None:
    assert archived.request("http", "rust").share == 0.15
    assert archived.shares.low == pytest.approx(10)
    assert archived.shares.high == pytest.approx(15)
    assert archived.driver_times_c.value == 1.5
    with pytest.raises(DataError, match="kv over c"):
        archived.request("kv", "c")


def test_an_archive_without_the_applications_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make apps"):
        _ = Applications(tmp_path).loads


def test_a_whole_run_of_the_applications_is_archived(tmp_path: Path) -> None:
    results = tmp_path / "results"
    runs = {"1": ["--nginx", "/usr/sbin/nginx"], "2": ["--quick"], "3": None, "0": []}
    for name, command in runs.items():
        folder = results / name
        folder.mkdir(parents=True)
        write(folder, row())
        layers(folder)
        if command is not None:
            info = {"id": name, "command": command, "failures": [], "host": {"host": "secret"}}
            (folder / "run.json").write_text(json.dumps(info))
    driven = results / "4"
    driven.mkdir()
    (driven / "samples.csv").write_text("")
    (driven / "run.json").write_text('{"end": "x"}')
    # Not the quick run, and not the one that was interrupted.
    assert example.newest(results) == [driven, results / "1"]
    target = tmp_path / "example"
    assert example.main([str(results / "1"), str(target)]) == 0
    copied = target / "applications"
    assert {path.name for path in copied.iterdir()} == {"apps.csv", "layers.csv", "run.json"}
    assert (copied / "apps.csv").read_text() == (results / "1" / applications.FILE).read_text()
    assert "secret" not in (copied / "run.json").read_text()
