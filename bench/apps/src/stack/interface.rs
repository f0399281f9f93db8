//! An address on a port: smoltcp's interface with its device, and the rests between its turns.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::rc::Rc;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{anyhow, Context, Result};
use smoltcp::iface::{Config, Interface, PollResult, SocketSet};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol,
    HardwareAddress, IpCidr, Ipv4Cidr,
};

use super::device::Device;
use crate::driver::{Port, PortConfig, PortStats};
use crate::run::Run;
use crate::statistics::Statistics;

/// Frames that a turn receives. Then the connections get their turn, even in a flood.
pub(super) const TURN_FRAMES: usize = 64;

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

/// What a port is opened with.
pub struct PortOptions {
    /// The driver's library.
    pub library: PathBuf,
    /// The port.
    pub port: PortConfig,
    /// Its address.
    pub address: Address,
    /// The router to other networks.
    pub gateway: Option<Ipv4Addr>,
}

/// An interface that runs on a port.
pub struct Stack {
    pub(super) interface: Interface,
    pub(super) device: Device,
    /// Sockets that are no connections. They see all frames that belong to none.
    pub(super) others: SocketSet<'static>,
    port: Rc<Port>,
    sleeps: bool,
    idle_turns: u32,
    checked: Instant,
    stats: PortStats,
}

impl Stack {
    /// Opens the port and gives it an address.
    pub(super) fn open(options: &PortOptions) -> Result<Self> {
        let port = Port::open(&options.library, &options.port)?;
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
        let Address { ip, prefix } = options.address;
        let mut full = Ok(());
        interface.update_ip_addrs(|addresses| {
            full = addresses.push(IpCidr::Ipv4(Ipv4Cidr::new(ip, prefix)));
        });
        full.map_err(|_| anyhow!("no room for the address"))?;
        if let Some(gateway) = options.gateway {
            interface
                .routes_mut()
                .add_default_ipv4_route(gateway)
                .map_err(|_| anyhow!("no room for the route to {gateway}"))?;
        }
        Ok(Self {
            interface,
            device,
            others: SocketSet::new(Vec::new()),
            port,
            sleeps: options.port.interrupts,
            idle_turns: 0,
            checked: Instant::now(),
            stats,
        })
    }

    /// The Ethernet address of the port.
    pub(super) fn mac(&self) -> EthernetAddress {
        let HardwareAddress::Ethernet(mac) = self.interface.hardware_addr();
        mac
    }

    /// Asks for the Ethernet address of a host. The answer reaches the interface as any other frame.
    pub(super) fn ask_for(&mut self, ip: Ipv4Addr) {
        let Some(own) = self.interface.ipv4_addr() else {
            return;
        };
        let mac = self.mac();
        let question = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: mac,
            source_protocol_addr: own,
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: ip,
        };
        let size = EthernetFrame::<&[u8]>::buffer_len(question.buffer_len());
        self.device.put(size, |bytes| {
            let mut frame = EthernetFrame::new_unchecked(bytes);
            frame.set_src_addr(mac);
            frame.set_dst_addr(EthernetAddress::BROADCAST);
            frame.set_ethertype(EthernetProtocol::Arp);
            question.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
        });
    }

    /// Gives the next frame to some sockets, or to the others.
    pub(super) fn receive(&mut self, sockets: Option<&mut SocketSet<'static>>) {
        let sockets = sockets.unwrap_or(&mut self.others);
        self.interface
            .poll_ingress_single(StackInstant::now(), &mut self.device, sockets);
    }

    /// Sends what some sockets, or the others, have to send, at most so many frames.
    pub(super) fn send(&mut self, sockets: Option<&mut SocketSet<'static>>, frames: usize) {
        let now = StackInstant::now();
        let sockets = sockets.unwrap_or(&mut self.others);
        for _ in 0..frames {
            if self.interface.poll_egress(now, &mut self.device, sockets) == PollResult::None {
                break;
            }
        }
    }

    /// Ends a turn: sends what is written, sleeps if nothing happens, and looks at the device. `delay_of_connections` is the
    /// time until one of them has something to do.
    pub(super) fn rest(
        &mut self,
        busy: bool,
        run: &Run,
        delay_of_connections: impl FnOnce(&mut Interface) -> Duration,
    ) -> Result<()> {
        self.device.flush();
        self.idle_turns = if busy { 0 } else { self.idle_turns + 1 };
        if self.idle_turns > IDLE_TURNS && !self.device.is_held_up() {
            if self.sleeps {
                let longest = delay(&mut self.interface, &self.others)
                    .min(delay_of_connections(&mut self.interface))
                    .min(LONGEST_SLEEP);
                let milliseconds = longest.min(run.left()).as_micros().div_ceil(1000);
                if milliseconds > 0 {
                    self.port.wait(milliseconds as u32)?;
                }
            } else {
                std::thread::yield_now();
            }
            self.idle_turns = 0;
        }
        if self.checked.elapsed() >= CHECK {
            self.stats = self.port.stats()?;
            self.checked = Instant::now();
        }
        Ok(())
    }

    /// Stops the port, and adds its counters to the statistics.
    pub(super) fn close(mut self, statistics: &mut Statistics) -> Result<()> {
        self.device.flush();
        let read = self.port.stats();
        if let Ok(stats) = read {
            self.stats = stats;
        }
        statistics.frames_received = self.device.received;
        statistics.interrupts = self.stats.interrupts;
        statistics.sleeps = self.stats.sleeps;
        statistics.port_rx_packets = self.stats.rx_packets;
        statistics.port_tx_packets = self.stats.tx_packets;
        drop(self.device);
        read.map(drop).and(self.port.close())
    }
}

/// The time until some sockets have something to do.
pub(super) fn delay(interface: &mut Interface, sockets: &SocketSet<'_>) -> Duration {
    interface
        .poll_delay(StackInstant::now(), sockets)
        .map_or(LONGEST_SLEEP, Into::into)
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
