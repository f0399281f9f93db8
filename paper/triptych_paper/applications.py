"""The applications under real clients: ``apps.csv``, ``layers.csv`` and ``code.json`` of a run of ``make apps``."""

from __future__ import annotations

import csv
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from triptych_paper.errors import DataError

COLUMNS = [
    "application", "server", "variant", "client", "round", "requests", "failed", "seconds", "rate", "p50_ms", "p99_ms",
    "p999_ms", "server_user_seconds", "server_system_seconds", "between_seconds", "client_user_seconds",
    "client_system_seconds",
]  # fmt: skip
"""The columns of ``apps.csv``, in order."""

FILE = "apps.csv"
LATEST = "latest-apps"
"""Link in the results folder to the newest run."""

Server = tuple[str, str]
"""A server and the build of its driver."""

SERVERS: dict[Server, str] = {
    ("c", "default"): "C",
    ("rust", "default"): "safe Rust",
    ("rust-unsafe", "default"): "unsafe Rust",
    ("c", "trapping-ubsan"): "C, checks",
    ("rust", "overflow-checks"): "safe Rust, checks",
    ("rust-unsafe", "overflow-checks"): "unsafe Rust, checks",
    ("kernel", "default"): "kernel's sockets",
    ("redis-server", "default"): "redis-server",
    ("nginx", "default"): "nginx",
}
"""The servers and builds of drivers, and their names in tables."""

BITS = ("iperf3 up", "iperf3 down")
"""The clients whose rate is in bits."""

LAYERS_FILE = "layers.csv"
LAYERS_COLUMNS = ["application", "server", "client", "round", "requests", "layer", "instructions"]
"""The columns of ``layers.csv``, in order."""

LAYERS = {"driver": "driver", "stack": "smoltcp", "application": "application", "libraries": "libraries"}
"""The layers of a request, and their names in tables."""

BASE: Server = ("c", "default")
"""The server that ratios refer to."""


@dataclass(frozen=True)
class Measured:
    """What a client measured of a server in one round. Absent percentiles are None."""

    round: int
    requests: int
    failed: int
    seconds: float
    rate: float
    p50_ms: float | None
    p99_ms: float | None
    p999_ms: float | None
    server_user_seconds: float
    server_system_seconds: float
    client_user_seconds: float
    client_system_seconds: float

    @property
    def server_us(self) -> float:
        """Processor time of the server for a request, in microseconds."""
        return 1e6 * (self.server_user_seconds + self.server_system_seconds) / self.requests

    @property
    def system_share(self) -> float | None:
        """The kernel's share of the server's processor time; None if that is too short to count."""
        total = self.server_user_seconds + self.server_system_seconds
        return self.server_system_seconds / total if total else None


@dataclass(frozen=True)
class Load:
    """All rounds of a client on an application, by server."""

    application: str
    client: str
    rounds: dict[Server, list[Measured]]

    def median(self, server: Server, value: Callable[[Measured], float | None]) -> float | None:
        """The median over all rounds; None if no round has the value."""
        found = [number for number in map(value, self.rounds[server]) if number is not None]
        return statistics.median(found) if found else None

    def spread(self, server: Server) -> float:
        """The difference of the highest and the lowest rate, as a share of the median."""
        rates = [measured.rate for measured in self.rounds[server]]
        return (max(rates) - min(rates)) / statistics.median(rates)

    def ratios(self, server: Server, base: Server, value: Callable[[Measured], float | None]) -> list[float]:
        """Divide a server's value by that of another server in the same round, for each round that has both."""
        known = {measured.round: value(measured) for measured in self.rounds.get(base, [])}
        pairs = [(value(measured), known.get(measured.round)) for measured in self.rounds.get(server, [])]
        return [own / other for own, other in pairs if own is not None and other]


def find(folder: Path) -> Path | None:
    """Return the file in a run's folder, or else that of the newest run of ``make apps``."""
    for place in (folder / FILE, folder.parent / LATEST / FILE):
        if place.is_file():
            return place
    return None


