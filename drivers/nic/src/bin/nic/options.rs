//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use nic::{
    Bursts, Cable, ConfigError, Expected, Faults, FrameSizes, Hardware, LeftBehind, LinkSettings,
    LinkSpeed, MeasureLatency, MmioMode, Module, NicConfig, Placement, TraceTo, Traffic,
    VerifyMode, WireEnd,
};

/// A software Intel 82599, served over vfio-user.
///
/// Each port is a socket DIR/portN.sock. Drivers name the device vfio-user:DIR/portN.sock. The line
/// "ready" on standard output says that drivers may connect. SIGINT or SIGTERM ends the NIC, which
/// then prints the counters of each port.
#[derive(Debug, Parser)]
#[command(name = "nic", version, hide_possible_values = true)]
pub struct Options {
    /// Directory for the sockets port0.sock, port1.sock, ...; made if it does not exist
    #[arg(long, value_name = "DIR")]
    socket_dir: PathBuf,

    /// Number of ports, 1 to 16; neighbours (0 and 1, 2 and 3, ...) are peers: the NIC expects one
    /// to send the frames that the other receives
    #[arg(long, value_name = "N", default_value_t = 2)]
    ports: usize,

    /// Register access: shared (queue registers are shared memory) or trap (every access is a
    /// message)
    #[arg(long, value_enum, value_name = "MODE", default_value = "shared")]
    mmio: MmioMode,

    /// Frames that arrive at every port: off, saturate (one for every free descriptor),
    /// window=FRAMES (the same, while at most FRAMES have not come back), or rate=MPPS
    #[arg(long, value_name = "TRAFFIC", default_value = "off")]
    traffic: Traffic,

    /// Frame size in bytes without CRC, 60 to 1514; MIN-MAX or A,B,C for several sizes in turn
    #[arg(long, value_name = "BYTES", default_value = "60")]
    size: FrameSizes,

    /// Number of flows that the frames belong to
    #[arg(long, value_name = "N", default_value_t = 1024)]
    flows: u16,

    /// Checks of the frames that come back: full (every byte), sequence (numbers only), or off
    #[arg(long, value_enum, value_name = "HOW", default_value = "full")]
    verify: VerifyMode,

    /// Change that drivers make to frames: touch (byte 1 goes up by one), touch@N (byte N does, 0 to
    /// 59), mac (new addresses, as testpmd's forward mode mac writes them) or none
    #[arg(long, value_name = "CHANGE", default_value = "touch")]
    expect: Expected,

    /// Cable between two ports: each receives the frames that the other sends, unchecked; may be
    /// repeated
    #[arg(long, value_name = "A:B")]
    cable: Vec<Cable>,

    /// The other end of a port's wire: the TAP interface NAME, made if it does not exist; or pcap files,
    /// of which the frames of IN arrive once, and OUT gets what the driver sends (either may be empty).
    /// The first wire is that of port 0, the next that of port 1, unless it names a port; may be repeated
    #[arg(long, value_name = "[PORT:]tap=NAME|[PORT:]pcap=IN,OUT")]
    wire: Vec<WireEnd>,

    /// Module in the SFP+ cages: dac (a direct-attach cable), sr (an optical module) or none
    #[arg(long, value_enum, value_name = "MODULE", default_value = "dac")]
    module: Module,

    /// Speed of the links: 100m, 1g, 2.5g, 5g or 10g; each family of cards has some of them
    #[arg(long, value_enum, value_name = "SPEED", default_value = "10g")]
    link_speed: LinkSpeed,

