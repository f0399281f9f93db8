"""Measure the applications over each driver, over the kernel's sockets, and beside their peers.

Writes `apps.csv`, `layers.csv`, `code.json` and `run.json` to a folder of `results/`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from triptych_paper import applications
from triptych_paper.tables import terminal

from clients.load import BODY, Load, ab, controller, curl_stream, ping, redis_benchmark, redis_pipeline, repeated, wrk
from clients.process import ROOT, AppError, built, run, start
from clients.world import CHECKED, DRIVERS, Server, serve

RESULTS = ROOT / "results"
COLUMNS = (
    *("application", "server", "variant", "client", "round", "requests", "failed", "seconds", "rate"),
    *("p50_ms", "p99_ms", "p999_ms", "server_user_seconds", "server_system_seconds", "between_seconds"),
    *("client_user_seconds", "client_system_seconds"),
)
LAYER_COLUMNS = ("application", "server", "client", "round", "requests", "layer", "instructions")
# If the host takes a processor away for more seconds than this, the percentiles of a load show the host.
STOLEN_LIMIT = 0.03
# A load that the host disturbs runs so many times at most.
ATTEMPTS = 3
CALLGRIND = ("valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no")


@dataclass(frozen=True)
class Plan:
    """How much is measured. Runs of ab and ping are short, so a round has several."""

    rounds: int = 3
    requests: int = 100_000
    seconds: int = 2
    short_runs: int = 8
    controller: int = 2_000
    pings: int = 10_000
    stream: int = 512 << 20


QUICK = Plan(1, 20_000, 1, 2, 300, 2_000, 128 << 20)
Client = Callable[[Plan], Load]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Subject:
    """An application with its clients, its peer, and the load whose instructions callgrind counts."""

    name: str
    clients: tuple[Client, ...]
    peer: str | None = None
    counted: tuple[int, Callable[[int], Load]] | None = None
    arguments: tuple[str, ...] = ()


def subjects(nginx: str | None) -> list[Subject]:
    """Return what is measured."""
    return [
        Subject(
            "kv",
            (
                lambda plan: repeated(plan.short_runs, lambda: ping(plan.pings)),
                lambda plan: redis_benchmark("SET", plan.requests),
                lambda plan: redis_benchmark("GET", plan.requests),
                lambda plan: redis_pipeline(plan.requests),
            ),
            "redis-server",
            (2000, lambda count: redis_benchmark("GET", count)),
        ),
        Subject(
            "http",
            (lambda plan: wrk(plan.seconds), lambda plan: repeated(plan.short_runs, lambda: ab(1000, 50))),
            nginx,
            (500, lambda count: ab(count, 50)),
        ),
        # A stream needs larger buffers than requests.
        Subject(
            "http",
            (
                lambda plan: wrk(plan.seconds, "/bytes/65536"),
                lambda plan: curl_stream(plan.stream, up=False),
                lambda plan: curl_stream(plan.stream, up=True),
            ),
            arguments=("--socket-buffer", "262144"),
        ),
        Subject(
            "balancer",
            (lambda plan: repeated(plan.short_runs, lambda: ab(2100, 40, BODY)), lambda plan: wrk(plan.seconds)),
            nginx,
            (500, lambda count: ab(count, 40, BODY)),
        ),
        Subject("node", (lambda plan: controller(plan.controller),), counted=(100, controller)),
    ]


def servers(subject: Subject) -> list[Server]:
    """Return the servers of an application: each driver with and without checks, the kernel's sockets, the peer."""
    builds = [(driver, "default") for driver in DRIVERS] + list(CHECKED.items()) + [("kernel", "default")]
    ours = [Server(subject.name, over, variant, subject.arguments) for over, variant in builds]
    return ours + ([Server(subject.name, subject.peer)] if subject.peer else [])


@dataclass
class Measured:
    """What a run has measured, and what failed. Each row is written at once, so that a killed run keeps its rows."""

    folder: Path
    rows: int = 0
    failures: list[str] = field(default_factory=list)

    def attempt(self, file: str, columns: Row, what: str, rows: Iterator[Row]) -> None:
        """Write rows to a table until there are no more, or until something fails."""
        print(what, file=sys.stderr)
        try:
            for row in rows:
                with (self.folder / file).open("a", newline="") as table:
                    added = [row] if table.tell() else [columns, row]
                    csv.writer(table, lineterminator="\n").writerows(added)
                self.rows += 1
        except (AppError, OSError) as error:
            print(f"failed: {error}", file=sys.stderr)
            self.failures.append(f"{what}: {error}")


def stolen_seconds() -> float:
    """Return for how long the host has taken processors away from this machine, all processors together."""
    total = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(total[8]) / os.sysconf("SC_CLK_TCK")


def counts(load: Load, stolen: float, attempt: int) -> bool:
    """Say if the host disturbed a load; return whether the load counts. A failed one and the last attempt always do."""
    if stolen <= STOLEN_LIMIT:
        return True
    is_last = load.failed > 0 or attempt == ATTEMPTS
    end = "the latency shows that" if is_last else "measuring again"
    print(f"{load.client}: the host took a processor away for {stolen:.2f} s; {end}", file=sys.stderr)
    return is_last


