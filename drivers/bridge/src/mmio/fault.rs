//! The handler of SIGSEGV: carries out accesses to registers, and passes other faults on.

use iced_x86::{Decoder, DecoderOptions, FastFormatter, Instruction, Register};

use crate::dma::freeze;
use crate::mmio::bars::{self, Place};
use crate::mmio::context::Context;
use crate::mmio::emulate::{emulate, Bus};
use crate::say::warn;
use crate::user_memory;
use crate::valgrind;

/// The code of a fault in memory that does not permit the access (SEGV_ACCERR).
const FORBIDDEN: i32 = 2;
/// Longest instruction in bytes.
const LONGEST: usize = 15;

impl Bus for Place {
    fn read(&mut self, size: usize) -> u64 {
        let mut bytes = [0; 8];
        match self.port.read(self.region, self.offset, &mut bytes[..size]) {
            Ok(()) => u64::from_le_bytes(bytes),
            // A card that does not answer reads as all ones, on PCI Express too.
            Err(_) => u64::MAX >> (64 - 8 * size),
        }
    }

    fn write(&mut self, size: usize, value: u64) {
        let bytes = value.to_le_bytes();
        // PCI Express drops writes to a card that is gone.
        let _ = self.port.write(self.region, self.offset, &bytes[..size]);
    }
}

/// What became of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The program goes on.
    Done,
    /// The fault was an access to a register that the bridge cannot carry out.
    Unknown,
    /// The fault is the program's own.
    NotOurs,
}

/// Carries out the access that caused a fault.
///
/// # Safety
///
/// The signal's information and context must be the kernel's.
pub(crate) unsafe fn handle(info: &libc::siginfo_t, context: &mut libc::ucontext_t) -> Outcome {
    // A signal that a process sent has a code of 0 or less, and no address.
    if info.si_code <= 0 {
        return Outcome::NotOurs;
    }
    // SAFETY: a fault has an address.
    let address = unsafe { info.si_addr() } as usize;
    let Some(mut place) = bars::find(address) else {
        let again = info.si_code == FORBIDDEN && freeze::wait_for(address);
        return if again {
            Outcome::Done
        } else {
            Outcome::NotOurs
        };
    };
    let mut context = Context(&mut context.uc_mcontext.gregs);
    let (at, flags) = (context.instruction(), context.flags());
    let mut code = [0; LONGEST];
    // The instruction may end just before memory without pages.
    let room = (4096 - at as usize % 4096).min(LONGEST);
    let read = user_memory::read_bytes(at, &mut code)
        .or_else(|_| user_memory::read_bytes(at, &mut code[..room]));
    let mut decoder = Decoder::with_ip(64, &code, at, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if read.is_ok() && !instruction.is_invalid() && emulate(&instruction, &mut context, &mut place)
    {
        if context.flags() != flags && valgrind::runs_program() {
            give_flags_back(&mut context);
        }
        return Outcome::Done;
    }
    warn(format_args!(
        "{}: region {}, register {:#x}: the bridge does not carry out `{}` at {at:#x}. \
         Access registers by volatile loads and stores of 1 to 8 bytes, \
         build this code with -march=x86-64 (rustc: -C target-cpu=x86-64), \
         and keep the compiler from joining a load with a sum or a comparison (rustc: std::hint::black_box)",
        place.port.address(),
        place.region,
        place.offset,
        text(&instruction)
    ));
    Outcome::Unknown
}

/// Makes sure that the program sees the flags in the context.
fn give_flags_back(context: &mut Context<'_>) {
    let stack = context.get(Register::RSP);
    let (place, instruction) = valgrind::load_flags(context.flags(), stack, context.instruction());
    context.set(Register::RSP, place);
    context.set_instruction(instruction);
}

/// An instruction in Intel's syntax.
fn text(instruction: &Instruction) -> String {
    let mut text = String::new();
    FastFormatter::new().format(instruction, &mut text);
    text
}

/// Fills the tables of decoder and formatter: the handler's stack may be small.
pub(crate) fn prepare() {
    text(&Decoder::with_ip(64, &[0x90], 0, DecoderOptions::NONE).decode());
}
