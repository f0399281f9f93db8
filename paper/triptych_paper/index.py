"""An index of many cells: a SQLite file in ``build/`` that is made from ``cells/*.json`` and can be thrown away.

The index has one row for each file, without its samples. A file whose time and size are unchanged is not read again.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from datetime import datetime, timezone
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import orjson

from triptych_paper.errors import DataError
from triptych_paper.schema import EXACT

FORMAT = "triptych-cell-1"
CELL = (
    *("impl", "variant", "batch", "ring_size", "frame_size", "backend", "placement", "offered_mpps"),
    *("queues", "waiting"),
)
"""The fields of a cell that tell it from others of the same machine and revision."""

COLUMNS = (
    *("folder", "file", "mtime", "size", "name", "machine", "run", "start", "seconds", *CELL),
    *("toolchain", "program", "revision", "committed", "dirty", "figures"),
)
PROCESSES, CHUNK = 2, 2500
WHOLE = 1
"""The version of a finished index; one that is being written has 0."""

BUILD = Path(__file__).parents[2] / "build"
NO_GIT: dict[str, Any] = {"revision": "", "committed": "", "dirty": True}

Result = TypeVar("Result")
Wrong = tuple[str, str]


def cell_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the folders `cells` of runs, machines, or whole results; a folder that a link names counts once."""
    found: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            raise DataError(f"{path} is not a results folder: name a run, a machine's folder, or results")
        for folder, below, _ in os.walk(path.resolve()):
            if "cells" in below:
                found[Path(folder, "cells")] = None
            below[:] = sorted(set(below) - {"cells", "report"})
    return list(found)


INDEXED = {"id", "machine", "run", "start", "seconds_per_cell", "cell", "figures", "build", "git"}
NOT_INDEXED = ((b',"samples":[', b',"build":{'), (b',"host":{', b',"settings":{'))
"""Most of a file: where a part begins that the index does not have, and the one behind it."""


