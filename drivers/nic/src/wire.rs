//! What is at the other end of a port's wire, besides the NIC's own traffic and cables.

use crate::config::WireTo;
use crate::error::NicError;
use crate::pcap::{Failure, Pcap};
use crate::tap::Tap;

/// An open end of a wire.
#[derive(Debug)]
pub(crate) enum Wire {
    /// An interface of the host.
    Tap(Tap),
    /// Recorded frames. The files' buffers make this large.
    Pcap(Box<Pcap>),
}

impl Wire {
    /// Opens what the configuration names. Later errors go to `failure`.
    pub(crate) fn open(to: &WireTo, failure: &Failure) -> Result<Self, NicError> {
        match to {
            WireTo::Tap(name) => Tap::open(name).map(Self::Tap),
            WireTo::Pcap { input, output } => {
                let pcap = Pcap::open(input.as_deref(), output.as_deref(), failure)?;
                Ok(Self::Pcap(Box::new(pcap)))
            }
        }
    }

    /// Takes frames that the driver has sent.
    pub(crate) fn send(&mut self, frames: impl Iterator<Item = Vec<u8>>) {
        match self {
            Self::Tap(tap) => tap.send(frames),
            Self::Pcap(pcap) => pcap.send(frames),
        }
    }
}
