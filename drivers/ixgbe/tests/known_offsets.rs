//! Well-known registers and fields, at the values that every ixgbe driver uses: the map against
//! numbers written down independently of it.
#![allow(clippy::unwrap_used)]

use ixgbe_registers::map::{Access, Field, Register, RegisterMap};

fn map() -> RegisterMap {
    RegisterMap::of_the_82599().unwrap()
}

fn register<'m>(map: &'m RegisterMap, name: &str) -> &'m Register {
    map.register(name)
        .unwrap_or_else(|| panic!("{name} is missing"))
}

fn field<'m>(mut fields: impl Iterator<Item = &'m Field>, name: &str) -> &'m Field {
    fields
        .find(|field| field.name.get_ref() == name)
        .unwrap_or_else(|| panic!("{name} is missing"))
}

/// Register, entry, address.
const ADDRESSES: [(&str, u32, u32); 86] = [
    ("CTRL", 0, 0x00000),
    ("STATUS", 0, 0x00008),
    ("CTRL_EXT", 0, 0x00018),
    ("ESDP", 0, 0x00020),
    ("I2CCTL", 0, 0x00028),
    ("LEDCTL", 0, 0x00200),
    ("EEC", 0, 0x10010),
    ("EERD", 0, 0x10014),
    ("SWSM", 0, 0x10140),
    ("FWSM", 0, 0x10148),
    ("SW_FW_SYNC", 0, 0x10160),
    ("GCR", 0, 0x11000),
    ("GCR_EXT", 0, 0x11050),
    ("EICR", 0, 0x00800),
    ("EICS", 0, 0x00808),
    ("EIAC", 0, 0x00810),
    ("EIMS", 0, 0x00880),
    ("EIMC", 0, 0x00888),
    ("EIAM", 0, 0x00890),
    ("GPIE", 0, 0x00898),
    ("EITR", 23, 0x0087C),
    ("EITR", 24, 0x12300),
    ("EITR", 128, 0x124A0),
    ("IVAR", 63, 0x009FC),
    ("IVAR_MISC", 0, 0x00A00),
    ("FCTTV", 3, 0x0320C),
    ("FCRTL", 7, 0x0323C),
    ("FCRTH", 7, 0x0327C),
    ("FCRTV", 0, 0x032A0),
    ("FCCFG", 0, 0x03D00),
    ("RXCTRL", 0, 0x03000),
    ("RXPBSIZE", 7, 0x03C1C),
    ("FCTRL", 0, 0x05080),
    ("VLNCTRL", 0, 0x05088),
    ("RXCSUM", 0, 0x05000),
    ("RFCTL", 0, 0x05008),
    ("MTA", 127, 0x053FC),
    ("RAL", 0, 0x0A200),
    ("RAH", 127, 0x0A5FC),
    ("MPSAR", 255, 0x0A9FC),
    ("VFTA", 127, 0x0A1FC),
    ("PFUTA", 127, 0x0F5FC),
    ("RDBAL", 0, 0x01000),
    ("RDBAH", 1, 0x01044),
    ("RDLEN", 63, 0x01FC8),
    ("RDH", 64, 0x0D010),
    ("RDT", 0, 0x01018),
    ("RDT", 63, 0x01FD8),
    ("RDT", 64, 0x0D018),
    ("RDT", 127, 0x0DFD8),
    ("RXDCTL", 2, 0x010A8),
    ("SRRCTL", 0, 0x01014),
    ("DCA_RXCTRL", 0, 0x0100C),
    ("RSCCTL", 0, 0x0102C),
    ("RDRXCTL", 0, 0x02F00),
    ("MRQC", 0, 0x0EC80),
    ("RETA", 31, 0x0EB7C),
    ("RSSRK", 9, 0x0EBA4),
    ("TDBAL", 0, 0x06000),
    ("TDBAH", 1, 0x06044),
    ("TDLEN", 0, 0x06008),
    ("DCA_TXCTRL", 0, 0x0600C),
    ("TDH", 0, 0x06010),
    ("TDT", 127, 0x07FD8),
    ("TXDCTL", 0, 0x06028),
    ("TDWBAL", 0, 0x06038),
    ("DMATXCTL", 0, 0x04A80),
    ("DTXMXSZRQ", 0, 0x08100),
    ("MTQC", 0, 0x08120),
    ("RTTDCS", 0, 0x04900),
    ("TXPBSIZE", 7, 0x0CC1C),
    ("TXPBTHRESH", 7, 0x0496C),
    ("SECRXCTRL", 0, 0x08D00),
    ("SECRXSTAT", 0, 0x08D04),
    ("HLREG0", 0, 0x04240),
    ("MAXFRS", 0, 0x04268),
    ("MFLCN", 0, 0x04294),
    ("AUTOC", 0, 0x042A0),
    ("LINKS", 0, 0x042A4),
    ("AUTOC2", 0, 0x042A8),
    ("GPRC", 0, 0x04074),
    ("GPTC", 0, 0x04080),
    ("GORCL", 0, 0x04088),
    ("GOTCH", 0, 0x04094),
    ("MPC", 7, 0x03FBC),
    ("QPTC", 15, 0x086BC),
];

/// Register, entry, another address of it.
const ALIASES: [(&str, u32, u32); 12] = [
    ("CTRL", 0, 0x00004),
    ("SRRCTL", 0, 0x02100),
    ("SRRCTL", 15, 0x0213C),
    ("DCA_RXCTRL", 15, 0x0223C),
    ("RAL", 0, 0x05400),
    ("RAH", 15, 0x0547C),
    ("PSRTYPE", 15, 0x054BC),
    ("MRQC", 0, 0x05818),
    ("RETA", 31, 0x05C7C),
    ("RSSRK", 0, 0x05C80),
    ("QPTC", 15, 0x063F0),
    ("PBACL", 0, 0x11068),
];

