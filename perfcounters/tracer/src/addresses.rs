//! The addresses under which a driver sees its rings, packets and registers.

use std::ops::Range;

use caches::stream::Region;

use crate::card::{FileId, PortMemory};

/// A line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) addresses: Range<u64>,
    pub(crate) offset: u64,
    pub(crate) file: FileId,
    pub(crate) executable: bool,
    /// Whether it can be read and written.
    pub(crate) writable: bool,
    pub(crate) path: String,
}

/// The mappings in the text of `/proc/PID/maps`. Lines of another form are left out.
pub(crate) fn mappings(text: &str) -> Vec<Mapping> {
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let parse = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let offset = hex(words.next()?)?;
        let (major, minor) = words.next()?.split_once(':')?;
        let inode = words.next()?.parse().ok()?;
        let path: Vec<&str> = words.collect();
        Some(Mapping {
            addresses: hex(start)?..hex(end)?,
            offset,
            file: FileId {
                device: (hex(major)? as u32, hex(minor)? as u32),
                inode,
            },
            executable: rights.contains('x'),
            writable: rights.starts_with("rw"),
            path: path.join(" "),
        })
    };
    text.lines().filter_map(parse).collect()
}

/// A part of a DMA map that the driver sees in one piece.
#[derive(Clone, Debug)]
struct Piece {
    iova: Range<u64>,
    address: u64,
}

/// Where the driver sees what it shares with the card.
#[derive(Clone, Debug, Default)]
pub(crate) struct Addresses {
    /// For each port: the pieces of its DMA maps by IOVA.
    ports: Vec<Vec<Piece>>,
    registers: Vec<Range<u64>>,
    /// Memory that can be read and written, sorted.
    plain: Vec<Range<u64>>,
    /// The tail registers.
    pub(crate) tails: Vec<u64>,
    rx_rings: Vec<Range<u64>>,
}

impl Addresses {
    /// Joins what the card and the kernel say.
    pub(crate) fn new(ports: &[PortMemory], mappings: &[Mapping]) -> Self {
        let plain = mappings.iter().filter(|mapping| mapping.writable);
        let mut all = Self {
            plain: plain.map(|mapping| mapping.addresses.clone()).collect(),
            ..Self::default()
        };
        for port in ports {
            let mut pieces = Vec::new();
            for map in &port.maps {
                let wanted = map.offset..map.offset + map.bytes;
                for mapping in of_file(mappings, map.file) {
                    let Some((address, part)) = part_of(mapping, &wanted) else {
                        continue;
                    };
                    let start = map.iova + (part.start - map.offset);
                    pieces.push(Piece {
                        iova: start..start + (part.end - part.start),
                        address,
                    });
                }
            }
            pieces.sort_by_key(|piece| (piece.iova.start, piece.address));
            let address_of = |iova| translate(&pieces, iova);
            let rings = port.rx_rings.iter().filter_map(|ring| {
                let start = address_of(ring.iova)?;
                Some(start..start + ring.bytes)
            });
            all.rx_rings.extend(rings);
            all.ports.push(pieces);
            let rings = port.rx_rings.iter().chain(&port.tx_rings);
            let tails: Vec<u64> = rings.map(|ring| ring.tail).collect();
            for mapping in of_file(mappings, port.registers) {
                all.registers.push(mapping.addresses.clone());
                let here = tails.iter().filter_map(|tail| {
                    let (address, _) = part_of(mapping, &(*tail..*tail + 4))?;
                    Some(address)
                });
                all.tails.extend(here);
            }
        }
        all
    }

    /// The memory that the card can reach, each part once, sorted by address.
    pub(crate) fn card_memory(&self) -> Vec<Region> {
        let mut parts: Vec<(u64, Range<u64>)> = Vec::new();
        for piece in self.ports.iter().flatten() {
            let end = piece.address + (piece.iova.end - piece.iova.start);
            match parts.last_mut() {
                // A map that the driver sees in several adjacent mappings is one piece of memory.
                Some((iova, last)) if *iova == piece.iova.start && last.end == piece.address => {
                    (*iova, last.end) = (piece.iova.end, end);
                }
                _ => parts.push((piece.iova.end, piece.address..end)),
            }
        }
        // Both ports may reach the same memory.
        let mut apart: Vec<Region> = Vec::new();
        for (_, part) in parts {
            let at = apart.partition_point(|other| other.start < part.end);
            if at == 0 || apart[at - 1].end <= part.start {
                let region = Region {
                    start: part.start,
                    end: part.end,
                };
                apart.insert(at, region);
            }
        }
        apart
    }

