//! The configuration of one port and of a whole NIC.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::config::bursts::Bursts;
use crate::config::faults::Faults;
use crate::config::hardware::Hardware;
use crate::config::link::{LeftBehind, LinkSettings, Module};
use crate::config::settings::{
    Expected, FrameSizes, MeasureLatency, MmioMode, TraceTo, Traffic, VerifyMode,
};
use crate::config::wires::{Cable, WireEnd, WireTo};
use crate::error::{ensure, ConfigError};

/// Most ports of one NIC.
pub const MAX_PORTS: usize = 16;
/// Most flows of one port's traffic.
pub const MAX_FLOWS: u16 = 60_000;
/// Most frames of a port that traffic with a window leaves with the driver at a time.
pub const MAX_WINDOW: u32 = 1 << 16;
/// PCI device id of an 82599ES with SFP+ (X520).
pub const DEFAULT_DEVICE_ID: u16 = 0x10fb;
/// Modelled receive queues, and modelled transmit queues, of a port: 0 to 15.
pub const QUEUES: usize = 16;

/// One port. The command `nic` takes the fields as options, and the options' defaults are the fields'.
#[derive(Clone, Debug, PartialEq, Parser)]
#[non_exhaustive]
pub struct PortConfig {
    /// Frames that arrive at every port: off, saturate (one for every free descriptor),
    /// window=FRAMES (the same, while at most FRAMES have not come back), or rate=MPPS
    #[arg(long, value_name = "TRAFFIC", default_value = "off")]
    pub traffic: Traffic,
    /// Frame size in bytes without CRC, 60 to 1514; MIN-MAX or A,B,C for several sizes in turn
    #[arg(long = "size", value_name = "BYTES", default_value = "60")]
    pub sizes: FrameSizes,
    /// Number of flows that the frames belong to
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub flows: u16,
    /// The port whose received frames the driver should send here, if there is one.
    #[arg(skip)]
    pub peer: Option<usize>,
    /// Checks of the frames that come back: full (every byte), sequence (numbers only), or off
    #[arg(long, value_enum, value_name = "HOW", default_value = "full")]
    pub verify: VerifyMode,
    /// Change that drivers make to frames: touch (byte 1 goes up by one), touch@N (byte N does, 0 to
    /// 59), mac (new addresses, as testpmd's forward mode mac writes them) or none
    #[arg(long = "expect", value_name = "CHANGE", default_value = "touch")]
    pub expected: Expected,
    /// Module in the SFP+ cages: dac (a direct-attach cable), sr (an optical module) or none
    #[arg(long, value_enum, value_name = "MODULE", default_value = "dac")]
    pub module: Module,
    /// How the link comes up.
    #[command(flatten)]
    pub link: LinkSettings,
    /// What an earlier driver left behind, separated by commas: laser-off, link-disabled,
    /// rate-limited=MBIT, phy-off
    #[arg(
        long,
        value_name = "STATES",
        default_value = "",
        hide_default_value = true
    )]
    pub left_behind: LeftBehind,
    /// PCI device id, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = device_id, default_value = "10fb")]
    pub device_id: u16,
    /// The faults that the device shows.
    #[arg(skip)]
    pub faults: Faults,
    /// In what the card differs from the model where sources about real cards disagree: datasheet (nothing),
    /// differs (everything that drivers/nic/hardware.toml lists), or FILE.toml with a profile
    #[arg(long, value_name = "PROFILE", default_value = "datasheet")]
    pub hardware: Hardware,
    /// What is at the other end of the wire, besides the NIC's own traffic.
    #[arg(skip)]
    pub wire: Option<WireTo>,
    /// Whether the NIC keeps sent frames for
    /// [`Port::take_transmitted`](crate::Port::take_transmitted) instead of checking them.
    #[arg(skip)]
    pub capture: bool,
}

fn device_id(text: &str) -> Result<u16, &'static str> {
    u16::from_str_radix(text.trim_start_matches("0x"), 16)
        .map_err(|_| "write up to four hexadecimal digits, such as 10fb")
}

/// A whole NIC. The command `nic` takes the fields as options.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[non_exhaustive]
#[must_use]
pub struct NicConfig {
    /// Directory for the sockets port0.sock, port1.sock, ...; made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub socket_dir: PathBuf,
    /// The ports, at most [`MAX_PORTS`].
    #[arg(skip)]
    pub ports: Vec<PortConfig>,
    /// Register access: shared (queue registers are shared memory) or trap (every access is a
    /// message)
    #[arg(long, value_enum, value_name = "MODE", default_value = "shared")]
    pub mmio: MmioMode,
    /// Cable between two ports: each receives the frames that the other sends, unchecked; may be
    /// repeated
    #[arg(long = "cable", value_name = "A:B")]
    pub cables: Vec<Cable>,
    /// Record every register access in FILE; shared mode does not see accesses to queue registers
    #[arg(long, value_name = "FILE")]
    pub trace: Option<TraceTo>,
    /// Processor for the data plane
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// Processors for several data planes, such as 0,2: ports that exchange frames share one
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "cpu"
    )]
    pub data_plane_cpus: Vec<usize>,
    /// Latency measurement, if wanted.
    #[arg(skip)]
    pub latency: Option<MeasureLatency>,
    /// Time bursts of packets, and write "bursts done" to standard output after the last one: default, or
    /// some of rounds=N (4), bursts=N of a round (320), seed=N (1), saturate=S (1.6: seconds with as many
    /// frames as the driver takes, before the first burst)
    #[arg(long = "burst", value_name = "SETTINGS")]
    pub bursts: Option<Bursts>,
}

