"""Each application answers its real client, over each driver and over the kernel's sockets."""

import json
from collections.abc import Callable

import pytest
from clients import load
from clients.load import BODY, RECORD, Load
from clients.world import Server, serve


def use_kv() -> None:
    assert load.redis_cli("SET", "greeting", "hello") == "OK"
    assert load.redis_cli("GET", "greeting") == "hello"
    load.redis_check(500)
    for test in ("SET", "GET"):
        measured = load.redis_benchmark(test, 5000)
        assert measured.rate > 0 and measured.percentiles[1]
    assert load.redis_pipeline(5000).failed == 0


def use_http() -> None:
    assert load.curl("/records/42") == (200, RECORD)
    assert load.curl("/records/0")[0] == 404
    assert load.curl("/records/42", "--head")[0] == 200
    status, body = load.curl("/records", "--data", '{"name":"new","value":1}')
    assert status == 201 and json.loads(body)["id"] == 10001
    assert_whole(load.wrk(1), load.ab(500, 50), load.ab(200, 40, BODY))


def use_node() -> None:
    measured = load.controller(100)
    assert (measured.requests, measured.failed) == (100 * 13, 0)


def assert_whole(*loads: Load) -> None:
    """Something was sent, and nothing was lost."""
    for each in loads:
        assert each.requests > 0 and each.failed == 0, each


@pytest.mark.parametrize(("name", "use"), [("kv", use_kv), ("http", use_http), ("node", use_node)])
def test_an_application_answers_its_clients(name: str, use: Callable[[], None], over: str) -> None:
    with serve(Server(name, over)) as running:
        use()
        statistics = running.end()
    assert statistics["malformed"] == 0 and statistics["bytes_sent"] > 0


def test_a_stream_of_bytes_is_whole_in_both_directions(over: str) -> None:
    with serve(Server("http", over)) as running:
        assert_whole(
            load.curl_stream(20_000_000, up=False), load.curl_stream(20_000_000, up=True), load.wrk(1, "/bytes/65536")
        )
        assert load.curl("/bytes/0") == (200, "") and load.curl("/discard", "--data", "abc") == (200, '{"bytes":3}')
        status, head = load.curl("/bytes/5", "--head")
        assert status == 200 and "content-type: application/octet-stream" in head.lower()
        assert load.curl("/bytes/x")[0] == 404 or load.curl("/bytes/x")[0] == 400
        running.end()


def test_a_flood_of_pings_loses_nothing(driver: str) -> None:
    with serve(Server("kv", driver)):
        assert load.ping(10_000).failed == 0


def test_the_balancer_carries_requests_to_both_backends(over: str) -> None:
    with serve(Server("balancer", over)) as running:
        posted = load.ab(2100, 40, BODY)
        assert (posted.requests, posted.failed) == (2100, 0)
        assert_whole(load.wrk(1), load.curl_stream(5_000_000, up=True), load.curl_stream(5_000_000, up=False))
        status, text = load.curl(":8080/stats")
        assert status == 200
        statistics = json.loads(text)
        (frontend,), backends = statistics["frontends"], statistics["backends"]
        assert (frontend["name"], frontend["port"], frontend["refused"]) == ("web", 80, 0)
        # ab opens some connections more than it needs.
        assert frontend["connections_total"] >= 2100 and frontend["bytes_in"] > 2100 * len(BODY)
        for backend, name in zip(backends, "ab", strict=True):
            assert (backend["name"], backend["state"], backend["is_up"]) == (name, "up", True), text
            assert backend["connections_total"] > 2100 / 3 and backend["checks"] > 0, text
        for count in ("connections_total", "connections_current", "bytes_in", "bytes_out"):
            assert frontend[count] == sum(backend[count] for backend in backends), text
        running.end()
