//! A ring at a moment of the tour: its states, and their text for a terminal and for readers who do not see the
//! pictures.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Who owns a descriptor. The card does from the head up to the tail, without the tail.
    pub fn owner(&self, index: usize) -> &'static str {
        let size = self.descriptors.len();
        let from_head = |index: usize| (index + size - self.head as usize) % size;
        if from_head(index) < from_head(self.tail as usize) {
            "card"
        } else {
            "driver"
        }
    }

    /// What has just happened, without a full stop.
    pub fn title(&self) -> &str {
        self.title.trim_end_matches('.')
    }

    /// Head, tail, and a line for each descriptor. Neighbours that are alike share a line.
    pub fn text(&self) -> String {
        let [head, tail] = self.ring.registers();
        let mut text = format!("Step {}. {}\n", self.step, self.title());
        text += &format!("{head} {}, {tail} {}\n", self.head, self.tail);
        let mut first = 0;
        for next in 1..=self.descriptors.len() {
            if next < self.descriptors.len() && self.continues(next) {
                continue;
            }
            let last = next - 1;
            let place = range(first, last);
            let owner = self.owner(first);
            text += &format!("  {place:<9}  {owner:<6}  {}\n", self.said(first, last));
            first = next;
        }
        text
    }

    /// Whether a descriptor is as the one before: same owner, same contents, and the next buffer.
    fn continues(&self, index: usize) -> bool {
        let [before, next] = [index - 1, index].map(|at| self.descriptors[at]);
        let follows = match (before.buffer, next.buffer) {
            (Some(before), Some(next)) => before + 1 == next,
            (before, next) => before == next,
        };
        self.owner(index - 1) == self.owner(index) && before.says == next.says && follows
    }

    fn said(&self, first: usize, last: usize) -> String {
        let [one, other] = [first, last].map(|at| self.descriptors[at]);
        let buffers = match (one.buffer, other.buffer) {
            (Some(one), Some(other)) if one != other => format!("buffers {one} to {other}"),
            (Some(one), _) => format!("buffer {one}"),
            (None, _) => "no buffer".to_owned(),
        };
        match one.says {
            Says::Zero => "never written".to_owned(),
            Says::Empty => format!("{buffers}, empty"),
            Says::Full(bytes) => format!("{buffers}, {bytes} bytes"),
            Says::Received(bytes, true) => format!("{buffers}, DD, {bytes} bytes"),
            Says::Received(bytes, false) => format!("{buffers}, DD, {bytes} bytes and more"),
            Says::Sent => format!("{buffers}, DD, sent"),
        }
    }
}

fn range(first: usize, last: usize) -> String {
    if first == last {
        return first.to_string();
    }
    format!("{first} to {last}")
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
    fn the_card_owns_from_the_head_up_to_the_tail_and_neighbours_share_a_line() {
        let empty = |buffer| Descriptor {
            says: Says::Empty,
            buffer: Some(buffer),
        };
        let mut moment = Moment {
            step: 3,
            title: "After the doorbell".to_owned(),
            ring: Kind::Receive,
            head: 0,
            tail: 3,
            first: 0,
            descriptors: vec![empty(0), empty(1), empty(7), empty(8)],
        };
        assert_eq!(
            moment.text(),
            "Step 3. After the doorbell\nRDH 0, RDT 3\n  \
             0 to 1     card    buffers 0 to 1, empty\n  \
             2          card    buffer 7, empty\n  \
             3          driver  buffer 8, empty\n"
        );
        (moment.head, moment.tail) = (3, 1);
        let owners = [0, 1, 2, 3].map(|index| moment.owner(index));
        assert_eq!(owners, ["card", "driver", "driver", "card"]);
        moment.tail = 3;
        assert_eq!(moment.owner(3), "driver");
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
