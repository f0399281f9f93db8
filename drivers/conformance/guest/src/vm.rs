//! A virtual machine: QEMU for one boot.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use serde_json::json;
use tempfile::TempDir;

use crate::client::{Client, Output, Run};
use crate::image::Image;

/// How long QEMU may take to answer, and a guest to boot: ten times the usual time without KVM.
const BOOT: Duration = Duration::from_secs(60);
/// How long QEMU may take to end after the guest has powered off.
const POWER_OFF: Duration = Duration::from_secs(10);
/// How long a shell script may take.
const SHELL: Duration = Duration::from_secs(30);

/// The part of the host that runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor's virtualisation, through KVM.
    Kvm,
    /// QEMU's own emulation, which runs on every machine.
    Tcg,
}

impl Accelerator {
    /// Reads `TRIPTYCH_VM_ACCEL`: `kvm` or `tcg`. Without it, chooses KVM if the processor has
    /// virtualisation and this user may open `/dev/kvm`. (A `/dev/kvm` on a processor without
    /// virtualisation may stop at an instruction that it cannot emulate.)
    ///
    /// # Errors
    /// If the variable has another value.
    pub fn choose() -> Result<Self> {
        match std::env::var("TRIPTYCH_VM_ACCEL").as_deref() {
            Ok("kvm") => return Ok(Self::Kvm),
            Ok("tcg") => return Ok(Self::Tcg),
            Ok(other) => anyhow::bail!("TRIPTYCH_VM_ACCEL={other}: must be kvm or tcg"),
            Err(_) => {}
        }
        let processor = fs::read_to_string("/proc/cpuinfo")?;
        let virtualises = processor
            .split_whitespace()
            .any(|flag| flag == "vmx" || flag == "svm");
        let device = File::options().read(true).write(true).open("/dev/kvm");
        Ok(match virtualises && device.is_ok() {
            true => Self::Kvm,
            false => Self::Tcg,
        })
    }

    fn arguments(self) -> [&'static str; 4] {
        match self {
            // The emulated IOMMU remaps interrupts, so QEMU and not the kernel must emulate the IOAPIC.
            Self::Kvm => ["-accel", "kvm,kernel-irqchip=split", "-cpu", "host"],
            Self::Tcg => ["-accel", "tcg", "-cpu", "max"],
        }
    }
}

/// The emulated IOMMU (VT-d).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iommu {
    /// Bits of an IOVA: 39 or 48.
    pub address_bits: u8,
}

/// A NIC's port in the machine.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its socket.
    pub socket: PathBuf,
    /// Slot on its bus, which follows the bus number in its address.
    pub slot: u8,
    /// Whether it is on the shared conventional PCI bus, and so in the shared IOMMU group. Otherwise
    /// it has a group of its own.
    pub shared_bus: bool,
}

/// The hardware of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Its name, which is also the name of its log.
    pub name: String,
    /// Its IOMMU, if it has one. The kernel then uses it.
    pub iommu: Option<Iommu>,
    /// The ports.
    pub devices: Vec<Device>,
}

/// A running machine. Dropping it ends QEMU.
#[derive(Debug)]
pub struct Vm {
    client: Client,
    qemu: Child,
    log: PathBuf,
    _directory: TempDir,
    /// How long the boot took, until the agent answered.
    pub booted: Duration,
}

impl Vm {
    /// Boots a machine. Its console and QEMU's messages go to files in `logs`.
    ///
    /// # Errors
    /// If the agent does not answer within a minute.
    pub fn boot(
        machine: &Machine,
        image: &Image,
        accelerator: Accelerator,
        logs: &Path,
    ) -> Result<Self> {
        let began = Instant::now();
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{}.log", machine.name));
        let directory = TempDir::with_prefix("vm-")?;
        let agent = directory.path().join("agent");
        let messages = logs.join(format!("{}.qemu.log", machine.name));
        let messages = File::create(&messages).with_context(|| messages.display().to_string())?;
        let qemu = qemu_command(machine, image, accelerator, &agent, &log)
            .stdin(Stdio::null())
            .stdout(messages.try_clone()?)
            .stderr(messages)
            .spawn()
            .with_context(|| image.qemu.display().to_string())?;
        let mut qemu = KillOnDrop(Some(qemu));
        let connected = Client::connect(&agent, BOOT).and_then(|client| {
            client.wait_ready(BOOT)?;
            Ok(client)
        });
        let client = connected
            .with_context(|| format!("{} does not boot, see {}", machine.name, log.display()))?;
        Ok(Self {
            client,
            qemu: qemu.0.take().context("QEMU is gone")?,
            log,
            _directory: directory,
            booted: began.elapsed(),
        })
    }

