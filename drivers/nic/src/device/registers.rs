//! The 82599's registers: offsets, masks of fields and named values of fields, and [`REGISTERS`],
//! the table of what a read and a write do.
//!
//! `build.rs` generates all but the types from `drivers/ixgbe/registers.toml`.
#![allow(missing_docs, non_snake_case)] // the map describes them; the datasheet spells them in capitals

include!(concat!(env!("OUT_DIR"), "/registers.rs"));

/// What a read or a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Keeps what is written.
    ReadWrite,
    /// Writes have no effect.
    ReadOnly,
    /// Reads return 0.
    WriteOnly,
    /// A read clears it; writes have no effect.
    ReadClear,
    /// A read returns the old value and sets the bits; a write sets the value.
    ReadSet,
    /// Writing 1 clears a bit.
    WriteOneClear,
    /// Writing 1 sets a bit.
    WriteOneSet,
    /// A read clears it, and so does writing 1.
    ReadClearWriteOneClear,
    /// Writing 1 starts an operation; the bit clears itself when the operation is done.
    SelfClearing,
}

/// Consecutive entries of a register array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Index of the first entry here.
    pub first: u32,
    /// Address of that entry.
    pub offset: u32,
    /// Bytes between entries.
    pub stride: u32,
    /// Number of entries here.
    pub count: u32,
}

/// Some of a register's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name within the register.
    pub name: &'static str,
    /// The bits, as a mask.
    pub mask: u32,
    /// What reads and writes do to these bits.
    pub access: Access,
}

/// A register, or an array of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its place in [`REGISTERS`], as a type.
    pub id: RegisterId,
    /// The datasheet's name.
    pub name: &'static str,
    /// Number of entries; 1 if the register is not an array.
    pub count: u32,
    /// The places of the entries, in order of their index: one range, or two.
    pub ranges: &'static [Range],
    /// Other addresses of the same entries.
    pub aliases: &'static [Range],
    /// What reads and writes do to bits outside `fields`.
    pub access: Access,
    /// Value after reset of all entries but entry 0.
    pub reset: u32,
    /// Value of entry 0 after reset.
    pub reset_first: u32,
    /// The register whose bits a write to this one sets or clears, if not its own.
    pub acts_on: Option<RegisterId>,
    /// The fields. Bits outside them are reserved.
    pub fields: &'static [Field],
}

impl Range {
    /// The entry at `address`, if the range has it.
    pub const fn entry_at(&self, address: u32) -> Option<u32> {
        if address < self.offset || self.stride == 0 {
            return None;
        }
        let distance = address - self.offset;
        if distance % self.stride != 0 || distance / self.stride >= self.count {
            return None;
        }
        Some(self.first + distance / self.stride)
    }
}

impl Register {
    /// The canonical address of entry `n`, if the array has that entry.
    pub fn address(&self, n: u32) -> Option<u32> {
        let range = self
            .ranges
            .iter()
            .find(|range| n >= range.first && n - range.first < range.count)?;
        Some(range.offset + range.stride * (n - range.first))
    }

    /// The entry at `address`, which is its canonical address or an alias.
    pub fn entry_at(&self, address: u32) -> Option<u32> {
        self.ranges
            .iter()
            .chain(self.aliases)
            .find_map(|range| range.entry_at(address))
    }

    /// What entry `n` holds after reset.
    pub const fn reset_of(&self, n: u32) -> u32 {
        if n == 0 {
            self.reset_first
        } else {
            self.reset
        }
    }

    /// The bits with this kind of access.
    pub fn bits_with(&self, access: Access) -> u32 {
        let outside = !self.fields.iter().fold(0, |mask, field| mask | field.mask);
        let own = if self.access == access { outside } else { 0 };
        self.fields
            .iter()
            .filter(|field| field.access == access)
            .fold(own, |mask, field| mask | field.mask)
    }
}

impl RegisterId {
    /// How many registers there are: every `id as usize` is below it.
    pub const COUNT: usize = REGISTERS.len();

    /// The register's row in the table.
    pub fn register(self) -> &'static Register {
        &REGISTERS[self as usize]
    }

    /// The datasheet's name.
    pub fn name(self) -> &'static str {
        self.register().name
    }

    /// What reads and writes do to bits outside the fields.
    pub fn access(self) -> Access {
        self.register().access
    }

    /// What entry `n` holds after reset.
    pub fn reset_of(self, n: u32) -> u32 {
        self.register().reset_of(n)
    }
}

impl std::fmt::Display for RegisterId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The register of that name.
pub fn register(name: &str) -> Option<&'static Register> {
    REGISTERS.iter().find(|register| register.name == name)
}

/// The register at `address`, canonical or alias, and the entry's index. Searches the whole table:
/// frequent callers keep an index of their own.
pub fn locate(address: u32) -> Option<(&'static Register, u32)> {
    REGISTERS
        .iter()
        .find_map(|register| Some((register, register.entry_at(address)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_found_at_its_addresses_and_only_there() {
        for register in REGISTERS {
            for range in register.ranges.iter().chain(register.aliases) {
                for n in 0..range.count {
                    let (found, entry) = locate(range.offset + range.stride * n).unwrap();
                    assert_eq!((found.id, entry), (register.id, range.first + n));
                }
            }
            assert_eq!(register.address(register.count), None, "{}", register.name);
        }
        for (address, place) in [
            (0x00004, Some((RegisterId::CTRL, 0))),
            (0x0dfd8, Some((RegisterId::RDT, 127))),
            (0x0213c, Some((RegisterId::SRRCTL, 15))),
            (0x12300, Some((RegisterId::EITR, 24))),
            (0x0101c, None),
            (0x01019, None),
            (BAR0_SIZE, None),
        ] {
            let found = locate(address).map(|(register, n)| (register.id, n));
            assert_eq!(found, place, "{address:#x}");
        }
    }

    #[test]
    fn the_table_has_the_rules_of_each_bit() {
        let bits = |id: RegisterId, access| id.register().bits_with(access);
        assert_eq!(field(AUTOC_LMS, 3), AUTOC_LMS_10G_SERIAL);
        assert_eq!(field_get(MAXFRS_MFS, 0x05ee_0000), 1518);
        assert_eq!(field64_get(RXD_LENGTH, field64(RXD_LENGTH, 60) | 3), 60);
        let resets = CTRL_RST | CTRL_LNK_RST;
        assert_eq!(bits(RegisterId::CTRL, Access::SelfClearing), resets);
        assert_eq!(bits(RegisterId::CTRL, Access::ReadWrite), !resets);
        assert_eq!(
            bits(RegisterId::RDRXCTL, Access::ReadOnly),
            RDRXCTL_DMAIDONE
        );
        assert_eq!(bits(RegisterId::SWSM, Access::ReadSet), SWSM_SMBI);
        let eimc = RegisterId::EIMC.register();
        assert_eq!(
            (eimc.access, eimc.acts_on),
            (Access::WriteOneClear, Some(RegisterId::EIMS))
        );
        assert_eq!(
            [0, 1].map(|n| RegisterId::TXPBTHRESH.reset_of(n)),
            [0x96, 0]
        );
        assert_eq!([0, 1].map(|n| RegisterId::RAH.reset_of(n)), [RAH_AV, 0]);
    }
}
