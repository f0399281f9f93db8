//! Receive side scaling: the Toeplitz hash of a frame's addresses and ports selects the queue.

use crate::device::packet::{Packet, Transport, Version, DEFAULT_VLAN_TYPE};
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// Entries of the redirection table in RETA, and in ERETA, which only the X550 has.
const ENTRIES: usize = 128;
const MORE_ENTRIES: usize = 384;
/// Entries in one register.
const A_REGISTER: usize = 4;

/// The fields under the hash, as the receive descriptor reports them.
const TYPE_TCP_IPV4: u8 = 1;
const TYPE_IPV4: u8 = 2;
const TYPE_TCP_IPV6: u8 = 3;
const TYPE_IPV6: u8 = 5;
const TYPE_UDP_IPV4: u8 = 7;
const TYPE_UDP_IPV6: u8 = 8;

/// The hash of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hash {
    pub(crate) value: u32,
    /// The fields under the hash; 0 if no enabled kind matches the frame.
    pub(crate) kind: u8,
}

/// The RSS settings, decoded from the registers.
#[derive(Clone, Debug)]
pub(crate) struct Rss {
    key: [u8; 40],
    /// 128 entries, 512 on the X550.
    queues: Vec<u8>,
    enabled: u32,
}

impl Rss {
    /// The settings; `None` if RSS is off.
    pub(crate) fn from_registers(registers: &RegisterFile) -> Option<Self> {
        let control = registers.get(r::MRQC);
        if control & r::MRQC_MRQE != r::MRQC_MRQE_RSS {
            return None;
        }
        let mut key = [0; 40];
        for (n, bytes) in key.chunks_exact_mut(4).enumerate() {
            bytes.copy_from_slice(&registers.get(r::RSSRK(n as u32)).to_le_bytes());
        }
        // A register that the family does not have cannot be written.
        let more = match registers.is_read_only(r::ERETA(0)) {
            true => 0,
            false => MORE_ENTRIES / A_REGISTER,
        };
        let first = (0..ENTRIES / A_REGISTER).map(|n| r::RETA(n as u32));
        let tables = first.chain((0..more).map(|n| r::ERETA(n as u32)));
        let queues = tables.flat_map(|address| registers.get(address).to_le_bytes());
        let queues = queues.map(|entry| entry & 0xf).collect();
        Some(Self {
            key,
            queues,
            enabled: control,
        })
    }

    /// The queue, 0 to 15, and the hash of a frame.
    pub(crate) fn queue(&self, frame: &[u8]) -> (usize, Hash) {
        self.queue_of(frame, &Packet::of(frame, DEFAULT_VLAN_TYPE))
    }

    /// The queue, 0 to 15, and the hash of a parsed frame.
    pub(crate) fn queue_of(&self, frame: &[u8], packet: &Packet) -> (usize, Hash) {
        let hash = self.hash(frame, packet).unwrap_or_default();
        (
            usize::from(self.queues[hash.value as usize % self.queues.len()]),
            hash,
        )
    }

    fn hash(&self, frame: &[u8], packet: &Packet) -> Option<Hash> {
        let network = packet.network?;
        let addresses = network.addresses(frame);
        // The enable bit and the descriptor type for TCP, UDP and other packets.
        let [tcp, udp, any] = match network.version {
            Version::V4 => [
                (r::MRQC_RSS_TCP_IPV4, TYPE_TCP_IPV4),
                (r::MRQC_RSS_UDP_IPV4, TYPE_UDP_IPV4),
                (r::MRQC_RSS_IPV4, TYPE_IPV4),
            ],
            Version::V6 => [
                (r::MRQC_RSS_TCP_IPV6, TYPE_TCP_IPV6),
                (r::MRQC_RSS_UDP_IPV6, TYPE_UDP_IPV6),
                (r::MRQC_RSS_IPV6, TYPE_IPV6),
            ],
        };
        let enabled = |kind: &(u32, u8)| self.enabled & kind.0 != 0;
        let with_ports = packet.transport.and_then(|(transport, at)| {
            let kind = match transport {
                Transport::Tcp => Some(tcp),
                Transport::Udp => Some(udp),
                Transport::Sctp => None,
            };
            let kind = kind.filter(enabled)?;
            Some((kind, [addresses, frame.get(at..at + 4)?].concat()))
        });
        let without = || Some((Some(any).filter(enabled)?, addresses.to_vec()));
        let ((_, kind), input) = with_ports.or_else(without)?;
        let value = toeplitz(&self.key, &input);
        Some(Hash { value, kind })
    }
}

