//! `triptych with-card` with a real card, and programs that need no bridge: what they see, how they
//! end, and what remains behind them.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::text;
use crate::support::with_card::{built, permitted, signal, Bench, BOUND};
use rustix::process::Signal;

/// The most time that the namespace, the card and the program's start may take.
const SET_UP: Duration = Duration::from_millis(500);

/// Runs the rest of a program as an ordinary user.
const AS_ORDINARY_USER: [&str; 4] = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
];

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn the_status_of_the_program_is_the_status_of_the_command() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    for (line, status) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
    ] {
        let output = bench.shell(&["-q"], line);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{line}: {}",
            text(&output)
        );
    }
    let output = bench.shell(&["-q"], "kill -SEGV $$");
    assert!(
        text(&output).contains("ended by signal SIGSEGV"),
        "{}",
        text(&output)
    );
    bench.assert_clean();
}

#[test]
fn the_program_sees_the_ports_of_the_card() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "cd /sys/bus/pci/devices && echo * && cat 0000:04:00.0/device 0000:04:00.0/config | head -c 9 &&
        readlink -f 0000:04:00.0/iommu_group 0000:04:00.0/driver &&
        ls -1 /dev/vfio /dev/vfio/devices /sys/kernel/iommu_groups/23/devices && ls -d /sys/module/vfio* /dev/iommu";
    let output = bench.shell(&["--device-id", "1528", "-q"], line);
    let seen = text(&output);
    for expected in [
        "0000:03:00.0 0000:04:00.0\n0x1528\n",
        "/sys/kernel/iommu_groups/24\n/sys/bus/pci/drivers/vfio-pci\n",
        "/dev/vfio:\n23\n24\ndevices\nvfio\n",
        "/dev/vfio/devices:\nvfio0\nvfio1\n",
        "/devices:\n0000:03:00.0\n",
        "/dev/iommu",
        "/sys/module/vfio_iommu_type1",
    ] {
        assert!(seen.contains(expected), "{expected} is missing in {seen}");
    }
    let output = bench.shell(
        &["-q", "--ports=4", "--same-group"],
        "ls /sys/kernel/iommu_groups/23/devices | wc -l; ls /dev/vfio",
    );
    assert_eq!(text(&output), "4\n23\ndevices\nvfio\n");
}

#[test]
fn the_machines_devices_remain_usable() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "head -c 4 /dev/zero | wc -c; echo lost > /dev/null; echo kept > /dev/stdout; \
        : > /dev/shm/triptych-test-$$ && rm /dev/shm/triptych-test-$$; \
        script -qec 'tty' /dev/null | grep -c /dev/pts; cat /sys/module/vfio/parameters/x 2>&1 | tail -c 10";
    let seen = text(&bench.shell(&["-q"], line));
    assert!(seen.starts_with("4\nkept\n1\n"), "{seen}");
}

#[test]
fn an_ordinary_user_needs_no_root() {
    if !is_root() || !permitted() {
        return; // Without root, all other tests show this.
    }
    let bench = Bench::without_bridge();
    fs::set_permissions(
        bench.path().join("tmp"),
        std::os::unix::fs::PermissionsExt::from_mode(0o777),
    )
    .unwrap();
    let program = [
        "sh",
        "-c",
        "id -u; id -g; : < /dev/vfio/23 && ls /sys/bus/pci/devices; exit 3",
    ];
    let output = bench
        .prefixed(&AS_ORDINARY_USER, &["-q"], &program)
        .output()
        .unwrap();
    if text(&output).contains("user namespace") {
        return;
    }
    assert_eq!(text(&output), "65534\n65534\n0000:03:00.0\n0000:04:00.0\n");
    assert_eq!(output.status.code(), Some(3));
    bench.assert_clean();
}

