//! What distinguishes the families of cards: the 82599, the X540 and the X550.
#![allow(clippy::unwrap_used)]

mod support;

use nic::registers as r;
use nic::DEFAULT_DEVICE_ID as INTEL_82599;
use support::{frame, read_eeprom, Bench, Client, Rings, X540, X550};

fn bench(device_id: u16) -> Bench {
    Bench::with(|port| port.device_id = device_id)
}

fn card(device_id: u16) -> (Bench, Client) {
    let bench = bench(device_id);
    let client = bench.client(0);
    (bench, client)
}

/// Has the firmware run a command; `None` if the card has no firmware that takes commands. Returns the status.
fn run(client: &mut Client, command: [u32; 4]) -> Option<u32> {
    if client.get(r::HICR) & r::HICR_EN == 0 {
        return None;
    }
    for (entry, value) in (0..).zip(command) {
        client.set(r::FLEX_MNG(entry), value);
    }
    client.change(r::HICR, r::HICR_C, 0);
    let control = client.get(r::HICR);
    assert_eq!(control & (r::HICR_C | r::HICR_SV), r::HICR_SV);
    Some(client.get(r::FLEX_MNG(0)) >> 16 & 0xff)
}

/// Reads words of the EEPROM by a command to the firmware.
fn read_by_firmware(client: &mut Client, address: u32, words: u16) -> Option<[u32; 2]> {
    let bytes = (2 * words).swap_bytes();
    let command = [0xff06_0031, (2 * address).swap_bytes(), bytes.into(), 0];
    assert_eq!(run(client, command)?, 1);
    Some([3, 4].map(|entry| client.get(r::FLEX_MNG(entry))))
}

#[test]
fn each_family_offers_its_own_access_to_the_eeprom() {
    const PART_NUMBER: u32 = 0x15;
    for (device_id, eerd, firmware) in [
        (INTEL_82599, true, false),
        (X540, true, false),
        (X550, false, true),
    ] {
        let (bench, mut client) = card(device_id);
        let expected = |offered: bool| offered.then_some(0xfafa);
        let by_eerd = read_eeprom(&mut client, PART_NUMBER);
        let by_firmware = read_by_firmware(&mut client, PART_NUMBER, 1).map(|pair| pair[0] as u16);
        assert_eq!(by_eerd, expected(eerd), "{device_id:04x}");
        assert_eq!(by_firmware, expected(firmware), "{device_id:04x}");
        client.change(r::EEC, r::EEC_REQ, 0);
        let granted = client.get(r::EEC) & r::EEC_GNT != 0;
        assert_eq!(granted, device_id == INTEL_82599, "{device_id:04x}");
        assert!(bench.port(0).notes().is_empty());
    }
}

#[test]
fn the_firmware_reads_pairs_of_words_and_refuses_unknown_commands() {
    let (bench, mut client) = card(X550);
    let words = [0x15, 0x16, 0x17].map(|at| word_of(&mut client, at));
    let [first, second] = read_by_firmware(&mut client, 0x15, 3).unwrap();
    assert_eq!(first, words[0] | words[1] << 16);
    assert_eq!(second & 0xffff, words[2]);
    assert_eq!(run(&mut client, [0x55, 0, 0, 0]), Some(0));
    assert_eq!(bench.port(0).unmodelled().len(), 1);
}

fn word_of(client: &mut Client, at: u32) -> u32 {
    match read_by_firmware(client, at, 1) {
        Some([pair, _]) => pair & 0xffff,
        None => read_eeprom(client, at).unwrap().into(),
    }
}

