//! `triptych with-card` with a real card: what programs see, how they end, and what remains behind them.
//! The tests of `drivers/bridge` run programs that use VFIO in all ways.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::text;
use crate::support::with_card::{built, wait_until, Bench};
use rustix::process::Signal;

/// The most time that the namespace, the card and the program's start may take.
const SET_UP: Duration = Duration::from_millis(500);
const FOREVER: &str = "while :; do sleep 0.02; done";
/// Runs the rest of a program as an ordinary user.
const AS_USER: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

#[test]
fn the_status_of_the_program_is_the_status_of_the_command_soon_after_its_start() {
    let Some(bench) = Bench::new() else { return };
    let mut best = Duration::MAX;
    for (line, status, signal) in [
        ("exit 0", 0, ""),
        ("exit 7", 7, ""),
        ("kill -9 $$", 137, "KILL"),
        ("kill -TERM $$", 143, "TERM"),
    ] {
        let start = Instant::now();
        let (code, seen) = bench.shell(&[], &[], line);
        assert_eq!(code, Some(status), "{seen}");
        let said = format!("triptych: the program ended by signal SIG{signal}\n");
        assert_eq!(seen, if signal.is_empty() { "" } else { &said });
        // Other work on the machine only makes runs longer.
        best = best.min(start.elapsed());
    }
    assert!(best < SET_UP, "{best:?}");
    bench.assert_clean();
}

#[test]
fn the_program_sees_the_ports_of_the_card_and_the_machines_devices() {
    let Some(bench) = Bench::new() else { return };
    let line = "cd /sys/bus/pci/devices && echo * && cat 0000:04:00.0/device && head -3 0000:04:00.0/resource &&
        readlink -f 0000:04:00.0/iommu_group 0000:04:00.0/driver && cat 0000:04:00.0/uevent &&
        cat 0000:04:00.0/iommu/intel-iommu/cap && ls -l 0000:04:00.0/resource0 && xxd -s 16 -l 12 0000:04:00.0/config
        ls -1 /dev/vfio /dev/vfio/devices /sys/kernel/iommu_groups/23/devices && ls -d /sys/module/vfio* /dev/iommu";
    let (_, seen) = bench.shell(&[], &["--device-id=1528", "--aw-bits=39"], line);
    for expected in [
        "0000:03:00.0 0000:04:00.0\n0x1528\n",
        "0x00000000f0100000 0x00000000f017ffff 0x0000000000140204\n",
        "0x000000000000e020 0x000000000000e03f 0x0000000000040101\n",
        "/sys/kernel/iommu_groups/24\n/sys/bus/pci/drivers/vfio-pci\n",
        "PCI_ID=8086:1528\nPCI_SUBSYS_ID=8086:0003\nPCI_SLOT_NAME=0000:04:00.0\n",
        "MODALIAS=pci:v00008086d00001528sv00008086sd00000003bc02sc00i00\n260000\n",
        " 524288 ",
        ": 0400 10f0 0000 0000 21e0 0000 ",
        "/dev/vfio:\n23\n24\ndevices\nvfio\n",
        "/dev/vfio/devices:\nvfio0\nvfio1\n",
        "/devices:\n0000:03:00.0\n",
        "/dev/iommu",
        "/sys/module/vfio_iommu_type1",
    ] {
        assert!(seen.contains(expected), "{expected} is missing in {seen}");
    }
    let line = "ls /sys/kernel/iommu_groups/23/devices | wc -l; ls /dev/vfio; ulimit -l";
    let options = ["--ports=4", "--same-group", "--memlock=1048576"];
    let (_, seen) = bench.shell(&[], &options, line);
    assert_eq!(seen, "4\n23\ndevices\nvfio\n1024\n");

    let line = "head -c 4 /dev/zero | wc -c; echo lost > /dev/null; echo kept > /dev/stdout; \
        : > /dev/shm/triptych-test-$$ && rm /dev/shm/triptych-test-$$; \
        script -qec 'tty' /dev/null | grep -c /dev/pts; cat /proc/1/comm /proc/$$/comm";
    assert_eq!(bench.shell(&[], &[], line).1, "4\nkept\n1\ncat\nsh\n");
}

