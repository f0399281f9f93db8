//! The traced processes: their stops, their clocks and their end.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use libc::{c_long, user_regs_struct};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use crate::addresses::mappings;
use crate::breakpoints::Breakpoints;
use crate::clock::{nanoseconds, ClockCall, VirtualClock};
use crate::error::TraceError;
use crate::launch::Launch;
use crate::memory::{text, write_word, Memory};
use crate::target;
use crate::watchdog::{Verdict, Watchdog};

/// Time within which a launcher ends after its program, and after that its processes.
const END: Duration = Duration::from_secs(5);

/// Why a process has stopped, as far as the caller wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It has executed the driver's file.
    Driver,
    /// A thread of the driver is at a breakpoint, whose instruction it has not executed.
    Breakpoint(Pid),
    /// A thread of the driver has stopped as asked.
    Asked(Pid),
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stepped {
    /// The instruction, or one iteration of it, is done.
    Done,
    /// A signal has arrived. If it is a fault, the instruction is not done.
    Signal(Signal),
}

/// The program, its launcher and their children. Dropping it ends all of them.
#[derive(Debug)]
pub(crate) struct Tracee<'a> {
    launch: &'a Launch,
    pub(crate) watchdog: Watchdog,
    child: Child,
    top: Pid,
    driver: Option<(Pid, Memory)>,
    /// All processes and threads that have not ended, as far as they have stopped once.
    known: BTreeSet<Pid>,
    threads: BTreeSet<Pid>,
    /// The command, until its first stop.
    unstopped: BTreeSet<Pid>,
    pub(crate) clock: VirtualClock,
    pub(crate) breakpoints: Breakpoints,
    /// The thread that should stop after its next system call; 0 for none.
    pub(crate) wanted: Arc<AtomicI32>,
    /// System calls of the driver so far.
    pub(crate) system_calls: u64,
    /// Breakpoints for code that is not loaded yet: address and first word.
    late: Vec<(u64, u64)>,
}

fn all() -> WaitPidFlag {
    WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD
}

/// Whether an address of a process is in executable memory.
fn is_code(process: Pid, address: u64) -> Result<bool, TraceError> {
    let maps = mappings(&text(process, "maps")?);
    let mut holders = maps.iter().filter(|map| map.addresses.contains(&address));
    Ok(holders.any(|map| map.executable))
}

impl<'a> Tracee<'a> {
    /// Starts the command and waits until a process executes the driver. The calling thread must not
    /// have other children.
    pub(crate) fn start(launch: &'a Launch) -> Result<Self, TraceError> {
        let child = launch.start()?;
        let top = Pid::from_raw(child.id() as i32);
        let mut tracee = Self {
            launch,
            watchdog: Watchdog::start(launch.interrupt.clone()),
            child,
            top,
            driver: None,
            known: BTreeSet::from([top]),
            threads: BTreeSet::new(),
            unstopped: BTreeSet::from([top]),
            clock: VirtualClock::default(),
            breakpoints: Breakpoints::default(),
            wanted: Arc::default(),
            system_calls: 0,
            late: Vec::new(),
        };
        tracee.watchdog.add(top);
        tracee.watchdog.step("start the program", launch.limit);
        match tracee.next()? {
            Stop::Driver => Ok(tracee),
            other => {
                let text = format!("the program stopped before it began: {other:?}");
                Err(TraceError::NoDriver(text))
            }
        }
    }

    /// The driver's process.
    pub(crate) fn driver(&self) -> Pid {
        self.driver.as_ref().map_or(self.top, |(pid, _)| *pid)
    }

    /// The driver's memory.
    pub(crate) fn memory(&self) -> Result<&Memory, TraceError> {
        let missing = || TraceError::NoDriver("no process executes the driver".to_owned());
        Ok(&self.driver.as_ref().ok_or_else(missing)?.1)
    }

    /// Sets a breakpoint as soon as the word at `address` is `word`: code may be loaded later.
    /// The driver must be stopped.
    pub(crate) fn set_late(&mut self, address: u64, word: u64) -> Result<(), TraceError> {
        self.late.push((address, word));
        self.set_loaded(self.driver())
    }

    fn set_loaded(&mut self, thread: Pid) -> Result<(), TraceError> {
        let Some((driver, memory)) = &self.driver else {
            return Ok(());
        };
        let mut waiting = Vec::new();
        for (address, word) in self.late.drain(..) {
            match memory.word(address) {
                // The loader first maps a whole file, and then its code over it.
                Ok(found) if found == word && is_code(*driver, address)? => {
                    self.breakpoints.set(thread, memory, address)?;
                }
                _ => waiting.push((address, word)),
            }
        }
        self.late = waiting;
        Ok(())
    }

