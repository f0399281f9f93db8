//! The matrix file of `triptych run --config`: what a run measures, and how.
//!
//! A matrix has several blocks. Each block is a cross product, so that not all dimensions multiply.
//! `bench/README.md` describes the format.

use std::path::{Path, PathBuf};

use caches::cpu::Cpu;
use clap::Args;
use record::{
    BackendName, Implementation, LinePlacement, Waiting, DEFAULT_FRAME_SIZE, DEFAULT_QUEUES,
    DEFAULT_RING_SIZE,
};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::build::builds::variants::DEFAULT;
use crate::measure::settings::{
    batches, integer, integers, Burst, Latency, Lockstep, Perf, Trace, Valgrind, Wall,
};
use crate::usage::{number, one_of, Batches, UsageError};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// PCI addresses of the ports of a real card. Without them, `wall` and `perf` start the software
    /// NIC. `vfio-user:SOCKET` is a port of a software NIC that already runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<[String; 2]>,
    /// Configuration of the load generator that sends to a real card, one of `bench/pktgen/*.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pktgen: Option<PathBuf>,
    /// The machine's name for SSH, instead of the name in the configuration of `pktgen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pktgen_host: Option<String>,
    /// The clocks to measure at, one run for each. If empty, the clock stays as it is.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "clocks")]
    pub clocks_ghz: Vec<f64>,
    /// Longest time for the link of each port of a real card, seconds.
    #[serde(deserialize_with = "integer::<_, 1, 3600>")]
    pub link_timeout: u32,
    /// Where the software card's DMA leaves the lines that it writes: `lockstep` and `burst` measure at each of them.
    pub placements: Vec<LinePlacement>,
    pub perf: Perf,
    pub trace: Trace,
    pub valgrind: Valgrind,
    pub lockstep: Lockstep,
    pub burst: Burst,
    pub wall: Wall,
    pub latency: Latency,
    #[serde(rename = "block")]
    pub blocks: Vec<Block>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            devices: None,
            pktgen: None,
            pktgen_host: None,
            clocks_ghz: Vec::new(),
            // As `ixgbe-fwd --link-timeout`: training of a 10GBASE-T link may take more than 8 s.
            link_timeout: 30,
            // Memory as on the published platform, and the caches, where nothing has to be moved.
            placements: vec![LinePlacement::Memory, LinePlacement::Warm],
            perf: Perf::default(),
            trace: Trace::default(),
            valgrind: Valgrind::default(),
            lockstep: Lockstep::default(),
            burst: Burst::default(),
            wall: Wall::default(),
            latency: Latency::default(),
            blocks: Vec::new(),
        }
    }
}

/// The backend that counts instructions, branches, loads and stores. The tracer counts exactly, but only
/// programs of x86-64.
pub const COUNTING: BackendName = if cfg!(target_arch = "x86_64") {
    BackendName::Trace
} else {
    BackendName::Valgrind
};

/// `[[block]]`: a cross product of its lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    pub name: String,
    /// Backends. By default all but [`BackendName::Burst`], which takes long: a block of its own names it.
    pub backends: Vec<BackendName>,
    #[serde(rename = "impl")]
    pub implementations: Vec<Implementation>,
    /// Variants. Each driver is measured in those that it has.
    pub variants: Vec<String>,
    #[serde(deserialize_with = "batches")]
    pub batch: Vec<u32>,
    #[serde(deserialize_with = "rings")]
    pub ring_size: Vec<u32>,
    #[serde(deserialize_with = "integers::<_, 60, 1514>")]
    pub frame_size: Vec<u32>,
    /// Queue pairs of each device. Only `lockstep` and, without loads, `wall` measure several.
    #[serde(deserialize_with = "integers::<_, 1, 16>")]
    pub queues: Vec<u32>,
    /// What the driver does while no packets come. Only blocks with loads take `interrupts`.
    pub waiting: Vec<Waiting>,
    /// Offered loads, both directions together. With loads, a block measures latency, not throughput.
    #[serde(deserialize_with = "loads")]
    pub loads_mpps: Vec<f64>,
    /// Offered loads as shares of the throughput of the block's slowest driver.
    #[serde(deserialize_with = "shares")]
    pub load_fractions: Vec<f64>,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            name: String::new(),
            backends: BackendName::iter()
                .filter(|name| *name != BackendName::Burst)
                .collect(),
            implementations: Implementation::OURS.to_vec(),
            variants: vec![DEFAULT.to_owned()],
            batch: vec![32],
            ring_size: vec![DEFAULT_RING_SIZE],
            frame_size: vec![DEFAULT_FRAME_SIZE],
            queues: vec![DEFAULT_QUEUES],
            waiting: vec![Waiting::Poll],
            loads_mpps: Vec::new(),
            load_fractions: Vec::new(),
        }
    }
}

