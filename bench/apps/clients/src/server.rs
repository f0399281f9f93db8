//! The servers: an application over a driver or the kernel's sockets, and the peers that everybody uses.
//!
//! All of them have the address [`ADDRESS`], behind the interface `t0`. With a driver, the software card is at the other
//! end of that TAP interface. The others have a second TAP interface in a name space of their own, and socat carries
//! the frames between the two, as the card would. So each frame takes as many steps through the kernel.
//!
//! What carries the frames has one processor, and the server another one.

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use crate::backends::{Backends, BACKENDS, CONFIG};
use crate::name_space::{give_address, ip, up, Inner};
use crate::path::built;
use crate::process::{wait_until, CpuTime, Process};
use crate::processors::{start_on_own, Role};

/// The server's address.
pub const ADDRESS: &str = "10.0.0.2";

/// The address of the clients, with the length of its prefix.
pub const CLIENT_ADDRESS: &str = "10.0.0.1/24";

const SERVER_ADDRESS: &str = "10.0.0.2/24";

/// The clients' interface.
pub const INTERFACE: &str = "t0";

/// The time that a server has to start.
const START: Duration = Duration::from_secs(20);

/// What serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// One of our applications.
    Application {
        /// Its name.
        name: &'static str,
        /// What it runs over.
        over: Over,
    },
    /// redis-server.
    Redis,
    /// nginx, with a file for each record.
    Nginx(PathBuf),
    /// nginx, which passes requests on to the backends.
    NginxProxy(PathBuf),
}

/// What an application runs over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// A driver and smoltcp.
    Driver(Driver),
    /// The kernel's sockets.
    Kernel,
}

/// A build of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driver {
    /// `c`, `rust` or `rust-unsafe`.
    pub name: &'static str,
    /// `default`, or a variant of `build/variants`.
    pub variant: &'static str,
}

impl Driver {
    /// The drivers as they are by default.
    pub const ALL: [Self; 3] = [Self::new("c"), Self::new("rust"), Self::new("rust-unsafe")];

    /// The drivers that check overflows and bounds.
    pub const CHECKED: [Self; 3] = [
        Self {
            name: "c",
            variant: "trapping-ubsan",
        },
        Self {
            name: "rust",
            variant: "overflow-checks",
        },
        Self {
            name: "rust-unsafe",
            variant: "overflow-checks",
        },
    ];

    const fn new(name: &'static str) -> Self {
        Self {
            name,
            variant: "default",
        }
    }

    fn library(self) -> Result<PathBuf> {
        let Self { name, variant } = self;
        match variant {
            "default" => built(&format!("bin/{name}/libports.so")),
            _ => built(&format!("variants/{variant}/{name}/libports.so")),
        }
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.name, self.variant)
    }
}

/// A server that runs.
pub struct Running {
    // The fields are dropped in this order: first the server, last the folder.
    server: Process,
    between: Process,
    backends: Option<Backends>,
    _inner: Option<Inner>,
    folder: TempDir,
}

impl Server {
    /// Starts the server with these arguments, and waits until it serves.
    ///
    /// # Errors
    /// If a program is missing, or does not start.
    pub fn start(&self, arguments: &[&str]) -> Result<Running> {
        self.start_under(&[], arguments)
    }

