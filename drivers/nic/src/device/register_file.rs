//! The registers of a port: their places, and the effect of reads and writes on their bits.
//!
//! The rules come from the table [`REGISTERS`], and thus from the register map that the drivers also
//! use. The effects beyond a register's own bits, such as a reset or the start of a queue, are in
//! [`crate::device::register_access`].

use std::io;
use std::sync::atomic::Ordering;

use crate::device::families::Family;
use crate::device::registers::{Access, Register, RegisterId, REGISTERS};
use crate::memory::shared::RegisterMemory;

/// Bytes of the memory BAR. It has registers only below [`crate::device::registers::BAR0_SIZE`].
pub(crate) const BAR0_LEN: u32 = 512 << 10;
/// Page size of the shared areas.
pub(crate) const PAGE: u32 = 4096;
/// The pages that a driver may map in shared mode: those of the receive and the transmit queues.
pub(crate) const SHARED_PAGES: [u32; 2] = [0x1000, 0x6000];

/// The bits of a register by their behaviour.
#[derive(Clone, Copy, Debug)]
struct Rules {
    writable: u32,
    clear_on_read: u32,
    one_clears: u32,
    one_sets: u32,
    self_clearing: u32,
    unreadable: u32,
    set_on_read: u32,
}

impl Rules {
    /// The rules of a register, without the bits that the family reserves.
    fn of(register: &Register, reserved: u32) -> Self {
        let bits = |access| register.bits_with(access) & !reserved;
        let both = bits(Access::ReadClearWriteOneClear);
        Self {
            writable: bits(Access::ReadWrite) | bits(Access::WriteOnly) | bits(Access::ReadSet),
            clear_on_read: bits(Access::ReadClear) | both,
            one_clears: bits(Access::WriteOneClear) | both,
            one_sets: bits(Access::WriteOneSet),
            self_clearing: bits(Access::SelfClearing),
            unreadable: bits(Access::WriteOnly) | reserved,
            set_on_read: bits(Access::ReadSet),
        }
    }
}

/// One entry of one register.
#[derive(Clone, Copy, Debug)]
struct Slot {
    register: &'static Register,
    entry: u32,
    /// The register's own address, not an alias.
    address: u32,
    /// The address of the entry that a write changes: its own, or that of the register whose bits
    /// it sets or clears.
    target: u32,
    /// Its value after a reset.
    reset: u32,
    rules: Rules,
}

/// The register at some address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    /// Which register.
    pub id: RegisterId,
    /// Index in the array; `None` if the register is not an array.
    pub entry: Option<u32>,
    /// The register's own address, also if the driver used an alias.
    pub address: u32,
}

impl std::fmt::Display for Located {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "{}({entry})", self.id),
            None => f.write_str(self.id.name()),
        }
    }
}

/// The registers of one port.
#[derive(Debug)]
pub(crate) struct RegisterFile {
    memory: RegisterMemory,
    slots: Vec<Slot>,
    /// By address / 4: the slot's index + 1, or 0 without a register.
    index: Vec<u16>,
}

impl RegisterFile {
    pub(crate) fn new(port: usize, family: &Family) -> io::Result<Self> {
        let memory =
            RegisterMemory::new(&format!("82599 port {port} registers"), BAR0_LEN as usize)?;
        let mut slots = Vec::new();
        let mut index = vec![0; BAR0_LEN as usize / 4];
        for register in REGISTERS {
            let reserved = family.reserved_bits(register.id);
            let rules = Rules::of(register, reserved);
            let target = register.acts_on.map(RegisterId::register);
            for range in register.ranges.iter().chain(register.aliases) {
                for nth in 0..range.count {
                    let entry = range.first + nth;
                    let found_at = range.offset + range.stride * nth;
                    let Some(address) = register.address(entry) else {
                        continue;
                    };
                    let target = target
                        .and_then(|target| target.address(entry))
                        .unwrap_or(address);
                    slots.push(Slot {
                        register,
                        entry,
                        address,
                        target,
                        reset: family
                            .reset_of(register.id)
                            .unwrap_or(register.reset_of(entry))
                            & !reserved,
                        rules,
                    });
                    if let Some(place) = index.get_mut(found_at as usize / 4) {
                        *place = slots.len() as u16;
                    }
                }
            }
        }
        let file = Self {
            memory,
            slots,
            index,
        };
        file.reset(false);
        Ok(file)
    }

