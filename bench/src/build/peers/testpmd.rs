//! DPDK's forwarder testpmd, which a package of the system has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::process::allowed_cpus;

use super::manifest::{Peer, Recipe, Testpmd};
use super::record::{Build, Origin, PeerRecord, SourceRecord};
use super::workshop::Workshop;
use super::{tool, Absent};
use crate::build::builds::variants::DEFAULT;

/// Longest time in which the set-up script finds or unpacks testpmd (20 MB).
const UNPACK: Duration = Duration::from_secs(180);
/// Longest time in which testpmd prints its version.
const VERSION: Duration = Duration::from_secs(20);

/// A testpmd that runs here.
#[derive(Debug, Clone)]
pub(super) struct Installed {
    program: PathBuf,
    /// The folder of its libraries, if the loader does not know it.
    environment: BTreeMap<String, String>,
    plugins: Vec<String>,
    /// The version of DPDK, such as `22.11.11`.
    version: String,
}

impl Installed {
    /// Finds testpmd, or unpacks it from the system's packages.
    ///
    /// # Errors
    /// [`Absent`] with the reason of the set-up script.
    pub fn find(workshop: &Workshop<'_>) -> Result<Self> {
        let interrupt = workshop.store.interrupt;
        let mut command = Command::new(workshop.project.join("bench/setup/testpmd.sh"));
        command.arg("--parts");
        let parts = tool::run(command, UNPACK, interrupt);
        if let Err(error) = &parts {
            ensure!(
                interrupt.is_set(),
                Absent(format!("there is no testpmd: {error}"))
            );
        }
        let parts = parts?;
        let mut lines = parts.lines().map(str::to_owned);
        let program = lines.next().context("testpmd.sh prints nothing")?;
        let libraries = lines
            .next()
            .map(|folder| ("LD_LIBRARY_PATH".to_owned(), folder));
        let environment: BTreeMap<_, _> = libraries.into_iter().collect();
        let mut command = Command::new("sh");
        command
            // It writes its version to standard error.
            .args(["-c", "exec \"$0\" -v --help 2>&1", &program])
            .envs(&environment);
        let text = tool::run(command, VERSION, interrupt).context("testpmd does not run")?;
        let version = version_in(&text).context("testpmd does not print the version of DPDK")?;
        Ok(Self {
            program: program.into(),
            environment,
            plugins: lines.collect(),
            version,
        })
    }
}

/// The version in a line such as `EAL: RTE Version: 'DPDK 22.11.11'`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("RTE Version: 'DPDK ")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Puts together the command lines of a variant. `default` forwards in the mode `io`, any other in that of its name.
///
/// # Errors
/// If the peer has another recipe.
pub(super) fn build(
    workshop: &Workshop<'_>,
    testpmd: &Testpmd,
    peer: &Peer,
    variant: &str,
    installed: &Installed,
) -> Result<PeerRecord> {
    let Recipe::Testpmd { least_batch, eal } = &peer.recipe else {
        anyhow::bail!("{} is not built by testpmd", peer.implementation);
    };
    let mode = if variant == DEFAULT { "io" } else { variant };
    let mode = format!("--forward-mode={mode}");
    let eal = [&testpmd.eal[..], eal].concat();
    let cores = cores(&allowed_cpus());
    let args = |batch: u32| {
        let plugins = installed.plugins.iter();
        let mut args: Vec<_> = plugins
            .flat_map(|plugin| ["-d".to_owned(), plugin.clone()])
            .collect();
        args.push(format!("--lcores={cores}"));
        args.extend(eal.iter().cloned());
        args.extend(["-a", "{port0}", "-a", "{port1}", "--"].map(str::to_owned));
        args.extend(testpmd.options.iter().cloned());
        args.extend([mode.clone(), format!("--burst={batch}")]);
        args.extend(["rxd", "txd"].map(|ring| format!("--{ring}={}", peer.ring_size)));
        args
    };
    let builds = workshop
        .batches
        .iter()
        .filter(|batch| *batch >= least_batch)
        .map(|batch| Build {
            batch: *batch,
            change: None,
            program: installed.program.clone(),
            args: args(*batch),
            env: installed.environment.clone(),
            ring_size: peer.ring_size,
        });
    let flags = [&eal[..], &testpmd.options].concat().join(" ");
    Ok(PeerRecord {
        implementation: peer.implementation,
        variant: variant.to_owned(),
        toolchain: format!("DPDK {}, testpmd {flags} {mode}", installed.version),
        source: SourceRecord {
            url: testpmd.url.clone(),
            commit: installed.version.clone(),
            from: Origin::System,
        },
        expect: peer.expect.get(variant).cloned().unwrap_or_default(),
        builds: builds.collect(),
    })
}

/// DPDK's two logical cores: the first only waits, the second forwards. The second has the last processor,
/// because the measurements give that one to the driver.
fn cores(cpus: &[usize]) -> String {
    let last = cpus.last().copied().unwrap_or(0);
    let other = cpus.iter().rev().nth(1).copied().unwrap_or(last);
    format!("0@{other},1@{last}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use perfcounters::Interrupt;
    use record::Implementation;

    use super::*;
    use crate::build::peers::flags::ProjectFlags;
    use crate::build::peers::manifest::shipped;
    use crate::build::peers::source::Store;

    #[test]
    fn the_last_processor_forwards() {
        assert_eq!(cores(&[2, 5, 7]), "0@5,1@7");
        assert_eq!(cores(&[3]), "0@3,1@3");
    }

    #[test]
    fn each_batch_size_is_a_command_line_and_small_bursts_are_left_out() {
        let manifest = shipped();
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let interrupt = Interrupt::new();
        let workshop = Workshop {
            project: &project,
            output: &project,
            flags: &ProjectFlags::ask(&project, &[], &[], &interrupt).unwrap(),
            environment: &[],
            batches: &[32, 2],
            store: Store {
                folder: &project,
                bundles: None,
                interrupt: &interrupt,
            },
        };
        let log = "EAL: Detected NUMA nodes: 1\nEAL: RTE Version: 'DPDK 22.11.11'\nEAL: more\n";
        let installed = Installed {
            program: PathBuf::from("/t"),
            environment: BTreeMap::new(),
            plugins: vec!["/p.so".to_owned()],
            version: version_in(log).unwrap(),
        };
        let of = |implementation| {
            let peer = manifest.peer(implementation).unwrap();
            let testpmd = manifest.testpmd.as_ref().unwrap();
            build(&workshop, testpmd, peer, "mac", &installed).unwrap()
        };
        let vector = of(Implementation::DpdkVector);
        assert_eq!((vector.builds.len(), &vector.expect[..]), (1, "mac"));
        let args = vector.builds[0].args.join(" ");
        assert!(args.starts_with("-d /p.so --lcores="), "{args}");
        let end = "--forward-mode=mac --burst=32 --rxd=512 --txd=512";
        assert!(
            args.contains(" -a {port0} -a {port1} -- ") && args.ends_with(end),
            "{args}"
        );
        let scalar = of(Implementation::DpdkScalar);
        assert_eq!(scalar.builds.len(), 2);
        let simd = "--force-max-simd-bitwidth=64";
        assert!(
            scalar.toolchain.starts_with("DPDK 22.11.11, testpmd ")
                && scalar.toolchain.contains(simd)
        );
    }
}
