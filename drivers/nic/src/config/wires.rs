//! Where wires lead: over cables to other ports, to interfaces, and to files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::error::ConfigError;

/// A cable between two ports: each port receives what the other sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: usize,
    /// The other end; may be the same port (a loop-back plug).
    pub b: usize,
}

impl Cable {
    /// Whether an end is at this port.
    pub(crate) fn is_at(&self, port: usize) -> bool {
        [self.a, self.b].contains(&port)
    }
}

impl fmt::Display for Cable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.a, self.b)
    }
}

impl FromStr for Cable {
    type Err = ConfigError;

    /// `A:B`, two port numbers.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let ends = text.split_once(':').and_then(|(a, b)| {
            let (a, b) = (a.parse().ok()?, b.parse().ok()?);
            Some(Self { a, b })
        });
        ends.ok_or_else(|| ConfigError(format!("cable {text:?}: write A:B, two port numbers")))
    }
}

/// What is at the other end of a wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireTo {
    /// The TAP interface of that name, 1 to 15 bytes, so that this machine's own programs exchange frames
    /// with the driver.
    Tap(String),
    /// Files of recorded frames.
    Pcap {
        /// The file of the frames that arrive, once.
        input: Option<PathBuf>,
        /// The file for the frames that the driver sends.
        output: Option<PathBuf>,
    },
}

impl WireTo {
    /// Whether the wire reads or writes this file.
    pub(crate) fn uses(&self, file: &Path) -> bool {
        let is = |path: &Option<PathBuf>| path.as_deref() == Some(file);
        matches!(self, Self::Pcap { input, output } if is(input) || is(output))
    }
}

impl fmt::Display for WireTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Option<PathBuf>| path.clone().unwrap_or_default();
        match self {
            Self::Tap(name) => write!(f, "tap={name}"),
            Self::Pcap { input, output } => {
                let (input, output) = (name(input), name(output));
                write!(f, "pcap={},{}", input.display(), output.display())
            }
        }
    }
}

/// The other end of a port's wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireEnd {
    /// The port; `None` for the next one without a wire.
    pub port: Option<usize>,
    /// What is there.
    pub to: WireTo,
}

impl FromStr for WireEnd {
    type Err = ConfigError;

    /// `tap=NAME` or `pcap=IN,OUT`, or either after `PORT:`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        // The name of a file may have a colon too.
        let numbered = text.split_once(':').filter(|(port, _)| !port.contains('='));
        let (port, end) = numbered.map_or((Some(None), text), |(port, end)| {
            (port.parse().ok().map(Some), end)
        });
        let to = match (port, end.split_once('=')) {
            (Some(_), Some(("tap", name))) => tap(name),
            (Some(_), Some(("pcap", files))) => pcap(files),
            _ => Err("write tap=NAME or pcap=IN,OUT, or either after PORT:"),
        };
        match to {
            Ok(to) => Ok(Self {
                port: port.flatten(),
                to,
            }),
            Err(why) => Err(ConfigError(format!("wire {text:?}: {why}"))),
        }
    }
}

fn tap(name: &str) -> Result<WireTo, &'static str> {
    let fits = (1..libc::IFNAMSIZ).contains(&name.len()) && ![".", ".."].contains(&name);
    let plain = |c: u8| c.is_ascii_graphic() && !b"/:%".contains(&c);
    (fits && name.bytes().all(plain))
        .then(|| WireTo::Tap(name.to_owned()))
        .ok_or("the name of an interface has 1 to 15 letters, digits or signs but / : %")
}

fn pcap(files: &str) -> Result<WireTo, &'static str> {
    let file = |name: &str| (!name.is_empty()).then(|| name.into());
    match files.split_once(',') {
        Some((input, output)) if files.len() > 1 && !output.contains(',') => Ok(WireTo::Pcap {
            input: file(input),
            output: file(output),
        }),
        _ => Err("pcap=IN,OUT needs one comma and at least one file"),
    }
}
