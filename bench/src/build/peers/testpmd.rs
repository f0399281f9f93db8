//! DPDK's forwarder testpmd, which a package of the system has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::allowed_cpus;

use super::manifest::{Manifest, Peer, Recipe, Testpmd};
use super::recipe::Workshop;
use super::record::{Build, PeerRecord};
use super::source::Absent;
use crate::build::builds::variants::DEFAULT;
use crate::build::runner;

const UNPACK: Duration = Duration::from_secs(180);
const VERSION: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub(super) struct Installed {
    testpmd: Testpmd,
    program: PathBuf,
    /// The folder of its libraries, if the loader does not know it.
    environment: BTreeMap<String, String>,
    plugins: Vec<String>,
    version: String,
}

impl Installed {
    pub fn find(workshop: &Workshop<'_>, manifest: &Manifest) -> Result<Self> {
        let absent = || Absent("peers.toml has no testpmd".to_owned());
        let testpmd = manifest.testpmd.clone().ok_or_else(absent)?;
        let interrupt = workshop.store.interrupt;
        let mut command = Command::new(workshop.project.join("bench/setup/testpmd.sh"));
        command.arg("--parts");
        let parts = runner::output(command, UNPACK, interrupt);
        let parts = parts.map_err(|error| {
            if interrupt.is_set() {
                error
            } else {
                Absent(format!("there is no testpmd: {error}")).into()
            }
        })?;
        let mut lines = parts.lines().map(str::to_owned);
        let program = lines.next().context("testpmd.sh prints nothing")?;
        let libraries = lines.next().into_iter();
        let libraries = libraries.map(|folder| ("LD_LIBRARY_PATH".to_owned(), folder));
        let environment: BTreeMap<_, _> = libraries.collect();
        let mut command = Command::new("sh");
        command
            // It writes its version to standard error.
            .args(["-c", "exec \"$0\" -v --help 2>&1", &program])
            .envs(&environment);
        let text = runner::output(command, VERSION, interrupt).context("testpmd does not run")?;
        let version = version_in(&text).context("testpmd does not print the version of DPDK")?;
        Ok(Self {
            testpmd,
            program: program.into(),
            environment,
            plugins: lines.collect(),
            version,
        })
    }
}

fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("RTE Version: 'DPDK ")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

/// Puts together the command lines of a variant. `default` forwards in the mode `io`, any other in that of its name.
pub(super) fn build(
    manifest: &Manifest,
    peer: &Peer,
    variant: &str,
    installed: &Installed,
) -> Result<PeerRecord> {
    let testpmd = &installed.testpmd;
    let Recipe::Testpmd { least_batch, eal } = &peer.recipe else {
        bail!("{} is not built by testpmd", peer.implementation);
    };
    let mode = if variant == DEFAULT { "io" } else { variant };
    let mode = format!("--forward-mode={mode}");
    let eal = [&testpmd.eal[..], eal].concat();
    let plugins = installed.plugins.iter();
    let plugins = plugins.flat_map(|plugin| ["-d".to_owned(), plugin.clone()]);
    let mut args: Vec<_> = plugins.collect();
    args.push(format!("--lcores={}", cores(&allowed_cpus())));
    args.extend(eal.iter().cloned());
    args.extend(["-a", "{port0}", "-a", "{port1}", "--"].map(str::to_owned));
    args.extend(testpmd.options.iter().cloned());
    args.push(mode.clone());
    args.extend(["rxd", "txd"].map(|ring| format!("--{ring}={}", peer.ring_size)));
    let batches = manifest.batch.iter().filter(|batch| *batch >= least_batch);
    let builds = batches.map(|batch| Build {
        batch: *batch,
        change: None,
        program: installed.program.clone(),
        args: [&args[..], &[format!("--burst={batch}")]].concat(),
        env: installed.environment.clone(),
        ring_size: peer.ring_size,
    });
    let flags = [&eal[..], &testpmd.options].concat().join(" ");
    let version = &installed.version;
    let toolchain = format!("DPDK {version}, testpmd {flags} {mode}");
    let source = [&testpmd.url[..], version, "system"];
    let builds = builds.collect();
    Ok(PeerRecord::new(peer, variant, toolchain, source, builds))
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
    use record::Implementation;

    use super::*;
    use crate::build::peers::manifest::shipped;

    #[test]
    fn each_batch_size_is_a_command_line_and_small_bursts_are_left_out() {
        let mut manifest = shipped();
        manifest.batch = vec![32, 2];
        let log = "EAL: Detected NUMA nodes: 1\nEAL: RTE Version: 'DPDK 22.11.11'\nEAL: more\n";
        let installed = Installed {
            testpmd: manifest.testpmd.clone().unwrap(),
            program: PathBuf::from("/t"),
            environment: BTreeMap::new(),
            plugins: vec!["/p.so".to_owned()],
            version: version_in(log).unwrap(),
        };
        let of = |implementation| {
            let peer = manifest.peer(implementation).unwrap();
            build(&manifest, peer, "mac", &installed).unwrap()
        };
        let vector = of(Implementation::DpdkVector);
        assert_eq!((vector.builds.len(), &vector.expect[..]), (1, "mac"));
        let args = vector.builds[0].args.join(" ");
        assert!(args.starts_with("-d /p.so --lcores="), "{args}");
        assert!(args.contains(" -a {port0} -a {port1} -- "), "{args}");
        let end = " --forward-mode=mac --rxd=512 --txd=512 --burst=32";
        assert!(args.ends_with(end), "{args}");
        let scalar = of(Implementation::DpdkScalar);
        assert_eq!(scalar.builds.len(), 2);
        let simd = "--force-max-simd-bitwidth=64";
        assert!(scalar.toolchain.contains(simd), "{scalar:?}");
        assert_eq!(cores(&[2, 5, 7]), "0@5,1@7");
        assert_eq!(cores(&[3]), "0@3,1@3");
    }
}