    /// Sets a breakpoint in code that is loaded. `thread` is stopped.
    pub(crate) fn set_breakpoint(&mut self, thread: Pid, address: u64) -> Result<(), TraceError> {
        match &self.driver {
            Some((_, memory)) => self.breakpoints.set(thread, memory, address),
            None => Ok(()),
        }
    }

    /// Removes all breakpoints, also those for later. `thread` is stopped.
    pub(crate) fn clear_breakpoints(&mut self, thread: Pid) -> Result<(), TraceError> {
        self.late.clear();
        match &self.driver {
            Some((_, memory)) => self.breakpoints.clear(thread, memory),
            None => Ok(()),
        }
    }

    /// Removes a breakpoint. `thread` is stopped.
    pub(crate) fn remove_breakpoint(
        &mut self,
        thread: Pid,
        address: u64,
    ) -> Result<(), TraceError> {
        match &self.driver {
            Some((_, memory)) => self.breakpoints.remove(thread, memory, address),
            None => Ok(()),
        }
    }

    /// Delivers a signal, and lets the thread run until its handler has returned to `back`.
    pub(crate) fn handle(
        &mut self,
        thread: Pid,
        signal: Signal,
        back: u64,
    ) -> Result<(), TraceError> {
        self.set_breakpoint(thread, back)?;
        self.resume(thread, Some(signal))?;
        loop {
            match self.next()? {
                Stop::Breakpoint(other) if other == thread => break,
                Stop::Breakpoint(other) | Stop::Asked(other) => self.resume(other, None)?,
                Stop::Driver => {}
            }
        }
        self.remove_breakpoint(thread, back)
    }

    /// The registers of a stopped thread.
    pub(crate) fn registers(&self, thread: Pid) -> Result<user_regs_struct, TraceError> {
        ptrace::getregs(thread).map_err(|errno| self.failed("read the registers", errno))
    }

    /// Changes the registers of a stopped thread.
    pub(crate) fn set_registers(
        &self,
        thread: Pid,
        registers: user_regs_struct,
    ) -> Result<(), TraceError> {
        ptrace::setregs(thread, registers)
            .map_err(|errno| self.failed("write the registers", errno))
    }

    /// Lets a stopped thread go on, and waits for the next stop.
    pub(crate) fn go_on(&mut self, thread: Pid) -> Result<Stop, TraceError> {
        self.resume(thread, None)?;
        self.next()
    }

