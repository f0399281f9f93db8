"""Send a million requests of each kind to each application over each driver, and compare the answers.

Streams of some gigabytes each way and a million SYNs follow.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from clients.load import Load, ab, controller, curl_stream, redis_check, redis_cli, wrk
from clients.process import AppError, start
from clients.segments import HandClient
from clients.world import DRIVERS, PORTS, Server, serve

MILLION = 1_000_000
FLOOD, STREAM = 100_000, 2 << 30

# An application, its client with the size of one run, and what it sends.
LOADS: tuple[tuple[str, Callable[[], Load], str], ...] = (
    ("kv", partial(redis_check, 25_000), "requests of redis-cli to kv"),
    ("http", partial(wrk, 10, check=True), "requests of wrk to http"),
    ("http", partial(ab, 50_000, 50), "connections of ab to http"),
    ("balancer", partial(wrk, 10, check=True), "requests of wrk through the balancer"),
    ("balancer", partial(ab, 50_000, 50), "connections of ab through the balancer"),
    ("node", partial(controller, 10_000), "requests of the controller to node"),
)


def whole(load: Load) -> Load:
    """Return what a client measured, if nothing was lost or wrong."""
    if load.failed or not load.requests:
        raise AppError(f"lost or wrong: {load}")
    return load


def soak(driver: str, requests: int) -> None:
    """Send everything to the applications over one driver."""
    for name, client, what in LOADS:
        sent = 0
        with serve(Server(name, driver)) as running:
            while sent < requests:
                sent += whole(client()).requests
            statistics = running.end()
        if statistics.get("malformed") or statistics.get("checksum_errors"):
            raise AppError(f"{what}: {statistics}")
        print(f"{driver}: {sent} {what}: 0 lost, 0 wrong", flush=True)
    with serve(Server("http", driver, arguments=("--socket-buffer", "262144"))):
        for up in (True, False):
            load = whole(curl_stream(STREAM, up))
            print(f"{driver}: {load.client}: {load.rate / 1e9:.2f} Gbit/s, 0 checksum errors", flush=True)
    with serve(Server("kv", driver)) as running:
        before = running.server.memory_kib()
        for _ in range(-(-requests // FLOOD)):
            HandClient(PORTS["kv"]).flood(FLOOD)
            if redis_cli("PING") != "PONG":
                raise AppError("kv does not answer after a flood")
        after, statistics = running.server.memory_kib(), running.end()
    evicted, dropped = statistics["half_open_evicted"], statistics["syn_dropped"]
    print(f"{driver}: a flood: memory {before} KiB before, {after} KiB after; {evicted} evicted, {dropped} dropped")


def main(options: argparse.Namespace) -> int:
    """Soak the applications over each driver that was asked for."""
    for driver in options.driver or DRIVERS:
        soak(driver, options.requests)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--driver", choices=DRIVERS, action="append", help="only this driver")
    parser.add_argument("--requests", type=int, default=MILLION, help="requests of each kind")
    start(parser, main)
