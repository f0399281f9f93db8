"""The matrix as ReFrame tests: one for each job that `triptych run --list-cells` prints.

run.sh says in the environment what to measure, and names the list. A job measures its cells through
`triptych run --cell`, which writes whole files only and skips what it finds. A job may thus be killed or run twice.
"""

import json
import math
import os
import shlex
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import fixture, parameter, performance_function, run_after, run_before, sanity_function

ROOT = Path(__file__).parents[2]
TRIPTYCH = "build/bin/triptych"
RUN = os.environ["TRIPTYCH_RUN"]
RESULTS = os.environ["TRIPTYCH_RESULTS"]
OPTIONS = shlex.split(os.environ["TRIPTYCH_OPTIONS"])
# A command that starts the rest of its line in a container, where nodes have nothing installed.
CONTAINER = os.environ.get("TRIPTYCH_CONTAINER", "")
# Counts must not depend on the user's environment, and a timed program's stack neither.
KEPT = ("HOME", "PATH", "TRIPTYCH_CACHE", "TRIPTYCH_MACHINE", "CARGO_HOME", "RUSTUP_HOME", "XDG_STATE_HOME")


# The runner alone knows which cells exist, and which of them are compared.
JOBS: list[dict[str, Any]] = [json.loads(line) for line in Path(os.environ["TRIPTYCH_JOBS"]).read_text().splitlines()]
BUILDS = sorted({build for job in JOBS for build in job["builds"]})


class OnNode(rfm.RunOnlyRegressionTest):  # type: ignore[misc]
    """A script that runs in the project's folder, which all nodes see under the same path."""

    maintainers = ["Triptych"]

    @run_before("run")
    def enter(self) -> None:
        """Leave ReFrame's folder, and undo its effect on the exit status: a job fails if its command does."""
        self.prerun_cmds = ["set -euo pipefail", f"cd {shlex.quote(str(ROOT))}"]


class Drivers(OnNode):
    """The drivers by the compilers of an environment. What has been built before, by its content, is reused."""

    executable = f"{CONTAINER} bench/cluster/build.sh"
    time_limit = "30m"

    @run_after("setup")
    def choose(self) -> None:
        """Name the environment and all builds of the matrix."""
        self.executable_opts = [self.current_environ.name, *BUILDS]

    @sanity_function
    def built(self) -> Any:
        """build.sh prints the folder at last."""
        return sn.assert_found(r"^build/cluster/\S+$", self.stdout)

    def folder(self) -> str:
        """The folder for `--build-dir`."""
        return Path(self.stagedir, str(self.stdout)).read_text().split()[-1]


@rfm.simple_test
class Cells(OnNode):
    """The cells of one job: an exact one alone, or those that are compared in time."""

    part = parameter(JOBS, fmt=lambda job: job["job"], loggable=True)
    drivers = fixture(Drivers, scope="environment")
    valid_prog_environs = ["*"]

    @run_after("init")
    def describe(self) -> None:
        """Choose nodes and limits. Times are measured on a node alone; exact counts share nodes."""
        job = self.part
        needs = " ".join(f"+{feature}" for feature in job["features"])
        self.valid_systems = [needs or "*"]
        self.descr = job["job"]
        self.tags = {job["backend"], "exact" if job["exact"] else "timed"}
        self.tags |= {cell[key] for cell in job["cells"] for key in ("impl", "variant")}
        self.exclusive_access = not job["exact"]
        # `valgrind` runs a driver beside the card.
        self.num_cpus_per_task = 2 if job["exact"] and job["backend"] == "valgrind" else None
        self.time_limit = f"{math.ceil(3 * job['seconds'] + 120)}s"
        if "nic" in job["features"]:
            self.extra_resources = {"nic": {"pairs": 1}}

    @run_before("run")
    def measure(self) -> None:
        """Name the job, the run and the build. The runs of several environments differ by its name."""
        environment = self.current_environ.name
        run = RUN if environment == "default" else f"{RUN}-{environment}"
        kept = " ".join(f'{name}="${{{name}-}}"' for name in KEPT)
        self.executable = f"{CONTAINER} env -i {kept} {TRIPTYCH}"
        options = ["--cell", self.part["job"], "--id", run, "--results", RESULTS, "--build-dir", self.drivers.folder()]
        self.executable_opts = [shlex.quote(word) for word in ["run", *OPTIONS, *options]]
        self.prerun_cmds += ["SECONDS=0"]
        self.postrun_cmds = ['echo "job took $SECONDS s"']

    @sanity_function
    def measured(self) -> Any:
        """The runner says how many cells it wrote, or that they were there."""
        name = self.part["job"]
        return sn.assert_found(rf"^{name}(: {len(self.part['cells'])} cells in| is measured already)", self.stdout)

    @performance_function("s")
    def seconds(self) -> Any:
        """The time of the job on its node."""
        return sn.extractsingle(r"^job took (\d+) s", self.stdout, 1, float)