    /// Lets a stopped thread execute one instruction, after a signal if there is one.
    pub(crate) fn step(
        &mut self,
        thread: Pid,
        signal: Option<Signal>,
    ) -> Result<Stepped, TraceError> {
        let mut signal = signal;
        loop {
            ptrace::step(thread, signal.take())
                .map_err(|errno| self.failed("step through the code", errno))?;
            let status = waitpid(thread, Some(WaitPidFlag::__WALL))
                .map_err(|errno| self.failed("wait for a step", errno))?;
            match status {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => return Ok(Stepped::Done),
                // A stop that was asked for, perhaps too late.
                WaitStatus::Stopped(_, Signal::SIGSTOP) => {}
                WaitStatus::Stopped(_, signal) => return Ok(Stepped::Signal(signal)),
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                    return Err(self.gone(thread, status))
                }
                _ => {}
            }
        }
    }

    fn resume(&self, thread: Pid, signal: Option<Signal>) -> Result<(), TraceError> {
        self.resumed(ptrace::cont(thread, signal))
    }

    fn resume_to_end_of_call(&self, thread: Pid) -> Result<(), TraceError> {
        self.resumed(ptrace::syscall(thread, None))
    }

    fn resumed(&self, outcome: nix::Result<()>) -> Result<(), TraceError> {
        match outcome {
            // It has been killed. The next wait says so.
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(errno) => Err(self.failed("resume a thread", errno)),
        }
    }

    /// Waits for the next stop that matters. All threads that stop for another reason go on.
    pub(crate) fn next(&mut self) -> Result<Stop, TraceError> {
        loop {
            let status = waitpid(None, Some(all()))
                .map_err(|errno| self.failed("wait for a stop", errno))?;
            match status {
                WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..) => {
                    if pid == self.top || pid == self.driver() {
                        return Err(self.gone(pid, status));
                    }
                    self.known.remove(&pid);
                    self.threads.remove(&pid);
                }
                WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_EXEC) => {
                    let driver = self.executes(pid)?;
                    if driver {
                        return Ok(Stop::Driver);
                    }
                }
                WaitStatus::PtraceEvent(pid, _, libc::PTRACE_EVENT_SECCOMP)
                    if self.threads.contains(&pid) =>
                {
                    match self.system_call(pid)? {
                        true => self.resume_to_end_of_call(pid)?,
                        false => self.resume(pid, None)?,
                    }
                }
                WaitStatus::PtraceEvent(pid, ..) => self.resume(pid, None)?,
                WaitStatus::PtraceSyscall(pid) => {
                    self.set_loaded(pid)?;
                    if self.wanted.load(Ordering::Relaxed) == pid.as_raw() {
                        return Ok(Stop::Asked(pid));
                    }
                    self.resume(pid, None)?;
                }
                WaitStatus::Stopped(pid, signal) => {
                    if let Some(stop) = self.signalled(pid, signal)? {
                        return Ok(stop);
                    }
                }
                _ => {}
            }
        }
    }

    /// A thread has stopped because of a signal. It goes on unless the caller wants to know.
    fn signalled(&mut self, pid: Pid, signal: Signal) -> Result<Option<Stop>, TraceError> {
        if self.unstopped.remove(&pid) || self.known.insert(pid) {
            return self.first_stop(pid, signal);
        }
        let own = self.threads.contains(&pid);
        match signal {
            Signal::SIGSTOP if own => return Ok(Some(Stop::Asked(pid))),
            Signal::SIGTRAP if own => {
                let mut registers = self.registers(pid)?;
                if self.breakpoints.has(registers.rip.wrapping_sub(1)) {
                    registers.rip -= 1;
                    self.set_registers(pid, registers)?;
                    return Ok(Some(Stop::Breakpoint(pid)));
                }
                self.resume(pid, Some(signal))?;
            }
            Signal::SIGSEGV if own && self.answer_counter(pid)? => self.resume(pid, None)?,
            _ => self.resume(pid, Some(signal))?,
        }
        Ok(None)
    }

    /// The first stop of a process or thread. That of the command itself ends its `execve`.
    fn first_stop(&mut self, pid: Pid, signal: Signal) -> Result<Option<Stop>, TraceError> {
        if pid == self.top {
            let options = Options::PTRACE_O_EXITKILL
                | Options::PTRACE_O_TRACEEXEC
                | Options::PTRACE_O_TRACEFORK
                | Options::PTRACE_O_TRACEVFORK
                | Options::PTRACE_O_TRACECLONE
                | Options::PTRACE_O_TRACESECCOMP
                | Options::PTRACE_O_TRACESYSGOOD;
            ptrace::setoptions(pid, options)
                .map_err(|errno| self.failed("set the options", errno))?;
            return Ok(self.executes(pid)?.then_some(Stop::Driver));
        }
        let driver = self.driver();
        if self.driver.is_some() && PathBuf::from(format!("/proc/{driver}/task/{pid}")).exists() {
            self.threads.insert(pid);
        }
        let signal = (signal != Signal::SIGSTOP).then_some(signal);
        self.resume(pid, signal)?;
        Ok(None)
    }

    /// A process has executed a file. Prepares it and returns true if that is the driver.
    fn executes(&mut self, pid: Pid) -> Result<bool, TraceError> {
        let file = PathBuf::from(format!("/proc/{pid}/exe"));
        if self.driver.is_some() || !self.launch.is_driver(&file) {
            self.resume(pid, None)?;
            return Ok(false);
        }
        let memory = Memory::open(pid)?;
        target::prepare(pid, &memory)?;
        self.driver = Some((pid, memory));
        self.threads.insert(pid);
        self.watchdog.add(pid);
        Ok(true)
    }

    /// A thread of the driver begins a system call that the filter lets the tracer see. Returns whether
    /// the tracer must see its end.
    fn system_call(&mut self, thread: Pid) -> Result<bool, TraceError> {
        let mut registers = self.registers(thread)?;
        if registers.orig_rax as c_long == libc::SYS_mmap {
            return Ok(!self.late.is_empty());
        }
        self.system_calls += 1;
        let wanted = self.wanted.load(Ordering::Relaxed) == thread.as_raw();
        let arguments = [registers.rdi, registers.rsi, registers.rdx];
        let Some(call) = ClockCall::of(registers.orig_rax, arguments) else {
            return Ok(wanted);
        };
        if let Some((_, nanoseconds)) = self.sleep_of(call)? {
            self.clock.sleep(nanoseconds);
            if !matches!(call, ClockCall::SleepOn(true, ..)) {
                return Ok(wanted);
            }
        }
        // The kernel gets no call, and returns what the tracer puts into RAX.
        registers.rax = self.answer_clock(thread, call)?;
        registers.orig_rax = u64::MAX;
        self.set_registers(thread, registers)?;
        Ok(wanted)
    }

    /// The clock and the duration of a sleep; `None` for a call that does not sleep.
    fn sleep_of(&self, call: ClockCall) -> Result<Option<(u64, u64)>, TraceError> {
        let (absolute, clock, at) = match call {
            ClockCall::Sleep(at) => (false, 0, at),
            ClockCall::SleepOn(absolute, clock, at) => (absolute, clock, at),
            _ => return Ok(None),
        };
        let memory = self.memory()?;
        let time = nanoseconds([memory.word(at)?, memory.word(at + 8)?]);
        let duration = match absolute {
            true => self.clock.until(clock, time),
            false => time,
        };
        Ok(Some((clock, duration)))
    }

    /// Answers a call in the kernel's place, and returns the value for RAX. A sleep takes no time.
    pub(crate) fn answer_clock(&mut self, thread: Pid, call: ClockCall) -> Result<u64, TraceError> {
        let Some(answer) = self.clock.answer(call) else {
            return Ok(0);
        };
        if let Some((at, words, count)) = answer.place {
            for (nth, word) in words.iter().take(count).enumerate() {
                write_word(thread, at + 8 * nth as u64, *word)?;
            }
        }
        Ok(answer.value)
    }

    /// Moves the clock by a sleep that the caller answers in the kernel's place.
    pub(crate) fn skip_sleep(&mut self, call: ClockCall) -> Result<(), TraceError> {
        if let Some((_, nanoseconds)) = self.sleep_of(call)? {
            self.clock.sleep(nanoseconds);
        }
        Ok(())
    }

    /// Answers RDTSC and RDTSCP. Returns false if `thread` has stopped at another instruction.
    fn answer_counter(&mut self, thread: Pid) -> Result<bool, TraceError> {
        let registers = self.registers(thread)?;
        let mut code = [0; 3];
        let read = self.memory()?.read(registers.rip, &mut code).unwrap_or(0);
        let len = match code {
            [0x0f, 0x31, _] if read >= 2 => 2,
            [0x0f, 0x01, 0xf9] if read == 3 => 3,
            _ => return Ok(false),
        };
        self.give_counter(thread, registers, len)?;
        Ok(true)
    }

    /// Executes RDTSC (2 bytes) or RDTSCP (3 bytes) in the processor's place.
    pub(crate) fn give_counter(
        &mut self,
        thread: Pid,
        mut registers: user_regs_struct,
        len: u64,
    ) -> Result<(), TraceError> {
        let counter = self.clock.counter();
        registers.rax = counter & 0xffff_ffff;
        registers.rdx = counter >> 32;
        if len == 3 {
            registers.rcx = 0;
        }
        registers.rip += len;
        self.set_registers(thread, registers)
    }

    /// The error for a request that failed. A program that has been killed explains it.
    fn failed(&self, what: &'static str, cause: Errno) -> TraceError {
        match self.verdict() {
            Some(error) => error,
            None => TraceError::Ptrace { what, cause },
        }
    }

    fn verdict(&self) -> Option<TraceError> {
        Some(match self.watchdog.verdict()? {
            Verdict::Interrupted => TraceError::Interrupted,
            Verdict::Hung(doing, seconds) => TraceError::Hung {
                doing,
                seconds,
                last_words: self.launch.last_words(),
            },
        })
    }

    /// The error for a process that has ended.
    fn gone(&mut self, pid: Pid, status: WaitStatus) -> TraceError {
        self.known.remove(&pid);
        self.threads.remove(&pid);
        self.watchdog.remove(pid);
        let how = match status {
            WaitStatus::Exited(_, code) => format!("ended with status {code}"),
            WaitStatus::Signaled(_, signal, _) => format!("was ended by {signal}"),
            _ => "ended".to_owned(),
        };
        self.verdict().unwrap_or_else(|| TraceError::Ended {
            how,
            last_words: self.launch.last_words(),
        })
    }

    /// Ends all processes: the driver first, so that a launcher can clean up behind it.
    fn end(&mut self) {
        if let Some((driver, _)) = self.driver.take() {
            if self.known.contains(&driver) {
                // It fails only for a process that has ended.
                let _ = kill(driver, Signal::SIGKILL);
            }
        }
        drop(self.child.stdin.take());
        if !self.reap(END) {
            for process in &self.known {
                let _ = kill(*process, Signal::SIGKILL);
            }
            self.reap(END);
        }
    }

    /// Lets all processes go on, and waits for their end. Returns whether all have ended in time.
    fn reap(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            match waitpid(None, Some(all() | WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => std::thread::sleep(Duration::from_millis(1)),
                Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)) => {
                    self.watchdog.remove(pid);
                    self.known.remove(&pid);
                }
                Ok(WaitStatus::Stopped(pid, signal)) => {
                    let new = self.known.insert(pid);
                    let own = signal == Signal::SIGTRAP || signal == Signal::SIGSTOP && new;
                    // The process may have been killed meanwhile.
                    let _ = ptrace::cont(pid, (!own).then_some(signal));
                }
                Ok(other) => {
                    if let Some(pid) = other.pid() {
                        let _ = ptrace::cont(pid, None);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_none_left) => return true,
            }
        }
        false
    }
}

impl Drop for Tracee<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
