//! A virtual machine: QEMU for one boot, and scripts that the agent in it runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use conformance::Output;
use guest::{End, Request};
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use crate::environment::Environment;

/// How long a guest may take to boot: ten times the usual time without KVM.
const BOOT: Duration = Duration::from_secs(60);
/// How long a script may take, in an emulated processor.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a killed job may take to end.
const KILL_LIMIT: Duration = Duration::from_secs(10);
/// The shared conventional PCI bus of a machine, whose devices are in one IOMMU group.
pub(crate) const SHARED_BUS: u8 = 1;

/// A NIC's port in the machine.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) socket: PathBuf,
    pub(crate) bus: u8,
    pub(crate) slot: u8,
}

/// A running machine. Dropping it ends QEMU.
pub(crate) struct Vm {
    agent: RefCell<Agent>,
    _qemu: Qemu,
    _directory: TempDir,
}

impl Vm {
    /// Boots a machine with these ports, and with an IOMMU of so many address bits. Its console and QEMU's messages go
    /// to files.
    pub(crate) fn boot(
        environment: &Environment,
        name: &str,
        address_bits: Option<u8>,
        devices: &[Device],
    ) -> Result<Self> {
        fs::create_dir_all(&environment.logs)?;
        let log = environment.log(name);
        let directory = TempDir::with_prefix("vm-")?;
        let socket = directory.path().join("agent");
        let messages = File::create(environment.log(&format!("{name}.qemu")))?;
        let mut command = environment.qemu();
        add_devices(&mut command, address_bits, devices);
        let chardev = format!(
            "socket,id=agent,path={},server=on,wait=off",
            socket.display()
        );
        command
            .args(["-device", "virtio-serial-pci,addr=02.0"])
            .args(["-device", "virtserialport,chardev=agent"])
            .args(["-chardev", &chardev])
            .args(["-serial", &format!("file:{}", log.display())])
            .stdin(Stdio::null())
            .stdout(messages.try_clone()?)
            .stderr(messages);
        let qemu = Qemu(command.spawn().context("QEMU")?);
        let booted = || -> Result<Self> {
            let vm = Self {
                agent: RefCell::new(Agent::connect(&socket)?),
                _qemu: qemu,
                _directory: directory,
            };
            // QEMU keeps a message until the agent reads it. Root and other users write files here.
            vm.start("mkdir -m 0777 /out")?.wait(BOOT)?.expect_exit(0)?;
            Ok(vm)
        };
        booted().with_context(|| format!("{name} does not boot, see {}", log.display()))
    }

    /// Starts a script for the shell, which can use `functions.sh`.
    pub(crate) fn start(&self, script: impl Into<String>) -> Result<Job<'_>> {
        let script = script.into();
        let mut agent = self.agent.borrow_mut();
        agent.jobs += 1;
        let job = agent.jobs;
        let began = Instant::now();
        agent.send(&Request::Start {
            job,
            script: script.clone(),
        })?;
        Ok(Job {
            vm: self,
            number: job,
            script,
            began,
        })
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, script: impl Into<String>) -> Result<Output> {
        self.start(script)?.wait(LIMIT)
    }

    /// Runs a script that must succeed, and returns its output without the last newline.
    pub(crate) fn shell(&self, script: impl Into<String>) -> Result<String> {
        let output = self.run(script)?;
        output.expect_exit(0)?;
        Ok(output.stdout.trim_end().to_owned())
    }

    /// Checks that the kernel has logged no warning since the last call, except those that contain one of `expected`.
    pub(crate) fn no_complaint_except(&self, expected: &[&str]) -> Result<()> {
        // A slow host causes these warnings: the guest's processors wait for the host's.
        let slow_host = [
            "hrtimer: interrupt took",
            "clocksource:",
            "perf: interrupt took",
        ];
        // Each line begins with its level: 4 is a warning, and what is worse has less. grep fails if it finds none.
        let text = self.shell("dmesg -r -c | grep '^<[0-4]>' || true")?;
        let known = |line: &&str| {
            slow_host
                .iter()
                .chain(expected)
                .any(|text| line.contains(text))
        };
        let warnings: Vec<_> = text.lines().filter(|line| !known(line)).collect();
        ensure!(warnings.is_empty(), "the kernel warns: {warnings:#?}");
        Ok(())
    }
}

