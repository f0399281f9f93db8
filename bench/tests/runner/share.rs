//! Merges and anonymises runs that the tests write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use record::{
    BackendName, Conditions, CoreClock, CpuFacts, GitFacts, HostFacts, Implementation, Metric,
    RunFolder, RunPeriod, RunRecord, Sample,
};
use serde_json::json;

/// What a run differs in.
#[derive(Clone)]
struct Kind {
    host: &'static str,
    ghz: Option<f64>,
    revision: &'static str,
    dirty: bool,
    complete: bool,
    repeats: u32,
    artefact: &'static str,
}

const KIND: Kind = Kind {
    host: "xeon7",
    ghz: Some(1.6),
    revision: "0123456789abcdef",
    dirty: false,
    complete: true,
    repeats: 3,
    artefact: "aa",
};

struct Results {
    folder: tempfile::TempDir,
    count: u64,
}

impl Results {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            count: 0,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&mut self, kind: Kind) -> PathBuf {
        self.count += 1;
        let words = [
            "triptych",
            "run",
            "--build-dir",
            "/home/anna/triptych/build",
        ];
        let plan = json!({
            "devices": ["0000:03:00.0", "0000:03:00.1"],
            "pktgen": "/home/anna/testpmd.toml",
            "pktgen_host": "bert@loadgen.lab",
            "clocks_ghz": kind.ghz.into_iter().collect::<Vec<_>>(),
            "wall": {"seconds": 1, "warm_up": 0, "repeats": kind.repeats},
            "block": [{"batch": [32]}],
        });
        let record = RunRecord {
            command: words.map(str::to_owned).into(),
            git: Some(GitFacts {
                revision: Some(kind.revision.into()),
                dirty: kind.dirty,
            }),
            host: HostFacts {
                host: kind.host.into(),
                cpu: CpuFacts {
                    model_name: Some("A Processor".into()),
                    ..CpuFacts::default()
                },
                ..HostFacts::default()
            },
            artefacts: [("c/ixgbe-fwd".to_owned(), kind.artefact.to_owned())].into(),
            plan,
            core_clock: Some(CoreClock {
                fixed_ghz: kind.ghz,
                measured_ghz: Vec::new(),
            }),
            periods: vec![RunPeriod::default()],
            warnings: vec![
                "anna on xeon7 saw port 00:1b:21:aa:bb:cc, serial number: CZ9".into(),
                "ssh: connect to loadgen.lab failed; see /root/log".into(),
            ],
            complete: kind.complete,
            ..RunRecord::default()
        };
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + self.count);
        let mut folder = RunFolder::create(self.folder.path(), time, record).unwrap();
        folder
            .write(&[Sample {
                implementation: Implementation::C,
                variant: "default".into(),
                toolchain: "gcc 12.2.0".into(),
                conditions: Conditions::default(),
                backend: BackendName::Wall,
                metric: Metric::Mpps,
                value: 12.5,
                unit: "Mpackets/s".into(),
                packets: 1000,
                process: 0,
                repeat: 0,
                note: String::new(),
                cpu: String::new(),
            }])
            .unwrap();
        folder.finish(time).unwrap();
        folder.path().to_owned()
    }
}

fn triptych(command: &str, paths: &[&Path], into: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .arg(command)
        .args(paths)
        .arg("--into")
        .arg(into)
        .args(more)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All texts of a folder and its folders.
fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path().is_dir() {
            true => all += &texts(&entry.path()),
            false => all += &fs::read_to_string(entry.path()).unwrap(),
        }
        all += &entry.file_name().to_string_lossy();
    }
    all
}

#[test]
fn runs_of_other_clocks_and_machines_are_merged() {
    let mut results = Results::new();
    let low = results.run(KIND);
    let high = results.run(Kind {
        ghz: Some(3.3),
        ..KIND
    });
    let other = results.run(Kind {
        host: "xeon8",
        artefact: "bb",
        ..KIND
    });
    fs::create_dir(low.join("report")).unwrap();
    let into = results.path("merged");
    let output = triptych("merge", &[&low, &high, &other], &into, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let list: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(into.join("merged.json")).unwrap()).unwrap();
    let runs = list["runs"].as_array().unwrap();
    let kinds: Vec<_> = runs
        .iter()
        .map(|run| (run["host"].as_str().unwrap(), run["clock_ghz"].as_f64()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("xeon7", Some(1.6)),
            ("xeon7", Some(3.3)),
            ("xeon8", Some(1.6))
        ]
    );
    for (run, original) in runs.iter().zip([&low, &high, &other]) {
        let folder = into.join(run["folder"].as_str().unwrap());
        for file in ["run.json", "samples.csv"] {
            assert_eq!(
                fs::read(folder.join(file)).unwrap(),
                fs::read(original.join(file)).unwrap()
            );
        }
    }
}

