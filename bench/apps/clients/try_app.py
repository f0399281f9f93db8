"""Start an application in name spaces of its own, and run a client there: a command, or a shell."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

from clients.process import start
from clients.world import ADDRESS, OVERS, PORTS, Server, serve


def main(options: argparse.Namespace) -> int:
    """Run the client; everything ends with it. Return its exit status."""
    server = Server(options.application, options.driver)
    with serve(server) as running:
        if not options.run:
            print(f"{server} serves {ADDRESS}; `exit` ends it", file=sys.stderr)
        command = ["sh", "-c", options.run] if options.run else [os.environ.get("SHELL", "sh")]
        status = subprocess.run(command, check=False).returncode
        print(json.dumps(running.end(), indent=2), file=sys.stderr)
    return status


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="try_app", description=__doc__)
    parser.add_argument("--application", choices=PORTS, default="kv")
    parser.add_argument("--driver", choices=OVERS, default="rust", help="a driver, or the kernel's sockets")
    parser.add_argument("--run", metavar="COMMAND", help="a command for a shell; without it, an interactive shell")
    start(parser, main)
