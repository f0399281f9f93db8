//! The addresses under which a driver sees its DMA memory and the card's registers.

use std::ops::Range;

use crate::card::{FileId, PortMemory};

/// The offsets of RDT and TDT of queue 0 in the register space. Drivers of one queue pair ring them.
const TAILS: [u64; 2] = [0x1018, 0x6018];

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    addresses: Range<u64>,
    offset: u64,
    file: FileId,
}

/// The mappings in the text of `/proc/PID/maps`. Lines of another form are left out.
pub(crate) fn mappings(text: &str) -> Vec<Mapping> {
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let parse = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let offset = hex(words.nth(1)?)?;
        let (major, minor) = words.next()?.split_once(':')?;
        Some(Mapping {
            addresses: hex(start)?..hex(end)?,
            offset,
            file: FileId {
                device: (hex(major)? as u32, hex(minor)? as u32),
                inode: words.next()?.parse().ok()?,
            },
        })
    };
    text.lines().filter_map(parse).collect()
}

impl Mapping {
    /// The part of `wanted`, a range of the file, that this mapping holds, and its address.
    fn part_of(&self, wanted: &Range<u64>) -> Option<(u64, Range<u64>)> {
        let len = self.addresses.end - self.addresses.start;
        let start = wanted.start.max(self.offset);
        let end = wanted.end.min(self.offset + len);
        (start < end).then(|| (self.addresses.start + (start - self.offset), start..end))
    }
}

fn of_file(mappings: &[Mapping], file: FileId) -> impl Iterator<Item = &Mapping> {
    mappings.iter().filter(move |mapping| mapping.file == file)
}

/// The addresses of the tail registers.
pub(crate) fn tails(registers: &[FileId], mappings: &[Mapping]) -> Vec<u64> {
    let maps = registers.iter().flat_map(|file| of_file(mappings, *file));
    let places = maps.flat_map(|map| TAILS.map(|tail| map.part_of(&(tail..tail + 4))));
    places.flatten().map(|(address, _)| address).collect()
}

/// A part of a DMA map that the driver sees in one piece.
#[derive(Clone, Debug)]
struct Piece {
    iova: Range<u64>,
    address: u64,
}

/// Where the driver sees what it shares with the card.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// For each port: the pieces of its DMA maps by IOVA.
    ports: Vec<Vec<Piece>>,
    /// For each mapping of registers: its port, its addresses, and the offset of the first.
    registers: Vec<(usize, Range<u64>, u64)>,
}

/// What an address of the driver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory that the card reaches too, by its IOVA.
    Memory(u64),
    /// A register of a port, by its offset in the register space.
    Register {
        /// The port.
        port: usize,
        /// The offset.
        offset: u64,
    },
}

impl Addresses {
    /// Joins what the card and the kernel say.
    pub(crate) fn new(ports: &[PortMemory], mappings: &[Mapping]) -> Self {
        let pieces = |port: &PortMemory| {
            let pieces = port.maps.iter().flat_map(|map| {
                let wanted = map.offset..map.offset + map.bytes;
                of_file(mappings, map.file).filter_map(move |mapping| {
                    let (address, part) = mapping.part_of(&wanted)?;
                    let start = map.iova + (part.start - map.offset);
                    let iova = start..start + (part.end - part.start);
                    Some(Piece { iova, address })
                })
            });
            let mut pieces: Vec<_> = pieces.collect();
            pieces.sort_by_key(|piece| (piece.iova.start, piece.address));
            pieces
        };
        let registers = ports.iter().enumerate().flat_map(|(nth, port)| {
            let maps = of_file(mappings, port.registers);
            maps.map(move |map| (nth, map.addresses.clone(), map.offset))
        });
        Self {
            ports: ports.iter().map(pieces).collect(),
            registers: registers.collect(),
        }
    }

