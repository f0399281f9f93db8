//! What a NIC is to be like: ports, traffic, wires, checks and faults.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::faults::RxLie;
use crate::traffic::frame::{MAX_FRAME, MIN_FRAME};

/// Most ports of one NIC.
pub const MAX_PORTS: usize = 16;
/// Most flows of one port's traffic.
pub const MAX_FLOWS: u16 = 60_000;
/// PCI device id of an 82599ES with SFP+ (X520).
pub const DEFAULT_DEVICE_ID: u16 = 0x10fb;

/// A setting that makes no sense. The text says which, and what would.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// For settings that are put together elsewhere: says what is wrong, and what would be right.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// How a driver reaches the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MmioMode {
    /// The pages with the queue registers (0x1000 and 0x6000) are memory shared with the driver:
    /// fast. The NIC does not see single accesses to them, so nothing in them has side effects, and
    /// a trace does not show them.
    #[default]
    Shared,
    /// Every access is a message, and is seen.
    Trap,
}

/// What arrives at a port from its wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Traffic {
    /// Nothing (but what is injected, or comes over a cable).
    #[default]
    Off,
    /// A frame for every free receive descriptor: no driver can be faster.
    Saturate,
    /// So many frames a second, evenly spaced, whether or not there are descriptors for them.
    Rate {
        /// Millions of packets a second; above 0, at most 1000.
        mpps: f64,
    },
}

/// Lengths of the frames generated, one after the other, over and over. Without the CRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes(Vec<u16>);

/// How closely frames are checked that come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyMode {
    /// Every byte.
    #[default]
    Full,
    /// Only the sequence numbers (and the check word that protects them).
    Sequence,
    /// Not at all.
    Off,
}

/// What the driver under test does to the frames that it forwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// It adds 1 to byte 1 (the second of the destination address), wrapping.
    #[default]
    TouchByte1,
    /// Nothing.
    Unchanged,
}

/// Ways for the device to misbehave. All off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// CTRL.RST never clears.
    pub never_finish_reset: bool,
    /// Transmit descriptors are never consumed.
    pub stall_tx: bool,
    /// The link never comes up, or goes down.
    pub no_link: bool,
    /// The device is not there any more: registers and configuration space read all ones, writes
    /// vanish, nothing is received or sent. Pages that a driver has mapped keep what they hold, so
    /// use it with [`MmioMode::Trap`].
    pub removed: bool,
    /// What is written back to receive descriptors is not true.
    pub rx_lie: Option<RxLie>,
    /// Frames are written to receive descriptors also from the tail on, which are not the device's.
    pub ignore_tail: bool,
    /// RDH and TDH show values beyond the ends of the rings.
    pub head_beyond_ring: bool,
    /// All interrupt causes are set and all vectors signalled, masked or not, in every round.
    pub interrupt_storm: bool,
}

/// Turns one fault on.
type SetFault = fn(&mut Faults);

/// Names of the faults, as on the command line.
const FAULTS: [(&str, SetFault); 10] = [
    ("never-finish-reset", |faults| {
        faults.never_finish_reset = true
    }),
    ("stall", |faults| faults.stall_tx = true),
    ("no-link", |faults| faults.no_link = true),
    ("removed", |faults| faults.removed = true),
    ("rx-length-beyond", |faults| {
        faults.rx_lie = Some(RxLie::Length(LENGTH_BEYOND))
    }),
    ("rx-length-zero", |faults| {
        faults.rx_lie = Some(RxLie::Length(0))
    }),
    ("rx-no-eop", |faults| faults.rx_lie = Some(RxLie::NoEop)),
    ("ignore-tail", |faults| faults.ignore_tail = true),
    ("head-beyond-ring", |faults| faults.head_beyond_ring = true),
    ("interrupt-storm", |faults| faults.interrupt_storm = true),
];

/// More than a packet buffer of 2 KiB holds, and little enough to be sent on.
const LENGTH_BEYOND: u16 = 4000;

