//! The SFP+ module in the port's cage, and the two-wire bus to it.
//!
//! A module has two memories of 256 bytes, defined by SFF-8472. The memory at bus address 0x50
//! identifies the module. The memory at 0x51 has the measurements of an optical module, such as
//! temperature and power. Drivers drive the wires bit by bit, through I2CCTL.

use crate::config::Module;

/// Bytes of a memory.
const MEMORY_LEN: usize = 256;
/// The bus address of the memory that identifies the module.
const IDENTITY: u8 = 0x50;
/// The bus address of the memory with measurements.
const DIAGNOSTICS: u8 = 0x51;

/// The memories of a module.
#[derive(Clone, Debug)]
struct Memories {
    identity: [u8; MEMORY_LEN],
    diagnostics: Option<[u8; MEMORY_LEN]>,
}

/// Copies text to a field and fills the rest with blanks.
fn put_text(memory: &mut [u8], at: usize, len: usize, text: &str) {
    let bytes = text.bytes().chain(std::iter::repeat(b' '));
    for (place, byte) in memory[at..at + len].iter_mut().zip(bytes) {
        *place = byte;
    }
}

/// The low byte of a sum.
fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

impl Memories {
    fn of(module: Module, port: usize) -> Option<Self> {
        let mut identity = [0; MEMORY_LEN];
        identity[0] = 0x03; // SFP, SFP+
        identity[1] = 0x04; // identified by the two-wire bus
        identity[12] = 103; // 10.3 Gbit/s
        put_text(&mut identity, 20, 16, "TRIPTYCH");
        put_text(&mut identity, 56, 4, "1");
        put_text(&mut identity, 68, 16, &format!("SOFT{port:04}"));
        put_text(&mut identity, 84, 8, "260101");
        let diagnostics = match module {
            Module::None => return None,
            Module::Dac => {
                identity[2] = 0x21; // copper pigtail
                identity[8] = 0x04; // passive cable
                identity[18] = 3; // metres
                put_text(&mut identity, 40, 16, "DAC-10G-3M");
                identity[60] = 0x01; // complies with SFF-8431, appendix E
                None
            }
            Module::Sr => {
                identity[2] = 0x07; // LC
                identity[3] = 0x10; // 10GBASE-SR
                identity[11] = 0x06; // 64B/66B
                identity[16] = 8; // OM2, 10 m each
                identity[17] = 3; // OM1
                identity[19] = 30; // OM3
                put_text(&mut identity, 40, 16, "SR-10G-850");
                identity[60..62].copy_from_slice(&850_u16.to_be_bytes()); // nm
                identity[65] = 0x1a; // TX_DISABLE, TX_FAULT, RX_LOS
                identity[92] = 0x68; // diagnostics, calibrated, average power
                identity[94] = 0x05; // SFF-8472 revision 11.0
                Some(diagnostics())
            }
        };
        identity[63] = checksum(&identity[..63]);
        identity[95] = checksum(&identity[64..95]);
        Some(Self {
            identity,
            diagnostics,
        })
    }

    fn at(&self, address: u8) -> Option<&[u8; MEMORY_LEN]> {
        match address {
            IDENTITY => Some(&self.identity),
            DIAGNOSTICS => self.diagnostics.as_ref(),
            _ => None,
        }
    }
}

/// The measurements of an optical module. They are constants here.
fn diagnostics() -> [u8; MEMORY_LEN] {
    let mut memory = [0; MEMORY_LEN];
    // High alarm, low alarm, high warning, low warning of: temperature (1/256 degree; low: -13, -8), voltage
    // (100 uV), bias current (2 uA), transmitted and received power (0.1 uW). Then the values.
    let limits: [[u16; 4]; 5] = [
        [78 << 8, 0xf300, 73 << 8, 0xf800],
        [37_000, 29_000, 36_000, 30_000],
        [6_500, 500, 6_000, 1_000],
        [15_849, 1_000, 10_000, 1_585],
        [15_849, 251, 10_000, 501],
    ];
    for (place, value) in memory.chunks_exact_mut(2).zip(limits.iter().flatten()) {
        place.copy_from_slice(&value.to_be_bytes());
    }
    // Calibration factors of 1: the module calibrates its values itself.
    memory[68..72].copy_from_slice(&1.0_f32.to_be_bytes());
    for slope in [76, 80, 84, 88] {
        memory[slope] = 1;
    }
    memory[95] = checksum(&memory[..95]);
    let values: [u16; 5] = [35 << 8, 33_000, 3_000, 5_000, 5_000];
    for (place, value) in memory[96..].chunks_exact_mut(2).zip(values) {
        place.copy_from_slice(&value.to_be_bytes());
    }
    memory
}

