//! The emulated machines.

/// A machine with one emulated processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// QEMU's name of the processor.
    pub name: &'static str,
    /// The vendor and the model of the processor, as the kernel shows them.
    pub identity: (&'static str, u32),
    /// Each instruction takes 2^`shift` ns. The processor's clock is 1 GHz, so this is also the number
    /// of cycles.
    pub shift: u32,
    /// Clock of the generic timer, MHz.
    pub timer_mhz: f64,
}

impl Machine {
    /// All machines.
    pub const ALL: [Self; 2] = [
        Self {
            name: "max",
            identity: ("0x00", 0x51),
            shift: 4,
            timer_mhz: 1000.0,
        },
        // All counters but that of cycles have 32 bits, so the kernel adds their overflows up.
        Self {
            name: "cortex-a72",
            identity: ("0x41", 0xd08),
            shift: 6,
            timer_mhz: 62.5,
        },
    ];

    /// The counters of one processor besides its cycle counter.
    pub const COUNTERS: usize = 6;

    /// The cycles of a number of instructions.
    pub fn cycles(&self, instructions: u64) -> u64 {
        instructions << self.shift
    }
}
