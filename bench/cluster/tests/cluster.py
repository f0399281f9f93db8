"""Two boxes of Slurm on this machine measure a matrix by run.sh, and everything goes wrong that may go wrong.

    sudo build/venv/bin/python bench/cluster/tests/cluster.py [--quick]

One node is drained, one job killed, one requeued, and one finds its disk full in the middle. Then each cell is there
once, and exact counts equal those of a local run byte for byte. All files are in a temporary folder, and all daemons
listen on 127.0.0.1. Root mounts the disk that is full, in a name space of its own.
"""

import argparse
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
CLUSTER = ROOT / "bench/cluster"
NODES = ("box1", "box2")
FULL = "box2"
RUN = "cluster-test"
# A job may take this much longer than its cells.
OVERHEAD = 5.0
# Two runs of `valgrind` differ, because the card runs beside the driver.
VALGRIND = 0.02
Cells = dict[str, dict[str, Any]]


def say(text: str) -> None:
    print(f"cluster-test: {text}", flush=True)


def wait(what: str, ready: Callable[[], object], limit: float = 60) -> None:
    """Wait until something is so; fail after a limit of seconds."""
    end = time.monotonic() + limit
    while not ready():
        if time.monotonic() > end:
            sys.exit(f"cluster-test: {what} did not happen within {limit:.0f} s")
        time.sleep(0.2)


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def slurm_conf(folder: Path) -> str:
    """The configuration of a lab, with this machine as all of its machines."""
    host = socket.gethostname().partition(".")[0]
    controller, *ports = free_ports(1 + len(NODES))
    ours = {
        **{"SlurmctldHost": f"{host}(127.0.0.1)", "SlurmUser": "root", "SlurmctldPort": str(controller)},
        **{"AuthInfo": f"socket={folder}/munge", "SlurmdParameters": "config_overrides"},
        **{"StateSaveLocation": f"{folder}/state", "SlurmdSpoolDir": f"{folder}/%n.spool"},
        **{"SlurmctldPidFile": f"{folder}/slurmctld.pid", "SlurmdPidFile": f"{folder}/%n.pid"},
        **{"SlurmctldLogFile": f"{folder}/slurmctld.log", "SlurmdLogFile": f"{folder}/%n.log"},
        # On one machine, both nodes would prepare the same hardware.
        **{"Prolog": "", "Epilog": "", "GresTypes": ""},
    }
    lines = (CLUSTER / "slurm/slurm.conf").read_text().splitlines()
    kept = [line for line in lines if line.partition("=")[0] not in {*ours, "NodeName", "PartitionName"}]
    kept += [f"{name}={value}" for name, value in ours.items() if value]
    for node, port in zip(NODES, ports, strict=True):
        kept.append(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=2000")
    return "\n".join([*kept, f"PartitionName=boxes Nodes={','.join(NODES)} Default=YES State=UP", ""])


@contextmanager
def daemons(folder: Path) -> Iterator[None]:
    """Munge, the controller and a daemon for each node, until the end."""
    conf, key = folder / "slurm.conf", folder / "munge.key"
    conf.write_text(slurm_conf(folder))
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    folder.chmod(0o755)
    for name in ("state", *(f"{node}.spool" for node in NODES)):
        (folder / name).mkdir()
    os.environ["SLURM_CONF"] = str(conf)
    munged = ["munged", "--foreground", "--force", f"--socket={folder}/munge", f"--key-file={key}"]
    munged += [f"--{name}-file={folder}/munged.{name}" for name in ("pid", "log", "seed")]
    commands = [munged, ["slurmctld", "-D"], *(["slurmd", "-D", "-N", node] for node in NODES)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (folder / "daemons.log").open("ab") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
            if command is munged:
                wait("munge's socket", (folder / "munge").exists)
        wait("both nodes idle", lambda: slurm("sinfo", "-h", "-N", "-o", "%T").split() == ["idle"] * len(NODES))
        yield
    finally:
        slurm("scancel", "--full", "--state=RUNNING", f"--user={os.getuid()}")
        for daemon in reversed(started):
            daemon.terminate()
            daemon.wait(30)


def slurm(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout


def jobs(node: str) -> list[str]:
    """The cells' jobs that run on a node."""
    listed = slurm("squeue", "-h", "-t", "R", "-w", node, "-o", "%i %j").splitlines()
    return [line.split()[0] for line in listed if "Cells" in line]


def site(folder: Path) -> Path:
    """The configuration of ReFrame: one partition of both boxes, with the compilers of this machine's build."""
    partition = {
        **{"name": "boxes", "scheduler": "squeue", "launcher": "local", "environs": ["default"], "max_jobs": 4},
        **{"access": ["--partition=boxes"], "env_vars": [["TRIPTYCH_MACHINE", "$SLURMD_NODENAME"]]},
    }
    system = {"name": "lab", "hostnames": [".*"], "modules_system": "nomod", "partitions": [partition]}
    path = folder / "lab.py"
    path.write_text(f"site_configuration = {{'systems': [{system!r}]}}\n")
    return path


class Faults:
    """An operator who disturbs the run as soon as each fault can happen, and says which have."""

    def __init__(self, disk: Path | None, stage: Path) -> None:
        self.disk, self.stage = disk, stage
        self.done: list[str] = []
        self.wanted = ["killed", "requeued", *(["drained", "full"] if disk else [])]
        self.drained_at = 0.0

    def look(self) -> None:
        """Do what can be done now."""
        # Slurm would wait two minutes before a requeued job starts.
        for job in slurm("squeue", "-h", "-t", "PD", "-o", "%i %r").splitlines():
            if job.endswith("BeginTime"):
                slurm("scontrol", "update", f"JobId={job.split()[0]}", "StartTime=now")
        first, second = jobs(NODES[0]), jobs(FULL)
        if "killed" not in self.done and first:
            slurm("scancel", "--signal=KILL", "--full", first[0])
            self.note("killed", f"job {first[0]}")
        elif "requeued" not in self.done and "killed" in self.done and second:
            slurm("scontrol", "requeue", second[0])
            self.note("requeued", f"job {second[0]}")
        elif self.disk and self.disk_is_full():
            slurm("mount", "-o", "remount,size=64m", str(self.disk))
            self.note("full", "and the disk has room again")
        elif self.disk and "drained" not in self.done and "requeued" in self.done and first:
            slurm("scontrol", "update", f"NodeName={NODES[0]}", "State=drain", "Reason=test")
            self.drained_at = time.monotonic()
            self.note("drained", NODES[0])
        elif self.drained_at and time.monotonic() - self.drained_at > 15:
            slurm("scontrol", "update", f"NodeName={NODES[0]}", "State=resume")
            self.drained_at = 0.0

    def disk_is_full(self) -> bool:
        """Whether a job has failed for lack of space."""
        errors = self.stage.glob("**/*.err")
        return "full" not in self.done and any("No space left" in error.read_text() for error in errors)

    def note(self, fault: str, more: str) -> None:
        self.done.append(fault)
        say(f"{fault}: {more}")


def cells(results: Path) -> Cells:
    """All cells below a folder, each of which must be there once."""
    found: Cells = {}
    for path in sorted(results.glob("*/*/cells/*")):
        cell = json.loads(path.read_text())
        assert path.name == f"{cell['id']}.json", f"{path} is not a whole file of a cell"
        assert cell["id"] not in found, f"{path} is doubled: {found[cell['id']]['machine']} has it too"
        found[cell["id"]] = cell
    return found


def lines(found: Cells, backend: str) -> list[str]:
    """What a backend counted, as sorted lines."""
    # The name has a hash of the program.
    kept = ("id", "cell", "figures", "samples", "settings")
    these = [cell for cell in found.values() if cell["cell"]["backend"] == backend]
    return sorted(json.dumps({name: cell[name] for name in kept}) for cell in these)


def compare(here: Cells, there: Cells) -> None:
    """Compare a local run with that of both boxes."""
    ours, theirs = lines(here, "trace"), lines(there, "trace")
    differ = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    shown = "\n".join(text[:1500] for pair in differ[:1] for text in pair)
    assert not differ, f"{len(differ)} of {len(ours)} exact cells differ from the local run, such as\n{shown}"
    say(f"{len(ours)} exact cells equal the local run, byte for byte")
    pairs = [(cell, there[name]) for name, cell in here.items() if cell["cell"]["backend"] == "valgrind"]
    values = [[cell["figures"]["instructions"]["value"] for cell in pair] for pair in pairs]
    apart = max((abs(theirs / ours - 1) for ours, theirs in values), default=0.0)
    assert apart <= VALGRIND, f"valgrind's instructions are {apart:.2%} apart"
    say(f"{len(values)} cells of valgrind are at most {apart:.3%} apart")


def overhead(report: Path, there: Cells) -> None:
    """Say how much longer jobs took than their cells."""
    longest: dict[str, float] = {}
    for case in json.loads(report.read_text())["runs"][-1]["testcases"]:
        if name := re.search(r"%part=(\S+)", case["name"]):
            longest.update((name[1], float(value[0])) for value in case.get("perfvalues", {}).values())
    beside = []
    for job, seconds in longest.items():
        exact = [cell for name, cell in there.items() if name.startswith(f"{job}-")]
        if len(exact) == 1:
            beside.append(seconds - exact[0]["seconds_per_cell"])
    if beside:
        say(f"a job takes {statistics.median(beside):.1f} s beside its cell, at most {max(beside):.1f} s")
        assert statistics.median(beside) <= OVERHEAD, "jobs take too long beside their cells"


def run(command: list[str | Path], folder: Path, faults: Faults | None = None, limit: float = 500) -> None:
    """Run a command beside an operator."""
    log = folder / "run.log"
    with log.open("ab") as out:
        child = subprocess.Popen(command, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)
    end = time.monotonic() + limit
    try:
        while child.poll() is None and time.monotonic() < end:
            time.sleep(0.5)
            if faults:
                faults.look()
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
    if child.wait(30) != 0:
        text = log.read_text()
        sys.exit(f"{text[-6000:]}\ncluster-test: {command[0]} failed or took longer than {limit:.0f} s, see above")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="seven cells, and two faults")
    quick = parser.parse_args().quick
    matrix = CLUSTER / f"tests/matrix{'-quick' if quick else ''}.toml"
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cluster-test: terminated"))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="triptych-cluster.")))
        stage = ROOT / "build/cluster/reframe/stage"
        shutil.rmtree(stage, ignore_errors=True)
        results, disk = folder / "results", folder / f"results/{FULL}/{RUN}"
        disk.mkdir(parents=True)
        if not quick:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
            stack.callback(slurm, "umount", "--lazy", str(disk))
        stack.enter_context(daemons(folder))
        say(f"{' and '.join(NODES)} are up, with Slurm {slurm('slurmctld', '-V').split()[-1]}")
        faults = Faults(None if quick else disk, stage)
        command: list[str | Path] = [CLUSTER / "run.sh", "--site", site(folder), "--id", RUN, "--results", results]
        report = folder / "report.json"
        more = ["--", "--system", "lab:boxes", "--report-file", str(report)]
        start = time.monotonic()
        run([*command, "--config", matrix, *more], folder, faults)
        there = cells(results)
        say(f"{len(there)} cells in {time.monotonic() - start:.0f} s, with faults: {', '.join(faults.done)}")
        assert sorted(faults.done) == sorted(faults.wanted), f"not every fault happened: {faults.done}"
        start = time.monotonic()
        local = folder / "local"
        run([ROOT / "build/bin/triptych", "run", "--config", matrix, "--results", local], folder)
        say(f"a local run took {time.monotonic() - start:.0f} s")
        here = cells(local)
        missing = sorted(set(here) - set(there)) + sorted(set(there) - set(here))
        assert not missing, f"only one of both runs has {missing}"
        compare(here, there)
        if not quick:
            # Other tests may run beside the quick one.
            overhead(report, there)
        again = subprocess.run(
            [CLUSTER / "build.sh", "default", "c/default"], capture_output=True, text=True, check=True, timeout=300
        )
        assert not again.stderr, f"a build by equal sources and compiler is not reused: {again.stderr}"
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
