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
    let own = std::env::current_exe().unwrap();
    own.with_file_name("../examples/vfio_program")
}

/// The bridge as `make bridge` builds it. Cargo builds no such library for tests.
fn library() -> PathBuf {
    let name = "../../build/bin/libtriptych_bridge.so";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    assert!(path.is_file(), "{name} does not exist: run `make bridge`");
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
        for node in "vfio 23 24 iommu devices/vfio0 devices/vfio1".split(' ') {
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

macro_rules! cases_that_succeed {
    ($($test:ident: $case:literal;)*) => {$(
        #[test]
        fn $test() {
            succeeds($case);
        }
    )*};
}

cases_that_succeed! {
    containers_groups_and_devices_follow_the_kernels_rules: "rules";
    an_iommufd_with_a_character_device_works: "iommufd";
    mapped_registers_outlive_all_descriptors: "descriptors";
    the_program_can_neither_block_nor_lose_the_bridges_signals: "signals";
    memory_of_every_kind_can_be_mapped: "memory";
    huge_pages_work_whether_or_not_some_are_free: "huge";
    interrupts_reach_their_eventfds: "interrupts";
    a_reset_keeps_the_configuration_space: "reset";
    children_can_run_other_programs: "exec";
    system_calls_without_the_c_library_work: "raw";
    a_program_sees_the_flags_of_a_register_that_it_tests: "flags";
    private_memory_stays_private_in_a_fork_and_shared_memory_shared: "fork_copies";
    threads_of_parent_and_child_take_turns: "threads_after_fork";
    children_that_are_killed_cost_the_parent_nothing: "killed_children";
    memory_that_is_unmapped_is_as_before: "unmapped";
    reading_without_an_offset_fails_at_once: "plain_read";
}

#[test]
fn the_limit_of_locked_memory_holds() {
    succeeds_with("locked", None, Some(0x10000));
}

#[test]
fn a_fault_of_the_programs_own_ends_it() {
    let output = Card::new(None).run("segv", None);
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

#[test]
fn a_program_under_valgrind_sees_the_flags_of_a_register_that_it_tests() {
    let card = Card::new(None);
    let mut valgrind = Command::new("valgrind");
    let options = "-q --tool=none --vex-guest-chase=no --px-default=allregs-at-each-insn \
                   --px-file-backed=allregs-at-each-insn";
    valgrind
        .args(options.split(' '))
        .arg(program())
        .arg("flags");
    for (name, value) in card.command("flags").get_envs() {
        valgrind.env(name, value.unwrap());
    }
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
}

#[test]
fn no_write_to_memory_that_is_being_mapped_is_lost() {
    succeeds("write_while_mapping");
    succeeds_with("write_while_mapping", Some("unprivileged"), None);
}

#[test]
fn a_system_call_may_write_to_memory_that_is_being_mapped() {
    // Only root, or `vm.unprivileged_userfaultfd=1`, lets a process have the kernel's faults.
    // SAFETY: the arguments are numbers.
    if unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC) } < 0 {
        eprintln!("the kernel refuses a userfaultfd: nothing is checked");
        return;
    }
    succeeds("read_while_mapping");
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

/// Runs a program that is no VFIO program with the bridge.
fn run_true(settings: Option<&str>) -> Output {
    let mut command = Command::new("/bin/true");
    command
        .env("LD_PRELOAD", library())
        .env_remove("TRIPTYCH_BRIDGE");
    let settings = settings.map(|path| ("TRIPTYCH_BRIDGE", path));
    command.envs(settings).output().unwrap()
}

#[test]
fn without_the_launcher_the_library_does_nothing() {
    assert!(run_true(None).status.success());
}

#[test]
fn a_wrong_configuration_ends_the_program_with_a_message() {
    let output = run_true(Some("/does/not/exist"));
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    let names = ["/does/not/exist", "with-card"].map(|name| text.contains(name));
    assert_eq!(names, [true; 2], "{text}");
}
