//! What distinguishes the families of cards: the 82599, the X540 and the X550.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::{MmioMode, Module, Nic, NicConfig};
use support::{frame, Client, Driver, Rings};

const INTEL_82599: u16 = 0x10fb;
const X540: u16 = 0x1528;
const X550: u16 = 0x1563;

fn card(device_id: u16) -> (tempfile::TempDir, Nic, Client) {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 1)
        .with_mmio(MmioMode::Trap)
        .with_each_port(|port| port.device_id = device_id);
    let nic = Nic::new(config).unwrap();
    let client = Client::connect(nic.ports()[0].socket());
    (directory, nic, client)
}

/// Reads a word of the EEPROM through EERD; `None` if the card does not answer.
fn read_by_eerd(client: &mut Client, address: u32) -> Option<u16> {
    client.set(r::EERD, r::field(r::EERD_ADDR, address) | r::EERD_START);
    let value = client.get(r::EERD);
    let done = value & r::EERD_DONE != 0;
    done.then_some(r::field_get(r::EERD_DATA, value) as u16)
}

/// Reads a word of the EEPROM by a command to the firmware; `None` if the card has no firmware that
/// takes commands.
fn read_by_firmware(client: &mut Client, address: u32) -> Option<u16> {
    if client.get(r::HICR) & r::HICR_EN == 0 {
        return None;
    }
    for (entry, value) in [0xff06_0031, (2 * address).swap_bytes(), 0x0200, 0]
        .into_iter()
        .enumerate()
    {
        client.set(r::FLEX_MNG(entry as u32), value);
    }
    client.change(r::HICR, r::HICR_C, 0);
    let control = client.get(r::HICR);
    assert_eq!(control & (r::HICR_C | r::HICR_SV), r::HICR_SV);
    Some(client.get(r::FLEX_MNG(3)) as u16)
}

#[test]
fn each_family_offers_its_own_access_to_the_eeprom() {
    const PART_NUMBER: u32 = 0x15;
    for (device_id, eerd, firmware) in [
        (INTEL_82599, true, false),
        (X540, true, false),
        (X550, false, true),
    ] {
        let (_directory, nic, mut client) = card(device_id);
        let expected = |offered: bool| offered.then_some(0xfafa);
        let by_eerd = read_by_eerd(&mut client, PART_NUMBER);
        let by_firmware = read_by_firmware(&mut client, PART_NUMBER);
        assert_eq!(by_eerd, expected(eerd), "{device_id:04x}");
        assert_eq!(by_firmware, expected(firmware), "{device_id:04x}");
        client.change(r::EEC, r::EEC_REQ, 0);
        let granted = client.get(r::EEC) & r::EEC_GNT != 0;
        assert_eq!(granted, device_id == INTEL_82599, "{device_id:04x}");
        assert!(nic.ports()[0].notes().is_empty());
    }
}

/// Linux takes the words 0 to 0x41 of an X550, and sections of fixed size.
#[test]
fn the_checksum_of_the_x550_is_right() {
    let (_directory, _nic, mut client) = card(X550);
    let mut word = |at: u32| read_by_firmware(&mut client, at).unwrap();
    let mut sum = (0..=0x41).fold(0_u16, |sum, at| sum.wrapping_add(word(at)));
    for (pointer, fixed) in [(6, Some(0x24)), (7, Some(8)), (8, Some(8)), (9, None)] {
        let section = u32::from(word(pointer));
        if section == 0 {
            continue;
        }
        let (start, len) = match fixed {
            Some(len) => (0, len),
            None => (1, u32::from(word(section))),
        };
        for at in start..start + len {
            sum = sum.wrapping_add(word(section + at));
        }
    }
    assert_eq!(sum, 0xbaba);
}

#[test]
fn each_family_has_its_own_semaphore() {
    for (device_id, swesmbi, regsmp) in [
        (INTEL_82599, true, false),
        (X540, false, true),
        (X550, false, true),
    ] {
        let (_directory, _nic, mut client) = card(device_id);
        client.set(r::SWSM, r::SWSM_SWESMBI);
        let held = client.get(r::SWSM) & r::SWSM_SWESMBI != 0;
        assert_eq!(held, swesmbi, "{device_id:04x}");
        let mut taken = || client.get(r::SW_FW_SYNC) & r::SW_FW_SYNC_REGSMP != 0;
        assert!(!taken(), "the first read takes the semaphore");
        assert_eq!(taken(), regsmp, "{device_id:04x}");
    }
}

/// Reads a register of the PHY, as IEEE 802.3 clause 45 has it.
fn read_phy(client: &mut Client, device: u32, register: u32) -> u16 {
    let place = r::field(r::MSCA_DEV_TYPE, device) | register;
    client.set(
        r::MSCA,
        place | r::MSCA_OP_CODE_ADDRESS | r::MSCA_MDI_COMMAND,
    );
    assert_eq!(client.get(r::MSCA) & r::MSCA_MDI_COMMAND, 0);
    client.set(r::MSCA, place | r::MSCA_OP_CODE_READ | r::MSCA_MDI_COMMAND);
    r::field_get(r::MSRWD_READ_DATA, client.get(r::MSRWD)) as u16
}