    /// The memory that the card can reach, each part once, sorted by address.
    pub(crate) fn card_memory(&self) -> Vec<Range<u64>> {
        let mut parts: Vec<(u64, Range<u64>)> = Vec::new();
        for piece in self.ports.iter().flatten() {
            let (start, bytes) = (piece.address, piece.iova.end - piece.iova.start);
            let end = start + bytes;
            match parts.last_mut() {
                // A map that the driver sees in several adjacent mappings is one piece of memory.
                Some((iova, last)) if *iova == piece.iova.start && last.end == start => {
                    (*iova, last.end) = (piece.iova.end, end);
                }
                _ => parts.push((piece.iova.end, start..end)),
            }
        }
        let mut regions: Vec<_> = parts.into_iter().map(|(_, region)| region).collect();
        regions.sort_by_key(|region| region.start);
        // Both ports may reach the same memory.
        regions.dedup_by(|next, kept| next.start < kept.end);
        regions
    }

    /// The driver's address of an IOVA.
    pub(crate) fn of_iova(&self, port: usize, iova: u64) -> Option<u64> {
        let mut pieces = self.ports.get(port)?.iter().rev();
        let piece = pieces.find(|piece| piece.iova.contains(&iova))?;
        Some(piece.address + (iova - piece.iova.start))
    }

    /// Whether an address is a register of the card.
    pub(crate) fn is_register(&self, address: u64) -> bool {
        let mut registers = self.registers.iter();
        registers.any(|(_, range, _)| range.contains(&address))
    }

    /// What an address is, if the card has to do with it.
    pub(crate) fn place(&self, address: u64) -> Option<Place> {
        let mut registers = self.registers.iter();
        if let Some((port, range, offset)) =
            registers.find(|(_, range, _)| range.contains(&address))
        {
            let offset = offset + (address - range.start);
            return Some(Place::Register {
                port: *port,
                offset,
            });
        }
        let mut pieces = self.ports.iter().flatten();
        pieces.find_map(|piece| {
            let inside = address.checked_sub(piece.address)?;
            let iova = piece.iova.start + inside;
            piece.iova.contains(&iova).then_some(Place::Memory(iova))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Map;

    const MAPS: &str = "\
555555554000-555555558000 r-xp 00001000 08:01 77 /a folder/ixgbe-fwd
7ffff0000000-7ffff0200000 rw-s 00000000 00:01 42 /memfd:ixgbe-dma (deleted)
7ffff0200000-7ffff0400000 rw-s 00200000 00:01 42 /memfd:ixgbe-dma (deleted)
7ffff7000000-7ffff7001000 rw-s 00001000 00:01 43 /memfd:registers (deleted)
7ffff7ffd000-7ffff7fff000 rw-p 00000000 00:00 0
";

    fn file(inode: u64) -> FileId {
        FileId {
            device: (0, 1),
            inode,
        }
    }

    fn port() -> PortMemory {
        PortMemory {
            registers: file(43),
            maps: vec![Map {
                iova: 0x10_0000,
                bytes: 0x30_0000,
                file: file(42),
                offset: 0x10_0000,
            }],
        }
    }

    #[test]
    fn an_iova_has_the_address_of_its_place_in_the_file() {
        let addresses = Addresses::new(&[port()], &mappings(MAPS));
        assert_eq!(addresses.of_iova(0, 0x10_0000), Some(0x7fff_f010_0000));
        assert_eq!(addresses.of_iova(0, 0x20_0008), Some(0x7fff_f020_0008));
        assert_eq!(addresses.of_iova(0, 0x40_0000), None);
        assert_eq!(addresses.of_iova(1, 0x10_0000), None);
    }

    #[test]
    fn memory_of_the_card_is_listed_once() {
        let addresses = Addresses::new(&[port(), port()], &mappings(MAPS));
        let memory = 0x7fff_f010_0000..0x7fff_f040_0000;
        assert_eq!(addresses.card_memory(), [memory]);
    }

    #[test]
    fn registers_are_found_in_mapped_pages_only() {
        let addresses = Addresses::new(&[port()], &mappings(MAPS));
        assert!(addresses.is_register(0x7fff_f700_0000));
        assert!(!addresses.is_register(0x7fff_f700_1000));
        assert_eq!(tails(&[file(43)], &mappings(MAPS)), [0x7fff_f700_0018]);
    }
}
