//! A card in turns, and programs to trace.
#![allow(dead_code, clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nic::{ControlSocket, Nic, NicConfig, Traffic};
use tracer::Launch;

/// A program in the folder of the built programs, if it is there.
pub fn built(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = root.join("build/bin").join(name);
    let there = program.exists();
    if !there {
        eprintln!("skipped: {} is not built; run `make`", program.display());
    }
    there.then(|| program.canonicalize().unwrap())
}

pub struct Bench {
    pub folder: tempfile::TempDir,
    _serving: ControlSocket,
    pub nic: Nic,
}

impl Bench {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = NicConfig::new(folder.path(), 2).with_each_port(|port| {
            port.traffic = Traffic::Saturate;
        });
        let nic = Nic::new(config).unwrap();
        let serving = nic.serve_turns(&folder.path().join("control")).unwrap();
        Self {
            folder,
            nic,
            _serving: serving,
        }
    }

    /// How to trace a driver that takes the names of both ports behind its arguments.
    pub fn launch(&self, driver: &Path, arguments: &[&str]) -> Launch {
        let names = self.nic.ports().iter().map(|port| port.device_name());
        let mut command: Vec<OsString> = vec![driver.into()];
        command.extend(arguments.iter().map(OsString::from));
        command.extend(names.map(OsString::from));
        self.command(driver, command)
    }

    pub fn command(&self, driver: &Path, command: Vec<OsString>) -> Launch {
        Launch {
            command,
            driver: driver.to_owned(),
            environment: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
            folder: self.folder.path().to_owned(),
            control: self.folder.path().join("control"),
            cpu: None,
            limit: Duration::from_secs(20),
            interrupt: Arc::default(),
        }
    }
}