fn checked<'de, D: Deserializer<'de>, T: Deserialize<'de> + Copy>(
    from: D,
    check: impl Fn(T) -> Result<T, String>,
) -> Result<Vec<T>, D::Error> {
    let values = Vec::deserialize(from)?.into_iter();
    values
        .map(|value| check(value).map_err(D::Error::custom))
        .collect()
}

fn rings<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u32>, D::Error> {
    checked(from, check_ring)
}

fn check_ring(size: u32) -> Result<u32, String> {
    if size.is_power_of_two() && (64..=4096).contains(&size) {
        Ok(size)
    } else {
        Err(format!("{size} is not a power of two from 64 to 4096"))
    }
}

/// Reads a list of numbers above 0.
fn up_to<'de, D: Deserializer<'de>>(from: D, most: f64, what: &str) -> Result<Vec<f64>, D::Error> {
    checked(from, |number: f64| {
        if number > 0.0 && number <= most {
            Ok(number)
        } else {
            Err(format!("{number} {what}: use above 0, at most {most}"))
        }
    })
}

fn clocks<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    up_to(from, 10.0, "GHz is not a clock")
}

fn loads<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    up_to(from, 1000.0, "Mpps is not a load")
}

fn shares<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    up_to(from, 1.0, "is not a share")
}

impl Block {
    pub fn is_loaded(&self) -> bool {
        !self.loads_mpps.is_empty() || !self.load_fractions.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        let lengths = [
            ("backends", self.backends.len()),
            ("impl", self.implementations.len()),
            ("variants", self.variants.len()),
            ("batch", self.batch.len()),
            ("ring_size", self.ring_size.len()),
            ("frame_size", self.frame_size.len()),
            ("queues", self.queues.len()),
            ("waiting", self.waiting.len()),
        ];
        if let Some((key, _)) = lengths.iter().find(|(_, length)| *length == 0) {
            return Err(format!("`{key}` is empty: name a value or omit the key"));
        }
        let several = self.queues.iter().any(|queues| *queues > DEFAULT_QUEUES);
        let with_queues = [BackendName::Lockstep, BackendName::Wall];
        let other_backend = self.backends.iter().any(|name| !with_queues.contains(name));
        let interrupts = self.waiting.contains(&Waiting::Interrupts);
        let fits = |ring: &u32| self.batch.iter().any(|batch| fits(*batch, *ring));
        let loaded = self.is_loaded();
        first_of(&[
            (
                several && other_backend,
                "only the backends `lockstep` and `wall` measure several queues: set backends = \
                 [\"lockstep\", \"wall\"], or one of them",
            ),
            (
                several && loaded,
                "latency is measured with one queue: remove the loads or set queues = [1]",
            ),
            (
                interrupts && !loaded,
                "a driver that is saturated never waits: add `loads_mpps` or remove `interrupts` \
                 from `waiting`",
            ),
            (
                loaded && self.implementations.iter().any(|it| it.is_peer()),
                "latency is measured for the drivers of this project only: remove the others \
                 from `impl`",
            ),
            (
                loaded && !self.backends.contains(&BackendName::Wall),
                "only the backend `wall` offers loads: add it to `backends`",
            ),
            (
                !self.ring_size.iter().any(fits),
                "every batch is larger than half of every ring, and such pairs are left out",
            ),
        ])
        .map_err(str::to_owned)
    }
}

