//! A ring at a moment of the tour, as the pictures show it.

use anyhow::{ensure, Result};
use nic::RingView;

/// DD and EOP in the upper half of a receive descriptor, and the place of the length (7.1.6.2).
const RX_DD: u64 = 1;
const RX_EOP: u64 = 2;
const RX_LENGTH_SHIFT: u32 = 32;
/// DD in the upper half of a transmit descriptor, and the length in its lowest bits (7.2.3.2.4).
const TX_DD: u64 = 1 << 32;
const TX_LENGTH: u64 = 0xffff;

/// Which ring it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Receive,
    Transmit,
}

impl Kind {
    /// The names of the head's register and the tail's register.
    pub fn registers(self) -> [&'static str; 2] {
        match self {
            Self::Receive => ["RDH", "RDT"],
            Self::Transmit => ["TDH", "TDT"],
        }
    }
}

/// What a descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// All bits are 0: the driver has not written the descriptor yet.
    Zero,
    /// It points to an empty buffer.
    Empty,
    /// It points to a full buffer, with so many bytes.
    Full(u64),
    /// DD: the card has received a frame of so many bytes; false if the frame goes on.
    Received(u64, bool),
    /// DD: the card has sent the packet.
    Sent,
}

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub says: Says,
    /// Number of the buffer that the descriptor points to, or pointed to before the card wrote DD.
    pub buffer: Option<usize>,
}

/// A ring at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The step of the tour.
    pub step: usize,
    /// What has just happened, in words.
    pub title: String,
    pub ring: Kind,
    /// RDH or TDH.
    pub head: u32,
    /// RDT or TDT.
    pub tail: u32,
    /// The first of the descriptors that the picture shows in detail.
    pub first: usize,
    pub descriptors: Vec<Descriptor>,
}

impl Moment {
    /// Whether the card owns a descriptor: from the head up to the tail, without the tail.
    pub fn card_owns(&self, index: usize) -> bool {
        let size = self.descriptors.len();
        let from_head = |index: usize| (index + size - self.head as usize) % size;
        from_head(index) < from_head(self.tail as usize)
    }
}

/// Numbers the buffers of a run in the order in which they appear, so that their addresses, which
/// differ from driver to driver, play no part.
#[derive(Debug, Default)]
pub struct Buffers {
    addresses: Vec<u64>,
    /// The buffer to which each descriptor of the receive and of the transmit ring pointed last.
    last: [Vec<Option<usize>>; 2],
}

impl Buffers {
    fn number(&mut self, address: u64) -> usize {
        let known = self.addresses.iter().position(|known| *known == address);
        known.unwrap_or_else(|| {
            self.addresses.push(address);
            self.addresses.len() - 1
        })
    }

    /// Reads the descriptors of a ring. The card overwrites the address when it writes DD; then the
    /// buffer is the one that the driver must remember.
    ///
    /// # Errors
    /// If a descriptor is neither what a driver nor what the card writes.
    pub fn read(&mut self, kind: Kind, view: &RingView) -> Result<Vec<Descriptor>> {
        let ring = kind as usize;
        self.last[ring].resize(view.descriptors.len(), None);
        let mut read = Vec::new();
        for (index, [lower, upper]) in view.descriptors.iter().enumerate() {
            let says = says(kind, *lower, *upper);
            match says {
                Says::Empty | Says::Full(_) => {
                    let number = self.number(*lower);
                    self.last[ring][index] = Some(number);
                }
                Says::Zero => self.last[ring][index] = None,
                Says::Received(..) | Says::Sent => ensure!(
                    self.last[ring][index].is_some(),
                    "{kind:?} descriptor {index} is done, but never had a buffer"
                ),
            }
            read.push(Descriptor {
                says,
                buffer: self.last[ring][index],
            });
        }
        Ok(read)
    }
}

fn says(kind: Kind, lower: u64, upper: u64) -> Says {
    match kind {
        _ if (lower, upper) == (0, 0) => Says::Zero,
        Kind::Receive if upper & RX_DD != 0 => {
            Says::Received(upper >> RX_LENGTH_SHIFT & 0xffff, upper & RX_EOP != 0)
        }
        Kind::Receive => Says::Empty,
        Kind::Transmit if upper & TX_DD != 0 => Says::Sent,
        Kind::Transmit => Says::Full(upper & TX_LENGTH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_owns_from_the_head_up_to_the_tail() {
        let mut moment = Moment {
            step: 1,
            title: String::new(),
            ring: Kind::Receive,
            head: 0,
            tail: 0,
            first: 0,
            descriptors: vec![
                Descriptor {
                    says: Says::Zero,
                    buffer: None
                };
                4
            ],
        };
        let owned = |moment: &Moment| -> Vec<usize> {
            (0..4).filter(|index| moment.card_owns(*index)).collect()
        };
        assert_eq!(owned(&moment), [0; 0]);
        moment.tail = 3;
        assert_eq!(owned(&moment), [0, 1, 2]);
        (moment.head, moment.tail) = (3, 1);
        assert_eq!(owned(&moment), [0, 3]);
    }

    #[test]
    fn a_done_descriptor_has_the_buffer_that_it_pointed_to() {
        let mut buffers = Buffers::default();
        let mut view = RingView {
            head: 0,
            tail: 0,
            descriptors: vec![[0x9000, 0], [0x5000, 0]],
        };
        let read = buffers.read(Kind::Receive, &view).unwrap();
        assert_eq!(read[1].buffer, Some(1));
        view.descriptors[1] = [0, 60 << 32 | 3];
        let read = buffers.read(Kind::Receive, &view).unwrap();
        assert_eq!(read[1].says, Says::Received(60, true));
        assert_eq!(read[1].buffer, Some(1));
        view.descriptors[1] = [0x9000, 0];
        let read = buffers.read(Kind::Receive, &view).unwrap();
        assert_eq!((read[0].buffer, read[1].buffer), (Some(0), Some(0)));
    }
}
