"""A simulated machine: its PATH holds only the commands that a test puts there."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# The commands that every Debian has and the scripts may use on any system.
_ALWAYS = (
    "awk bash basename cat chmod cmp cp cut diff dirname echo env false find grep head id mkdir mktemp mv printf rm "
    "sed sha256sum sort tail tee touch tr true uname wc xargs"
)


def output(*command: str, **environment: str) -> str:
    """What a command prints in the project's folder."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    return done.stdout


class Machine:
    """Runs the project's scripts. Each command is real, simulated or absent."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin, self.log = folder, folder / "bin", folder / "called"
        self.environment: dict[str, str] = {}
        self.bin.mkdir()
        self.log.touch()
        self.real(*_ALWAYS.split())

    def real(self, *names: str) -> None:
        """Adds commands of this system."""
        for name in names:
            path = shutil.which(name)
            assert path is not None, f"the tests need {name}"
            self._write(name, f'exec "{path}" "$@"')

    def pretend(self, name: str, script: str = "") -> None:
        """Adds a simulated command, which writes its arguments to `called` and then runs `script`."""
        self._write(name, f'echo "{name} $*" >>"{self.log}"\n{script}')

    def calls(self) -> list[str]:
        """The command lines of the simulated commands, in order."""
        return self.log.read_text().splitlines()

    def run(self, script: str, *arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
        """Runs a script of the project; `script` is its path in the repository."""
        home = {"PATH": str(self.bin), "HOME": str(self.folder), "TMPDIR": os.environ.get("TMPDIR", "/tmp")}
        return subprocess.run(
            [str(self.bin / "bash"), str(cwd / script), *arguments],
            cwd=cwd,
            env=home | self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )

    def _write(self, name: str, script: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)