/// Drivers add words 0 to 0x3f, then the sections that words 3 to 0x0e point to. For an X550, Linux takes the words
/// up to 0x41, and sections of fixed size.
#[test]
fn the_checksum_of_the_eeprom_is_right() {
    let long = |pointer| (pointer, None);
    let sections = Vec::from_iter((3..0x0f).map(long));
    let of_x550 = vec![(6, Some(0x24)), (7, Some(8)), (8, Some(8)), long(9)];
    for (device_id, port, last, sections) in [
        (INTEL_82599, 0, 0x3f, &sections),
        (INTEL_82599, 1, 0x3f, &sections),
        (X540, 0, 0x3f, &sections),
        (X550, 0, 0x41, &of_x550),
    ] {
        let bench = bench(device_id);
        let mut client = bench.client(port);
        let mut word = |at| word_of(&mut client, at);
        let mut sum: u32 = (0..=last).map(&mut word).sum();
        for (pointer, fixed) in sections {
            let (section, len) = match (word(*pointer), fixed) {
                (0 | 0xffff, _) => continue,
                (section, Some(len)) => (section, *len),
                (section, None) => (section + 1, word(section)),
            };
            if len != 0xffff {
                sum += (section..section + len).map(&mut word).sum::<u32>();
            }
        }
        assert_eq!(sum as u16, 0xbaba, "{device_id:04x}");
        assert_eq!(client.get(r::RAH(0)), r::RAH_AV | (port as u32) << 8);
    }
}

#[test]
fn each_family_has_its_own_semaphore() {
    for (device_id, swesmbi, regsmp) in [
        (INTEL_82599, true, false),
        (X540, false, true),
        (X550, false, true),
    ] {
        let (_bench, mut client) = card(device_id);
        client.set(r::SWSM, r::SWSM_SWESMBI);
        let held = client.get(r::SWSM) & r::SWSM_SWESMBI != 0;
        assert_eq!(held, swesmbi, "{device_id:04x}");
        let mut taken = || client.get(r::SW_FW_SYNC) & r::SW_FW_SYNC_REGSMP != 0;
        assert!(!taken(), "the first read takes the semaphore");
        assert_eq!(taken(), regsmp, "{device_id:04x}");
    }
}

#[test]
fn only_copper_cards_have_a_phy() {
    const PMA: u32 = 1;
    let identity = |device_id| {
        let (_bench, mut client) = card(device_id);
        [2, 3].map(|register| client.read_phy(PMA, register))
    };
    assert_eq!(identity(X540), [0x0154, 0x0200]);
    assert_eq!(identity(X550), [0x0154, 0x0223]);
    let (_bench, mut client) = card(X540);
    assert_eq!(client.read_phy(PMA, 1), 1 << 2, "the link is up");
}

#[test]
fn copper_cards_have_no_serial_link_registers() {
    let (bench, mut client) = card(X540);
    client.set(r::AUTOC, r::AUTOC_LMS_10G_SERIAL);
    assert_eq!(client.get(r::AUTOC), 0);
    let unmodelled = bench.port(0).unmodelled();
    assert_eq!(unmodelled, ["AUTOC: the X540 does not have this register"]);
    client.get(r::LINKS);
    assert_ne!(client.get(r::LINKS) & r::LINKS_UP, 0);
    let (_bench, mut client) = card(INTEL_82599);
    assert_ne!(client.get(r::AUTOC), 0);
}

#[test]
fn the_packet_buffer_has_the_familys_size() {
    for (device_id, kib) in [(INTEL_82599, 512), (X540, 384), (X550, 384)] {
        let (_bench, mut client) = card(device_id);
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
        let mut bench = bench(device_id);
        let mut driver = bench.driver(0, Rings::default());
        let size = r::field(r::RXPBSIZE_SIZE, kib);
        driver.client.set(r::RXPBSIZE(0), size);
        // Without traffic classes the other sizes mean nothing.
        driver.client.set(r::RXPBSIZE(1), size);
        bench.arrive(&[frame(60, 1)]);
        assert_eq!(driver.receive().is_some(), works, "{device_id:04x} {kib}");
        let notes = bench.port(0).notes();
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
        let (bench, mut client) = card(device_id);
        client.set(r::FCRTH(0), kib * 1024);
        let notes = bench.port(0).notes();
        assert_eq!(!notes.is_empty(), noted, "{device_id:04x} {kib}: {notes:?}");
    }
}

#[test]
fn a_foreign_device_id_is_shown_and_nothing_else() {
    let bench = Bench::with(|port| port.faults.foreign_device_id = Some(0x1572));
    let id = bench.client(0).region_read(harness::codec::CONFIG, 2, 2);
    assert_eq!(id.unwrap(), [0x72, 0x15]);
}
