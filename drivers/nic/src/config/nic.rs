//! The configuration of one port and of a whole NIC.

use std::path::{Path, PathBuf};

use crate::config::bursts::Bursts;
use crate::config::error::ConfigError;
use crate::config::faults::Faults;
use crate::config::hardware::Hardware;
use crate::config::left_behind::LeftBehind;
use crate::config::link::LinkSettings;
use crate::config::settings::{
    Cable, Expected, FrameSizes, MeasureLatency, MmioMode, Module, TraceTo, Traffic, VerifyMode,
    WireEnd, WireTo,
};
use crate::device::families::{family_of, Family, Medium};
use crate::traffic::frame::MIN_FRAME;

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

impl PortConfig {
    /// Whether the port's wire reads or writes a file.
    fn uses(&self, file: &Path) -> bool {
        let is = |path: &Option<PathBuf>| path.as_deref() == Some(file);
        matches!(&self.wire, Some(WireTo::Pcap { input, output }) if is(input) || is(output))
    }
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
            let count = self.ports.len();
            let port = end.port.or(free).and_then(|port| self.ports.get_mut(port));
            let Some(port) = port else {
                return Err(ConfigError(format!("wire {end}: {}", numbering(count))));
            };
            if port.wire.is_some() {
                return Err(ConfigError(format!(
                    "wire {end}: the port has a wire already"
                )));
            }
            port.wire = Some(end.to.clone());
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

    /// Checks that the settings fit together.
    pub fn check(&self) -> Result<(), ConfigError> {
        let count = self.ports.len();
        if count == 0 || count > MAX_PORTS {
            return Err(ConfigError(format!(
                "{count} ports: there must be 1 to {MAX_PORTS}"
            )));
        }
        for (index, port) in self.ports.iter().enumerate() {
            port.check(count)
                .map_err(|error| ConfigError(format!("port {index}: {error}")))?;
            self.check_window(index)?;
        }
        if self.latency.is_some() {
            self.check_latency()?;
        }
        if let Some(bursts) = &self.bursts {
            self.check_bursts(bursts)?;
        }
        self.check_wires()?;
        self.check_cables()?;
        self.check_data_planes()
    }

    /// Checks that the NIC can time bursts, and that this processor can place lines.
    fn check_bursts(&self, bursts: &Bursts) -> Result<(), ConfigError> {
        let refuse = |text: &str| Err(ConfigError(format!("burst: {text}")));
        if self.ports.len() != 2 || self.planes().len() != 1 {
            return refuse("bursts go to two ports of one data plane; choose --ports 2");
        }
        let wired = self.ports.iter().any(|port| port.wire.is_some());
        if wired || !self.cables.is_empty() {
            return refuse("the frames that are sent must leave the card; remove cables and wires");
        }
        if self.ports.iter().any(|port| port.traffic != Traffic::Off) {
            return refuse("the card makes its own frames; choose --traffic off");
        }
        if self.mmio != MmioMode::Shared {
            return refuse("the card reads tails from memory; choose --mmio shared");
        }
        for placement in &bursts.placements {
            placement
                .check()
                .map_err(|error| ConfigError(format!("placement {placement:?}: {error}")))?;
        }
        Ok(())
    }

    /// Checks that each data plane has ports.
    fn check_data_planes(&self) -> Result<(), ConfigError> {
        let (planes, groups) = (self.data_plane_cpus.len(), self.groups().len());
        if planes > groups {
            return Err(ConfigError(format!(
                "--data-plane-cpus names {planes} processors, but the ports form {groups} groups that \
                 exchange no frames with each other; raise --ports or name fewer processors"
            )));
        }
        Ok(())
    }

