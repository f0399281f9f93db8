"""The clients that everybody uses: how they are run, and what they print."""

from __future__ import annotations

import json
import re
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import NamedTuple

from clients.process import LIMIT, AppError, Cpu, Output, built, run, words
from clients.world import ADDRESS, CLIENT, OTHER_CLIENT, PORTS

RECORD = '{"id":42,"name":"record 42","value":5.25}'
BODY = '{"name":"x","value":1}'
"""What the clients of `http` and of the balancer post."""

# wrk prints this at its end: counts, and percentiles in microseconds.
WRK_SCRIPT = """done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('totals %d %d %d %f %f %f\\n', summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9)))
end
"""
# wrk ends with an error at the first wrong body.
WRK_CHECK = f"""response = function(status, headers, body)
  if body ~= '{RECORD}' then error('wrong body: ' .. body) end
end
"""


NO_PERCENTILES: tuple[float | None, ...] = (None, None, None)


class Load(NamedTuple):
    """What a client measured: rates are requests or bits per second, percentiles are p50, p99, p99.9 in ms."""

    client: str
    requests: int
    failed: int
    seconds: float
    rate: float
    cpu: Cpu
    percentiles: tuple[float | None, ...] = NO_PERCENTILES


def repeated(times: int, client: Callable[[], Load]) -> Load:
    """Run a client several times: counts are sums, percentiles are medians. A short run measures mostly its start."""
    loads = [client() for _ in range(times)]
    seconds, requests = sum(load.seconds for load in loads), sum(load.requests for load in loads)
    cpu = sum(load.cpu[0] for load in loads), sum(load.cpu[1] for load in loads)
    columns = [
        [value for value in column if value is not None]
        for column in zip(*(load.percentiles for load in loads), strict=True)
    ]
    percentiles = tuple(statistics.median(values) if values else None for values in columns)
    failed = sum(load.failed for load in loads)
    return Load(loads[0].client, requests, failed, seconds, requests / seconds, cpu, percentiles)


def find(pattern: str, output: Output) -> list[float]:
    """Return the numbers that the groups of a pattern match."""
    found = re.search(pattern, output.text, re.MULTILINE)
    if not found:
        raise AppError(f"no '{pattern}' in:\n{output.text}{output.error}")
    return [float(group) for group in found.groups()]


def url(path: str) -> str:
    """Return the URL of a path, which may begin with a port."""
    return f"http://{ADDRESS}{path}"


def ping(count: int) -> Load:
    """Send echo requests, each as soon as the last one is answered."""
    output = run(f"ping -f -q -n -w 60 -c {count} {ADDRESS}", check=False)
    sent, received, milliseconds = find(r"(\d+) packets transmitted, (\d+) received.* time ([0-9.]+)ms", output)
    failed = max(count, int(sent)) - int(received)
    return Load("ping -f", int(sent), failed, milliseconds / 1e3, 1e3 * received / milliseconds, output.cpu)


def redis_benchmark(test: str, requests: int) -> Load:
    """Run redis-benchmark with 50 connections: `test` is `SET`, `GET` or another of its tests."""
    output = run(f"redis-benchmark -h {ADDRESS} -c 50 -n {requests} --precision 3 -t {test.lower()}")
    return parse_benchmark(test, requests, output)


def parse_benchmark(test: str, requests: int, output: Output) -> Load:
    """Read the summary of a test, and the cumulative distribution of its latencies."""
    (rate,) = find(r"throughput summary: ([0-9.]+)", output)
    (seconds,) = find(r"requests completed in ([0-9.]+)", output)
    steps = re.findall(r"([0-9.]+)% <= ([0-9.]+) milliseconds \(cumulative count", output.text)
    reached = (min(float(ms) for percent, ms in steps if float(percent) >= wanted) for wanted in (50, 99, 99.9))
    return Load(f"redis-benchmark {test}", requests, 0, seconds, rate, output.cpu, tuple(reached))


def redis_cli(*command: str, text: str = "") -> str:
    """Run redis-cli with one command, or with those of its input; return what it prints."""
    return run(f"redis-cli -h {ADDRESS} -e", *command, text=text).text.rstrip("\n")


