"""What applications do with broken frames, floods, silent clients, and a card or a backend that dies.

The others are served, memory stays bounded, and the statistics say what happened.
"""

import json
import signal
import socket
import subprocess
import sys
import time
from threading import Thread
from typing import Any

from clients.load import BODY, ab, ask, connect, curl, redis_benchmark, redis_check, redis_cli
from clients.process import Process, run, wait_until
from clients.segments import ACK, ETHERNET, FIN, PSH, RST, HandClient, fragments
from clients.world import ADDRESS, PORTS, Server, serve


def read_to_end(stream: socket.socket) -> str:
    """Read until the server closes or resets the connection."""
    received = b""
    try:
        while part := stream.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received.decode(errors="replace")


def assert_nothing_new(client: HandClient) -> None:
    """The server sends nothing but acknowledgements of what came before, which may be late."""
    while answer := client.answer(0.1):
        assert not answer.payload and answer.acknowledges == client.next, answer


def test_broken_and_overlapping_segments_change_nothing_for_the_client(driver: str) -> None:
    with serve(Server("kv", driver)) as running:
        client = HandClient(PORTS["kv"])
        client.connect()
        # "SET k 12345" in parts: out of order, twice, and overlapping.
        parts = ((8, b"345\r\n"), (0, b"SET"), (0, b"SET"), (2, b"T k 12"), (5, b" 12"))
        for place, part in parts:
            client.send(client.segment(client.next + place, PSH | ACK, part))
        client.next += 13
        assert client.read(5) == b"+OK\r\n"

        # Wrong checksums of TCP and of IP: as if nothing had come.
        good = client.segment(client.next, PSH | ACK, b"GET k\r\n")
        for place in (24 - ETHERNET, 50 - ETHERNET):
            client.send(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        assert_nothing_new(client)

        # Half of a datagram is nothing; both halves are one.
        first, second = fragments(good, 24)
        client.send(second)
        assert_nothing_new(client)
        client.send(first)
        client.next += 7
        assert client.read(11) == b"$5\r\n12345\r\n"
        assert redis_cli("GET", "k") == "12345"
        statistics = running.end()
    assert (statistics["malformed"], statistics["checksum_errors"]) == (0, 2)


def test_a_closed_connection_is_acknowledged_to_its_end(driver: str) -> None:
    with serve(Server("http", driver)):
        for port in range(7000, 7010):
            client = HandClient(PORTS["http"], port)
            client.connect()
            client.send_next(PSH | ACK, b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert client.read().startswith(b"HTTP/1.1 200")
            # Without this acknowledgement, a client's kernel sends its FIN again after 200 ms.
            assert client.close(0.15)


def test_a_request_with_the_end_of_its_connection_is_answered(driver: str) -> None:
    with serve(Server("kv", driver)) as running:
        client = HandClient(PORTS["kv"])
        client.half_open()
        # One segment acknowledges the SYN, asks, and closes.
        client.send_next(FIN | ACK, b"PING\r\n")
        assert client.read() == b"+PONG\r\n"
        # A client that comes and goes without a request leaves nothing.
        silent = HandClient(PORTS["kv"], 7001)
        silent.half_open()
        silent.send_next(FIN | ACK)
        assert silent.read() == b""
        statistics = running.end()
    assert (statistics["connections_closed"], statistics["connections_reset"]) == (2, 0)


def test_many_short_connections_are_all_served(driver: str) -> None:
    with serve(Server("http", driver)):
        # Connections that ab opens and does not use end with it, while the next ab opens its own.
        for _ in range(10):
            assert ab(500, 50).failed == 0


def test_more_clients_than_sockets_are_all_served(driver: str) -> None:
    with serve(Server("http", driver, arguments=("--connections", "64"))) as running:
        load = ab(2000, 100)
        assert (load.requests, load.failed) == (2000, 0)
        assert running.end()["syn_dropped"] > 0


def test_a_flood_of_syns_takes_no_memory_and_leaves_room_for_clients(driver: str) -> None:
    with serve(Server("kv", driver)) as running:
        assert redis_cli("SET", "k", "before") == "OK"
        before, client = running.server.memory_kib(), HandClient(PORTS["kv"])
        flood = Thread(target=client.flood, args=(30_000,))
        flood.start()
        while flood.is_alive():
            assert redis_cli("GET", "k") == "before"
        flood.join()
        assert redis_cli("GET", "k") == "before"
        assert running.server.memory_kib() <= before + 1024
        statistics = running.end()
    assert statistics["half_open_evicted"] + statistics["syn_dropped"] > 1000


def test_half_open_and_idle_connections_end(driver: str) -> None:
    with serve(Server("kv", driver, arguments=("--idle-timeout", "1"))) as running:
        half = HandClient(PORTS["kv"])
        half.half_open()
        with connect("kv") as idle:
            assert read_to_end(idle) == ""
        wait_until("a reset", lambda: (answer := half.answer()) is None or bool(answer.flags & RST))
        statistics = running.end()
    assert (statistics["idle_closed"], statistics["half_open_expired"]) == (1, 1)


def test_a_client_that_never_reads_holds_up_only_itself(driver: str) -> None:
    with serve(Server("kv", driver)) as running:
        assert redis_cli("SET", "big", "x" * 100_000) == "OK"
        before, sent = running.server.memory_kib(), 0
        with connect("kv") as silent:
            # The server takes no more once its answers wait.
            silent.settimeout(0.3)
            try:
                while True:
                    sent += silent.send(b"GET big\r\n" * 1000)
            except TimeoutError:
                assert sent > 100_000
            for _ in range(20):
                ask("kv")
            assert running.server.memory_kib() < before + 4096
        ask("kv")


def assert_garbage_is_refused(application: str, garbage: dict[bytes, str]) -> None:
    with serve(Server(application)) as running:
        for request, answer in garbage.items():
            with connect(application) as stream:
                stream.sendall(request)
                assert read_to_end(stream).startswith(answer)
            ask(application)
        assert running.end()["malformed"] == len(garbage)


def test_garbage_ends_only_its_connection() -> None:
    assert_garbage_is_refused("kv", dict.fromkeys((b"*1\r\n$99999999\r\n", b"*-1\r\n", b"x" * 5000), "-ERR"))
    long_line = b"GET /%s HTTP/1.1\r\n" % (b"x" * 9000)
    long_body = b"POST /records HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n"
    statuses = {b"\x16\x03\x01\r\n\r\n": "400", long_line: "431", long_body: "413"}
    assert_garbage_is_refused("http", {request: f"HTTP/1.1 {status} " for request, status in statuses.items()})
    with serve(Server("node")) as running, connect("node") as own:
        for garbage in (b"", b"\x10", bytes.fromhex("1081000105ff010ef0016201d6"), b"\xff" * 1472):
            own.send(garbage)
        ask("node", own)
        assert running.end()["malformed"] == 4


def test_a_card_that_vanishes_ends_the_application_with_a_reason(driver: str) -> None:
    with serve(Server("kv", driver)) as running:
        ask("kv")
        running.carrier.kill()
        assert running.server.wait() == 1
        running.server.wait_for_line("kv: ")


def test_sigint_under_load_ends_in_order(driver: str) -> None:
    words = f"redis-benchmark -h {ADDRESS} -c 50 -n 100000000 -q -t get".split()
    with serve(Server("kv", driver)) as running, subprocess.Popen(words, stdout=-3, stderr=-3) as load:
        wait_until("a load", lambda: run("ss -Htn state established dport = :6379").text.count("\n") >= 50)
        time.sleep(0.1)
        running.server.popen.send_signal(signal.SIGINT)
        assert running.server.wait(3) == 0
        load.kill()
        statistics = json.loads((running.folder / "server.json").read_text())
    assert statistics["connections_accepted"] >= 50 and statistics["bytes_sent"] > 0


def test_four_queues_serve_all_flows(driver: str) -> None:
    with serve(Server("kv", driver, arguments=("--queues", "4"))) as running:
        redis_check(500)
        assert redis_benchmark("SET", 5000).rate > 0
        statistics = running.end()
    assert (statistics["malformed"], statistics["syn_dropped"]) == (0, 0)


# A backend whose health check says that it drains, once a file is there.
DRAINING = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(503 if self.path == "/health" and os.path.exists(sys.argv[1]) else 200)
        self.end_headers()
        self.wfile.write(b'{"id":1,"name":"record 1","value":0.125}')
    do_POST = do_GET
http.server.ThreadingHTTPServer.request_queue_size = 128
http.server.ThreadingHTTPServer(("", 80), Handler).serve_forever()
"""


def balancer_backend(number: int) -> dict[str, Any]:
    """Return the statistics of a backend now."""
    backend: dict[str, Any] = json.loads(curl(":8080/stats")[1])["backends"][number]
    return backend


def wait_for_state(number: int, state: str) -> None:
    wait_until(f"backend {number} {state}", lambda: bool(balancer_backend(number)["state"] == state))


def no_failures() -> None:
    load = ab(200, 20, BODY)
    assert load.failed == 0, load


def answers(stream: socket.socket) -> bool:
    """Tell whether a connection is still answered. A reset may come before or after the request."""
    try:
        stream.sendall(b"GET /records/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    except OSError:
        return False
    return '"id":1,' in read_to_end(stream)


def test_a_backend_that_dies_or_hangs_loses_only_its_own_connections(over: str) -> None:
    with serve(Server("balancer", over)) as running:
        first, second = running.backends
        no_failures()
        # Connections to both backends, so that some lose theirs.
        opened = [connect("balancer") for _ in range(16)]
        first.process.kill()
        wait_for_state(0, "down")
        no_failures()
        answered = [answers(stream) for stream in opened]
        assert 0 < sum(answered) < 16
        first.start()
        wait_for_state(0, "up")
        second.process.popen.send_signal(signal.SIGSTOP)
        wait_for_state(1, "down")
        no_failures()
        second.process.popen.send_signal(signal.SIGCONT)
        wait_for_state(1, "up")
        no_failures()
        statistics = running.end()
        for line in ("backend a is down", "backend a is up", "backend b is down"):
            assert running.server.lines(line), running.server.log.read_text()
    assert all(backend["checks_failed"] >= 2 for backend in statistics["backends"])


def test_a_backend_that_drains_keeps_its_connections(over: str) -> None:
    with serve(Server("balancer", over)) as running:
        backend, flag = running.backends[0], running.folder / "draining"
        backend.process.kill()
        wait_for_state(0, "down")
        backend.process = Process(backend.space.command(sys.executable, "-c", DRAINING, flag), backend.log)
        wait_for_state(0, "up")
        opened = [connect("balancer") for _ in range(16)]
        no_failures()
        flag.touch()
        wait_for_state(0, "draining")
        before = balancer_backend(0)
        no_failures()
        after = balancer_backend(0)
        assert after["connections_total"] == before["connections_total"] > 0 and not after["is_up"]
        assert 0 < after["connections_current"] < 16
        assert all(answers(stream) for stream in opened)
        assert running.server.lines("backend a is draining") == 1
