//! The SFP+ module and the EEPROM, bit by bit over their wires.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::Module;
use support::{read_eeprom, Bench, Client};

/// The master of the two-wire bus to the module.
struct Master {
    client: Client,
    _bench: Bench,
}

impl Master {
    fn of(module: Module) -> Self {
        let bench = Bench::with(|port| port.module = module);
        let client = bench.client(0);
        let _bench = bench;
        Self { client, _bench }
    }

    fn drive(&mut self, clock: bool, data: bool) -> bool {
        let level = |high, wire| if high { wire } else { 0 };
        let value = level(clock, r::I2CCTL_CLK_OUT) | level(data, r::I2CCTL_DATA_OUT);
        self.client.set(r::I2CCTL, value);
        let value = self.client.get(r::I2CCTL);
        assert_eq!(value & r::I2CCTL_CLK_IN != 0, clock);
        value & r::I2CCTL_DATA_IN != 0
    }

    /// Returns the level of the data wire while the clock is up.
    fn bit(&mut self, bit: bool) -> bool {
        self.drive(false, bit);
        let level = self.drive(true, bit);
        self.drive(false, bit);
        level
    }

    fn start(&mut self) {
        self.drive(false, true);
        self.drive(true, true);
        self.drive(true, false);
        self.drive(false, false);
    }

    fn stop(&mut self) {
        self.drive(false, false);
        self.drive(true, false);
        self.drive(true, true);
    }

    /// Whether the module acknowledges the byte.
    fn send(&mut self, byte: u8) -> bool {
        for n in 0..8 {
            self.bit(byte << n & 0x80 != 0);
        }
        !self.bit(true)
    }

    fn receive(&mut self, more: bool) -> u8 {
        let byte = (0..8).fold(0, |byte, _| byte << 1 | u8::from(self.bit(true)));
        self.bit(!more);
        byte
    }

    fn read(&mut self, device: u8, offset: u8, count: usize) -> Option<Vec<u8>> {
        self.start();
        let there = self.send(device << 1) && self.send(offset);
        self.start();
        let there = there && self.send(device << 1 | 1);
        let bytes = there.then(|| (1..=count).map(|n| self.receive(n < count)).collect());
        self.stop();
        bytes
    }
}

#[test]
fn the_module_is_read_in_one_transfer_and_byte_by_byte() {
    for (module, technology, compliance) in [(Module::Dac, 0x04, 0), (Module::Sr, 0, 0x10)] {
        let mut master = Master::of(module);
        let identity = master.read(0x50, 0, 256).unwrap();
        assert_eq!((identity[8], identity[3]), (technology, compliance));
        assert_eq!(&identity[20..36], b"TRIPTYCH        ");
        for range in [0..63, 64..95] {
            let sum = identity[range.clone()]
                .iter()
                .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            assert_eq!(sum, identity[range.end]);
        }
        for offset in [0, 8, 95, 255] {
            let byte = master.read(0x50, offset, 1);
            assert_eq!(byte, Some(vec![identity[usize::from(offset)]]));
        }
    }
}

#[test]
fn only_present_memories_answer() {
    assert_eq!(Master::of(Module::None).read(0x50, 0, 1), None);
    assert_eq!(Master::of(Module::Dac).read(0x51, 96, 2), None);
    let mut master = Master::of(Module::Sr);
    let degrees = master.read(0x51, 96, 2);
    assert_eq!(degrees, Some(vec![35, 0]));
    assert_eq!(master.read(0x20, 0, 1), None);
    assert_eq!(master.read(0x50, 0, 1), Some(vec![3]), "the bus is free");
}

#[test]
fn writing_changes_nothing_and_a_transfer_that_breaks_off_does_not_block_the_bus() {
    let mut master = Master::of(Module::Sr);
    master.start();
    assert!(master.send(0xa0) && master.send(0) && master.send(0x55));
    master.stop();
    for cut in 0..40 {
        master.start();
        for nth in 0..cut {
            master.bit(0xa0a1_u32 >> (nth % 16) & 1 == 1);
        }
        // Drivers clear the bus this way.
        master.start();
        for _ in 0..9 {
            master.bit(true);
        }
        master.start();
        master.stop();
        let read = master.read(0x50, 0, 3);
        assert_eq!(read, Some(vec![3, 4, 7]), "after {cut} bits");
    }
}

/// Clocks a bit into the EEPROM, like DPDK's driver. Returns the level of the EEPROM's data wire.
fn clock(client: &mut Client, data: bool) -> bool {
    let data = if data { r::EEC_DI } else { 0 };
    let wires = r::EEC_SK | r::EEC_CS | r::EEC_DI;
    client.change(r::EEC, r::EEC_CS | data, wires);
    client.change(r::EEC, r::EEC_SK, 0);
    let out = client.get(r::EEC) & r::EEC_DO != 0;
    client.change(r::EEC, 0, r::EEC_SK);
    out
}

/// Sends a command of so many bits, and takes an answer.
fn transfer(client: &mut Client, command: u32, sent: u32, taken: u32) -> u32 {
    client.change(r::EEC, 0, r::EEC_CS);
    for nth in (0..sent).rev() {
        clock(client, command >> nth & 1 == 1);
    }
    (0..taken).fold(0, |value, _| value << 1 | u32::from(clock(client, false)))
}

#[test]
fn the_eeprom_is_read_over_its_wires() {
    const READ: u32 = 0x03_0000;
    const READ_STATUS: u32 = 0x05;
    let bench = Bench::with(|_| {});
    let mut client = bench.client(0);
    client.change(r::EEC, r::EEC_REQ, 0);
    let eec = client.get(r::EEC);
    assert_ne!(eec & r::EEC_GNT, 0);
    assert_ne!(eec & r::EEC_ADDR_SIZE, 0, "addresses have 16 bits");
    for address in [0, 0x0f, 0x15, 0x3f, 0x81, 0xffe] {
        // The wires carry the low byte of a word first.
        let pair = transfer(&mut client, READ | (address * 2), 24, 32);
        let words = [pair >> 16, pair & 0xffff].map(|word| (word as u16).swap_bytes());
        let by_eerd = [0, 1].map(|nth| read_eeprom(&mut client, address + nth));
        assert_eq!(words.map(Some), by_eerd, "{address:#x}");
    }
    assert_eq!(transfer(&mut client, READ_STATUS, 8, 8), 0, "ready");
}