#[test]
fn runs_that_do_not_belong_together_are_refused() {
    let mut results = Results::new();
    let first = results.run(KIND);
    let high = Kind {
        ghz: Some(3.3),
        ..KIND
    };
    for (kind, why) in [
        (KIND, "could not tell them apart"),
        (
            Kind {
                revision: "fedcba9876543210",
                ..high
            },
            "other revisions, 0123456789 and fedcba9876",
        ),
        (
            Kind {
                dirty: true,
                artefact: "bb",
                ..high
            },
            "uncommitted changes",
        ),
        (Kind { repeats: 4, ..high }, "differ in: wall"),
        (
            Kind {
                complete: false,
                ..high
            },
            "is incomplete",
        ),
    ] {
        let second = results.run(kind);
        let into = results.path("merged");
        let output = triptych("merge", &[&first, &second], &into, &[]);
        assert_eq!(output.status.code(), Some(1), "{why}");
        assert!(said(&output).contains(why), "{why}: {}", said(&output));
        assert!(!into.exists());
    }
    let empty = results.path("empty");
    fs::create_dir(&empty).unwrap();
    let output = triptych("merge", &[&first, &empty], &results.path("merged"), &[]);
    assert!(said(&output).contains("run.json"), "{}", said(&output));
    let output = triptych("merge", &[&first], &results.path("merged"), &[]);
    assert_eq!(output.status.code(), Some(2), "one run");
}

#[test]
fn an_existing_folder_is_never_overwritten() {
    let mut results = Results::new();
    let (low, high) = (results.run(KIND), results.run(Kind { ghz: None, ..KIND }));
    for output in [
        triptych("merge", &[&low, &high], &low, &[]),
        triptych("anonymise", &[&low], &high, &[]),
    ] {
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("exists"), "{}", said(&output));
    }
}

#[test]
fn anonymised_results_name_no_person_and_no_machine() {
    let mut results = Results::new();
    let (low, high) = (
        results.run(KIND),
        results.run(Kind {
            ghz: Some(3.3),
            ..KIND
        }),
    );
    let merged = results.path("merged");
    assert!(triptych("merge", &[&low, &high], &merged, &[])
        .status
        .success());
    for (from, name, runs) in [(&low, "one", 1), (&merged, "both", 2)] {
        let into = results.path(name);
        let output = triptych(
            "anonymise",
            &[from],
            &into,
            &["--pci", "--name", "Processor"],
        );
        assert!(output.status.success(), "{}", said(&output));
        let text = texts(&into);
        for secret in [
            "xeon7",
            "anna",
            "bert",
            "loadgen",
            "lab",
            "/home",
            "/root",
            "00:1b:21",
            "CZ9",
            "0000:03",
            "Processor",
        ] {
            assert!(!text.contains(secret), "{secret} remains in {name}");
        }
        for part in [
            "machine-",
            "user-1",
            "~/triptych/build",
            "mac-1",
            "pci-1",
            "removed",
        ] {
            assert!(text.contains(part), "{part} is missing in {name}");
        }
        assert_eq!(text.matches("samples.csv").count(), runs);
        // The values stay.
        assert_eq!(text.matches("gcc 12.2.0,32,wall,mpps,12.5").count(), runs);
    }
    // The copies are runs, and the two clocks are still of one machine.
    let run = record::read_run(&results.path("one")).unwrap();
    assert_eq!(run.core_clock.unwrap().fixed_ghz, Some(1.6));
    // Without --pci, PCI addresses stay.
    let into = results.path("with-pci");
    assert!(triptych("anonymise", &[&low], &into, &[]).status.success());
    assert!(texts(&into).contains("0000:03:00.0"));
    let output = triptych(
        "anonymise",
        &[results.folder.path()],
        &results.path("x"),
        &[],
    );
    assert_eq!(output.status.code(), Some(2), "not a run");
}
