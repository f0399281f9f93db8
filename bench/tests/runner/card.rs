//! Runs the program as with a real card: ports and generators that do not exist, and clocks of a
//! simulated machine. Drivers and NIC are stand-ins.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::{text, wait_until, works_here, Build};
use rustix::process::{kill_process, Pid, Signal};

/// A machine of two CPUs from 0.8 to 3.7 GHz, with turbo.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let cpu = root.path().join("sys/devices/system/cpu");
        for policy in [0, 1] {
            let folder = cpu.join(format!("cpufreq/policy{policy}"));
            fs::create_dir_all(&folder).unwrap();
            for (name, khz) in [
                ("cpuinfo_min_freq", 800_000),
                ("cpuinfo_max_freq", 3_700_000),
                ("scaling_min_freq", 800_000),
                ("scaling_max_freq", 3_700_000),
            ] {
                fs::write(folder.join(name), format!("{khz}\n")).unwrap();
            }
        }
        fs::create_dir_all(cpu.join("intel_pstate")).unwrap();
        fs::write(cpu.join("intel_pstate/no_turbo"), "0\n").unwrap();
        fs::create_dir_all(root.path().join("run")).unwrap();
        Self(root)
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Turbo's switch, and the limits of each policy.
    fn settings(&self) -> Vec<String> {
        let limits = [
            "0/scaling_min",
            "0/scaling_max",
            "1/scaling_min",
            "1/scaling_max",
        ];
        let limits = limits.map(|limit| format!("cpufreq/policy{limit}_freq"));
        ["intel_pstate/no_turbo".to_owned()]
            .into_iter()
            .chain(limits)
            .map(|file| {
                let file = self.0.path().join("sys/devices/system/cpu").join(file);
                fs::read_to_string(file).unwrap().trim().to_owned()
            })
            .collect()
    }

    fn wait_for(&self, settings: &[String]) {
        let what = format!("the settings do not become {settings:?}");
        wait_until(&what, || self.settings() == settings);
    }

    fn restore(&self) -> Output {
        Command::new(env!("CARGO_BIN_EXE_triptych"))
            .args(["clocks", "restore", "--root", self.path()])
            .output()
            .unwrap()
    }
}

fn fixed(khz: &str) -> Vec<String> {
    ["1", khz, khz, khz, khz].map(str::to_owned).into()
}

