//! A stand-in for a generator whose ports are wired to those of a stand-in for a forwarder. Neither has
//! a link without the other: see `fixtures/cable.h`.

#![allow(dead_code, missing_docs, clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use perfcounters::load::{LoadGenerator, PortLink, SentLoad};
use perfcounters::MeasureError;
use record::Conditions;

/// A generator with two ports. It sends only if its ports have a link.
#[derive(Debug)]
pub struct WiredGenerator {
    /// The folder that stands for the cable.
    pub cable: PathBuf,
    /// What was asked of it.
    pub calls: Arc<Mutex<Vec<String>>>,
    /// Whether its second port has a broken cable.
    pub broken: bool,
}

impl WiredGenerator {
    pub fn new(cable: PathBuf) -> Self {
        Self {
            cable,
            calls: Arc::default(),
            broken: false,
        }
    }

    fn note(&self, call: &str) {
        self.calls.lock().unwrap().push(call.to_owned());
    }

    fn up(&self) -> bool {
        self.cable.join("forwarder").exists() && self.cable.join("generator").exists()
    }
}

impl LoadGenerator for WiredGenerator {
    fn describe(&self) -> String {
        "a stand-in".into()
    }

    fn open(&mut self) -> Result<(), MeasureError> {
        let end = self.cable.join("generator");
        if !end.exists() {
            self.note("open");
            std::fs::write(end, "").unwrap();
        }
        Ok(())
    }

    fn links(&mut self) -> Result<Vec<PortLink>, MeasureError> {
        let port = |name: &str, up| PortLink {
            name: name.into(),
            up,
        };
        let up = self.up();
        Ok(vec![port("g0", up), port("g1", up && !self.broken)])
    }

    fn start(&mut self, conditions: &Conditions) -> Result<(), MeasureError> {
        let (size, mpps) = (conditions.frame_size, conditions.offered_mpps);
        self.note(&format!("start {size} {mpps:?}"));
        if self.up() {
            std::fs::write(self.cable.join("sending"), "").unwrap();
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<SentLoad, MeasureError> {
        self.note(if self.up() {
            "stop"
        } else {
            "stop without link"
        });
        let _ = std::fs::remove_file(self.cable.join("sending"));
        // It sends more than the forwarder takes.
        Ok(SentLoad {
            wanted_mpps: 1000.0,
            offered_mpps: 1000.0,
        })
    }

    fn close(&mut self) {
        self.note("close");
        let _ = std::fs::remove_file(self.cable.join("generator"));
    }
}
