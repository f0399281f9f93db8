//! The programs that the cases run: those of `peers.json`, this project's forwarders, and any other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use nic::Expected;
use serde::Deserialize;

/// The batch size of the programs that run. The unmodified ixy and ixy.rs have this one.
const BATCH: u32 = 32;
/// The PCI addresses of the two ports, as `triptych with-card` gives them.
const PORTS: [&str; 2] = ["0000:03:00.0", "0000:04:00.0"];

/// A program that forwards between both ports.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its name in the table.
    pub name: String,
    /// Where its sources are from.
    pub source: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment.
    pub env: BTreeMap<String, String>,
    /// What it does to a frame.
    pub expect: Expected,
    /// Whether it speaks vfio-user to the card's sockets, and needs no bridge.
    pub direct: bool,
}

/// The file that `make peers` writes.
#[derive(Debug, Deserialize)]
struct PeersFile {
    version: u32,
    peers: Vec<Peer>,
    #[serde(default)]
    skipped: Vec<Skipped>,
}

#[derive(Debug, Deserialize)]
struct Peer {
    #[serde(rename = "impl")]
    name: String,
    variant: String,
    source: Source,
    expect: String,
    builds: Vec<Build>,
}

#[derive(Debug, Deserialize)]
struct Source {
    url: String,
    commit: String,
}

#[derive(Debug, Deserialize)]
struct Build {
    batch: u32,
    program: PathBuf,
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// A peer that was not built.
#[derive(Clone, Debug, Deserialize)]
pub struct Skipped {
    /// Its name.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// Its variant.
    pub variant: String,
    /// Why it was not built.
    pub reason: String,
}

/// Reads the peers that `make peers` has built. Only the variant `default` of each runs, with batches
/// of 32. Returns the peers, and those that are missing.
pub fn peers(file: &Path) -> Result<(Vec<Subject>, Vec<Skipped>)> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{}: run make peers first", file.display()))?;
    let read: PeersFile = serde_json::from_str(&text)
        .with_context(|| format!("{} is not as make peers writes it", file.display()))?;
    let version = read.version;
    ensure!(
        version == 1,
        "{} has version {version}: run make peers again",
        file.display()
    );
    let mut subjects = Vec::new();
    for peer in read.peers {
        if peer.variant != "default" {
            continue;
        }
        let name = peer.name;
        let build = peer.builds.into_iter().find(|build| build.batch == BATCH);
        let build = build.with_context(|| format!("{name}: no build with batches of {BATCH}"))?;
        subjects.push(Subject {
            source: format!("{} {}", peer.source.url, peer.source.commit),
            program: build.program,
            args: with_ports(build.args),
            env: build.env,
            expect: peer.expect.parse()?,
            direct: false,
            name,
        });
    }
    let skipped = read.skipped.into_iter();
    let skipped = skipped.filter(|peer| peer.variant == "default").collect();
    Ok((subjects, skipped))
}

/// This project's forwarders, in the folder `bin` of the build.
pub fn own(bin: &Path) -> Vec<Subject> {
    let names = ["c", "rust", "rust-unsafe"].into_iter();
    let own = names.map(|name| Subject {
        name: name.to_owned(),
        source: "this repository".to_owned(),
        program: bin.join(name).join("ixgbe-fwd"),
        args: PORTS.map(str::to_owned).to_vec(),
        env: BTreeMap::new(),
        expect: Expected::default(),
        direct: false,
    });
    own.filter(|subject| subject.program.is_file()).collect()
}

/// Any program: words that blanks separate, in which `{port0}` and `{port1}` stand for the ports, or `{socket0}` and
/// `{socket1}` for the card's sockets. Each card has other sockets, so these stay until the program starts.
pub fn of_words(words: &str, expect: Expected) -> Result<Subject> {
    let direct = words.contains("{socket");
    let mut words = words.split_whitespace().map(str::to_owned);
    let mut program = PathBuf::from(words.next().context("the program has no name")?);
    // It runs in another folder. A name alone comes from PATH.
    if program.components().count() > 1 || program.starts_with(".") {
        program = std::path::absolute(program)?;
    }
    let name = program.file_name().unwrap_or(program.as_os_str());
    Ok(Subject {
        name: name.to_string_lossy().into_owned(),
        source: String::new(),
        args: with_ports(words.collect()),
        program,
        env: BTreeMap::new(),
        expect,
        direct,
    })
}

fn with_ports(args: Vec<String>) -> Vec<String> {
    let ports = |arg: String| {
        arg.replace("{port0}", PORTS[0])
            .replace("{port1}", PORTS[1])
    };
    args.into_iter().map(ports).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_variant_with_batches_of_32_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("peers.json");
        let text = r#"{"version": 1, "peers": [
            {"impl": "ixy", "variant": "default", "expect": "touch@1", "source": {"url": "u", "commit": "c"},
             "builds": [{"batch": 8, "program": "/8", "args": []},
                        {"batch": 32, "program": "/32", "args": ["{port0}", "-a{port1}"], "env": {"K": "V"}}]},
            {"impl": "ixy", "variant": "own-flags", "expect": "touch@1", "source": {"url": "u", "commit": "c"},
             "builds": []}],
          "skipped": [{"impl": "dpdk-vector", "variant": "default", "reason": "no testpmd"}]}"#;
        std::fs::write(&file, text).unwrap();
        let (peers, skipped) = peers(&file).unwrap();
        assert_eq!(peers.len(), 1);
        assert_eq!(peers[0].program, Path::new("/32"));
        assert_eq!(peers[0].args, ["0000:03:00.0", "-a0000:04:00.0"]);
        assert_eq!(peers[0].env["K"], "V");
        assert_eq!(skipped[0].reason, "no testpmd");
        let error = super::peers(Path::new("/nowhere/peers.json")).unwrap_err();
        assert!(format!("{error:#}").contains("make peers"), "{error:#}");
    }

    #[test]
    fn a_program_is_words_with_places_for_the_ports() {
        let subject = of_words("/a/fwd {port0} {port1} -x", Expected::Mac).unwrap();
        assert_eq!(subject.name, "fwd");
        assert_eq!(subject.args, ["0000:03:00.0", "0000:04:00.0", "-x"]);
        assert!(!subject.direct && of_words("fwd {socket0}", Expected::Mac).unwrap().direct);
        assert!(of_words("  ", Expected::Mac).is_err());
        let relative = of_words("./fwd", Expected::Mac).unwrap();
        assert!(relative.program.is_absolute(), "{relative:?}");
        let from_path = of_words("fwd", Expected::Mac).unwrap();
        assert_eq!(from_path.program, Path::new("fwd"));
    }
}