    /// The same, with an application over a driver as the argument of another program, such as valgrind.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn start_under(&self, wrapper: &[String], arguments: &[&str]) -> Result<Running> {
        match self {
            Self::Application {
                name: "balancer",
                over: Over::Driver(driver),
            } => start_balancer(*driver, wrapper, arguments),
            Self::Application {
                name,
                over: Over::Driver(driver),
            } => {
                let (card, folder) = start_card()?;
                give_address(INTERFACE, CLIENT_ADDRESS)?;
                let mut command = on_card(name, *driver, &folder, wrapper)?;
                command.args(arguments).arg(port_of(&folder));
                Ok(Running {
                    server: start_server(&mut command)?,
                    between: card,
                    backends: None,
                    _inner: None,
                    folder,
                })
            }
            Self::Application {
                name,
                over: Over::Kernel,
            } => start_on_kernel(None, |inner, folder| {
                let mut command = inner.command(built(&format!("bin/apps/{name}"))?);
                command.args(["--driver", "kernel", "--ip", SERVER_ADDRESS]);
                command.args(["--json", &path_of(folder, "server.json")]);
                Process::start_until(command.args(arguments), "ready", START)
            }),
            Self::Redis => start_on_kernel(None, |inner, folder| {
                // Debian has the server's code in this program of redis-tools, whose name decides what it is.
                let program = folder.path().join("redis-server");
                std::os::unix::fs::symlink("/usr/bin/redis-check-rdb", &program)?;
                let mut command = inner.command(program);
                command.args([
                    "--bind",
                    ADDRESS,
                    "--port",
                    "6379",
                    "--protected-mode",
                    "no",
                ]);
                command.args(["--save", "", "--appendonly", "no"]);
                command.arg("--dir").arg(folder.path()).args(arguments);
                Process::start_until_printed(&mut command, "", START).and_then(|server| {
                    wait_for_port(inner, 6379)?;
                    Ok(server)
                })
            }),
            Self::Nginx(program) => start_on_kernel(None, |inner, folder| {
                write_records(folder)?;
                let root = format!("root {};", folder.path().display());
                start_nginx(inner, folder, program, &root, "")
            }),
            Self::NginxProxy(program) => {
                let backends = Backends::start(CLIENT_ADDRESS)?;
                start_on_kernel(Some(backends), |inner, folder| {
                    let servers = BACKENDS.map(|(_, address)| format!("server {address}:80; "));
                    let upstream = format!("upstream web {{ {} keepalive 64; }}", servers.concat());
                    let location = "location / { proxy_pass http://web; proxy_http_version 1.1; \
                                    proxy_set_header Connection \"\"; }";
                    start_nginx(inner, folder, program, location, &upstream)
                })
            }
        }
    }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Application {
                over: Over::Driver(driver),
                ..
            } => driver.fmt(formatter),
            Self::Application { .. } => formatter.write_str("the kernel's sockets"),
            Self::Redis => formatter.write_str("redis-server"),
            Self::Nginx(_) | Self::NginxProxy(_) => formatter.write_str("nginx"),
        }
    }
}

