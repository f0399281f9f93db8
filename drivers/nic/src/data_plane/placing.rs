//! A data plane that is stepped by hand can leave the lines that its DMA wrote where a real card's DMA would
//! have left them.

use crate::config::Placement;
use crate::data_plane::port_plane::PortPlane;
use crate::memory::dma_log::DmaAccess;
use crate::memory::placement::{ticks, Placer, Unplaceable};
use crate::traffic::frame::MIN_FRAME;

/// Where the lines go, and what the last round wrote.
#[derive(Debug)]
pub(super) struct Placing {
    placer: Placer,
    /// Port and write.
    written: Vec<(usize, DmaAccess)>,
}

impl Placing {
    /// From now on, the ports remember what their DMA wrote. The general path, which is slower, moves all frames.
    pub(super) fn new(placement: Placement, ports: &[PortPlane]) -> Result<Self, Unplaceable> {
        let placing = Self {
            placer: Placer::new(placement)?,
            written: Vec::new(),
        };
        for port in ports {
            port.shared.lock().dma.table.log.switch(true);
        }
        Ok(placing)
    }

    /// Moves the lines that the last round wrote.
    pub(super) fn place(&mut self, ports: &[PortPlane]) {
        self.written.clear();
        for (index, port) in ports.iter().enumerate() {
            let device = port.shared.lock();
            let table = &device.dma.table;
            let mut writes = table.log.take();
            writes.retain(|access| access.write);
            let window = |write: &DmaAccess| table.window(write.iova, write.bytes as usize);
            self.placer.place(writes.iter().filter_map(window));
            self.written
                .extend(writes.into_iter().map(|write| (index, write)));
        }
    }

    /// See [`DataPlane::placed_load_ticks`](crate::DataPlane::placed_load_ticks).
    pub(super) fn load_ticks(&mut self, ports: &[PortPlane]) -> Option<f64> {
        let written = std::mem::take(&mut self.written);
        let devices: Vec<_> = ports.iter().map(|port| port.shared.lock()).collect();
        let mut packets: Vec<_> = written
            .iter()
            .filter(|(_, write)| write.bytes as usize >= MIN_FRAME)
            .collect();
        // No prefetcher guesses the way of this chain.
        packets.sort_by_key(|(_, write)| write.iova.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let windows: Vec<_> = packets
            .iter()
            .filter_map(|(port, write)| devices[*port].dma.table.window(write.iova, MIN_FRAME))
            .collect();
        if windows.is_empty() {
            return None;
        }
        let start = ticks();
        let last = windows
            .iter()
            .fold(0, |word, window| window.load_after(word));
        std::hint::black_box(last);
        let end = ticks();
        Some(end.wrapping_sub(start) as f64 / windows.len() as f64)
    }
}