def redis_pipeline(each: int) -> Load:
    """Send SET, GET, GET of a missing key and INCR, so many of each, at once. redis-cli counts answers and errors."""
    lines = []
    for i in range(each):
        key = f"k{i % 1000}"
        for request in (("SET", key, f"value {i}"), ("GET", key), ("GET", "missing"), ("INCR", "n")):
            lines += [f"*{len(request)}", *(part for word in request for part in (f"${len(word)}", word))]
    output = run(f"redis-cli -h {ADDRESS} --pipe", text="\r\n".join([*lines, ""]))
    errors, replies = find(r"errors: (\d+), replies: (\d+)", output)
    failed = int(errors) + max(0, 4 * each - int(replies))
    return Load("redis-cli --pipe", 4 * each, failed, output.seconds, replies / output.seconds, output.cpu)


def redis_check(each: int) -> Load:
    """Send SET, GET, GET of a missing key and INCR one after the other, so many of each; compare every answer."""
    requests, expected = ["SET counter 0"], ["OK"]
    for i in range(each):
        key, value = f"check{i % 1000}", f"value-{i}-{'x' * (i % 900)}"
        requests += [f"SET {key} {value}", f"GET {key}", f"GET missing{i}", "INCR counter"]
        expected += ["OK", value, "", str(i + 1)]
    output = run(f"redis-cli -h {ADDRESS}", text="\n".join([*requests, ""]))
    found = output.text.splitlines()
    wrong = next((i for i, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), len(found))
    if found != expected:
        raise AppError(f"answer {wrong} of {len(expected)} differs: {found[wrong : wrong + 1]}")
    return Load("redis-cli", 4 * each, 0, output.seconds, 4 * each / output.seconds, output.cpu)


def wrk(seconds: int, path: str = "/records/42", check: bool = False) -> Load:
    """Run wrk with 2 threads and 10 connections. `check` compares every body, which costs wrk time."""
    with TemporaryDirectory() as folder:
        script = Path(folder, "totals.lua")
        script.write_text(WRK_CHECK + WRK_SCRIPT if check else WRK_SCRIPT)
        output = run(f"wrk -t 2 -c 10 -d {seconds}s -s", script, url(path))
    found = find(r"^totals" + r" ([0-9.]+)" * 6, output)
    requests, duration, failed = found[0], found[1] / 1e6, found[2]
    name = "wrk" if path == "/records/42" else f"wrk {path}"
    percentiles = tuple(microseconds / 1e3 for microseconds in found[3:])
    return Load(name, int(requests), int(failed), duration, requests / duration, output.cpu, percentiles)


def ab(requests: int, connections: int, body: str = "") -> Load:
    """Run ab with so many connections at a time, each for one request. A body is posted."""
    with TemporaryDirectory() as folder:
        # Its text has whole milliseconds, and this file microseconds.
        file, posted = Path(folder, "percentiles.csv"), Path(folder, "body")
        posted.write_text(body)
        # The answer has the number of the record, whose length varies.
        post = words("-l -T application/json -p", posted, url("/records"))
        what = post if body else [url("/records/42")]
        output = run(f"ab -q -n {requests} -c {connections} -e", file, *what)
        return parse_ab("ab POST" if body else "ab", output, file.read_text())


def parse_ab(client: str, output: Output, percentiles: str) -> Load:
    """Read the text of ab, and its file of percentiles, whose lines are such as `99,1.834`."""
    (seconds,) = find(r"^Time taken for tests: +([0-9.]+)", output)
    (requests,) = find(r"^Complete requests: +(\d+)", output)
    (rate,) = find(r"^Requests per second: +([0-9.]+)", output)
    failed = sum(map(int, re.findall(r"^(?:Failed requests|Non-2xx responses): +(\d+)", output.text, re.MULTILINE)))
    times = dict(line.split(",") for line in percentiles.splitlines())
    return Load(
        client, int(requests), failed, seconds, rate, output.cpu, (float(times["50"]), float(times["99"]), None)
    )


def curl(path: str, *options: str) -> tuple[int, str]:
    """Fetch a path with curl; return status and body."""
    output = run("curl --silent --show-error --max-time 20 -w", "\n%{http_code}", *options, url(path))
    body, _, status = output.text.rpartition("\n")
    return int(status), body


