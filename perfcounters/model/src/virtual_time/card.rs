//! The times of the card and of its wire, from public sources.

use serde::Deserialize;

use super::PICOSECONDS;

/// Bytes that Ethernet adds to a frame on the wire: CRC (4), preamble with start delimiter (8), and
/// the gap between frames (12). IEEE 802.3, clauses 3.1.1 and 4.4.2.
const ETHERNET_BYTES: u64 = 4 + 8 + 12;

/// Times of a card. `data/cards/*.toml` holds them with their sources.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The card in the field's words.
    pub name: String,
    /// Bits per second of one port.
    pub bits_per_second: Sourced,
    /// MAC and PHY, from the wire to the card's packet buffer, nanoseconds.
    pub receive_mac_ns: Sourced,
    /// MAC and PHY, from the card's packet buffer to the wire, nanoseconds.
    pub send_mac_ns: Sourced,
    /// A read of memory by the card, there and back, nanoseconds.
    pub dma_read_ns: Sourced,
    /// A write of the card until the processor sees it, nanoseconds.
    pub dma_write_ns: Sourced,
    /// A write of the processor until a register of the card has it, nanoseconds.
    pub doorbell_ns: Sourced,
    /// By how much the second port's load is slower than the first one's, parts per million. Two
    /// generators never have the same clock, and equal clocks would lock the two ports in phase.
    pub skew_ppm: Sourced,
}

/// A parameter and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced {
    /// The value.
    pub value: u64,
    /// The public document that gives it, or `assumption: ` and the reason.
    pub source: String,
}

/// The file of the card that the published measurements used.
const INTEL_82599: &str = include_str!("../../../data/cards/82599.toml");

/// A card file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// The file is no card file.
    #[error("{file}: {cause}")]
    Format {
        /// The file.
        file: String,
        /// What is wrong.
        cause: Box<toml::de::Error>,
    },
    /// A value that no card has.
    #[error("{file}: {key} is 0: give a positive value")]
    Zero {
        /// The file.
        file: String,
        /// The parameter.
        key: &'static str,
    },
}

impl Card {
    /// The Intel 82599 in a slot of PCI Express.
    ///
    /// # Errors
    /// Never for the file that the build includes; its test reads it.
    pub fn intel_82599() -> Result<Self, CardError> {
        Self::parse("perfcounters/data/cards/82599.toml", INTEL_82599)
    }

    /// A card from the text of its file.
    ///
    /// # Errors
    /// If the text is no card file, or if the rate is 0.
    pub fn parse(file: &str, text: &str) -> Result<Self, CardError> {
        let card: Self = toml::from_str(text).map_err(|cause| CardError::Format {
            file: file.to_owned(),
            cause: Box::new(cause),
        })?;
        if card.bits_per_second.value == 0 {
            return Err(CardError::Zero {
                file: file.to_owned(),
                key: "bits_per_second",
            });
        }
        Ok(card)
    }

    /// Picoseconds from one frame of `frame_bytes` bytes (without CRC) to the next at line rate.
    #[must_use]
    pub fn frame_time(&self, frame_bytes: u32) -> u64 {
        let bits = (u64::from(frame_bytes) + ETHERNET_BYTES) * 8;
        bits * PICOSECONDS / self.bits_per_second.value
    }

    /// Picoseconds from the end of a frame on the wire until the driver sees its descriptor. The
    /// descriptor follows the data on PCI Express, so one write is the whole way.
    #[must_use]
    pub fn receive_time(&self) -> u64 {
        (self.receive_mac_ns.value + self.dma_write_ns.value) * 1000
    }

    /// Picoseconds from the driver's write of TDT until the frame is on the wire: the write arrives,
    /// the card reads the descriptor (82599 datasheet 7.2.3.4), then the data.
    #[must_use]
    pub fn send_time(&self) -> u64 {
        (self.doorbell_ns.value + 2 * self.dma_read_ns.value + self.send_mac_ns.value) * 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_frame_takes_67_2_nanoseconds() {
        let card = Card::intel_82599().unwrap();
        assert_eq!(card.frame_time(60), 67_200);
        assert_eq!(card.frame_time(1514), 1_230_400);
    }

    #[test]
    fn every_time_has_a_source() {
        let card = Card::intel_82599().unwrap();
        for sourced in [
            card.bits_per_second,
            card.receive_mac_ns,
            card.send_mac_ns,
            card.dma_read_ns,
            card.dma_write_ns,
            card.doorbell_ns,
            card.skew_ppm,
        ] {
            assert!(sourced.source.len() > 20, "{}", sourced.source);
        }
    }

    #[test]
    fn a_file_with_a_mistake_is_refused_with_its_name() {
        let unknown = INTEL_82599.replace("[dma_read_ns]", "[dma_reed_ns]");
        let error = Card::parse("cards/x.toml", &unknown)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cards/x.toml") && error.contains("dma_reed_ns"),
            "{error}"
        );
        let no_rate = INTEL_82599.replace("value = 10000000000", "value = 0");
        let error = Card::parse("cards/x.toml", &no_rate)
            .unwrap_err()
            .to_string();
        assert!(error.contains("bits_per_second"), "{error}");
    }
}
