//! The command line of `triptych selftest`.

use std::path::PathBuf;

use clap::Args;
use selftest::SIZES;

use crate::machine::host::address::PciAddress;
use crate::usage::{number, UsageError};

/// Frames in each direction.
const FRAMES: u64 = 1_000_000;
/// With `--quick`: each size four times.
const QUICK_FRAMES: u64 = 4 * SIZES;
/// The beginning of the name of a software card's port.
const VFIO_USER: &str = "vfio-user:";

/// Arguments of `triptych selftest`.
#[derive(Debug, Args)]
pub struct SelftestArguments {
    /// Two ports with a cable between them: 0000:03:00.0, 03:00.0 or vfio-user:PATH
    #[arg(value_name = "DEVICE", num_args = 2, required = true)]
    devices: Vec<String>,
    /// Take a few seconds instead of a minute: fewer frames
    #[arg(long)]
    quick: bool,
    /// Frames in each direction [default: 1000000, with --quick 5820]
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=1_000_000_000))]
    frames: Option<u64>,
    /// Wait this long for the links
    #[arg(long, value_name = "SECONDS", default_value = "30",
        value_parser = number::<u64>(1..=600))]
    pub link_timeout: u64,
    /// Also write the report to this file, as JSON; send it along when you report a problem
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

impl SelftestArguments {
    /// The names of the two ports, as the driver expects them.
    pub fn devices(&self) -> Result<[String; 2], UsageError> {
        let names: Result<Vec<_>, _> = self.devices.iter().map(|name| device(name)).collect();
        match <[String; 2]>::try_from(names?) {
            Ok([a, b]) if a == b => Err(UsageError(format!(
                "{a} is given twice; name the two ports that the cable connects"
            ))),
            Ok(ports) => Ok(ports),
            Err(_) => Err(UsageError("name two ports".to_owned())),
        }
    }

    /// The PCI addresses among the ports.
    pub fn addresses(&self) -> Vec<PciAddress> {
        let addresses = self.devices.iter();
        addresses.filter_map(|name| name.parse().ok()).collect()
    }

    /// Frames in each direction.
    pub fn frames(&self) -> u64 {
        let usual = if self.quick { QUICK_FRAMES } else { FRAMES };
        self.frames.unwrap_or(usual)
    }
}

fn device(name: &str) -> Result<String, UsageError> {
    let socket = name.strip_prefix(VFIO_USER);
    if socket.is_some_and(|path| !path.is_empty()) {
        return Ok(name.to_owned());
    }
    let address: Result<PciAddress, _> = name.parse();
    address.map(|address| address.to_string()).map_err(|_| {
        UsageError(format!(
            "{name:?} is not a device; give a PCI address such as 0000:03:00.0, or {VFIO_USER}PATH"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_addresses_or_sockets_and_quick_sends_fewer_frames() {
        let mut arguments = SelftestArguments {
            devices: Vec::new(),
            quick: false,
            frames: None,
            link_timeout: 30,
            json: None,
        };
        assert_eq!(arguments.frames(), 1_000_000);
        arguments.quick = true;
        assert_eq!(arguments.frames(), 5820);
        for (devices, good) in [
            (["03:00.0", "vfio-user:/tmp/port1.sock"], true),
            (["eth0", "03:00.1"], false),
            (["vfio-user:", "03:00.1"], false),
            (["03:00.1", "0000:03:00.1"], false),
        ] {
            arguments.devices = devices.map(str::to_owned).into();
            assert_eq!(arguments.devices().is_ok(), good, "{devices:?}");
        }
    }
}
