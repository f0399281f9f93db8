//! Tests the programs `doctor` and `bind` on simulated machines. Only the virtual machines of
//! `make test ONLY=vm-test` really change drivers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PORT: &str = "0000:03:00.0";

/// A machine with a port that is bound to the kernel's driver.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let device = format!("sys/bus/pci/devices/{PORT}");
    for (path, text) in [
        (format!("{device}/vendor"), "0x8086\n"),
        (format!("{device}/device"), "0x1528\n"),
        (format!("{device}/driver_override"), "(null)\n"),
        (format!("{device}/net/eth0/flags"), ""),
        ("sys/bus/pci/drivers/ixgbe/unbind".to_owned(), ""),
        ("sys/bus/pci/drivers/vfio-pci/bind".to_owned(), ""),
        ("sys/bus/pci/drivers_probe".to_owned(), ""),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let device = root.path().join(device);
    symlink("../../drivers/ixgbe", device.join("driver")).unwrap();
    symlink(
        "../../../../kernel/iommu_groups/7",
        device.join("iommu_group"),
    )
    .unwrap();
    root
}

fn triptych(root: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_triptych"))
        .args(arguments)
        .arg("--root")
        .arg(root)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    let root = machine();
    for wrong in [
        &["bind"][..],
        &["bind", "eth0"],
        &["bind", "--undo", "03:00.9"],
        &["bind", "--undo", "--force", PORT],
        &["doctor", "0000"],
        &["doctor", "--fix"],
    ] {
        let output = triptych(root.path(), wrong);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {said}");
    }
}

#[test]
fn the_doctor_says_whether_a_run_is_possible() {
    let empty = tempfile::tempdir().unwrap();
    let output = triptych(empty.path(), &["doctor"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("the software card works"));

    let root = machine();
    let json = empty.path().join("findings.json");
    let output = triptych(
        root.path(),
        &["doctor", "03:00.0", "--json", json.to_str().unwrap()],
    );
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "0000:03:00.0  X540-AT2 10GBASE-T, 8086:1528",
        "driver ixgbe, IOMMU group 7 (alone)",
        "triptych bind 0000:03:00.0",
        "not ready for a run with a card",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let findings = fs::read_to_string(json).unwrap();
    assert!(findings.contains("\"ready\": false"), "{findings}");

    for (words, part) in [
        (
            &["doctor", "04:00.0"][..],
            "0000:04:00.0: no such PCI device; this machine has these ports: 0000:03:00.0",
        ),
        (
            &["doctor", "--json", "/nonexistent/x.json"],
            "cannot write /nonexistent/x.json",
        ),
    ] {
        let output = triptych(root.path(), words);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}

/// The files do not behave like a kernel, so the port keeps its driver. `bind` must notice that and
/// undo its changes.
#[test]
fn a_refused_port_returns_to_its_driver() {
    let root = machine();
    let output = triptych(root.path(), &["bind", "3:0.0"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("0000:03:00.0: vfio-pci did not take the port (it has ixgbe)"),
        "{said}"
    );
    assert!(said.contains("all changes were undone"), "{said}");
    let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
    assert_eq!(read("sys/bus/pci/drivers/ixgbe/unbind"), PORT);
    assert_eq!(read("sys/bus/pci/drivers_probe"), PORT);
    // Cleared again. A plain file keeps the text beyond the line break, a file of sysfs does not.
    let left = read(&format!("sys/bus/pci/devices/{PORT}/driver_override"));
    assert!(left.starts_with('\n'), "{left:?}");
}
