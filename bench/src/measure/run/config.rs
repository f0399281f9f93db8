//! The matrix file of `triptych run --config`: what a run measures, and how.
//!
//! A matrix has several blocks. Each block is a cross product, so that not all dimensions multiply.
//! `bench/README.md` describes the format.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use record::{
    BackendName, Implementation, LinePlacement, Waiting, DEFAULT_FRAME_SIZE, DEFAULT_QUEUES,
    DEFAULT_RING_SIZE,
};
use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use crate::build::builds::variants::DEFAULT;
use crate::measure::settings::backends::{Burst, Latency, Lockstep, Perf, Trace, Valgrind, Wall};
use crate::measure::settings::values::{
    Batch, BoundedInteger, Fraction, FrameSize, Ghz, MeasurementSeconds, Mpps, Queues, Repeats,
    RingSize, WarmUpSeconds,
};
use crate::usage::UsageError;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// The file is malformed. The message names the line.
    #[error("{}: {}", path.display(), cause.to_string().trim_end())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        cause: toml::de::Error,
    },
    /// A block is impossible.
    #[error("{block}: {why}")]
    Block {
        /// The block's name or number.
        block: String,
        /// Why it is impossible.
        why: String,
    },
    /// Nothing is left to measure.
    #[error("nothing to measure: {0}")]
    Nothing(String),
}

impl From<ConfigError> for UsageError {
    fn from(error: ConfigError) -> Self {
        Self(error.to_string())
    }
}

/// A configuration: what to measure, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// PCI addresses of the ports of a real card. Without them, `wall` and `perf` start the software
    /// NIC. `vfio-user:SOCKET` is a port of a software NIC that already runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<[String; 2]>,
    /// Configuration of the load generator that sends to a real card, one of `bench/pktgen/*.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pktgen: Option<PathBuf>,
    /// The machine's name for SSH, instead of the name in the configuration of `pktgen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pktgen_host: Option<String>,
    /// The clocks to measure at, one run for each. If empty, the clock stays as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks_ghz: Vec<Ghz>,
    /// Longest time for the link of each port of a real card, seconds.
    #[serde(default = "link_timeout")]
    pub link_timeout: BoundedInteger<1, 3600>,
    /// Where the software card's DMA leaves the lines that it writes: `lockstep` and `burst` measure at each of them.
    #[serde(default = "placements")]
    pub placements: Vec<LinePlacement>,
    /// Settings of the hardware counters.
    #[serde(default)]
    pub perf: Perf,
    /// Settings of the tracer.
    #[serde(default)]
    pub trace: Trace,
    /// Settings of valgrind.
    #[serde(default)]
    pub valgrind: Valgrind,
    /// Settings of the lockstep backend.
    #[serde(default)]
    pub lockstep: Lockstep,
    /// Settings of burst timing.
    #[serde(default)]
    pub burst: Burst,
    /// Settings of throughput measurements.
    #[serde(default)]
    pub wall: Wall,
    /// Settings of latency measurements.
    #[serde(default)]
    pub latency: Latency,
    /// The matrix.
    #[serde(rename = "block")]
    pub blocks: Vec<Block>,
}

/// Memory as on the published platform, and the caches, where nothing has to be moved.
fn placements() -> Vec<LinePlacement> {
    vec![LinePlacement::Memory, LinePlacement::Warm]
}

/// As `ixgbe-fwd --link-timeout`: training of a 10GBASE-T link may take more than 8 s.
fn link_timeout() -> BoundedInteger<1, 3600> {
    BoundedInteger(30)
}

/// The backend that counts instructions, branches, loads and stores. The tracer counts exactly, but only
/// programs of x86-64.
pub const COUNTING: BackendName = match cfg!(target_arch = "x86_64") {
    true => BackendName::Trace,
    false => BackendName::Valgrind,
};