    /// The ports in groups: two ports that exchange frames, as peers or over a cable, are in one group.
    fn groups(&self) -> Vec<Vec<usize>> {
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

    /// Checks that the card sees the frames of a port with a window come back.
    fn check_window(&self, index: usize) -> Result<(), ConfigError> {
        let Traffic::Window { frames } = self.ports[index].traffic else {
            return Ok(());
        };
        if frames == 0 || frames > MAX_WINDOW {
            return Err(ConfigError(format!(
                "port {index}: a window has 1 to {MAX_WINDOW} frames, not {frames}"
            )));
        }
        let checks = |(at, port): (usize, &PortConfig)| {
            let on_a_cable = self
                .cables
                .iter()
                .any(|cable| cable.a == at || cable.b == at);
            port.peer == Some(index) && port.checks_frames() && !on_a_cable
        };
        if !self.ports.iter().enumerate().any(checks) {
            return Err(ConfigError(format!(
                "port {index}: traffic with a window needs a port that checks the returning frames; \
                 use two ports, and verify full or sequence, without capture or cables"
            )));
        }
        Ok(())
    }

    /// Checks that latency can be measured: frames need due times, and the NIC must recognize them
    /// when they come back.
    fn check_latency(&self) -> Result<(), ConfigError> {
        for (index, port) in self.ports.iter().enumerate() {
            if matches!(port.traffic, Traffic::Saturate | Traffic::Window { .. }) {
                return Err(ConfigError(format!(
                    "port {index}: traffic without a rate has no due times to measure latency from; use rate=MPPS"
                )));
            }
            if !port.checks_frames() {
                return Err(ConfigError(format!(
                    "port {index}: latency needs frames that are checked; use verify full or sequence, without capture"
                )));
            }
        }
        match self.cables.first() {
            Some(cable) => Err(ConfigError(format!(
                "cable {cable}: latency needs frames that are checked, and frames on a cable are not; remove the cable or the latency measurement"
            ))),
            None => Ok(()),
        }
    }

    /// Checks that a port with an interface or files has no other source of frames, and that no two ports
    /// have the same interface or write to the same file.
    fn check_wires(&self) -> Result<(), ConfigError> {
        for (index, port) in self.ports.iter().enumerate() {
            let Some(wire) = &port.wire else { continue };
            let refuse =
                |text: &str| Err(ConfigError(format!("port {index}: wire {wire}: {text}")));
            if port.traffic != Traffic::Off {
                return refuse("its frames come from there; choose traffic off");
            }
            if self
                .cables
                .iter()
                .any(|cable| cable.a == index || cable.b == index)
            {
                return refuse("the port has a cable; remove one of the two");
            }
            let others = self.ports.iter().enumerate();
            let mut others = others.filter(|(other, _)| *other != index);
            match wire {
                WireTo::Tap(_) if others.any(|(_, other)| other.wire == port.wire) => {
                    return refuse("another port has this interface");
                }
                WireTo::Pcap {
                    output: Some(file), ..
                } if others.any(|(_, other)| other.uses(file)) => {
                    return refuse("another port has the file OUT too; choose another one");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks that cables end at ports that exist, and at most one cable at each.
    fn check_cables(&self) -> Result<(), ConfigError> {
        let count = self.ports.len();
        let mut taken = vec![false; count];
        for cable in &self.cables {
            let ends = if cable.a == cable.b {
                vec![cable.a]
            } else {
                vec![cable.a, cable.b]
            };
            for end in ends {
                let Some(taken) = taken.get_mut(end) else {
                    return Err(ConfigError(format!("cable {cable}: {}", numbering(count))));
                };
                if std::mem::replace(taken, true) {
                    return Err(ConfigError(format!(
                        "cable {cable}: port {end} has a cable already"
                    )));
                }
            }
        }
        Ok(())
    }
}

impl PortConfig {
    /// Whether the NIC checks the frames that the driver sends here.
    fn checks_frames(&self) -> bool {
        self.verify != VerifyMode::Off && !self.capture
    }

    /// Checks the settings of one of `count` ports.
    fn check(&self, count: usize) -> Result<(), ConfigError> {
        let family = family_of(self.device_id).map_err(|error| ConfigError(error.to_string()))?;
        if family.medium != Medium::SfpCage && self.module != Module::default() {
            return Err(ConfigError(format!(
                "the {} has no SFP+ cage for a module",
                family.name
            )));
        }
        self.check_link(family)?;
        if self.flows == 0 || self.flows > MAX_FLOWS {
            let flows = self.flows;
            return Err(ConfigError(format!(
                "{flows} flows: there must be 1 to {MAX_FLOWS}"
            )));
        }
        if let Some(peer) = self.peer.filter(|peer| *peer >= count) {
            return Err(ConfigError(format!("peer {peer}: {}", numbering(count))));
        }
        if let Expected::Touch(byte) = self.expected {
            if usize::from(byte) >= MIN_FRAME {
                return Err(ConfigError(format!(
                    "touched byte {byte}: must be 0 to 59, because the smallest frames have 60 bytes"
                )));
            }
        }
        match self.traffic {
            Traffic::Rate { mpps } if !(mpps > 0.0 && mpps <= 1000.0) => Err(ConfigError(format!(
                "rate {mpps}: must be above 0 and at most 1000 Mpps"
            ))),
            _ => Ok(()),
        }
    }
}

impl PortConfig {
    /// Checks that a card of this family can have such a link, and be left behind so.
    fn check_link(&self, family: &Family) -> Result<(), ConfigError> {
        let name = family.name;
        let refuse = |text: String| Err(ConfigError(text));
        let cage = family.medium == Medium::SfpCage;
        let speed = self.link.speed;
        if !family.speeds.contains(&speed) {
            let mbit = speed.mbit();
            return refuse(format!("the {name} has no links of {mbit} Mbit/s"));
        }
        if self.link.attempts > 1 && !cage {
            return refuse(format!(
                "link attempts: the link of the {name} does not depend on resets"
            ));
        }
        let earlier = self.left_behind;
        if earlier.laser_off && self.module != Module::Sr {
            return refuse("laser-off: only the optical module sr has a laser".to_owned());
        }
        if earlier.link_disabled && !cage {
            return refuse(format!("link-disabled: the {name} has no AUTOC2"));
        }
        if earlier.phy_off && cage {
            return refuse(format!("phy-off: the {name} has no copper PHY"));
        }
        Ok(())
    }
}

/// Says how `count` ports are numbered, for error messages.
fn numbering(count: usize) -> String {
    format!("ports are numbered 0 to {}", count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::link::LinkSpeed;

    #[test]
    fn ports_that_exchange_frames_share_a_data_plane() {
        let mut config = NicConfig::new("sockets", 6);
        assert_eq!(config.groups(), [[0, 1], [2, 3], [4, 5]]);
        assert_eq!(config.planes(), [[0, 1, 2, 3, 4, 5]]);
        config.data_plane_cpus = vec![7, 3];
        assert_eq!(config.planes(), [vec![0, 1, 4, 5], vec![2, 3]]);
        config.cables = vec![Cable { a: 5, b: 0 }];
        assert_eq!(config.groups(), [vec![0, 1, 4, 5], vec![2, 3]]);
        assert!(config.check_data_planes().is_ok());
        config.data_plane_cpus.push(1);
        let error = config.check_data_planes().unwrap_err().to_string();
        assert!(
            error.contains("3 processors") && error.contains("2 groups"),
            "{error}"
        );
        // A port without a peer is a group of its own.
        for port in &mut config.ports {
            port.peer = None;
        }
        config.cables.clear();
        assert_eq!(config.groups().len(), 6);
    }

    #[test]
    fn neighbouring_ports_are_peers() {
        let peers = |ports| {
            NicConfig::new("x", ports)
                .ports
                .iter()
                .map(|port| port.peer)
                .collect::<Vec<_>>()
        };
        assert_eq!(peers(2), [Some(1), Some(0)]);
        assert_eq!(peers(3), [Some(1), Some(0), None]);
    }

    #[test]
    fn settings_that_do_not_fit_together_are_refused() {
        assert!(NicConfig::new("x", 2).check().is_ok());
        assert!(NicConfig::new("x", 0).check().is_err());
        assert!(NicConfig::new("x", 17).check().is_err());
        assert!(NicConfig::new("x", 2).with_cable(0, 2).check().is_err());
        let with =
            |change: fn(&mut PortConfig)| NicConfig::new("x", 1).with_each_port(change).check();
        assert!(with(|port| port.left_behind.laser_off = true).is_err());
        assert!(with(|port| port.left_behind.phy_off = true).is_err());
        assert!(with(|port| port.expected = Expected::Touch(60)).is_err());
        assert!(with(|port| port.link.speed = LinkSpeed::Gbit2_5).is_err());
        assert!(with(|port| port.left_behind.link_disabled = true).is_ok());
        let window = |ports, change: fn(&mut PortConfig)| {
            let config = NicConfig::new("x", ports).with_each_port(|port| {
                port.traffic = Traffic::Window { frames: 8 };
            });
            config.with_each_port(change)
        };
        assert!(window(2, |_| ()).check().is_ok());
        assert!(window(1, |_| ()).check().is_err());
        assert!(window(2, |_| ()).with_cable(0, 1).check().is_err());
        assert!(window(2, |port| port.verify = VerifyMode::Off)
            .check()
            .is_err());
        assert!(window(2, |port| port.capture = true).check().is_err());
        assert!(
            window(2, |port| port.traffic = Traffic::Window { frames: 0 })
                .check()
                .is_err()
        );
        let copper = |change: fn(&mut PortConfig)| {
            let config = NicConfig::new("x", 1).with_each_port(|port| port.device_id = 0x1563);
            config.with_each_port(change).check()
        };
        assert!(copper(|port| port.left_behind.link_disabled = true).is_err());
        assert!(copper(|port| port.link.attempts = 2).is_err());
        assert!(copper(|port| port.left_behind.phy_off = true).is_ok());
        assert!(copper(|port| port.link.speed = LinkSpeed::Gbit2_5).is_ok());
        let end = |text: &str| text.parse::<WireEnd>().unwrap();
        let wired = |ends: &[WireEnd]| NicConfig::new("x", 2).with_wires(ends);
        let taps = |ends: &[WireEnd]| {
            let ports = wired(ends).unwrap().ports;
            ports.into_iter().map(|port| port.wire).collect::<Vec<_>>()
        };
        let (a, b) = ["a", "b"]
            .map(|name| Some(WireTo::Tap(name.to_owned())))
            .into();
        assert_eq!(taps(&[end("tap=a"), end("tap=b")]), [a.clone(), b.clone()]);
        assert_eq!(taps(&[end("1:tap=a"), end("tap=b")]), [b, a]);
        assert!(wired(&[end("2:tap=a")]).is_err());
        assert!(wired(&[end("0:tap=a"), end("0:tap=b")]).is_err());
        assert!(wired(&[end("tap=a"), end("tap=b"), end("tap=c")]).is_err());
        let wired = || wired(&[end("tap=a")]).unwrap();
        assert!(wired().check().is_ok());
        assert!(wired().with_cable(0, 1).check().is_err());
        let saturated = |port: &mut PortConfig| port.traffic = Traffic::Saturate;
        assert!(wired().with_each_port(saturated).check().is_err());
        assert!(wired()
            .with_each_port(|port| port.wire = Some(WireTo::Tap("a".to_owned())))
            .check()
            .is_err());
        let files = |ends: [&str; 2]| {
            let config = NicConfig::new("x", 2).with_wires(&ends.map(end));
            config.unwrap().check()
        };
        assert!(files(["pcap=a,b", "pcap=a,c"]).is_ok());
        assert!(files(["pcap=a,b", "pcap=c,b"]).is_err());
        assert!(files(["pcap=a,b", "pcap=c,a"]).is_err());
        assert!(NicConfig::new("x", 3)
            .with_cable(0, 1)
            .with_cable(1, 2)
            .check()
            .is_err());
        assert!(NicConfig::new("x", 2)
            .with_each_port(|port| port.flows = 0)
            .check()
            .is_err());
    }
}