#[test]
fn only_copper_cards_have_a_phy() {
    const PMA: u32 = 1;
    let identity = |device_id| {
        let (_directory, _nic, mut client) = card(device_id);
        [2, 3].map(|register| read_phy(&mut client, PMA, register))
    };
    assert_eq!(identity(X540), [0x0154, 0x0200]);
    assert_eq!(identity(X550), [0x0154, 0x0223]);
    let (_directory, _nic, mut client) = card(X540);
    assert_eq!(read_phy(&mut client, PMA, 1), 1 << 2, "the link is up");
}

#[test]
fn copper_cards_have_no_serial_link_registers() {
    let (_directory, nic, mut client) = card(X540);
    client.set(r::AUTOC, r::AUTOC_LMS_10G_SERIAL);
    assert_eq!(client.get(r::AUTOC), 0);
    let unmodelled = nic.ports()[0].unmodelled();
    assert_eq!(unmodelled, ["AUTOC: the X540 does not have this register"]);
    client.get(r::LINKS);
    assert_ne!(client.get(r::LINKS) & r::LINKS_UP, 0);
    let (_directory, _nic, mut client) = card(INTEL_82599);
    assert_ne!(client.get(r::AUTOC), 0);
}

#[test]
fn the_packet_buffer_has_the_familys_size() {
    for (device_id, kib) in [(INTEL_82599, 512), (X540, 384), (X550, 384)] {
        let (_directory, _nic, mut client) = card(device_id);
        let size = r::field_get(r::RXPBSIZE_SIZE, client.get(r::RXPBSIZE(0)));
        assert_eq!(size, kib, "{device_id:04x}");
    }
}

#[test]
fn a_packet_buffer_beyond_the_familys_memory_receives_nothing() {
    for (device_id, kib, works) in [
        (INTEL_82599, 512, true),
        (INTEL_82599, 513, false),
        (X540, 384, true),
        (X540, 512, false),
        (X550, 512, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let config = NicConfig::new(directory.path(), 1)
            .with_mmio(MmioMode::Trap)
            .with_each_port(|port| port.device_id = device_id);
        let nic = Nic::new(config).unwrap();
        let port = &nic.ports()[0];
        let mut plane = nic.data_plane().unwrap();
        let mut driver = Driver::start(port.socket(), Rings::default());
        let size = r::field(r::RXPBSIZE_SIZE, kib);
        driver.client.set(r::RXPBSIZE(0), size);
        // Without traffic classes the other sizes mean nothing.
        driver.client.set(r::RXPBSIZE(1), size);
        port.inject(&frame(60, 1)).unwrap();
        plane.poll();
        assert_eq!(driver.receive().is_some(), works, "{device_id:04x} {kib}");
        let notes = port.notes();
        assert_eq!(notes.is_empty(), works, "{notes:?}");
        assert!(notes.iter().all(|note| note.contains("does not receive")));
    }
}

#[test]
fn a_threshold_beyond_the_familys_memory_is_noted() {
    for (device_id, kib, noted) in [
        (INTEL_82599, 488, false),
        (INTEL_82599, 511, false),
        (X540, 360, false),
        (X540, 488, true),
        (X550, 385, true),
    ] {
        let (_directory, nic, mut client) = card(device_id);
        client.set(r::FCRTH(0), kib * 1024);
        let notes = nic.ports()[0].notes();
        assert_eq!(!notes.is_empty(), noted, "{device_id:04x} {kib}: {notes:?}");
    }
}

#[test]
fn an_id_that_is_not_modelled_is_refused() {
    for device_id in [0x15ad, 0x15c4, 0x151c, 0x1572] {
        let config =
            NicConfig::new("/nowhere", 1).with_each_port(|port| port.device_id = device_id);
        let error = config.check().unwrap_err().to_string();
        for text in [&format!("{device_id:04x}"), "82599", "10fb", "X540", "1563"] {
            assert!(error.contains(text), "{error}");
        }
    }
}

#[test]
fn a_copper_card_takes_no_module() {
    let config = NicConfig::new("/nowhere", 1).with_each_port(|port| {
        port.device_id = X540;
        port.module = Module::Sr;
    });
    let error = config.check().unwrap_err().to_string();
    assert!(error.contains("SFP+ cage"), "{error}");
}

#[test]
fn a_foreign_device_id_is_shown_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 1)
        .with_each_port(|port| port.faults.foreign_device_id = Some(0x1572));
    let nic = Nic::new(config).unwrap();
    let mut client = Client::connect(nic.ports()[0].socket());
    assert_eq!(client.region_read(7, 2, 2).unwrap(), [0x72, 0x15]);
}