fn path_of(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

fn start_card() -> Result<(Process, TempDir)> {
    let folder = tempfile::tempdir()?;
    let mut card = Command::new(built("bin/nic")?);
    card.arg("--socket-dir").arg(folder.path());
    card.args(["--ports", "2", "--wire", &format!("tap={INTERFACE}")]);
    let start = || Process::start_until_printed(&mut card, "ready", START);
    Ok((start_on_own(Role::Between, start)?, folder))
}

/// Starts an application over a driver, and waits until it serves.
fn start_server(command: &mut Command) -> Result<Process> {
    start_on_own(Role::Server, || {
        Process::start_until(command, "ready", START)
    })
}

fn port_of(folder: &TempDir) -> String {
    format!("vfio-user:{}", path_of(folder, "port0.sock"))
}

/// The start of the command of an application on the card.
fn on_card(name: &str, driver: Driver, folder: &TempDir, wrapper: &[String]) -> Result<Command> {
    let program = built(&format!("bin/apps/{name}"))?;
    let mut command = match wrapper {
        [] => Command::new(program),
        [wrapper, options @ ..] => {
            let mut command = Command::new(wrapper);
            command.args(options).arg(program);
            command
        }
    };
    command.arg("--driver").arg(driver.library()?);
    command.args([
        "--ip",
        SERVER_ADDRESS,
        "--json",
        &path_of(folder, "server.json"),
    ]);
    Ok(command)
}

fn start_balancer(driver: Driver, wrapper: &[String], arguments: &[&str]) -> Result<Running> {
    let backends = Backends::start(CLIENT_ADDRESS)?;
    let (card, folder) = start_card()?;
    backends.connect(INTERFACE)?;
    let config = path_of(&folder, "balancer.toml");
    fs::write(&config, CONFIG)?;
    let mut command = on_card("balancer", driver, &folder, wrapper)?;
    command.args(["--config", &config]).args(arguments);
    command.arg(port_of(&folder));
    let mut server = start_server(&mut command)?;
    for _ in BACKENDS {
        server.wait_for_line("backend ", START)?;
    }
    Ok(Running {
        server,
        between: card,
        backends: Some(backends),
        _inner: None,
        folder,
    })
}

fn start_on_kernel(
    backends: Option<Backends>,
    start: impl FnOnce(&Inner, &TempDir) -> Result<Process>,
) -> Result<Running> {
    const TAP: &str = "TUN,tun-type=tap,iff-no-pi,tun-name=";
    let folder = tempfile::tempdir()?;
    let inner = Inner::new()?;
    let mut socat = Command::new("socat");
    socat.args([format!("{TAP}{INTERFACE}"), format!("{TAP}t1")]);
    let between = start_on_own(Role::Between, || Process::start(&mut socat));
    let between = between.context("package socat")?;
    for interface in [INTERFACE, "t1"] {
        wait_until(interface, START, || is_there(interface))?;
        // Otherwise the kernel sends frames as soon as one is up. socat ends if the other one is still down.
        ip(&["link", "set", interface, "addrgenmode", "none"])?;
    }
    inner.adopt("t1", SERVER_ADDRESS)?;
    match &backends {
        Some(backends) => backends.connect(INTERFACE)?,
        None => give_address(INTERFACE, CLIENT_ADDRESS)?,
    }
    up(INTERFACE)?;
    let server = start_on_own(Role::Server, || start(&inner, &folder))?;
    Ok(Running {
        server,
        between,
        backends,
        _inner: Some(inner),
        folder,
    })
}

/// Whether this name space has an interface. /sys may show another one's.
fn is_there(interface: &str) -> bool {
    fs::read_to_string("/proc/self/net/dev").is_ok_and(|text| {
        text.lines()
            .any(|line| line.trim().starts_with(&format!("{interface}:")))
    })
}

/// Waits until something listens on a TCP port of the inner name space (proc(5), net/tcp).
fn wait_for_port(inner: &Inner, port: u16) -> Result<()> {
    let listens = format!(":{port:04X} 00000000:0000 0A");
    wait_until("the server's port", START, || {
        let table = inner.command("cat").arg("/proc/self/net/tcp").output();
        table.is_ok_and(|table| String::from_utf8_lossy(&table.stdout).contains(&listens))
    })
}

/// Writes the files that nginx serves, the same records as those of `http`.
fn write_records(folder: &TempDir) -> Result<()> {
    let records = folder.path().join("records");
    fs::create_dir(&records)?;
    for id in 1..=100 {
        let json = format!(
            r#"{{"id":{id},"name":"record {id}","value":{:.3}}}"#,
            f64::from(id) / 8.0
        );
        fs::write(records.join(id.to_string()), json)?;
    }
    Ok(())
}

/// Starts nginx with these directives for its server, and these beside it.
fn start_nginx(
    inner: &Inner,
    folder: &TempDir,
    program: &PathBuf,
    server: &str,
    beside: &str,
) -> Result<Process> {
    let path = folder.path().display();
    let config = format!(
        "daemon off; master_process off; pid {path}/pid; error_log {path}/error.log;\n\
         user root;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; default_type application/json; keepalive_requests 1000000;\n\
         client_body_temp_path {path}/1; proxy_temp_path {path}/2; fastcgi_temp_path {path}/3;\n\
         uwsgi_temp_path {path}/4; scgi_temp_path {path}/5;\n\
         open_file_cache max=1000;\n\
         {beside}\n\
         server {{ listen {ADDRESS}:80; {server} }} }}\n"
    );
    let file = folder.path().join("nginx.conf");
    fs::write(&file, config)?;
    let mut command = inner.command(program);
    command
        .arg("-c")
        .arg(file)
        .arg("-e")
        .arg(folder.path().join("error.log"));
    let server = Process::start(&mut command)?;
    wait_for_port(inner, 80)?;
    Ok(server)
}

impl Running {
    /// The server's processor time so far.
    ///
    /// # Errors
    /// If it has ended.
    pub fn server_time(&self) -> Result<CpuTime> {
        self.server.cpu_time()
    }

    /// The processor time so far of what carries the frames: the card or socat.
    ///
    /// # Errors
    /// If it has ended.
    pub fn between_time(&self) -> Result<CpuTime> {
        self.between.cpu_time()
    }

    /// The process that carries the frames.
    pub fn between(&self) -> &Process {
        &self.between
    }

    /// The backends of a balancer.
    pub fn backends(&mut self) -> Option<&mut Backends> {
        self.backends.as_mut()
    }

    /// The server's process.
    pub fn server(&mut self) -> &mut Process {
        &mut self.server
    }

    /// Ends the server in order, and what carries its frames. Returns its statistics, if it is one of our
    /// applications.
    ///
    /// # Errors
    /// If something does not end in order, or the statistics are of another kind.
    pub fn end<S: DeserializeOwned>(self) -> Result<Option<S>> {
        let Self {
            server,
            between,
            folder,
            ..
        } = self;
        server.end()?;
        drop(between);
        let file = folder.path().join("server.json");
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file)?;
        let statistics = serde_json::from_str(&text).with_context(|| text.clone())?;
        Ok(Some(statistics))
    }
}
