//! What the wire and the card do, as steps.

use nic::DmaAccess;
use safety_lab::canaries::{BUFFER, DATA};

use super::format::{Dma, Frame, Step};
use super::model::{rx_status, Ring, MAX_SIZE};
use super::recorder::Seen;

/// Bytes of a frame that a recording shows.
const FRAME_BYTES: usize = 64;

impl Seen {
    /// A frame is on its way to port 0.
    pub(super) fn arrives(&mut self, frame: &[u8]) {
        // The card may have acted on its own since its last turn.
        self.card_turn(&[]);
        let number = self.arrived;
        self.arrived += 1;
        self.frames.insert(frame.to_vec(), number);
        self.add(Step {
            actor: "wire",
            point: "wire.arrives",
            text: format!(
                "A frame of {} bytes arrives at port 0: packet {number}",
                frame.len()
            ),
            packet: Some(number),
            frame: Some(shown(frame)),
            ..Step::default()
        });
    }

    /// The card has had its turn, and these frames have left.
    pub(super) fn card_turn(&mut self, sent: &[Vec<u8>]) {
        self.find_rings();
        for (port, accesses) in [self.joined_accesses(0), self.joined_accesses(1)]
            .into_iter()
            .enumerate()
        {
            for access in accesses {
                self.card_accesses(port, access);
            }
        }
        for port in 0..2 {
            let faults = self.ports[port].dma_faults();
            for fault in faults.iter().skip(self.faults[port]) {
                let direction = format!("{:?}", fault.direction).to_lowercase();
                self.add(Step {
                    actor: "device",
                    point: "device.refused",
                    text: format!(
                        "The IOMMU refuses a {direction} of {} bytes: {}",
                        fault.len, fault.refusal
                    ),
                    dma: vec![Dma {
                        direction: if direction == "write" {
                            "write"
                        } else {
                            "read"
                        },
                        what: "outside the maps",
                        iova: format!("{:#x}", fault.iova),
                        bytes: fault.len,
                        map: None,
                        refused: Some(fault.refusal.to_string()),
                    }],
                    note: Some("The memory is unchanged.".into()),
                    ..Step::default()
                });
            }
            self.faults[port] = faults.len();
        }
        for frame in sent {
            let came = |frame: &[u8]| {
                let mut frame = frame.to_vec();
                if let Some(byte) = frame.get_mut(1) {
                    *byte = byte.wrapping_sub(1);
                }
                self.frames.get(&frame).copied()
            };
            let packet = came(frame);
            let note = "No such frame has arrived: bytes are missing, added or changed.";
            self.add(Step {
                actor: "device",
                point: "device.sends",
                text: format!("A frame of {} bytes leaves port 1", frame.len()),
                packet,
                frame: Some(shown(frame)),
                note: packet.is_none().then(|| note.to_owned()),
                ..Step::default()
            });
        }
    }

    /// The card's accesses since the last turn. Fetches of adjacent descriptors are one.
    fn joined_accesses(&self, port: usize) -> Vec<DmaAccess> {
        let mut accesses = self.ports[port].take_dma();
        accesses.dedup_by(|next, kept| {
            let of_ring = !kept.write && !next.write && self.descriptors(kept.iova, 1).is_some();
            let adjacent = of_ring && next.iova == kept.iova + u64::from(kept.bytes);
            if adjacent {
                kept.bytes += next.bytes;
            }
            adjacent
        });
        accesses
    }

    fn card_accesses(&mut self, port: usize, DmaAccess { iova, bytes, write }: DmaAccess) {
        let bytes = u64::from(bytes);
        let (mut step, what, map) = if let Some(found) = self.descriptors(iova, bytes) {
            let step = self.card_descriptor(found, write);
            match found.0 {
                Ring::Receive => (step, "receive descriptor", "receive ring"),
                Ring::Transmit => (step, "transmit descriptor", "transmit ring"),
            }
        } else if let Some(place) = self.model.buffer(iova) {
            let step = self.card_buffer(port, place, bytes, write);
            (step, "frame", "pool")
        } else {
            // The other way's rings and buffers are idle, and are not shown.
            return;
        };
        step.dma = vec![Dma {
            direction: if write { "write" } else { "read" },
            what,
            iova: format!("{iova:#x}"),
            bytes,
            map: Some(map),
            refused: None,
        }];
        match step.point {
            "device.writes_back_rx" | "device.writes_back_tx" => self.add(step),
            // What the card writes later is there already.
            _ => self.add_alone(step),
        }
    }

    /// The card fetches descriptors, or writes them back.
    fn card_descriptor(&self, found: (Ring, usize, usize), write: bool) -> Step {
        let (ring, first, count) = found;
        let which = match count {
            1 => format!("descriptor {first}"),
            _ => format!("descriptors {first} to {}", first + count - 1),
        };
        let (point, text) = match (ring, write) {
            (Ring::Receive, false) => (
                "device.reads_rx_descriptor",
                format!("The card fetches {which} of the receive ring"),
            ),
            (Ring::Transmit, false) => (
                "device.reads_tx_descriptor",
                format!("The card fetches {which} of the transmit ring"),
            ),
            (Ring::Receive, true) => {
                let (_, _, length) = rx_status(self.words(ring, first)[1]);
                let text = format!("The card writes {which} back: DD, {length} bytes");
                let lies = length > MAX_SIZE;
                let note = format!("The length is a lie: a buffer holds {MAX_SIZE} bytes.");
                return Step {
                    packet: self.packet(self.model.slot(ring, first)),
                    note: lies.then_some(note),
                    ..Step::by("device", "device.writes_back_rx", text)
                };
            }
            (Ring::Transmit, true) => (
                "device.writes_back_tx",
                format!("The card reports {which} of the transmit ring as sent: DD"),
            ),
        };
        Step {
            packet: self
                .packet(self.model.slot(ring, first))
                .filter(|_| count == 1),
            ..Step::by("device", point, text)
        }
    }

    /// The card reads or writes a buffer, from an offset on.
    fn card_buffer(&mut self, port: usize, place: (usize, u64), bytes: u64, write: bool) -> Step {
        let (buffer, offset) = place;
        let (point, text) = match write {
            true if offset == DATA && port == 0 => {
                let mut frame = vec![0; bytes as usize];
                let iova = self.model.pool + buffer as u64 * BUFFER + offset;
                // The card has just written there.
                let _ = self.ports[0].driver_memory().read(iova, &mut frame);
                if let Some(number) = self.frames.get(&frame) {
                    self.packets.insert(buffer, *number);
                }
                let text = format!("The card writes the frame to buffer {buffer}");
                ("device.writes_frame", text)
            }
            true => {
                let text = format!(
                    "The card writes {bytes} bytes to offset {offset} of buffer {buffer}, unasked"
                );
                ("device.rogue_write", text)
            }
            false => {
                let text = format!("The card reads {bytes} bytes of buffer {buffer} to send them");
                ("device.reads_frame", text)
            }
        };
        let beyond = offset + bytes > BUFFER;
        let note = "The access goes beyond the end of the buffer.".to_owned();
        Step {
            packet: self.packet(Some(buffer)),
            note: beyond.then_some(note),
            ..Step::by("device", point, text)
        }
    }
}

fn shown(frame: &[u8]) -> Frame {
    let bytes = frame.iter().take(FRAME_BYTES);
    Frame {
        length: frame.len(),
        bytes: bytes.map(|byte| format!("{byte:02x}")).collect(),
    }
}
