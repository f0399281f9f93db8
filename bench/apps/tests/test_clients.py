"""What clients print is read right, and programs that fail say why."""

import sys
from pathlib import Path

import pytest
from clients.load import Load, p99_ms, parse_ab, parse_benchmark, repeated
from clients.measure import ATTEMPTS, counts, layers
from clients.process import AppError, Output, Process, run, wait_until


def test_the_distribution_of_redis_benchmark_gives_the_percentiles() -> None:
    steps = {"0.000": 0.103, "49.000": 0.503, "99.000": 1.207, "99.950": 2.007, "100.000": 3.007}
    lines = [f"{percent}% <= {ms} milliseconds (cumulative count 1)" for percent, ms in steps.items()]
    text = "\n".join(["100000 requests completed in 2.00 seconds", *lines, "  throughput summary: 50000.00 requests"])
    load = parse_benchmark("SET", 100_000, Output(text, "", 3, (1, 2)))
    assert load == Load("redis-benchmark SET", 100_000, 0, 2, 50_000, (1, 2), (1.207, 1.207, 2.007))
    with pytest.raises(AppError, match="nothing"):
        parse_benchmark("SET", 1, Output("nothing", "", 0, (0, 0)))


def test_ab_counts_wrong_statuses_apart() -> None:
    text = (
        "Time taken for tests:   0.500 seconds\nComplete requests:      1000\nFailed requests:        1\n"
        "Non-2xx responses:      2\nRequests per second:    2000.00 [#/sec] (mean)\n"
    )
    percentiles = "Percentage served,Time in ms\n50,4.712\n99,12.041\n100,20.3\n"
    load = parse_ab("ab", Output(text, "", 1, (0, 0)), percentiles)
    assert load == Load("ab", 1000, 3, 0.5, 2000, (0, 0), (4.712, 12.041, None))


def test_repeated_runs_add_up_and_have_median_percentiles() -> None:
    loads = (Load("ab", 100, 1, seconds, 0, (1, 2), (None, seconds, None)) for seconds in (1.0, 3.0, 2.0))
    assert repeated(3, lambda: next(loads)) == Load("ab", 300, 3, 6, 50, (3, 6), (None, 2, None))


def test_the_99th_percentile_is_a_value_that_was_seen() -> None:
    assert (p99_ms([0.002]), p99_ms([i / 1000 for i in range(1, 101)]), p99_ms([0.001] * 50 + [1])) == (2, 99, 1000)


def test_the_cost_of_a_call_counts_once() -> None:
    profile = (
        "events: Ir\nob=/a/kv\nfl=???\nfn=apps::kv::serve\n0 10\ncob=/b/libports.so\ncfn=stack_port_send\n"
        "calls=2 0\n0 70\nfn=smoltcp::iface::poll\n0 5\n+3 6\nob=/b/libports.so\nfn=stack_port_send\n0 70\n"
        "ob=/lib/libc.so.6\nfn=memcpy\n0 7\n"
    )
    assert layers(profile, "kv") == {"driver": 70, "stack": 11, "application": 10, "libraries": 7}


def test_a_program_that_ends_too_soon_says_why(tmp_path: Path) -> None:
    script = "import sys; print('begins'); sys.exit('no permission')"
    process = Process([sys.executable, "-u", "-c", script], tmp_path / "server.log")
    with pytest.raises(
        AppError, match="server: it ended with 1 before a line 'ready'; it printed:\nbegins\nno permission"
    ):
        process.wait_for_line("ready")


def test_what_never_happens_is_not_waited_for(tmp_path: Path) -> None:
    process = Process(["sleep", "30"], tmp_path / "sleep.log")
    with pytest.raises(AppError, match=r"sleep: 0.05 s passed without a line 'ready'"):
        process.wait_for_line("ready", limit=0.05)
    with pytest.raises(AppError, match="sleep did not end"):
        process.wait(0.05)
    process.kill()
    with pytest.raises(AppError, match="nothing did not come"):
        wait_until("nothing", lambda: False, 0.05)
    with pytest.raises(AppError, match="timed out"):
        run("sleep 30", limit=0.05)


@pytest.mark.parametrize(
    ("stolen", "failed", "attempt", "does"),
    [(0.02, 0, 1, True), (0.1, 0, 1, False), (0.1, 0, ATTEMPTS, True), (0.1, 3, 1, True)],
)
def test_a_load_during_which_the_host_took_a_processor_away_runs_again(
    stolen: float, failed: int, attempt: int, does: bool
) -> None:
    load = Load("wrk", 1000, failed, 2.0, 500.0, (0.1, 0.1))
    assert counts(load, stolen, attempt) is does
