//! The configuration of one port and of a whole NIC.

use std::path::PathBuf;

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

/// One port.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PortConfig {
    /// The frames that arrive from the wire.
    pub traffic: Traffic,
    /// Lengths of the generated frames.
    pub sizes: FrameSizes,
    /// Number of flows of the generated frames, 1 to [`MAX_FLOWS`].
    pub flows: u16,
    /// The port whose received frames the driver should send here, if there is one.
    pub peer: Option<usize>,
    /// How closely the NIC checks those frames.
    pub verify: VerifyMode,
    /// The change that the driver should make to those frames.
    pub expected: Expected,
    /// PCI device id. The vendor id is Intel's, 0x8086.
    pub device_id: u16,
    /// The module in the SFP+ cage.
    pub module: Module,
    /// How the link comes up.
    pub link: LinkSettings,
    /// What an earlier driver left behind.
    pub left_behind: LeftBehind,
    /// The faults that the device shows.
    pub faults: Faults,
    /// In what the device differs from the model.
    pub hardware: Hardware,
    /// What is at the other end of the wire, besides the NIC's own traffic.
    pub wire: Option<WireTo>,
    /// Whether the NIC keeps sent frames for
    /// [`Port::take_transmitted`](crate::Port::take_transmitted) instead of checking them.
    pub capture: bool,
}

impl Default for PortConfig {
    fn default() -> Self {
        Self {
            traffic: Traffic::Off,
            sizes: FrameSizes::default(),
            flows: 1024,
            peer: None,
            verify: VerifyMode::Full,
            expected: Expected::default(),
            device_id: DEFAULT_DEVICE_ID,
            module: Module::default(),
            link: LinkSettings::default(),
            left_behind: LeftBehind::default(),
            faults: Faults::default(),
            hardware: Hardware::default(),
            wire: None,
            capture: false,
        }
    }
}

/// A whole NIC.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NicConfig {
    /// Directory of the sockets `port0.sock`, `port1.sock` and so on. The NIC makes it if it does
    /// not exist.
    pub socket_dir: PathBuf,
    /// The ports, at most [`MAX_PORTS`].
    pub ports: Vec<PortConfig>,
    /// How drivers reach the registers.
    pub mmio: MmioMode,
    /// Cables between ports.
    pub cables: Vec<Cable>,
    /// Where the NIC records register accesses.
    pub trace: TraceTo,
    /// The processor for the data plane's thread. By default the kernel chooses.
    pub cpu: Option<usize>,
    /// A processor for each of several data planes, in place of `cpu`. Ports that exchange frames, as peers
    /// or over a cable, share a data plane. Empty for one data plane.
    pub data_plane_cpus: Vec<usize>,
    /// Latency measurement, if wanted.
    pub latency: Option<MeasureLatency>,
    /// The bursts to time, if wanted.
    pub bursts: Option<Bursts>,
}

impl NicConfig {
    /// `ports` ports without traffic, with their sockets in `socket_dir`. Neighbours are peers: 0
    /// and 1, 2 and 3, and so on.
    pub fn new(socket_dir: impl Into<PathBuf>, ports: usize) -> Self {
        let ports = (0..ports)
            .map(|port| PortConfig {
                peer: Some(port ^ 1).filter(|peer| *peer < ports),
                ..PortConfig::default()
            })
            .collect();
        Self {
            socket_dir: socket_dir.into(),
            ports,
            mmio: MmioMode::default(),
            cables: Vec::new(),
            trace: TraceTo::default(),
            cpu: None,
            data_plane_cpus: Vec::new(),
            latency: None,
            bursts: None,
        }
    }

    /// Makes `change` to every port.
    #[must_use]
    pub fn with_each_port(mut self, change: impl FnMut(&mut PortConfig)) -> Self {
        self.ports.iter_mut().for_each(change);
        self
    }

    /// Sets how drivers reach the registers.
    #[must_use]
    pub fn with_mmio(mut self, mmio: MmioMode) -> Self {
        self.mmio = mmio;
        self
    }

    /// Adds a cable between two ports.
    #[must_use]
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
            let wire = &mut self.ports[port].wire;
            ensure!(
                wire.is_none(),
                "wire {}: port {port} has a wire already",
                end.to
            );
            *wire = Some(end.to.clone());
        }
        Ok(self)
    }

    /// Records register accesses.
    #[must_use]
    pub fn with_trace(mut self, trace: TraceTo) -> Self {
        self.trace = trace;
        self
    }

    /// Measures latency.
    #[must_use]
    pub fn with_latency(mut self, latency: MeasureLatency) -> Self {
        self.latency = Some(latency);
        self
    }

    /// The ports in groups: two ports that exchange frames, as peers or over a cable, are in one group.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let peers = self.ports.iter().enumerate();
        let peers = peers.filter_map(|(index, port)| Some((index, port.peer?)));
        let cables = self.cables.iter().map(|cable| (cable.a, cable.b));
        let mut groups: Vec<Vec<usize>> = (0..self.ports.len()).map(|port| vec![port]).collect();
        for (a, b) in peers.chain(cables) {
            let of = |port| groups.iter().position(|group| group.contains(&port));
            let (Some(first), Some(second)) = (of(a.min(b)), of(a.max(b))) else {
                continue;
            };
            if first != second {
                let moved = std::mem::take(&mut groups[first.max(second)]);
                groups[first.min(second)].extend(moved);
            }
        }
        groups.retain(|group| !group.is_empty());
        groups
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
