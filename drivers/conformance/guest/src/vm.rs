//! A machine: QEMU, for one boot.

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

/// How long QEMU may take to answer, and a guest to boot: ten times what it does without KVM.
const BOOT: Duration = Duration::from_secs(60);
/// How long QEMU may take to end when the guest has switched itself off.
const POWER_OFF: Duration = Duration::from_secs(10);
/// What the shell and its small tools may take.
const SHELL: Duration = Duration::from_secs(30);

/// What runs the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor's virtualisation.
    Kvm,
    /// QEMU itself, which needs nothing of the machine.
    Tcg,
}

impl Accelerator {
    /// `TRIPTYCH_VM_ACCEL`, `kvm` or `tcg`; else KVM where it can be expected to work: the processor
    /// has virtualisation (a `/dev/kvm` without that may stop at an instruction that it cannot
    /// emulate), and this user may use it.
    ///
    /// # Errors
    /// If the variable says something else.
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
            // The emulated IOMMU remaps interrupts, for which the kernel may not emulate the IOAPIC.
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
    /// Slot on its bus, which is also what comes after the bus in its address.
    pub slot: u8,
    /// Whether it shares a conventional PCI bus with the others of which this is said, and thereby
    /// an IOMMU group. Else it has one of its own.
    pub shared_bus: bool,
}

/// What a machine is made of.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What it is called; its log as well.
    pub name: String,
    /// IOMMU, if it has one and the kernel is told to use it.
    pub iommu: Option<Iommu>,
    /// The ports.
    pub devices: Vec<Device>,
}

/// A machine that runs. Dropping it switches it off.
#[derive(Debug)]
pub struct Vm {
    client: Client,
    qemu: Child,
    log: PathBuf,
    _directory: TempDir,
    /// How long it has taken until the agent was there.
    pub booted: Duration,
}

impl Vm {
    /// Boots it. Its console and QEMU's messages go to a file in `logs`.
    ///
    /// # Errors
    /// If the agent is not there after a minute.
    pub fn boot(
        machine: &Machine,
        image: &Image,
        accelerator: Accelerator,
        logs: &Path,
    ) -> Result<Self> {
        let began = Instant::now();
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{}.log", machine.name));
        // QEMU ends with this thread, if something kills it.
        let directory = TempDir::with_prefix("vm-")?;
        let agent = directory.path().join("agent");
        let mut command = Command::new(&image.qemu);
        command
            .args(["-nographic", "-nodefaults", "-no-reboot", "-run-with", "exit-with-parent=on"])
            .args(accelerator.arguments())
            .args(["-smp", "2", "-m", "1G"])
            // Shared, so that the NIC can map it.
            .args(["-object", "memory-backend-memfd,id=memory,size=1G,share=on"])
            .args(["-machine", "q35,memory-backend=memory"])
            .arg("-kernel")
            .arg(&image.kernel)
            .arg("-initrd")
            .arg(image.initramfs());
        // The guest's processors wait for the host's, so that its kernel would find its clock unstable
        // and its work queues slow, and warn of both.
        let mut kernel = "console=ttyS0 panic=-1 loglevel=5 tsc=reliable \
                          workqueue.cpu_intensive_thresh_us=0 agent=/bin/guest"
            .to_owned();
        if let Some(iommu) = machine.iommu {
            // Without caching-mode, QEMU would not learn what the guest maps.
            let bits = iommu.address_bits;
            command.args([
                "-device",
                &format!("intel-iommu,intremap=on,caching-mode=on,aw-bits={bits}"),
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
        let path = agent.display();
        command.args([
            "-chardev",
            &format!("socket,id=agent,path={path},server=on,wait=off"),
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
        let said = logs.join(format!("{}.qemu.log", machine.name));
        let messages = File::create(&said).with_context(|| said.display().to_string())?;
        let qemu = command
            .stdin(Stdio::null())
            .stdout(messages.try_clone()?)
            .stderr(messages)
            .spawn()
            .with_context(|| image.qemu.display().to_string())?;
        // From here on it is killed if anything fails.
        let mut starting = Starting(Some(qemu));
        let connected = Client::connect(&agent, BOOT).and_then(|client| {
            client.wait_ready(BOOT)?;
            Ok(client)
        });
        let client = connected
            .with_context(|| format!("{} does not boot, see {}", machine.name, log.display()))?;
        Ok(Self {
            client,
            qemu: starting.0.take().context("taken")?,
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

    /// A script, for the shell.
    pub fn script(&self, script: &str) -> Run<'_> {
        self.program(["/bin/sh", "-c", script])
    }

    /// Runs a script that must succeed, and returns its output without the last newline.
    ///
    /// # Errors
    /// If it fails.
    pub fn shell(&self, script: &str) -> Result<String> {
        let output: Output = self.script(script).run(SHELL)?;
        output.expect_exit(0)?;
        Ok(output.end.stdout.trim_end().to_owned())
    }

    /// Waits until a script prints this.
    ///
    /// # Errors
    /// If it does not in that time; what it prints instead.
    pub fn wait_for(&self, script: &str, wanted: &str, limit: Duration) -> Result<()> {
        let deadline = Instant::now() + limit;
        loop {
            let got = self.shell(script)?;
            if got == wanted {
                return Ok(());
            }
            ensure!(
                Instant::now() < deadline,
                "`{script}` says {got:?}, not {wanted:?}, after {limit:?}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What the kernel has logged at this level or worse since the last time: 4 is a warning, 3 an
    /// error.
    ///
    /// # Errors
    /// If the guest is gone.
    pub fn kernel_log(&self, level: u8) -> Result<Vec<String>> {
        // Each line begins with its level, as <4>.
        let text = self.shell("dmesg -r -c")?;
        Ok(at_level(&text, level))
    }

    /// Switches it off, and waits for that.
    ///
    /// # Errors
    /// If it does not go off by itself.
    pub fn power_off(mut self) -> Result<()> {
        // It goes before it can tell how it ended.
        let _ = self.script("poweroff -f").run(POWER_OFF);
        let deadline = Instant::now() + POWER_OFF;
        while self.qemu.try_wait()?.is_none() {
            ensure!(
                Instant::now() < deadline,
                "the guest does not go off, see {}",
                self.log.display()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The end of its console, for who looks for a reason.
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

/// Lines of `dmesg -r` at this level or worse, without what stands in front of them.
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

struct Starting(Option<Child>);

impl Drop for Starting {
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
    // It may have ended already.
    let _ = qemu.kill();
    let _ = qemu.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_messages_are_told_apart_by_their_level() {
        let text = "<6>[    0.1] info\n<4>[    0.2] warning\n<27>[ 1] a daemon's error\nno level\n";
        assert_eq!(at_level(text, 4).len(), 2);
        assert_eq!(at_level(text, 3), ["<27>[ 1] a daemon's error"]);
    }
}
