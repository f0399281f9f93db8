//! The settings of registers, traffic and checks, one type each.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::ValueEnum;

use crate::error::{ensure, ConfigError};
use crate::traffic::frame::{MAX_FRAME, MIN_FRAME};

/// How a driver reaches the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MmioMode {
    /// Driver and NIC share the pages with the queue registers (0x1000 and 0x6000) as memory. This
    /// is fast, but the NIC does not see the single accesses: they have no side effects, and a trace
    /// does not show them.
    #[default]
    Shared,
    /// Every access is a message to the NIC.
    Trap,
}

/// The frames that arrive at a port from its wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Traffic {
    /// No frames, except those that are injected or come over a cable.
    #[default]
    Off,
    /// A frame for every free receive descriptor: no driver can be faster.
    Saturate,
    /// As `Saturate`, but only while the driver has few of the port's frames. A program that is
    /// never late has no reason to drop a frame, however slow or busy the machine is.
    Window {
        /// Most frames of this port that have not come back; 1 to [`MAX_WINDOW`](super::MAX_WINDOW).
        frames: u32,
    },
    /// Frames at a fixed rate, evenly spaced, whether or not there are descriptors for them.
    Rate {
        /// Millions of packets a second; above 0, at most 1000.
        mpps: f64,
    },
}

impl Traffic {
    /// Whether the time decides which frames arrive.
    pub(crate) fn is_timed(self) -> bool {
        matches!(self, Self::Rate { .. } | Self::Window { .. })
    }
}

impl FromStr for Traffic {
    type Err = ConfigError;

    /// `off`, `saturate`, `window=FRAMES` or `rate=MPPS`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let traffic = match text.split_once('=') {
            None if text == "off" => Some(Self::Off),
            None if text == "saturate" => Some(Self::Saturate),
            Some(("window", frames)) => frames.parse().ok().map(|frames| Self::Window { frames }),
            Some(("rate", mpps)) => mpps.parse().ok().map(|mpps| Self::Rate { mpps }),
            _ => None,
        };
        traffic.ok_or_else(|| {
            ConfigError(format!(
                "traffic {text:?}: must be off, saturate, window=FRAMES or rate=MPPS"
            ))
        })
    }
}

/// Lengths of the generated frames in bytes, without the CRC. The generator repeats the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes(Vec<u16>);

impl FrameSizes {
    /// Frames of one length, 60 to 1514 bytes.
    pub fn fixed(len: usize) -> Result<Self, ConfigError> {
        Self::range(len, len)
    }

    /// Every length from `from` to `to`, one after the other.
    pub fn range(from: usize, to: usize) -> Result<Self, ConfigError> {
        Self::cycle(from..=to)
    }

    fn cycle(lengths: impl IntoIterator<Item = usize>) -> Result<Self, ConfigError> {
        let check = |len| {
            ensure! {
                (MIN_FRAME..=MAX_FRAME).contains(&len) =>
                    "frame size {len}: must be {MIN_FRAME} to {MAX_FRAME} bytes, without the CRC";
            }
            Ok(len as u16)
        };
        let lengths: Vec<_> = lengths.into_iter().map(check).collect::<Result<_, _>>()?;
        ensure! { !lengths.is_empty() => "no frame sizes: name at least one"; }
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
        let form = "write a number, MIN-MAX, or several with commas";
        let wrong = |_| ConfigError(format!("frame size {text:?}: {form}"));
        let number = |part: &str| part.trim().parse::<usize>().map_err(wrong);
        match text.split_once('-') {
            Some((from, to)) => Self::range(number(from)?, number(to)?),
            None => Self::cycle(text.split(',').map(number).collect::<Result<Vec<_>, _>>()?),
        }
    }
}

/// How closely the NIC checks the frames that come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum VerifyMode {
    /// Every byte.
    #[default]
    Full,
    /// Only the sequence number and the check word that protects it.
    Sequence,
    /// Not at all.
    Off,
}

/// The change that the driver under test makes to the frames that it forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// One byte goes up by 1 and wraps. The number is the byte's place in the frame, 0 to 59: all
    /// frames have at least 60 bytes.
    Touch(u8),
    /// The frame gets new addresses, as DPDK's `testpmd --forward-mode=mac` writes them. The source
    /// is the MAC address of the sending port. The destination is 02:00:00:00:00:N, where N is the
    /// number of the sending port.
    Mac,
    /// No change.
    Unchanged,
}

impl Default for Expected {
    /// Byte 1, the second of the destination address: as this project's forwarders do.
    fn default() -> Self {
        Self::Touch(1)
    }
}

impl FromStr for Expected {
    type Err = ConfigError;

    /// `touch`, `touch@N` with N from 0 to 59, `mac` or `none`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let expected = match text.split_once('@') {
            None if text == "touch" => Some(Self::default()),
            None if text == "mac" => Some(Self::Mac),
            None if text == "none" => Some(Self::Unchanged),
            Some(("touch", byte)) => byte.parse().ok().map(Self::Touch),
            _ => None,
        };
        expected.ok_or_else(|| {
            ConfigError(format!(
                "expect {text:?}: must be touch, touch@N with N from 0 to 59, mac or none"
            ))
        })
    }
}

/// How the NIC measures latency. It times every frame that arrives at a fixed rate, from the moment
/// the frame is due until the peer port fetches it for sending. See
/// [`Port::latency`](crate::Port::latency).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasureLatency {
    /// Warm-up time after the first frame that a port receives, and again after each reset. Frames
    /// due in that time are left out.
    pub after: Duration,
}

/// Where the NIC records accesses to registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceTo {
    /// In memory, for [`Nic::take_trace`](crate::Nic::take_trace).
    Memory,
    /// In a file, one line each.
    File(PathBuf),
}

impl From<OsString> for TraceTo {
    fn from(path: OsString) -> Self {
        Self::File(path.into())
    }
}
