//! The applications over the kernel's own ixgbe: the baseline of the three drivers. Server and client run in the
//! guest, each in the namespace of one end of a cable.

use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::Signal;

use crate::fixture::Test;
use crate::stock::{of_pair, PortPair, StockMachine};

/// How long an application may take to end.
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

impl Application {
    fn serves_its_client(&self, pair: &PortPair) -> Result<()> {
        let Self {
            name, arguments, ..
        } = self;
        pair.set_up(1500)?;
        let (to, own) = (pair.address(0), pair.address(1));
        // Groups of multicast need a route.
        pair.shell(0, "ip route replace 224.0.0.0/4 dev $dev")?;
        pair.shell(1, "ip route replace 224.0.0.0/4 dev $dev")?;
        let files = format!("--json /tmp/{name}.json {arguments} 2>/tmp/{name}.log");
        let server = format!("exec /apps/{name} --driver kernel --ip {to}/24 {files}");
        let server = pair.vm.start(format!("exec {}", pair.script(0, &server)))?;
        pair.vm
            .shell(format!("await 60 grep -q ready /tmp/{name}.log"))?;
        let client = self.client.replace("$to", &to).replace("$own", &own);
        let output = pair.run(1, &format!("PATH=$PATH:/apps {client}"))?;
        output.expect_silence()?.expect_stdout(self.expected)?;
        let (before, unit) = self.number;
        let number = output.stdout.split_once(before);
        let number = number.and_then(|(_, rest)| rest.split(['"', ' ', ',', '}']).next());
        let number = number.with_context(|| format!("no number: {output}"))?;
        eprint!("({number} {unit}) ");
        server.signal(Signal::INT)?;
        server.wait(LIMIT)?.expect_silence()?;
        let statistics = pair.vm.run(format!("cat /tmp/{name}.json"))?;
        statistics.expect_stdout(&["\"malformed\":0"]).map(drop)
    }
}

/// A test for each application.
pub(crate) fn tests() -> [Test<StockMachine>; 3] {
    APPLICATIONS.map(|application| {
        let name = format!("{}_serves_its_client_over_stock_ixgbe", application.name);
        of_pair(name, 1, move |pair| application.serves_its_client(pair))
    })
}
