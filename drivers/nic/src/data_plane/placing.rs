//! A data plane that is stepped by hand can leave the lines that its DMA wrote where a real card's DMA would
//! have left them.

use crate::data_plane::plane::DataPlane;
use crate::memory::dma_log::DmaAccess;
use crate::memory::placement::{ticks, Placement, Placer, Unplaceable};
use crate::traffic::frame::MIN_FRAME;

/// Where the lines go, and what the last round wrote.
#[derive(Debug)]
pub(super) struct Placing {
    placer: Placer,
    /// Port and write.
    written: Vec<(usize, DmaAccess)>,
}

impl DataPlane {
    /// From now on, [`DataPlane::poll`] leaves the lines that the round's DMA wrote at `placement`: packets, and
    /// write-backs of both rings. The general path, which is slower, moves all frames then.
    ///
    /// # Errors
    /// [`Unplaceable`] if this processor has no means.
    pub fn set_placement(&mut self, placement: Placement) -> Result<(), Unplaceable> {
        self.placing = Some(Placing {
            placer: Placer::new(placement)?,
            written: Vec::new(),
        });
        for port in &self.ports {
            port.shared.lock().dma.log.switch_on();
        }
        Ok(())
    }

    /// Moves the lines that the last round wrote.
    pub(super) fn place_lines(&mut self) {
        let Some(placing) = &mut self.placing else {
            return;
        };
        placing.written.clear();
        for (index, port) in self.ports.iter().enumerate() {
            let device = port.shared.lock();
            let accesses = device.dma.log.take().into_iter();
            let writes = accesses.filter(|access| access.write);
            placing.written.extend(writes.map(|write| (index, write)));
            let here = placing.written.iter().filter(|(port, _)| *port == index);
            let windows =
                here.filter_map(|(_, write)| device.dma.window(write.iova, write.bytes as usize));
            placing.placer.place(windows);
        }
    }

    /// Time of one load from a packet that the last [`DataPlane::poll`] received, in ticks of the time-stamp
    /// counter: the mean over all of them, in a chain. It shows that the placement took effect, and undoes it.
    /// `None` if no packet was received, or no placement is set.
    pub fn placed_load_ticks(&mut self) -> Option<f64> {
        let written = std::mem::take(&mut self.placing.as_mut()?.written);
        let devices: Vec<_> = self.ports.iter().map(|port| port.shared.lock()).collect();
        let mut packets: Vec<_> = written
            .iter()
            .filter(|(_, write)| write.bytes as usize >= MIN_FRAME)
            .collect();
        // No prefetcher guesses the way of this chain.
        packets.sort_by_key(|(_, write)| write.iova.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let windows: Vec<_> = packets
            .iter()
            .filter_map(|(port, write)| devices[*port].dma.window(write.iova, MIN_FRAME))
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
