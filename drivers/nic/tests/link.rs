//! The link, the SFP+ module with its pins and wires, the EEPROM, and the control socket.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use nic::registers as r;
use nic::{MmioMode, Module, Nic, NicConfig};
use support::{frame, Client, Driver, Rings};

fn nic(module: Module) -> (tempfile::TempDir, Nic) {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(MmioMode::Trap)
        .with_cable(0, 1)
        .with_each_port(|port| port.module = module);
    let nic = Nic::new(config).unwrap();
    (directory, nic)
}

/// Looks at the link like a driver: LINKS.UP stays clear until the first read.
fn link_is_up(client: &mut Client) -> bool {
    client.get(r::LINKS);
    client.get(r::LINKS) & r::LINKS_UP != 0
}

#[test]
fn a_link_change_is_an_interrupt_cause() {
    let (_directory, nic) = nic(Module::Dac);
    let port = nic.port(0).unwrap();
    let mut client = Client::connect(port.socket());
    assert!(link_is_up(&mut client));
    assert_eq!(client.get(r::EICR) & r::EICR_LSC, 0);
    port.set_plugged(false);
    assert_eq!(client.get(r::EICR) & r::EICR_LSC, r::EICR_LSC);
    assert!(!link_is_up(&mut client) && !port.snapshot().link_up);
    assert_eq!(client.get(r::STATUS) & r::STATUS_LINK_UP, 0);
    port.set_plugged(false);
    assert_eq!(
        client.get(r::EICR) & r::EICR_LSC,
        0,
        "the link has not changed"
    );
    port.set_plugged(true);
    assert_eq!(client.get(r::EICR) & r::EICR_LSC, r::EICR_LSC);
    assert!(link_is_up(&mut client));
}

#[test]
fn both_ends_of_a_pulled_cable_lose_the_link() {
    let (_directory, nic) = nic(Module::Dac);
    let mut plane = nic.data_plane().unwrap();
    let [mut a, mut b] = [0, 1].map(|n| Driver::start(nic.ports()[n].socket(), Rings::default()));
    let mut settle = || {
        for _ in 0..3 {
            plane.poll();
        }
    };
    settle();
    a.transmit(&frame(60, 1));
    settle();
    assert_eq!(b.receive(), Some(frame(60, 1)));
    nic.ports()[0].set_plugged(false);
    settle();
    assert!(!link_is_up(&mut a.client) && !link_is_up(&mut b.client));
    let slot = a.transmit(&frame(60, 2));
    settle();
    assert!(!a.tx_done(slot), "the card sends nothing without a link");
    nic.ports()[0].set_plugged(true);
    settle();
    assert!(link_is_up(&mut a.client) && link_is_up(&mut b.client));
    settle();
    assert_eq!(b.receive(), Some(frame(60, 2)));
}

#[test]
fn switching_one_laser_off_ends_the_link_of_the_other_end() {
    for (module, up) in [(Module::Sr, false), (Module::Dac, true)] {
        let (_directory, nic) = nic(module);
        let mut plane = nic.data_plane().unwrap();
        let [mut a, mut b] = [0, 1].map(|n| Client::connect(nic.ports()[n].socket()));
        a.change(r::ESDP, r::ESDP_SDP3, 0);
        plane.poll();
        plane.poll();
        assert!(link_is_up(&mut a), "its own receiver still sees light");
        assert_eq!(link_is_up(&mut b), up, "{module:?}");
        a.change(r::ESDP, 0, r::ESDP_SDP3);
        plane.poll();
        plane.poll();
        assert!(link_is_up(&mut b));
    }
}

