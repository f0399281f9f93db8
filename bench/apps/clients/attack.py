"""Send random sequences to each application over each driver and the kernel's sockets, and ask it all the while."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, field

from clients.load import Asking, p99_ms
from clients.process import AppError, built, run, start, wait_until, words
from clients.world import ADDRESS, INTERFACE, OVERS, PORTS, Server, serve

MILLION = 1_000_000


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
    with Asking(name) as quiet:
        wait_until("the first answers", lambda: len(quiet.seconds) >= 100)
    with Asking(name) as busy:
        report = Report(**json.loads(run("", built("cargo/release/apps-hostile"), *options, limit=1000).text))
    report.asked, report.failures = len(busy.seconds), quiet.failures + busy.failures
    report.quiet_ms, report.busy_ms = (p99_ms(each.seconds or [0]) for each in (quiet, busy))
    return report


def main(options: argparse.Namespace) -> int:
    """Attack each application over each driver that was asked for; print a table, and return the exit status."""
    print(f"{options.sequences} sequences, seed {options.seed}")
    print("application over         segments  handshakes  answers  seconds  asked  p99 quiet  p99 attacked   times  failed")
    failed = []
    for name in options.only or PORTS:
        for over in options.driver or OVERS:
            try:
                with serve(Server(name, over)) as running:
                    try:
                        report = assault(name, options.sequences, options.seed)
                    finally:
                        # Its error says how the server ended before.
                        running.end(1)
            except AppError as error:
                failed.append(f"{name} over {over}: {error}")
                continue
            print(
                f"{name:11} {over:11} {report.segments:>9} {report.handshakes:>11} {report.answers:>8} "
                f"{report.seconds:>8.1f} {report.asked:>6} {report.quiet_ms:>7.1f} ms {report.busy_ms:>10.1f} ms "
                f"{report.busy_ms / report.quiet_ms:>7.1f} {len(report.failures):>7}",
                flush=True,
            )
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
