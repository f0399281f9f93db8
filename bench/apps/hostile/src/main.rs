//! apps-hostile: random sequences of segments or datagrams, as a stranger on the wire could send them.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use clap::Parser;
use smoltcp::phy::{wait, Device, Medium, RawSocket, RxToken, TxToken};
use smoltcp::time::{Duration, Instant as WireTime};
use smoltcp::wire::{Ipv4Packet, TcpPacket, UdpPacket};

/// Sequences between two looks at the answers. Their frames fit into the queues on the way.
const BATCH: u64 = 32;

/// Hosts: the first three answer ARP, the others are dead, and the last one is in another network.
const HOSTS: u8 = 6;
const LIVE: u8 = 3;
const MAC: [u8; 5] = [2, 0, 0, 0, 1];

/// Protocols, and flags of TCP.
const ARP: [u8; 2] = [8, 6];
const IPV4: [u8; 2] = [8, 0];
const TCP: u8 = 6;
const UDP: u8 = 17;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// Flags of a step: ACK is frequent, with PSH (24) and FIN (17), too. The last entry has all flags.
const FLAGS: [u8; 12] = [16, 16, 24, 24, 17, 2, 2, 18, 4, 20, 1, 255];

/// Distances from the right numbers.
const DISTANCES: [u32; 9] = [0, 0, 0, 1, u32::MAX, 70_000, 1 << 30, 1 << 31, 3 << 30];

/// Flags and distances that ended programs: smoltcp subtracted the numbers.
const KILLER: [(u8, u32); 4] = [(SYN, 0), (RST, 1), (SYN, 1 << 30), (RST, (3 << 30) + 1)];

/// Options with their lengths: segment size, scale, SACK permitted, SACK, timestamps, unknown.
const OPTIONS: [(u8, usize); 6] = [(2, 4), (3, 3), (4, 2), (5, 10), (8, 10), (253, 4)];

/// Payloads that the applications know.
const PAYLOADS: [&[u8]; 5] = [
    b"PING\r\nGET k\r\n*2\r\n$3\r\nGET\r\n$1\r\n",
    b"GET /records/42 HTTP/1.1\r\nHost: a\r\n\r\nGET /bytes/99999999 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST /discard HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000000\r\n\r\n",
    b"\x10\x81\x00\x01\x05\xff\x01\x0e\xf0\x01\x62\x01\xd6\x00",
    &[0xff; 1400],
];

/// Sends random sequences of segments or datagrams, and prints what it did as JSON. Three of its addresses answer ARP,
/// and three are dead. Half of the sequences complete a handshake first, so that they reach deep states. After each
/// batch the target has to answer ARP, so no frame is lost for want of room on the way.
#[derive(Debug, Parser)]
#[command(name = "apps-hostile", version)]
struct Options {
    /// The interface that leads to the target
    #[arg(long, default_value = "t0")]
    interface: String,
    /// The target, in a network of 24 bits; the own addresses end with 101 to 106
    #[arg(long, default_value = "10.0.0.2")]
    target: Ipv4Addr,
    /// Ports, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    ports: Vec<u16>,
    /// Sequences of 1 to 8 segments or datagrams
    #[arg(long, default_value_t = 1_000_000)]
    sequences: u64,
    /// Each seed gives other sequences
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Datagrams instead of segments
    #[arg(long)]
    udp: bool,
}

/// The own end of a sequence, with its right sequence and acknowledgement numbers.
#[derive(Clone, Copy)]
struct End {
    host: u8,
    ports: [u16; 2],
    numbers: [u32; 2],
}

#[derive(Debug, Default, serde::Serialize)]
struct Report {
    sequences: u64,
    segments: u64,
    handshakes: u64,
    answers: u64,
    seconds: f64,
}

