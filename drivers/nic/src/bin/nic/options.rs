//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use nic::{
    seconds, ConfigError, Faults, MeasureLatency, NicConfig, Placement, PortConfig, Traffic,
    WireEnd,
};

/// A software Intel 82599, served over vfio-user.
///
/// Each port is a socket DIR/portN.sock. Drivers name the device vfio-user:DIR/portN.sock. The line
/// "ready" on standard output says that drivers may connect. SIGINT or SIGTERM ends the NIC, which
/// then prints the counters of each port.
#[derive(Debug, Parser)]
#[command(name = "nic", version, hide_possible_values = true)]
pub struct Options {
    #[command(flatten)]
    card: NicConfig,

    /// Number of ports, 1 to 16; neighbours (0 and 1, 2 and 3, ...) are peers: the NIC expects one
    /// to send the frames that the other receives
    #[arg(long, value_name = "N", default_value_t = 2)]
    ports: usize,

    #[command(flatten)]
    port: PortConfig,

    /// The other end of a port's wire: the TAP interface NAME, made if it does not exist; or pcap files,
    /// of which the frames of IN arrive once, and OUT gets what the driver sends (either may be empty).
    /// The first wire is that of port 0, the next that of port 1, unless it names a port; may be repeated
    #[arg(long, value_name = "[PORT:]tap=NAME|[PORT:]pcap=IN,OUT")]
    wire: Vec<WireEnd>,

    /// Fault that the device shows, for example never-finish-reset, stall (transmits nothing) or
    /// no-link; an unknown name lists all faults; may be repeated
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Vec<String>,

    /// Measure the latency of every frame, from the moment it is due (needs traffic rate=MPPS)
    /// until the peer port fetches it for sending
    #[arg(long, conflicts_with = "bursts")]
    latency: bool,

    /// Leave frames out of the latency that are due in the first S seconds after a port begins to
    /// receive
    #[arg(long, value_name = "S", value_parser = seconds, requires = "latency")]
    latency_after: Option<Duration>,

    /// Take commands on a UNIX socket: "link PORT up|down", "module PORT dac|sr|none", "stats",
    /// "maps", "turn [FRAMES] [quiet]"
    #[arg(long, value_name = "PATH")]
    pub control: Option<PathBuf>,

    /// Work only at the command "turn", for a program that traces a driver: two runs then do the same
    #[arg(long, requires = "control", conflicts_with_all = ["bursts", "data_plane_cpus"])]
    pub turns: bool,

    /// Where the card leaves the lines of a burst, as a real card's DMA would: memory, l3 or warm (the
    /// caches of its own processor); a list gives each round a block of bursts at each place
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "memory",
        requires = "bursts"
    )]
    placement: Vec<Placement>,

    /// Write the counters of each port to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Stop after S seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub duration: Option<Duration>,
}

fn fault(name: &str) -> Result<String, ConfigError> {
    Faults::default().add(name).map(|()| name.to_owned())
}

impl Options {
    /// The configuration that the options describe.
    pub fn config(&self) -> Result<NicConfig, ConfigError> {
        let refuse = |text| Err(ConfigError::new(text));
        if self.latency && self.port.traffic == Traffic::Off {
            return refuse("--latency: there is no traffic to measure; add --traffic rate=MPPS");
        }
        if self.turns && !matches!(self.port.traffic, Traffic::Off | Traffic::Saturate) {
            return refuse(
                "--turns: a card in turns has no clock; choose --traffic off or saturate",
            );
        }
        let mut port = self.port.clone();
        self.fault
            .iter()
            .try_for_each(|name| port.faults.add(name))?;
        let mut config = self.card.clone().with_ports(self.ports, &port);
        let after = self.latency_after.unwrap_or_default();
        config.latency = self.latency.then_some(MeasureLatency { after });
        if let Some(bursts) = &mut config.bursts {
            bursts.placements.clone_from(&self.placement);
        }
        let config = config.with_wires(&self.wire)?;
        config.check()?;
        Ok(config)
    }
}