/// The first reason whose condition holds, as an error.
fn first_of(impossible: &[(bool, &'static str)]) -> Result<(), &'static str> {
    let mut holding = impossible.iter().filter(|(holds, _)| *holds);
    holding.next().map_or(Ok(()), |(_, why)| Err(*why))
}

/// Whether all batches can be full. The NIC must have one batch ready while the driver holds
/// another.
pub fn fits(batch: u32, ring: u32) -> bool {
    batch <= ring / 2
}

/// The error of a matrix that leaves nothing to measure.
pub(super) fn nothing(why: &str) -> UsageError {
    UsageError(format!("nothing to measure: {why}"))
}

impl Config {
    pub fn new(blocks: Vec<Block>) -> Self {
        Self {
            blocks,
            ..Self::default()
        }
    }

    /// Reads a file. Options of the command line may complete it before [`Config::check`].
    pub fn parse(path: &Path) -> Result<Self, UsageError> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|cause| {
            UsageError(format!("cannot read the configuration {name}: {cause}"))
        })?;
        toml::from_str(&text)
            .map_err(|cause| UsageError(format!("{name}: {}", cause.to_string().trim_end())))
    }

    /// The configuration for `run.json`, which others read: without the generator's name and the user's paths.
    pub fn to_record(&self) -> serde_json::Result<serde_json::Value> {
        let host = self.pktgen_host.as_deref().map(record::alias);
        serde_json::to_value(Self {
            pktgen_host: host,
            ..self.with_texts(record::hide)
        })
    }

    pub fn from_record(plan: serde_json::Value) -> serde_json::Result<Self> {
        serde_json::from_value::<Self>(plan).map(|plan| plan.with_texts(record::reveal))
    }

    fn with_texts(&self, change: fn(&str) -> String) -> Self {
        let devices = self.devices.as_ref();
        let pktgen = self.pktgen.as_ref();
        Self {
            devices: devices.map(|ports| ports.each_ref().map(|port| change(port))),
            pktgen: pktgen.map(|path| change(&path.to_string_lossy()).into()),
            pktgen_host: self.pktgen_host.as_deref().map(change),
            ..self.clone()
        }
    }

    pub fn check(&self) -> Result<(), UsageError> {
        if self.blocks.is_empty() {
            return Err(nothing("the file has no [[block]]"));
        }
        let devices = self.devices.as_ref();
        first_of(&[
            (
                self.pktgen.is_some() && devices.is_none(),
                "`pktgen` sends to real cards: name the two `devices`, in the file or with --devices",
            ),
            (
                devices.is_some_and(|[first, second]| first == second),
                "both `devices` are the same, and a forwarder needs two ports",
            ),
            (
                self.pktgen_host.is_some() && self.pktgen.is_none(),
                "`pktgen_host` is the machine of `pktgen`: name that file, too",
            ),
        ])
        .map_err(nothing)?;
        for name in &self.trace.cpus {
            Cpu::named(name).map_err(|error| UsageError(format!("[trace] cpus: {error}")))?;
        }
        for (index, block) in self.blocks.iter().enumerate() {
            let name = match block.name.as_str() {
                "" => format!("number {}", index + 1),
                name => format!("{name:?}"),
            };
            let place = |why| UsageError(format!("[[block]] {name}: {why}"));
            block.check().map_err(place)?;
        }
        Ok(())
    }

    /// Shortens all measurements. Such a run only shows that everything works; its figures are rough.
    pub fn make_quick(&mut self) {
        self.perf.seconds = 0.5;
        self.perf.warm_up = self.perf.warm_up.min(1.0);
        self.perf.repeats = 1;
        (self.valgrind.packets, self.valgrind.repeats) = (20_480, 1);
        (self.lockstep.processes, self.lockstep.rounds) = (2, 30);
        (self.burst.processes, self.burst.rounds) = (1, 2);
        self.burst.bursts = 200;
        self.wall.seconds = self.wall.seconds.min(1.0);
        self.wall.warm_up = self.wall.warm_up.min(1.0);
        self.wall.repeats = 1;
        self.latency.seconds = 1.0;
    }

    /// Keeps only the measurements that the filter selects.
    pub fn apply_filter(&mut self, filter: &MatrixFilter) -> Result<(), UsageError> {
        for block in &mut self.blocks {
            keep(&mut block.backends, &filter.backends);
            keep(&mut block.implementations, &filter.implementations);
            keep(&mut block.variants, &filter.variants);
            keep(&mut block.batch, &filter.batch);
            keep(&mut block.ring_size, &filter.ring_size);
            keep(&mut block.frame_size, &filter.frame_size);
        }
        self.blocks.retain(|block| block.check().is_ok());
        if self.blocks.is_empty() {
            Err(nothing(
                "no block of the configuration matches the options of the command line",
            ))
        } else {
            Ok(())
        }
    }
}

/// The options that select a part of a matrix. An empty list selects everything.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct MatrixFilter {
    /// Drivers [default: all]
    #[arg(long = "impl", value_name = "IMPL", value_delimiter = ',', value_parser = one_of::<Implementation>())]
    pub implementations: Vec<Implementation>,
    /// Variants: default, overflow-checks, trusted-device, untrusted-device-copy, trapping-ubsan,
    /// fortified, no-lto, or a folder of build/variants/ [default: default, and overflow-checks for
    /// safe Rust]
    #[arg(long = "variant", value_name = "VARIANT", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Batch sizes.
    #[command(flatten)]
    pub batch: Batches,
    /// Descriptors per ring, a power of two from 64 to 4096 [default: 512]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = ring_size)]
    pub ring_size: Vec<u32>,
    /// Bytes of a frame without its CRC, 60 to 1514 [default: 60]
    #[arg(long, value_name = "BYTES", value_delimiter = ',', value_parser = number::<u32>(60..=1514))]
    pub frame_size: Vec<u32>,
    /// Backends, which count or measure [default: all that work on this machine]
    #[arg(long = "backend", value_name = "BACKEND", value_delimiter = ',', value_parser = one_of::<BackendName>())]
    pub backends: Vec<BackendName>,
}

