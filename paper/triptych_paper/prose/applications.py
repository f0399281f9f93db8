"""The archived run of the applications, for templates."""

from __future__ import annotations

import statistics
from pathlib import Path

from triptych_paper.applications import (
    BASE,
    BITS,
    FILE,
    LAYERS,
    LAYERS_FILE,
    SERVERS,
    Load,
    Measured,
    Request,
    Server,
    read,
    read_layers,
)
from triptych_paper.errors import DataError
from triptych_paper.prose.archive import Archive, Value
from triptych_paper.tables.model import ABSENT
from triptych_paper.tables.numbers import number, significant

DRIVERS: tuple[Server, ...] = (BASE, ("rust", "default"), ("rust-unsafe", "default"))
"""The drivers as they are built by default, C first."""

PEERS: tuple[Server, ...] = (("redis-server", "default"), ("nginx", "default"))
"""The programs of others that serve the same clients."""


class Applications:
    """What clients measured in the archived run of ``make apps``."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder; each file is read when it is asked for."""
        self.folder = folder

    @property
    def where(self) -> str:
        """The run and its machine."""
        return Archive(self.folder).where

    @property
    def loads(self) -> list[Load]:
        """All clients of all applications, in the order of the file."""
        path = self.folder / FILE
        if not path.is_file():
            raise DataError(f"{path} is missing; `make apps paper-example` writes it")
        return read(path)

    @property
    def requests(self) -> list[Request]:
        """The instructions of requests by layer."""
        return read_layers(self.folder / LAYERS_FILE)

    @property
    def rounds(self) -> int:
        """How often each client met each server."""
        return max(len(rounds) for load in self.loads for rounds in load.rounds.values())

    @property
    def failed(self) -> int:
        """Requests without an answer, or with a wrong one."""
        return sum(one.failed for load in self.loads for rounds in load.rounds.values() for one in rounds)

    @property
    def spread(self) -> Value:
        """The median, the lowest and the highest spread of the rates, in percent."""
        spreads = sorted(100 * load.spread(server) for load in self.loads for server in load.rounds)
        return Value(statistics.median(spreads), spreads[0], spreads[-1])

    def request(self, application: str, server: str) -> Request:
        """Return the instructions of one application's request; :class:`DataError` without them."""
        found = [one for one in self.requests if (one.application, one.server) == (application, server)]
        if len(found) != 1:
            raise DataError(f"{self.folder / LAYERS_FILE} has no {application} over {server}: prose needs it")
        return found[0]

    @property
    def shares(self) -> Value:
        """The lowest and the highest share of a driver in the instructions of a request, in percent."""
        shares = sorted(100 * one.share for one in self.requests)
        return Value(statistics.median(shares), shares[0], shares[-1])

    @property
    def driver_times_c(self) -> Value:
        """The lowest and the highest ratio of safe Rust's instructions in the driver to those of C."""
        ratios = sorted(
            self.request(one.application, "rust").layers["driver"] / one.layers["driver"]
            for one in self.requests
            if one.server == "c"
        )
        return Value(statistics.median(ratios), ratios[0], ratios[-1])


def rate(measured: Measured) -> float | None:
    """Return the requests or bits per second."""
    return measured.rate


def p99(measured: Measured) -> float | None:
    """Return the 99th percentile of the latency; None if the client measures none."""
    return measured.p99_ms


VALUES = {"rate": rate, "p99": p99}
"""What is compared."""


def peer(load: Load) -> Server | None:
    """Return the peer that served a client, if any did."""
    return next((server for server in PEERS if server in load.rounds), None)


def shown(load: Load, server: Server | None) -> str:
    """Write the median rate, and the 99th percentile below it."""
    if server is None or server not in load.rounds:
        return ABSENT
    value = load.median(server, rate) or 0.0
    scaled, unit = (value / 1e9, " Gbit/s") if load.client in BITS else (value / 1e3, " k")
    latency = load.median(server, p99)
    name = f" ({server[0]})" if server in PEERS else ""
    return significant(scaled) + unit + ("" if latency is None else f"<br>{number(latency, 1)} ms") + name


def ratio(load: Load, server: Server, of: str) -> Value | None:
    """Divide a server's rate or percentile by that of C, round by round: median, lowest and highest."""
    ratios = sorted(load.ratios(server, BASE, VALUES[of]))
    return Value(statistics.median(ratios), ratios[0], ratios[-1]) if ratios else None


def overall(loads: list[Load], server: Server, of: str) -> Value:
    """Average the ratios to C over all clients, geometrically in each round: median, lowest and highest round."""
    rounds = [ratios for load in loads if (ratios := load.ratios(server, BASE, VALUES[of]))]
    if len({len(ratios) for ratios in rounds}) != 1:
        raise DataError(f"not every client measured {'/'.join(server)} beside C in every round")
    means = sorted(statistics.geometric_mean(together) for together in zip(*rounds, strict=True))
    return Value(statistics.median(means), means[0], means[-1])


def more(value: Value, what: str, less: str) -> str:
    """Write a ratio as so many times `what`; say it if the range covers both more and `less` than C."""
    text = f"{value.text(2)} times {what}"
    return text if value.beyond(1) else f"{text}, so the range covers both more and {less}"


GLOBALS = {
    "drivers": DRIVERS,
    "checked": tuple(server for server, name in SERVERS.items() if name.endswith("checks")),
    "kernel": ("kernel", "default"),
    "server_names": SERVERS,
    "layer_names": LAYERS,
    "values": VALUES,
    "peer": peer,
    "shown": shown,
    "ratio": ratio,
    "overall": overall,
    "more": more,
}
"""What templates use."""