def curl_stream(size: int, up: bool) -> Load:
    """Receive so many bytes with curl, or send them. Frames that came with a wrong checksum count as failed, too."""
    before = kernel_counter("InCsumErrors")
    with TemporaryDirectory() as folder:
        file = Path(folder, "sparse")
        with file.open("wb") as content:
            content.truncate(size if up else 0)
        what = words("-X POST -T", file, url("/discard")) if up else words("-o /dev/null", url(f"/bytes/{size}"))
        written = "\n%{http_code} %{size_" + ("upload" if up else "download") + "} %{time_total}"
        output = run("curl --silent --show-error --max-time 100 -w", written, *what)
    status, count, seconds = find(r"^(\d+) (\d+) ([0-9.]+)$", output)
    answered = not up or json.loads(output.text.rpartition("\n")[0]) == {"bytes": size}
    wrong = (status, count) != (200, size) or not answered
    failed = int(wrong) + kernel_counter("InCsumErrors") - before
    return Load(f"curl {'up' if up else 'down'}", int(count), failed, seconds, 8 * count / seconds, output.cpu)


def controller(rounds: int) -> Load:
    """Run rounds of a discovery and 12 reads of the node's controller, which is ours: no package has one."""
    output = run("", built("bin/apps/node-controller"), *words(f"--ip {CLIENT} --rounds {rounds}"), check=False)
    try:
        report = json.loads(output.text)
    except ValueError:
        raise AppError(f"the controller found no node: {output.text}{output.error}") from None
    requests, seconds = report["requests"], report["seconds"]
    percentiles = tuple(report[name] for name in ("p50_ms", "p99_ms", "p999_ms"))
    failed = report["lost"] + report["wrong"]
    return Load("controller", requests, failed, seconds, requests / seconds, output.cpu, percentiles)


def kernel_counter(suffix: str) -> int:
    """Add up the kernel's counters whose names end so, such as `InCsumErrors`, over all protocols."""
    total = 0
    for name in ("snmp", "netstat"):
        lines = [line.split() for line in Path(f"/proc/thread-self/net/{name}").read_text().splitlines()]
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            total += sum(int(value) for key, value in zip(names, values, strict=True) if key.endswith(suffix))
    return total


QUESTIONS = {
    "kv": (b"PING\r\n", b"+PONG\r\n"),
    "http": (b"GET /records/42 HTTP/1.1\r\nHost: a\r\n\r\n", RECORD.encode()),
    "balancer": (b"GET /records/42 HTTP/1.1\r\nHost: a\r\n\r\n", RECORD.encode()),
    "node": (bytes.fromhex("1081000105ff010ef0016201d600"), bytes.fromhex("108100010ef00105ff0172")),
}
"""What a well-behaved client asks, and what is in its answer."""

RETRY = 0.25
"""After so many seconds without an answer, a datagram is sent again."""


def connect(application: str, source: str = OTHER_CLIENT, limit: float = 20) -> socket.socket:
    """Connect to an application from an address. A controller has the node's port."""
    own = socket.socket(type=socket.SOCK_DGRAM if application == "node" else socket.SOCK_STREAM)
    own.settimeout(limit)
    own.bind((source, PORTS["node"] if application == "node" else 0))
    own.connect((ADDRESS, PORTS[application]))
    return own


def ask(application: str, stream: socket.socket | None = None) -> float:
    """Ask once, over a new connection or this one; return how many seconds the right answer took."""
    start, answer = time.monotonic(), b""
    if stream is None:
        with connect(application) as stream:
            ask(application, stream)
        return time.monotonic() - start
    question, expected = QUESTIONS[application]
    limit = stream.gettimeout() or LIMIT
    # A datagram may be lost, and a controller asks again.
    stream.settimeout(RETRY if application == "node" else limit)
    stream.sendall(question)
    while expected not in answer:
        try:
            part = stream.recv(65536)
        except TimeoutError:
            if application != "node" or time.monotonic() - start > limit:
                raise
            stream.sendall(question)
            continue
        answer += part
        if not part:
            raise AppError(f"{application} answered {answer!r}")
    stream.settimeout(limit)
    return time.monotonic() - start


def p99_ms(seconds: Sequence[float]) -> float:
    """Return the 99th percentile in milliseconds."""
    return 1e3 * sorted(seconds)[max(0, -(-99 * len(seconds) // 100) - 1)]


class Seen(NamedTuple):
    """What a client saw that asked over and over."""

    seconds: list[float]
    failures: list[str]


@contextmanager
def asking(application: str) -> Iterator[Seen]:
    """Ask over one connection, with a little time between, while the context lasts. Connect again after a failure."""
    seen, over = Seen([], []), Event()

    def ask_on() -> None:
        while not over.is_set():
            try:
                with connect(application) as stream:
                    while not over.wait(0.002):
                        seen.seconds.append(ask(application, stream))
            except (OSError, AppError) as error:
                seen.failures.append(f"{type(error).__name__}: {error}")

    thread = Thread(target=ask_on)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
