//! An address on a port: smoltcp's interface with its device, and the rests between its turns.

use std::net::Ipv4Addr;
use std::path::Path;
use std::rc::Rc;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use smoltcp::iface::{
    Config, Interface, PollIngressSingleResult, PollResult, SocketHandle, SocketSet,
};
use smoltcp::socket::AnySocket;
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr, Ipv4Cidr};

use super::device::Device;
use crate::driver::{Port, PortConfig, PortStats};
use crate::run::Run;
use crate::statistics::Statistics;

/// Frames that a turn receives. Then the connections get their turn, even in a flood.
const INGRESS_FRAMES: usize = 64;

/// Frames that a connection sends in a turn.
const EGRESS_ROUNDS: usize = 64;

/// Turns without a frame, after which the program sleeps until an interrupt.
const IDLE_TURNS: u32 = 32;

/// The longest sleep, so that signals and limits are noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// Time between two looks at the device.
const CHECK: Duration = Duration::from_secs(1);

/// An IPv4 address with the length of its network's prefix: `10.0.0.2/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: Ipv4Addr,
    /// Bits of the network.
    pub prefix: u8,
}

impl Address {
    /// Whether another address is in the same network.
    pub fn contains(&self, other: Ipv4Addr) -> bool {
        Ipv4Cidr::new(self.ip, self.prefix).contains_addr(&other)
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (ip, prefix) = text.split_once('/').unwrap_or((text, "24"));
        let wrong = || format!("'{text}' is no address such as 10.0.0.2/24");
        let ip: Ipv4Addr = ip.parse().map_err(|_| wrong())?;
        let prefix = prefix
            .parse()
            .ok()
            .filter(|prefix| (1..=30).contains(prefix));
        if ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast() || ip.is_loopback() {
            return Err(format!("{ip} cannot be the address of a port"));
        }
        Ok(Self {
            ip,
            prefix: prefix.ok_or_else(wrong)?,
        })
    }
}

/// An interface that runs on a port.
pub struct Stack {
    pub(crate) interface: Interface,
    pub(crate) device: Device,
    pub(crate) sockets: SocketSet<'static>,
    port: Rc<Port>,
    sleeps: bool,
    idle_turns: u32,
    checked: Instant,
    stats: PortStats,
}

impl Stack {
    /// Opens the port and gives it an address.
    pub(super) fn open(
        library: &Path,
        config: &PortConfig,
        address: Address,
        gateway: Option<Ipv4Addr>,
    ) -> Result<Self> {
        let port = Port::open(library, config)?;
        let stats = port.stats()?;
        if stats.ordinary_pages != 0 {
            eprintln!(
                "warning: too few huge pages of 2 MiB are free, using ordinary pages, which are \
                 slower; `make hugepages` reserves some"
            );
        }
        let mut device = Device::new(&port);
        let mut own = Config::new(HardwareAddress::Ethernet(EthernetAddress(port.mac()?)));
        own.random_seed = seed()?;
        let mut interface = Interface::new(own, &mut device, StackInstant::now());
        let cidr = IpCidr::Ipv4(Ipv4Cidr::new(address.ip, address.prefix));
        let mut full = Ok(());
        interface.update_ip_addrs(|addresses| full = addresses.push(cidr));
        full.map_err(|_| anyhow!("no room for the address"))?;
        if let Some(gateway) = gateway {
            interface
                .routes_mut()
                .add_default_ipv4_route(gateway)
                .map_err(|_| anyhow!("no room for the route to {gateway}"))?;
        }
        Ok(Self {
            interface,
            device,
            sockets: SocketSet::new(Vec::new()),
            port,
            sleeps: config.interrupts,
            idle_turns: 0,
            checked: Instant::now(),
            stats,
        })
    }

    /// Adds a socket.
    pub(crate) fn add(&mut self, socket: impl AnySocket<'static>) -> SocketHandle {
        self.sockets.add(socket)
    }

