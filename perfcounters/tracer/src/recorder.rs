//! Steps a thread of the driver through its code, and records what it does.

use std::collections::HashMap;
use std::rc::Rc;

use caches::stream::{
    Access, AccessKind, Accesses, Code, DeviceAccess, DeviceAccessKind, Event, Memory, Step,
    Stream, LONGEST_INSTRUCTION,
};
use libc::user_regs_struct;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::addresses::Addresses;
use crate::card::Turn;
use crate::clock::ClockCall;
use crate::decode::{Analyser, Kind, Traced};
use crate::emulate::{self, After, Store};
use crate::error::TraceError;
use crate::memory::Memory as ProcessMemory;
use crate::tracee::{Stepped, Tracee};

/// What one step did, besides what the stream keeps.
#[derive(Clone, Debug)]
pub(crate) struct Executed {
    pub(crate) step: Step,
    /// The tail register that the instruction wrote.
    pub(crate) tail: Option<u64>,
    /// Whether it read a receive ring.
    pub(crate) look: bool,
}

/// Steps one thread.
pub(crate) struct Stepper {
    thread: Pid,
    analyser: Analyser,
    code: Code,
    traced: HashMap<u64, Rc<Traced>>,
    /// The registers before the next instruction.
    registers: Option<user_regs_struct>,
    /// Whether the thread does not have these registers yet.
    dirty: bool,
    check: bool,
    /// What the last emulated instruction would have stored, if it was only checked.
    stored: Vec<(u64, Vec<u8>)>,
}

/// The program's memory for the emulation: plain memory only.
struct ProgramMemory<'a> {
    memory: &'a ProcessMemory,
    addresses: &'a Addresses,
    checked: Option<&'a mut Vec<(u64, Vec<u8>)>>,
}

impl Store for ProgramMemory<'_> {
    fn load(&mut self, address: u64, size: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        let into = bytes.get_mut(..size)?;
        let plain = self.addresses.is_plain(address, size);
        let count = plain.then(|| self.memory.read(address, into).ok())??;
        (count == size).then(|| u64::from_le_bytes(bytes))
    }

    fn store(&mut self, address: u64, size: usize, value: u64) -> Option<()> {
        let bytes = value.to_le_bytes();
        let bytes = bytes.get(..size)?;
        if !self.addresses.is_plain(address, size) {
            return None;
        }
        match &mut self.checked {
            Some(stored) => stored.push((address, bytes.to_vec())),
            None => self.memory.write(address, bytes).then_some(())?,
        }
        Some(())
    }
}

impl Stepper {
    /// Steps `thread`. With `check`, the processor executes every instruction, and the results are
    /// compared.
    pub(crate) fn new(thread: Pid, check: bool) -> Self {
        Self {
            thread,
            check,
            dirty: false,
            stored: Vec::new(),
            analyser: Analyser::new(),
            code: Code::default(),
            traced: HashMap::new(),
            registers: None,
        }
    }

    /// The executed instructions so far.
    pub(crate) fn into_code(self) -> Code {
        self.code
    }

    /// Executes one instruction, or one iteration of a repeated one.
    pub(crate) fn step(
        &mut self,
        tracee: &mut Tracee<'_>,
        addresses: &Addresses,
    ) -> Result<Executed, TraceError> {
        let registers = match self.registers.take() {
            Some(registers) => registers,
            None => tracee.registers(self.thread)?,
        };
        let traced = self.traced(tracee, registers.rip)?;
        let mut accesses = Accesses::new();
        let (mut tail, mut look) = (None, false);
        for touched in traced.touched(&registers) {
            let register = addresses.is_register(touched.address);
            accesses.push(Access {
                address: touched.address,
                bytes: touched.bytes,
                kind: touched.kind,
                memory: match register {
                    true => Memory::Uncached,
                    false => Memory::WriteBack,
                },
            });
            match touched.kind {
                AccessKind::Store if register && addresses.is_tail(touched.address) => {
                    tail = Some(touched.address);
                }
                AccessKind::Load if !register => {
                    look |= addresses.in_rx_ring(touched.address);
                }
                _ => {}
            }
        }
        let emulated = self.emulate(tracee, addresses, &traced, &registers)?;
        if let Some(after) = emulated.filter(|_| !self.check) {
            let step = traced.step(registers.rip, accesses, after.registers.rip);
            self.registers = Some(after.registers);
            self.dirty = true;
            return Ok(Executed { step, tail, look });
        }
        self.flush(tracee, &registers)?;
        match traced.kind {
            Kind::Ordinary => self.execute(tracee, &traced)?,
            Kind::Syscall => self.system_call(tracee, &traced, registers)?,
            Kind::Counter { with_processor } => {
                let len = if with_processor { 3 } else { 2 };
                tracee.give_counter(self.thread, registers, len)?;
            }
        }
        let after = tracee.registers(self.thread)?;
        self.registers = Some(after);
        if let Some(emulated) = &emulated {
            self.compare(tracee, &registers, emulated, &after)?;
        }
        let step = traced.step(registers.rip, accesses, after.rip);
        Ok(Executed { step, tail, look })
    }

    /// Gives the thread the registers of this stepper. The caller may then let the thread run.
    pub(crate) fn finish(&mut self, tracee: &Tracee<'_>) -> Result<(), TraceError> {
        match self.registers.take() {
            Some(registers) => self.flush(tracee, &registers),
            None => Ok(()),
        }
    }

