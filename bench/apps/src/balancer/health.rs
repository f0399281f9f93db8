//! Checks of the backends: a connection to each in turn, or a request of HTTP.

use std::cell::RefCell;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use smoltcp::iface::SocketHandle;
use smoltcp::phy::{Device as _, TxToken as _};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::HardwareAddress;

use super::config::{Config, HealthConfig, CHECK_PORTS};
use super::forwarder::Forwarder;
use super::neighbour;
use crate::driver::{Sort, Verdict};
use crate::stack::{Beside, Stack};

/// Bytes of the buffers of a check's socket. The request has to fit in.
const BUFFER: usize = 1024;

/// The start of a good answer, without the version's last digit: `HTTP/1.1 200`.
const STATUS: usize = 12;

/// Time between two looks at connections whose time may be over. Each may have a reset to send, and a thousand resets at
/// once would overflow a backend's queue, so the time is short.
const EXPIRY: Duration = Duration::from_millis(1);

/// The Ethernet address of a backend is asked for again after this time, long before the stack forgets it.
const NEIGHBOUR: Duration = Duration::from_secs(20);

/// What a check waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Its time.
    Idle,
    /// The Ethernet address of the backend.
    Neighbour,
    /// The connection.
    Connection,
    /// The answer to the request.
    Answer,
}

/// A backend's check.
struct Check {
    name: String,
    address: SocketAddrV4,
    handle: Option<SocketHandle>,
    step: Step,
    started: Instant,
    next: Instant,
    /// When the backend's Ethernet address is asked for again.
    ask: Instant,
    /// Results in a row that speak for a change.
    streak: u32,
    /// `None` before the first result.
    is_up: Option<bool>,
}

impl Check {
    /// Takes a result. Returns whether the backend is up now.
    fn judge(&mut self, succeeded: bool, config: &HealthConfig) -> bool {
        let (before, needed) = match self.is_up {
            Some(before) => (before, if before { config.fall } else { config.rise }),
            None => (!succeeded, 1),
        };
        self.streak = if succeeded == before {
            0
        } else {
            self.streak + 1
        };
        let is_up = if self.streak >= needed {
            succeeded
        } else {
            before
        };
        if self.is_up != Some(is_up) {
            self.streak = 0;
            let word = if is_up { "up" } else { "down" };
            eprintln!("backend {} is {word}", self.name);
        }
        self.is_up = Some(is_up);
        is_up
    }
}

/// The checks of all backends, beside the statistics on the balancer's port.
pub struct Health {
    forwarder: Rc<RefCell<Forwarder>>,
    /// The balancer's address.
    ip: Ipv4Addr,
    config: HealthConfig,
    checks: Vec<Check>,
    request: Option<Vec<u8>>,
    first_port: u16,
    next_port: u16,
    expired: Instant,
}

impl Health {
    /// The checks of a configuration. The first ones start at once.
    pub fn new(config: &Config, ip: Ipv4Addr, forwarder: &Rc<RefCell<Forwarder>>) -> Self {
        let now = Instant::now();
        let checks = config.backends.iter().map(|backend| Check {
            name: backend.name.clone(),
            address: backend.address,
            handle: None,
            step: Step::Idle,
            started: now,
            next: now,
            ask: now,
            streak: 0,
            is_up: None,
        });
        let request = config.health.path.as_ref().map(|path| {
            format!("GET {path} HTTP/1.1\r\nHost: backend\r\nConnection: close\r\n\r\n")
                .into_bytes()
        });
        Self {
            forwarder: Rc::clone(forwarder),
            ip,
            checks: checks.collect(),
            request,
            first_port: config.first_check_port(),
            next_port: 0,
            config: config.health.clone(),
            expired: now,
        }
    }

    /// Another port for each check, so that no backend still knows the last connection.
    fn port(&mut self) -> u16 {
        self.next_port = (self.next_port + 1) % CHECK_PORTS;
        self.first_port + self.next_port
    }

    /// Goes on with a check whose time is not over. Returns its result when there is one.
    fn look(&mut self, number: usize, check: &mut Check, stack: &mut Stack) -> Option<bool> {
        let socket = stack.sockets.get_mut::<Socket<'_>>(check.handle?);
        match check.step {
            Step::Idle => None,
            Step::Neighbour => {
                self.forwarder.borrow().mac_of(number)?;
                let port = self.port();
                let connects = socket.connect(stack.interface.context(), check.address, port);
                check.step = Step::Connection;
                connects.is_err().then_some(false)
            }
            Step::Connection => match (socket.state(), &self.request) {
                (State::SynSent | State::SynReceived, _) => None,
                (State::Closed, _) => Some(false),
                (_, None) => Some(true),
                (_, Some(request)) => {
                    check.step = Step::Answer;
                    let sent = socket.send_slice(request) == Ok(request.len());
                    (!sent).then_some(false)
                }
            },
            Step::Answer => {
                let answer = socket.peek(STATUS).unwrap_or_default();
                if answer.len() == STATUS {
                    return Some(answer.starts_with(b"HTTP/1.") && answer[8..10] == *b" 2");
                }
                (!socket.may_recv()).then_some(false)
            }
        }
    }