    /// Gives every register its reset value, but perhaps not the counters.
    pub(crate) fn reset(&self, keep_counters: bool) {
        let own = |slot: &&Slot| slot.target == slot.address;
        for slot in self.slots.iter().filter(own) {
            if !(keep_counters && self.is_counter(slot.address)) {
                self.set(slot.address, slot.reset);
            }
        }
    }

    /// The memory of the registers, for sharing.
    pub(crate) fn memory(&self) -> &RegisterMemory {
        &self.memory
    }

    fn slot(&self, address: u32) -> Option<&Slot> {
        let number = *self.index.get(address as usize / 4)?;
        self.slots.get(usize::from(number).checked_sub(1)?)
    }

    /// The register at an address.
    pub(crate) fn locate(&self, address: u32) -> Option<Located> {
        self.slot(address).map(|slot| Located {
            id: slot.register.id,
            entry: (slot.register.count > 1).then_some(slot.entry),
            address: slot.address,
        })
    }

    /// Whether writes change no bit of the register.
    pub(crate) fn is_read_only(&self, address: u32) -> bool {
        self.slot(address).is_some_and(|Slot { rules, .. }| {
            rules.writable | rules.one_clears | rules.one_sets | rules.self_clearing == 0
        })
    }

    /// Whether the register is a counter, which a driver's read clears.
    pub(crate) fn is_counter(&self, address: u32) -> bool {
        self.slot(address)
            .is_some_and(|Slot { rules, .. }| rules.clear_on_read != 0 && rules.one_clears == 0)
    }

    /// The value, without the effects of a driver's read. The address must not be an alias.
    #[inline(always)]
    pub(crate) fn get(&self, address: u32) -> u32 {
        self.memory.word(address).load(Ordering::Acquire)
    }

    /// Sets the value, without the effects and limits of a driver's write. The address must not be
    /// an alias.
    #[inline(always)]
    pub(crate) fn set(&self, address: u32, value: u32) {
        self.memory.word(address).store(value, Ordering::Release);
    }

    /// Sets and clears some bits.
    pub(crate) fn change(&self, address: u32, set: u32, clear: u32) {
        self.set(address, self.get(address) & !clear | set);
    }

    /// Clears some bits, and keeps what a driver writes to the others of a shared page meanwhile.
    pub(crate) fn clear(&self, address: u32, bits: u32) {
        let word = self.memory.word(address);
        word.fetch_and(!bits, Ordering::AcqRel);
    }

    /// Sets some bits if `on`, else clears them.
    pub(crate) fn put(&self, address: u32, bits: u32, on: bool) {
        if on {
            self.change(address, bits, 0);
        } else {
            self.change(address, 0, bits);
        }
    }

    /// Adds to a statistics register, which stops at its maximum.
    pub(crate) fn count(&self, address: u32, more: u64) {
        if more > 0 {
            let value = u64::from(self.get(address)).saturating_add(more);
            self.set(address, u32::try_from(value).unwrap_or(u32::MAX));
        }
    }

    /// Adds to a statistics register of 36 bits: 32 in `low` and 4 in `high`.
    pub(crate) fn count_wide(&self, low: u32, high: u32, more: u64) {
        const MAX: u64 = (1 << 36) - 1;
        if more == 0 {
            return;
        }
        let value = u64::from(self.get(low)) | u64::from(self.get(high)) << 32;
        let value = value.saturating_add(more).min(MAX);
        self.set(low, value as u32);
        self.set(high, (value >> 32) as u32);
    }

    /// The value that a driver would read, without the effects of reading.
    pub(crate) fn peek(&self, address: u32) -> u32 {
        self.slot(address)
            .map_or(0, |slot| self.get(slot.target) & !slot.rules.unreadable)
    }

    /// A driver's read.
    pub(crate) fn read(&self, address: u32) -> u32 {
        let value = self.peek(address);
        if let Some(slot) = self.slot(address) {
            let Rules {
                clear_on_read,
                set_on_read,
                ..
            } = slot.rules;
            if clear_on_read | set_on_read != 0 {
                self.change(slot.address, set_on_read, clear_on_read);
            }
        }
        value
    }

    /// Clears the self-clearing bits: their operations are done.
    pub(crate) fn finish(&self, address: u32) {
        if let Some(Slot { target, rules, .. }) = self.slot(address) {
            if rules.self_clearing != 0 {
                self.change(*target, 0, rules.self_clearing);
            }
        }
    }