/// A run that is far longer than a test, also with the stand-ins.
fn start_long_run(build: &Build, machine: &Machine) -> Child {
    let config = build.path().join("long.toml");
    fs::write(
        &config,
        "clocks_ghz = [1.6]\nwall = { seconds = 600 }\n[[block]]\nbackends = [\"wall\"]\nimpl = [\"c\"]\n",
    )
    .unwrap();
    build
        .triptych(&["run", "--config", config.to_str().unwrap()])
        .args(["--clocks-root", machine.path()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The holder of a machine's clocks, a child of `parent`.
fn holder(parent: u32, machine: &Machine) -> Pid {
    let folder = PathBuf::from(format!("/proc/{parent}/task/{parent}/children"));
    let children = fs::read_to_string(folder).unwrap();
    let holds = |pid: &&str| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("hold") && line.contains(machine.path())
    };
    let pid = children.split_whitespace().find(holds).unwrap();
    Pid::from_raw(pid.parse().unwrap()).unwrap()
}

#[test]
fn each_clock_is_a_run_and_the_settings_are_restored() {
    if !works_here("wall") {
        return;
    }
    let (build, machine) = (Build::new(), Machine::new());
    let before = machine.settings();
    let list = build.path().join("runs.txt");
    let output = build
        .triptych(&[
            "run",
            "--clock=1.6,3.3",
            "--backend=wall",
            "--impl=c",
            "--batch=32",
        ])
        .args(["--quick", "--clocks-root", machine.path(), "--list-runs"])
        .arg(&list)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(machine.settings(), before);
    let runs = fs::read_to_string(list).unwrap();
    let clocks: Vec<_> = runs
        .lines()
        .map(|run| record::read_run(&build.path().join(run)).unwrap())
        .map(|run| run.core_clock.unwrap().fixed_ghz)
        .collect();
    assert_eq!(clocks, [Some(1.6), Some(3.3)]);
}

#[test]
fn an_interrupted_or_killed_run_restores_the_settings() {
    if !works_here("wall") {
        return;
    }
    let (build, machine) = (Build::new(), Machine::new());
    let before = machine.settings();
    for how in [Signal::INT, Signal::TERM, Signal::KILL] {
        let mut run = start_long_run(&build, &machine);
        machine.wait_for(&fixed("1600000"));
        kill_process(Pid::from_child(&run), how).unwrap();
        run.wait().unwrap();
        machine.wait_for(&before);
    }
    let note = machine.0.path().join("run/triptych-clocks");
    wait_until("the note stays", || !note.exists());
    let output = machine.restore();
    assert!(
        text(&output).contains("no run has changed"),
        "{}",
        text(&output)
    );
}

#[test]
fn after_the_death_of_run_and_holder_a_command_restores_the_settings() {
    if !works_here("wall") {
        return;
    }
    let (build, machine) = (Build::new(), Machine::new());
    let before = machine.settings();
    let mut run = start_long_run(&build, &machine);
    machine.wait_for(&fixed("1600000"));
    let holder = holder(run.id(), &machine);
    let held = machine.restore();
    assert_eq!(held.status.code(), Some(1));
    assert!(text(&held).contains("another triptych"), "{}", text(&held));
    kill_process(holder, Signal::KILL).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(machine.settings(), fixed("1600000"));
    let output = machine.restore();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(machine.settings(), before);
}

fn card(build: &Build, words: &[&str]) -> Output {
    let matrix = Path::new(env!("CARGO_MANIFEST_DIR")).join("card.toml");
    let mut all = vec!["run", "--config", matrix.to_str().unwrap()];
    all.extend(words);
    build.run(&all)
}

#[test]
fn ports_and_generators_that_cannot_work_are_errors_of_usage() {
    let build = Build::new();
    let sockets = ["port0.sock", "port1.sock"].map(|name| build.path().join(name));
    let _listening = sockets
        .each_ref()
        .map(|path| UnixListener::bind(path).unwrap());
    let running = sockets
        .map(|path| format!("vfio-user:{}", path.display()))
        .join(",");
    let silent = build.path().join("silent.toml");
    fs::write(
        &silent,
        "tool = \"testpmd\"\nprogram = \"/nonexistent/testpmd\"\nports = [\"03:00.0\"]\nlcores = \"0\"\n",
    )
    .unwrap();
    let nowhere = "vfio-user:/nonexistent/0,vfio-user:/nonexistent/1";
    let silent = silent.to_str().unwrap();
    for (devices, more, part) in [
        ("0000:03:00.0", &[][..], "needs two ports"),
        (
            "fffe:03:00.0,fffe:03:00.1",
            &[],
            "fffe:03:00.0: no such PCI device",
        ),
        (nowhere, &[], "build/bin/nic"),
        (
            &running,
            &["--generator", silent],
            "the load generator does not answer",
        ),
    ] {
        let output = card(&build, &[&["--devices", devices], more].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{devices}: {said}");
        assert!(said.contains(part), "{devices}: {said}");
    }
    assert!(!build.path().join("results").exists());
}

#[test]
fn a_dry_run_prints_the_plan_and_touches_nothing() {
    let (build, machine) = (Build::new(), Machine::new());
    let before = machine.settings();
    let generator = build.path().join("testpmd.toml");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("pktgen/testpmd.toml");
    fs::copy(example, &generator).unwrap();
    let output = card(
        &build,
        &[
            "--dry-run",
            "--devices=fffe:03:00.0,fffe:03:00.1",
            "--generator",
            generator.to_str().unwrap(),
            "--clocks-root",
            machine.path(),
        ],
    );
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for part in [
        "ports: fffe:03:00.0 and fffe:03:00.1",
        "ssh -T",
        "dpdk-testpmd",
        "clock: 1.6 GHz on all CPUs",
        "clock: 3.3 GHz on all CPUs",
        "writes 1600000 to ",
        "batch 32, rings of 512, 60-byte frames: c, rust",
        "for each clock",
        "fffe:03:00.0: no such PCI device",
    ] {
        assert!(said.contains(part), "{part} is missing:\n{said}");
    }
    assert_eq!(machine.settings(), before);
    assert!(!build.path().join("results").exists());
}
