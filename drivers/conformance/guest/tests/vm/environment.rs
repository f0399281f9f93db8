//! What all machines boot: QEMU, the kernel, and an initramfs with the programs built here.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{bail, Context, Result};
use conformance::{build_folder, Implementation};
use guest::{repository, Initramfs};
use tempfile::NamedTempFile;

/// The folder of the machines' logs.
const LOGS: &str = "build/logs/vm";
/// The applications that run over the kernel's own ixgbe. They need a newer Rust than the drivers, so they may not be built.
const APPLICATIONS: [&str; 4] = ["http", "kv", "node", "node-controller"];
/// Their clients, which the host may not have.
const CLIENTS: [&str; 2] = ["redis-benchmark", "ab"];

/// The environment, unless the tests are only listed.
pub(crate) type Prepared = Option<Arc<Environment>>;

/// The image and the log folder of all machines.
pub(crate) struct Environment {
    /// The folder that `bench/setup/vm.sh` prints.
    fetched: PathBuf,
    initramfs: NamedTempFile,
    accelerator: [&'static str; 4],
    pub(crate) logs: PathBuf,
}

impl Environment {
    pub(crate) fn new(fetched: PathBuf) -> Result<Self> {
        Ok(Self {
            initramfs: pack(&fetched)?,
            fetched,
            accelerator: accelerator()?,
            logs: repository().join(LOGS),
        })
    }

    /// The packages, the accelerator and the folder of the logs, in one line.
    pub(crate) fn describe(&self) -> Result<String> {
        let versions = fs::read_to_string(self.fetched.join("versions"))?;
        let used = ["qemu-system-x86 ", "linux-image-"];
        let wanted = |line: &&str| used.iter().any(|package| line.starts_with(package));
        let versions: Vec<_> = versions.lines().filter(wanted).collect();
        let (versions, [_, accelerator, ..]) = (versions.join(", "), self.accelerator);
        Ok(format!(
            "{versions}, {accelerator}; logs in {}",
            self.logs.display()
        ))
    }

    /// A log file.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// QEMU's command with what is the same for all machines.
    pub(crate) fn qemu(&self) -> Command {
        let mut command = Command::new(self.fetched.join("qemu"));
        command
            // QEMU ends with the thread that started it.
            .args(["-nographic", "-nodefaults", "-no-reboot", "-run-with", "exit-with-parent=on"])
            .args(self.accelerator)
            .args(["-smp", "2", "-m", "1G"])
            // The memory is shared so that the NIC can map it.
            .args(["-object", "memory-backend-memfd,id=memory,size=1G,share=on"])
            .args(["-machine", "q35,memory-backend=memory", "-kernel"])
            .arg(self.fetched.join("vmlinuz"))
            .arg("-initrd")
            .arg(self.initramfs.path());
        command
    }
}

/// QEMU's arguments for KVM or for its own emulation (TCG), as `TRIPTYCH_VM_ACCEL` says. Without that variable, KVM if
/// the processor has virtualisation and this user may open `/dev/kvm`. (A `/dev/kvm` on a processor without virtualisation may
/// stop at an instruction that it cannot emulate.)
fn accelerator() -> Result<[&'static str; 4]> {
    let kvm = match std::env::var("TRIPTYCH_VM_ACCEL").as_deref() {
        Ok("kvm") => true,
        Ok("tcg") => false,
        Ok(other) => bail!("TRIPTYCH_VM_ACCEL={other}: must be kvm or tcg"),
        Err(_) => {
            let processor = fs::read_to_string("/proc/cpuinfo")?;
            let mut flags = processor.split_whitespace();
            let device = File::options().read(true).write(true).open("/dev/kvm");
            flags.any(|flag| flag == "vmx" || flag == "svm") && device.is_ok()
        }
    };
    // The emulated IOMMU remaps interrupts, so QEMU and not the kernel must emulate the IOAPIC.
    let with_kvm = ["-accel", "kvm,kernel-irqchip=split", "-cpu", "host"];
    Ok(if kvm {
        with_kvm
    } else {
        ["-accel", "tcg", "-cpu", "max"]
    })
}

/// Packs the fetched initramfs and a second one with the built programs, which the kernel unpacks over the first.
fn pack(fetched: &Path) -> Result<NamedTempFile> {
    let built = build_folder().join("bin");
    let mut overlay = Initramfs::default();
    let functions = concat!(env!("CARGO_MANIFEST_DIR"), "/functions.sh");
    overlay.file(Path::new(functions), "lib/functions.sh");
    overlay.program(Path::new(env!("CARGO_BIN_EXE_guest")), "bin/guest")?;
    overlay.program(&built.join("triptych"), "bin/triptych")?;
    for implementation in Implementation::OURS {
        for program in ["ixgbe-fwd", "ixgbe-echo"] {
            let program = format!("{implementation}/{program}");
            overlay.program(&built.join(&program), &format!("drivers/{program}"))?;
        }
    }
    let applications = APPLICATIONS.map(|name| built.join("apps").join(name));
    let clients = CLIENTS.map(|name| Path::new("/usr/bin").join(name));
    for program in applications
        .iter()
        .chain(&clients)
        .filter(|program| program.is_file())
    {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        overlay.program(program, &format!("apps/{name}"))?;
    }
    let mut initramfs = NamedTempFile::with_prefix("initramfs-")?;
    let base = fetched.join("initramfs");
    initramfs.write_all(&fs::read(&base).with_context(|| base.display().to_string())?)?;
    // An uncompressed archive must begin at a multiple of four bytes.
    while initramfs.stream_position()? % 4 != 0 {
        initramfs.write_all(&[0])?;
    }
    let mut archive = Vec::new();
    overlay.write(&mut archive)?;
    initramfs.write_all(&archive)?;
    Ok(initramfs)
}