    /// Starts a check if its time has come.
    fn start_check(&self, check: &mut Check, stack: &mut Stack, now: Instant) -> bool {
        if check.step != Step::Idle || now < check.next {
            return false;
        }
        check.next = now + Duration::from_millis(self.config.interval_ms);
        check.started = now;
        check.step = Step::Neighbour;
        if now >= check.ask || check.is_up != Some(true) {
            check.ask = now + NEIGHBOUR;
            if let Some(token) = stack.device.transmit(StackInstant::now()) {
                let HardwareAddress::Ethernet(mac) = stack.interface.hardware_addr();
                let (own, ip) = (self.ip, *check.address.ip());
                token.consume(neighbour::SIZE, |frame| neighbour::ask(frame, mac, own, ip));
            }
        }
        true
    }

    /// Goes on with a check. Returns whether something happened.
    fn turn_check(
        &mut self,
        number: usize,
        check: &mut Check,
        stack: &mut Stack,
        now: Instant,
    ) -> bool {
        let late = Duration::from_millis(self.config.timeout_ms);
        let result = if check.step != Step::Idle && now - check.started >= late {
            Some(false)
        } else {
            self.look(number, check, stack)
        };
        if let (Some(succeeded), Some(handle)) = (result, check.handle) {
            // A reset: the backend shall not wait for us.
            stack.sockets.get_mut::<Socket<'_>>(handle).abort();
            check.step = Step::Idle;
            let is_up = check.judge(succeeded, &self.config);
            let mut forwarder = self.forwarder.borrow_mut();
            forwarder.set_health(number, succeeded, is_up);
        }
        // A socket that was just aborted has its reset to send first.
        result.is_some() || self.start_check(check, stack, now)
    }
}

/// The data path, which sorts the frames of the device.
struct Sorted(Rc<RefCell<Forwarder>>);

impl Sort for Sorted {
    fn decide(&mut self, frame: &mut [u8]) -> Verdict {
        self.0.borrow_mut().decide(frame)
    }

    fn has_own_frame(&self) -> bool {
        self.0.borrow().has_own_frame()
    }

    fn own_frame(&mut self) -> Option<Vec<u8>> {
        self.0.borrow_mut().own_frame()
    }
}

impl Beside for Health {
    fn start(&mut self, stack: &mut Stack) -> Result<()> {
        let HardwareAddress::Ethernet(mac) = stack.interface.hardware_addr();
        self.forwarder.borrow_mut().set_mac(mac);
        stack.device.sort_by(Sorted(Rc::clone(&self.forwarder)));
        for check in &mut self.checks {
            let buffer = || SocketBuffer::new(vec![0; BUFFER]);
            check.handle = Some(stack.add(Socket::new(buffer(), buffer())));
        }
        Ok(())
    }

    fn turn(&mut self, stack: &mut Stack, now: Instant) -> bool {
        if now - self.expired >= EXPIRY {
            self.expired = now;
            self.forwarder.borrow_mut().set_time(now);
        }
        let mut checks = std::mem::take(&mut self.checks);
        let mut busy = false;
        for (number, check) in checks.iter_mut().enumerate() {
            busy |= self.turn_check(number, check, stack, now);
        }
        self.checks = checks;
        busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check() -> Check {
        Check {
            name: "a".to_owned(),
            address: "10.0.0.11:80".parse().unwrap(),
            handle: None,
            step: Step::Idle,
            started: Instant::now(),
            next: Instant::now(),
            ask: Instant::now(),
            streak: 0,
            is_up: None,
        }
    }

    #[test]
    fn a_backend_needs_some_results_in_a_row_to_change() {
        let config = HealthConfig {
            rise: 2,
            fall: 3,
            ..HealthConfig::default()
        };
        let results = "+--+----+-++--";
        let states: String = {
            let mut check = check();
            let mut judge = |result| match check.judge(result == '+', &config) {
                true => 'U',
                false => 'D',
            };
            results.chars().map(&mut judge).collect()
        };
        assert_eq!(states, "UUUUUUDDDDDUUU");
    }

    #[test]
    fn the_first_result_counts_at_once() {
        for succeeded in [false, true] {
            assert_eq!(
                check().judge(succeeded, &HealthConfig::default()),
                succeeded
            );
        }
    }
}
