//! DPDK's forwarder testpmd, which a package of the system has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::manifest::{Testpmd, TestpmdMode, TestpmdPath};
use super::obstacle::{Obstacle, Outcome};
use super::record::Build;
use super::tool;
use super::workshop::{Built, Workshop};

/// Longest time in which the set-up script finds or unpacks testpmd (20 MB).
const UNPACK: Duration = Duration::from_secs(180);
/// Longest time in which testpmd prints its version.
const VERSION: Duration = Duration::from_secs(20);

/// A testpmd that runs here.
#[derive(Debug, Clone)]
pub struct Installed {
    program: PathBuf,
    /// The folder of its libraries, if the loader does not know it.
    libraries: Option<String>,
    plugins: Vec<String>,
    /// The version of DPDK, such as `22.11.11`.
    pub version: String,
}

impl Installed {
    /// Finds testpmd, or unpacks it from the system's packages.
    ///
    /// # Errors
    /// [`Obstacle::Absent`] with the reason of the set-up script.
    pub fn find(workshop: &Workshop<'_>) -> Outcome<Self> {
        let mut command = Command::new(workshop.project.join("bench/setup/testpmd.sh"));
        command.arg("--parts");
        let parts =
            tool::run("testpmd.sh", command, UNPACK, workshop.interrupt).map_err(|error| {
                match workshop.interrupt.is_set() {
                    true => Obstacle::Failed(error),
                    false => Obstacle::Absent(format!("there is no testpmd: {error}")),
                }
            })?;
        let mut lines = parts.lines().map(str::to_owned);
        let program = lines.next().context("testpmd.sh prints nothing")?;
        let mut found = Self {
            program: PathBuf::from(program),
            libraries: lines.next(),
            plugins: lines.collect(),
            version: String::new(),
        };
        found.version = found.ask_version(workshop)?;
        Ok(found)
    }

    fn environment(&self) -> BTreeMap<String, String> {
        let libraries = self.libraries.iter();
        libraries
            .map(|folder| ("LD_LIBRARY_PATH".to_owned(), folder.clone()))
            .collect()
    }

    /// Asks for the version, which testpmd writes to standard error.
    fn ask_version(&self, workshop: &Workshop<'_>) -> Result<String> {
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$0\" -v --help 2>&1"])
            .arg(&self.program)
            .envs(self.environment());
        let text = tool::run("dpdk-testpmd", command, VERSION, workshop.interrupt)
            .context("testpmd does not run")?;
        version_in(&text).context("testpmd does not print the version of DPDK")
    }
}

/// The version in a line such as `EAL: RTE Version: 'DPDK 22.11.11'`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("RTE Version: 'DPDK ")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Puts together the command lines of one path in one mode.
///
/// # Errors
/// If this machine does not say which processors there are.
pub fn build(
    workshop: &Workshop<'_>,
    testpmd: &Testpmd,
    path: &TestpmdPath,
    mode: &TestpmdMode,
    installed: &Installed,
) -> Result<Built> {
    let cores = cores(&allowed_cpus()?);
    let command = |batch: u32| {
        let mut args = Vec::new();
        for plugin in &installed.plugins {
            args.extend(["-d".to_owned(), plugin.clone()]);
        }
        args.push(format!("--lcores={cores}"));
        args.extend(testpmd.eal.iter().chain(&path.eal).cloned());
        args.extend(["-a", "{port0}", "-a", "{port1}", "--"].map(str::to_owned));
        args.extend(testpmd.options.iter().cloned());
        args.push(format!("--forward-mode={}", mode.forward));
        args.push(format!("--burst={batch}"));
        args.extend(["rxd", "txd"].map(|ring| format!("--{ring}={}", testpmd.ring_size)));
        args
    };
    let builds = workshop
        .batches
        .iter()
        .filter(|batch| **batch >= path.least_batch);
    let flags = [&testpmd.eal[..], &path.eal, &testpmd.options]
        .concat()
        .join(" ");
    Ok(Built {
        toolchain: format!(
            "DPDK {}, testpmd {flags} --forward-mode={}",
            installed.version, mode.forward
        ),
        builds: builds
            .map(|batch| Build {
                batch: *batch,
                change: None,
                program: installed.program.clone(),
                args: command(*batch),
                env: installed.environment(),
                ring_size: testpmd.ring_size,
            })
            .collect(),
    })
}

/// DPDK's two logical cores: the first only waits, the second forwards. The second has the last processor,
/// because the measurements give that one to the driver.
fn cores(cpus: &[usize]) -> String {
    let last = cpus.last().copied().unwrap_or(0);
    let other = cpus.iter().rev().nth(1).copied().unwrap_or(last);
    format!("0@{other},1@{last}")
}

fn allowed_cpus() -> Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None).context("cannot ask for the processors")?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use perfcounters::Interrupt;

    use super::*;
    use crate::build::peers::flags::ProjectFlags;
    use crate::build::peers::manifest::Manifest;

    #[test]
    fn the_version_is_read_from_the_log() {
        let log = "EAL: Detected NUMA nodes: 1\nEAL: RTE Version: 'DPDK 22.11.11'\nEAL: more\n";
        assert_eq!(version_in(log).unwrap(), "22.11.11");
        assert_eq!(version_in("EAL: no\n"), None);
    }

    #[test]
    fn the_last_processor_forwards() {
        assert_eq!(cores(&[0, 1]), "0@0,1@1");
        assert_eq!(cores(&[2, 5, 7]), "0@5,1@7");
        assert_eq!(cores(&[3]), "0@3,1@3");
    }

    #[test]
    fn each_batch_size_is_a_command_line_and_small_bursts_are_left_out() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let manifest = Manifest::read(&root.join("peers.toml")).unwrap();
        let testpmd = manifest.testpmd.unwrap();
        let flags = ProjectFlags {
            cc: String::new(),
            cc_version: String::new(),
            cc_hash: String::new(),
            c: Vec::new(),
            rustc_version: String::new(),
            rustc_hash: String::new(),
            rust: String::new(),
            profile: toml::Table::new(),
        };
        let workshop = Workshop {
            project: root,
            output: root,
            flags: &flags,
            environment: &[],
            batches: &[32, 2],
            interrupt: &Interrupt::new(),
        };
        let installed = Installed {
            program: PathBuf::from("/t"),
            libraries: Some("/l".to_owned()),
            plugins: vec!["/p.so".to_owned()],
            version: "22.11".to_owned(),
        };
        let of = |place: usize| {
            let (path, mode) = (&testpmd.paths[place], &testpmd.modes[1]);
            build(&workshop, &testpmd, path, mode, &installed).unwrap()
        };
        let vector = of(0);
        assert_eq!(vector.builds.len(), 1);
        let args = vector.builds[0].args.join(" ");
        assert!(args.starts_with("-d /p.so --lcores="), "{args}");
        assert!(args.contains(" -a {port0} -a {port1} -- "), "{args}");
        assert!(
            args.contains("--forward-mode=mac --burst=32 --rxd=512 --txd=512"),
            "{args}"
        );
        assert_eq!(vector.builds[0].env["LD_LIBRARY_PATH"], "/l");
        let scalar = of(1);
        assert_eq!(scalar.builds.len(), 2);
        assert!(
            scalar.toolchain.contains("--force-max-simd-bitwidth=64"),
            "{scalar:?}"
        );
    }
}
