//! Steps a thread of the driver through its code, and records what it does.

use std::collections::HashMap;
use std::rc::Rc;

use caches::stream::{
    Access, Accesses, Code, DeviceAccess, DeviceAccessKind, Event, Memory, Step, Stream,
};
use libc::user_regs_struct;
use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::addresses::Addresses;
use crate::card::Turn;
use crate::decode::{Analyser, Traced};
use crate::emulate::{self, Effect};
use crate::error::TraceError;
use crate::target;
use crate::tracee::Tracee;

/// Steps one thread.
pub(crate) struct Stepper {
    thread: Pid,
    analyser: Analyser,
    code: Code,
    traced: HashMap<u64, Rc<Traced>>,
    /// The registers before the next instruction.
    registers: user_regs_struct,
    /// Whether the thread does not have these registers yet.
    ahead: bool,
    check: bool,
}

impl Stepper {
    /// Steps `thread`. With `check`, the processor executes every instruction, and the results are
    /// compared.
    pub(crate) fn new(thread: Pid, tracee: &Tracee<'_>, check: bool) -> Result<Self, TraceError> {
        Ok(Self {
            thread,
            analyser: Analyser::new(),
            code: Code::default(),
            traced: HashMap::new(),
            registers: tracee.registers(thread)?,
            ahead: false,
            check,
        })
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
    ) -> Result<Step, TraceError> {
        let address = self.registers.rip;
        let traced = self.traced(address)?;
        let accesses = traced.touched(&self.registers).map(|touched| Access {
            address: touched.address,
            bytes: touched.bytes,
            kind: touched.kind,
            memory: match addresses.is_register(touched.address) {
                true => Memory::Uncached,
                false => Memory::WriteBack,
            },
        });
        let accesses: Accesses = accesses.collect();
        let answer = match traced.system_call {
            true => tracee.answer_call(self.thread, self.registers.rax, &self.registers)?,
            false => None,
        };
        match answer {
            Some(answer) => {
                let registers = &mut self.registers;
                (registers.rax, registers.r11) = (answer, registers.eflags);
                (registers.rcx, registers.rip) = (traced.next, traced.next);
                self.ahead = true;
            }
            None if self.emulate(tracee, &traced)? => {}
            None => {
                self.give_registers(tracee)?;
                self.execute(tracee, &traced)?;
                self.registers = tracee.registers(self.thread)?;
            }
        }
        Ok(traced.step(address, accesses, self.registers.rip))
    }

    /// What matters of the instruction at an address.
    fn traced(&mut self, address: u64) -> Result<Rc<Traced>, TraceError> {
        if let Some(traced) = self.traced.get(&address) {
            return Ok(traced.clone());
        }
        let decoded = self
            .code
            .insert(address, &target::code(self.thread, address));
        let decoded = decoded.map_err(|error| TraceError::Unexpected(error.to_string()))?;
        let traced = Rc::new(self.analyser.analyse(&decoded.instruction)?);
        self.traced.insert(address, traced.clone());
        Ok(traced)
    }

    /// Executes a common instruction in the processor's place. Returns false if the processor must do it.
    fn emulate(&mut self, tracee: &mut Tracee<'_>, traced: &Traced) -> Result<bool, TraceError> {
        let load = |address, size| target::load(self.thread, address, size);
        let effect = emulate::execute(&traced.instruction, &self.registers, load);
        let Some(effect) = effect else {
            return Ok(false);
        };
        if self.check {
            self.compare(tracee, traced, &effect)?;
            return Ok(true);
        }
        let done = effect.stored.is_none_or(|stored| {
            target::store(self.thread, stored.address, stored.size, stored.value)
        });
        if done {
            self.registers = effect.registers;
            self.ahead = true;
        }
        Ok(done)
    }

    /// Lets the processor execute an instruction, and compares registers and stores with `effect`.
    fn compare(
        &mut self,
        tracee: &mut Tracee<'_>,
        traced: &Traced,
        effect: &Effect,
    ) -> Result<(), TraceError> {
        self.give_registers(tracee)?;
        self.execute(tracee, traced)?;
        self.registers = tracee.registers(self.thread)?;
        let defined = |registers: &user_regs_struct| user_regs_struct {
            eflags: registers.eflags & !effect.undefined,
            orig_rax: 0,
            ..*registers
        };
        let (expected, found) = (defined(&effect.registers), defined(&self.registers));
        let same = effect.stored.is_none_or(|stored| {
            target::load(self.thread, stored.address, stored.size) == Some(stored.value)
        });
        match same && expected == found {
            true => Ok(()),
            false => Err(TraceError::Unexpected(format!(
                "the tracer executes the instruction at {:#x} otherwise than the processor: \
                 {expected:x?} and {:x?} instead of {found:x?}",
                traced.instruction.ip(),
                effect.stored,
            ))),
        }
    }

    /// Gives the thread the registers that it should have.
    fn give_registers(&mut self, tracee: &Tracee<'_>) -> Result<(), TraceError> {
        if !std::mem::take(&mut self.ahead) {
            return Ok(());
        }
        // The kernel must not start the last system call again.
        self.registers.orig_rax = u64::MAX;
        tracee.set_registers(self.thread, self.registers)
    }

    fn execute(&self, tracee: &mut Tracee<'_>, traced: &Traced) -> Result<(), TraceError> {
        while let Some(signal) = tracee.step(self.thread)? {
            if signal == Signal::SIGSEGV && tracee.answer_counter(self.thread)? {
                return Ok(());
            }
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
        Ok(())
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
                TraceError::Unexpected(text)
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
