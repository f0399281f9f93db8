"""What strangers on the wire cannot do: no other client is refused, delayed without a bound, or cut off."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from clients.attack import assault
from clients.load import QUESTIONS, ask, connect, controller, curl, p99_ms, redis_cli
from clients.process import AppError, run
from clients.segments import ACK, RST, SYN, HandClient, tcp, udp
from clients.world import ADDRESS, CLIENT, PORTS, Server, serve

TCP_APPLICATIONS = ("kv", "http", "balancer")
APPLICATIONS = (*TCP_APPLICATIONS, "node")
KILLER = ((SYN, 0), (RST, 1), (SYN, 1 << 30), (RST, (1 << 30) + 1 + (1 << 31)))
"""These segments ended programs: smoltcp subtracted their sequence numbers."""


def wrong_checksum(packet: bytes) -> bytes:
    """Change the checksum of a segment."""
    return packet[:36] + bytes([packet[36] ^ 0x55]) + packet[37:]


@pytest.mark.parametrize("name", TCP_APPLICATIONS)
def test_four_segments_do_not_end_a_program(name: str, over: str) -> None:
    with serve(Server(name, over)) as running:
        for port in {PORTS[name], 8080 if name == "balancer" else PORTS[name]}:
            client = HandClient(port)
            for flags, sequence in KILLER * 50:
                client.send(tcp(client.ports, (sequence, 0), flags))
                # The last two come together.
                if sequence != 1 << 30:
                    client.answer(0.005)
        ask(name)
        assert running.end()["panics"] == 0


@pytest.mark.parametrize("name", APPLICATIONS)
def test_random_sequences_change_nothing_for_a_client(name: str, over: str) -> None:
    with serve(Server(name, over)) as running:
        report = assault(name, 10_000, seed=1)
        assert report.sequences == 10_000 and report.asked and not report.failures, report
        running.end(1)


def test_forged_segments_do_not_fill_the_balancer(over: str) -> None:
    with serve(Server("balancer", over)) as running:
        client = HandClient(PORTS["balancer"])
        for first in range(2000, 2600, 50):
            ends = [((port, PORTS["balancer"]), f"10.0.0.{100 + port % 100}") for port in range(first, first + 50)]
            for ports, source in ends:
                client.send(tcp(ports, (7, 0), SYN, source=source))
            # The acknowledgements follow the answers, with any number.
            time.sleep(0.02)
            for ports, source in ends:
                client.send(wrong_checksum(tcp(ports, (8, first << 16), ACK, source=source)))
        assert max(ask("balancer") for _ in range(20)) < 5
        running.end()


def test_a_forged_reset_ends_no_connection(over: str) -> None:
    with serve(Server("balancer", over)):
        attacker = HandClient(PORTS["balancer"])
        with connect("balancer", CLIENT) as client:
            ask("balancer", client)
            ports = (client.getsockname()[1], PORTS["balancer"])
            for flags in (RST, RST | ACK):
                attacker.send(wrong_checksum(tcp(ports, (0x12345678, 0x2468ACE), flags, source=CLIENT)))
            # A connection that closes would now be gone.
            time.sleep(2.5)
            ask("balancer", client)


def test_a_forged_acknowledgement_moves_no_connection(over: str) -> None:
    other = b"\2\0\0\0\0\x63"
    with serve(Server("balancer", over)):
        attacker = HandClient(PORTS["balancer"])
        with connect("balancer", CLIENT) as client:
            forged = tcp((client.getsockname()[1], PORTS["balancer"]), (0x12345678, 0x2468ACE), ACK, source=CLIENT)
            question, expected = QUESTIONS["balancer"]
            for _ in range(50):
                client.sendall(question)
                attacker.send(forged, other)
                assert expected in client.recv(65536)
                assert not [frame for frame in attacker.frames(0.002) if frame[:6] == other]


# Asks as fast as it can over one connection, and reads its answers. Of datagrams, 32 are on their way.
GREEDY = """
import socket, sys, threading
kind, port, question = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
own = socket.socket(type=socket.SOCK_DGRAM if kind == "node" else socket.SOCK_STREAM)
own.connect(("10.0.0.2", port))
room = threading.Semaphore(32)
def read():
    while own.recv(1 << 20):
        room.release()
threading.Thread(target=read, daemon=True).start()
while True:
    if kind == "node":
        room.acquire(timeout=0.1)
        own.send(question)
    else:
        own.sendall(question * 500)
