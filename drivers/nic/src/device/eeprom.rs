//! The EEPROM: its image, and its wires on the 82599.

use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::traffic::frame::station_address;

/// Words in the image, as a power of 2.
const LOG_WORDS: u32 = 12;
const WORDS: usize = 1 << LOG_WORDS;
/// The word that makes the checksum right.
const CHECKSUM_WORD: usize = 0x3f;
/// The sum of words 0 to 0x3f and of the sections that words 3 to 0x0e point to. The sections here
/// add up to 0, so the sum is also right for a driver that omits them.
const CHECKSUM: u16 = 0xbaba;
const PCI_SECTION: usize = 0x80;
const CORE_SECTION: usize = 0x90;

/// The image, without the sections that depend on the port and the checksum.
#[rustfmt::skip] // a row a line
const IMAGE: &[(usize, &[u16])] = &[
    (0x07, &[PCI_SECTION as u16]), // points to the configuration of the PCI function
    (0x09, &[CORE_SECTION as u16]), // points to the section with the MAC address, in three words
    (0x0f, &[0x100]), // points to the firmware module
    (0x104, &[0x120]), // in the firmware module: points to the pass-through patch
    // In the patch: the firmware's version. Drivers treat versions up to 5 as pre-production cards.
    (0x127, &[6]),
    // The part number. A marker in the word says that the next word points to the number as text.
    (0x15, &[0xfafa, 0xa0]),
    // The length includes its own word: SOFT82-599.
    (0xa0, &[6, 0x534f, 0x4654, 0x3832, 0x2d35, 0x3939]),
    (0x29, &[0x0100]), // the image's version
    (0x2b, &[0xc0]), // points to the list of settings for the kinds of SFP+ modules
    (0x2c, &[1]), // capabilities: the card accepts modules of every vendor
    (0x2d, &[0x0599, 0x8000]), // the image's tracking number
    // Kinds 3 to 10: cables, optics, active cables and 1 Gbit/s copper, each for port 0 and 1. The list
    // of analogue settings at 0xf0 is empty, because the card has no analogue part.
    (0xc0, &[
        0, 3, 0xf0, 4, 0xf0, 5, 0xf0, 6, 0xf0, 7, 0xf0, 8, 0xf0, 9, 0xf0, 10, 0xf0, 0xffff,
    ]),
    (0xf1, &[0xffff]),
];

/// The EEPROM of one port.
#[derive(Clone, Debug)]
pub(crate) struct Eeprom {
    words: Vec<u16>,
    wires: Wires,
}

impl Eeprom {
    pub(crate) fn new(port: usize, device_id: u16) -> Self {
        let mut words = vec![0; WORDS];
        for (at, row) in IMAGE {
            words[*at..][..row.len()].copy_from_slice(row);
        }
        put_section(&mut words[PCI_SECTION..], &[device_id, 0x8086]);
        // The X550's checksum takes the eight words from the section's start on: its length, the
        // words above that add up to 0, and this one.
        words[PCI_SECTION + 7] = 0_u16.wrapping_sub(words[PCI_SECTION]);
        let [a, b, c, d, e, f] = station_address(port);
        let address = [[a, b], [c, d], [e, f]].map(u16::from_le_bytes);
        put_section(&mut words[CORE_SECTION..], &address);
        words[CHECKSUM_WORD] = CHECKSUM.wrapping_sub(sum(&words[..CHECKSUM_WORD]));
        Self {
            words,
            wires: Wires::default(),
        }
    }

    /// Sets the registers that the card loads from the EEPROM after a reset: the MAC address and
    /// the EEPROM's description.
    pub(crate) fn load(&self, registers: &RegisterFile) {
        let (low, high) = self.mac_address();
        registers.set(r::RAL(0), low);
        registers.set(r::RAH(0), high | r::RAH_AV);
        let description = r::EEC_ADDR_SIZE | r::field(r::EEC_SIZE, LOG_WORDS - 6);
        registers.change(r::EEC, description, 0);
    }

