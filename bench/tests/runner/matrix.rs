//! Runs the program on a small matrix: from a file, interrupted at any point, and resumed. Drivers and
//! NIC are stand-ins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::{first_sample, text, wait_until, works_here, Build};
use record::{self, BackendName, Implementation, Metric, RunRecord, Sample, SAMPLES_FILE};
use serde_json::Value;

const MATRIX: &str = r#"
    [lockstep]
    processes = 3
    rounds = 5
    [wall]
    seconds = 1
    repeats = 4
    [latency]
    seconds = 1
    warm_up = 0
    repeats = 2
    [[block]]
    name = "variants"
    backends = ["perf", "lockstep", "wall"]
    impl = ["c", "rust"]
    variants = ["default", "overflow-checks"]
    batch = [8, 32]
    [[block]]
    name = "rings and frames"
    backends = ["wall"]
    impl = ["c"]
    ring_size = [64, 1024]
    frame_size = [60, 1514]
    [[block]]
    name = "latency"
    impl = ["c", "rust"]
    loads_mpps = [1]
    load_fractions = [0.25]
"#;

struct Setting {
    build: Build,
    config: PathBuf,
}

impl Setting {
    fn new() -> Self {
        let build = Build::new();
        let config = build.path().join("matrix.toml");
        fs::write(&config, MATRIX).unwrap();
        Self { build, config }
    }

    fn matrix(&self, more: &[&str]) -> Output {
        let mut arguments = vec!["run", "--config", self.config.to_str().unwrap()];
        arguments.extend(more);
        self.build.run(&arguments)
    }

    fn results(&self) -> PathBuf {
        self.build.path().join("results")
    }

    fn read(&self, id: &str) -> (RunRecord, Vec<Sample>) {
        let folder = self.results().join(id);
        (
            record::read_run(&folder).unwrap(),
            record::read_samples(&folder.join(SAMPLES_FILE)).unwrap(),
        )
    }
}

#[test]
fn a_matrix_is_measured_block_by_block() {
    if !works_here("wall") {
        return;
    }
    let setting = Setting::new();
    let output = setting.matrix(&[]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    // 6 cells × 2 placements × 3 processes, 10 cells × 4 repeats, 4 cells × 2 repeats.
    assert!(said.contains("84 measurements, about "), "{said}");
    assert!(said.contains(" left)"), "{said}");
    let (run, samples) = setting.read("latest");
    assert!(run.complete);
    assert!(run.not_measurable.contains_key(&BackendName::Perf));
    let count = |wanted: &dyn Fn(&Sample) -> bool| samples.iter().filter(|s| wanted(s)).count();
    let metric = |metric, backend| {
        move |sample: &Sample| (sample.metric, sample.backend) == (metric, backend)
    };
    for (name, backend, expected) in [
        (Metric::TscCycles, BackendName::Lockstep, 6 * 2 * 3 * 5),
        (Metric::FullBatchRatio, BackendName::Wall, 10 * 4),
        (Metric::LatencyP50Us, BackendName::Wall, 4 * 2),
    ] {
        assert_eq!(count(&metric(name, backend)), expected, "{name}");
    }
    assert_eq!(
        count(&|sample| sample.conditions.ring_size == 64 && sample.conditions.frame_size == 1514),
        4 * 3
    );
    // The stand-in's throughput is constant, and so is a quarter of it.
    let [capacity] = run.capacities.as_slice() else {
        panic!("{:?}", run.capacities)
    };
    assert_eq!(capacity.conditions.batch, 32);
    let loads = samples
        .iter()
        .filter_map(|sample| sample.conditions.offered_mpps);
    let shares: Vec<_> = loads.filter(|load| *load != 1.0).collect();
    assert!(!shares.is_empty() && shares.iter().all(|load| *load == capacity.mpps / 4.0));
    // Drivers that are compared are measured one after the other.
    let wall = samples
        .iter()
        .filter(|sample| metric(Metric::Mpps, BackendName::Wall)(sample));
    let order: Vec<_> = wall.map(|sample| &*sample.variant).take(3).collect();
    assert_eq!(order, ["default", "default", "overflow-checks"]);
    assert!(record::unfinished_runs(&setting.results()).is_empty());

    // A part of the matrix.
    let output = setting.matrix(&["--impl", "rust", "--batch", "8", "--backend", "wall"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let (_, samples) = setting.read("latest");
    assert_eq!(samples.len(), 2 * 4 * 3);
}

#[test]
fn a_run_is_resumed_only_with_its_matrix_and_builds() {
    if !works_here("wall") {
        return;
    }
    let setting = Setting::new();
    let config = setting.config.to_str().unwrap();
    let mut run = setting.build.triptych(&["run", "--config", config]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = run.spawn().unwrap();
    let id = first_sample(&setting.results());
    let refused = |arguments: &[&str], code: i32, why: &str| {
        let output = setting.build.run(arguments);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(why), "{said}");
    };
    refused(&["run", "--resume"], 1, "another triptych");
    child.kill().unwrap();
    child.wait().unwrap();
    refused(&["run", "--resume", "yesterday"], 1, "there is no");
    refused(
        &["run", "--resume", &id, "--config", config, "--repeats", "9"],
        1,
        "another configuration",
    );
    let program = setting.build.path().join("bin/rust/ixgbe-fwd");
    let original = fs::read(&program).unwrap();
    fs::write(&program, [&original[..], b"changed"].concat()).unwrap();
    refused(
        &["run", "--resume", &id],
        1,
        "other builds of bin/rust/ixgbe-fwd,",
    );
    fs::write(&program, original).unwrap();
    // The same configuration may be named again.
    refused(
        &["run", "--resume", &id, "--config", config],
        0,
        "continuing",
    );
    let (run, _) = setting.read("latest");
    assert_eq!(run.periods.len(), 2);
    assert!(run.periods[0].end.is_none() && run.periods[1].end.is_some());
    refused(&["run", "--resume", &id], 1, "it is complete");
    refused(&["run", "--retry-failed"], 1, "no measurement failed");
    // No process of the killed run is left behind.
    let here = setting.build.path().to_string_lossy().into_owned();
    let left = fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        fs::read(process.path().join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&here))
    });
    assert_eq!(left.count(), 0);
}

