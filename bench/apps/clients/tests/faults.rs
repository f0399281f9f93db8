//! What applications do with broken frames, floods, silent clients, and a card or a backend that dies: the others are
//! served, memory stays bounded, and the statistics say what happened.
#![allow(clippy::unwrap_used)] // for a test

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use apps_clients::attack::HandClient;
use apps_clients::backends::Backends;
use apps_clients::clients::{http, redis};
use apps_clients::name_space;
use apps_clients::process::{wait_until, Process};
use apps_clients::server::{Driver, Over, Running, Server, ADDRESS};
use rustix::process::Signal;
use serde_json::Value;
use smoltcp::wire::TcpControl;

/// The longest wait for what has to happen.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs `check` in a name space of its own, with the application over each driver. `also` are its arguments.
fn each_driver(
    name: &'static str,
    test: &str,
    also: &[&str],
    check: impl Fn(Running) -> Result<()>,
) -> Result<()> {
    if !name_space::is_inside(test)? {
        return Ok(());
    }
    for driver in Driver::ALL {
        let over = Over::Driver(driver);
        let running = Server::Application { name, over }.start(also)?;
        check(running).with_context(|| driver.to_string())?;
    }
    Ok(())
}

/// Ends the application in order, and returns its statistics.
fn end(running: Running) -> Result<Value> {
    running.end()?.context("no statistics")
}

fn count(statistics: &Value, name: &str) -> u64 {
    statistics[name].as_u64().unwrap_or(0)
}