    /// EERD.START reads a word, at once.
    pub(crate) fn eerd_written(&self, registers: &RegisterFile, value: u32) {
        if value & r::EERD_START == 0 {
            return;
        }
        let word = u32::from(self.word(r::field_get(r::EERD_ADDR, value)));
        let data = r::field(r::EERD_DATA, word);
        registers.set(r::EERD, value & r::EERD_ADDR | r::EERD_DONE | data);
    }

    /// EEC drives the EEPROM's wires, which the driver gets as soon as it asks for them.
    pub(crate) fn eec_written(&mut self, registers: &RegisterFile, value: u32) {
        let granted = value & r::EEC_REQ != 0;
        let level = |wire| granted && value & wire != 0;
        let out = self.drive(level(r::EEC_CS), level(r::EEC_SK), level(r::EEC_DI));
        registers.put(r::EEC, r::EEC_GNT, granted);
        registers.put(r::EEC, r::EEC_DO, out);
    }

    /// A word. Addresses past the end wrap round: the EEPROM has no more address lines.
    pub(crate) fn word(&self, address: u32) -> u16 {
        self.words[address as usize % WORDS]
    }

    /// The MAC address as values for RAL(0) and RAH(0): the first byte is the lowest.
    fn mac_address(&self) -> (u32, u32) {
        let word = |at| u32::from(self.words[CORE_SECTION + 1 + at]);
        (word(0) | word(1) << 16, word(2))
    }

    /// Software drives the wires to these levels. Returns the level of the EEPROM's data wire.
    fn drive(&mut self, select: bool, clock: bool, data: bool) -> bool {
        let mut wires = self.wires;
        wires.drive(select, clock, data, |address| self.word(address));
        self.wires = wires;
        wires.out
    }
}

fn sum(words: &[u16]) -> u16 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Writes a section: its length, the words, and one more word that makes them add up to 0.
fn put_section(place: &mut [u16], words: &[u16]) {
    let balance = 0_u16.wrapping_sub(sum(words));
    let section = [words.len() as u16 + 1].into_iter();
    let section = section.chain(words.iter().copied()).chain([balance]);
    for (place, word) in place.iter_mut().zip(section) {
        *place = word;
    }
}

/// The EEPROM's end of the four SPI wires. Commands have 8 bits, byte addresses 16 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Wires {
    selected: bool,
    clock: bool,
    /// The number of bits since the selection, and the last 32 of them.
    taken: u32,
    shift: u32,
    /// What the EEPROM sends.
    output: Option<Output>,
    out: bool,
}

#[derive(Clone, Copy, Debug)]
enum Output {
    /// The bytes from this address on. `bits` counts the bits that have gone out.
    Memory { address: u32, bits: u32 },
    /// The status register. It is 0: the EEPROM is ready and nothing is protected.
    Status,
}

impl Wires {
    const READ: u32 = 0x03;
    const READ_STATUS: u32 = 0x05;

    fn drive(&mut self, select: bool, clock: bool, data: bool, word: impl Fn(u32) -> u16) {
        let (rises, falls) = (clock && !self.clock, !clock && self.clock);
        self.clock = clock;
        if !select || !self.selected {
            *self = Self {
                selected: select,
                clock,
                ..Self::default()
            };
            return;
        }
        if rises && self.output.is_none() {
            self.shift = self.shift << 1 | u32::from(data);
            self.taken += 1;
            self.output = match self.taken {
                8 if self.shift == Self::READ_STATUS => Some(Output::Status),
                24 if self.shift >> 16 == Self::READ => Some(Output::Memory {
                    address: self.shift & 0xffff,
                    bits: 0,
                }),
                _ => None,
            };
        }
        if falls {
            self.out = match &mut self.output {
                Some(Output::Memory { address, bits }) => {
                    let place = *address + *bits / 8;
                    let byte = word(place / 2).to_le_bytes()[place as usize % 2];
                    let bit = byte >> (7 - *bits % 8) & 1 == 1;
                    *bits = bits.wrapping_add(1);
                    bit
                }
                _ => false,
            };
        }
    }
}
