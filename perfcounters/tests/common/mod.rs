//! Stand-ins for drivers and NIC, and an observer that keeps everything. The unit tests and the
//! integration tests of this crate and those of the runner share them.

#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use perfcounters::{Backend, Cell, Interrupt, Observer};
use record::{BackendName, Conditions, Failure, Implementation, Metric, RecordError, Sample};

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../perfcounters/tests/fixtures")
        .join(name)
}

fn compile(source: &str, flags: &[&str], defines: &[&str], output: &Path) {
    let status = Command::new("cc")
        .args(["-O1", "-w"])
        .args(flags)
        .args(defines.iter().map(|define| format!("-D{define}")))
        .arg("-o")
        .arg(output)
        .arg(fixture(source))
        .status()
        .unwrap();
    assert!(status.success(), "cannot compile {source}");
}

/// Builds a stand-in for `ixgbe-fwd`.
pub fn forwarder(output: &Path, defines: &[&str]) {
    compile("fake_forwarder.c", &[], defines, output);
}

/// Builds a stand-in for `libforwarder.so`.
pub fn library(output: &Path, defines: &[&str]) {
    compile("fake_library.c", &["-shared", "-fPIC"], defines, output);
}

/// A cell under the default conditions; both its artefacts have that name in a folder.
pub fn cell(folder: &Path, name: &str, implementation: Implementation) -> Cell {
    Cell {
        implementation,
        variant: "default".into(),
        toolchain: "cc 1.0".into(),
        conditions: Conditions::default(),
        program: folder.join(name),
        library: folder.join(format!("{name}.so")),
        peer: None,
    }
}

/// A cell whose forwarder is the stand-in, built with macros defined.
pub fn driver(folder: &Path, name: &str, implementation: Implementation, defines: &[&str]) -> Cell {
    forwarder(&folder.join(name), defines);
    cell(folder, name, implementation)
}

/// A cell whose library is the stand-in, built with a macro defined.
pub fn cell_with_library(folder: &Path, implementation: Implementation, define: &str) -> Cell {
    let cell = cell(folder, define, implementation);
    library(&cell.library, &[define]);
    cell
}

/// An observer that keeps everything.
#[derive(Debug, Default)]
pub struct Remember {
    pub samples: Vec<Sample>,
    pub failures: Vec<Failure>,
    pub warnings: Vec<String>,
    pub steps: Vec<String>,
    pub planned: u64,
    pub settings: BTreeMap<String, serde_json::Value>,
}

impl Remember {
    /// Measures cells with a backend.
    pub fn measure(backend: &mut dyn Backend, cells: &[Cell]) -> Self {
        let mut seen = Self::default();
        backend.measure(cells, &mut seen).unwrap();
        seen
    }

    /// All values of a metric of one driver.
    pub fn values(&self, implementation: Implementation, metric: Metric) -> Vec<f64> {
        let samples = self.samples.iter();
        let wanted =
            samples.filter(|it| it.implementation == implementation && it.metric == metric);
        wanted.map(|sample| sample.value).collect()
    }
}

/// Checks that a backend ends soon after its interrupt is set while it measures.
pub fn ends_when_interrupted(backend: &mut dyn Backend, interrupt: &Interrupt, cells: &[Cell]) {
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            interrupt.set();
        });
        let outcome = backend.measure(cells, &mut Remember::default());
        assert!(outcome.unwrap_err().ends_the_run());
    });
    assert!(start.elapsed() < Duration::from_secs(10));
}

impl Observer for Remember {
    fn begin(&mut self, _: BackendName, steps: u64) {
        self.planned = steps;
    }
    fn step(&mut self, what: &str) {
        self.steps.push(what.to_owned());
    }
    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.samples.extend_from_slice(samples);
        Ok(())
    }
    fn failure(&mut self, failure: Failure) {
        self.failures.push(failure);
    }
    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
    fn setting(&mut self, _: BackendName, name: &str, value: serde_json::Value) {
        self.settings.insert(name.to_owned(), value);
    }
}