/// Adds the IOMMU and the ports to QEMU's command, and the kernel's parameters.
fn add_devices(command: &mut Command, address_bits: Option<u8>, devices: &[Device]) {
    // The guest's processors wait for the host's. Without these options the kernel would call its clock unstable and its
    // work queues slow, and warn of both.
    // `no_timer_check`: on a busy machine the emulated timer may be late, and the kernel would give up.
    let mut kernel = "console=ttyS0 panic=-1 loglevel=5 tsc=reliable no_timer_check \
                      workqueue.cpu_intensive_thresh_us=0 agent=/bin/guest"
        .to_owned();
    if let Some(bits) = address_bits {
        // With caching-mode QEMU learns of each map that the guest makes.
        let iommu = format!("intel-iommu,intremap=on,caching-mode=on,aw-bits={bits}");
        command.args(["-device", &iommu]);
        kernel += " intel_iommu=on";
    }
    command.args(["-append", &kernel]);
    if devices.iter().any(|device| device.bus == SHARED_BUS) {
        command.args(["-device", "pcie-pci-bridge,id=shared,addr=10.0"]);
    }
    for device in devices {
        let mut properties = json!({
            "driver": "vfio-user-pci",
            "socket": {"type": "unix", "path": device.socket},
            "addr": format!("{:02x}.0", device.slot),
        });
        if device.bus == SHARED_BUS {
            properties["bus"] = json!("shared");
        }
        command.args(["-device", &properties.to_string()]);
    }
}

/// QEMU's process. Dropping it kills the process.
struct Qemu(Child);

impl Drop for Qemu {
    fn drop(&mut self) {
        // Both calls fail if QEMU has already ended, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The connection to the agent, which is QEMU's end of the serial port.
struct Agent {
    stream: BufReader<UnixStream>,
    /// What has arrived of a line.
    line: Vec<u8>,
    /// The number of jobs so far.
    jobs: u64,
    ended: HashMap<u64, End>,
}

impl Agent {
    /// Connects to QEMU, which creates the socket when it starts.
    fn connect(socket: &Path) -> Result<Self> {
        let deadline = Instant::now() + BOOT;
        let stream = loop {
            match UnixStream::connect(socket) {
                Ok(stream) => break stream,
                Err(error) => ensure!(Instant::now() < deadline, "{}: {error}", socket.display()),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Ok(Self {
            stream: BufReader::new(stream),
            line: Vec::new(),
            jobs: 0,
            ended: HashMap::new(),
        })
    }

    fn send(&mut self, request: &Request) -> Result<()> {
        let line = serde_json::to_string(request)? + "\n";
        let sent = self.stream.get_mut().write_all(line.as_bytes());
        sent.context("the guest's agent")
    }

    /// Waits at most so long for the end of a job.
    fn end(&mut self, job: u64, limit: Duration) -> Result<Option<&End>> {
        let deadline = Instant::now() + limit;
        while !self.ended.contains_key(&job) {
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = left.max(Duration::from_millis(1));
            self.stream.get_ref().set_read_timeout(Some(wait))?;
            match self.stream.read_until(b'\n', &mut self.line) {
                Ok(0) => bail!("the guest's agent has ended"),
                Ok(_) => {
                    let end: End = serde_json::from_slice(&std::mem::take(&mut self.line))?;
                    self.ended.insert(end.job, end);
                }
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                Err(_) if left.is_zero() => break,
                // What has arrived is in the line.
                Err(_) => {}
            }
        }
        Ok(self.ended.get(&job))
    }
}

/// A running script in a guest. Dropping it kills the process.
pub(crate) struct Job<'vm> {
    vm: &'vm Vm,
    number: u64,
    script: String,
    began: Instant,
}

impl Job<'_> {
    /// Its result, if it ends within `limit`.
    fn output(&self, limit: Duration) -> Result<Option<Output>> {
        let mut agent = self.vm.agent.borrow_mut();
        let output = |end: &End| {
            let status = ExitStatus::from_raw(end.status);
            let [stdout, stderr] = [&end.stdout, &end.stderr].map(String::clone);
            Output::new(
                vec![self.script.clone()],
                status,
                [stdout, stderr],
                self.began.elapsed(),
            )
        };
        Ok(agent.end(self.number, limit)?.map(output))
    }

    /// Sends a signal. It is an error if the script has ended.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        if let Some(output) = self.output(Duration::ZERO)? {
            bail!("ended before the signal: {output}");
        }
        self.vm.agent.borrow_mut().send(&Request::Signal {
            job: self.number,
            signal: signal.as_raw(),
        })
    }

    /// Whether the script still runs.
    pub(crate) fn is_running(&self) -> Result<bool> {
        Ok(self.output(Duration::ZERO)?.is_none())
    }

    /// Waits for the end of the script. One that still runs after `limit` is killed.
    pub(crate) fn wait(&self, limit: Duration) -> Result<Output> {
        if let Some(output) = self.output(limit)? {
            return Ok(output);
        }
        self.signal(Signal::KILL)?;
        let killed = self.output(KILL_LIMIT)?;
        bail!(
            "{} runs longer than {limit:?}; killed: {killed:#?}",
            self.script
        )
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        // If the guest has ended, the job has ended too.
        if self.signal(Signal::KILL).is_ok() {
            let _ = self.output(KILL_LIMIT);
        }
    }
}
