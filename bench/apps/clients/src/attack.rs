//! Frames that no kernel would send: segments by hand, broken ones, and floods. All of them go to the clients'
//! interface, in a name space of its own.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use smoltcp::phy::{ChecksumCapabilities, Device, Medium, RawSocket, RxToken, TxToken};
use smoltcp::time::Instant as WireTime;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol,
    Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
};

use crate::server::{ADDRESS, INTERFACE};

/// A client by hand has this address, which the kernel does not know. So the kernel resets nothing.
const OWN_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 77);

const OWN_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 77]);

/// Bytes of the Ethernet header.
const ETHERNET: usize = 14;

/// The bytes of an IPv4 header without options.
const IPV4: usize = 20;

/// The longest wait for a frame.
const LIMIT: Duration = Duration::from_secs(5);

/// A client that sends its segments by hand.
pub struct HandClient {
    wire: RawSocket,
    server_ip: Ipv4Addr,
    server_mac: EthernetAddress,
    port: u16,
    own_port: u16,
    /// The number of the next byte.
    pub next: TcpSeqNumber,
    /// The next byte that the server is to send.
    expected: TcpSeqNumber,
}

/// A segment of the server.
#[derive(Debug)]
pub struct Answer {
    /// Its SYN flag.
    pub syn: bool,
    /// Its FIN flag.
    pub fin: bool,
    /// Its RST flag.
    pub rst: bool,
    /// The byte that it expects next.
    pub acknowledges: TcpSeqNumber,
    sequence: TcpSeqNumber,
    length: usize,
    /// Its payload.
    pub payload: Vec<u8>,
}

impl HandClient {
    /// A client of a port. It asks for the server's Ethernet address, and so says its own.
    ///
    /// # Errors
    /// If there is no interface, or no answer.
    pub fn new(port: u16, own_port: u16) -> Result<Self> {
        let wire = RawSocket::new(INTERFACE, Medium::Ethernet).context("no packet socket")?;
        let mut client = Self {
            wire,
            server_ip: ADDRESS.parse()?,
            server_mac: EthernetAddress::BROADCAST,
            port,
            own_port,
            next: TcpSeqNumber(1000),
            expected: TcpSeqNumber(0),
        };
        let question = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: OWN_MAC,
            source_protocol_addr: OWN_IP,
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: client.server_ip,
        };
        let mut bytes = client.frame(EthernetProtocol::Arp, question.buffer_len());
        question.emit(&mut ArpPacket::new_unchecked(&mut bytes[ETHERNET..]));
        client.send(&bytes);
        let server_ip = client.server_ip;
        client.server_mac = client
            .wait(LIMIT, |frame| {
                let packet = ArpPacket::new_checked(frame.payload()).ok()?;
                match ArpRepr::parse(&packet) {
                    Ok(ArpRepr::EthernetIpv4 {
                        source_hardware_addr: mac,
                        source_protocol_addr: ip,
                        ..
                    }) if ip == server_ip => Some(mac),
                    _ => None,
                }
            })
            .context("the server has no Ethernet address")?;
        Ok(client)
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn connect(&mut self) -> Result<()> {
        self.half_open()?;
        let ack = self.segment(self.next, TcpControl::None, b"");
        self.send(&ack);
        Ok(())
    }

    /// Opens a connection, but does not acknowledge the server's SYN: the next segment does.
    ///
    /// # Errors
    /// If the server does not answer.
    pub fn half_open(&mut self) -> Result<()> {
        let syn = self.segment(self.next, TcpControl::Syn, b"");
        self.send(&syn);
        let answer = self
            .answer(LIMIT)
            .filter(|answer| answer.syn)
            .context("no answer to a SYN")?;
        self.next += 1;
        self.expected = answer.sequence + 1;
        Ok(())
    }

    /// A frame with a segment of the connection.
    pub fn segment(&self, sequence: TcpSeqNumber, control: TcpControl, payload: &[u8]) -> Vec<u8> {
        let tcp = TcpRepr {
            src_port: self.own_port,
            dst_port: self.port,
            control,
            seq_number: sequence,
            ack_number: (control != TcpControl::Syn).then_some(self.expected),
            window_len: 0x4000,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload,
        };
        self.frame_of(OWN_IP, &tcp)
    }

