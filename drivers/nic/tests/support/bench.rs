//! A card under test.

use nic::{
    DataPlane, MmioMode, Nic, NicConfig, Port, PortConfig, Progress, RunningDataPlane, Traffic,
};
use tempfile::TempDir;

use super::{eventually, Client, Driver, Rings};

pub const MODES: [MmioMode; 2] = [MmioMode::Shared, MmioMode::Trap];

/// A card of two ports. The test does the data plane's rounds, or lets it run.
pub struct Bench {
    pub nic: Nic,
    plane: Option<DataPlane>,
    pub folder: TempDir,
}

impl Bench {
    /// A card with trapped registers, after a change of its configuration.
    pub fn of(change: impl FnOnce(NicConfig) -> NicConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = NicConfig::new(folder.path(), 2).with_mmio(MmioMode::Trap);
        let nic = Nic::new(change(config)).unwrap();
        let plane = None;
        Self { nic, plane, folder }
    }

    /// A card with trapped registers, after a change of each port.
    pub fn with(change: impl FnMut(&mut PortConfig)) -> Self {
        Self::of(|config| config.with_each_port(change))
    }

    /// A card that keeps the frames that its driver sends.
    pub fn new(mmio: MmioMode) -> Self {
        let capture = |port: &mut PortConfig| port.capture = true;
        Self::of(|config| config.with_mmio(mmio).with_each_port(capture))
    }

    /// A card with a frame for every free descriptor.
    pub fn saturated(mmio: MmioMode) -> Self {
        Self::traffic(mmio, Traffic::Saturate)
    }

    pub fn traffic(mmio: MmioMode, traffic: Traffic) -> Self {
        let set = |port: &mut PortConfig| port.traffic = traffic;
        Self::of(|config| config.with_mmio(mmio).with_each_port(set))
    }

    pub fn port(&self, index: usize) -> Port {
        self.nic.port(index).unwrap().clone()
    }

    /// A card and a client of port 0.
    pub fn connected(mmio: MmioMode) -> (Self, Client) {
        let bench = Self::new(mmio);
        let client = bench.client(0);
        (bench, client)
    }

    pub fn client(&self, port: usize) -> Client {
        Client::connect(self.port(port).socket())
    }

    pub fn driver(&self, port: usize, rings: Rings) -> Driver {
        Driver::start(self.port(port).socket(), rings)
    }

    /// A driver of port 0 that the card has noticed.
    pub fn started(&mut self, rings: Rings) -> Driver {
        let driver = self.driver(0, rings);
        self.poll();
        driver
    }

    /// The data plane, which the test steps from now on.
    pub fn plane(&mut self) -> &mut DataPlane {
        let nic = &self.nic;
        self.plane.get_or_insert_with(|| nic.data_plane().unwrap())
    }

    /// Steps a data plane that has run.
    pub fn take_back(&mut self, running: RunningDataPlane) {
        self.plane = running.stop();
    }

    /// Does a round.
    pub fn poll(&mut self) -> Progress {
        self.plane().poll()
    }

    /// Does as many rounds as the ends of a cable need to agree.
    pub fn settle(&mut self) {
        for _ in 0..3 {
            self.poll();
        }
    }

    /// Puts a frame on the wire of port 0.
    pub fn inject(&self, frame: &[u8]) {
        self.port(0).inject(frame).unwrap();
    }

    /// Lets frames arrive at port 0.
    pub fn arrive(&mut self, frames: &[Vec<u8>]) -> Progress {
        frames.iter().for_each(|frame| self.inject(frame));
        self.poll()
    }

    /// The frames that port 0 has sent since the last call.
    pub fn sent(&self) -> Vec<Vec<u8>> {
        self.port(0).take_transmitted()
    }

    /// A register of port 0.
    pub fn peek(&self, register: u32) -> u32 {
        self.port(0).registers().peek(register)
    }

    /// Waits until the card has noticed that all drivers have left.
    pub fn until_free(&self) {
        eventually("the card notices that its drivers have left", || {
            self.nic.ports().iter().all(|port| !port.connected())
        });
    }
}
