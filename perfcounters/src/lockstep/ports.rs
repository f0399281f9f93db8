//! The NIC side of lockstep: two ports that only move packets when they are stepped.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nic::{DataPlane, FrameSizes, Nic, NicConfig, Traffic, VerifyMode};
use record::LinePlacement;

use crate::lines::card_placement;

/// Runs `work` while another thread steps the ports: opening and closing a driver wait for the NIC.
pub(super) fn while_stepping<R>(ports: &mut SoftwarePorts, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ports.step();
                thread::yield_now();
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// The software NIC, in this process and without a data-plane thread of its own.
pub(super) struct SoftwarePorts {
    devices: [String; 2],
    data_plane: DataPlane,
    /// Serves the sockets until the driver has closed.
    _nic: Nic,
}

impl SoftwarePorts {
    /// A NIC with two ports that fills every free receive descriptor; its sockets are in `folder`. Without a
    /// `placement`, its DMA takes the fastest way and leaves lines where they are.
    pub(super) fn start(
        folder: &Path,
        frame_size: u32,
        placement: Option<LinePlacement>,
    ) -> Result<Self, String> {
        let sizes: FrameSizes = frame_size
            .to_string()
            .parse()
            .map_err(|error| format!("frames of {frame_size} bytes: {error}"))?;
        let config = NicConfig::new(folder, 2).with_each_port(|port| {
            port.traffic = Traffic::Saturate;
            port.sizes = sizes.clone();
            // The conformance tests verify the frames. Here, verifying would evict the driver's data
            // from the caches.
            port.verify = VerifyMode::Off;
        });
        let nic = Nic::new(config).map_err(|error| error.to_string())?;
        let mut data_plane = nic.data_plane().map_err(|error| error.to_string())?;
        if let Some(placement) = placement {
            let placed = data_plane.set_placement(card_placement(placement));
            placed.map_err(|error| error.to_string())?;
        }
        match nic.ports() {
            [a, b] => Ok(Self {
                devices: [a.device_name(), b.device_name()],
                data_plane,
                _nic: nic,
            }),
            ports => Err(format!("the software NIC has {} ports, not 2", ports.len())),
        }
    }

    /// Names under which a driver opens the ports.
    pub(super) fn devices(&self) -> [String; 2] {
        self.devices.clone()
    }

    /// Takes what the driver has sent, and fills its receive rings with packets.
    pub(super) fn step(&mut self) {
        self.data_plane.poll();
    }

    /// Time of a load from a packet that the last step placed, in TSC cycles; `None` if lines stay where they
    /// are.
    pub(super) fn placed_load(&mut self) -> Option<f64> {
        self.data_plane.placed_load_ticks()
    }
}
