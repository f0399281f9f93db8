"""Machine, sources and compilers of a run, in a few lines."""

from __future__ import annotations

from typing import Any

from triptych_paper.records import Run


def facts(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the facts as labels and texts."""
    host = _part(run.info, "host")
    cpu, git = _part(host, "cpu"), _part(run.info, "git")
    machine = [str(cpu.get("model_name") or "unknown processor"), f"{cpu.get('cpus', '?')} CPUs"]
    if isinstance(cpu.get("family"), int):
        machine.append(f"family {cpu['family']} model {cpu.get('model', '?')}")
    if cpu.get("virtual_machine"):
        machine.append("virtual machine")
    clock = [f"TSC {cpu['tsc_mhz']:.0f} MHz"] if isinstance(cpu.get("tsc_mhz"), (int, float)) else []
    clock.append(f"governor {host.get('governor') or 'unknown'}")
    counters = "yes" if _part(host, "pmu").get("present") else "none: no value of this run is from hardware counters"
    revision = str(git.get("revision") or "")[:10] or "no revision"
    builds = [build for build in run.info.get("builds") or [] if isinstance(build, dict)]
    compilers = list(dict.fromkeys(str(build.get("toolchain")) for build in builds))
    used = [f"{backend} ({count})" for backend, count in run.samples["backend"].value_counts(sort=False).items()]
    return (
        ("run", run.id + ("" if run.ended else ", interrupted")),
        ("machine", ", ".join([*machine, f"Linux {host.get('kernel', '?')}"])),
        ("clock", ", ".join(clock)),
        ("hardware counters", counters),
        ("sources", revision + (" with uncommitted changes" if git.get("dirty") else "")),
        ("compilers", ", ".join(compilers) or "unknown"),
        ("samples", f"{len(run.samples)}, by backend: {', '.join(used)}"),
    )


def command(run: Run) -> list[str]:
    """Return the words of the command that made the run."""
    words = run.info.get("command")
    return [str(word) for word in words] if isinstance(words, list) else []


def quick(run: Run) -> bool:
    """Return whether the run was a quick trial, with few packets and repeats."""
    return bool(_part(run.info, "settings").get("quick")) or "--quick" in command(run)


def _part(info: dict[str, Any], key: str) -> dict[str, Any]:
    value = info.get(key)
    return value if isinstance(value, dict) else {}
