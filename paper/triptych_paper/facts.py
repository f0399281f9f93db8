"""Machine, sources and compilers of a run, in a few lines."""

from __future__ import annotations

from typing import Any

from triptych_paper.records import Run


def facts(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the facts as labels and texts."""
    host, git = _part(run.info, "host"), _part(run.info, "git")
    cpu = _part(host, "cpu")
    counter = cpu.get("counter") or "TSC"
    clock = [f"{counter} {cpu['tsc_mhz']:.0f} MHz"] if isinstance(cpu.get("tsc_mhz"), (int, float)) else []
    clock.append(f"governor {host.get('governor') or 'unknown'}")
    clock += _core_clock(_part(run.info, "core_clock"))
    counters = "yes" if _part(host, "pmu").get("present") else "none: no value of this run is from hardware counters"
    revision = str(git.get("revision") or "")[:10] or "no revision"
    builds = [build for build in run.info.get("builds") or [] if isinstance(build, dict)]
    compilers = list(dict.fromkeys(str(build.get("toolchain")) for build in builds))
    used = [f"{backend} ({count})" for backend, count in run.samples["backend"].value_counts(sort=False).items()]
    return (
        ("run", run.id + ("" if run.ended else ", interrupted")),
        ("machine", f"{machine(run)}, Linux {host.get('kernel', '?')}"),
        ("clock", ", ".join(clock)),
        *(("ports", text) for text in _ports(run)),
        ("hardware counters", counters),
        ("sources", revision + (" with uncommitted changes" if git.get("dirty") else "")),
        ("compilers", ", ".join(compilers) or "unknown"),
        *(("model", text) for text in _model(run)),
        ("samples", f"{len(run.samples)}, by backend: {', '.join(used)}"),
    )


def machine(run: Run) -> str:
    """Name the machine of a run: processor, number of CPUs, and whether it is virtual."""
    cpu = _part(_part(run.info, "host"), "cpu")
    parts = [str(cpu.get("model_name") or "unknown processor"), f"{cpu.get('cpus', '?')} CPUs"]
    if isinstance(cpu.get("family"), int):
        parts.append(f"family {cpu['family']} model {cpu.get('model', '?')}")
    if cpu.get("virtual_machine"):
        parts.append("virtual machine")
    return ", ".join(parts)


PUBLISHED_CLOCK = 1.6
"""The clock at which the counters were published, GHz."""

VFIO_USER = "vfio-user:"
"""What the address of a software card's port begins with."""


def card(run: Run) -> str:
    """Return the kind of card that the backends perf and wall measured with; empty if the run started its own."""
    ports = _part(run.info, "plan").get("devices")
    if not isinstance(ports, list) or not ports:
        return ""
    software = all(str(port).startswith(VFIO_USER) for port in ports)
    return "software card" if software else "real card"


def fixed_ghz(run: Run) -> float | None:
    """Return the clock that the run fixed, GHz; None if it kept the machine's."""
    fixed = _part(run.info, "core_clock").get("fixed_ghz")
    return float(fixed) if isinstance(fixed, (int, float)) else None


def _model(run: Run) -> list[str]:
    """Describe the model and the processors whose values the run has."""
    modelled = run.samples[run.samples["backend"] == "model"]
    if modelled.empty:
        return []
    version = _part(_part(run.info, "settings"), "model").get("version")
    cpus = [str(cpu) for cpu in dict.fromkeys(modelled["cpu"]) if cpu]
    named = f"version {version}" if version else "version not recorded"
    return [f"{named}; processors: {', '.join(cpus)}" if cpus else f"{named}; counts only"]


def _core_clock(clock: dict[str, Any]) -> list[str]:
    """Describe the clock of the driver's core."""
    measured = [f"{ghz:.2f}" for ghz in clock.get("measured_ghz") or [] if isinstance(ghz, (int, float))]
    text = f"measured {' to '.join(dict.fromkeys(measured))} GHz" if measured else ""
    fixed = clock.get("fixed_ghz")
    if not isinstance(fixed, (int, float)):
        return [f"driver's core not fixed, {text}"] if text else []
    published = "" if fixed == PUBLISHED_CLOCK else f"; the counters were published at {PUBLISHED_CLOCK} GHz"
    return [f"driver's core fixed at {fixed:g} GHz" + (f", {text}" if text else "") + published]


def _ports(run: Run) -> list[str]:
    """Describe the ports and the load, if the run did not start its own card."""
    kind = card(run)
    if not kind:
        return []
    nics = _part(run.info, "host").get("nics")
    ids = {str(nic.get("address")): str(nic.get("id")) for nic in nics or [] if isinstance(nic, dict)}
    ports = [str(port) for port in _part(run.info, "plan")["devices"]]
    named = [f"{port} ({ids[port]})" if port in ids else port for port in ports]
    settings = _part(run.info, "settings")
    generator = next(
        (str(part["generator"]) for part in settings.values() if isinstance(part, dict) and part.get("generator")), ""
    )
    return [f"{' and '.join(named)} of a {kind}; load from {generator or 'outside of the run'}"]


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
