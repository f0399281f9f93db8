//! Each application answers its real client, over each driver and over the kernel's sockets.
#![allow(clippy::unwrap_used)] // for a test

use anyhow::{ensure, Result};
use apps_clients::clients::{http, node, ping, redis};
use apps_clients::kernel;
use apps_clients::name_space;
use apps_clients::server::{Driver, Over, Running, Server};
use serde_json::Value;

/// Runs `check` in a name space of its own, with each server in turn.
fn each_server(
    name: &'static str,
    test: &str,
    check: impl Fn(&Running) -> Result<()>,
) -> Result<()> {
    if !name_space::is_inside(test)? {
        return Ok(());
    }
    let drivers = Driver::ALL.map(Over::Driver);
    for over in drivers.into_iter().chain([Over::Kernel]) {
        let server = Server::Application {
            name,
            over: over.clone(),
        };
        let running = server.start(&[])?;
        check(&running).map_err(|error| error.context(format!("{over:?}")))?;
        let statistics: Option<Value> = running.end()?;
        let count = |key: &str| statistics.as_ref().and_then(|all| all[key].as_u64());
        ensure!(
            count("malformed") == Some(0) && count("bytes_sent") > Some(0),
            "{over:?}: {statistics:?}"
        );
    }
    Ok(())
}

#[test]
fn kv_answers_redis_cli_and_redis_benchmark() -> Result<()> {
    each_server("kv", "kv_answers_redis_cli_and_redis_benchmark", |_| {
        ensure!(redis::cli(&["SET", "greeting", "hello"])? == "OK");
        ensure!(redis::cli(&["GET", "greeting"])? == "hello");
        redis::check_answers(2000)?;
        for test in ["SET", "GET"] {
            let load = redis::benchmark(test, 5000)?;
            ensure!(load.rate > 0.0 && load.p99_ms.is_some(), "{load:?}");
        }
        let load = redis::pipeline(5000)?;
        ensure!(load.failed == 0, "{load:?}");
        Ok(())
    })
}

#[test]
fn http_answers_curl_wrk_and_ab() -> Result<()> {
    each_server("http", "http_answers_curl_wrk_and_ab", |_| {
        let record = r#"{"id":42,"name":"record 42","value":5.25}"#;
        ensure!(http::curl("/records/42", &[])? == ("200".to_owned(), record.to_owned()));
        ensure!(http::curl("/records/0", &[])?.0 == "404");
        ensure!(http::curl("/records/42", &["--head"])?.0 == "200");
        let posted = http::curl("/records", &["--data", r#"{"name":"new","value":1}"#])?;
        ensure!(
            posted.0 == "201" && posted.1.contains("\"id\":10001"),
            "{posted:?}"
        );
        for load in [
            http::wrk(1)?,
            http::ab(500, 50, None)?,
            http::ab(200, 40, Some(r#"{"name":"x","value":1}"#))?,
        ] {
            ensure!(load.requests > 0 && load.failed == 0, "{load:?}");
        }
        Ok(())
    })
}

#[test]
fn a_flood_of_pings_loses_nothing() -> Result<()> {
    if !name_space::is_inside("a_flood_of_pings_loses_nothing")? {
        return Ok(());
    }
    for driver in Driver::ALL {
        let server = Server::Application {
            name: "kv",
            over: Over::Driver(driver),
        };
        let running = server.start(&[])?;
        let load = ping::flood(10_000)?;
        ensure!(load.failed == 0, "{driver}: {load:?}");
        running.end::<Value>()?;
    }
    Ok(())
}

#[test]
fn node_answers_a_controller() -> Result<()> {
    each_server("node", "node_answers_a_controller", |_| {
        let load = node::control(300)?;
        ensure!((load.requests, load.failed) == (300 * 13, 0), "{load:?}");
        Ok(())
    })
}

#[test]
fn balancer_carries_posts_through_to_http() -> Result<()> {
    if !name_space::is_inside("balancer_carries_posts_through_to_http")? {
        return Ok(());
    }
    for driver in Driver::ALL {
        let server = Server::Application {
            name: "balancer",
            over: Over::Driver(driver),
        };
        let running = server.start(&[])?;
        let body = r#"{"name":"x","value":1}"#;
        let load = http::ab(2100, 40, Some(body))?;
        ensure!(
            (load.requests, load.failed) == (2100, 0),
            "{driver}: {load:?}"
        );
        let (status, text) = http::curl(":8080/stats", &[])?;
        ensure!(status == "200", "{driver}: {status}");
        let stats: Value = serde_json::from_str(&text)?;
        let frontend = &stats["frontends"][0];
        // ab opens some connections more than it needs.
        let connections = frontend["connections_total"].as_u64();
        ensure!(connections >= Some(2100), "{driver}: {text}");
        let posted = frontend["bytes_in"].as_u64();
        ensure!(posted > Some(2100 * body.len() as u64), "{driver}: {text}");
        for backend in 0..2 {
            let backend = &stats["backends"][backend];
            ensure!(backend["is_up"] == true, "{driver}: {text}");
            let share = backend["connections_total"].as_u64();
            ensure!(share > Some(2100 / 3), "{driver}: {text}");
        }
        running.end::<Value>()?;
    }
    Ok(())
}

#[test]
fn the_balancer_uses_its_ports_again_without_a_wait() -> Result<()> {
    // The ports of the default table.
    const PORTS: u64 = 16_384;
    if !name_space::is_inside("the_balancer_uses_its_ports_again_without_a_wait")? {
        return Ok(());
    }
    let server = Server::Application {
        name: "balancer",
        over: Over::Driver(Driver::ALL[1]),
    };
    let running = server.start(&[])?;
    http::ab(PORTS, 40, None)?;
    let before = kernel::sum_of("SynRetrans")?;
    let load = http::ab(PORTS / 2, 40, None)?;
    let repeated = kernel::sum_of("SynRetrans")? - before;
    ensure!(
        (load.failed, repeated) == (0, 0),
        "{repeated} SYNs were sent again: {load:?}"
    );
    running.end::<Value>().map(drop)
}
