//! Steps a thread of the driver through its code.

use caches::stream::Step;
use iced_x86::{Instruction, Mnemonic};
use libc::user_regs_struct;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::addresses::Addresses;
use crate::decode::Code;
use crate::emulate::{self, Stored};
use crate::error::TraceError;
use crate::target;
use crate::tracee::Tracee;

/// Steps one thread.
pub(crate) struct Stepper {
    thread: Pid,
    code: Code,
    /// The registers before the next instruction.
    registers: user_regs_struct,
    /// Whether the thread does not have these registers yet.
    ahead: bool,
    emulate: bool,
}

impl Stepper {
    /// Steps `thread`. With `emulate`, the tracer executes common instructions.
    pub(crate) fn new(thread: Pid, tracee: &Tracee<'_>, emulate: bool) -> Result<Self, TraceError> {
        Ok(Self {
            thread,
            code: Code::default(),
            registers: tracee.registers(thread)?,
            ahead: false,
            emulate,
        })
    }

    /// Executes one instruction, or one iteration of a repeated one.
    pub(crate) fn step(
        &mut self,
        tracee: &mut Tracee<'_>,
        addresses: &Addresses,
    ) -> Result<Step, TraceError> {
        let address = self.registers.rip;
        let traced = self.code.at(self.thread, address)?;
        let accesses = traced.accesses(&self.registers, |address| addresses.is_register(address));
        let answer = match traced.instruction.mnemonic() {
            Mnemonic::Syscall => {
                tracee.answer_call(self.thread, self.registers.rax, &self.registers)?
            }
            _ => None,
        };
        match answer {
            Some(answer) => {
                let (registers, next) = (&mut self.registers, traced.instruction.next_ip());
                (registers.rax, registers.r11) = (answer, registers.eflags);
                (registers.rcx, registers.rip) = (next, next);
                self.ahead = true;
            }
            None => self.execute(tracee, &traced.instruction)?,
        }
        Ok(Step {
            address,
            next: traced.instruction.next_ip(),
            branch: traced.branch,
            accesses,
            target: self.registers.rip,
        })
    }

    /// Executes an instruction, a common one in the processor's place.
    fn execute(
        &mut self,
        tracee: &mut Tracee<'_>,
        instruction: &Instruction,
    ) -> Result<(), TraceError> {
        let load = |address, size| target::load(self.thread, address, size);
        let store =
            |stored: Stored| target::store(self.thread, stored.address, stored.size, stored.value);
        let effect = match self.emulate {
            true => emulate::execute(instruction, &self.registers, load),
            false => None,
        };
        if let Some((registers, stored)) = effect {
            if stored.is_none_or(store) {
                self.registers = registers;
                self.ahead = true;
                return Ok(());
            }
        }
        if std::mem::take(&mut self.ahead) {
            // The kernel must not start the last system call again.
            self.registers.orig_rax = u64::MAX;
            tracee.set_registers(self.thread, self.registers)?;
        }
        self.execute_natively(tracee, instruction.next_ip())?;
        self.registers = tracee.registers(self.thread)?;
        Ok(())
    }

    /// Lets the processor execute an instruction. `next` is the address behind it.
    fn execute_natively(&self, tracee: &mut Tracee<'_>, next: u64) -> Result<(), TraceError> {
        while let Some(signal) = tracee.step(self.thread)? {
            if signal == Signal::SIGSEGV && tracee.answer_counter(self.thread)? {
                return Ok(());
            }
            if matches!(signal, Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGSYS) {
                // The bridge's handler carries the instruction out. Its own code is not the driver's.
                return tracee.handle(self.thread, signal, next);
            }
            let address = tracee.registers(self.thread)?.rip;
            tracee.handle(self.thread, signal, address)?;
            if address == next {
                return Ok(());
            }
        }
        Ok(())
    }
}
