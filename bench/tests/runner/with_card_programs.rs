//! `triptych with-card` with programs that use VFIO: a driver that forwards, and programs that break
//! its rules while the card runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::support::text;
use crate::support::with_card::{built, permitted, signal, Bench, BOUND};
use rustix::process::Signal;

const PORTS: [&str; 2] = ["0000:03:00.0", "0000:04:00.0"];

/// Builds the program that breaks rules.
fn broken(bench: &Bench) -> PathBuf {
    let program = bench.path().join("faults");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/faults.c");
    let output = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source)
        .arg("-ldl")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    program
}

/// Runs it to its end, which must come in time and leave nothing.
fn run_broken(bench: &Bench, options: &[&str], mode: &[&str]) -> Output {
    let program = broken(bench);
    let words: Vec<_> = [program.to_str().unwrap()]
        .iter()
        .chain(mode)
        .copied()
        .collect();
    let start = Instant::now();
    let output = bench.run(options, &words);
    assert!(
        start.elapsed() < 2 * BOUND,
        "{mode:?} took {:?}",
        start.elapsed()
    );
    bench.assert_clean();
    output
}

#[test]
fn a_driver_forwards() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    for driver in ["c/ixgbe-fwd", "rust/ixgbe-fwd"] {
        let driver = built(driver);
        let words = [
            driver.to_str().unwrap(),
            "--duration",
            "1",
            PORTS[0],
            PORTS[1],
        ];
        let output = bench.run(&[], &words);
        let seen = text(&output);
        assert!(output.status.success(), "{seen}");
        assert_eq!(
            seen.matches(" 0 duplicated, 0 reordered, 0 altered, 0 foreign")
                .count(),
            2,
            "{seen}"
        );
        assert!(!seen.contains("verified 0 ok"), "{seen}");
        assert_eq!(seen.matches("0 DMA faults").count(), 2, "{seen}");
    }
    bench.assert_clean();
}

#[test]
fn programs_may_fork_and_exec() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    for (mode, line) in [
        ("open", "status 1\n"),
        ("fork", "child 3, parent reads 1\n"),
        ("exec", "status 1\n"),
    ] {
        let output = run_broken(&bench, &["-q"], &[mode]);
        assert_eq!(
            (text(&output).as_str(), output.status.code()),
            (line, Some(0)),
            "{mode}"
        );
    }
}

#[test]
fn a_program_that_dies_with_the_device_open_is_named() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    let library = built("c/libforwarder.so");
    let library = library.to_str().unwrap();
    for (mode, status, name) in [
        (&["die"][..], 139, "SIGSEGV"),
        (&["die", library], 139, "SIGSEGV"),
        (&["abort", library], 134, "SIGABRT"),
    ] {
        let output = run_broken(&bench, &["-q"], mode);
        let seen = text(&output);
        assert_eq!(output.status.code(), Some(status), "{mode:?}: {seen}");
        assert!(
            seen.contains(&format!("the program ended by signal {name}")),
            "{seen}"
        );
    }
}

#[test]
fn too_much_memory_is_refused() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    // The kernel checks the addresses before it counts the memory.
    let output = run_broken(&bench, &["-q", "--memlock=1048576"], &["large"]);
    let seen = text(&output);
    for line in [
        "1 TiB at 1 MiB: Invalid argument",
        "1 TiB at 4 GiB: Cannot allocate memory",
    ] {
        assert!(seen.contains(line), "{seen}");
    }
    assert_eq!(output.status.code(), Some(0), "{seen}");
    let output = run_broken(&bench, &["-q"], &["large"]);
    let seen = text(&output);
    assert!(seen.contains("1 TiB at 1 MiB: Invalid argument"), "{seen}");
    assert_eq!(output.status.code(), Some(0), "{seen}");
    let output = run_broken(&bench, &["-q", "--memlock=1048576"], &["limit"]);
    assert!(
        text(&output).contains("2 MiB: Cannot allocate memory"),
        "{}",
        text(&output)
    );
    let output = run_broken(&bench, &["-q"], &["limit"]);
    assert_eq!(text(&output), "2 MiB: Success\n");
}

#[test]
fn memory_and_descriptors_may_go_while_the_card_uses_them() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    let library = built("c/libforwarder.so");
    for mode in ["unmap", "close"] {
        let output = run_broken(
            &bench,
            &["--traffic=saturate"],
            &[mode, library.to_str().unwrap()],
        );
        let seen = text(&output);
        assert!(seen.contains("forwarded 1\n"), "{mode}: {seen}");
        if mode == "unmap" {
            assert!(seen.contains("unmapped\n"), "{seen}");
            // The card reports the faults instead of writing to memory that is gone.
            assert!(!seen.contains(" 0 DMA faults"), "{seen}");
        }
        // The driver may give up or go on, but the card lives and reports.
        assert!(seen.contains("port 1: verified"), "{mode}: {seen}");
    }
}

#[test]
fn a_driver_that_hangs_is_killed() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    let program = broken(&bench);
    let running = bench.start(&format!("exec {} hang", program.display()));
    std::thread::sleep(Duration::from_millis(300));
    signal(running.launcher(), Signal::TERM);
    let (code, seen) = running.end();
    assert_eq!(code, Some(137), "{seen}");
}

#[test]
fn a_driver_ends_when_its_card_dies() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    let driver = built("c/ixgbe-fwd");
    let running = bench.start(&format!(
        "exec {} {} {}",
        driver.display(),
        PORTS[0],
        PORTS[1]
    ));
    std::thread::sleep(Duration::from_millis(500));
    signal(bench.process("nic --ports"), Signal::KILL);
    let (code, seen) = running.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(
        seen.contains("the card ended by signal SIGKILL while the program ran"),
        "{seen}"
    );
}

#[test]
fn nothing_remains_of_a_driver_whose_launcher_is_killed() {
    if !permitted() {
        return;
    }
    let bench = Bench::with_bridge();
    let driver = built("rust/ixgbe-fwd");
    let running = bench.start(&format!(
        "exec {} {} {}",
        driver.display(),
        PORTS[0],
        PORTS[1]
    ));
    std::thread::sleep(Duration::from_millis(300));
    signal(running.launcher(), Signal::KILL);
    let (code, seen) = running.end();
    assert_eq!(code, None, "{seen}");
}