struct Attacker {
    options: Options,
    wire: RawSocket,
    target_mac: [u8; 6],
    /// Nothing goes wrong meanwhile.
    is_honest: bool,
    /// Whether the target has answered ARP since the last question.
    is_answered: bool,
    /// What the target expects and has sent on each connection, by own address and port.
    accepted: HashMap<(Ipv4Addr, u16), [u32; 2]>,
    random: fastrand::Rng,
    report: Report,
}

impl Attacker {
    fn address(&self, host: u8) -> Ipv4Addr {
        let [a, b, c, _] = self.options.target.octets();
        let third = if host == HOSTS - 1 { !c } else { c };
        Ipv4Addr::new(a, b, third, 101 + host)
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.random.usize(..among.len())]
    }

    /// Whether something goes wrong that does so once in `times`.
    fn once_in(&mut self, times: u8) -> bool {
        !self.is_honest && self.random.u8(..times) == 0
    }

    /// Dead hosts are rare: their connections stay half open, and would leave no room for others.
    fn host(&mut self) -> u8 {
        if self.once_in(32) {
            self.random.u8(LIVE..HOSTS)
        } else {
            self.random.u8(..LIVE)
        }
    }

    fn send(&mut self, host: u8, kind: [u8; 2], payload: &[u8]) {
        let bytes = [&self.target_mac[..], &MAC, &[host], &kind, payload].concat();
        if let Some(token) = self.wire.transmit(WireTime::ZERO) {
            token.consume(bytes.len(), |room| room.copy_from_slice(&bytes));
        }
        self.receive();
    }

    /// Receives everything that has come. The own frames come, too.
    fn receive(&mut self) {
        while let Some((token, _)) = self.wire.receive(WireTime::ZERO) {
            let frame = token.consume(<[u8]>::to_vec);
            let target = self.options.target.octets();
            if frame.len() < 42 || frame[6..11] == MAC {
                continue;
            }
            if frame[12..14] == ARP && frame[28..32] == target {
                self.target_mac.copy_from_slice(&frame[22..28]);
                self.is_answered |= frame[21] == 2;
                let asked = |host: &u8| self.address(*host).octets() == frame[38..42];
                if let (1, Some(host)) = (frame[21], (0..LIVE).find(asked)) {
                    self.send_arp(host, 2);
                }
            } else if frame[12..14] == IPV4 && frame[26..30] == target {
                self.report.answers += 1;
                if frame[23] == TCP && frame.len() >= 54 {
                    self.note(&frame);
                }
            }
        }
    }

    fn note(&mut self, frame: &[u8]) {
        let address = Ipv4Addr::new(frame[30], frame[31], frame[32], frame[33]);
        let segment = TcpPacket::new_unchecked(&frame[34..]);
        let end = (address, segment.dst_port());
        let [sent, expects] = [segment.seq_number().0, segment.ack_number().0];
        let numbers = [expects as u32, (sent as u32).wrapping_add(1)];
        match self.accepted.get_mut(&end) {
            _ if frame[47] == SYN | ACK => drop(self.accepted.insert(end, numbers)),
            Some(known) => known[0] = numbers[0],
            None => {}
        }
    }

    /// Asks by ARP (operation 1), or answers (operation 2).
    fn send_arp(&mut self, host: u8, operation: u8) {
        let (own, theirs) = (self.address(host).octets(), self.options.target.octets());
        let head = [0, 1, 8, 0, 6, 4, 0, operation];
        let words = [&head, &MAC[..], &[host], &own, &self.target_mac, &theirs];
        self.send(host, ARP, &words.concat());
    }

    /// Asks the target by ARP, and waits for its answer: it has then seen all frames before.
    fn wait(&mut self) -> Result<()> {
        self.is_answered = false;
        for _ in 0..100 {
            let host = self.random.u8(..LIVE);
            self.send_arp(host, 1);
            let asked = Instant::now();
            while asked.elapsed().as_millis() < 100 {
                if self.is_answered {
                    return Ok(());
                }
                let limit = Some(Duration::from_millis(20));
                wait(self.wire.as_raw_fd(), limit).context("cannot wait")?;
                self.receive();
            }
        }
        bail!("the target did not answer ARP for 10 s")
    }

    /// Sends a packet as one piece, or as fragments that overlap, are missing or come in another order.
    fn send_ipv4(&mut self, host: u8, protocol: u8, data: &[u8]) {
        self.report.segments += 1;
        let (mut pieces, id) = (vec![(0, data)], self.random.u16(..).to_be_bytes());
        let cut = self.random.usize(..=data.len()) / 8;
        if cut > 0 && self.once_in(16) {
            let second = cut - cut.min(self.random.usize(..3));
            pieces = vec![(0x2000, &data[..cut * 8]), (second, &data[second * 8..])];
            self.random.shuffle(&mut pieces);
            pieces.truncate(self.random.usize(1..=2));
        }
        let (own, target) = (self.address(host).octets(), self.options.target.octets());
        for (fragment, data) in pieces {
            let wrong = self.once_in(64).then(|| self.random.u16(..));
            let length = wrong.unwrap_or(20 + data.len() as u16).to_be_bytes();
            let [high, low] = (fragment as u16).to_be_bytes();
            let middle = [high, low, 64, protocol, 0, 0];
            let mut bytes = [&[0x45, 0], &length[..], &id, &middle, &own, &target].concat();
            Ipv4Packet::new_unchecked(&mut bytes[..]).fill_checksum();
            self.send(host, IPV4, &[&bytes, data].concat());
        }
    }

    /// Sends what begins with ports, with a checksum that is sometimes wrong.
    fn send_from(&mut self, end: End, protocol: u8, rest: &[u8]) {
        let mut bytes = [&end.ports.map(u16::to_be_bytes).concat(), rest].concat();
        let (own, target) = (self.address(end.host).into(), self.options.target.into());
        match protocol {
            TCP => TcpPacket::new_unchecked(&mut bytes[..]).fill_checksum(&own, &target),
            _ => UdpPacket::new_unchecked(&mut bytes[..]).fill_checksum(&own, &target),
        }
        let place = self.random.usize(..bytes.len());
        bytes[place] ^= if self.once_in(16) { 0x55 } else { 0 };
        self.send_ipv4(end.host, protocol, &bytes);
    }

    fn send_tcp(&mut self, end: End, flags: u8, numbers: [u32; 2], options: &[u8], data: &[u8]) {
        let window = self.pick(&[0, 1, 1000, 0x7fff, u16::MAX]).to_be_bytes();
        let right = (20 + options.len() as u8) << 2;
        let length = if self.once_in(64) {
            self.random.u8(0x50..)
        } else {
            right
        };
        let middle = [length, flags, window[0], window[1], 0, 0, 0, 0];
        let numbers = numbers.map(u32::to_be_bytes).concat();
        self.send_from(end, TCP, &[&numbers, &middle[..], options, data].concat());
    }

    /// A payload that the applications know, or a part of it, or with a wrong byte.
    fn payload(&mut self) -> Vec<u8> {
        let mut payload = self.pick(&PAYLOADS).to_vec();
        let place = self.random.usize(..payload.len());
        match self.random.u8(..4) {
            0 => payload.truncate(place),
            1 => payload[place] = self.random.u8(..),
            _ => {}
        }
        payload
    }

    /// Options of TCP, filled up to a multiple of four bytes. A length may be wrong.
    fn options(&mut self) -> Vec<u8> {
        let mut options = Vec::new();
        for _ in 0..self.random.u8(..3) {
            let (kind, size) = self.pick(&OPTIONS);
            let wrong = self.once_in(8).then(|| self.random.u8(..));
            options.extend([kind, wrong.unwrap_or(size as u8)]);
            let value = self.pick(&[0, 1, 14, 255]);
            options.resize(options.len() + size - 2, value);
        }
        options.resize(options.len().next_multiple_of(4), 0);
        options
    }

    /// One step of a sequence, whose numbers are right, nearly right or far away.
    fn step(&mut self, end: &mut End, is_udp: bool) {
        let payload = self.payload();
        if is_udp {
            let length = (8 + payload.len() as u16).to_be_bytes();
            return self.send_from(*end, UDP, &[&length, &[0; 2], &payload[..]].concat());
        }
        let (flags, options) = (self.pick(&FLAGS), self.options());
        let payload = if self.random.bool() {
            &payload[..]
        } else {
            &[]
        };
        let numbers = end.numbers.map(|right| {
            if self.once_in(8) {
                self.random.u32(..)
            } else {
                right.wrapping_add(self.pick(&DISTANCES))
            }
        });
        self.send_tcp(*end, flags, numbers, &options, payload);
        if numbers[0] == end.numbers[0] {
            end.numbers[0] = numbers[0].wrapping_add(payload.len() as u32);
        }
    }

    /// Completes a handshake, without faults, for as many of these as the target accepts.
    fn open(&mut self, ends: &mut [End]) -> Result<()> {
        self.accepted.clear();
        self.is_honest = true;
        for end in &*ends {
            self.send_tcp(*end, SYN, end.numbers, b"", b"");
        }
        // The target may answer ARP before it answers the last SYNs.
        self.wait()?;
        self.wait()?;
        for end in ends {
            if let Some(numbers) = self.accepted.get(&(self.address(end.host), end.ports[0])) {
                end.numbers = *numbers;
                self.report.handshakes += 1;
                self.send_tcp(*end, ACK, end.numbers, b"", b"");
            }
        }
        self.is_honest = false;
        Ok(())
    }

    fn batch(&mut self, count: u64) -> Result<()> {
        let (ports, is_udp) = (self.options.ports.clone(), self.options.udp);
        let mut ends = Vec::new();
        for number in self.report.sequences..self.report.sequences + count {
            ends.push(End {
                host: self.host(),
                ports: [1024 + (number % 60_000) as u16, self.pick(&ports)],
                numbers: [self.random.u32(..), self.random.u32(..)],
            });
        }
        if !is_udp {
            self.open(&mut ends[..count as usize / 2])?;
            for (flags, distance) in KILLER {
                let last = ends[ends.len() - 1];
                let numbers = [last.numbers[0].wrapping_add(distance), 0];
                self.send_tcp(last, flags, numbers, b"", b"");
            }
        }
        for end in &mut ends {
            for _ in 0..self.random.u8(1..=8) {
                self.step(end, is_udp);
            }
        }
        self.wait()?;
        // All connections end, so that new ones find room. The answer to a reset with an old number has the right one.
        self.is_honest = true;
        for _ in 0..2 {
            for end in &ends {
                let known = self.accepted.get(&(self.address(end.host), end.ports[0]));
                if let Some(numbers) = known.copied() {
                    self.send_tcp(*end, RST | ACK, numbers, b"", b"");
                }
            }
            self.wait()?;
        }
        self.is_honest = false;
        self.report.sequences += count;
        Ok(())
    }
}

fn main() -> Result<()> {
    let (options, start) = (Options::parse(), Instant::now());
    let wire = RawSocket::new(&options.interface, Medium::Ethernet);
    let mut attacker = Attacker {
        wire: wire.with_context(|| format!("no packet socket on {}", options.interface))?,
        target_mac: [0xff; 6],
        is_honest: false,
        is_answered: false,
        accepted: HashMap::new(),
        random: fastrand::Rng::with_seed(options.seed),
        options,
        report: Report::default(),
    };
    attacker.wait()?;
    while attacker.report.sequences < attacker.options.sequences {
        let left = attacker.options.sequences - attacker.report.sequences;
        attacker.batch(left.min(BATCH))?;
    }
    attacker.report.seconds = start.elapsed().as_secs_f64();
    println!("{}", serde_json::to_string(&attacker.report)?);
    Ok(())
}