    /// The driver's address of an IOVA.
    pub(crate) fn of_iova(&self, port: usize, iova: u64) -> Option<u64> {
        translate(self.ports.get(port)?, iova)
    }

    /// Whether an address is a register of the card.
    pub(crate) fn is_register(&self, address: u64) -> bool {
        let mut registers = self.registers.iter();
        registers.any(|range| range.contains(&address))
    }

    /// Whether bytes are in memory that can be read and written, and that is no register.
    pub(crate) fn is_plain(&self, address: u64, bytes: usize) -> bool {
        let after = self.plain.partition_point(|range| range.start <= address);
        let range = after.checked_sub(1).and_then(|at| self.plain.get(at));
        let inside = range.is_some_and(|range| range.end - address.min(range.end) >= bytes as u64);
        inside && !self.is_register(address)
    }

    /// Whether an address is a tail register.
    pub(crate) fn is_tail(&self, address: u64) -> bool {
        self.tails.contains(&address)
    }

    /// Whether an address is in a receive ring.
    pub(crate) fn in_rx_ring(&self, address: u64) -> bool {
        let mut rings = self.rx_rings.iter();
        rings.any(|range| range.contains(&address))
    }
}

fn of_file(mappings: &[Mapping], file: FileId) -> impl Iterator<Item = &Mapping> {
    mappings.iter().filter(move |mapping| mapping.file == file)
}

/// The part of `wanted`, a range of the file, that a mapping holds, and its address.
fn part_of(mapping: &Mapping, wanted: &Range<u64>) -> Option<(u64, Range<u64>)> {
    let len = mapping.addresses.end - mapping.addresses.start;
    let start = wanted.start.max(mapping.offset);
    let end = wanted.end.min(mapping.offset + len);
    let address = mapping.addresses.start + start.checked_sub(mapping.offset)?;
    (start < end).then_some((address, start..end))
}

fn translate(pieces: &[Piece], iova: u64) -> Option<u64> {
    let after = pieces.partition_point(|piece| piece.iova.start <= iova);
    let before = pieces.get(..after)?.iter().rev();
    let mut holders = before.filter(|piece| piece.iova.contains(&iova));
    let piece = holders.next()?;
    Some(piece.address + (iova - piece.iova.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{Map, Ring};

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
        let ring = |tail, iova| Ring {
            tail,
            iova,
            bytes: 0x2000,
        };
        PortMemory {
            registers: file(43),
            rx_rings: vec![ring(0x1018, 0x10_0000)],
            tx_rings: vec![ring(0x6018, 0x20_0000)],
            maps: vec![Map {
                iova: 0x10_0000,
                bytes: 0x30_0000,
                file: file(42),
                offset: 0x10_0000,
            }],
        }
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let mappings = mappings(MAPS);
        assert_eq!(mappings.len(), 5);
        assert_eq!(mappings[0].path, "/a folder/ixgbe-fwd");
        assert!(mappings[0].executable && !mappings[1].executable);
        assert_eq!(mappings[2].offset, 0x20_0000);
        assert_eq!(mappings[4].path, "");
    }

    #[test]
    fn an_iova_has_the_address_of_its_place_in_the_file() {
        let addresses = Addresses::new(&[port()], &mappings(MAPS));
        assert_eq!(addresses.of_iova(0, 0x10_0000), Some(0x7fff_f010_0000));
        assert_eq!(addresses.of_iova(0, 0x20_0008), Some(0x7fff_f020_0008));
        assert_eq!(addresses.of_iova(0, 0x40_0000), None);
        assert_eq!(addresses.of_iova(1, 0x10_0000), None);
        assert!(addresses.in_rx_ring(0x7fff_f010_1fff));
        assert!(!addresses.in_rx_ring(0x7fff_f010_2000));
    }

    #[test]
    fn memory_of_the_card_is_listed_once() {
        let addresses = Addresses::new(&[port(), port()], &mappings(MAPS));
        let memory = Region {
            start: 0x7fff_f010_0000,
            end: 0x7fff_f040_0000,
        };
        assert_eq!(addresses.card_memory(), [memory]);
    }

    #[test]
    fn tails_are_found_in_mapped_pages_only() {
        let addresses = Addresses::new(&[port()], &mappings(MAPS));
        assert_eq!(addresses.tails, [0x7fff_f700_0018]);
        assert!(addresses.is_register(0x7fff_f700_0000));
        assert!(!addresses.is_register(0x7fff_f700_1000));
    }
}
