//! `triptych run` with peers: the C driver, through the kernel's VFIO and the bridge, stands in for a
//! driver of another project. Its cost is known, so the way of counting peers is tested, too.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::text;
use crate::support::with_card::{built, permitted};
use crate::support::works_here;
use record::{read_run, read_samples, BackendName, Implementation, Metric, RunRecord, Sample};

/// The largest difference between two counts of one driver, instructions per packet.
const COUNTS_AGREE: f64 = 1.0;

/// A build folder with the real card, bridge and C driver, and a record of peers.
fn build(program: &Path, expect: &str) -> tempfile::TempDir {
    let build = tempfile::tempdir().unwrap();
    fs::create_dir_all(build.path().join("bin/c")).unwrap();
    fs::create_dir(build.path().join("peers")).unwrap();
    for name in "nic libtriptych_bridge.so c/ixgbe-fwd c/toolchain.txt".split(' ') {
        symlink(built(name), build.path().join("bin").join(name)).unwrap();
    }
    let record = serde_json::json!({
        "version": 1,
        "peers": [{
            "impl": "ixy", "variant": "default", "toolchain": "gcc 12.2.0 -O2", "expect": expect,
            "source": {"url": "https://example.org", "commit": "0e00605", "from": "bundle"},
            "builds": [{"batch": 32, "program": program, "args": ["{port0}", "{port1}"], "env": {},
                        "ring_size": 512}],
        }],
        "skipped": [{"impl": "ixy-rs", "variant": "default", "reason": "no network"}],
    });
    fs::write(build.path().join("peers/peers.json"), record.to_string()).unwrap();
    build
}

fn run(build: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(["run", "--quick", "--batch", "32", "--variant", "default"])
        .args(arguments)
        .args(["--build-dir".as_ref(), build.as_os_str()])
        .args(["--results".as_ref(), build.join("results").as_os_str()])
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn record(build: &Path) -> (RunRecord, Vec<Sample>) {
    let folder = build.join("results/latest");
    let samples = read_samples(&folder.join("samples.csv")).unwrap();
    (read_run(&folder).unwrap(), samples)
}

fn value(samples: &[Sample], of: Implementation, backend: BackendName, metric: Metric) -> f64 {
    let wanted = (of, backend, metric);
    let is_it = |one: &&Sample| (one.implementation, one.backend, one.metric) == wanted;
    let found: Vec<_> = samples.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{metric} of {of}");
    found[0].value
}

#[test]
fn a_peer_is_counted_and_timed_beside_our_drivers() {
    if !permitted() || !works_here("wall") {
        return;
    }
    let build = build(&built("c/ixgbe-fwd"), "touch@1");
    let backends = ["--impl", "c,ixy,ixy-rs", "--backend", "trace,lockstep,wall"];
    let output = run(build.path(), &backends);
    let (record, samples) = record(build.path());
    for failure in &record.failures {
        let backend = failure.series.backend;
        assert_eq!(backend, BackendName::Lockstep, "{}", text(&output));
    }
    use Implementation::{Ixy, IxyRs, C};
    let instructions = |of| value(&samples, of, BackendName::Trace, Metric::Instructions);
    let (direct, counted) = (instructions(C), instructions(Ixy));
    let apart = (direct - counted).abs();
    assert!(apart < COUNTS_AGREE, "{direct} and {counted}");
    assert!(value(&samples, Ixy, BackendName::Trace, Metric::Loads) > 1.0);
    assert!(value(&samples, Ixy, BackendName::Wall, Metric::Mpps) > 0.01);
    assert!(value(&samples, Ixy, BackendName::Wall, Metric::TscCycles) > 1.0);

    assert_eq!((record.peers.len(), record.skipped_peers.len()), (1, 1));
    assert_eq!(record.peers[0].commit, "0e00605");
    assert_eq!(record.skipped_peers[0].implementation, IxyRs);
    assert_eq!(record.skipped_peers[0].reason, "no network");
    let why = &record.settings["lockstep"]["peers_not_measurable"];
    assert!(why.as_str().unwrap().contains("turn by turn"), "{why}");
}

#[test]
fn a_peer_with_wrong_frames_gets_no_figure_but_a_failure() {
    if !permitted() || !works_here("wall") {
        return;
    }
    let build = build(&built("c/ixgbe-fwd"), "none");
    let output = run(build.path(), &["--impl", "ixy", "--backend", "wall"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    // `latest` would name a run with samples.
    let results = build.path().join("results");
    assert!(!results.join("latest").exists());
    let folder = results.join(&record::runs(&results)[0]);
    let samples = read_samples(&folder.join("samples.csv")).unwrap();
    assert!(samples.is_empty());
    let record = read_run(&folder).unwrap();
    let cause = &record.failures[0].cause;
    assert!(cause.contains("altered"), "{cause}");
}

#[test]
fn a_peer_that_cannot_run_is_named_once_and_the_run_succeeds() {
    if !works_here("wall") {
        return;
    }
    let build = build(Path::new("/bin/false"), "none");
    let arguments = ["--impl", "c,ixy,ixy-rs", "--backend", "trace,wall"];
    let output = run(build.path(), &arguments);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let (_, end) = said.split_once("skipped drivers of other").unwrap();
    assert!(end.contains("ixy-rs/default: no network\n"), "{said}");
    let why = "  ixy/default: ixy ended with exit status: 1\n";
    assert_eq!(said.matches(why).count(), 1, "{said}");
    let (record, samples) = record(build.path());
    let failed = record.failures.iter();
    let failed = failed.map(|failure| failure.series.implementation);
    assert!(failed.eq([Implementation::Ixy; 2]));
    assert!(value(&samples, Implementation::C, BackendName::Wall, Metric::Mpps) > 0.01);

    // A driver of this project still fails the run.
    fs::remove_file(build.path().join("bin/c/ixgbe-fwd")).unwrap();
    let output = run(build.path(), &arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

#[test]
fn peers_that_are_not_built_are_named_with_the_command_that_builds_them() {
    let build = tempfile::tempdir().unwrap();
    let output = run(build.path(), &["--impl", "ixy-rs", "--backend", "wall"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("make peers"), "{}", text(&output));
}