/// Drivers use the link reset on a card without a link. It resets the whole card.
#[test]
fn a_link_reset_resets_the_whole_card() {
    let (_directory, nic) = nic(Module::Sr);
    let port = nic.port(0).unwrap();
    let mut driver = Driver::start(port.socket(), Rings::default());
    let client = &mut driver.client;
    client.set(r::CTRL, r::CTRL_MASTER_DISABLE);
    assert_eq!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
    client.set(r::CTRL, r::CTRL_MASTER_DISABLE | r::CTRL_LNK_RST);
    assert_eq!(
        client.get(r::CTRL),
        r::CTRL_LNK_RST,
        "the reset takes a moment"
    );
    assert_eq!(client.get(r::CTRL), 0);
    assert_ne!(client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
    assert_eq!(client.get(r::RXDCTL(0)) & r::RXDCTL_ENABLE, 0);
}

#[test]
fn without_a_module_there_is_no_link() {
    let (_directory, nic) = nic(Module::None);
    let port = nic.port(0).unwrap();
    let mut client = Client::connect(port.socket());
    assert!(!link_is_up(&mut client));
    assert_eq!(client.get(r::ESDP) & r::ESDP_SDP2, 0);
    client.set(r::GPIE, r::GPIE_SDP2_GPIEN);
    port.set_module(Module::Sr);
    assert_eq!(
        client.get(r::EICR) & r::EICR_GPI_SDP2,
        r::EICR_GPI_SDP2,
        "the card reports the new module"
    );
    assert_ne!(client.get(r::ESDP) & r::ESDP_SDP2, 0);
    client.set(r::ESDP, 0);
    assert_ne!(
        client.get(r::ESDP) & r::ESDP_SDP2,
        0,
        "the card drives the pin"
    );
}

/// A bus master that uses I2CCTL like a driver.
struct Wires(Client);

impl Wires {
    fn drive(&mut self, clock: bool, data: bool) -> bool {
        let level = |high, wire| if high { wire } else { 0 };
        let value = level(clock, r::I2CCTL_CLK_OUT) | level(data, r::I2CCTL_DATA_OUT);
        self.0.set(r::I2CCTL, value);
        let value = self.0.get(r::I2CCTL);
        assert_eq!(value & r::I2CCTL_CLK_IN != 0, clock);
        value & r::I2CCTL_DATA_IN != 0
    }

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

    fn send(&mut self, byte: u8) -> bool {
        for n in 0..8 {
            self.bit(byte << n & 0x80 != 0);
        }
        !self.bit(true)
    }

    fn read(&mut self, device: u8, offset: u8) -> Option<u8> {
        self.start();
        let there = self.send(device << 1) && self.send(offset);
        self.start();
        let there = there && self.send(device << 1 | 1);
        let byte = there.then(|| (0..8).fold(0, |byte, _| byte << 1 | u8::from(self.bit(true))));
        self.bit(true);
        self.drive(false, false);
        self.drive(true, false);
        self.drive(true, true);
        byte
    }
}

#[test]
fn the_module_is_read_over_its_wires() {
    for (module, technology, compliance) in [
        (Module::Dac, Some(0x04), Some(0)),
        (Module::Sr, Some(0), Some(0x10)),
        (Module::None, None, None),
    ] {
        let (_directory, nic) = nic(module);
        let mut wires = Wires(Client::connect(nic.port(0).unwrap().socket()));
        assert_eq!(wires.read(0x50, 8), technology);
        assert_eq!(wires.read(0x50, 3), compliance);
    }
}

/// Reads a word bit by bit, like DPDK's driver.
#[test]
fn the_eeprom_is_read_over_its_wires() {
    let (_directory, nic) = nic(Module::Dac);
    let mut client = Client::connect(nic.port(0).unwrap().socket());
    client.change(r::EEC, r::EEC_REQ, 0);
    let eec = client.get(r::EEC);
    assert_ne!(eec & r::EEC_GNT, 0);
    assert_ne!(eec & r::EEC_ADDR_SIZE, 0, "addresses have 16 bits");
    let mut clock = |data: bool| {
        let data = if data { r::EEC_DI } else { 0 };
        let wires = r::EEC_SK | r::EEC_CS | r::EEC_DI;
        client.change(r::EEC, r::EEC_CS | data, wires);
        client.change(r::EEC, r::EEC_SK, 0);
        let out = client.get(r::EEC) & r::EEC_DO != 0;
        client.change(r::EEC, 0, r::EEC_SK);
        out
    };
    // READ, byte address 0x15 * 2.
    for bit in (0..24).rev() {
        clock(0x03_002a >> bit & 1 == 1);
    }
    let word = (0..16).fold(0_u16, |word, _| word << 1 | u16::from(clock(false)));
    client.change(r::EEC, 0, r::EEC_CS | r::EEC_REQ);
    client.set(r::EERD, r::field(r::EERD_ADDR, 0x15) | r::EERD_START);
    let expected = r::field_get(r::EERD_DATA, client.get(r::EERD)) as u16;
    assert_eq!(word.swap_bytes(), expected);
    assert_eq!(expected, 0xfafa);
}

#[test]
fn a_request_for_an_unmodelled_feature_is_reported_once() {
    let (_directory, nic) = nic(Module::Dac);
    let port = nic.port(0).unwrap();
    let mut client = Client::connect(port.socket());
    client.set(r::SAQF(0), 0);
    assert!(
        port.unmodelled().is_empty(),
        "a write of 0 requests nothing"
    );
    for _ in 0..3 {
        client.set(r::SAQF(0), 7);
        client.set(r::SAQF(1), 7);
    }
    client.set(r::MRQC, r::MRQC_MRQE_VMDQ);
    let reported = port.unmodelled();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].starts_with("SAQF") && reported[1].starts_with("MRQC"));
}

