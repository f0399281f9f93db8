"""Graphs of imports, and the circles in them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass
class ImportGraph:
    """The imports between the files of one crate, program or package."""

    name: str
    edges: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each file, the files that it imports, with the first line that imports each."""

    def add(self, source: str, target: str, line: int) -> None:
        """Records that `source` imports `target` in `line`. Imports within one file do not count."""
        self.edges.setdefault(target, {})
        lines = self.edges.setdefault(source, {})
        if source != target:
            lines[target] = min(line, lines.get(target, line))

    def circles(self) -> list[str]:
        """The shortest circle through each file that is in one, such as `a.rs:3 -> b.rs:7 -> a.rs`."""
        found = set()
        for start in self.edges:
            if circle := self._shortest_circle(start):
                first = circle.index(min(circle))
                circle = circle[first:] + circle[:first]
                following = circle[1:] + circle[:1]
                steps = [f"{file}:{self.edges[file][to]}" for file, to in zip(circle, following, strict=True)]
                found.add(" -> ".join([*steps, circle[0]]))
        return sorted(found, key=lambda chain: (chain.count("->"), chain))

    def _shortest_circle(self, start: str) -> list[str]:
        previous: dict[str, str] = {}
        waiting = deque([start])
        while waiting:
            file = waiting.popleft()
            for target in sorted(self.edges[file]):
                if target == start:
                    path = [file]
                    while path[-1] != start:
                        path.append(previous[path[-1]])
                    return path[::-1]
                if target not in previous:
                    previous[target] = file
                    waiting.append(target)
        return []