/// The use of the next bit on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The module waits for a start condition.
    Idle,
    /// The module takes in a bus address.
    Address,
    /// The module takes in an offset in its memory.
    Offset,
    /// The module takes in bytes to write, which change nothing.
    Write,
    /// The module sends bytes.
    Read,
}

/// The bus and the module at its end.
#[derive(Clone, Debug)]
pub(crate) struct SfpBus {
    module: Module,
    memories: Option<Memories>,
    state: State,
    /// The memory and the offset of the current transfer. The next transfer starts from there.
    address: u8,
    offset: u8,
    /// The byte under transfer, and the number of its bits so far.
    shift: u8,
    bits: u8,
    /// The levels that the master last drove.
    clock: bool,
    data: bool,
    /// The module pulls the data wire down.
    pulls: bool,
    /// The module acknowledges a byte: the ninth bit of an incoming byte.
    acknowledges: bool,
}

impl SfpBus {
    pub(crate) fn new(module: Module, port: usize) -> Self {
        Self {
            module,
            memories: Memories::of(module, port),
            state: State::Idle,
            address: 0,
            offset: 0,
            shift: 0,
            bits: 0,
            clock: true,
            data: true,
            pulls: false,
            acknowledges: false,
        }
    }

    /// The module in the cage.
    pub(crate) fn module(&self) -> Module {
        self.module
    }

    /// The master drives the wires to these levels. A wire is high unless a side pulls it down.
    /// Returns the level of the data wire. Only the master drives the clock.
    pub(crate) fn drive(&mut self, clock: bool, data: bool) -> bool {
        let (clock_was, data_was) = (self.clock, self.data);
        (self.clock, self.data) = (clock, data);
        if self.memories.is_none() {
            return data;
        }
        match (clock_was, clock) {
            (true, true) if data_was && !data && !self.pulls => self.expect(State::Address),
            (true, true) if !data_was && data && !self.pulls => self.expect(State::Idle),
            (false, true) => self.rise(),
            (true, false) => self.fall(),
            _ => {}
        }
        self.level()
    }

    fn memory_at(&self, address: u8) -> Option<&[u8; MEMORY_LEN]> {
        self.memories.as_ref()?.at(address)
    }

    /// The level of the data wire.
    fn level(&self) -> bool {
        self.data && !self.pulls
    }

    fn expect(&mut self, state: State) {
        self.state = state;
        (self.shift, self.bits) = (0, 0);
        (self.pulls, self.acknowledges) = (false, false);
    }

    /// The clock goes up: the level of the data wire is the next bit.
    fn rise(&mut self) {
        match self.state {
            // After a byte, the master pulls the wire down if it wants another one.
            State::Read if self.bits == 9 && self.level() => self.expect(State::Idle),
            State::Idle | State::Read => {}
            _ if self.bits < 8 => {
                self.shift = self.shift << 1 | u8::from(self.level());
                self.bits += 1;
            }
            _ => {}
        }
    }

    /// The clock goes down: the data wire may change.
    fn fall(&mut self) {
        match self.state {
            State::Idle => {}
            State::Read => match self.bits {
                8 => {
                    self.pulls = false;
                    self.bits = 9;
                }
                9 => self.send_byte(),
                _ => {
                    self.pulls = self.shift >> (7 - self.bits) & 1 == 0;
                    self.bits += 1;
                }
            },
            _ if self.acknowledges => {
                self.pulls = false;
                self.acknowledges = false;
                (self.shift, self.bits) = (0, 0);
            }
            _ if self.bits == 8 => self.take(),
            _ => {}
        }
    }

    /// A byte has come in.
    fn take(&mut self) {
        let known = self.memory_at(self.shift >> 1).is_some();
        match self.state {
            State::Address if !known => return self.expect(State::Idle),
            State::Address => {
                self.address = self.shift >> 1;
                if self.shift & 1 == 1 {
                    // The acknowledgement is the ninth bit. The next bit is the first of a byte.
                    self.pulls = true;
                    self.state = State::Read;
                    self.bits = 9;
                    return;
                }
                self.state = State::Offset;
            }
            State::Offset => {
                self.offset = self.shift;
                self.state = State::Write;
            }
            _ => self.offset = self.offset.wrapping_add(1),
        }
        self.pulls = true;
        self.acknowledges = true;
    }

    /// Starts to send the next byte.
    fn send_byte(&mut self) {
        let memory = self.memory_at(self.address);
        self.shift = memory.map_or(0xff, |memory| memory[usize::from(self.offset)]);
        self.offset = self.offset.wrapping_add(1);
        self.pulls = self.shift >> 7 == 0;
        self.bits = 1;
    }
}
