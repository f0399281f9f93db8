"""Servers, and what carries frames between them and the clients.

All servers have the address `ADDRESS` behind the clients' interface `INTERFACE`, a TAP interface. With a driver, the
software card is at its other end. Servers on the kernel's sockets have a second TAP interface in a name space of their
own, and socat carries the frames, as the card would. So each frame takes as many steps through the kernel.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from clients.process import AppError, Process, built, run, wait_until, words

ADDRESS, CLIENT, OTHER_CLIENT = "10.0.0.2", "10.0.0.1", "10.0.0.3"
INTERFACE, INNER_INTERFACE, BRIDGE = "t0", "t1", "br0"
PORTS = {"kv": 6379, "http": 80, "balancer": 80, "node": 3610}
DRIVERS = ("c", "rust", "rust-unsafe")
OVERS = (*DRIVERS, "kernel")
"""What an application runs over: a driver and smoltcp, or the kernel's sockets."""

CHECKED = {"c": "trapping-ubsan", "rust": "overflow-checks", "rust-unsafe": "overflow-checks"}
"""The builds of the drivers that check overflows and bounds."""

CARRIER, SERVER = 0, 1
"""The processors of the card or socat, and of the server, in measurements. Clients run on any."""

BACKENDS = {"a": "10.0.0.11", "b": "10.0.0.12"}

# Checks are frequent, so that a test notices soon. A busy machine may hold up two of them.
CONFIG = """
[health]
interval_ms = 100
timeout_ms = 1000
rise = 2
fall = 3
path = "/health"
[[frontend]]
name = "web"
port = 80
backends = ["a", "b"]
""" + "".join(f'[[backend]]\nname = "{name}"\naddress = "{address}:80"\n' for name, address in BACKENDS.items())

NGINX = """daemon off; master_process off; user root; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{ access_log off; default_type application/json; keepalive_requests 1000000; open_file_cache max=1000;
client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
upstream web {{ {upstream} keepalive 64; }}
server {{ listen {address}:80; {own} }} }}
"""
NGINX_PROXY = 'location / { proxy_pass http://web; proxy_http_version 1.1; proxy_set_header Connection ""; }'


class Server(NamedTuple):
    """What serves: an application over something, or a peer of it: redis-server, or the path of nginx."""

    application: str
    over: str = "rust"
    variant: str = "default"
    arguments: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    is_measured: bool = False

    def __str__(self) -> str:
        """Name it for messages."""
        return f"{self.application} over {self.over}/{self.variant}"


class Space:
    """A name space of networks for servers on the kernel's sockets."""

    def __init__(self, stack: ExitStack, log: Path) -> None:
        """Make one that ends with `stack`."""
        holder = Process(words("unshare --net sleep infinity"), log)
        stack.callback(holder.kill)
        self.id, spaces = holder.popen.pid, Path("/proc")
        own = Path("/proc/self/ns/net").readlink()
        wait_until("a name space", lambda: (spaces / f"{self.id}/ns/net").readlink() != own)
        self.run("ip link set lo up")

    def command(self, line: str, *more: str | Path) -> list[str | Path]:
        """Return a command that runs inside."""
        return words(f"nsenter --net --target {self.id} {line}", *more)

    def run(self, line: str) -> str:
        """Run a command inside; return what it prints."""
        return run("", *self.command(line)).text

    def adopt(self, interface: str, address: str) -> None:
        """Move an interface into it, and give it an address."""
        run(f"ip link set {interface} netns {self.id}")
        self.run(f"ip address add {address}/24 dev {interface}")
        self.run(f"ip link set {interface} up")


@dataclass
class Backend:
    """A backend of a balancer: `http` over the kernel's sockets, in a name space of its own."""

    space: Space
    address: str
    log: Path
    process: Process = field(init=False)

    def start(self) -> None:
        """Start it, or start it again."""
        options = words(f"--driver kernel --ip {self.address} --connections 1024")
        self.process = Process(self.space.command("", built("bin/apps/http"), *options), self.log)
        self.process.wait_for_line("ready")

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()


@dataclass
class Running:
    """A server that runs."""

    server: Process
    carrier: Process
    folder: Path
    backends: list[Backend]
    seconds_to_end: float = 0

    def end(self, limit: float = 10) -> dict[str, Any]:
        """End the server in order; return its statistics, if it is one of our applications."""
        self.seconds_to_end = self.server.end(limit)
        file = self.folder / "server.json"
        statistics: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return statistics


def give_addresses(interface: str) -> None:
    """Give an interface the addresses of two clients."""
    for address in (CLIENT, OTHER_CLIENT):
        run(f"ip address add {address}/24 dev {interface}")
    run(f"ip link set {interface} up")