    fn frame_of(&self, source: Ipv4Addr, tcp: &TcpRepr<'_>) -> Vec<u8> {
        let ip = Ipv4Repr {
            src_addr: source,
            dst_addr: self.server_ip,
            next_header: IpProtocol::Tcp,
            payload_len: tcp.buffer_len(),
            hop_limit: 64,
        };
        let mut bytes = self.frame(EthernetProtocol::Ipv4, ip.buffer_len() + tcp.buffer_len());
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET..]);
        let checksums = ChecksumCapabilities::default();
        ip.emit(&mut packet, &checksums);
        tcp.emit(
            &mut TcpPacket::new_unchecked(packet.payload_mut()),
            &source.into(),
            &self.server_ip.into(),
            &checksums,
        );
        bytes
    }

    /// A frame to the server with room for a payload.
    fn frame(&self, protocol: EthernetProtocol, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; ETHERNET + payload];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes);
        frame.set_src_addr(OWN_MAC);
        frame.set_dst_addr(self.server_mac);
        frame.set_ethertype(protocol);
        bytes
    }

    /// Divides a frame into two fragments, the first with `first` bytes after the IP header, a multiple of 8.
    pub fn fragments(frame: &[u8], first: usize) -> [Vec<u8>; 2] {
        let (head, data) = frame.split_at(ETHERNET + IPV4);
        let (start, rest) = data.split_at(first);
        [(start, 0, true), (rest, first, false)].map(|(data, offset, more)| {
            let mut bytes = [head, data].concat();
            let length = (IPV4 + data.len()) as u16;
            let mut packet = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET..]);
            packet.set_total_len(length);
            packet.set_ident(77);
            packet.set_dont_frag(false);
            packet.set_more_frags(more);
            packet.set_frag_offset(offset as u16);
            packet.fill_checksum();
            bytes
        })
    }

    /// Sends a frame as it is.
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(token) = self.wire.transmit(WireTime::ZERO) {
            token.consume(bytes.len(), |room| room.copy_from_slice(bytes));
        }
    }

    /// Sends `count` SYNs, each from another address and port, which never go on.
    pub fn flood(&mut self, count: u32) {
        for number in 0..count {
            let host = 128 + (number % 126) as u8;
            let tcp = TcpRepr {
                src_port: 1024 + (number / 126 % 60_000) as u16,
                dst_port: self.port,
                control: TcpControl::Syn,
                seq_number: TcpSeqNumber(number as i32),
                ack_number: None,
                window_len: 1000,
                window_scale: None,
                max_seg_size: None,
                sack_permitted: false,
                sack_ranges: [None; 3],
                timestamp: None,
                payload: &[],
            };
            let bytes = self.frame_of(Ipv4Addr::new(10, 0, 0, host), &tcp);
            self.send(&bytes);
        }
    }

    /// The next segment of the server for this connection. `None` if there is none for so long.
    pub fn answer(&mut self, limit: Duration) -> Option<Answer> {
        let (ports, ip) = ((self.port, self.own_port), self.server_ip);
        self.wait(limit, |frame| {
            let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
            let to_us = (packet.src_addr(), packet.dst_addr()) == (ip, OWN_IP);
            if !to_us || packet.next_header() != IpProtocol::Tcp {
                return None;
            }
            let segment = TcpPacket::new_checked(packet.payload()).ok()?;
            ((segment.src_port(), segment.dst_port()) == ports).then(|| Answer {
                syn: segment.syn(),
                fin: segment.fin(),
                rst: segment.rst(),
                acknowledges: segment.ack_number(),
                sequence: segment.seq_number(),
                length: segment.segment_len(),
                payload: segment.payload().to_vec(),
            })
        })
    }

    /// Receives so many bytes of the connection in order, and acknowledges them.
    ///
    /// # Errors
    /// If they do not come.
    pub fn read(&mut self, size: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < size {
            let answer = self.answer(LIMIT);
            let answer = answer.with_context(|| format!("only {} bytes came", bytes.len()))?;
            if answer.sequence == self.expected && answer.length > 0 {
                self.expected += answer.length;
                bytes.extend_from_slice(&answer.payload);
                let ack = self.segment(self.next, TcpControl::None, b"");
                self.send(&ack);
            }
        }
        Ok(bytes)
    }

    /// Closes the connection after the server has closed it, and returns whether the server acknowledges that within
    /// `limit`.
    pub fn close(&mut self, limit: Duration) -> bool {
        let fin = self.segment(self.next, TcpControl::Fin, b"");
        self.send(&fin);
        self.next += 1;
        let next = self.next;
        let end = Instant::now() + limit;
        while let Some(answer) = self.answer(end.saturating_duration_since(Instant::now())) {
            if answer.acknowledges == next && !answer.rst {
                return true;
            }
        }
        false
    }

    /// Receives until the server closes the connection, and acknowledges everything but its FIN.
    ///
    /// # Errors
    /// If it does not close.
    pub fn read_until_closed(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let answer = self.answer(LIMIT).context("the server does not close")?;
            if answer.sequence == self.expected && answer.length > 0 {
                self.expected += answer.length;
                bytes.extend_from_slice(&answer.payload);
                if answer.fin {
                    return Ok(bytes);
                }
                let ack = self.segment(self.next, TcpControl::None, b"");
                self.send(&ack);
            }
        }
    }

    fn wait<T>(
        &mut self,
        limit: Duration,
        find: impl Fn(&EthernetFrame<&[u8]>) -> Option<T>,
    ) -> Option<T> {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            let Some((token, _)) = self.wire.receive(WireTime::ZERO) else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            let found = token.consume(|bytes| {
                let frame = EthernetFrame::new_checked(bytes).ok()?;
                // The socket sees our own frames too.
                (frame.src_addr() != OWN_MAC).then(|| find(&frame))?
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }
}