    /// The file with the guest's console.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// A program and its arguments.
    pub fn program<T: Into<String>>(&self, argv: impl IntoIterator<Item = T>) -> Run<'_> {
        Run::new(&self.client, argv.into_iter().map(Into::into).collect())
    }

    /// A script for the shell.
    pub fn script(&self, script: &str) -> Run<'_> {
        self.program(["/bin/sh", "-c", script])
    }

    /// Runs a script and returns its output without the last newline.
    ///
    /// # Errors
    /// If the script fails.
    pub fn shell(&self, script: &str) -> Result<String> {
        let output: Output = self.script(script).run(SHELL)?;
        output.expect_exit(0)?;
        Ok(output.end.stdout.trim_end().to_owned())
    }

    /// Runs a script repeatedly until it prints `wanted`.
    ///
    /// # Errors
    /// If it does not print that within `limit`. The error shows the last output.
    pub fn wait_for(&self, script: &str, wanted: &str, limit: Duration) -> Result<()> {
        let deadline = Instant::now() + limit;
        loop {
            let got = self.shell(script)?;
            if got == wanted {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "`{script}` prints {got:?} and not {wanted:?} after {limit:?}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The kernel's messages at this level or worse since the last call: 4 is a warning, 3 an error.
    ///
    /// # Errors
    /// If the guest's agent is disconnected.
    pub fn kernel_log(&self, level: u8) -> Result<Vec<String>> {
        // Each line begins with its level, such as <4>.
        let text = self.shell("dmesg -r -c")?;
        Ok(at_level(&text, level))
    }

    /// Powers the machine off and waits until QEMU has ended.
    ///
    /// # Errors
    /// If QEMU does not end by itself.
    pub fn power_off(mut self) -> Result<()> {
        // The machine ends before the agent can report the end of the script.
        let _ = self.script("poweroff -f").run(POWER_OFF);
        let deadline = Instant::now() + POWER_OFF;
        while self.qemu.try_wait()?.is_none() {
            ensure!(
                Instant::now() < deadline,
                "the guest does not power off, see {}",
                self.log.display()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The end of the console's log, to explain a failure.
    pub fn last_lines(&self) -> String {
        let tail = || -> Result<String> {
            let mut file = File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(2000)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        tail().unwrap_or_else(|error| error.to_string())
    }
}

/// The lines of `dmesg -r` at this level or worse.
fn at_level(text: &str, level: u8) -> Vec<String> {
    let severe = |line: &&str| {
        let number = line
            .strip_prefix('<')
            .and_then(|line| line.split('>').next());
        number
            .and_then(|number| number.parse::<u32>().ok())
            .is_some_and(|number| number % 8 <= u32::from(level))
    };
    text.lines().filter(severe).map(str::to_owned).collect()
}

/// The command that runs QEMU with a machine. `agent` is the agent's socket, `log` the console's
/// file.
fn qemu_command(
    machine: &Machine,
    image: &Image,
    accelerator: Accelerator,
    agent: &Path,
    log: &Path,
) -> Command {
    let mut command = Command::new(&image.qemu);
    command
        // QEMU ends with the thread that started it.
        .args(["-nographic", "-nodefaults", "-no-reboot", "-run-with", "exit-with-parent=on"])
        .args(accelerator.arguments())
        .args(["-smp", "2", "-m", "1G"])
        // The memory is shared so that the NIC can map it.
        .args(["-object", "memory-backend-memfd,id=memory,size=1G,share=on"])
        .args(["-machine", "q35,memory-backend=memory"])
        .arg("-kernel")
        .arg(&image.kernel)
        .arg("-initrd")
        .arg(image.initramfs());
    // The guest's processors wait for the host's. Without these options the kernel would call its
    // clock unstable and its work queues slow, and warn of both.
    // `no_timer_check`: on a busy machine the emulated timer may be late, and the kernel would give up.
    let mut kernel = "console=ttyS0 panic=-1 loglevel=5 tsc=reliable no_timer_check \
                      workqueue.cpu_intensive_thresh_us=0 agent=/bin/guest"
        .to_owned();
    if let Some(Iommu { address_bits }) = machine.iommu {
        // With caching-mode QEMU learns of each map that the guest makes.
        command.args([
            "-device",
            &format!("intel-iommu,intremap=on,caching-mode=on,aw-bits={address_bits}"),
        ]);
        kernel += " intel_iommu=on";
    }
    command.args(["-append", &kernel]);
    command.args([
        "-device",
        "virtio-serial-pci,addr=02.0",
        "-device",
        "virtserialport,chardev=agent",
    ]);
    let agent = agent.display();
    command.args([
        "-chardev",
        &format!("socket,id=agent,path={agent},server=on,wait=off"),
    ]);
    command.args(["-serial", &format!("file:{}", log.display())]);
    if machine.devices.iter().any(|device| device.shared_bus) {
        command.args(["-device", "pcie-pci-bridge,id=shared,addr=10.0"]);
    }
    for device in &machine.devices {
        let mut properties = json!({
            "driver": "vfio-user-pci",
            "socket": {"type": "unix", "path": device.socket},
            "addr": format!("{:02x}.0", device.slot),
        });
        if device.shared_bus {
            properties["bus"] = json!("shared");
        }
        command.args(["-device", &properties.to_string()]);
    }
    command
}

/// Kills a process when dropped.
struct KillOnDrop(Option<Child>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if let Some(qemu) = &mut self.0 {
            end(qemu);
        }
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        end(&mut self.qemu);
    }
}

fn end(qemu: &mut Child) {
    // Both calls fail if QEMU has already ended, which is fine.
    let _ = qemu.kill();
    let _ = qemu.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_messages_are_selected_by_level() {
        let text = "<6>[    0.1] info\n<4>[    0.2] warning\n<27>[ 1] a daemon's error\nno level\n";
        assert_eq!(at_level(text, 4).len(), 2);
        assert_eq!(at_level(text, 3), ["<27>[ 1] a daemon's error"]);
    }
}
