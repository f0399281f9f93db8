//! Settings written as text, as on the command line and on the control socket.

use std::str::FromStr;

use crate::config::error::ConfigError;
use crate::config::nic::MAX_WINDOW;
use crate::config::settings::{
    Cable, Expected, FrameSizes, MmioMode, Module, Traffic, VerifyMode, WireEnd, WireTo,
};
use crate::traffic::frame::MIN_FRAME;

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

    /// `off`, `saturate`, `window=FRAMES` or `rate=MPPS`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "off" => return Ok(Self::Off),
            "saturate" => return Ok(Self::Saturate),
            _ => {}
        }
        if let Some(frames) = text.strip_prefix("window=") {
            return frames
                .parse()
                .ok()
                .filter(|frames| (1..=MAX_WINDOW).contains(frames))
                .map(|frames| Self::Window { frames })
                .ok_or_else(|| {
                    ConfigError(format!(
                        "traffic {text:?}: window=FRAMES needs 1 to {MAX_WINDOW} frames"
                    ))
                });
        }
        text.strip_prefix("rate=")
            .and_then(|rate| rate.parse().ok())
            .filter(|mpps| *mpps > 0.0 && *mpps <= 1000.0)
            .map(|mpps| Self::Rate { mpps })
            .ok_or_else(|| {
                ConfigError(format!(
                    "traffic {text:?}: must be off, saturate, window=FRAMES, or rate=MPPS with MPPS above 0 and at most 1000"
                ))
            })
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

    /// `touch`, `touch@N` with N from 0 to 59, `mac` or `none`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text {
            "touch" => return Ok(Self::default()),
            "mac" => return Ok(Self::Mac),
            "none" => return Ok(Self::Unchanged),
            _ => {}
        }
        text.strip_prefix("touch@")
            .and_then(|byte| byte.parse().ok())
            .filter(|byte| usize::from(*byte) < MIN_FRAME)
            .map(Self::Touch)
            .ok_or_else(|| {
                ConfigError(format!(
                    "expect {text:?}: must be touch, touch@N with N from 0 to 59, mac or none"
                ))
            })
    }
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

impl FromStr for WireEnd {
    type Err = ConfigError;

    /// `tap=NAME` or `pcap=IN,OUT`, or either after `PORT:`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let wrong = |why: &str| Err(ConfigError(format!("wire {text:?}: {why}")));
        let form = "write tap=NAME or pcap=IN,OUT, or either after PORT:";
        let (port, end) = match text.split_once(':') {
            // The name of a file may have a colon too.
            Some((port, end)) if !port.contains('=') => match port.parse() {
                Ok(port) => (Some(port), end),
                Err(_) => return wrong(form),
            },
            _ => (None, text),
        };
        if let Some(files) = end.strip_prefix("pcap=") {
            let file = |name: &str| (!name.is_empty()).then(|| name.into());
            return match files.split_once(',') {
                Some((input, output)) if files.len() > 1 && !output.contains(',') => Ok(Self {
                    port,
                    to: WireTo::Pcap {
                        input: file(input),
                        output: file(output),
                    },
                }),
                _ => wrong("pcap=IN,OUT needs one comma and at least one file"),
            };
        }
        let Some(name) = end.strip_prefix("tap=") else {
            return wrong(form);
        };
        let fits = (1..libc::IFNAMSIZ).contains(&name.len()) && ![".", ".."].contains(&name);
        let plain = |c: u8| c.is_ascii_graphic() && !b"/:%".contains(&c);
        if !fits || !name.bytes().all(plain) {
            return wrong(
                "the name of an interface has 1 to 15 letters, digits or signs but / : %",
            );
        }
        Ok(Self {
            port,
            to: WireTo::Tap(name.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_from_text() {
        assert_eq!("off".parse(), Ok(Traffic::Off));
        assert_eq!("rate=1.5".parse(), Ok(Traffic::Rate { mpps: 1.5 }));
        assert_eq!("window=256".parse(), Ok(Traffic::Window { frames: 256 }));
        for text in ["window=0", "window=65537", "window=-1", "window="] {
            let error = text.parse::<Traffic>().unwrap_err().to_string();
            assert!(error.contains("needs 1 to 65536 frames"), "{error}");
        }
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
        assert_eq!("touch".parse(), Ok(Expected::Touch(1)));
        assert_eq!("touch@48".parse(), Ok(Expected::Touch(48)));
        assert_eq!("touch@0".parse(), Ok(Expected::Touch(0)));
        assert_eq!("mac".parse(), Ok(Expected::Mac));
        assert_eq!("none".parse(), Ok(Expected::Unchanged));
        for wrong in ["touch@", "touch@60", "touch@-1", "touch@1x", "macswap", ""] {
            assert!(wrong.parse::<Expected>().is_err(), "{wrong}");
        }
        let wire = |port, tap: &str| {
            let to = WireTo::Tap(tap.to_owned());
            Ok(WireEnd { port, to })
        };
        assert_eq!("tap=t0".parse(), wire(None, "t0"));
        assert_eq!("1:tap=t1".parse(), wire(Some(1), "t1"));
        for text in ["pcap=a,b", "1:pcap=a:b,", "pcap=,b"] {
            assert_eq!(text.parse::<WireEnd>().unwrap().to_string(), text);
        }
        for wrong in [
            "pcap=,",
            "pcap=a,b,c",
            "tap=",
            "tap=a/b",
            "tap=0123456789abcdef",
            "x:tap=a",
            "pcap=a",
            "tap=a b",
            "tap=..",
        ] {
            assert!(wrong.parse::<WireEnd>().is_err(), "{wrong}");
        }
        assert_eq!("0:1".parse(), Ok(Cable { a: 0, b: 1 }));
        assert!("0".parse::<Cable>().is_err());
    }
}
