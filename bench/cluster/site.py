"""ReFrame's configuration for this machine alone. A lab adds its own file, such as lab.py, with `run.sh --site`.

A partition is a set of equal machines. It names its features, and the compilers on them as environments.
"""

import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def found() -> dict[str, list[str]]:
    """What node.sh finds on this machine: its features and its environments."""
    done = subprocess.run([HERE / "node.sh"], capture_output=True, text=True, check=True)
    lines = (line.split() for line in done.stdout.splitlines())
    return {words[0]: words[1:] for words in lines if words[0] in ("features", "environs")}


NODE = found()
# One job at a time, because the local scheduler keeps no CPU free for a job.
LAPTOP = {
    "name": "laptop",
    "hostnames": [".*"],
    "modules_system": "nomod",
    "partitions": [{"name": "here", "scheduler": "local", "launcher": "local", "max_jobs": 1, **NODE}],
}
site_configuration = {
    "systems": [LAPTOP],
    "environments": [{"name": name} for name in NODE["environs"]],
    # A job's files are needed only after a failure. Compute nodes must see the folder, hence not /tmp.
    "general": [{"check_search_path": [str(HERE / "matrix.py")], "keep_stage_files": False, "report_junit": None}],
    "logging": [{"handlers": [], "handlers_perflog": []}],
}