#[test]
fn each_user_keeps_the_number_and_can_be_denied_the_devices() {
    let Some(bench) = Bench::new() else { return };
    let users: &[&[&str]] = &[&[], &["env", "-S", AS_USER]];
    for user in &users[..1 + usize::from(rustix::process::geteuid().is_root())] {
        let line =
            "id -u | grep -c -e ^0 -e ^65534; : < /dev/vfio/23 && ls /sys/bus/pci/devices; exit 3";
        let ended = bench.shell(user, &[], line);
        if ended.1.contains("user namespace") {
            continue;
        }
        assert_eq!(ended, (Some(3), "1\n0000:03:00.0\n0000:04:00.0\n".into()));
        let line = "true < /dev/vfio/vfio && echo container; true < /dev/vfio/23 || true < /dev/vfio/devices/vfio1";
        let (_, seen) = bench.shell(user, &["--permission-denied"], line);
        assert!(seen.starts_with("container\n"), "{seen}");
        assert_eq!(seen.matches("ermission denied").count(), 2, "{seen}");
    }
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
    cat /proc/$$/mountinfo > "$ROOT/mounts"
    timeout 10 chroot "$ROOT" sh -c 'cd /tmp; exec "$@"' sh "$@"
    cmp /proc/$$/mountinfo "$ROOT/mounts"
"#;

#[test]
fn the_root_of_a_chroot_need_not_be_a_mount() {
    let Some(bench) = Bench::new() else { return };
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let script = format!("ROOT={}; {IN_A_CHROOT}", root.path().display());
    let prefix = ["unshare", "--mount", "sh", "-euc", &script, "sh"];
    let ended = bench.shell(&prefix, &[], "ls /sys/bus/pci/devices; pwd");
    assert_eq!(
        ended,
        (Some(0), "0000:03:00.0\n0000:04:00.0\n/tmp\n".into())
    );
    bench.assert_clean();
}

#[test]
fn what_cannot_run_is_refused_with_the_reason() {
    let Some(bench) = Bench::new() else { return };
    let make = "cd $1; echo no program > text; chmod +x text; echo 'int main(void) { return 0; }' > s.c; cc -static s.c";
    let folder = bench.path().to_str().unwrap();
    let made = Command::new("sh")
        .args(["-euc", make, "sh", folder])
        .status();
    assert!(made.unwrap().success());
    for (option, program, reason) in [
        ("-q", "no-such-program", "in PATH"),
        ("-q", "/etc/passwd", "no executable file"),
        ("-q", "./no-such-program", "No such file"),
        ("-q", &format!("{folder}/text"), "Exec format error"),
        ("-q", &format!("{folder}/a.out"), "statically linked"),
        ("--size=3", "true", "must be 60 to 1514 bytes"),
        ("--ports=17", "true", "write a number from 1 to 16"),
        ("--card-option=--fault=x", "true", "never-finish-reset"),
        ("--socket=/no/such/socket", "true", "No such file"),
        ("--aw-bits=12", "true", "write a number from 39 to 57"),
    ] {
        let output = bench.run(&[option], &[program]);
        let seen = text(&output);
        assert!(seen.contains(reason), "{option} {program}: {seen}");
        assert_eq!(output.status.code(), Some(2), "{seen}");
    }
    for (file, reason) in [("libtriptych_bridge.so", "no bridge"), ("nic", "build it")] {
        fs::remove_file(bench.path().join("bin").join(file)).unwrap();
        let output = bench.run(&[], &["true"]);
        assert!(text(&output).contains(reason), "{}", text(&output));
        assert_eq!(output.status.code(), Some(2));
    }
    bench.assert_clean();
}

#[test]
fn drivers_forward_and_the_report_of_the_card_follows() {
    let Some(bench) = Bench::new() else { return };
    let json = format!("--json={}/card.json", bench.path().display());
    for driver in ["c/ixgbe-fwd", "rust/ixgbe-fwd"] {
        let driver = built(driver).display().to_string();
        let ports = ["--duration", "1", "0000:03:00.0", "0000:04:00.0"];
        let output = bench.run(&[&json], &[&[driver.as_str()], &ports[..]].concat());
        let seen = text(&output);
        assert!(output.status.success(), "{seen}");
        let good = " 0 duplicated, 0 reordered, 0 altered, 0 foreign";
        assert_eq!(seen.matches(good).count(), 2, "{seen}");
        assert!(!seen.contains("verified 0 ok"), "{seen}");
        assert_eq!(seen.matches("0 DMA faults").count(), 2, "{seen}");
    }
    assert!(bench.path().join("card.json").exists());
    bench.assert_clean();
}

#[test]
fn signals_reach_the_program_once() {
    let Some(bench) = Bench::new() else { return };
    use Signal as S;
    for signal in [S::INT, S::TERM, S::HUP, S::QUIT, S::USR1] {
        let number = signal.as_raw();
        let running = bench.start(&[], &format!("trap 'exit 31' {number}; {FOREVER}"));
        running.signal("triptych", signal);
        let (code, seen) = running.end();
        assert_eq!(code, Some(31), "{number}: {seen}");
    }
    let line = format!("trap 'exit 4' TERM; {FOREVER}");
    assert_eq!(bench.shell(&[], &["--duration=0.3"], &line).0, Some(4));
    let (_, seen) = bench.shell(&["nohup"], &[], "grep SigIgn /proc/self/status");
    assert!(seen.contains("0000001\n"), "{seen}");
    // It signals the process and its group.
    let timeout = ["timeout", "--preserve-status", "0.8"];
    let line = "n=0; trap 'n=$((n + 1))' TERM; for i in $(seq 60); do sleep 0.02; done; exit $n";
    assert_eq!(bench.shell(&timeout, &[], line).0, Some(1));
}

#[test]
fn nothing_remains_however_it_ends() {
    let Some(bench) = Bench::new() else { return };
    let ignores = &format!("trap '' TERM INT HUP; setsid sleep 1000 & {FOREVER}");
    let driver = built("rust/ixgbe-fwd").display().to_string();
    let forwards = &format!("exec {driver} 0000:03:00.0 0000:04:00.0");
    let stopped = &"kill -STOP $$".to_owned();
    let leaves = &"(setsid sleep 9 &); exec sleep 1".to_owned();
    let late = "did not end within 5 s of SIGTERM; it was killed";
    let no_card = "the card ended with signal: 9 (SIGKILL)";
    for (line, process, signal, status, note) in [
        (ignores, "triptych", Signal::TERM, Some(137), late),
        (ignores, "triptych", Signal::KILL, None, ""),
        (ignores, "cat", Signal::KILL, Some(1), no_card),
        (ignores, "nic", Signal::KILL, Some(1), no_card),
        (forwards, "triptych", Signal::KILL, None, ""),
        (forwards, "nic", Signal::KILL, Some(1), no_card),
        (forwards, "triptych", Signal::TERM, Some(0), "2 sessions"),
        (stopped, "triptych", Signal::TERM, Some(143), "SIGTERM"),
        (leaves, "triptych", Signal::CONT, Some(0), "behind (1)"),
    ] {
        let running = bench.start(&[], line);
        std::thread::sleep(Duration::from_millis(300));
        running.signal(process, signal);
        let (code, seen) = running.end();
        let as_expected = code == status && seen.contains(note);
        assert!(as_expected, "{line} {process} {signal:?}: {code:?} {seen}");
    }
}

#[test]
fn a_background_job_ends_with_its_script_but_not_below_nohup() {
    let Some(bench) = Bench::new() else { return };
    // The job ignores SIGINT, but not SIGHUP.
    let job = "\"$@\" & wait";
    let job = ["sh", "-c", job, "script", "env", "--default-signal=HUP"];
    for (nohup, goes_on) in [(&[][..], false), (&["nohup"][..], true)] {
        let running = bench.start(&[&job, nohup].concat(), "sleep 1; echo went on");
        running.signal("sh -c \"", Signal::KILL);
        let (_, seen) = running.end();
        assert_eq!(seen.contains("went on"), goes_on, "{seen}");
    }
}

#[test]
fn a_running_card_can_be_used() {
    let Some(bench) = Bench::new() else { return };
    let sockets = bench.path().join("s");
    let mut nic = Command::new(built("nic"))
        .args(["--device-id", "1528", "--socket-dir"])
        .arg(&sockets)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the card starts", || sockets.join("port1.sock").exists());
    let options = [1, 0].map(|port| format!("--socket={}/port{port}.sock", sockets.display()));
    let options = options.each_ref().map(String::as_str);
    let line = "cat /sys/bus/pci/devices/*/device; cat $TRIPTYCH_BRIDGE";
    let (_, seen) = bench.shell(&[], &options, line);
    let lives = nic.try_wait().unwrap().is_none();
    nic.kill().unwrap();
    nic.wait().unwrap();
    assert!(lives, "the command ended the card of another");
    assert!(seen.starts_with("0x1528\n0x1528\n"), "{seen}");
    assert!(seen.find("port1.sock") < seen.find("port0.sock"), "{seen}");
    let (code, seen) = bench.shell(&[], &options, "true");
    assert!(seen.contains("no software NIC listens"), "{seen}");
    assert_eq!(code, Some(1));
}

#[test]
fn the_program_has_the_terminal() {
    let Some(bench) = Bench::new() else { return };
    let program = "trap \"echo interrupted; exit 9\" INT; read -r line; echo \"read $line\"; while :; do sleep 0.02; done";
    let command = format!(
        "{} with-card -q --build-dir {} -- sh -c '{program}'",
        env!("CARGO_BIN_EXE_triptych"),
        bench.path().display(),
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
    assert!(seen.contains("read typed"), "{seen}");
    assert_eq!(seen.matches("interrupted").count(), 1, "{seen}");
    assert_eq!(output.status.code(), Some(9));
}
