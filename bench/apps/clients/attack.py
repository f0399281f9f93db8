"""Send random sequences to each application over each driver and the kernel's sockets, and ask it all the while."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field

from clients.load import asking, p99_ms
from clients.process import AppError, built, run, start, wait_until, words
from clients.world import ADDRESS, INTERFACE, OVERS, PORTS, Server, serve

MILLION = 1_000_000
ROW = "{:11} {:11}" + "{:>11}" * 5 + "{:>10}" * 3 + "{:>6}"
COUNTS = ("application", "over", "segments", "handshakes", "answers", "seconds", "asked")
TIMES = ("before_ms", "then_ms", "times", "lost")
"""A row of the table, and its headings: `before_ms` and `then_ms` are the 99th percentiles of a client."""


@dataclass
class Report:
    """What an assault was, and what a client saw before it and during it."""

    sequences: int
    segments: int
    handshakes: int
    answers: int
    seconds: float
    asked: int = 0
    quiet_ms: float = 0
    busy_ms: float = 0
    failures: list[str] = field(default_factory=list)


def assault(name: str, sequences: int, seed: int) -> Report:
    """Attack an application that runs, while a client asks it."""
    ports = f"{PORTS[name]},8080" if name == "balancer" else str(PORTS[name])
    options = words(f"--interface {INTERFACE} --target {ADDRESS} --sequences {sequences} --seed {seed} --ports {ports}")
    options += ["--udp"] if name == "node" else []
    with asking(name) as quiet:
        wait_until("the first answers", lambda: len(quiet.seconds) >= 100)
    with asking(name) as busy:
        report = Report(**json.loads(run("", built("cargo/release/apps-hostile"), *options, limit=1000).text))
    report.asked, report.failures = len(busy.seconds), quiet.failures + busy.failures
    report.quiet_ms, report.busy_ms = (p99_ms(each.seconds or [0]) for each in (quiet, busy))
    return report


def main(options: argparse.Namespace) -> int:
    """Attack each application over each driver that was asked for; print a table, and return the exit status."""
    print(f"{options.sequences} sequences, seed {options.seed}")
    print(ROW.format(*COUNTS, *TIMES))
    failed = []
    for name in options.only or PORTS:
        for over in options.driver or OVERS:
            try:
                with serve(Server(name, over, is_measured=True)) as running:
                    try:
                        report = assault(name, options.sequences, options.seed)
                    finally:
                        # Its error says how the server ended before.
                        running.end(1)
            except AppError as error:
                failed.append(f"{name} over {over}: {error}")
                continue
            counts = (report.segments, report.handshakes, report.answers, round(report.seconds), report.asked)
            times = (report.quiet_ms, report.busy_ms, report.busy_ms / report.quiet_ms)
            rounded = (f"{value:.1f}" for value in times)
            print(ROW.format(name, over, *counts, *rounded, len(report.failures)), flush=True)
            # On a busy machine, an answer may take longer by itself.
            if report.failures or report.busy_ms > max(5 * report.quiet_ms, 1000):
                failed.append(f"{name} over {over}: {report.failures[:1] or 'the client waited too long'}")
    print("\n".join(failed) or "no application ended, and the client was always served")
    return 1 if failed else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("--driver", choices=OVERS, action="append", help="only this driver, or the kernel's sockets")
    parser.add_argument("--only", choices=PORTS, action="append", help="only this application")
    parser.add_argument("--sequences", type=int, default=MILLION)
    parser.add_argument("--seed", type=int, default=time.time_ns() % MILLION)
    start(parser, main)
