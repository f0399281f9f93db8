"""The applications under real clients: ``apps.csv`` and ``layers.csv`` of a run of ``make apps``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from triptych_paper.comparisons import Section
from triptych_paper.errors import DataError
from triptych_paper.other_runs import newest
from triptych_paper.tables.model import ABSENT, Cell, Column, Record, Table

APPS, LAYERS = "apps.csv", "layers.csv"
SERVERS = {
    "c/default": "C",
    "rust/default": "safe Rust",
    "rust-unsafe/default": "unsafe Rust",
    "c/trapping-ubsan": "C, checks",
    "rust/overflow-checks": "safe Rust, checks",
    "rust-unsafe/overflow-checks": "unsafe Rust, checks",
    "kernel/default": "kernel's sockets",
    "redis-server/default": "redis-server",
    "nginx/default": "nginx",
}
"""The servers and builds of drivers, and their names in tables."""

LANGUAGES = tuple(SERVERS)[:6]
PARTS = {"driver": "driver", "stack": "smoltcp", "application": "application", "libraries": "libraries"}
"""The layers of a request, and their names in tables."""


def section(folder: Path) -> Section:
    """Build the tables of the newest run of ``make apps``."""
    title = "Applications"
    text = (
        "One application over three drivers: only the library of the driver differs. Rates and percentiles are medians "
        "over the rounds. A rate is divided by that of C in the same round, with the range over the rounds.",
    )
    path = newest(folder, "latest-apps", APPS)
    if path is None:
        return Section("applications", title, text, missing="Not measured here: `make apps` measures it.")
    return Section("applications", title, text, tables(path.parent))


def tables(folder: Path) -> tuple[Table, ...]:
    """Build the tables of a run: rates, ratios to C, and instructions by layer."""
    try:
        apps = pd.read_csv(folder / APPS)
        apps["server"] = apps["server"] + "/" + apps["variant"]
        unknown = set(apps["server"]) - set(SERVERS)
        if unknown or (apps["rate"] <= 0).any():
            raise DataError(
                f"{folder / APPS}: a rate is not positive, or a server is unknown: {', '.join(sorted(unknown))}"
            )
        layers = pd.read_csv(folder / LAYERS) if (folder / LAYERS).is_file() else None
        found = [_rates(apps), _ratios(apps), *([_layers(layers)] if layers is not None else [])]
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{folder} has no tables of applications that can be read: {error!r}") from None
    return tuple(found)


def _loads(apps: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(apps["application"], apps["client"], strict=True)))


def _rates(apps: pd.DataFrame) -> Table:
    medians = apps.groupby(["application", "client", "server"])[["rate", "p50_ms", "p99_ms", "p999_ms"]].median()
    shown = [server for server in SERVERS if server in set(apps["server"]) and "checks" not in SERVERS[server]]
    peers = [server for server in shown if server.startswith(("redis", "nginx"))]
    own = [server for server in shown if server not in peers]
    rows, records = [], []
    for application, client in _loads(apps):

        def cell(server: str, load: tuple[str, str] = (application, client)) -> Cell | None:
            if (*load, server) not in medians.index:
                return None
            rate, _, p99, _ = medians.loc[(*load, server)]
            text = f"{rate / 1e9:.2f} Gbit/s" if load[1].startswith("iperf3") else f"{rate / 1000:.3g} k"
            records.append(
                {"application": load[0], "client": load[1], "server": server, **medians.loc[(*load, server)]}
            )
            return Cell(text, () if np.isnan(p99) else (f"{p99:.1f} ms",))

        cells = [cell(server) or Cell(ABSENT) for server in own]
        peer = next(((SERVERS[server], found) for server in peers if (found := cell(server))), None)
        with_name = Cell(ABSENT) if peer is None else Cell(f"{peer[1].text} ({peer[0]})", peer[1].detail)
        rows.append((Cell(f"{application}: {client}"), *cells, with_name))
    columns = [
        Column("requests per second, p99 below", numeric=False),
        *(Column(SERVERS[server]) for server in own),
        Column("peer"),
    ]
    return Table("applications-rates", "Requests per second", tuple(columns), tuple(rows), tuple(records))


def _ratios(apps: pd.DataFrame) -> Table:
    """Divide each driver's rate by that of C in the same round."""
    index = ["application", "client", "round"]
    shown = [server for server in LANGUAGES[1:] if server in set(apps["server"])]
    base = apps[apps["server"] == LANGUAGES[0]].set_index(index)
    rows, records = [], []
    by_server = {server: apps[apps["server"] == server].set_index(index) for server in shown}
    ratios = {server: table[["rate", "p99_ms"]] / base[["rate", "p99_ms"]] for server, table in by_server.items()}
    for load in _loads(apps):
        cells = []
        for server in shown:
            found = ratios[server].loc[[load]] if load in ratios[server].index.droplevel("round") else None
            texts = [_range(found[name].dropna()) for name in ("rate", "p99_ms")] if found is not None else [ABSENT]
            cells.append(Cell(texts[0], tuple(filter(None, texts[1:]))))
            median = None if found is None else found["rate"].median()
            records.append({"application": load[0], "client": load[1], "server": server, "rate_times_c": median})
        rows.append((Cell(f"{load[0]}: {load[1]}"), *cells))
    overall = []
    for server in shown:
        # The geometric mean over all clients, for each round.
        means = np.exp(np.log(ratios[server]).groupby("round").mean())
        overall.append(Cell(_range(means["rate"]), (_range(means["p99_ms"]),)))
    rows.append((Cell("all, geometric mean"), *overall))
    columns = [
        Column("requests per second ÷ C, and p99 ÷ C below", numeric=False),
        *(Column(SERVERS[server]) for server in shown),
    ]
    note = "In parentheses is the range over the rounds."
    return Table(
        "applications-ratios", "Requests per second, times C", tuple(columns), tuple(rows), tuple(records), note
    )


def _range(values: pd.Series[float]) -> str:
    """Format the median of some rounds with their range; empty without any."""
    if values.empty:
        return ""
    return f"{values.median():.2f} ({values.min():.2f} to {values.max():.2f})"


def _layers(layers: pd.DataFrame) -> Table:
    """Divide the instructions of a request among the layers."""
    counts = layers.pivot_table("instructions", ["application", "client", "server"], "layer", "median", sort=False)
    rows, records = [], []
    for (application, client, server), found in counts.fillna(0.0).iterrows():
        known = {name: float(found.get(name, 0.0)) for name in PARTS}
        total = sum(known.values())
        texts = [f"{count:,.0f}" for count in (*known.values(), total)]
        name = SERVERS[f"{server}/default"]
        share = f"{100 * known['driver'] / total:.1f} %"
        rows.append(tuple(map(Cell, (f"{application}: {client}", name, *texts, share))))
        records.append({"application": application, "client": client, "server": server, **known, "total": total})
    headings = (*PARTS.values(), "total", "driver's share")
    columns = (Column("request", numeric=False), Column("over", numeric=False), *map(Column, headings))
    title = "Instructions of a request by layer, in user mode, counted by callgrind"
    every: tuple[Record, ...] = tuple(records)
    return Table("applications-layers", title, columns, tuple(rows), every)