/// `[[block]]`: a cross product of its lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    /// Its name in messages.
    pub name: String,
    /// Backends. By default all but [`BackendName::Burst`], which takes long: a block of its own names it.
    pub backends: Vec<BackendName>,
    /// Drivers.
    #[serde(rename = "impl")]
    pub implementations: Vec<Implementation>,
    /// Variants. Each driver is measured in those that it has.
    pub variants: Vec<String>,
    /// Batch sizes.
    pub batch: Vec<Batch>,
    /// Ring sizes.
    pub ring_size: Vec<RingSize>,
    /// Frame sizes.
    pub frame_size: Vec<FrameSize>,
    /// Queue pairs of each device. Only `lockstep` and, without loads, `wall` measure several.
    pub queues: Vec<Queues>,
    /// What the driver does while no packets come. Only blocks with loads take `interrupts`.
    pub waiting: Vec<Waiting>,
    /// Offered loads, both directions together. With loads, a block measures latency, not throughput.
    pub loads_mpps: Vec<Mpps>,
    /// Offered loads as shares of the throughput of the block's slowest driver.
    pub load_fractions: Vec<Fraction>,
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
            batch: vec![BoundedInteger(32)],
            ring_size: vec![RingSize(DEFAULT_RING_SIZE)],
            frame_size: vec![BoundedInteger(DEFAULT_FRAME_SIZE)],
            queues: vec![BoundedInteger(DEFAULT_QUEUES)],
            waiting: vec![Waiting::Poll],
            loads_mpps: Vec::new(),
            load_fractions: Vec::new(),
        }
    }
}

