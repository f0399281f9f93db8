"""What users notice: TCP/IP applications over the drivers, under real clients."""

from __future__ import annotations

import statistics

from triptych_paper import applications
from triptych_paper.applications import BASE, BITS, LAYERS, SERVERS, Load, Request, Server
from triptych_paper.report.model import Data, Section
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table

TITLE = "Applications"

CHECKS = "The driver checks overflows (Rust), or overflows and indices into arrays of known length (C)."
SOCAT = (
    "The kernel's sockets in a name space of their own. socat carries each frame between two TAP interfaces, where the "
    "card carries it between a TAP interface and a driver."
)
PARTS = {
    "interface, c": "interface of the C driver",
    "interface, rust": "interface of the safe Rust driver",
    "interface, rust-unsafe": "interface of the unsafe Rust driver",
    "stack": "port and smoltcp's device",
    "kernel": "the kernel's sockets",
    "service": "connections, options, statistics",
}
"""The parts whose names in ``code.json`` are not those of applications."""


def build(data: Data) -> Section:
    """Build a table for each client of each application."""
    text = (
        "One application over three drivers: smoltcp, the application and its machine code are the same, and only the "
        "library of the driver differs. The clients are those that everybody uses. They reach the card through a TAP "
        "interface, so a request costs several system calls and context switches besides the driver.",
        "The servers take turns in each round. Rates and percentiles are medians over the rounds, and the spread is "
        "the range of the rates. A rate is divided by that of C in the same round; below the median is the range. Card "
        "and server have a processor each, and clients run beside them, so differences of a few percent are noise. In "
        "user mode, a driver has a small share of a request's instructions, as the table by layer shows. The kernel's "
        "work comes on top.",
    )
    path = applications.find(data.run.folder)
    if path is None:
        return Section("applications", TITLE, text, missing=("Not measured here: `make apps` measures it.",))
    tables = [_table(load) for load in applications.read(path)]
    requests = applications.read_layers(path.with_name(applications.LAYERS_FILE))
    lines = applications.read_lines(path.with_name("code.json"))
    if requests:
        tables.append(_layers(requests))
    if lines:
        tables.append(_lines(lines))
    return Section("applications", TITLE, text, tuple(tables))


def _layers(requests: list[Request]) -> Table:
    columns = (
        Column("application", numeric=False),
        Column("client", numeric=False),
        Column("driver", numeric=False),
        *(Column(name) for name in LAYERS.values()),
        Column("total"),
        Column("driver's share"),
    )
    rows, records = [], []
    for request in requests:
        counts = [request.layers.get(layer, 0.0) for layer in LAYERS]
        name = SERVERS[request.server, "default"]
        texts = (request.application, request.client, name)
        cells = [Cell(text) for text in (*texts, *(f"{count:,.0f}" for count in counts))]
        spread = (f"spread {100 * request.spread:.0f} %",) if len(request.rounds) > 1 else ()
        cells += [Cell(f"{request.total:,.0f}", spread), Cell(f"{100 * request.share:.1f} %")]
        rows.append(tuple(cells))
        record: Record = {
            "application": request.application,
            "client": request.client,
            "server": request.server,
            "rounds": len(request.rounds),
            "total": request.total,
            "total_spread": request.spread,
            "driver_share": request.share,
            **dict(zip(LAYERS, counts, strict=True)),
        }
        records.append(record)
    title = "Instructions of a request by layer, in user mode, counted by callgrind"
    return Table("applications-layers", title, columns, tuple(rows), tuple(records))


def _lines(lines: dict[str, int]) -> Table:
    columns = (Column("part", numeric=False), Column("lines of code"))
    rows = tuple((Cell(PARTS.get(part, part)), Cell(f"{count:,}")) for part, count in lines.items())
    records: tuple[Record, ...] = tuple({"part": part, "lines": count} for part, count in lines.items())
    return Table("applications-lines", "Lines of code of the applications, counted by tokei", columns, rows, records)


def _table(load: Load) -> Table:
    unit = "Mbit/s" if load.client in BITS else "requests/s"
    columns = (
        Column("server", numeric=False),
        Column(unit),
        Column("against C"),
        Column("p50, ms"),
        Column("p99, ms"),
        Column("p99.9, ms"),
        Column("server's CPU, µs/request" if load.client not in BITS else "server's CPU, s"),
        Column("client's CPU, s"),
        Column("failed"),
    )
    rows, records = [], []
    for server, name in SERVERS.items():
        if server in load.rounds:
            row, record = _row(load, server, name)
            rows.append(row)
            records.append(record)
    key = f"applications-{load.application}-{load.client}".lower().replace(" ", "-").replace("--", "-")
    return Table(key, f"{load.application}: {load.client}", columns, tuple(rows), tuple(records))


def _row(load: Load, server: Server, name: str) -> tuple[tuple[Cell, ...], Record]:
    rate = load.median(server, lambda measured: measured.rate) or 0.0
    percentiles = {
        "p50_ms": load.median(server, lambda measured: measured.p50_ms),
        "p99_ms": load.median(server, lambda measured: measured.p99_ms),
        "p999_ms": load.median(server, lambda measured: measured.p999_ms),
    }
    is_bits = load.client in BITS
    server_cpu = load.median(
        server,
        lambda measured: (
            measured.server_user_seconds + measured.server_system_seconds if is_bits else measured.server_us
        ),
    )
    client_cpu = load.median(server, lambda measured: measured.client_user_seconds + measured.client_system_seconds)
    system = load.median(server, lambda measured: measured.system_share) or 0.0
    failed = sum(measured.failed for measured in load.rounds[server])
    notes = (CHECKS,) if name.endswith("checks") else (SOCAT,) if server[0] == "kernel" else ()
    ratios = load.ratios(server, BASE, lambda measured: measured.rate)
    ratio = statistics.median(ratios) if ratios else None
    varies = len(ratios) > 1 and server != BASE
    spread = f"spread {100 * load.spread(server):.0f} %"
    cells = (
        Cell(name, notes=notes),
        Cell(f"{rate / 1e6:,.0f}" if is_bits else f"{rate:,.0f}", (spread,)),
        Cell(
            ABSENT if ratio is None else f"{ratio:.2f}",
            (f"{min(ratios):.2f} to {max(ratios):.2f}",) if varies else (),
        ),
        *(Cell(ABSENT if value is None else f"{value:.2f}") for value in percentiles.values()),
        Cell(ABSENT if server_cpu is None else f"{server_cpu:.2f}", (f"{100 * system:.0f} % system",)),
        Cell(ABSENT if client_cpu is None else f"{client_cpu:.2f}"),
        Cell(str(failed), tone="bad" if failed else ""),
    )
    record: Record = {
        "application": load.application,
        "client": load.client,
        "server": server[0],
        "variant": server[1],
        "rounds": len(load.rounds[server]),
        "rate": rate,
        "spread": load.spread(server),
        "times_c": ratio,
        "times_c_low": min(ratios, default=None),
        "times_c_high": max(ratios, default=None),
        **percentiles,
        "server_cpu": server_cpu,
        "server_system_share": system,
        "client_cpu_seconds": client_cpu,
        "failed": failed,
    }
    return cells, record