#[test]
fn failed_cells_are_measured_again() {
    if !works_here("wall") {
        return;
    }
    let setting = Setting::new();
    let needed = setting.build.path().join("needed");
    let needs = format!("NEEDS=\"{}\"", needed.display());
    setting.build.driver("bin/rust", &[&needs]);
    let arguments = ["--backend", "wall", "--batch", "8", "--variant", "default"];
    let output = setting.matrix(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let (first, _) = setting.read("latest");
    assert_eq!(first.failures.len(), 1);
    let retry = |option: &str, code: i32| {
        let output = setting.build.run(&["run", option]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains("4 measurements, about"), "{said}");
        let (run, samples) = setting.read("latest");
        assert_eq!(run.id, first.id);
        assert!(run.complete);
        let rust = |sample: &&Sample| sample.implementation == Implementation::Rust;
        (run.failures, samples.iter().filter(rust).count())
    };
    // The cause is still there, so the cell fails again.
    let (failures, _) = retry("--retry-failed", 1);
    assert_eq!(failures.len(), 1);
    // A run that was killed at its end.
    let folder = setting.results().join("latest").canonicalize().unwrap();
    let length = fs::metadata(folder.join(SAMPLES_FILE)).unwrap().len();
    fs::write(folder.join(record::JOURNAL_FILE), format!("{length}\n")).unwrap();
    fs::write(needed, "").unwrap();
    let (failures, samples) = retry("--resume", 0);
    assert!(failures.is_empty());
    assert_eq!(samples, 4 * 3);
}

/// The names of a run's cells.
fn cells(run: &Path) -> Vec<String> {
    let files = fs::read_dir(run.join(record::CELLS_FOLDER))
        .into_iter()
        .flatten();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn jobs_make_the_cells_of_a_whole_run_however_often_they_run() {
    if !works_here("wall") {
        return;
    }
    let setting = Setting::new();
    let output = setting.matrix(&["--list-cells"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let lines = String::from_utf8(output.stdout).unwrap();
    let jobs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let count = |name: &str| {
        let mut jobs = jobs.iter().filter(|job| job["job"] == name);
        jobs.next().unwrap()["cells"].as_array().unwrap().len()
    };
    assert_eq!((jobs.len(), count("lockstep-b8-r512-f60")), (10, 6));
    // Three drivers, and the loads of two.
    assert_eq!(count("wall-b32-r512-f60"), 3 + 4);

    let filter = [
        "--backend=lockstep,wall",
        "--batch=8",
        "--frame-size=60",
        "--ring-size=512",
    ];
    let output = setting.matrix(&[&filter[..], &["--machine=whole"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let whole = cells(&setting.results().join("latest"));
    assert_eq!(whole.len(), 6 + 3);

    let job = |name: &str| {
        let config = setting.config.to_str().unwrap();
        let mut job = setting
            .build
            .triptych(&["run", "--config", config, "--cell", name]);
        job.args(["--id=r1", "--machine=box"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        job
    };
    let run = setting.results().join("box/r1");
    // One is killed, and leaves no cell.
    let mut killed = job("wall-b8-r512-f60").spawn().unwrap();
    wait_until("no run", || run.join(record::RUN_FILE).is_file());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(cells(&run).is_empty());
    // Two at once, one of them twice.
    let names = [
        "wall-b8-r512-f60",
        "lockstep-b8-r512-f60",
        "lockstep-b8-r512-f60",
    ];
    let mut together = names.map(|name| job(name).spawn().unwrap());
    for child in &mut together {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(cells(&run), whole);
    assert_eq!(record::read_run(&run).unwrap().machine, "box");
    let latest = fs::canonicalize(setting.results().join("latest")).unwrap();
    assert_eq!(latest, run.canonicalize().unwrap());
    let text = fs::read_to_string(run.join(record::CELLS_FOLDER).join(&whole[0])).unwrap();
    let cell: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((text.lines().count(), &cell["run"]), (1, &"r1".into()));
    assert_eq!(cell["figures"]["tsc_cycles"]["count"], 3 * 5);
    assert_eq!(cell["samples"].as_array().unwrap().len(), 3 * 5 + 3);
    assert_eq!(cell["build"]["program_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(job("wall-b9-r512-f60").status().unwrap().code(), Some(2));
}

#[test]
fn a_full_disk_leaves_nothing_that_blocks_other_runs() {
    let setting = Setting::new();
    let results = setting.results();
    // A file may not get a single byte, as on a full disk.
    let limited = setting.build.triptych(&["run", "--quick"]);
    let output = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
        .arg(limited.get_program())
        .args(limited.get_args())
        .current_dir(setting.build.path())
        .output()
        .unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("cannot write") && said.contains(SAMPLES_FILE),
        "{said}"
    );
    assert_eq!(fs::read_dir(&results).unwrap().count(), 0, "{said}");
}