#[test]
fn flow_director_commands_finish() {
    let (_directory, nic) = nic(Module::Dac);
    let port = nic.port(0).unwrap();
    let mut client = Client::connect(port.socket());
    assert_eq!(client.get(r::FDIRCTRL) & r::FDIRCTRL_INIT_DONE, 0);
    client.set(r::FDIRCTRL, r::FDIRCTRL_PBALLOC_64K);
    assert_ne!(client.get(r::FDIRCTRL) & r::FDIRCTRL_INIT_DONE, 0);
    client.set(r::FDIRCMD, r::FDIRCMD_CMD_ADD | r::FDIRCMD_QUEUE_EN);
    assert_eq!(client.get(r::FDIRCMD) & r::FDIRCMD_CMD, 0);
    assert_eq!(port.unmodelled().len(), 1);
}

#[test]
fn waking_up_resets_the_card() {
    const POWER_STATUS: u64 = 0x44;
    let (_directory, nic) = nic(Module::Dac);
    let port = nic.port(0).unwrap();
    let mut client = Client::connect(port.socket());
    client.set_bus_master(true);
    client.set(r::LEDCTL, 7);
    client.region_write(7, POWER_STATUS, &[3, 0]).unwrap();
    assert!(!port.snapshot().bus_master, "the card is in D3");
    client.region_write(7, POWER_STATUS, &[0, 0]).unwrap();
    assert_eq!(client.get(r::LEDCTL), 0);
    let cause = port.last_reset().unwrap().cause;
    assert_eq!(cause, nic::ResetCause::WakeUp);
}

// ---- Commands ----

struct Control(BufReader<UnixStream>);

impl Control {
    fn connect(path: &std::path::Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(support::TIMEOUT)).unwrap();
        Self(BufReader::new(stream))
    }

    fn ask(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        answer
    }
}

#[test]
fn control_commands_change_the_link_and_report_the_state() {
    let (directory, nic) = nic(Module::Dac);
    let path = directory.path().join("control");
    let serving = nic.serve_control(&path).unwrap();
    let mut control = Control::connect(&path);
    let mut other = Control::connect(&path);
    assert_eq!(control.ask("link 1 down\n"), "ok\n");
    let stats: serde_json::Value = serde_json::from_str(&other.ask("stats\n")).unwrap();
    assert_eq!(stats["ports"][0]["state"]["link_up"], true);
    assert_eq!(stats["ports"][1]["state"]["link_up"], false);
    assert_eq!(stats["ports"][1]["delivered"], 0);
    assert_eq!(stats["ports"][1]["state"]["dma_maps"], 0);
    assert_eq!(stats["ports"][1]["module"], "dac");
    assert_eq!(control.ask("link 1 up\nmodule 0 none\n"), "ok\n");
    assert_eq!(control.ask(""), "ok\n");
    assert_eq!(nic.ports()[0].module(), Module::None);
    drop(serving);
    assert!(!path.exists());
    assert_eq!(control.ask(""), "", "the NIC has closed the connection");
}

#[test]
fn an_unknown_command_lists_the_valid_ones() {
    let (directory, nic) = nic(Module::Dac);
    let path = directory.path().join("control");
    let _serving = nic.serve_control(&path).unwrap();
    let mut control = Control::connect(&path);
    for (line, expected) in [
        ("link 2 down\n", "ports are numbered 0 to 1"),
        ("link one down\n", "ports are numbered 0 to 1"),
        ("link 0 sideways\n", "choose one of: link PORT up|down"),
        ("module 0 lr\n", "must be dac, sr or none"),
        ("\n", "unknown command"),
        ("st\u{fffd}ts\n", "unknown command"),
    ] {
        let answer = control.ask(line);
        assert!(
            answer.starts_with("error: ") && answer.contains(expected),
            "{line:?}: {answer:?}"
        );
    }
    // The NIC disconnects a client that sends an endless line, and keeps the others.
    let mut endless = Control::connect(&path);
    let answer = endless.ask(&"x".repeat(5000));
    assert!(answer.contains("more than 256 bytes"), "{answer:?}");
    // A client that leaves in the middle of a line disturbs no other.
    Control::connect(&path)
        .0
        .get_mut()
        .write_all(b"sta")
        .unwrap();
    assert!(control.ask("stats\n").starts_with("{\"ports\""));
}