    /// Receives frames. Returns whether there were any.
    pub(super) fn receive(&mut self) -> bool {
        let now = StackInstant::now();
        let Self {
            interface,
            device,
            sockets,
            ..
        } = self;
        device.begin_turn();
        let sorted = device.sorted;
        let mut frames = 0;
        while frames < INGRESS_FRAMES
            && interface.poll_ingress_single(now, device, sockets) != PollIngressSingleResult::None
        {
            frames += 1;
        }
        frames > 0 || device.sorted > sorted
    }

    /// Sends what the sockets have to send. Returns whether there was anything.
    pub(super) fn send(&mut self) -> bool {
        let now = StackInstant::now();
        let Self {
            interface,
            device,
            sockets,
            ..
        } = self;
        let mut rounds = 0;
        while rounds < EGRESS_ROUNDS
            && interface.poll_egress(now, device, sockets) != PollResult::None
        {
            rounds += 1;
        }
        device.flush();
        rounds > 0
    }

    /// Ends a turn: sleeps if nothing happens, and looks at the device. Returns whether the run is over.
    pub(super) fn rest(&mut self, busy: bool, run: &Run) -> Result<bool> {
        self.idle_turns = if busy { 0 } else { self.idle_turns + 1 };
        if self.idle_turns > IDLE_TURNS && !self.device.is_held_up() {
            if self.sleeps {
                self.sleep(run)?;
            } else {
                std::thread::yield_now();
            }
            self.idle_turns = 0;
        }
        if self.checked.elapsed() >= CHECK {
            self.stats = self.port.stats()?;
            self.checked = Instant::now();
        }
        Ok(run.is_over())
    }

    fn sleep(&mut self, run: &Run) -> Result<()> {
        let delay = self
            .interface
            .poll_delay(StackInstant::now(), &self.sockets)
            .map_or(LONGEST_SLEEP, Into::into);
        let longest = delay.min(LONGEST_SLEEP).min(run.left());
        let milliseconds = longest.as_micros().div_ceil(1000);
        if milliseconds > 0 {
            self.port.wait(milliseconds as u32)?;
        }
        Ok(())
    }

    /// Sends what is left, stops the port, and adds its counters to the statistics.
    pub(super) fn close(mut self, statistics: &mut Statistics) -> Result<()> {
        self.send();
        let read = self.port.stats();
        if let Ok(stats) = read {
            self.stats = stats;
        }
        statistics.frames_received = self.device.received;
        statistics.syn_dropped = self.device.syn_dropped;
        statistics.checksum_errors = self.device.checksum_errors;
        statistics.interrupts = self.stats.interrupts;
        statistics.sleeps = self.stats.sleeps;
        statistics.port_rx_packets = self.stats.rx_packets;
        statistics.port_tx_packets = self.stats.tx_packets;
        drop(self.device);
        read.map(drop).and(self.port.close())
    }
}

/// A seed that a client cannot guess, for ports and sequence numbers.
fn seed() -> Result<u64> {
    let mut seed = [0; 8];
    std::io::Read::read_exact(
        &mut std::fs::File::open("/dev/urandom").context("/dev/urandom")?,
        &mut seed,
    )?;
    Ok(u64::from_ne_bytes(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_prefix_of_24_bits_by_default() {
        let address: Address = "10.0.0.2".parse().unwrap();
        assert_eq!(
            (address.ip, address.prefix),
            (Ipv4Addr::new(10, 0, 0, 2), 24)
        );
        assert_eq!("10.0.0.2/8".parse::<Address>().unwrap().prefix, 8);
    }

    #[test]
    fn an_address_that_no_port_can_have_is_refused() {
        for text in [
            "",
            "10.0.0",
            "10.0.0.2/",
            "10.0.0.2/33",
            "10.0.0.2/x",
            "::1",
            "0.0.0.0",
            "224.0.0.1",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
