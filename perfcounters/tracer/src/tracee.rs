//! The traced processes: their stops, their clocks and their end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libc::{c_long, user_regs_struct};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use crate::addresses::{mappings, tails};
use crate::card::FileId;
use crate::clock::VirtualClock;
use crate::error::TraceError;
use crate::launch::Launch;
use crate::target::{code, prepare, text};
use crate::watchdog::Watchdog;
use crate::watchpoints::{self, Watch};

/// Time within which a launcher ends after its program, and after that its processes.
const END: Duration = Duration::from_secs(5);
/// The resume flag in RFLAGS: the processor ignores a breakpoint once.
const RESUME: u64 = 1 << 16;

/// A thread of the driver has stopped at an address that is watched, or is about to wait.
pub(crate) type Stop = (Pid, Option<u64>);
/// Calls that wait for an interrupt.
const WAITS: [c_long; 3] = [
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
];

/// The program, its launcher and their children. Dropping it ends all of them.
#[derive(Debug)]
pub(crate) struct Tracee<'a> {
    launch: &'a Launch,
    pub(crate) watchdog: Watchdog,
    child: Child,
    top: Pid,
    driver: Option<Pid>,
    /// All processes and threads that have not ended, as far as they have stopped once.
    known: BTreeSet<Pid>,
    /// The driver's threads, with the watchpoints that each has.
    threads: BTreeMap<Pid, Vec<Watch>>,
    /// The watchpoints that each thread gets before it goes on.
    watches: Vec<Watch>,
    /// The files of the card's registers, as long as the driver may map them.
    registers: Vec<FileId>,
    pub(crate) clock: VirtualClock,
    /// Looks at a clock and waits of the driver so far.
    pub(crate) waits: u64,
}

fn all() -> WaitPidFlag {
    WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD
}

/// A program that has been killed is no error here: the next wait says so.
fn unless_killed(what: &str) -> impl FnOnce(Errno) -> Result<(), TraceError> + '_ {
    move |cause| match cause {
        Errno::ESRCH => Ok(()),
        _ => Err(TraceError::ptrace(what)(cause)),
    }
}

impl<'a> Tracee<'a> {
    /// Starts the command. The driver will stop at its doorbells, the tail registers in the files
    /// `registers`. The calling thread must not have other children.
    pub(crate) fn start(
        launch: &'a Launch,
        registers: Vec<FileId>,
        step: &'static str,
    ) -> Result<Self, TraceError> {
        let child = launch.start()?;
        let top = Pid::from_raw(child.id() as i32);
        Ok(Self {
            launch,
            watchdog: Watchdog::start(top, step, launch.limit, launch.interrupt.clone()),
            child,
            top,
            driver: None,
            known: BTreeSet::new(),
            threads: BTreeMap::new(),
            watches: Vec::new(),
            registers,
            clock: VirtualClock::default(),
            waits: 0,
        })
    }

    /// The mappings of the driver.
    pub(crate) fn maps(&self) -> Result<String, TraceError> {
        text(self.driver.unwrap_or(self.top), "maps")
    }

    /// Watches nothing from now on. `thread` is stopped.
    pub(crate) fn unwatch(&mut self, thread: Pid) -> Result<(), TraceError> {
        self.registers.clear();
        self.watches.clear();
        self.set_watches(thread)
    }

    /// Gives a thread of the driver the watchpoints that it should have.
    fn set_watches(&mut self, thread: Pid) -> Result<(), TraceError> {
        match self.threads.get_mut(&thread) {
            Some(has) if *has != self.watches => has.clone_from(&self.watches),
            _ => return Ok(()),
        }
        watchpoints::set(thread, &self.watches).or_else(unless_killed("set the watchpoints"))
    }

    /// The registers of a stopped thread.
    pub(crate) fn registers(&self, thread: Pid) -> Result<user_regs_struct, TraceError> {
        ptrace::getregs(thread).map_err(TraceError::ptrace("read the registers"))
    }

    /// Changes the registers of a stopped thread.
    pub(crate) fn set_registers(
        &self,
        thread: Pid,
        registers: user_regs_struct,
    ) -> Result<(), TraceError> {
        ptrace::setregs(thread, registers).map_err(TraceError::ptrace("write the registers"))
    }

    /// Lets a stopped thread go on, and waits for the next stop.
    pub(crate) fn go_on(&mut self, thread: Pid) -> Result<Stop, TraceError> {
        self.resume(thread, None)?;
        self.next()
    }

    /// Delivers a signal, and lets the thread run until its handler has returned to `back`.
    pub(crate) fn handle(
        &mut self,
        thread: Pid,
        signal: Signal,
        back: u64,
    ) -> Result<(), TraceError> {
        // The processor sets the flag when an instruction faults, and the handler's return restores it.
        let mut registers = self.registers(thread)?;
        registers.eflags &= !RESUME;
        self.set_registers(thread, registers)?;
        self.watches = vec![Watch::Execution(back)];
        self.resume(thread, Some(signal))?;
        loop {
            match self.next()? {
                (stopped, Some(_)) if stopped == thread => return self.unwatch(thread),
                (other, _) => self.resume(other, None)?,
            }
        }
    }

