"""Graphs of imports, and the circles in them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

# For each file, the files that it imports, with the first line that imports each.
Edges = dict[str, dict[str, int]]


@dataclass
class ImportGraph:
    """The imports between the files of one crate, program or package."""

    name: str
    edges: Edges = field(default_factory=dict)

    def add(self, source: str, target: str, line: int) -> None:
        """Records that `source` imports `target` in `line`. Imports within one file do not count."""
        self.edges.setdefault(target, {})
        lines = self.edges.setdefault(source, {})
        if source != target:
            lines[target] = min(line, lines.get(target, line))

    def groups(self) -> list[list[str]]:
        """Groups of files in which each file reaches all others, the largest group first."""
        groups = []
        grouped: set[str] = set()
        reach = {file: self._reachable(file) for file in self.edges}
        for file in sorted(self.edges):
            if file in grouped or file not in reach[file]:
                continue
            group = sorted(other for other in reach[file] if file in reach[other])
            grouped.update(group)
            groups.append(group)
        return sorted(groups, key=lambda group: (-len(group), group))

    def _reachable(self, start: str) -> set[str]:
        reached: set[str] = set()
        waiting = list(self.edges[start])
        while waiting:
            file = waiting.pop()
            if file not in reached:
                reached.add(file)
                waiting.extend(self.edges[file])
        return reached

    def chains(self, group: list[str]) -> list[str]:
        """The shortest circle through each file of a group, such as `a.rs:3 -> b.rs:7 -> a.rs`."""
        chains = set()
        for start in group:
            circle = self._shortest_circle(start, set(group))
            first = circle.index(min(circle))
            circle = circle[first:] + circle[:first]
            steps = [
                f"{file}:{self.edges[file][following]}"
                for file, following in zip(circle, circle[1:] + circle[:1], strict=True)
            ]
            chains.add(" -> ".join([*steps, circle[0]]))
        return sorted(chains, key=lambda chain: (chain.count("->"), chain))

    def _shortest_circle(self, start: str, group: set[str]) -> list[str]:
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
                if target in group and target not in previous:
                    previous[target] = file
                    waiting.append(target)
        return [start]