impl Faults {
    /// Names of all faults.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FAULTS.iter().map(|(name, _)| *name)
    }

    /// Adds the fault of that name.
    pub fn add(&mut self, name: &str) -> Result<(), ConfigError> {
        let (_, set) = FAULTS
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| {
                let names: Vec<_> = Self::names().collect();
                ConfigError(format!(
                    "fault {name:?} is not known; there are: {}",
                    names.join(", ")
                ))
            })?;
        set(self);
        Ok(())
    }
}

/// What is in a port's SFP+ cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Module {
    /// Nothing: the port has no link.
    None,
    /// A passive direct-attach cable.
    #[default]
    Dac,
    /// An optical module for short range (10GBASE-SR), whose laser the driver can switch off.
    Sr,
}

impl FromStr for Module {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "none" => Ok(Self::None),
            "dac" => Ok(Self::Dac),
            "sr" => Ok(Self::Sr),
            _ => Err(ConfigError(format!(
                "module {text:?}: must be dac, sr or none"
            ))),
        }
    }
}

/// One port.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PortConfig {
    /// What arrives from the wire.
    pub traffic: Traffic,
    /// How long the generated frames are.
    pub sizes: FrameSizes,
    /// How many flows they belong to, 1 to [`MAX_FLOWS`].
    pub flows: u16,
    /// The port whose received frames this port is expected to send; nothing if there is no such
    /// port.
    pub peer: Option<usize>,
    /// How closely they are checked.
    pub verify: VerifyMode,
    /// What the driver is expected to change in them.
    pub expected: Expected,
    /// PCI device id. The vendor is Intel's, 0x8086.
    pub device_id: u16,
    /// What is in the SFP+ cage.
    pub module: Module,
    /// How the device misbehaves.
    pub faults: Faults,
    /// Whether sent frames are kept, for [`Port::take_transmitted`](crate::Port::take_transmitted),
    /// and not checked.
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
            expected: Expected::TouchByte1,
            device_id: DEFAULT_DEVICE_ID,
            module: Module::default(),
            faults: Faults::default(),
            capture: false,
        }
    }
}

/// A cable between two ports: what one sends, the other receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: usize,
    /// The other end; may be the same port (a loop-back plug).
    pub b: usize,
}

/// How latency is measured: of every frame that arrives at a fixed rate, from the moment it was due
/// until the peer fetched it for sending. See [`Port::latency`](crate::Port::latency).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasureLatency {
    /// How long to wait, from the first frame on that comes to a port after its last reset:
    /// frames due until then are left out.
    pub after: Duration,
}

/// Where accesses to registers are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TraceTo {
    /// Nowhere.
    #[default]
    Off,
    /// In memory, for [`Nic::take_trace`](crate::Nic::take_trace).
    Memory,
    /// In a file, one line each.
    File(PathBuf),
}

/// A whole NIC.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NicConfig {
    /// Directory of the sockets, `port0.sock` and so on. Made if it does not exist.
    pub socket_dir: PathBuf,
    /// The ports, at most [`MAX_PORTS`].
    pub ports: Vec<PortConfig>,
    /// How drivers reach the registers.
    pub mmio: MmioMode,
    /// Cables between ports.
    pub cables: Vec<Cable>,
    /// Where register accesses are recorded.
    pub trace: TraceTo,
    /// The processor for the data plane's thread; any, if not given.
    pub cpu: Option<usize>,
    /// Whether latency is measured.
    pub latency: Option<MeasureLatency>,
}

