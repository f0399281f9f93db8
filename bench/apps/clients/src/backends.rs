//! Backends of a balancer: `http` over the kernel's sockets, each in a name space of its own, all on one bridge with
//! the clients and with the balancer.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::name_space::{give_address, ip, up, Inner};
use crate::path::built;
use crate::process::Process;

/// The bridge, which has the clients' address.
const BRIDGE: &str = "br0";

/// The backends by name, each with its address.
pub const BACKENDS: [(&str, &str); 2] = [("a", "10.0.0.11"), ("b", "10.0.0.12")];

/// The balancer's configuration. Checks are frequent, so that a test notices soon.
pub const CONFIG: &str = r#"
[health]
interval_ms = 100
timeout_ms = 400
path = "/health"

[[frontend]]
name = "web"
port = 80
backends = ["a", "b"]

[[backend]]
name = "a"
address = "10.0.0.11:80"

[[backend]]
name = "b"
address = "10.0.0.12:80"
"#;

/// A backend that runs.
struct Backend {
    // The process is dropped first.
    server: Option<Process>,
    inner: Inner,
    address: &'static str,
}

/// The backends that run.
pub struct Backends {
    running: Vec<Backend>,
    links: Links,
}

/// Interfaces that are deleted at the end.
struct Links(Vec<String>);

impl Drop for Links {
    fn drop(&mut self) {
        for link in &self.0 {
            let _ = ip(&["link", "delete", link]);
        }
    }
}

impl Links {
    fn add(&mut self, name: &str, kind: &[&str]) -> Result<()> {
        ip(&[&["link", "add", name, "type"], kind].concat())?;
        self.0.push(name.to_owned());
        ip(&["link", "set", name, "addrgenmode", "none"])
    }
}

impl Backends {
    /// Makes the bridge, gives it the clients' address, and starts the backends.
    ///
    /// # Errors
    /// If `ip` refuses, or a backend does not start.
    pub fn start(client_address: &str) -> Result<Self> {
        let mut links = Links(Vec::new());
        links.add(BRIDGE, &["bridge"])?;
        give_address(BRIDGE, client_address)?;
        up(BRIDGE)?;
        let mut running = Vec::new();
        for (name, address) in BACKENDS {
            let (outside, inside) = (format!("veth-{name}"), format!("veth-{name}1"));
            links.add(&outside, &["veth", "peer", "name", &inside])?;
            ip(&["link", "set", &outside, "master", BRIDGE])?;
            up(&outside)?;
            let inner = Inner::new()?;
            inner.adopt(&inside, &format!("{address}/24"))?;
            let mut backend = Backend {
                server: None,
                inner,
                address,
            };
            backend.start()?;
            running.push(backend);
        }
        Ok(Self { running, links })
    }

    /// Puts the balancer's interface on the bridge.
    ///
    /// # Errors
    /// If `ip` refuses.
    pub fn connect(&self, interface: &str) -> Result<()> {
        debug_assert!(!self.links.0.is_empty());
        ip(&["link", "set", interface, "master", BRIDGE])?;
        up(interface)
    }

    /// Kills a backend.
    pub fn kill(&mut self, number: usize) {
        self.running[number].server = None;
    }

    /// The process of a backend that runs.
    pub fn server(&self, number: usize) -> Option<&Process> {
        self.running[number].server.as_ref()
    }

    /// Starts a backend again.
    ///
    /// # Errors
    /// If it does not start.
    pub fn restart(&mut self, number: usize) -> Result<()> {
        self.running[number].start()
    }
}

impl Backend {
    fn start(&mut self) -> Result<()> {
        let mut command: Command = self.inner.command(built("bin/apps/http")?);
        command.args(["--driver", "kernel", "--ip", self.address]);
        command.args(["--connections", "1024"]);
        let server = Process::start_until(&mut command, "ready", Duration::from_secs(20))?;
        self.server = Some(server);
        Ok(())
    }
}
