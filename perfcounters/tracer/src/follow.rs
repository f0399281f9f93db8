//! Follows one thread of a program that runs already: instruction by instruction, as long as the caller wants.
//!
//! [`trace`](crate::trace) owns its program from the start, and answers its clocks. This module only looks: the program
//! keeps its clocks, its signals and its parent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use caches::stream::Accesses;
use iced_x86::{FlowControl, Mnemonic};
use libc::user_regs_struct;
use nix::errno::Errno;
use nix::sched::{sched_getaffinity, sched_getcpu, sched_setaffinity, CpuSet};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitid, waitpid, Id, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use serde_json::Value;

use crate::addresses::{mappings, Addresses, Place};
use crate::card::PortMemory;
use crate::decode::Code;
use crate::error::TraceError;
use crate::target;
use crate::watchdog::Watchdog;
use crate::watchpoints::{self, Watch};

/// An executed instruction.
#[derive(Clone, Debug)]
pub struct Executed {
    /// Its address.
    pub address: u64,
    /// What it read and wrote.
    pub accesses: Accesses,
    /// The number of the system call, if it was one.
    pub system_call: Option<u64>,
    /// Where the called function returns to, if it was a call.
    pub returns_to: Option<u64>,
}

/// Where a program stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Behind an instruction or a system call.
    Stopped,
    /// It is about to end, or has got a signal. It goes on alone.
    Gone,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// At the address.
    Arrived,
    /// Behind a system call that was wanted.
    Call,
    /// See [`Pause::Gone`].
    Gone,
}

/// The longest time that a thread is followed.
const LIMIT: Duration = Duration::from_secs(120);

/// A thread that executes one instruction at a time. Dropping it lets the thread go on alone.
#[derive(Debug)]
pub struct Follower {
    thread: Pid,
    followed: bool,
    registers: user_regs_struct,
    code: Code,
    addresses: Addresses,
    watchdog: Watchdog,
    interrupt: Arc<AtomicBool>,
    /// The processors of both threads before they shared one.
    processors: Option<CpuSet>,
}