/// Makes the plain folder `ROOT` a root with the machine's folders, whose mounts hand new ones on, and runs its
/// arguments in there. No path of the outside leads to anything inside.
const IN_A_CHROOT: &str = r#"
    for entry in /*; do
        if [ -L "$entry" ]; then cp -P "$entry" "$ROOT"
        elif [ -d "$entry" ]; then mkdir "$ROOT$entry"; mount --rbind "$entry" "$ROOT$entry"; fi
    done
    mount -t tmpfs hidden "$ROOT$ROOT"
    mount --make-rshared /
    export OUTSIDE=/proc/$$/mountinfo
    cat $OUTSIDE > "$ROOT/mounts"
    timeout 10 chroot "$ROOT" sh -c 'cd /tmp; exec "$@"' sh "$@"
    cmp $OUTSIDE "$ROOT/mounts"
"#;

#[test]
fn the_root_of_a_chroot_need_not_be_a_mount() {
    let space = ["unshare", "--mount", "sh", "-euc"];
    let tried = Command::new(space[0]).args(&space[1..]).arg(":").output();
    let tried = tried.unwrap();
    if !tried.status.success() {
        println!("skipped: {}", text(&tried));
        return;
    }
    let bench = Bench::without_bridge();
    let root = tempfile::tempdir().unwrap();
    let prefix = [&space[..], &[IN_A_CHROOT, "sh"]].concat();
    let line = "ls /sys/bus/pci/devices; pwd; cmp $OUTSIDE /mounts";
    let output = bench
        .prefixed(&prefix, &["-q"], &["sh", "-c", line])
        .env("ROOT", root.path())
        .output()
        .unwrap();
    assert_eq!(text(&output), "0000:03:00.0\n0000:04:00.0\n/tmp\n");
    assert_eq!(output.status.code(), Some(0));
    bench.assert_clean();
}

#[test]
fn groups_can_be_forbidden_even_for_root() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line =
        "cat /dev/vfio/vfio && echo container; cat /dev/vfio/23 || cat /dev/vfio/devices/vfio1";
    let program = ["sh", "-c", line];
    let prefixes: [&[&str]; 2] = [&[], &AS_ORDINARY_USER];
    for prefix in &prefixes[..if is_root() { 2 } else { 1 }] {
        let output = bench
            .prefixed(prefix, &["-q", "--permission-denied"], &program)
            .output()
            .unwrap();
        let seen = text(&output);
        if seen.contains("user namespace") {
            continue;
        }
        assert!(seen.starts_with("container\n"), "{seen}");
        assert_eq!(seen.matches("ermission denied").count(), 2, "{seen}");
        assert!(!output.status.success());
    }
}

#[test]
fn bad_usage_is_refused_with_the_reason() {
    let bench = Bench::without_bridge();
    for (options, program, reason) in [
        (&[][..], "no-such-program", "in PATH"),
        (&[], "/etc/passwd", "not executable"),
        (&["--size=3"], "true", "must be 60 to 1514 bytes"),
        (&["--ports=17"], "true", "write a number from 1 to 16"),
        (
            &["--card-option=--fault=nonsense"],
            "true",
            "never-finish-reset",
        ),
        (&["--socket=/etc/passwd"], "true", "no socket"),
        (&["--socket=/no/such/socket"], "true", "No such file"),
        (
            &["--socket=/x", "--traffic=off"],
            "true",
            "cannot be used with",
        ),
        (&["--aw-bits=12"], "true", "write a number from 39 to 57"),
        (
            &["--build-dir=/nonexistent"],
            "true",
            "/nonexistent/bin/nic: build it",
        ),
    ] {
        let output = match options {
            ["--build-dir=/nonexistent"] => Command::new(env!("CARGO_BIN_EXE_triptych"))
                .args(["with-card", "--build-dir=/nonexistent", "--", program])
                .output()
                .unwrap(),
            _ => bench.run(options, &[program]),
        };
        let seen = text(&output);
        if seen.contains("user namespace") {
            continue;
        }
        assert!(seen.contains(reason), "{options:?} {program}: {seen}");
        assert_eq!(output.status.code(), Some(2), "{seen}");
    }
    fs::remove_file(bench.path().join("bin/libtriptych_bridge.so")).unwrap();
    let output = bench.run(&[], &["true"]);
    assert!(
        text(&output).contains("there is no bridge"),
        "{}",
        text(&output)
    );
    assert_eq!(output.status.code(), Some(2));
    bench.assert_clean();
}

#[test]
fn a_static_program_is_refused_with_the_way_round() {
    let bench = Bench::without_bridge();
    let (source, program) = (bench.path().join("s.c"), bench.path().join("static"));
    fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let built = Command::new("cc")
        .arg("-static")
        .arg("-o")
        .arg(&program)
        .arg(&source)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let output = bench.run(&[], &[program.to_str().unwrap()]);
    let seen = text(&output);
    assert!(
        seen.contains("statically linked") && seen.contains("make vm-test"),
        "{seen}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_report_of_the_card_follows_the_program() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let json = bench.path().join("card.json");
    let option = format!("--json={}", json.display());
    let output = bench.shell(&[&option], "echo of the program");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "of the program\n");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("port 0: received 0 of 0") && errors.contains("port 1: "),
        "{errors}"
    );
    assert!(!errors.contains("ready"), "{errors}");
    assert!(fs::read_to_string(json).unwrap().contains("ports"));
    assert_eq!(text(&bench.run(&["--quiet"], &["true"])), "");
}

#[test]
fn signals_reach_the_program() {
    if !permitted() {
        return;
    }
    for (number, name, status) in [
        (Signal::INT, "INT", 31),
        (Signal::TERM, "TERM", 32),
        (Signal::HUP, "HUP", 33),
        (Signal::QUIT, "QUIT", 34),
        (Signal::USR1, "USR1", 35),
    ] {
        let bench = Bench::without_bridge();
        let line = format!("trap 'exit {status}' {name}; while :; do sleep 0.02; done");
        let running = bench.start(&line);
        signal(running.launcher(), number);
        let (code, seen) = running.end();
        assert_eq!(code, Some(status), "{name}: {seen}");
    }
}

#[test]
fn timeout_sends_one_signal_not_two() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "n=0; trap 'n=$((n + 1))' TERM; i=0; while [ $i -lt 60 ]; do sleep 0.02; i=$((i + 1)); done; exit $n";
    let output = bench
        .prefixed(&["timeout", "0.8"], &["-q"], &["sh", "-c", line])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", text(&output));
    let output = bench
        .prefixed(
            &["timeout", "--preserve-status", "0.8"],
            &["-q"],
            &["sh", "-c", line],
        )
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

#[test]
fn ignored_signals_stay_ignored() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let output = bench
        .prefixed(
            &["nohup"],
            &["-q"],
            &["sh", "-c", "grep SigIgn /proc/self/status"],
        )
        .output()
        .unwrap();
    assert!(text(&output).contains("0000001\n"), "{}", text(&output));
}

#[test]
fn a_time_limit_ends_the_program_in_order() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "trap 'exit 4' TERM; while :; do sleep 0.02; done";
    let output = bench.shell(&["-q", "--duration=0.3"], line);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
}

#[test]
fn a_program_that_ignores_sigterm_is_killed() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start("trap '' TERM INT HUP; while :; do sleep 0.02; done");
    signal(running.launcher(), Signal::TERM);
    let (code, seen) = running.end();
    assert_eq!(code, Some(137), "{seen}");
    assert!(
        seen.contains("did not end within 5 s of SIGTERM; it was killed"),
        "{seen}"
    );
}

#[test]
fn a_stopped_program_ends_on_sigterm() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start("kill -STOP $$; exit 5");
    std::thread::sleep(Duration::from_millis(100));
    signal(running.launcher(), Signal::TERM);
    let (code, seen) = running.end();
    assert_eq!(code, Some(143), "{seen}");
}

#[test]
fn processes_that_the_program_leaves_are_ended() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "setsid sh -c 'trap \"\" TERM HUP; exec sleep 1000' & \
        (setsid sleep 1000 &) ; exit 6";
    let (code, seen) = bench.start(line).end();
    assert_eq!(code, Some(6), "{seen}");
    assert!(
        seen.contains("ended processes that the program left behind (2)"),
        "{seen}"
    );
}

#[test]
fn the_program_ends_with_its_card() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start("trap '' TERM; while :; do sleep 0.02; done");
    signal(bench.process("nic --ports"), Signal::KILL);
    let (code, seen) = running.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(
        seen.contains("the card ended by signal SIGKILL while the program ran"),
        "{seen}"
    );
}

#[test]
fn nothing_remains_when_the_launcher_is_killed() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start("trap '' TERM; setsid sleep 1000 & while :; do sleep 0.02; done");
    signal(running.launcher(), Signal::KILL);
    let (code, seen) = running.end();
    assert_eq!(code, None, "{seen}");
    assert!(seen.contains("`triptych with-card` was killed"), "{seen}");
}

#[test]
fn nothing_remains_when_the_guard_is_killed() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start("trap '' TERM; setsid sleep 1000 & while :; do sleep 0.02; done");
    signal(bench.process("with-card-guard"), Signal::KILL);
    let (code, seen) = running.end();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("the guard of the program ended"), "{seen}");
}

/// Runs the rest as a background job of a script, which ignores SIGINT, but not SIGHUP.
const IN_BACKGROUND: [&str; 6] = [
    "sh",
    "-c",
    "\"$@\" & wait",
    "script",
    "env",
    "--default-signal=HUP",
];

#[test]
fn a_background_job_ends_with_its_script() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let running = bench.start_below(&IN_BACKGROUND, "sleep 1000");
    signal(running.launcher(), Signal::KILL);
    let (_, seen) = running.end();
    assert!(seen.contains("the script that started this"), "{seen}");
}

#[test]
fn a_background_job_below_nohup_outlives_its_script() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let nohup = [&IN_BACKGROUND[..], &["nohup"]].concat();
    let running = bench.start_below(&nohup, "sleep 1; echo went on");
    signal(running.launcher(), Signal::KILL);
    let (_, seen) = running.end();
    assert!(seen.contains("went on"), "{seen}");
}

#[test]
fn a_running_card_can_be_used() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let sockets = bench.path().join("s");
    let mut nic = Command::new(built("nic"))
        .arg("--socket-dir")
        .arg(&sockets)
        .args(["--device-id", "1528"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !sockets.join("port1.sock").exists() {
        assert!(start.elapsed() < BOUND);
        std::thread::sleep(Duration::from_millis(5));
    }
    let option = |port: &str| format!("--socket={}", sockets.join(port).display());
    let line = "cat /sys/bus/pci/devices/*/device; cat $TRIPTYCH_BRIDGE";
    let output = bench.shell(&[&option("port1.sock"), &option("port0.sock")], line);
    let seen = text(&output);
    assert!(seen.starts_with("0x1528\n0x1528\n"), "{seen}");
    let first = seen.find("port1.sock").unwrap();
    assert!(first < seen.find("port0.sock").unwrap(), "{seen}");
    assert!(
        nic.try_wait().unwrap().is_none(),
        "the command ended a card that it had not started"
    );
    nic.kill().unwrap();
    nic.wait().unwrap();
    let output = bench.run(&[&option("port0.sock")], &["true"]);
    assert!(
        text(&output).contains("cannot connect to the card"),
        "{}",
        text(&output)
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_program_has_the_terminal() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let line = "trap 'echo interrupted; exit 9' INT; read -r line; echo \"read $line\"; while :; do sleep 0.02; done";
    let command = format!(
        "{} with-card -q --build-dir {} -- sh -c '{}'",
        env!("CARGO_BIN_EXE_triptych"),
        bench.path().display(),
        line.replace('\'', r"'\''"),
    );
    let mut script = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = script.stdin.take().unwrap();
    keys.write_all(b"typed\n").unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    keys.write_all(b"\x03").unwrap();
    let output = script.wait_with_output().unwrap();
    let seen = text(&output);
    assert!(
        seen.contains("read typed") && seen.matches("interrupted").count() == 1,
        "{seen}"
    );
    assert_eq!(output.status.code(), Some(9), "{seen}");
}

#[test]
fn set_up_takes_half_a_second_at_most() {
    if !permitted() {
        return;
    }
    let bench = Bench::without_bridge();
    let time = || {
        let start = Instant::now();
        assert!(bench.run(&["-q"], &["true"]).status.success());
        start.elapsed()
    };
    // Other work on the machine only makes runs longer.
    let best = (0..10).map(|_| time()).min().unwrap();
    assert!(best < SET_UP, "{best:?}");
}