impl NicConfig {
    /// `ports` ports without traffic, their sockets in `socket_dir`. Ports are peers in pairs: 0
    /// and 1, 2 and 3, ...
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
            latency: None,
        }
    }

    /// The same, with `change` made to every port.
    #[must_use]
    pub fn with_each_port(mut self, change: impl FnMut(&mut PortConfig)) -> Self {
        self.ports.iter_mut().for_each(change);
        self
    }

    /// The same with another way to the registers.
    #[must_use]
    pub fn with_mmio(mut self, mmio: MmioMode) -> Self {
        self.mmio = mmio;
        self
    }

    /// The same with another cable.
    #[must_use]
    pub fn with_cable(mut self, a: usize, b: usize) -> Self {
        self.cables.push(Cable { a, b });
        self
    }

    /// The same with register accesses recorded.
    #[must_use]
    pub fn with_trace(mut self, trace: TraceTo) -> Self {
        self.trace = trace;
        self
    }

    /// The same with latency measured.
    #[must_use]
    pub fn with_latency(mut self, latency: MeasureLatency) -> Self {
        self.latency = Some(latency);
        self
    }

    /// Checks that the parts fit together.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError(text));
        let count = self.ports.len();
        if count == 0 || count > MAX_PORTS {
            return wrong(format!("{count} ports: there must be 1 to {MAX_PORTS}"));
        }
        for (index, port) in self.ports.iter().enumerate() {
            if port.flows == 0 || port.flows > MAX_FLOWS {
                let flows = port.flows;
                return wrong(format!(
                    "port {index}: {flows} flows: there must be 1 to {MAX_FLOWS}"
                ));
            }
            if let Some(peer) = port.peer.filter(|peer| *peer >= count) {
                return wrong(format!(
                    "port {index}: peer {peer}: ports are numbered 0 to {}",
                    count - 1
                ));
            }
            if let Traffic::Rate { mpps } = port.traffic {
                if !(mpps > 0.0 && mpps <= 1000.0) {
                    return wrong(format!(
                        "port {index}: rate {mpps}: must be above 0 and at most 1000 Mpps"
                    ));
                }
            }
        }
        if self.latency.is_some() {
            self.check_latency()?;
        }
        let mut ends = Vec::new();
        for cable in &self.cables {
            let own = if cable.a == cable.b {
                vec![cable.a]
            } else {
                vec![cable.a, cable.b]
            };
            for end in own {
                if end >= count {
                    return wrong(format!(
                        "cable {cable}: ports are numbered 0 to {}",
                        count - 1
                    ));
                }
                if ends.contains(&end) {
                    return wrong(format!("cable {cable}: port {end} has a cable already"));
                }
                ends.push(end);
            }
        }
        Ok(())
    }
}

impl NicConfig {
    /// What latency is measured of must have due times, and must be known again.
    fn check_latency(&self) -> Result<(), ConfigError> {
        let wrong = |text: String| Err(ConfigError(text));
        for (index, port) in self.ports.iter().enumerate() {
            if port.traffic == Traffic::Saturate {
                return wrong(format!(
                    "port {index}: latency can only be measured at a rate: saturating traffic is due whenever there is room for it; use rate=MPPS"
                ));
            }
            if port.verify == VerifyMode::Off || port.capture {
                return wrong(format!(
                    "port {index}: latency can only be measured of frames that are checked; verify full or sequence, without capture"
                ));
            }
        }
        if let Some(cable) = self.cables.first() {
            return wrong(format!(
                "cable {cable}: what goes over a cable is not checked, and latency can only be measured of frames that are; leave out one of the two"
            ));
        }
        Ok(())
    }
}

impl FrameSizes {
    /// Frames of one length, 60 to 1514 bytes.
    pub fn fixed(len: usize) -> Result<Self, ConfigError> {
        Self::cycle([len])
    }

    /// Every length from `from` to `to`, one after the other.
    pub fn range(from: usize, to: usize) -> Result<Self, ConfigError> {
        Self::cycle(from..=to)
    }

    /// The given lengths, one after the other.
    pub fn cycle(lengths: impl IntoIterator<Item = usize>) -> Result<Self, ConfigError> {
        let lengths: Result<Vec<u16>, _> = lengths
            .into_iter()
            .map(|len| {
                u16::try_from(len)
                    .ok()
                    .filter(|_| (MIN_FRAME..=MAX_FRAME).contains(&len))
                    .ok_or_else(|| {
                        ConfigError(format!(
                            "frame size {len}: must be {MIN_FRAME} to {MAX_FRAME} bytes, the CRC not counted"
                        ))
                    })
            })
            .collect();
        let lengths = lengths?;
        if lengths.is_empty() {
            return Err(ConfigError("no frame sizes: name at least one".to_owned()));
        }
        Ok(Self(lengths))
    }

    /// The lengths of one cycle.
    pub(crate) fn lengths(&self) -> &[u16] {
        &self.0
    }
}

impl Default for FrameSizes {
    fn default() -> Self {
        Self(vec![MIN_FRAME as u16])
    }
}