    /// Time in seconds from a reset until the link is up, as the training of 10GBASE-T takes it
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "0")]
    link_delay: Duration,

    /// Links stay down until the driver has reset the card N times
    #[arg(long, value_name = "N", default_value_t = 0)]
    link_attempts: u32,

    /// What an earlier driver left behind, separated by commas: laser-off, link-disabled,
    /// rate-limited=MBIT, phy-off
    #[arg(long, value_name = "STATES")]
    left_behind: Option<LeftBehind>,

    /// PCI device id, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = device_id, default_value = "10fb")]
    device_id: u16,

    /// Fault that the device shows, for example never-finish-reset, stall (transmits nothing) or
    /// no-link; an unknown name lists all faults; may be repeated
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Vec<String>,

    /// In what the card differs from the model where sources about real cards disagree: datasheet (nothing),
    /// differs (everything that drivers/nic/hardware.toml lists), or FILE.toml with a profile
    #[arg(long, value_name = "PROFILE", default_value = "datasheet")]
    hardware: Hardware,

    /// Record every register access in FILE; shared mode does not see accesses to queue registers
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Measure the latency of every frame, from the moment it is due (needs traffic rate=MPPS)
    /// until the peer port fetches it for sending
    #[arg(long)]
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
    #[arg(long, requires = "control")]
    pub turns: bool,

    /// Time bursts of packets, and write "bursts done" to standard output after the last one: default, or
    /// some of rounds=N (4), bursts=N of a round (320), seed=N (1), saturate=S (1.6: seconds with as many
    /// frames as the driver takes, before the first burst)
    #[arg(long, value_name = "SETTINGS", conflicts_with_all = ["turns", "latency"])]
    burst: Option<Bursts>,

    /// Where the card leaves the lines of a burst, as a real card's DMA would: memory, l3 or warm (the
    /// caches of its own processor); a list gives each round a block of bursts at each place
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "memory",
        requires = "burst"
    )]
    placement: Vec<Placement>,

    /// Write the counters of each port to FILE as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Stop after S seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub duration: Option<Duration>,

    /// Processor for the data plane
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,

    /// Processors for several data planes, such as 0,2: ports that exchange frames share one
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["cpu", "turns"])]
    data_plane_cpus: Vec<usize>,
}

fn device_id(text: &str) -> Result<u16, String> {
    u16::from_str_radix(text.trim_start_matches("0x"), 16)
        .map_err(|_| "write up to four hexadecimal digits, such as 10fb".to_owned())
}

fn fault(name: &str) -> Result<String, ConfigError> {
    Faults::default().add(name).map(|()| name.to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "write a number of seconds, such as 10 or 0.5".to_owned())
}

impl Options {
    /// The configuration that the options describe.
    pub fn config(&self) -> Result<NicConfig, ConfigError> {
        let refuse = |text| Err(ConfigError::new(text));
        if self.latency && self.traffic == Traffic::Off {
            return refuse("--latency: there is no traffic to measure; add --traffic rate=MPPS");
        }
        if self.turns && !matches!(self.traffic, Traffic::Off | Traffic::Saturate) {
            return refuse(
                "--turns: a card in turns has no clock; choose --traffic off or saturate",
            );
        }
        let mut faults = Faults::default();
        self.fault.iter().try_for_each(|name| faults.add(name))?;
        let mut config = NicConfig::new(&self.socket_dir, self.ports)
            .with_mmio(self.mmio)
            .with_each_port(|port| {
                port.traffic = self.traffic;
                port.sizes = self.size.clone();
                port.flows = self.flows;
                port.verify = self.verify;
                port.expected = self.expect;
                port.module = self.module;
                port.device_id = self.device_id;
                port.faults = faults;
                port.hardware = self.hardware;
                port.link = LinkSettings {
                    speed: self.link_speed,
                    delay: self.link_delay,
                    attempts: self.link_attempts,
                };
                port.left_behind = self.left_behind.unwrap_or_default();
            });
        config.cables.clone_from(&self.cable);
        config.cpu = self.cpu;
        config.data_plane_cpus.clone_from(&self.data_plane_cpus);
        let after = self.latency_after.unwrap_or_default();
        config.latency = self.latency.then_some(MeasureLatency { after });
        config.bursts.clone_from(&self.burst);
        if let Some(bursts) = &mut config.bursts {
            bursts.placements.clone_from(&self.placement);
        }
        if let Some(path) = &self.trace {
            config.trace = TraceTo::File(path.clone());
        }
        let config = config.with_wires(&self.wire)?;
        config.check()?;
        Ok(config)
    }
}