fn connect(port: u16) -> Result<TcpStream> {
    let stream = TcpStream::connect((ADDRESS, port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    Ok(stream)
}

/// Reads until the server closes or resets the connection.
fn read_to_end(stream: &mut TcpStream) -> Result<String> {
    let mut text = Vec::new();
    match stream.read_to_end(&mut text) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => return Err(error.into()),
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn broken_and_overlapping_segments_change_nothing_for_the_client() -> Result<()> {
    let test = "broken_and_overlapping_segments_change_nothing_for_the_client";
    each_driver("kv", test, &[], |running| {
        let mut client = HandClient::new(6379, 7000)?;
        client.connect()?;
        // "SET k 12345" in parts: out of order, twice, and overlapping.
        let start = client.next;
        for (at, part) in [
            (8, "345\r\n"),
            (0, "SET"),
            (0, "SET"),
            (2, "T k 12"),
            (5, " 12"),
        ] {
            let segment = client.segment(start + at, TcpControl::Psh, part.as_bytes());
            client.send(&segment);
        }
        client.next = start + 13;
        ensure!(client.read(5)? == b"+OK\r\n");

        // Wrong checksums of TCP and of IP: as if nothing had come.
        let good = client.segment(client.next, TcpControl::Psh, b"GET k\r\n");
        for at in [24, 50] {
            let mut broken = good.clone();
            broken[at] ^= 0x55;
            client.send(&broken);
        }
        let silence = client.answer(Duration::from_millis(100));
        ensure!(silence.is_none(), "{silence:?}");

        // Half of a datagram is nothing; both halves are one.
        let halves = HandClient::fragments(&good, 24);
        client.send(&halves[1]);
        let silence = client.answer(Duration::from_millis(100));
        ensure!(silence.is_none(), "{silence:?}");
        client.send(&halves[0]);
        client.next += 7;
        ensure!(client.read(11)? == b"$5\r\n12345\r\n");

        ensure!(redis::cli(&["GET", "k"])? == "12345");
        let statistics = end(running)?;
        ensure!(count(&statistics, "malformed") == 0, "{statistics}");
        ensure!(count(&statistics, "checksum_errors") == 2, "{statistics}");
        Ok(())
    })
}

#[test]
fn a_closed_connection_is_acknowledged_to_its_end() -> Result<()> {
    let test = "a_closed_connection_is_acknowledged_to_its_end";
    each_driver("http", test, &[], |running| {
        let request = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        for port in 7000..7010 {
            let mut client = HandClient::new(80, port)?;
            client.connect()?;
            let segment = client.segment(client.next, TcpControl::Psh, request);
            client.send(&segment);
            client.next += request.len();
            let answer = client.read_until_closed()?;
            ensure!(answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
            // Without this acknowledgement, a client's kernel sends its FIN again after 200 ms.
            ensure!(client.close(Duration::from_millis(150)), "port {port}");
        }
        end(running).map(drop)
    })
}

#[test]
fn a_request_with_the_end_of_its_connection_is_answered() -> Result<()> {
    let test = "a_request_with_the_end_of_its_connection_is_answered";
    each_driver("kv", test, &[], |running| {
        let mut client = HandClient::new(6379, 7000)?;
        client.half_open()?;
        // One segment acknowledges the SYN, asks, and closes.
        let all = client.segment(client.next, TcpControl::Fin, b"PING\r\n");
        client.send(&all);
        client.next += 7;
        ensure!(client.read_until_closed()? == b"+PONG\r\n");
        // A client that comes and goes without a request leaves nothing.
        let mut silent = HandClient::new(6379, 7001)?;
        silent.half_open()?;
        let end_of_it = silent.segment(silent.next, TcpControl::Fin, b"");
        silent.send(&end_of_it);
        silent.next += 1;
        ensure!(silent.read_until_closed()?.is_empty());
        let statistics = end(running)?;
        ensure!(
            count(&statistics, "connections_closed") == 2,
            "{statistics}"
        );
        ensure!(count(&statistics, "connections_reset") == 0, "{statistics}");
        Ok(())
    })
}

#[test]
fn many_short_connections_are_all_served() -> Result<()> {
    let test = "many_short_connections_are_all_served";
    each_driver("http", test, &[], |running| {
        // Connections that ab opens and does not use end with it, while the next ab opens its own.
        for _ in 0..20 {
            let load = http::ab(500, 50, None)?;
            ensure!(load.failed == 0, "{load:?}");
        }
        end(running).map(drop)
    })
}

#[test]
fn more_clients_than_sockets_are_all_served() -> Result<()> {
    let test = "more_clients_than_sockets_are_all_served";
    each_driver("http", test, &["--connections", "64"], |running| {
        let load = http::ab(2000, 100, None)?;
        ensure!((load.requests, load.failed) == (2000, 0), "{load:?}");
        let statistics = end(running)?;
        ensure!(count(&statistics, "syn_dropped") > 0, "{statistics}");
        Ok(())
    })
}

#[test]
fn a_flood_of_syns_takes_no_memory_and_leaves_room_for_clients() -> Result<()> {
    const SYNS: u32 = 100_000;
    let test = "a_flood_of_syns_takes_no_memory_and_leaves_room_for_clients";
    each_driver("kv", test, &[], |mut running| {
        ensure!(redis::cli(&["SET", "k", "before"])? == "OK");
        let before = running.server().memory_kib()?;
        let flood = std::thread::spawn(|| -> Result<()> {
            HandClient::new(6379, 7000)?.flood(SYNS);
            Ok(())
        });
        let mut served = 0;
        while !flood.is_finished() {
            ensure!(redis::cli(&["GET", "k"])? == "before");
            served += 1;
        }
        flood.join().unwrap()?;
        ensure!(redis::cli(&["GET", "k"])? == "before");
        let after = running.server().memory_kib()?;
        ensure!(
            after <= before + 1024,
            "{before} KiB before, {after} KiB after"
        );
        let statistics = end(running)?;
        let evicted = count(&statistics, "half_open_evicted");
        let dropped = count(&statistics, "syn_dropped");
        let arrived = count(&statistics, "port_rx_packets");
        eprintln!(
            "{SYNS} SYNs, {arrived} frames arrived, {evicted} evicted, {dropped} dropped, \
             {served} clients served meanwhile, {before} KiB before, {after} KiB after"
        );
        ensure!(evicted + dropped > 1000, "{statistics}");
        Ok(())
    })
}

#[test]
fn half_open_and_idle_connections_end() -> Result<()> {
    let test = "half_open_and_idle_connections_end";
    each_driver("kv", test, &["--idle-timeout", "1"], |running| {
        let mut half = HandClient::new(6379, 7000)?;
        let syn = half.segment(half.next, TcpControl::Syn, b"");
        half.send(&syn);
        ensure!(half.answer(LIMIT).is_some_and(|answer| answer.syn));
        let mut idle = connect(6379)?;
        ensure!(read_to_end(&mut idle)? == "");
        wait_until("a reset", LIMIT, || {
            half.answer(LIMIT).is_none_or(|answer| answer.rst)
        })?;
        let statistics = end(running)?;
        ensure!(count(&statistics, "idle_closed") == 1, "{statistics}");
        ensure!(count(&statistics, "half_open_expired") == 1, "{statistics}");
        Ok(())
    })
}

#[test]
fn a_client_that_never_reads_holds_up_only_itself() -> Result<()> {
    const VALUE: usize = 100_000;
    let test = "a_client_that_never_reads_holds_up_only_itself";
    each_driver("kv", test, &[], |mut running| {
        ensure!(redis::cli(&["SET", "big", &"x".repeat(VALUE)])? == "OK");
        let before = running.server().memory_kib()?;
        let mut silent = connect(6379)?;
        silent.set_nonblocking(true)?;
        let requests = "GET big\r\n".repeat(1000);
        let (mut sent, mut quiet) = (0, Instant::now());
        // The server takes no more once its answers wait.
        while quiet.elapsed() < Duration::from_millis(300) {
            match silent.write(requests.as_bytes()) {
                Ok(size) => (sent, quiet) = (sent + size, Instant::now()),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
        ensure!(sent > 100_000, "only {sent} bytes");
        for _ in 0..20 {
            ensure!(redis::cli(&["PING"])? == "PONG");
        }
        let after = running.server().memory_kib()?;
        ensure!(
            after < before + 4096,
            "{before} KiB before, {after} KiB after"
        );
        drop(silent);
        ensure!(redis::cli(&["PING"])? == "PONG");
        end(running).map(drop)
    })
}

#[test]
fn garbage_ends_only_its_connection() -> Result<()> {
    let test = "garbage_ends_only_its_connection";
    if !name_space::is_inside(test)? {
        return Ok(());
    }
    let over = || Over::Driver(Driver::ALL[1]);
    let start = |name| Server::Application { name, over: over() }.start(&[]);

    let kv = start("kv")?;
    for garbage in [&b"*1\r\n$99999999\r\n"[..], b"*-1\r\n", &[b'x'; 5000]] {
        let mut stream = connect(6379)?;
        stream.write_all(garbage)?;
        let answer = read_to_end(&mut stream)?;
        ensure!(answer.starts_with("-ERR"), "{answer}");
        ensure!(redis::cli(&["PING"])? == "PONG");
    }
    let statistics = end(kv)?;
    ensure!(count(&statistics, "malformed") == 3, "{statistics}");

    let server = start("http")?;
    let oversize = format!("GET /{} HTTP/1.1\r\n", "x".repeat(9000));
    for (garbage, status) in [
        ("\x16\x03\x01\r\n\r\n", "400"),
        (&*oversize, "431"),
        (
            "POST /records HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n",
            "413",
        ),
    ] {
        let mut stream = connect(80)?;
        stream.write_all(garbage.as_bytes())?;
        let answer = read_to_end(&mut stream)?;
        ensure!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        ensure!(http::curl("/health", &[])?.0 == "200");
    }
    let statistics = end(server)?;
    ensure!(count(&statistics, "malformed") == 3, "{statistics}");

    let node = start("node")?;
    let socket = UdpSocket::bind(("10.0.0.1", 3610))?;
    socket.set_read_timeout(Some(LIMIT))?;
    let read = b"\x10\x81\x00\x01\x05\xff\x01\x0e\xf0\x01\x62\x01\xd6\x00";
    for size in [0, 1, read.len() - 1] {
        socket.send_to(&read[..size], (ADDRESS, 3610))?;
    }
    socket.send_to(&[0xff; 1472], (ADDRESS, 3610))?;
    socket.send_to(read, (ADDRESS, 3610))?;
    let mut answer = [0; 1500];
    let size = socket.recv(&mut answer)?;
    ensure!(
        answer[..4] == [0x10, 0x81, 0, 1] && answer[10] == 0x72,
        "{:x?}",
        &answer[..size]
    );
    let statistics = end(node)?;
    ensure!(count(&statistics, "malformed") == 4, "{statistics}");
    Ok(())
}

#[test]
fn a_card_that_vanishes_ends_the_application_with_a_reason() -> Result<()> {
    let test = "a_card_that_vanishes_ends_the_application_with_a_reason";
    each_driver("kv", test, &[], |mut running| {
        ensure!(redis::cli(&["PING"])? == "PONG");
        running.between().signal(Signal::KILL)?;
        let status = running.server().wait(LIMIT)?;
        ensure!(status.code() == Some(1), "{status}");
        let line = running.server().wait_for_line("kv: ", LIMIT);
        line.context("it says no reason")
    })
}

#[test]
fn sigint_under_load_ends_in_order() -> Result<()> {
    let test = "sigint_under_load_ends_in_order";
    each_driver("kv", test, &[], |running| {
        let mut load = std::process::Command::new("redis-benchmark");
        load.args([
            "-h",
            ADDRESS,
            "-c",
            "50",
            "-n",
            "100000000",
            "-q",
            "-t",
            "get",
        ]);
        let load = Process::start(
            load.stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null()),
        )?;
        std::thread::sleep(Duration::from_millis(500));
        let start = Instant::now();
        let statistics = end(running)?;
        ensure!(
            start.elapsed() < Duration::from_secs(3),
            "{:?}",
            start.elapsed()
        );
        ensure!(
            count(&statistics, "connections_accepted") >= 50,
            "{statistics}"
        );
        ensure!(count(&statistics, "bytes_sent") > 0, "{statistics}");
        drop(load);
        Ok(())
    })
}

#[test]
fn four_queues_serve_all_flows() -> Result<()> {
    let test = "four_queues_serve_all_flows";
    each_driver("kv", test, &["--queues", "4"], |running| {
        redis::check_answers(1000)?;
        let load = redis::benchmark("SET", 5000)?;
        ensure!(load.rate > 0.0);
        let statistics = end(running)?;
        ensure!(count(&statistics, "malformed") == 0, "{statistics}");
        ensure!(count(&statistics, "syn_dropped") == 0, "{statistics}");
        Ok(())
    })
}

/// The statistics of a balancer now.
fn balancer_stats() -> Result<Value> {
    let (status, text) = http::curl(":8080/stats", &[])?;
    ensure!(status == "200", "{status}");
    Ok(serde_json::from_str(&text)?)
}

fn wait_for_state(backend: usize, is_up: bool) -> Result<()> {
    wait_until("the backend's state", LIMIT, || {
        balancer_stats().is_ok_and(|stats| stats["backends"][backend]["is_up"] == is_up)
    })
}

#[test]
fn a_backend_that_dies_or_hangs_loses_only_its_own_connections() -> Result<()> {
    let test = "a_backend_that_dies_or_hangs_loses_only_its_own_connections";
    each_driver("balancer", test, &[], |mut running| {
        let body = Some(r#"{"name":"x","value":1}"#);
        let no_failures = || -> Result<()> {
            let load = http::ab(200, 20, body)?;
            ensure!(load.failed == 0, "{load:?}");
            Ok(())
        };
        no_failures()?;

        // Connections to both backends, so that some lose theirs.
        let mut open: Vec<TcpStream> = (0..16).map(|_| connect(80)).collect::<Result<_>>()?;
        backends(&mut running)?.kill(0);
        wait_for_state(0, false)?;
        no_failures()?;
        let ask = b"GET /records/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let mut answered = 0;
        for stream in &mut open {
            // A reset may come before or after the request.
            let sent = stream.write_all(ask);
            let text = sent.ok().map(|()| read_to_end(stream)).transpose()?;
            answered += u32::from(text.is_some_and(|text| text.contains("\"id\":1")));
        }
        ensure!((1..16).contains(&answered), "{answered} of 16 are answered");
        backends(&mut running)?.restart(0)?;
        wait_for_state(0, true)?;

        let hanging = |running: &mut Running, signal| -> Result<()> {
            backends(running)?
                .server(1)
                .context("no backend")?
                .signal(signal)
        };
        hanging(&mut running, Signal::STOP)?;
        wait_for_state(1, false)?;
        no_failures()?;
        hanging(&mut running, Signal::CONT)?;
        wait_for_state(1, true)?;
        no_failures()?;

        let statistics = end(running)?;
        let failed = |backend: usize| statistics["backends"][backend]["checks_failed"].as_u64();
        ensure!(failed(0) >= Some(2) && failed(1) >= Some(2), "{statistics}");
        Ok(())
    })
}

fn backends(running: &mut Running) -> Result<&mut Backends> {
    running.backends().context("no backends")
}
