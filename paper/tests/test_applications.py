from pathlib import Path

import pytest
from triptych_paper import applications
from triptych_paper.errors import DataError
from triptych_paper.report.sections.applications import _layers, _table

HEADER = ",".join(applications.COLUMNS)


def row(server: str = "c", variant: str = "default", client: str = "wrk", rate: str = "100.0", **other: str) -> str:
    values = {
        "application": "http", "server": server, "variant": variant, "client": client, "round": "1",
        "requests": "1000", "failed": "0", "seconds": "10", "rate": rate, "p50_ms": "0.5", "p99_ms": "1.5",
        "p999_ms": "", "server_user_seconds": "0.01", "server_system_seconds": "0.01", "between_seconds": "0.1",
        "client_user_seconds": "0.1", "client_system_seconds": "0.1",
    }  # fmt: skip
    values.update(other)
    return ",".join(values[column] for column in applications.COLUMNS)


def write(folder: Path, *rows: str) -> Path:
    path = folder / applications.FILE
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def test_a_table_has_medians_and_ratios_to_c(tmp_path: Path) -> None:
    rounds = [row(rate=rate, round=str(number)) for number, rate in enumerate(("90", "100", "130"), 1)]
    ours = [row("rust", rate="150", failed="2"), row("rust", rate="90", round="2")]
    [load] = applications.read(write(tmp_path, *ours, *rounds))
    table = _table(load)
    texts = [[cell.text for cell in cells] for cells in table.rows]
    assert texts == [
        ["C", "100", "1.00", "0.50", "1.50", "–", "20.00", "0.20", "0"],
        ["safe Rust", "120", "1.28", "0.50", "1.50", "–", "20.00", "0.20", "2"],
    ]
    # Each round has its own ratio: 150 / 90 and 90 / 100.
    assert table.rows[1][2].detail == ("0.90 to 1.67",)
    assert table.rows[0][1].detail == ("spread 40 %",)
    assert table.rows[1][-1].tone == "bad"


def test_bits_are_shown_in_millions(tmp_path: Path) -> None:
    [load] = applications.read(write(tmp_path, row(client="iperf3 up", rate="1.5e9", p50_ms="", p99_ms="")))
    table = _table(load)
    assert table.columns[1].heading == "Mbit/s"
    assert [cell.text for cell in table.rows[0][1:5]] == ["1,500", "1.00", "–", "–"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (row("cobol"), "cobol/default is unknown"),
        (row(rate="fast"), "fast"),
        (row(rate="0"), "without requests"),
        (row(seconds="-1"), "seconds is -1"),
    ],
)
def test_an_error_names_the_place(tmp_path: Path, wrong: str, says: str) -> None:
    with pytest.raises(DataError, match=f"line 2: .*{says}"):
        applications.read(write(tmp_path, wrong))


def test_other_columns_are_refused(tmp_path: Path) -> None:
    path = tmp_path / applications.FILE
    path.write_text("application,server\n")
    with pytest.raises(DataError, match="columns"):
        applications.read(path)


def test_the_newest_run_is_found_beside_a_run(tmp_path: Path) -> None:
    run, latest = tmp_path / "run", tmp_path / applications.LATEST
    run.mkdir()
    assert applications.find(run) is None
    latest.mkdir()
    write(latest)
    assert applications.find(run) == latest / applications.FILE


def layers(folder: Path, *rows: str) -> Path:
    path = folder / applications.LAYERS_FILE
    path.write_text("\n".join([",".join(applications.LAYERS_COLUMNS), *rows]) + "\n")
    return path


def test_the_share_of_the_driver_is_of_all_layers(tmp_path: Path) -> None:
    counts = (("driver", 100), ("stack", 250), ("libraries", 50))
    rows = [f"kv,c,redis,1,100,{layer},{count}" for layer, count in counts]
    requests = applications.read_layers(layers(tmp_path, *rows))
    table = _layers(requests)
    assert [cell.text for cell in table.rows[0]] == ["kv", "redis", "C", "100", "250", "0", "50", "400", "25.0 %"]
    assert applications.read_layers(tmp_path / "none.csv") == []


def test_layers_are_medians_of_all_rounds(tmp_path: Path) -> None:
    counts = ((1, 100, 300), (2, 120, 200), (3, 90, 500))
    rows = [
        f"kv,c,redis,{number},10,{layer},{count}"
        for number, *both in counts
        for layer, count in zip(("driver", "stack"), both, strict=True)
    ]
    [request] = applications.read_layers(layers(tmp_path, *rows))
    assert request.layers == {"driver": 100, "stack": 300}
    assert (request.total, request.share, request.spread) == (400, 0.25, 270 / 400)


@pytest.mark.parametrize(
    "wrong", ["kv,cobol,redis,1,1,driver,1", "kv,c,redis,1,1,roof,1", "kv,c,redis,1,1,driver,many"]
)
def test_a_wrong_layer_names_the_line(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(DataError, match="line 2"):
        applications.read_layers(layers(tmp_path, wrong))


def test_the_lines_of_applications_are_those_of_code_json(tmp_path: Path) -> None:
    path = tmp_path / "code.json"
    assert applications.read_lines(path) == {}
    path.write_text('{"applications": {"kv": 595}}')
    assert applications.read_lines(path) == {"kv": 595}
    path.write_text('{"applications": {"kv": "many"}}')
    with pytest.raises(DataError, match="malformed"):
        applications.read_lines(path)