    /// A driver's write. Self-clearing bits stay set until [`RegisterFile::finish`].
    pub(crate) fn write(&self, address: u32, value: u32) {
        let Some(Slot { target, rules, .. }) = self.slot(address) else {
            return;
        };
        let old = self.get(*target);
        let kept = old & !rules.writable | value & rules.writable;
        let new =
            (kept | value & (rules.one_sets | rules.self_clearing)) & !(value & rules.one_clears);
        self.set(*target, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;
    use crate::device::registers as r;

    fn file() -> RegisterFile {
        RegisterFile::new(0, family_of(0x10fb).unwrap()).unwrap()
    }

    /// The registers that do not act on another, with the bits that the 82599 has.
    fn own_registers() -> impl Iterator<Item = (&'static Register, u32)> {
        let family = family_of(0x10fb).unwrap();
        let own = REGISTERS.iter().filter(|it| it.acts_on.is_none());
        own.map(|it| (it, !family.reserved_bits(it.id)))
    }

    #[test]
    fn reset_values_are_those_of_the_table() {
        let file = file();
        for (register, known) in own_registers() {
            for entry in 0..register.count {
                let value = file.get(register.address(entry).unwrap());
                assert_eq!(value, register.reset_of(entry) & known, "{}", register.name);
            }
        }
    }

    #[test]
    fn every_bit_behaves_as_the_table_says() {
        use Access::*;
        let file = file();
        for (register, known) in own_registers() {
            let address = register.address(register.count - 1).unwrap();
            let bits = |access| register.bits_with(access) & known;
            for (before, written) in [
                (0, u32::MAX),
                (u32::MAX, 0),
                (u32::MAX, u32::MAX),
                (0x5555_5555, 0x3333_3333),
            ] {
                file.set(address, before);
                file.write(address, written);
                let after = file.get(address);
                for (access, expected) in [
                    (ReadWrite, written),
                    (WriteOnly, written),
                    (ReadSet, written),
                    (ReadOnly, before),
                    (ReadClear, before),
                    (WriteOneClear, before & !written),
                    (ReadClearWriteOneClear, before & !written),
                    (WriteOneSet, before | written),
                    (SelfClearing, before | written),
                ] {
                    let (found, wanted) = (after & bits(access), expected & bits(access));
                    assert_eq!(found, wanted, "{} {access:?}", register.name);
                }
                let shown = after & known & !bits(WriteOnly);
                assert_eq!(file.read(address), shown, "{}", register.name);
                let cleared = bits(ReadClear) | bits(ReadClearWriteOneClear);
                let left = after & !cleared | bits(ReadSet);
                assert_eq!(file.get(address), left, "{}", register.name);
            }
        }
    }

    #[test]
    fn set_and_clear_registers_act_on_another() {
        let file = file();
        file.write(r::EIMS, 0b0111);
        file.write(r::EIMS, 0b1000);
        file.write(r::EIMC, 0b0010);
        assert_eq!(file.get(r::EIMS), 0b1101);
        file.write(r::EIMS, 0);
        assert_eq!(file.read(r::EIMS), 0b1101);
        file.write(r::EICS, 0b11);
        assert_eq!(file.read(r::EICS), 0b11);
        assert_eq!([file.read(r::EICR), file.read(r::EICR)], [0b11, 0]);
    }

    #[test]
    fn an_alias_reaches_the_same_register_and_an_unknown_address_none() {
        let file = file();
        file.write(0x2100 + 4 * 3, 0x0200_0402);
        assert_eq!(file.get(r::SRRCTL(3)), 0x0200_0402);
        file.write(0x0fff8, 7);
        assert_eq!([file.read(0x0fff8), file.read(u32::MAX)], [0; 2]);
    }

    #[test]
    fn statistics_stop_at_their_maximum() {
        let file = file();
        file.count(r::GPRC, 5);
        file.count(r::GPRC, u64::from(u32::MAX));
        assert_eq!([file.read(r::GPRC), file.read(r::GPRC)], [u32::MAX, 0]);
        file.count_wide(r::GORCL, r::GORCH, (1 << 33) + 5);
        assert_eq!([file.read(r::GORCL), file.read(r::GORCH)], [5, 2]);
        assert_eq!([file.read(r::GORCL), file.read(r::GORCH)], [0, 0]);
    }
}
