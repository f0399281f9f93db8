//! A card in turns: it works only when it is asked to, and tells what it did.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use nic::{registers as r, Nic, NicConfig, Traffic};
use serde_json::{json, Value};
use support::{frame, Driver, Rings, IOVA};

struct Card {
    nic: Nic,
    control: BufReader<UnixStream>,
    _serving: nic::ControlSocket,
    _directory: tempfile::TempDir,
}

fn connect(path: &Path) -> BufReader<UnixStream> {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(support::TIMEOUT)).unwrap();
    BufReader::new(stream)
}

impl Card {
    fn in_turns(traffic: Traffic) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = NicConfig::new(directory.path(), 2).with_each_port(|port| {
            port.traffic = traffic;
        });
        let nic = Nic::new(config).unwrap();
        let path = directory.path().join("control");
        let serving = nic.serve_turns(&path).unwrap();
        Self {
            control: connect(&path),
            nic,
            _serving: serving,
            _directory: directory,
        }
    }

    fn ask(&mut self, command: &str) -> Value {
        writeln!(self.control.get_mut(), "{command}").unwrap();
        let mut line = String::new();
        self.control.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| Value::String(line.trim_end().to_owned()))
    }

    fn driver(&self) -> Driver {
        Driver::start(self.nic.port(0).unwrap().socket(), Rings::default())
    }
}

/// The transfers of kind `r` or `w`, without their kind: IOVA and bytes.
fn transfers(answer: &Value, kind: &str) -> Vec<(u64, u64)> {
    let all = answer["dma"].as_array().unwrap();
    let chosen = all.iter().filter(|transfer| transfer[1] == kind);
    let pair = |transfer: &Value| (transfer[2].as_u64().unwrap(), transfer[3].as_u64().unwrap());
    chosen.map(pair).collect()
}

#[test]
fn nothing_arrives_until_the_turn_and_then_the_ring_is_full() {
    let mut card = Card::in_turns(Traffic::Saturate);
    let mut driver = card.driver();
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert_eq!(driver.receive(), None);
    assert_eq!(card.ask("turn")["received"], 63);
    assert_eq!(driver.receive_all().len(), 63);
    assert_eq!(card.ask("turn")["received"], 63);
    assert_eq!(card.ask("turn")["received"], 0);
}

#[test]
fn a_turn_leaves_as_many_frames_as_asked_for() {
    let mut card = Card::in_turns(Traffic::Saturate);
    let mut driver = card.driver();
    assert_eq!(card.ask("turn 0")["received"], 0);
    assert_eq!(card.ask("turn 5")["received"], 5);
    assert_eq!(card.ask("turn 5")["received"], 0, "five frames wait");
    driver.receive().unwrap();
    driver.receive().unwrap();
    assert_eq!(card.ask("turn 5")["received"], 2);
    assert_eq!(driver.receive_all().len(), 5);
    assert_eq!(card.ask("turn")["received"], 63, "the limit is gone");
}

#[test]
fn a_turn_lists_every_transfer_in_order() {
    let mut card = Card::in_turns(Traffic::Saturate);
    let mut driver = card.driver();
    let answer = card.ask("turn 1");
    let [ring, buffer] = [IOVA, IOVA + 0x4_0000];
    assert_eq!(
        answer["dma"],
        json!([[0, "r", ring, 16], [0, "w", buffer, 60], [0, "w", ring, 16]])
    );
    let sent = driver.receive().unwrap();
    driver.transmit(&sent);
    driver.transmit(&frame(100, 1));
    let answer = card.ask("turn 0");
    assert_eq!(answer["transmitted"], 2);
    let [ring, buffer] = [IOVA + 0x1_0000, IOVA + driver.tx_buffer(0) as u64];
    let reads = [(ring, 32), (buffer, 60), (buffer + 2048, 100)];
    assert_eq!(transfers(&answer, "r"), reads);
    assert_eq!(transfers(&answer, "w"), [(ring, 16), (ring + 16, 16)]);
    assert_eq!(card.ask("turn 0")["dma"], json!([]));
    let quiet = card.ask("turn 5 quiet");
    assert_eq!((&quiet["received"], &quiet["dma"]), (&json!(5), &json!([])));
    assert_eq!(
        card.ask("turn 5")["dma"],
        json!([]),
        "a quiet turn is forgotten"
    );
}

#[test]
fn the_maps_name_rings_and_files() {
    let mut card = Card::in_turns(Traffic::Off);
    assert_eq!(card.ask("maps")["ports"][0]["maps"], json!([]));
    let driver = card.driver();
    let port = &card.ask("maps")["ports"][0];
    let stat = rustix::fs::fstat(&driver.memory.file).unwrap();
    let map = &port["maps"][0];
    assert_eq!(map["iova"], IOVA);
    assert_eq!(map["bytes"], driver.memory.len());
    assert_eq!(map["inode"], stat.st_ino);
    assert_eq!(map["offset"], 0);
    let (major, minor) = (
        rustix::fs::major(stat.st_dev),
        rustix::fs::minor(stat.st_dev),
    );
    assert_eq!(map["device"], json!([major, minor]));
    let ring = |tail, iova| json!([{"queue": 0, "tail": tail, "iova": iova, "bytes": 1024}]);
    assert_eq!(port["rx_rings"], ring(r::RDT(0), IOVA));
    assert_eq!(port["tx_rings"], ring(r::TDT(0), IOVA + 0x1_0000));
    assert!(port["registers"]["inode"].as_u64().unwrap() > 0);
}

#[test]
fn a_card_that_runs_by_itself_takes_no_turns() {
    let directory = tempfile::tempdir().unwrap();
    let nic = Nic::new(NicConfig::new(directory.path(), 1)).unwrap();
    let path = directory.path().join("control");
    let _serving = nic.serve_control(&path).unwrap();
    let mut control = connect(&path);
    let mut ask = |command: &str| {
        writeln!(control.get_mut(), "{command}").unwrap();
        let mut line = String::new();
        control.read_line(&mut line).unwrap();
        line
    };
    assert!(ask("turn").contains("start it with --turns"));
    assert!(ask("maps").starts_with("{\"ports\""));
    let _plane = nic.data_plane().unwrap();
    assert!(nic.serve_turns(&directory.path().join("other")).is_err());
}

#[test]
fn wrong_turns_are_refused() {
    let mut card = Card::in_turns(Traffic::Off);
    let text = |answer: Value| answer.as_str().unwrap_or_default().to_owned();
    assert!(text(card.ask("turn some")).contains("\"some\""));
    assert!(text(card.ask("turn 1 2")).contains("at most one number"));
    assert!(text(card.ask("turn quiet 1")).contains("at most one number"));
}