fn ring_size(text: &str) -> Result<u32, String> {
    let number = text.parse();
    check_ring(number.map_err(|_| format!("{text:?} is not a number"))?)
}

fn keep<T: PartialEq>(list: &mut Vec<T>, wanted: &[T]) {
    list.retain(|item| wanted.is_empty() || wanted.contains(item));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.toml");
        std::fs::write(&path, text).unwrap();
        let config = Config::parse(&path).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn every_key_is_read_survives_run_json_and_has_a_default() {
        let config = parse("[[block]]\n").unwrap();
        assert_eq!(config, Config::new(vec![Block::default()]));
        assert!(!config.blocks[0].backends.contains(&BackendName::Burst));
        let text = r#"
            devices = ["0000:03:00.0", "0000:03:00.1"]
            pktgen = "bench/pktgen/testpmd.toml"
            link_timeout = 45
            latency = { seconds = 0.5, warm_up = 0 }
            [[block]]
            name = "all"
            backends = ["wall", "valgrind"]
            impl = ["c", "rust-unsafe"]
            variants = ["default", "no-lto"]
            batch = [1, 512]
            ring_size = [64, 4096]
            frame_size = [60, 1514]
            [[block]]
            load_fractions = [0.1, 1]
            loads_mpps = [1, 2.5]
        "#;
        let config = parse(text).unwrap();
        assert_eq!(config.link_timeout, 45);
        assert_eq!((config.latency.seconds, config.latency.repeats), (0.5, 1));
        assert_eq!(config.blocks[1].loads_mpps, [1.0, 2.5]);
        // As in run.json.
        let json = serde_json::to_value(&config).unwrap();
        let back: Config = serde_json::from_value(json).unwrap();
        assert_eq!(back, config);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, why) in [
            ("batches = [1]", 2, "unknown field `batches`"),
            ("\nbatch = [1, 513]", 3, "513 is not a number from 1 to 512"),
            ("batch = [-1]", 2, "-1"),
            ("ring_size = [\n  64,\n  500,\n]", 2, "power of two"),
            ("queues = [1, 17]", 2, "17 is not a number from 1 to 16"),
            ("impl = [\"fortran\"]", 2, "unknown variant `fortran`"),
            ("loads_mpps = [0]", 2, "not a load"),
            ("load_fractions = [1.5]", 2, "not a share"),
            ("[wall]\nseconds = 0", 3, "0 s is not from 0.1"),
            ("[wall]\nseconds = \"5s\"", 3, "\"5s\""),
            ("[lockstep]\nrounds = 0", 3, "0 is not a number from 1"),
        ] {
            let error = parse(&format!("[[block]]\n{text}\n")).unwrap_err();
            assert!(error.contains(&format!("line {line}")), "{text}: {error}");
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.contains("matrix.toml"), "{error}");
        }
    }

    #[test]
    fn impossible_matrices_are_refused() {
        for (text, why) in [
            ("batch = []", "[[block]] number 1: `batch` is empty"),
            (
                "name = \"x\"\nbatch = [64]\nring_size = [64]",
                "[[block]] \"x\": every batch",
            ),
            (
                "backends = [\"valgrind\"]\nloads_mpps = [1]",
                "only the backend `wall`",
            ),
            ("queues = [1, 2]", "only the backends `lockstep` and `wall`"),
            (
                "backends = [\"wall\"]\nqueues = [2]\nloads_mpps = [1]",
                "measured with one queue",
            ),
            ("waiting = [\"poll\", \"interrupts\"]", "add `loads_mpps`"),
            (
                "impl = [\"ixy\"]\nloads_mpps = [1]",
                "drivers of this project only",
            ),
        ] {
            let error = parse(&format!("[[block]]\n{text}\n")).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        for (text, why) in [
            ("devices = [\"a\", \"a\"]", "two ports"),
            ("devices = [\"a\", \"b\"]\npktgen_host = \"x\"", "`pktgen`"),
            ("clocks_ghz = [33]", "33 GHz"),
            ("pktgen = \"x\"", "`devices`"),
            ("link_timeout = 0", "from 1 to 3600"),
            ("trace = { cpus = [\"abacus\"] }", "abacus"),
        ] {
            let error = parse(&format!("{text}\n[[block]]\n")).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(parse("").unwrap_err().contains("no [[block]]"));
    }

    #[test]
    fn the_command_line_selects_a_part_of_a_matrix() {
        let text = "[[block]]\nbatch = [1, 8, 32]\n[[block]]\nring_size = [64, 512]\n";
        let mut config = parse(text).unwrap();
        let mut wanted = MatrixFilter {
            ring_size: vec![64],
            ..MatrixFilter::default()
        };
        config.apply_filter(&wanted).unwrap();
        assert_eq!(config.blocks.len(), 1);
        assert_eq!(config.blocks[0].ring_size, [64]);
        wanted.variants = vec!["trapping-ubsan".into()];
        assert!(config.apply_filter(&wanted).is_err());
    }

    #[test]
    fn the_committed_matrices_are_valid() {
        for name in ["matrix.toml", "matrix-quick.toml", "card.toml"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            let mut config = Config::parse(&path).unwrap();
            if name == "card.toml" {
                let error = config.check().unwrap_err().to_string();
                assert!(error.contains("--devices"), "{error}");
                config.devices = Some(["0000:03:00.0".into(), "0000:03:00.1".into()]);
                // As published.
                assert_eq!(config.clocks_ghz, [1.6, 3.3]);
                assert_eq!((config.perf.warm_up, config.perf.seconds), (5.0, 60.0));
                assert_eq!((config.wall.warm_up, config.wall.seconds), (5.0, 60.0));
            }
            config.check().unwrap();
        }
    }
}