def read_cell(path: str | Path, whole: bool = True) -> tuple[dict[str, Any], os.stat_result]:
    """Read the file of a cell; :class:`ValueError` if it is malformed."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
        raw = os.read(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    part = raw
    for begin, behind in () if whole else NOT_INDEXED:
        head = part.find(begin)
        end = part.find(behind, head)
        part = part[:head] + part[end:] if 0 < head < end else part
    found = orjson.loads(part)
    if not found.keys() >= INDEXED:
        # Other programs write the fields in another order, so that the cut took too many.
        found = orjson.loads(raw)
    if found.get("format") != FORMAT:
        raise ValueError(f"it is no {FORMAT}")
    return found, status


def in_utc(time: str) -> str:
    """Return a time so that texts sort as times do: commits have time zones."""
    return datetime.fromisoformat(time.replace("Z", "+00:00")).astimezone(timezone.utc).isoformat()


def _rows(
    folder: int, path: str, names: list[str], known: dict[str, tuple[int, int]]
) -> tuple[list[tuple[Any, ...]], list[Wrong]]:
    """Read the files of a folder that are new or changed; runs in a process of its own."""
    rows: list[tuple[Any, ...]] = []
    wrong: list[Wrong] = []
    for name in names:
        file = f"{path}/{name}"
        try:
            if name in known:
                status = os.stat(file)  # noqa: PTH116
                if known[name] == (status.st_mtime_ns, status.st_size):
                    continue
            cell, status = read_cell(file, whole=False)
            git, build, at, figures = cell["git"] or NO_GIT, cell["build"], cell["cell"], cell["figures"]
            kept = (at.get(field) or (0.0 if field == "offered_mpps" else "") for field in CELL)
            # A value without noise stands alone; others have interval and count. metrics.toml has the units.
            if at["backend"] in EXACT:
                values = {metric: one["value"] for metric, one in figures.items()}
            else:
                ends = itemgetter("value", "low", "high", "count")
                values = {metric: ends(one) for metric, one in figures.items()}
            time = in_utc(git["committed"]) if git["committed"] else ""
            rows.append(
                (
                    *(folder, name, status.st_mtime_ns, status.st_size, cell["id"], cell["machine"], cell["run"]),
                    *(cell["start"], cell["seconds_per_cell"], *kept, build["toolchain"], build["program_sha256"]),
                    *(
                        git["revision"],
                        time,
                        git["dirty"],
                        orjson.dumps(values).decode(),
                    ),
                )
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            wrong.append((file, f"it lacks {error}" if isinstance(error, KeyError) else str(error)))
    return rows, wrong


class Index:
    """The cells below some folders."""

    def __init__(self, paths: Sequence[Path], database: Path | None = None) -> None:
        """Make the index, or bring it up to date."""
        roots = sorted(str(path.resolve()) for path in paths)
        self.file = database or BUILD / f"index-1-{zlib.crc32(chr(0).join(roots).encode()):08x}.sqlite"
        self.wrong: list[Wrong] = []
        """Files that are no cell, and why."""
        folders = cell_folders(paths)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
            self._update(folders)
        except sqlite3.DatabaseError as error:
            raise DataError(f"cannot use the index {self.file}: {error}; delete the file, it is made again") from None
        except OSError as error:
            raise DataError(f"cannot write the index {self.file}: {error.strerror}") from None

    def _open(self) -> sqlite3.Connection:
        """Open the file. One that a killed process left half written is made again."""
        for _ in range(2):
            connection = sqlite3.connect(self.file, timeout=120, isolation_level=None)
            if connection.execute("PRAGMA user_version").fetchone()[0] == WHOLE or not self.file.stat().st_size:
                break
            connection.close()
            self.file.unlink()
        return connection

    def _update(self, folders: list[Path]) -> None:
        run, many = self._connection.execute, self._connection.executemany
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-65536", "user_version=0"):
            run(f"PRAGMA {pragma}").close()
        run("BEGIN EXCLUSIVE")
        run("CREATE TABLE IF NOT EXISTS folder (id INTEGER PRIMARY KEY, path TEXT UNIQUE, history INTEGER)")
        run(f"CREATE TABLE IF NOT EXISTS cell ({', '.join(COLUMNS)}, UNIQUE (folder, file))")
        gone = {path for (path,) in self.ask("SELECT path FROM folder")}.difference(map(str, folders))
        many("DELETE FROM folder WHERE path = ?", ((path,) for path in gone))
        run("DELETE FROM cell WHERE folder NOT IN (SELECT id FROM folder)")
        for rows, wrong in in_processes(_rows, self._tasks(folders)):
            many(f"INSERT OR REPLACE INTO cell VALUES ({', '.join('?' * len(COLUMNS))})", rows)
            self.wrong += wrong
        delete = "DELETE FROM cell WHERE folder = (SELECT id FROM folder WHERE path = ?) AND file = ?"
        many(delete, (os.path.split(path) for path, _ in self.wrong))
        run("CREATE INDEX IF NOT EXISTS by_name ON cell (name, machine)")
        run("CREATE INDEX IF NOT EXISTS by_revision ON cell (machine, committed, revision)")
        run("COMMIT")
        run(f"PRAGMA user_version={WHOLE}")

    def _tasks(self, folders: list[Path]) -> Iterator[tuple[int, str, list[str], dict[str, tuple[int, int]]]]:
        for path in folders:
            add = "INSERT INTO folder (path, history) VALUES (?, ?) ON CONFLICT DO NOTHING"
            self._connection.execute(add, (str(path), "history" in path.parts))
            ((key,),) = self.ask("SELECT id FROM folder WHERE path = ?", str(path))
            found = self.ask("SELECT file, mtime, size FROM cell WHERE folder = ?", key)
            known = {name: (mtime, size) for name, mtime, size in found}
            names = [name for name in os.listdir(path) if name.endswith(".json") and name[0] != "."]  # noqa: PTH208
            for gone in set(known).difference(names):
                self._connection.execute("DELETE FROM cell WHERE folder = ? AND file = ?", (key, gone))
            for start in range(0, len(names), CHUNK):
                chunk = names[start : start + CHUNK]
                yield key, str(path), chunk, {name: known[name] for name in chunk if name in known}

    def ask(self, query: str, *values: object) -> list[Any]:
        """Return the rows of a query."""
        return list(self.stream(query, *values))

    def stream(self, query: str, *values: object) -> Iterator[Any]:
        """Return the rows of a query one by one, because they can be many."""
        with closing(self._connection.execute(query, values)) as cursor:
            yield from cursor

    def close(self) -> None:
        """Release the file."""
        self._connection.close()


def in_processes(work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """Do the tasks in a few processes, in order. Few results wait, so the memory is bounded."""
    waiting: deque[Future[Result]] = deque()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for task in tasks:
            waiting.append(pool.submit(work, *task))
            if len(waiting) > 3 * PROCESSES:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