impl Block {
    /// Whether the block measures latency.
    pub fn is_loaded(&self) -> bool {
        !self.loads_mpps.is_empty() || !self.load_fractions.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        for (key, empty) in [
            ("backends", self.backends.is_empty()),
            ("impl", self.implementations.is_empty()),
            ("variants", self.variants.is_empty()),
            ("batch", self.batch.is_empty()),
            ("ring_size", self.ring_size.is_empty()),
            ("frame_size", self.frame_size.is_empty()),
            ("queues", self.queues.is_empty()),
            ("waiting", self.waiting.is_empty()),
        ] {
            if empty {
                return Err(format!("`{key}` is empty: name a value or omit the key"));
            }
        }
        let several = self.queues.iter().any(|queues| queues.0 > DEFAULT_QUEUES);
        let with_queues = [BackendName::Lockstep, BackendName::Wall];
        if several && !self.backends.iter().all(|name| with_queues.contains(name)) {
            return Err(
                "only the backends `lockstep` and `wall` measure several queues: set backends = \
                 [\"lockstep\", \"wall\"], or one of them"
                    .to_owned(),
            );
        }
        if several && self.is_loaded() {
            return Err(
                "latency is measured with one queue: remove the loads or set queues = [1]"
                    .to_owned(),
            );
        }
        if self.waiting.contains(&Waiting::Interrupts) && !self.is_loaded() {
            return Err(
                "a driver that is saturated never waits: add `loads_mpps` or remove `interrupts` \
                 from `waiting`"
                    .to_owned(),
            );
        }
        let mut drivers = self.implementations.iter();
        if let Some(peer) = drivers.find(|driver| self.is_loaded() && driver.is_peer()) {
            return Err(format!(
                "latency is measured for the drivers of this project only: remove {peer} from `impl`"
            ));
        }
        if self.is_loaded() && !self.backends.contains(&BackendName::Wall) {
            return Err("only the backend `wall` offers loads: add it to `backends`".to_owned());
        }
        let fits = |ring: &RingSize| self.batch.iter().any(|batch| fits(*batch, *ring));
        if !self.ring_size.iter().any(fits) {
            return Err(
                "every batch is larger than half of every ring, and such pairs are left out"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// Whether all batches can be full. The NIC must have one batch ready while the driver holds
/// another.
pub fn fits(batch: Batch, ring: RingSize) -> bool {
    batch.0 <= ring.0 / 2
}

impl Config {
    /// These blocks with the default settings.
    pub fn new(blocks: Vec<Block>) -> Self {
        Self {
            devices: None,
            pktgen: None,
            pktgen_host: None,
            clocks_ghz: Vec::new(),
            link_timeout: link_timeout(),
            placements: placements(),
            perf: Perf::default(),
            trace: Trace::default(),
            valgrind: Valgrind::default(),
            lockstep: Lockstep::default(),
            burst: Burst::default(),
            wall: Wall::default(),
            latency: Latency::default(),
            blocks,
        }
    }

    /// Reads a file and checks it.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let config = Self::parse(path)?;
        config.check()?;
        Ok(config)
    }

    /// Reads a file. Options of the command line may complete it before [`Config::check`].
    ///
    /// # Errors
    /// [`ConfigError::Read`], [`ConfigError::Malformed`].
    pub fn parse(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|cause| ConfigError::Read {
            path: path.to_owned(),
            cause,
        })?;
        toml::from_str(&text).map_err(|cause| ConfigError::Malformed {
            path: path.to_owned(),
            cause,
        })
    }

    /// The configuration for `run.json`, which others read: without the generator's name and the user's paths.
    ///
    /// # Errors
    /// If it cannot be JSON.
    pub fn to_record(&self) -> serde_json::Result<serde_json::Value> {
        let host = self.pktgen_host.as_deref().map(record::alias);
        serde_json::to_value(Self {
            pktgen_host: host,
            ..self.with_texts(record::hide)
        })
    }

    /// The configuration that [`Config::to_record`] wrote.
    ///
    /// # Errors
    /// If another version wrote it.
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

    /// Checks that everything in it is possible.
    ///
    /// # Errors
    /// [`ConfigError::Block`], [`ConfigError::Nothing`].
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.blocks.is_empty() {
            return Err(ConfigError::Nothing("the file has no [[block]]".to_owned()));
        }
        if self.pktgen.is_some() && self.devices.is_none() {
            return Err(ConfigError::Nothing(
                "`pktgen` sends to real cards: name the two `devices`, in the file or \
                 with --devices"
                    .to_owned(),
            ));
        }
        if let Some([first, second]) = &self.devices {
            if first == second {
                return Err(ConfigError::Nothing(format!(
                    "both `devices` are {first}: a forwarder needs two ports"
                )));
            }
        }
        if self.pktgen_host.is_some() && self.pktgen.is_none() {
            return Err(ConfigError::Nothing(
                "`pktgen_host` is the machine of `pktgen`: name that file, too".to_owned(),
            ));
        }
        for (index, block) in self.blocks.iter().enumerate() {
            block.check().map_err(|why| ConfigError::Block {
                block: match block.name.as_str() {
                    "" => format!("[[block]] number {}", index + 1),
                    name => format!("[[block]] {name:?}"),
                },
                why,
            })?;
        }
        Ok(())
    }

    /// Shortens all measurements. Such a run only shows that everything works; its figures are rough.
    pub fn make_quick(&mut self) {
        self.perf.seconds = MeasurementSeconds(0.5);
        self.perf.warm_up = quick_warm_up(self.perf.warm_up);
        self.perf.repeats = BoundedInteger(1);
        self.valgrind = Valgrind {
            packets: BoundedInteger(20_480),
            repeats: BoundedInteger(1),
        };
        self.lockstep = Lockstep {
            processes: BoundedInteger(2),
            rounds: BoundedInteger(30),
        };
        self.burst = Burst {
            processes: BoundedInteger(1),
            rounds: BoundedInteger(2),
            bursts: BoundedInteger(200),
        };
        self.wall.seconds = MeasurementSeconds(self.wall.seconds.0.min(1.0));
        self.wall.warm_up = quick_warm_up(self.wall.warm_up);
        self.wall.repeats = BoundedInteger(1);
        self.latency.seconds = MeasurementSeconds(1.0);
    }

    /// Sets the number of repeats of all backends that repeat.
    pub fn set_repeats(&mut self, repeats: Repeats) {
        self.perf.repeats = repeats;
        self.valgrind.repeats = repeats;
        self.wall.repeats = repeats;
        self.latency.repeats = repeats;
    }

    /// Keeps only the measurements that the filter selects.
    ///
    /// # Errors
    /// [`ConfigError::Nothing`] if nothing is left.
    pub fn apply_filter(&mut self, filter: &MatrixFilter) -> Result<(), ConfigError> {
        for block in &mut self.blocks {
            keep(&mut block.backends, &filter.backends);
            keep(&mut block.implementations, &filter.implementations);
            keep(&mut block.variants, &filter.variants);
            keep(&mut block.batch, &filter.batch);
            keep(&mut block.ring_size, &filter.ring_size);
            keep(&mut block.frame_size, &filter.frame_size);
        }
        self.blocks.retain(|block| block.check().is_ok());
        match self.blocks.is_empty() {
            true => Err(ConfigError::Nothing(
                "no block of the configuration matches the options of the command line".to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// The names of the keys that differ between two configurations.
    pub fn differences(&self, other: &Self) -> BTreeSet<String> {
        let table = |config: &Self| match serde_json::to_value(config) {
            Ok(serde_json::Value::Object(table)) => table,
            _ => serde_json::Map::new(),
        };
        let (ours, theirs) = (table(self), table(other));
        ours.keys()
            .chain(theirs.keys())
            .filter(|key| ours.get(*key) != theirs.get(*key))
            .cloned()
            .collect()
    }
}

/// Selects a part of a matrix. An empty list selects everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MatrixFilter {
    /// Backends.
    pub backends: Vec<BackendName>,
    /// Drivers.
    pub implementations: Vec<Implementation>,
    /// Variants.
    pub variants: Vec<String>,
    /// Batch sizes.
    pub batch: Vec<Batch>,
    /// Ring sizes.
    pub ring_size: Vec<RingSize>,
    /// Frame sizes.
    pub frame_size: Vec<FrameSize>,
}

fn quick_warm_up(full: WarmUpSeconds) -> WarmUpSeconds {
    match full > WarmUpSeconds::ONE {
        true => WarmUpSeconds::ONE,
        false => full,
    }
}

fn keep<T: PartialEq>(list: &mut Vec<T>, wanted: &[T]) {
    list.retain(|item| wanted.is_empty() || wanted.contains(item));
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn omitted_keys_have_their_defaults() {
        let config = parse("[[block]]\n").unwrap();
        assert_eq!(config, Config::new(vec![Block::default()]));
        let block = &config.blocks[0];
        assert_eq!(block.implementations.len(), 3);
        assert_eq!(block.backends.len(), BackendName::iter().count() - 1);
        assert!(!block.backends.contains(&BackendName::Burst));
        assert_eq!(block.batch, [BoundedInteger(32)]);
        assert_eq!(block.ring_size, [RingSize(512)]);
        assert!(!block.is_loaded());
    }

    #[test]
    fn every_key_is_read_and_survives_run_json() {
        let text = r#"
            devices = ["0000:03:00.0", "0000:03:00.1"]
            pktgen = "bench/pktgen/testpmd.toml"
            link_timeout = 45
            wall = { seconds = 60, warm_up = 5, repeats = 2 }
            latency = { seconds = 0.5, warm_up = 0 }
            [valgrind]
            packets = 1000
            [lockstep]
            processes = 1
            rounds = 5
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
        assert_eq!(config.link_timeout, BoundedInteger(45));
        assert_eq!(config.wall.warm_up.duration(), Duration::from_secs(5));
        assert_eq!(config.wall.seconds.duration(), Duration::from_secs(60));
        assert_eq!(config.latency.seconds.duration().as_millis(), 500);
        assert_eq!(config.blocks[1].loads_mpps, [Mpps(1.0), Mpps(2.5)]);
        // As in run.json.
        let json = serde_json::to_value(&config).unwrap();
        let back: Config = serde_json::from_value(json).unwrap();
        assert_eq!(back, config);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, line, why) in [
            ("[[block]]\nbatches = [1]\n", 2, "unknown field `batches`"),
            ("[wal]\n[[block]]\n", 1, "unknown field `wal`"),
            (
                "[[block]]\n\nbatch = [1, 513]\n",
                3,
                "513 is not a number from 1 to 512",
            ),
            (
                "[[block]]\nbatch = [\"32k\"]\n",
                2,
                "\"32k\" is not a number from 1 to 512",
            ),
            (
                "[[block]]\nbatch = [-1]\n",
                2,
                "-1 is not a number from 1 to 512",
            ),
            (
                "[[block]]\nring_size = [\n  64,\n  500,\n]\n",
                2,
                "power of two",
            ),
            ("[[block]]\nring_size = [8192]\n", 2, "power of two"),
            ("[[block]]\nframe_size = [64, 1518]\n", 2, "1518"),
            (
                "[[block]]\nqueues = [1, 17]\n",
                2,
                "17 is not a number from 1 to 16",
            ),
            (
                "[[block]]\nimpl = [\"fortran\"]\n",
                2,
                "unknown variant `fortran`",
            ),
            (
                "[[block]]\nbackends = [\"guess\"]\n",
                2,
                "unknown variant `guess`",
            ),
            ("[[block]]\nloads_mpps = [0]\n", 2, "not a load"),
            ("[[block]]\nload_fractions = [1.5]\n", 2, "not a share"),
            ("[[block]]\n[wall]\nseconds = 0\n", 3, "too short"),
            ("[[block]]\n[wall]\nwarm_up = -1\n", 3, "-1 s"),
            (
                "[[block]]\n[wall]\nseconds = \"5s\"\n",
                3,
                "a number of seconds",
            ),
            (
                "[[block]]\n[lockstep]\nrounds = 0\n",
                3,
                "0 is not a number from 1",
            ),
            ("[[block]]\nname = 7\n", 2, "expected a string"),
            ("[[block]]\nbatch = [1\n", 2, "unclosed array"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(&format!("line {line}")), "{text}: {error}");
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.contains("matrix.toml"), "{error}");
        }
    }

    #[test]
    fn impossible_matrices_are_refused() {
        for (text, why) in [
            ("", "missing field `block`"),
            ("block = []\n", "no [[block]]"),
            (
                "[[block]]\nbatch = []\n",
                "[[block]] number 1: `batch` is empty",
            ),
            (
                "[[block]]\n[[block]]\nname = \"x\"\nbatch = [64, 512]\nring_size = [64]\n",
                "[[block]] \"x\": every batch",
            ),
            (
                "[[block]]\nbackends = [\"valgrind\"]\nloads_mpps = [1]\n",
                "only the backend `wall`",
            ),
            (
                "[[block]]\nbackends = [\"lockstep\", \"valgrind\"]\nqueues = [1, 2]\n",
                "only the backends `lockstep` and `wall` measure several queues",
            ),
            (
                "[[block]]\nbackends = [\"wall\"]\nqueues = [1, 2]\nloads_mpps = [1]\n",
                "latency is measured with one queue",
            ),
            (
                "[[block]]\nwaiting = [\"poll\", \"interrupts\"]\n",
                "add `loads_mpps` or remove `interrupts`",
            ),
            ("devices = [\"a\", \"a\"]\n[[block]]\n", "two ports"),
            (
                "devices = [\"a\", \"b\"]\npktgen_host = \"x\"\n[[block]]\n",
                "`pktgen`",
            ),
            ("clocks_ghz = [33]\n[[block]]\n", "33 GHz"),
            ("pktgen = \"x\"\n[[block]]\n", "`devices`"),
            ("link_timeout = 0\n[[block]]\n", "from 1 to 3600"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        let error = Config::read(Path::new("/nonexistent.toml")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent.toml"));
    }

    #[test]
    fn the_command_line_selects_a_part_of_a_matrix() {
        let text = "[[block]]\nbatch = [1, 8, 32]\n[[block]]\nbatch = [64]\n";
        let mut config = parse(text).unwrap();
        let wanted = MatrixFilter {
            implementations: vec![Implementation::C],
            batch: vec![BoundedInteger(8), BoundedInteger(1)],
            ..MatrixFilter::default()
        };
        config.apply_filter(&wanted).unwrap();
        assert_eq!(config.blocks.len(), 1);
        assert_eq!(
            config.blocks[0].batch,
            [BoundedInteger(1), BoundedInteger(8)]
        );
        assert_eq!(config.blocks[0].implementations, [Implementation::C]);
        let nothing = MatrixFilter {
            variants: vec!["trapping-ubsan".into()],
            ..MatrixFilter::default()
        };
        assert!(config.apply_filter(&nothing).is_err());
    }

    #[test]
    fn differences_are_named() {
        let ours = parse("[[block]]\n").unwrap();
        let theirs = parse("[[block]]\nbatch = [1]\n[wall]\nrepeats = 9\n").unwrap();
        assert!(ours.differences(&ours).is_empty());
        let names: Vec<_> = ours.differences(&theirs).into_iter().collect();
        assert_eq!(names, ["block", "wall"]);
    }

    #[test]
    fn the_committed_matrices_are_valid() {
        for name in ["matrix.toml", "matrix-quick.toml"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
            Config::read(&path).unwrap();
        }
    }

    #[test]
    fn the_matrix_of_a_card_needs_devices_and_has_the_published_clocks_and_times() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("card.toml");
        let error = Config::read(&path).unwrap_err().to_string();
        assert!(error.contains("--devices"), "{error}");
        let mut config = Config::parse(&path).unwrap();
        config.devices = Some(["0000:03:00.0".into(), "0000:03:00.1".into()]);
        config.check().unwrap();
        assert_eq!(config.clocks_ghz, [Ghz(1.6), Ghz(3.3)]);
        for (warm_up, seconds) in [
            (config.perf.warm_up, config.perf.seconds),
            (config.wall.warm_up, config.wall.seconds),
        ] {
            assert_eq!(warm_up.duration(), Duration::from_secs(5));
            assert_eq!(seconds.duration(), Duration::from_secs(60));
        }
        let backends: BTreeSet<_> = config.blocks.iter().flat_map(|it| &it.backends).collect();
        assert!(backends.contains(&BackendName::Perf) && backends.contains(&BackendName::Wall));
    }
}