    fn flush(
        &mut self,
        tracee: &Tracee<'_>,
        registers: &user_regs_struct,
    ) -> Result<(), TraceError> {
        match std::mem::take(&mut self.dirty) {
            true => tracee.set_registers(
                self.thread,
                user_regs_struct {
                    // No system call is to be started again.
                    orig_rax: u64::MAX,
                    ..*registers
                },
            ),
            false => Ok(()),
        }
    }

    /// Executes a common instruction in the processor's place. Without effect on memory if the
    /// processor executes it too.
    fn emulate(
        &mut self,
        tracee: &Tracee<'_>,
        addresses: &Addresses,
        traced: &Traced,
        registers: &user_regs_struct,
    ) -> Result<Option<After>, TraceError> {
        if traced.kind != Kind::Ordinary {
            return Ok(None);
        }
        self.stored.clear();
        let mut store = ProgramMemory {
            memory: tracee.memory()?,
            addresses,
            checked: self.check.then_some(&mut self.stored),
        };
        Ok(emulate::execute(&traced.instruction, registers, &mut store))
    }

    /// Compares the emulated registers and stores with those of the processor.
    fn compare(
        &self,
        tracee: &Tracee<'_>,
        before: &user_regs_struct,
        emulated: &After,
        after: &user_regs_struct,
    ) -> Result<(), TraceError> {
        let mut expected = emulated.registers;
        let mut found = *after;
        expected.eflags &= !emulated.undefined;
        found.eflags &= !emulated.undefined;
        expected.orig_rax = found.orig_rax;
        let mut same = expected == found;
        for (address, bytes) in &self.stored {
            let mut there = vec![0; bytes.len()];
            let count = tracee.memory()?.read(*address, &mut there).unwrap_or(0);
            same &= count == bytes.len() && there == *bytes;
        }
        match same {
            true => Ok(()),
            false => Err(TraceError::NoDriver(format!(
                "the tracer executed the instruction at {:#x} otherwise than the processor: \
                 {before:x?} gave {expected:x?} instead of {found:x?}",
                before.rip
            ))),
        }
    }

    /// What matters of the instruction at an address.
    fn traced(&mut self, tracee: &Tracee<'_>, address: u64) -> Result<Rc<Traced>, TraceError> {
        if let Some(traced) = self.traced.get(&address) {
            return Ok(traced.clone());
        }
        let mut bytes = [0; LONGEST_INSTRUCTION];
        let count = tracee.memory()?.read(address, &mut bytes).unwrap_or(0);
        let decoded = self.code.insert(address, &bytes[..count])?;
        let traced = Rc::new(self.analyser.analyse(&decoded.instruction)?);
        self.traced.insert(address, traced.clone());
        Ok(traced)
    }

    fn execute(&self, tracee: &mut Tracee<'_>, traced: &Traced) -> Result<(), TraceError> {
        loop {
            let signal = match tracee.step(self.thread, None)? {
                Stepped::Done => return Ok(()),
                Stepped::Signal(signal) => signal,
            };
            if matches!(signal, Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGSYS) {
                // The bridge's handler carries the instruction out. Its own code is not the driver's.
                return tracee.handle(self.thread, signal, traced.next);
            }
            let address = tracee.registers(self.thread)?.rip;
            tracee.handle(self.thread, signal, address)?;
            if address == traced.next {
                return Ok(());
            }
        }
    }

    /// Executes a system call. Those about time are answered in the kernel's place.
    fn system_call(
        &self,
        tracee: &mut Tracee<'_>,
        traced: &Traced,
        mut registers: user_regs_struct,
    ) -> Result<(), TraceError> {
        let arguments = [registers.rdi, registers.rsi, registers.rdx];
        let Some(call) = ClockCall::of(registers.rax, arguments) else {
            return self.execute(tracee, traced);
        };
        tracee.skip_sleep(call)?;
        registers.rax = tracee.answer_clock(self.thread, call)?;
        registers.rip = traced.next;
        registers.rcx = traced.next;
        registers.r11 = registers.eflags;
        tracee.set_registers(self.thread, registers)
    }
}

/// A stream that grows.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    events: Vec<Event>,
    packets: u64,
    measured_from: usize,
    packets_before: u64,
}

impl Recording {
    pub(crate) fn step(&mut self, step: Step) {
        self.events.push(Event::Step(step));
    }

    /// Adds what the card did in a turn.
    pub(crate) fn turn(&mut self, turn: &Turn, addresses: &Addresses) -> Result<(), TraceError> {
        for (port, kind, iova, bytes) in &turn.dma {
            let address = addresses.of_iova(*port, *iova).ok_or_else(|| {
                let text = format!("the driver does not map what the card uses at IOVA {iova:#x}");
                TraceError::NoDriver(text)
            })?;
            self.events.push(Event::Device(DeviceAccess {
                address,
                bytes: *bytes,
                kind: match kind {
                    'w' => DeviceAccessKind::Write,
                    _ => DeviceAccessKind::Read,
                },
            }));
        }
        self.packets += turn.transmitted;
        Ok(())
    }

    /// Packets since the last call of [`Recording::begin_measured`], or since the start.
    pub(crate) fn packets(&self) -> u64 {
        self.packets - self.packets_before
    }

    /// The measured part begins.
    pub(crate) fn begin_measured(&mut self) {
        self.measured_from = self.events.len();
        self.packets_before = self.packets;
    }

    pub(crate) fn into_stream(self, code: Code) -> Stream {
        Stream {
            code,
            packets: self.packets(),
            events: self.events,
            measured_from: self.measured_from,
            regions: Vec::new(),
        }
    }
}