    /// Lets a stopped thread execute one instruction. Returns the signal that arrived; after a fault, the
    /// instruction is not done.
    pub(crate) fn step(&mut self, thread: Pid) -> Result<Option<Signal>, TraceError> {
        loop {
            ptrace::step(thread, None).map_err(TraceError::ptrace("step through the code"))?;
            let status = waitpid(thread, Some(WaitPidFlag::__WALL))
                .map_err(TraceError::ptrace("wait for a step"))?;
            match status {
                WaitStatus::Stopped(_, Signal::SIGTRAP) => return Ok(None),
                WaitStatus::Stopped(_, signal) => return Ok(Some(signal)),
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                    return Err(self.gone(thread, status))
                }
                _ => {}
            }
        }
    }

    fn resume(&mut self, thread: Pid, signal: Option<Signal>) -> Result<(), TraceError> {
        self.set_watches(thread)?;
        ptrace::cont(thread, signal).or_else(unless_killed("resume a thread"))
    }

    /// Waits for the next stop at a watchpoint, or at a call that waits. All threads that stop for another reason go on.
    pub(crate) fn next(&mut self) -> Result<Stop, TraceError> {
        loop {
            let status =
                waitpid(None, Some(all())).map_err(TraceError::ptrace("wait for a stop"))?;
            match status {
                WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..) => {
                    if pid == self.top || Some(pid) == self.driver {
                        return Err(self.gone(pid, status));
                    }
                    self.forget(pid);
                }
                WaitStatus::PtraceEvent(pid, _, event) => {
                    match event {
                        libc::PTRACE_EVENT_EXEC => self.executes(pid)?,
                        libc::PTRACE_EVENT_SECCOMP if self.threads.contains_key(&pid) => {
                            match self.system_call(pid)? {
                                Some(call) if WAITS.contains(&call) => return Ok((pid, None)),
                                Some(libc::SYS_mmap) => {
                                    // It stops again behind the call.
                                    ptrace::syscall(pid, None)
                                        .or_else(unless_killed("resume a thread"))?;
                                    continue;
                                }
                                _ => {}
                            }
                        }
                        _ => {}
                    }
                    self.resume(pid, None)?;
                }
                WaitStatus::PtraceSyscall(pid) => {
                    self.find_tails()?;
                    self.resume(pid, None)?;
                }
                WaitStatus::Stopped(pid, signal) => {
                    if let Some(address) = self.signalled(pid, signal)? {
                        return Ok((pid, Some(address)));
                    }
                }
                _ => {}
            }
        }
    }

    /// A thread has stopped because of a signal. Returns the watched address at which it stands, or lets
    /// it go on.
    fn signalled(&mut self, pid: Pid, signal: Signal) -> Result<Option<u64>, TraceError> {
        let mut signal = Some(signal);
        if self.known.insert(pid) {
            self.begins(pid)?;
            signal = signal.filter(|signal| ![Signal::SIGSTOP, Signal::SIGTRAP].contains(signal));
        } else if signal == Some(Signal::SIGTRAP) {
            let hit = watchpoints::hit(pid).map_err(TraceError::ptrace("read the watchpoints"))?;
            let has = self.threads.get(&pid);
            if let Some(watch) = hit.and_then(|hit| has?.get(hit)) {
                let (Watch::Store(address) | Watch::Execution(address)) = *watch;
                return Ok(Some(address));
            }
        } else if signal == Some(Signal::SIGSEGV) && self.answer_counter(pid)? {
            signal = None;
        }
        self.resume(pid, signal)?;
        Ok(None)
    }

    /// The first stop of a process or thread. That of the command itself ends its `execve`.
    fn begins(&mut self, pid: Pid) -> Result<(), TraceError> {
        if pid == self.top {
            let options = Options::PTRACE_O_EXITKILL
                | Options::PTRACE_O_TRACEEXEC
                | Options::PTRACE_O_TRACEFORK
                | Options::PTRACE_O_TRACEVFORK
                | Options::PTRACE_O_TRACECLONE
                | Options::PTRACE_O_TRACESECCOMP
                | Options::PTRACE_O_TRACESYSGOOD;
            ptrace::setoptions(pid, options).map_err(TraceError::ptrace("set the options"))?;
            return self.executes(pid);
        }
        let mut driver = self.driver.iter();
        if driver.any(|driver| PathBuf::from(format!("/proc/{driver}/task/{pid}")).exists()) {
            self.threads.insert(pid, Vec::new());
        }
        Ok(())
    }

    /// A process has executed a file, perhaps that of the driver.
    fn executes(&mut self, pid: Pid) -> Result<(), TraceError> {
        prepare(pid)?;
        if self.driver.is_none() && self.launch.is_driver(format!("/proc/{pid}/exe").as_ref()) {
            self.driver = Some(pid);
            self.threads.insert(pid, Vec::new());
            self.watchdog.add(pid);
        }
        Ok(())
    }

    /// A thread of the driver begins a system call. Returns its number if the kernel must execute it.
    fn system_call(&mut self, thread: Pid) -> Result<Option<c_long>, TraceError> {
        let mut registers = self.registers(thread)?;
        let number = registers.orig_rax;
        let Some(answer) = self.answer_call(thread, number, &registers)? else {
            return Ok(Some(number as c_long));
        };
        // The kernel gets no call, and returns what the tracer puts into RAX.
        (registers.rax, registers.orig_rax) = (answer, u64::MAX);
        self.set_registers(thread, registers)?;
        Ok(None)
    }

    /// Watches the tail registers that the driver has mapped.
    fn find_tails(&mut self) -> Result<(), TraceError> {
        if self.registers.is_empty() {
            return Ok(());
        }
        let tails = tails(&self.registers, &mappings(&self.maps()?));
        if tails.len() > watchpoints::MOST {
            return Err(TraceError::Unexpected(format!(
                "the program maps {} tail registers, and the processor can watch {}; \
                 trace a program that maps the registers of two ports once",
                tails.len(),
                watchpoints::MOST
            )));
        }
        self.watches = tails.into_iter().map(Watch::Store).collect();
        Ok(())
    }

    /// Answers a system call in the kernel's place, with the value for RAX. `None`: the kernel must
    /// execute it.
    pub(crate) fn answer_call(
        &mut self,
        thread: Pid,
        number: u64,
        registers: &user_regs_struct,
    ) -> Result<Option<u64>, TraceError> {
        let arguments = [registers.rdi, registers.rsi, registers.rdx];
        let before = self.clock.now();
        let answer = self.clock.answer(thread, number, arguments)?;
        let waits = WAITS.contains(&(number as c_long)) || self.clock.now() != before;
        self.waits += u64::from(waits);
        Ok(answer)
    }

    /// Answers RDTSC and RDTSCP. Returns false if `thread` has stopped at another instruction.
    pub(crate) fn answer_counter(&mut self, thread: Pid) -> Result<bool, TraceError> {
        let mut registers = self.registers(thread)?;
        let code = code(thread, registers.rip);
        registers.rip += match code.as_slice() {
            [0x0f, 0x31, ..] => 2,
            [0x0f, 0x01, 0xf9, ..] => {
                // RDTSCP also gives the number of the processor.
                registers.rcx = 0;
                3
            }
            _ => return Ok(false),
        };
        let counter = self.clock.counter();
        (registers.rax, registers.rdx) = (counter & 0xffff_ffff, counter >> 32);
        self.set_registers(thread, registers)?;
        Ok(true)
    }

    /// The error for the caller: a program that the watchdog has killed explains all others.
    pub(crate) fn explain(&self, error: TraceError) -> TraceError {
        let interrupted = self.launch.interrupt.load(Ordering::Relaxed);
        match self.watchdog.late() {
            _ if interrupted => TraceError::Interrupted,
            Some((doing, seconds)) => TraceError::Hung(doing, seconds, self.launch.last_words()),
            None => error,
        }
    }

    /// The error for a process that has ended.
    fn gone(&mut self, pid: Pid, status: WaitStatus) -> TraceError {
        self.forget(pid);
        let how = match status {
            WaitStatus::Exited(_, code) => format!("ended with status {code}"),
            WaitStatus::Signaled(_, signal, _) => format!("was ended by {signal}"),
            _ => "ended".to_owned(),
        };
        TraceError::Ended(how, self.launch.last_words())
    }

    fn forget(&mut self, pid: Pid) {
        self.watchdog.remove(pid);
        self.known.remove(&pid);
        self.threads.remove(&pid);
    }

    /// Ends all processes: the driver first, so that a launcher can clean up behind it.
    fn end(&mut self) {
        if let Some(driver) = self.driver.filter(|driver| self.known.contains(driver)) {
            // It fails only for a process that has ended.
            let _ = kill(driver, Signal::SIGKILL);
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
        self.threads.clear();
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            match waitpid(None, Some(all() | WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => std::thread::sleep(Duration::from_millis(1)),
                Ok(WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..)) => self.forget(pid),
                Ok(WaitStatus::Stopped(pid, signal)) => {
                    let new = self.known.insert(pid);
                    let own = match signal {
                        Signal::SIGTRAP => true,
                        Signal::SIGSTOP => new,
                        Signal::SIGSEGV => self.answer_counter(pid).unwrap_or(false),
                        _ => false,
                    };
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