impl Follower {
    /// Stops a child of the calling thread. If it stands still because it has sent itself SIGSTOP, it goes on to its
    /// next `execve` first. The program is killed if it is followed for two minutes, or if `interrupt` becomes true.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn attach(pid: u32, stopped: bool, interrupt: Arc<AtomicBool>) -> Result<Self, TraceError> {
        let thread = Pid::from_raw(pid as i32);
        let mut options = Options::PTRACE_O_TRACEEXIT | Options::PTRACE_O_TRACESYSGOOD;
        let watchdog = Watchdog::start(thread, "follow", LIMIT, interrupt.clone());
        if stopped {
            options |= Options::PTRACE_O_TRACEEXEC;
            let stop = Some(WaitPidFlag::WUNTRACED);
            waitpid(thread, stop).map_err(TraceError::ptrace("wait for the program"))?;
        }
        ptrace::seize(thread, options).map_err(TraceError::ptrace("follow the program"))?;
        let mut follower = Self {
            thread,
            followed: true,
            // SAFETY: the registers are numbers, for which all zeros is a value.
            registers: unsafe { std::mem::zeroed() },
            code: Code::default(),
            addresses: Addresses::new(&[], &[]),
            watchdog,
            interrupt,
            processors: share_a_processor(thread),
        };
        if stopped {
            kill(thread, Signal::SIGCONT).map_err(TraceError::ptrace("continue the program"))?;
            follower.wait_for_exec()?;
        } else {
            ptrace::interrupt(thread).map_err(TraceError::ptrace("stop the program"))?;
            follower.wait()?;
        }
        follower.look()?;
        Ok(follower)
    }

    fn wait_for_exec(&mut self) -> Result<(), TraceError> {
        loop {
            match self.wait_once()? {
                WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_EXEC) => return Ok(()),
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                    self.followed = false;
                    return Err(TraceError::Unexpected("the program does not start".into()));
                }
                WaitStatus::Stopped(_, signal) if signal != Signal::SIGCONT => {
                    self.cont(Some(signal))?
                }
                _ => self.cont(None)?,
            }
        }
    }

    fn cont(&self, signal: Option<Signal>) -> Result<(), TraceError> {
        ptrace::cont(self.thread, signal).map_err(TraceError::ptrace("continue the program"))
    }

    /// Waits for a stop, or for the end, of which the program's parent learns, too.
    fn wait_once(&self) -> Result<WaitStatus, TraceError> {
        let failed = TraceError::ptrace("wait for the program");
        let all = WaitPidFlag::WEXITED | WaitPidFlag::WSTOPPED | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.thread), all).map_err(failed)? {
            ended @ (WaitStatus::Exited(..) | WaitStatus::Signaled(..)) => Ok(ended),
            _ => waitpid(self.thread, Some(WaitPidFlag::__WALL))
                .map_err(TraceError::ptrace("wait for the program")),
        }
    }

    /// Waits until the thread stops. A signal for it ends the following: the program must meet it alone.
    fn wait(&mut self) -> Result<Pause, TraceError> {
        match self.wait_once()? {
            WaitStatus::Stopped(_, Signal::SIGTRAP)
            | WaitStatus::PtraceSyscall(_)
            | WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_STOP) => Ok(Pause::Stopped),
            WaitStatus::Stopped(_, signal) => self.let_go(Some(signal)),
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                self.followed = false;
                self.unless_killed()
            }
            _ => {
                self.let_go(None)?;
                self.unless_killed()
            }
        }
    }

    /// The program is gone: because the watchdog has killed it, or for a reason of its own.
    fn unless_killed(&self) -> Result<Pause, TraceError> {
        match self.watchdog.late() {
            _ if self.interrupt.load(Ordering::Relaxed) => Err(TraceError::Interrupted),
            Some((doing, seconds)) => Err(TraceError::Hung(doing, seconds, String::new())),
            None => Ok(Pause::Gone),
        }
    }

    /// Lets the thread go on alone, with this signal.
    fn let_go(&mut self, signal: Option<Signal>) -> Result<Pause, TraceError> {
        self.watchdog.remove(self.thread);
        if let Some(before) = self.processors.take() {
            set_processors(self.thread, &before);
        }
        if std::mem::take(&mut self.followed) {
            ptrace::detach(self.thread, signal).map_err(TraceError::ptrace("let go"))?;
        }
        Ok(Pause::Gone)
    }

    /// Lets the thread go on alone.
    pub fn release(&mut self) {
        // It fails for a program that has ended.
        let _ = self.let_go(None);
    }

    /// Whether the thread is still followed.
    pub fn follows(&self) -> bool {
        self.followed
    }

    /// Reads the registers of the thread, which has stopped.
    fn look(&mut self) -> Result<Pause, TraceError> {
        match ptrace::getregs(self.thread) {
            Ok(registers) => self.registers = registers,
            // Another thread has ended the program.
            Err(Errno::ESRCH) => return self.wait(),
            Err(cause) => return Err(TraceError::ptrace("read the registers")(cause)),
        }
        Ok(Pause::Stopped)
    }

    /// Waits for the next stop of a thread that was asked to go on.
    fn next_stop(&mut self, asked: nix::Result<()>) -> Result<Pause, TraceError> {
        match asked {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(cause) => return Err(TraceError::ptrace("continue the program")(cause)),
        }
        match self.wait()? {
            Pause::Stopped => self.look(),
            Pause::Gone => Ok(Pause::Gone),
        }
    }

    /// Learns what the program shares with the card. `ports` is what each port says of it.
    ///
    /// # Errors
    /// If that is not what a port says.
    pub fn learn(&mut self, ports: Vec<Value>) -> Result<(), TraceError> {
        let ports: Result<Vec<PortMemory>, _> =
            ports.into_iter().map(serde_json::from_value).collect();
        let ports = ports.map_err(|error| TraceError::Unexpected(error.to_string()))?;
        let maps = target::text(self.thread, "maps")?;
        self.addresses = Addresses::new(&ports, &mappings(&maps));
        Ok(())
    }

    /// What an address of the program is, if the card has to do with it.
    pub fn place(&self, address: u64) -> Option<Place> {
        self.addresses.place(address)
    }

    /// The program's address of an IOVA of a port.
    pub fn address_of(&self, port: usize, iova: u64) -> Option<u64> {
        self.addresses.of_iova(port, iova)
    }

    /// Reads a word of 8 bytes.
    pub fn word(&self, address: u64) -> Option<u64> {
        target::load(self.thread, address, 8)
    }

    /// Lets the program run to the next system call, and through it.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn run_through_call(&mut self) -> Result<Pause, TraceError> {
        for _ in 0..2 {
            let asked = ptrace::syscall(self.thread, None);
            if self.next_stop(asked)? == Pause::Gone {
                return Ok(Pause::Gone);
            }
        }
        Ok(Pause::Stopped)
    }

    fn watch(&self, watches: &[Watch]) -> Result<(), TraceError> {
        match watchpoints::set(self.thread, watches) {
            // The next stop tells that the program has ended.
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(cause) => Err(TraceError::ptrace("watch the program")(cause)),
        }
    }

    /// The address of the next instruction.
    pub fn next(&self) -> u64 {
        self.registers.rip
    }

    /// Lets the program run to `address`, or through the first system call that `ends` wants.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn run_to(
        &mut self,
        address: u64,
        mut ends: impl FnMut(u64) -> bool,
    ) -> Result<Run, TraceError> {
        self.watch(&[Watch::Execution(address)])?;
        let mut entered = None;
        let run = loop {
            let asked = ptrace::syscall(self.thread, None);
            if self.next_stop(asked)? == Pause::Gone {
                return Ok(Run::Gone);
            }
            if self.registers.rip == address {
                break Run::Arrived;
            }
            // Each system call stops twice.
            entered = match entered {
                None => Some(self.registers.orig_rax),
                Some(call) if ends(call) => break Run::Call,
                Some(_) => None,
            };
        };
        self.watch(&[])?;
        Ok(run)
    }

    /// Executes an instruction. `None` if the program goes on alone from now on.
    ///
    /// # Errors
    /// If the system does not allow it, or the instruction is not known.
    pub fn step(&mut self) -> Result<Option<Executed>, TraceError> {
        if !self.followed {
            return Ok(None);
        }
        let address = self.registers.rip;
        let traced = match self.code.at(self.thread, address) {
            Ok(traced) => traced,
            // The code of a program that has ended cannot be read.
            Err(_) if self.look()? == Pause::Gone => return Ok(None),
            Err(error) => return Err(error),
        };
        let accesses = traced.accesses(&self.registers, |address| {
            self.addresses.is_register(address)
        });
        let is_call = traced.instruction.mnemonic() == Mnemonic::Syscall;
        let system_call = is_call.then_some(self.registers.rax);
        let flow = traced.instruction.flow_control();
        let calls = matches!(flow, FlowControl::Call | FlowControl::IndirectCall) && !is_call;
        let returns_to = calls.then(|| traced.instruction.next_ip());
        let asked = ptrace::step(self.thread, None);
        if self.next_stop(asked)? == Pause::Gone {
            return Ok(None);
        }
        Ok(Some(Executed {
            address,
            accesses,
            system_call,
            returns_to,
        }))
    }
}

/// Lets a thread and its follower, which take turns, work on one processor: a step is three times as fast. Returns the
/// processors of before. Where the system does not allow it, a step is slow.
fn share_a_processor(thread: Pid) -> Option<CpuSet> {
    let before = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let mut one = CpuSet::new();
    one.set(sched_getcpu().ok()?).ok()?;
    set_processors(thread, &one);
    Some(before)
}

/// Sets the processors of a thread and of the calling thread.
fn set_processors(thread: Pid, processors: &CpuSet) {
    for one in [thread, Pid::from_raw(0)] {
        // It fails for a thread that has ended.
        let _ = sched_setaffinity(one, processors);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.release();
    }
}