"""


@contextmanager
def greedy(name: str) -> Iterator[None]:
    command = [sys.executable, "-c", GREEDY, name, str(PORTS[name]), QUESTIONS[name][0].hex()]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(0.2)
            yield
        finally:
            process.kill()


@pytest.mark.parametrize("name", APPLICATIONS)
def test_a_greedy_client_holds_up_neither_others_nor_the_end(name: str, over: str) -> None:
    with serve(Server(name, over)) as running, connect(name) as client:
        quiet = [ask(name, client) for _ in range(30)]
        with greedy(name):
            busy = [ask(name, client) for _ in range(100)]
            running.end(5)
        # A busy machine delays an answer, too, but not by seconds.
        assert p99_ms(busy) <= max(5000, 5 * p99_ms(quiet))
        assert running.seconds_to_end <= 1
    with serve(Server(name, over, arguments=("--duration", "1"))) as running, greedy(name):
        assert running.server.wait(2) == 0


@pytest.mark.parametrize("name", TCP_APPLICATIONS)
def test_slow_clients_hold_up_no_other_client_and_end(name: str, over: str) -> None:
    with serve(Server(name, over, arguments=("--request-timeout", "1"))) as running:
        slow = [connect(name, CLIENT) for _ in range(128)]
        for _ in range(20):
            assert ask_in_time(name, 1) < 5
            slow = [stream for stream in slow if still_open(stream)]
            # What the balancer carries has no requests that could be too slow.
            if not slow or name == "balancer":
                break
            time.sleep(0.5)
        statistics = running.end()
    assert statistics["share_evicted"] > 0, statistics
    assert name == "balancer" or (not slow and statistics["slow_closed"] > 0), statistics


def ask_in_time(name: str, limit: float) -> float:
    """Ask again if a busy machine sends the question so late that the application rightly ends the connection."""
    for _ in range(10):
        start = time.monotonic()
        try:
            return ask(name)
        except (AppError, ConnectionError):
            if time.monotonic() - start < limit:
                raise
    pytest.fail(f"{name} ended ten connections on which the question came late")


def still_open(stream: socket.socket) -> bool:
    """Send one byte, and tell whether the connection is still open."""
    try:
        stream.sendall(b"G")
        stream.setblocking(False)
        return stream.recv(1000) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        stream.setblocking(True)


def test_an_answer_takes_no_longer_than_its_bytes_need() -> None:
    arguments = ("--request-timeout", "1", "--socket-buffer", "2048")
    with serve(Server("http", arguments=arguments)) as running:
        with socket.socket() as client:
            # It reads nothing, and hardly any bytes find room.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            client.connect((ADDRESS, PORTS["http"]))
            client.sendall(b"GET /bytes/1000000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            time.sleep(4)
        ask("http")
        assert running.end()["slow_closed"] == 1


def test_datagrams_from_dead_addresses_hold_up_no_answer(over: str) -> None:
    question = QUESTIONS["node"][0]
    with serve(Server("node", over)) as running:
        attacker = HandClient(PORTS["node"])
        for number in range(50):
            for source in (f"10.0.0.{200 + number}", f"192.168.7.{1 + number}"):
                attacker.send(udp((3610, 3610), question, source))
        load = controller(20)
        assert (load.requests, load.failed) == (20 * 13, 0)
        assert max(ask("node") for _ in range(10)) < 0.5
        running.end()


@pytest.mark.parametrize("kind", ["with expiry", "that shrink"])
def test_kv_keeps_its_limit_of_memory(kind: str) -> None:
    limit = 32
    with serve(Server("kv", "kernel", arguments=("--memory", str(limit)))) as running:
        before = running.server.memory_kib()
        if kind == "with expiry":
            pipe(f"SET key{i} x EX 1000" for i in range(600_000))
        else:
            for turn in range(6):
                pipe(f"SET key{turn}-{i} {'x' * 3000}" for i in range(8000))
                pipe(f"SET key{turn}-{i} x" for i in range(8000))
        grown = running.server.memory_kib() - before
        assert redis_cli("PING") == "PONG"
    assert grown <= limit * 1024 * 1.1, f"{grown} KiB"


def pipe(commands: Iterator[str]) -> None:
    """Send many commands; errors are those of a full store."""
    run(f"redis-cli -h {ADDRESS} --pipe", text="\r\n".join([*commands, ""]), check=False)


def test_the_balancer_says_what_it_refuses(over: str) -> None:
    with serve(Server("balancer", over)) as running:
        for backend in running.backends:
            backend.process.kill()
        for name in ("a", "b"):
            running.server.wait_for_line(f"backend {name} is down")
        with pytest.raises(OSError):
            ask("balancer")
        assert json.loads(curl(":8080/stats")[1])["frontends"][0]["refused"] == 1