def read(path: Path) -> list[Load]:
    """Read an ``apps.csv``, loads in the order of the file.

    Raises :class:`DataError` if it is malformed.
    """
    loads: dict[tuple[str, str], Load] = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        if rows.fieldnames != COLUMNS:
            raise DataError(f"{path}: columns are {rows.fieldnames}, not {COLUMNS}")
        for row in rows:
            where = f"{path}, line {rows.line_num}"
            server = (row["server"], row["variant"])
            if server not in SERVERS:
                raise DataError(f"{where}: the server {'/'.join(server)} is unknown")
            try:
                measured = _measured(row)
            except ValueError as error:
                raise DataError(f"{where}: {error}") from error
            key = (row["application"], row["client"])
            load = loads.setdefault(key, Load(*key, {}))
            load.rounds.setdefault(server, []).append(measured)
    return list(loads.values())


def _measured(row: dict[str, str]) -> Measured:
    def number(column: str) -> float:
        value = float(row[column])
        if value < 0:
            raise ValueError(f"{column} is {row[column]}")
        return value

    def optional(column: str) -> float | None:
        return number(column) if row[column] else None

    requests, rate = int(row["requests"]), number("rate")
    if requests < 1 or rate == 0:
        raise ValueError("a client without requests")
    return Measured(
        round=int(row["round"]),
        requests=requests,
        failed=int(row["failed"]),
        seconds=number("seconds"),
        rate=rate,
        p50_ms=optional("p50_ms"),
        p99_ms=optional("p99_ms"),
        p999_ms=optional("p999_ms"),
        server_user_seconds=number("server_user_seconds"),
        server_system_seconds=number("server_system_seconds"),
        client_user_seconds=number("client_user_seconds"),
        client_system_seconds=number("client_system_seconds"),
    )


@dataclass(frozen=True)
class Request:
    """The instructions of a request by layer, over one driver."""

    application: str
    client: str
    server: str
    rounds: dict[int, dict[str, float]]
    """The instructions of each layer, by round."""

    @property
    def layers(self) -> dict[str, float]:
        """The median of each layer over the rounds; a layer without instructions is absent."""
        found = {layer for counts in self.rounds.values() for layer in counts}
        return {
            layer: statistics.median(counts.get(layer, 0.0) for counts in self.rounds.values())
            for layer in LAYERS
            if layer in found
        }

    @property
    def total(self) -> float:
        """All instructions in user mode, the sum of the medians."""
        return sum(self.layers.values())

    @property
    def spread(self) -> float:
        """The difference of the highest and the lowest total of a round, as a share of the total."""
        totals = [sum(counts.values()) for counts in self.rounds.values()]
        return (max(totals) - min(totals)) / self.total

    @property
    def share(self) -> float:
        """The driver's share of them."""
        return self.layers.get("driver", 0.0) / self.total


def read_layers(path: Path) -> list[Request]:
    """Read a ``layers.csv``; empty if there is none.

    Raises :class:`DataError` if it is malformed.
    """
    if not path.is_file():
        return []
    requests: dict[tuple[str, str, str], Request] = {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        for row in rows:
            if rows.fieldnames != LAYERS_COLUMNS:
                raise DataError(f"{path}: columns are {rows.fieldnames}, not {LAYERS_COLUMNS}")
            key = (row["application"], row["client"], row["server"])
            try:
                number, instructions = int(row["round"]), float(row["instructions"])
            except ValueError as error:
                raise DataError(f"{path}, line {rows.line_num}: {error}") from error
            if row["layer"] not in LAYERS or (row["server"], "default") not in SERVERS:
                raise DataError(f"{path}, line {rows.line_num}: {row['server']}/{row['layer']} is unknown")
            rounds = requests.setdefault(key, Request(*key, {})).rounds
            rounds.setdefault(number, {})[row["layer"]] = instructions
    return list(requests.values())


def read_lines(path: Path) -> dict[str, int]:
    """Read the lines of each part of the applications from a ``code.json``; empty if it has none."""
    if not path.is_file():
        return {}
    try:
        parts = json.loads(path.read_text(encoding="utf-8")).get("applications", {})
        return {str(name): int(lines) for name, lines in parts.items()}
    except (json.JSONDecodeError, AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{path} is malformed: {error!r}") from None