fn toeplitz(key: &[u8; 40], input: &[u8]) -> u32 {
    let key_bit = |bit: usize| u32::from(key[bit / 8 % 40] >> (7 - bit % 8) & 1);
    let mut window = u32::from_be_bytes([key[0], key[1], key[2], key[3]]);
    let mut hash = 0;
    for (at, byte) in input.iter().enumerate() {
        for bit in 0..8 {
            if byte >> (7 - bit) & 1 == 1 {
                hash ^= window;
            }
            window = window << 1 | key_bit(at * 8 + bit + 32);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;

    /// Microsoft's verification key and vectors. The 82599's datasheet repeats them.
    const KEY: [u8; 40] = [
        0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f,
        0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
        0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
    ];

    /// Source and destination: addresses and ports.
    type Flow<'a> = (&'a str, u16, &'a str, u16);

    fn frame(protocol: u8, (from, from_port, to, to_port): Flow<'_>) -> Vec<u8> {
        use std::net::IpAddr;
        let octets = |text: &str| match text.parse().unwrap() {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let addresses = [octets(from), octets(to)].concat();
        let head = match addresses.len() {
            8 => vec![8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 0, protocol, 0, 0],
            _ => vec![0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, protocol, 0],
        };
        let ports = [from_port, to_port].map(u16::to_be_bytes).concat();
        let mut frame = [&[0; 12][..], &head, &addresses, &ports, &[0; 16]].concat();
        frame.resize(frame.len().max(60), 0);
        frame
    }

    /// The registers of a card of this kind with the verification key.
    fn registers(device_id: u16, enabled: u32) -> RegisterFile {
        let registers = RegisterFile::new(0, family_of(device_id).unwrap()).unwrap();
        registers.set(r::MRQC, r::MRQC_MRQE_RSS | enabled);
        for (n, bytes) in KEY.chunks_exact(4).enumerate() {
            let word = u32::from_le_bytes(bytes.try_into().unwrap());
            registers.set(r::RSSRK(n as u32), word);
        }
        registers
    }

    fn rss(enabled: u32) -> Rss {
        let registers = registers(0x10fb, enabled);
        for n in 0..32 {
            registers.set(r::RETA(n), 0x0302_0100);
        }
        Rss::from_registers(&registers).unwrap()
    }

    /// The vectors that Microsoft publishes to verify the RSS hash calculation, with its key.
    #[rustfmt::skip] // a vector a line: with the ports, without them
    const VECTORS: [(Flow<'static>, u32, u32); 8] = [
        (("66.9.149.187", 2794, "161.142.100.80", 1766), 0x51cc_c178, 0x323e_8fc2),
        (("199.92.111.2", 14230, "65.69.140.83", 4739), 0xc626_b0ea, 0xd718_262a),
        (("24.19.198.95", 12898, "12.22.207.184", 38024), 0x5c2b_394a, 0xd2d0_a5de),
        (("38.27.205.30", 48228, "209.142.163.6", 2217), 0xafc7_327f, 0x8298_9176),
        (("153.39.163.191", 44251, "202.188.127.2", 1303), 0x10e8_28a2, 0x5d18_09c5),
        (("3ffe:2501:200:1fff::7", 2794, "3ffe:2501:200:3::1", 1766), 0x4020_7d3d, 0x2cc1_8cd5),
        (("3ffe:501:8::260:97ff:fe40:efab", 14230, "ff02::1", 4739), 0xdde5_1bbf, 0x0f0c_461c),
        (("3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, "fe80::200:f8ff:fe21:67cf", 38024),
            0x02d1_feef, 0x4b61_e985),
    ];

    #[test]
    fn hashes_equal_the_published_ones() {
        for (flow, with_ports, without) in VECTORS {
            let (tcp, any) = if flow.0.contains(':') {
                (
                    (r::MRQC_RSS_TCP_IPV6, TYPE_TCP_IPV6),
                    (r::MRQC_RSS_IPV6, TYPE_IPV6),
                )
            } else {
                (
                    (r::MRQC_RSS_TCP_IPV4, TYPE_TCP_IPV4),
                    (r::MRQC_RSS_IPV4, TYPE_IPV4),
                )
            };
            for ((enabled, kind), value) in [(tcp, with_ports), (any, without)] {
                let (queue, hash) = rss(enabled).queue(&frame(6, flow));
                assert_eq!(hash, Hash { value, kind }, "{hash:x?}");
                assert_eq!(queue, (value % 4) as usize);
            }
        }
    }

    #[test]
    fn a_frame_of_a_disabled_kind_goes_to_the_first_entry() {
        let rss = rss(r::MRQC_RSS_TCP_IPV4);
        let udp = frame(17, VECTORS[0].0);
        for frame in [&udp[..], &[0; 14], &[], &[0x08; 13]] {
            assert_eq!(rss.queue(frame), (0, Hash::default()));
        }
    }

    #[test]
    fn the_table_of_an_x550_has_512_entries() {
        let queue = |device_id| {
            let registers = registers(device_id, r::MRQC_RSS_TCP_IPV4);
            // The hash 0x51ccc178 has entry 0x78 of 128, and entry 0x178 of 512.
            registers.set(r::RETA(0x78 / 4), 7);
            registers.set(r::ERETA((0x178 - 0x80) / 4), 9);
            let rss = Rss::from_registers(&registers).unwrap();
            rss.queue(&frame(6, VECTORS[0].0)).0
        };
        assert_eq!([0x10fb, 0x1528, 0x1563].map(queue), [7, 7, 9]);
    }

    #[test]
    fn rss_can_be_off() {
        let registers = registers(0x10fb, 0);
        registers.set(r::MRQC, 0);
        assert!(Rss::from_registers(&registers).is_none());
    }
}
