//! A card in turns: it works only when it is asked to, and tells what it did.
#![allow(clippy::unwrap_used)]

mod support;

use nic::{registers as r, MmioMode, Traffic};
use serde_json::{json, Value};
use support::{frame, Bench, Control, Driver, Rings, BUFFER, IOVA, RX_BUFFERS, TX_RING};

struct Card {
    bench: Bench,
    control: Control,
    _serving: nic::ControlSocket,
}

impl Card {
    fn in_turns(traffic: Traffic) -> Self {
        let bench = Bench::traffic(MmioMode::Shared, traffic);
        let path = bench.folder.path().join("control");
        Self {
            _serving: bench.nic.serve_turns(&path).unwrap(),
            control: Control::connect(&path),
            bench,
        }
    }

    fn ask(&mut self, command: &str) -> Value {
        let line = self.control.ask(&format!("{command}\n"));
        serde_json::from_str(&line).unwrap_or(Value::String(line))
    }

    fn driver(&self) -> Driver {
        self.bench.driver(0, Rings::default())
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
    let [ring, buffer] = [IOVA, IOVA + RX_BUFFERS as u64];
    assert_eq!(
        answer["dma"],
        json!([[0, "r", ring, 16], [0, "w", buffer, 60], [0, "w", ring, 16]])
    );
    let sent = driver.receive().unwrap();
    driver.transmit(&sent);
    driver.transmit(&frame(100, 1));
    let answer = card.ask("turn 0");
    assert_eq!(answer["transmitted"], 2);
    let [ring, buffer] = [IOVA + TX_RING as u64, IOVA + driver.tx_buffer(0) as u64];
    let reads = [(ring, 32), (buffer, 60), (buffer + BUFFER as u64, 100)];
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
    assert_eq!(port["tx_rings"], ring(r::TDT(0), IOVA + TX_RING as u64));
    assert!(port["registers"]["inode"].as_u64().unwrap() > 0);
}

#[test]
fn a_card_that_runs_by_itself_takes_no_turns() {
    let bench = Bench::new(MmioMode::Shared);
    let path = bench.folder.path().join("control");
    let _serving = bench.nic.serve_control(&path).unwrap();
    let mut control = Control::connect(&path);
    assert!(control.ask("turn\n").contains("start it with --turns"));
    assert!(control.ask("maps\n").starts_with("{\"ports\""));
    let _plane = bench.nic.data_plane().unwrap();
    let other = bench.folder.path().join("other");
    assert!(bench.nic.serve_turns(&other).is_err());
}

#[test]
fn wrong_turns_are_refused() {
    let mut card = Card::in_turns(Traffic::Off);
    let text = |answer: Value| answer.as_str().unwrap_or_default().to_owned();
    assert!(text(card.ask("turn some")).contains("\"some\""));
    assert!(text(card.ask("turn 1 2")).contains("at most one number"));
    assert!(text(card.ask("turn quiet 1")).contains("at most one number"));
}
