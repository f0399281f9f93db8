//! Runs `triptych run --backend burst` on a real driver. Reads the builds of `make build`, and checks nothing
//! without them.

use std::path::Path;
use std::process::Command;

use perfcounters::device::two_cpus;
use record::{BackendName, LinePlacement, Metric};

#[test]
fn bursts_through_the_c_driver_give_cycles_at_each_placement() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = ["build/bin/c/ixgbe-fwd", "build/bin/nic"];
    let built = files.iter().all(|file| sources.join(file).exists());
    if !built || two_cpus().1.is_none() {
        eprintln!("the C driver or the NIC is not built, or there is one CPU: nothing is checked");
        return;
    }
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(["run", "--quick", "--backend=burst", "--impl=c"])
        .args(["--batch=32", "--results"])
        .arg(results.path())
        .current_dir(&sources)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let run = results.path().join("latest");
    let samples = record::read_samples(&run.join("samples.csv")).unwrap();
    for placement in [LinePlacement::Memory, LinePlacement::Warm] {
        let here = |sample: &&record::Sample| sample.conditions.placement == Some(placement);
        let rounds: Vec<_> = samples.iter().filter(here).collect();
        let repeats: Vec<_> = rounds.iter().map(|sample| sample.repeat).collect();
        assert_eq!(repeats, [0, 1], "{errors}");
        for sample in rounds {
            assert_eq!(
                (sample.backend, sample.metric),
                (BackendName::Burst, Metric::TscCycles)
            );
            assert!((1.0..10_000.0).contains(&sample.value), "{sample:?}");
            assert!(sample.packets > 10_000, "{sample:?}");
        }
    }
    let record = std::fs::read_to_string(run.join("run.json")).unwrap();
    assert!(record.contains("round_trip_between_cpus"), "{record}");
}