impl FromStr for FrameSizes {
    type Err = ConfigError;

    /// `60`, `60-1514` or `60,512,1514`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let number = |part: &str| {
            part.trim().parse::<usize>().map_err(|_| {
                ConfigError(format!(
                    "frame size {text:?}: write a number, MIN-MAX, or several with commas"
                ))
            })
        };
        match text.split_once('-') {
            Some((from, to)) => Self::range(number(from)?, number(to)?),
            None => Self::cycle(text.split(',').map(number).collect::<Result<Vec<_>, _>>()?),
        }
    }
}

impl FromStr for MmioMode {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "shared" => Ok(Self::Shared),
            "trap" => Ok(Self::Trap),
            _ => Err(ConfigError(format!(
                "mmio {text:?}: must be shared or trap"
            ))),
        }
    }
}

impl FromStr for Traffic {
    type Err = ConfigError;

    /// `off`, `saturate` or `rate=MPPS`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "off" => return Ok(Self::Off),
            "saturate" => return Ok(Self::Saturate),
            _ => {}
        }
        text.strip_prefix("rate=")
            .and_then(|rate| rate.parse().ok())
            .filter(|mpps| *mpps > 0.0 && *mpps <= 1000.0)
            .map(|mpps| Self::Rate { mpps })
            .ok_or_else(|| {
                ConfigError(format!(
                    "traffic {text:?}: must be off, saturate, or rate=MPPS with MPPS above 0 and at most 1000"
                ))
            })
    }
}

impl FromStr for VerifyMode {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "full" => Ok(Self::Full),
            "sequence" => Ok(Self::Sequence),
            "off" => Ok(Self::Off),
            _ => Err(ConfigError(format!(
                "verify {text:?}: must be full, sequence or off"
            ))),
        }
    }
}

impl FromStr for Expected {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "touch" => Ok(Self::TouchByte1),
            "none" => Ok(Self::Unchanged),
            _ => Err(ConfigError(format!(
                "expect {text:?}: must be touch or none"
            ))),
        }
    }
}

impl FromStr for Cable {
    type Err = ConfigError;

    /// `A:B`, two port numbers.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        text.split_once(':')
            .and_then(|(a, b)| {
                Some(Self {
                    a: a.parse().ok()?,
                    b: b.parse().ok()?,
                })
            })
            .ok_or_else(|| ConfigError(format!("cable {text:?}: write A:B, two port numbers")))
    }
}

impl fmt::Display for Cable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.a, self.b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_text() {
        assert_eq!("off".parse(), Ok(Traffic::Off));
        assert_eq!("rate=1.5".parse(), Ok(Traffic::Rate { mpps: 1.5 }));
        assert!("rate=-1".parse::<Traffic>().is_err());
        assert!("rate=nan".parse::<Traffic>().is_err());
        assert_eq!(
            "60-62".parse::<FrameSizes>().unwrap().lengths(),
            [60, 61, 62]
        );
        assert_eq!(
            "60,1514".parse::<FrameSizes>().unwrap().lengths(),
            [60, 1514]
        );
        assert!("59".parse::<FrameSizes>().is_err());
        assert!("100-60".parse::<FrameSizes>().is_err());
        assert!("1515".parse::<FrameSizes>().is_err());
        assert_eq!("0:1".parse(), Ok(Cable { a: 0, b: 1 }));
        assert!("0".parse::<Cable>().is_err());
    }

    #[test]
    fn faults_are_known_by_name() {
        let mut faults = Faults::default();
        for name in Faults::names() {
            faults.add(name).unwrap();
        }
        assert!(faults.never_finish_reset && faults.stall_tx && faults.no_link);
        assert!(faults
            .add("other")
            .unwrap_err()
            .to_string()
            .contains("no-link"));
    }

    #[test]
    fn ports_are_peers_in_pairs() {
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
    fn nonsense_is_refused() {
        assert!(NicConfig::new("x", 2).check().is_ok());
        assert!(NicConfig::new("x", 0).check().is_err());
        assert!(NicConfig::new("x", 17).check().is_err());
        assert!(NicConfig::new("x", 2).with_cable(0, 2).check().is_err());
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