impl NicConfig {
    /// `ports` ports without traffic, with their sockets in `socket_dir`. Neighbours are peers: 0
    /// and 1, 2 and 3, and so on.
    pub fn new(socket_dir: impl Into<PathBuf>, ports: usize) -> Self {
        let socket_dir = socket_dir.into();
        let config = Self {
            socket_dir,
            ..Self::default()
        };
        config.with_ports(ports, &PortConfig::parse_from::<_, &str>([]))
    }

    /// Makes `count` ports like this one. Neighbours are peers: 0 and 1, 2 and 3, and so on.
    pub fn with_ports(mut self, count: usize, like: &PortConfig) -> Self {
        let port = |port: usize| PortConfig {
            peer: Some(port ^ 1).filter(|peer| *peer < count),
            ..like.clone()
        };
        self.ports = (0..count).map(port).collect();
        self
    }

    /// Makes `change` to every port.
    pub fn with_each_port(mut self, change: impl FnMut(&mut PortConfig)) -> Self {
        self.ports.iter_mut().for_each(change);
        self
    }

    /// Sets how drivers reach the registers.
    pub fn with_mmio(mut self, mmio: MmioMode) -> Self {
        self.mmio = mmio;
        self
    }

    /// Adds a cable between two ports.
    pub fn with_cable(mut self, a: usize, b: usize) -> Self {
        self.cables.push(Cable { a, b });
        self
    }

    /// Puts TAP interfaces and files at the other ends of wires. An end without a port belongs to the next port
    /// that has none.
    ///
    /// # Errors
    /// If there is no such port, or it has a wire already.
    pub fn with_wires(mut self, ends: &[WireEnd]) -> Result<Self, ConfigError> {
        for end in ends {
            let free = self.ports.iter().position(|port| port.wire.is_none());
            let port = end.port.or(free).unwrap_or(self.ports.len());
            self.check_number("wire", &end.to, port)?;
            let (wire, to) = (&mut self.ports[port].wire, &end.to);
            ensure!(wire.is_none() => "wire {to}: port {port} has a wire already";);
            *wire = Some(to.clone());
        }
        Ok(self)
    }

    /// Records register accesses.
    pub fn with_trace(mut self, trace: TraceTo) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Measures latency.
    pub fn with_latency(mut self, latency: MeasureLatency) -> Self {
        self.latency = Some(latency);
        self
    }

    /// The ports in groups: two ports that exchange frames, as peers or over a cable, are in one group.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let count = self.ports.len();
        let peers = self.ports.iter().enumerate();
        let peers = peers.filter_map(|(index, port)| Some((index, port.peer?)));
        let cables = self.cables.iter().map(|cable| (cable.a, cable.b));
        // A group has the number of its first port.
        let mut group_of: Vec<_> = (0..count).collect();
        for (a, b) in peers.chain(cables) {
            let (a, b) = (group_of[a], group_of[b]);
            let joined = group_of.iter_mut().filter(|group| **group == a.max(b));
            joined.for_each(|group| *group = a.min(b));
        }
        let members = |first| (0..count).filter(|port| group_of[*port] == first).collect();
        let groups = (0..count).map(members);
        groups.filter(|group: &Vec<_>| !group.is_empty()).collect()
    }

    /// The ports of each data plane.
    pub(crate) fn planes(&self) -> Vec<Vec<usize>> {
        if self.data_plane_cpus.is_empty() {
            return vec![(0..self.ports.len()).collect()];
        }
        let mut planes = vec![Vec::new(); self.data_plane_cpus.len()];
        for (nth, group) in self.groups().into_iter().enumerate() {
            let plane = nth % planes.len();
            planes[plane].extend(group);
        }
        planes
    }
}

#[cfg(test)]
#[test]
fn ports_that_exchange_frames_share_a_data_plane() {
    let mut config = NicConfig::new("sockets", 6);
    assert_eq!(config.groups(), [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(config.planes(), [[0, 1, 2, 3, 4, 5]]);
    config.data_plane_cpus = vec![7, 3];
    assert_eq!(config.planes(), [vec![0, 1, 4, 5], vec![2, 3]]);
    config.cables = vec![Cable { a: 5, b: 0 }];
    assert_eq!(config.groups(), [vec![0, 1, 4, 5], vec![2, 3]]);
    // A port without a peer is a group of its own.
    config.ports.iter_mut().for_each(|port| port.peer = None);
    config.cables.clear();
    assert_eq!(config.groups().len(), 6);
    assert_eq!(NicConfig::new("sockets", 3).groups(), [vec![0, 1], vec![2]]);
}