/// Register, field, mask.
const MASKS: [(&str, &str, u64); 32] = [
    ("CTRL", "MASTER_DISABLE", 1 << 2),
    ("CTRL", "LNK_RST", 1 << 3),
    ("CTRL", "RST", 1 << 26),
    ("STATUS", "MASTER_ENABLE", 1 << 19),
    ("CTRL_EXT", "NS_DIS", 1 << 16),
    ("CTRL_EXT", "DRV_LOAD", 1 << 28),
    ("EEC", "PRES", 1 << 8),
    ("EEC", "ARD", 1 << 9),
    ("RDRXCTL", "CRCSTRIP", 1 << 1),
    ("RDRXCTL", "DMAIDONE", 1 << 3),
    ("RDRXCTL", "RSCFRSTSIZE", 0x003E_0000),
    ("RDRXCTL", "RSCACKC", 1 << 25),
    ("RDRXCTL", "FCOE_WRFIX", 1 << 26),
    ("AUTOC", "AN_RESTART", 1 << 12),
    ("AUTOC", "LMS", 0xE000),
    ("LINKS", "UP", 1 << 30),
    ("LINKS", "SPEED", 0x3000_0000),
    ("RAH", "AV", 1 << 31),
    ("FCTRL", "MPE", 1 << 8),
    ("FCTRL", "UPE", 1 << 9),
    ("FCTRL", "BAM", 1 << 10),
    ("EICR", "LSC", 1 << 20),
    ("SRRCTL", "BSIZEPACKET", 0x1F),
    ("SRRCTL", "DESCTYPE", 0x0E00_0000),
    ("SRRCTL", "DROP_EN", 1 << 28),
    ("RXDCTL", "ENABLE", 1 << 25),
    ("TXDCTL", "WTHRESH", 0x007F_0000),
    ("TXDCTL", "ENABLE", 1 << 25),
    ("HLREG0", "TXCRCEN", 1),
    ("HLREG0", "TXPADEN", 1 << 10),
    ("FWSM", "EXT_ERR_IND", 0x01F8_0000),
    ("RTTDCS", "ARBDIS", 1 << 6),
];

/// Descriptor, field, quad word, mask.
const DESCRIPTOR_MASKS: [(&str, &str, u32, u64); 13] = [
    ("RXD", "DD", 1, 1),
    ("RXD", "EOP", 1, 1 << 1),
    ("RXD", "ERRORS", 1, 0xFFF0_0000),
    ("RXD", "LENGTH", 1, 0x0000_FFFF_0000_0000),
    ("RXD", "VLAN", 1, 0xFFFF_0000_0000_0000),
    ("TXD", "DTALEN", 1, 0xFFFF),
    ("TXD", "DTYP", 1, 0xF << 20),
    ("TXD", "EOP", 1, 1 << 24),
    ("TXD", "IFCS", 1, 1 << 25),
    ("TXD", "RS", 1, 1 << 27),
    ("TXD", "DEXT", 1, 1 << 29),
    ("TXD", "DD", 1, 1 << 32),
    ("TXD", "PAYLEN", 1, 0xFFFF_C000_0000_0000),
];

/// Register, entries.
const COUNTS: [(&str, u32); 11] = [
    ("RDT", 128),
    ("TDT", 128),
    ("SRRCTL", 128),
    ("EITR", 129),
    ("IVAR", 64),
    ("MTA", 128),
    ("RAL", 128),
    ("RETA", 32),
    ("RSSRK", 10),
    ("RXPBSIZE", 8),
    ("QPRC", 16),
];

#[test]
fn addresses() {
    let map = map();
    for (name, entry, address) in ADDRESSES {
        let found = register(&map, name).address(entry);
        assert_eq!(found, Some(address), "{name}({entry})");
    }
    for (name, entries) in COUNTS {
        assert_eq!(register(&map, name).entries(), entries, "{name}");
    }
}

#[test]
fn aliases() {
    let map = map();
    for (name, entry, address) in ALIASES {
        let found = register(&map, name).aliases.iter().any(|alias| {
            (alias.first..alias.first + alias.count).contains(&entry)
                && alias.offset + alias.stride * (entry - alias.first) == address
        });
        assert!(found, "{name}({entry}) is not at {address:#x}");
    }
}

#[test]
fn masks() {
    let map = map();
    for (name, field_name, mask) in MASKS {
        let found = field(register(&map, name).fields.iter(), field_name);
        assert_eq!(found.bits.mask(), mask, "{name}.{field_name}");
    }
    for (name, field_name, word, mask) in DESCRIPTOR_MASKS {
        let forms = map.descriptors.iter();
        let forms = forms.filter(|form| form.name.get_ref() == name);
        let found = field(forms.flat_map(|form| &form.fields), field_name);
        let place = (found.word, found.bits.mask());
        assert_eq!(place, (word, mask), "{name}.{field_name}");
    }
}

#[test]
fn every_counter_clears_on_read() {
    let map = map();
    let mut groups = map.groups.iter();
    let statistics = groups.find(|group| group.title == "Statistics").unwrap();
    for register in &statistics.registers {
        let maps_queues = ["RQSMR", "TQSM", "RXDSTATCTRL"].contains(&register.name());
        let clears = register.access == Access::ReadClear;
        assert_ne!(clears, maps_queues, "{}", register.name());
    }
}