def measure(subject: Subject, server: Server, plan: Plan, number: int) -> Iterator[Row]:
    """Load a server with each client in turn."""
    with serve(server._replace(is_measured=True)) as running:
        for client in subject.clients:
            for attempt in range(1, ATTEMPTS + 1):
                stolen = stolen_seconds()
                before = running.server.cpu(), sum(running.carrier.cpu())
                load = client(plan)
                after = running.server.cpu(), sum(running.carrier.cpu())
                if counts(load, stolen_seconds() - stolen, attempt):
                    break
            own = [end - start for start, end in zip(before[0], after[0], strict=True)]
            name = Path(server.over).name
            measured = (load.client, number, load.requests, load.failed, load.seconds, load.rate)
            times = (*load.percentiles, *own, after[1] - before[1], *load.cpu)
            yield (subject.name, name, server.variant, *measured, *times)
        running.end()


def layers(profile: str, program: str) -> Counter[str]:
    """Sum the instructions of each layer in a profile of callgrind whose names are not compressed."""
    found: Counter[str] = Counter()
    file = function = ""
    is_call = False
    for line in profile.splitlines():
        if line.startswith("ob="):
            file = Path(line[3:]).name
        elif line.startswith("fn="):
            function = line[3:]
        elif line.startswith("calls="):
            # The next line is the cost of the called function, which has lines of its own.
            is_call = True
        elif line[:1].isdigit() or line[:1] in ("+", "-", "*"):
            own = "stack" if "smoltcp" in function else "application"
            layer = {"libports.so": "driver", program: own}.get(file, "libraries")
            found[layer] += 0 if is_call else int(line.split()[1])
            is_call = False
    return found


def count(subject: Subject, driver: str, number: int) -> Iterator[Row]:
    """Count what a request costs each layer: the difference of a load and twice that load, in user mode."""
    assert subject.counted
    requests, client = subject.counted
    loads, profiles = [], []
    for times in (1, 2):
        with TemporaryDirectory() as folder:
            profile = Path(folder, "profile")
            with serve(
                Server(subject.name, driver, wrapper=(*CALLGRIND, f"--callgrind-out-file={profile}"), is_measured=True)
            ) as running:
                loads.append(client(times * requests))
                running.end()
            profiles.append(layers(profile.read_text(), subject.name))
    difference = loads[1].requests - loads[0].requests
    for layer, instructions in profiles[1].items():
        each = max(0, instructions - profiles[0][layer]) / difference
        yield (subject.name, driver, loads[1].client, number, difference, layer, each)


def measure_all(options: argparse.Namespace, plan: Plan, measured: Measured) -> None:
    """Measure each application in all rounds."""
    everything = subjects(options.nginx)
    for subject in everything:
        if options.only not in (None, subject.name):
            continue
        # The servers take turns, so that a noisy moment does not meet only one of them. Each round begins with another
        # one, because the first is measured in a calmer or busier machine than the others.
        order = servers(subject)
        for number in range(1, plan.rounds + 1):
            shift = len(order) // plan.rounds * number
            for server in order[shift:] + order[:shift]:
                what = f"{server}, round {number} of {plan.rounds}"
                measured.attempt("apps.csv", COLUMNS, what, measure(subject, server, plan, number))
            # A quick run counts only the first application.
            if subject.counted and (not options.quick or subject == everything[0]):
                for driver in DRIVERS:
                    what = f"{subject.name} over {driver}, under callgrind, round {number}"
                    measured.attempt("layers.csv", LAYER_COLUMNS, what, count(subject, driver, number))


def create_folder(start: datetime) -> Path:
    """Create a folder of `results/`, named after the time."""
    name = f"{start:%Y-%m-%dT%H-%M-%SZ}"
    for attempt in ("", *(f"-{number}" for number in range(1, 100))):
        try:
            (RESULTS / (name + attempt)).mkdir(parents=True)
        except FileExistsError:
            continue
        return RESULTS / (name + attempt)
    raise AppError(f"results/{name} and a hundred others exist")


def main(options: argparse.Namespace) -> int:
    """Measure, write and print; return the exit status."""
    begin = datetime.now(timezone.utc)
    measured = Measured(create_folder(begin))
    folder = measured.folder
    # These come first: if one fails, no measurement is lost.
    run("", built("bin/code-size"), "--root", ROOT, "--output", folder / "code.json")
    facts = json.loads(run("", built("cargo/release/examples/facts")).text)
    measure_all(options, QUICK if options.quick else Plan(), measured)
    times = {"start": f"{begin:%Y-%m-%dT%H:%M:%SZ}", "end": f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}"}
    record = {
        "id": folder.name,
        **times,
        "command": [Path(word).name if word.startswith("/") else word for word in sys.argv[1:]],
        **facts,
        "failures": measured.failures,
    }
    (folder / "run.json").write_text(json.dumps(record, indent=2) + "\n")
    # One rename replaces the link, so that a reader finds either the old run or the new one.
    fresh = RESULTS / f".{folder.name}"
    fresh.symlink_to(folder.name)
    fresh.rename(RESULTS / "latest-apps")
    if (folder / "apps.csv").exists():
        print(terminal.render_all(applications.tables(folder)))
    print(f"results/{folder.name}: {measured.rows} rows, {len(measured.failures)} failures")
    return 1 if measured.failures else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="measure", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round with small loads")
    parser.add_argument("--only", choices=("kv", "http", "balancer", "node"), help="only this application")
    parser.add_argument("--nginx", help="the program of nginx; without it, nginx is left out")
    start(parser, main)
