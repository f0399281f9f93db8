//! The applications over the kernel's own ixgbe: the baseline of the three drivers. Server and client run in the
//! guest, each in the namespace of one end of a cable.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use guest::Vm;
use rustix::process::Signal;

use crate::fixture::Test;
use crate::stock::{no_complaint, PortPair, StockMachine};

/// How long an application or client may take, in an emulated processor.
const LIMIT: Duration = Duration::from_secs(60);

/// An application and what its client prints.
struct Application {
    name: &'static str,
    arguments: &'static str,
    /// The client; `$to` is the server's address, `$own` the client's.
    client: &'static str,
    /// What the client prints if all is well.
    expected: &'static [&'static str],
    /// What precedes the number to show, and what it is.
    number: (&'static str, &'static str),
}

const APPLICATIONS: [Application; 3] = [
    Application {
        name: "kv",
        arguments: "",
        client: "redis-benchmark -h $to -n 2000 -c 10 -t set,get --csv",
        expected: &["\"SET\"", "\"GET\""],
        number: ("\"GET\",\"", "GET/s"),
    },
    Application {
        name: "http",
        arguments: "--records 100",
        client: "ab -q -k -n 1000 -c 10 http://$to/records/42",
        expected: &["Complete requests:      1000", "Failed requests:        0"],
        number: ("Requests per second:    ", "requests/s"),
    },
    Application {
        name: "node",
        arguments: "",
        client: "node-controller --ip $own --rounds 50",
        expected: &["\"lost\":0", "\"wrong\":0", "\"requests\":650"],
        number: ("\"seconds\":", "s for 650 requests"),
    },
];

fn serves_its_client(vm: &Vm, pair: &PortPair, application: &Application) -> Result<()> {
    pair.set_up(vm, 1500)?;
    let Application {
        name, arguments, ..
    } = application;
    let (to, own) = (pair.address(0), pair.address(1));
    let json = format!("/tmp/{name}.json");
    // Groups of multicast need a route.
    pair.shell(vm, 0, "ip route replace 224.0.0.0/4 dev $dev")?;
    pair.shell(vm, 1, "ip route replace 224.0.0.0/4 dev $dev")?;
    let server = format!(
        "exec /apps/{name} --driver kernel --ip {to}/24 --json {json} {arguments} 2>/tmp/{name}.log"
    );
    let server = vm.script(&pair.script(0, &server)).start()?;
    vm.wait_for(
        &format!("grep -c ready /tmp/{name}.log || true"),
        "1",
        LIMIT,
    )?;
    let client = application.client.replace("$to", &to).replace("$own", &own);
    let output = pair.at(vm, 1, &format!("PATH=$PATH:/apps {client}"), LIMIT)?;
    output.expect_success()?;
    for text in application.expected {
        ensure!(
            output.end.stdout.contains(text),
            "output lacks {text:?}: {output}"
        );
    }
    let (before, unit) = application.number;
    let number = output.end.stdout.split_once(before);
    let number = number.and_then(|(_, rest)| rest.split(['"', ' ', ',', '}']).next());
    let number = number.with_context(|| format!("no number: {output}"))?;
    eprint!("({number} {unit}) ");
    server.signal(Signal::INT)?;
    server.wait(LIMIT)?.expect_success()?;
    let statistics = vm.shell(&format!("cat {json}"))?;
    ensure!(statistics.contains("\"malformed\":0"), "{statistics}");
    no_complaint(vm)
}

/// A test for each application.
pub(crate) fn tests() -> Vec<Test<StockMachine>> {
    let test = |application: &'static Application| {
        let name = format!("{}_serves_its_client_over_stock_ixgbe", application.name);
        Test::new(name, move |stock: &mut StockMachine| {
            let pair = stock.pairs.last().context("the machine has no pair")?;
            serves_its_client(&stock.vm, pair, application)
        })
    };
    APPLICATIONS.iter().map(test).collect()
}
