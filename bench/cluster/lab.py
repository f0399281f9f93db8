"""An example of a lab: adapt it, and give it to `run.sh --site`. `node.sh` on a node prints features and environs."""

# `machine` names the folder of a node's results. Without it, a random name per machine stands there.
MACHINE = [["TRIPTYCH_MACHINE", "$SLURMD_NODENAME"]]
ENVIRONS = ["default", "gcc-12", "clang-16", "rust-1-90-0"]

site_configuration = {
    "systems": [
        {
            "name": "lab",
            "hostnames": ["login.*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "boxes",
                    # `squeue` needs no accounting. With slurmdbd, `slurm` also knows why a job ended.
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": ["--partition=boxes"],
                    # Jobs that need hardware counters run only where this list has `pmu`.
                    "features": ["pmu", "haswell"],
                    "environs": ENVIRONS,
                    "env_vars": MACHINE,
                    "max_jobs": 64,
                },
                {
                    "name": "wired",
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": ["--partition=wired"],
                    "features": ["pmu", "nic", "skylake"],
                    # A job with the feature `nic` asks for one pair of ports.
                    "resources": [{"name": "nic", "options": ["--gres=nic:{pairs}"]}],
                    "environs": ENVIRONS,
                    "env_vars": MACHINE,
                    "max_jobs": 8,
                },
                {
                    # Without Slurm. ReFrame reuses busy hosts, so max_jobs must not exceed their number.
                    "name": "hosts",
                    "scheduler": "ssh",
                    "launcher": "local",
                    "sched_options": {"ssh_hosts": ["box3", "box4"]},
                    "features": ["znver4"],
                    "environs": ["default"],
                    "max_jobs": 2,
                },
            ],
        }
    ],
    "environments": [{"name": name, "target_systems": ["lab"]} for name in ENVIRONS],
}