def start_backends(stack: ExitStack, folder: Path) -> list[Backend]:
    """Make a bridge with the clients' addresses, and start the backends on it."""
    backends = []
    run(f"ip link add {BRIDGE} type bridge")
    stack.callback(run, f"ip link delete {BRIDGE}", check=False)
    give_addresses(BRIDGE)
    for name, address in BACKENDS.items():
        run(f"ip link add veth-{name} type veth peer name veth-{name}1")
        # It may have ended with its name space.
        stack.callback(run, f"ip link delete veth-{name}", check=False)
        run(f"ip link set veth-{name} master {BRIDGE}")
        run(f"ip link set veth-{name} up")
        backend = Backend(Space(stack, folder / f"{name}.space"), address, folder / f"{name}.log")
        backend.space.adopt(f"veth-{name}1", address)
        backend.start()
        stack.callback(backend.kill)
        backends.append(backend)
    return backends


def start_card(stack: ExitStack, folder: Path, processor: int | None) -> Process:
    """Start the software card, whose first port ends in the clients' interface."""
    command = [built("bin/nic"), *words(f"--ports 2 --wire tap={INTERFACE} --socket-dir", folder)]
    card = Process(command, folder / "card.log", processor)
    stack.callback(card.kill)
    card.wait_for_line("ready")
    return card


def start_socat(stack: ExitStack, folder: Path, processor: int | None, space: Space) -> Process:
    """Start socat between the clients' interface and one that has the server's address."""
    tap = "TUN,tun-type=tap,iff-no-pi,tun-name="
    socat = Process(words(f"socat {tap}{INTERFACE} {tap}{INNER_INTERFACE}"), folder / "socat.log", processor)
    stack.callback(socat.kill)
    for interface in (INTERFACE, INNER_INTERFACE):
        # /sys may show another name space's.
        wait_until(interface, partial(lambda name: f" {name}:" in Path("/proc/net/dev").read_text(), interface))
        # Otherwise the kernel sends frames as soon as one is up. socat ends if the other one is still down.
        run(f"ip link set {interface} addrgenmode none")
    space.adopt(INNER_INTERFACE, ADDRESS)
    return socat


@contextmanager
def serve(server: Server) -> Iterator[Running]:
    """Start a server and what it needs, and wait until it serves. All of it ends with the context."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="triptych-apps-")))
        proxies = server.application == "balancer"
        backends = start_backends(stack, folder) if proxies else []
        space = None if server.over in DRIVERS else Space(stack, folder / "space.log")
        # Otherwise the kernel would move both between processors, and figures would vary with its choices.
        first, second = (CARRIER, SERVER) if server.is_measured else (None, None)
        carrier = start_socat(stack, folder, first, space) if space else start_card(stack, folder, first)
        if proxies:
            run(f"ip link set {INTERFACE} master {BRIDGE}")
            run(f"ip link set {INTERFACE} up")
        else:
            give_addresses(INTERFACE)
        is_ours = server.over in OVERS
        command = application(server, folder) if is_ours else peer(server, folder)
        process = Process(space.command("", *command) if space else command, folder / "server.log", second)
        stack.callback(process.kill)
        if is_ours:
            process.wait_for_line("ready")
            process.wait_for_line("backend ", len(backends))
        elif space:
            listens = f"ss -Hltn sport = :{PORTS[server.application]}"
            wait_until(f"the port of {server.over}", lambda: bool(space.run(listens)))
        try:
            yield Running(process, carrier, folder, backends)
        finally:
            if status := process.popen.poll():
                print(f"{server} ended with {status}:\n{process.log.read_text()}", file=sys.stderr)


def application(server: Server, folder: Path) -> list[str | Path]:
    """Return the command of an application."""
    name, over, variant = server.application, server.over, server.variant
    command: list[str | Path] = [*server.wrapper, built(f"bin/apps/{name}"), *server.arguments]
    command += words(f"--ip {ADDRESS}/24 --json", folder / "server.json")
    if name == "balancer":
        (folder / "balancer.toml").write_text(CONFIG)
        command += ["--config", folder / "balancer.toml"]
    if over == "kernel":
        return [*command, "--driver", over]
    library = built(f"bin/{over}/libports.so" if variant == "default" else f"variants/{variant}/{over}/libports.so")
    return [*command, "--driver", library, f"vfio-user:{folder}/port0.sock"]


def peer(server: Server, folder: Path) -> list[str | Path]:
    """Return the command of a peer of an application."""
    if server.application == "kv":
        # Debian has the server's code in this program of redis-tools, whose name decides what it is.
        (folder / "redis-server").symlink_to("/usr/bin/redis-check-rdb")
        options = words(f"--bind {ADDRESS} --port 6379 --protected-mode no --appendonly no --save", "", "--dir", folder)
        return [folder / "redis-server", *options]
    if server.application == "node":
        raise AppError(f"node has no peer {server.over}")
    own = NGINX_PROXY if server.application == "balancer" else f"root {folder};"
    (folder / "records").mkdir()
    for number in range(1, 101):
        record = f'{{"id":{number},"name":"record {number}","value":{number / 8:.3f}}}'
        (folder / "records" / str(number)).write_text(record)
    upstream = "".join(f"server {address}:80; " for address in BACKENDS.values())
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, upstream=upstream, address=ADDRESS, own=own))
    return [server.over, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
