//! A program under the bridge gets the kernel's answers. The card runs in the test.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nic::{Nic, NicConfig};
use tempfile::TempDir;

/// The program of the cases, which Cargo builds with the test.
fn program() -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples/vfio_program")
}

/// The bridge as `make bridge` builds it. Cargo builds no such library for tests.
fn library() -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../build/bin")
        .join("libtriptych_bridge.so");
    assert!(
        path.is_file(),
        "{} does not exist: run `make bridge`",
        path.display()
    );
    path
}

struct Card {
    nic: Option<Nic>,
    folder: TempDir,
}

impl Card {
    /// Starts a card, and writes what the launcher would write.
    fn new(memlock: Option<u64>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nic = Nic::new(NicConfig::new(folder.path(), 2)).unwrap();
        let nodes = folder.path().join("nodes");
        std::fs::create_dir_all(nodes.join("devices")).unwrap();
        for node in [
            "vfio",
            "23",
            "24",
            "iommu",
            "devices/vfio0",
            "devices/vfio1",
        ] {
            std::fs::write(nodes.join(node), "").unwrap();
        }
        let ports: Vec<_> = (0..2)
            .map(|port| {
                serde_json::json!({
                    "address": format!("0000:0{}:00.0", 3 + port),
                    "group": 23 + port,
                    "cdev": format!("vfio{port}"),
                    "socket": folder.path().join(format!("port{port}.sock")),
                })
            })
            .collect();
        let config = serde_json::json!({"ports": ports, "memlock": memlock, "placeholders": nodes});
        std::fs::write(folder.path().join("bridge.json"), config.to_string()).unwrap();
        Self {
            nic: Some(nic),
            folder,
        }
    }

    fn command(&self, case: &str) -> Command {
        let mut command = Command::new(program());
        command
            .arg(case)
            .env("LD_PRELOAD", library())
            .env("TRIPTYCH_BRIDGE", self.folder.path().join("bridge.json"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, case: &str, argument: Option<&str>) -> Output {
        self.command(case).args(argument).output().unwrap()
    }
}

/// Runs a case that must succeed.
fn succeeds(case: &str) {
    succeeds_with(case, None, None);
}

fn succeeds_with(case: &str, argument: Option<&str>, memlock: Option<u64>) {
    let output = Card::new(memlock).run(case, argument);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {} {text}", output.status);
}

#[test]
fn containers_groups_and_devices_follow_the_kernels_rules() {
    succeeds("rules");
}

#[test]
fn the_limit_of_locked_memory_holds() {
    succeeds_with("locked", None, Some(0x10000));
}

#[test]
fn an_iommufd_with_a_character_device_works() {
    succeeds("iommufd");
}

#[test]
fn mapped_registers_outlive_all_descriptors() {
    succeeds("descriptors");
}

#[test]
fn parent_and_child_share_the_device_but_not_their_memory() {
    succeeds("fork");
}

#[test]
fn the_program_can_neither_block_nor_lose_the_bridges_signals() {
    succeeds("signals");
}

#[test]
fn a_fault_of_the_programs_own_ends_it() {
    let output = Card::new(None).run("segv", None);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

#[test]
fn memory_of_every_kind_can_be_mapped() {
    succeeds("memory");
}

#[test]
fn huge_pages_work_whether_or_not_some_are_free() {
    succeeds("huge");
}

#[test]
fn interrupts_reach_their_eventfds() {
    succeeds("interrupts");
}

#[test]
fn a_reset_keeps_the_configuration_space() {
    succeeds("reset");
}

#[test]
fn a_terabyte_costs_nothing() {
    succeeds("terabyte");
}

#[test]
fn children_can_run_other_programs() {
    succeeds("exec");
}

#[test]
fn system_calls_without_the_c_library_work() {
    succeeds("raw");
}

#[test]
fn a_program_sees_the_flags_of_a_register_that_it_tests() {
    succeeds("flags");
}

#[test]
fn a_program_under_valgrind_sees_the_flags_of_a_register_that_it_tests() {
    let card = Card::new(None);
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args([
            "-q",
            "--tool=none",
            "--vex-guest-chase=no",
            "--px-default=allregs-at-each-insn",
            "--px-file-backed=allregs-at-each-insn",
        ])
        .arg(program())
        .arg("flags");
    let settings = card.command("flags");
    valgrind.envs(
        settings
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = match valgrind.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("valgrind is not installed: nothing is checked");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}", output.status);
}

/// Runs a program that accesses a register by an instruction that the bridge refuses by its name.
fn refuses(case: &str, instruction: &str) {
    let output = Card::new(None).run("refused", Some(case));
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{text}");
    let message = format!(
        "0000:03:00.0: region 0, register 0x8: the bridge does not carry out `{instruction}` at 0x"
    );
    assert!(text.contains(&message), "{text}");
    assert!(text.contains("target-cpu=x86-64"), "{text}");
}

#[test]
fn an_instruction_that_the_bridge_cannot_carry_out_is_refused_by_its_name() {
    refuses("float", "fld dword ptr [rdi]");
    refuses("segment", "mov [rdi],es");
    refuses("bit", "bts [rdi],eax");
    if is_x86_feature_detected!("avx") {
        refuses("wide", "vmovdqu ymm1,[rdi]");
    }
    if is_x86_feature_detected!("avx512vl") {
        refuses("mask", "vmovups xmm1{k1},[rdi]");
    }
}

#[test]
fn private_memory_stays_private_in_a_fork_and_shared_memory_shared() {
    succeeds("fork-copies");
}

#[test]
fn threads_of_parent_and_child_take_turns() {
    succeeds("threads-after-fork");
}

#[test]
fn children_that_are_killed_cost_the_parent_nothing() {
    succeeds("killed-children");
}

#[test]
fn memory_that_is_unmapped_is_as_before() {
    succeeds("unmapped");
}

#[test]
fn reading_without_an_offset_fails_at_once() {
    succeeds("plain-read");
}

#[test]
fn no_write_to_memory_that_is_being_mapped_is_lost() {
    succeeds("write-while-mapping");
    succeeds_with("write-while-mapping", Some("unprivileged"), None);
}

/// Only root, or `vm.unprivileged_userfaultfd=1`, lets a process have the kernel's faults.
fn may_have_the_kernels_faults() -> bool {
    // SAFETY: the arguments are numbers.
    let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC) };
    if fd >= 0 {
        // SAFETY: the descriptor is new.
        unsafe { libc::close(fd as i32) };
    }
    fd >= 0
}

#[test]
fn a_system_call_may_write_to_memory_that_is_being_mapped() {
    if may_have_the_kernels_faults() {
        succeeds("read-while-mapping");
    } else {
        eprintln!("the kernel refuses a userfaultfd: nothing is checked");
    }
}

#[test]
fn a_card_that_dies_is_an_error_and_no_hang() {
    let mut card = Card::new(None);
    let mut program = card.command("wait").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    card.nic = None;
    let output = program.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("the card is gone").count(), 1, "{text}");
}

#[test]
fn without_the_launcher_the_library_does_nothing() {
    let mut command = Command::new("/bin/true");
    command.env("LD_PRELOAD", library());
    assert!(command
        .env_remove("TRIPTYCH_BRIDGE")
        .status()
        .unwrap()
        .success());
}

#[test]
fn a_wrong_configuration_ends_the_program_with_a_message() {
    let mut command = Command::new("/bin/true");
    command.env("LD_PRELOAD", library());
    let output = command
        .env("TRIPTYCH_BRIDGE", "/does/not/exist")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("/does/not/exist") && text.contains("with-card"),
        "{text}"
    );
}
