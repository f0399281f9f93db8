//! What holds for any bytes of a client: laws of the parsers and of the balancer.
//!
//! Only tests and fuzzing compile this file. The inputs are random, those in `fuzz/corpus/`, and those that
//! `make fuzz` finds.

pub(crate) mod frames;

use std::fmt::Debug;
use std::net::SocketAddrV4;
use std::time::{Duration, Instant};

use smoltcp::wire::{EthernetAddress, TcpControl};

use self::frames::{ends, frame, OWN_IP, OWN_MAC};
use crate::balancer::{Config, Forwarder};
use crate::driver::Verdict;
use crate::http::request;
use crate::kv::{resp, Kv};
use crate::node::frame::Frame;
use crate::node::Node;
use crate::service::{DatagramService, Service, MAX_DATAGRAM, OUTPUT_LIMIT};

/// Bytes of the values of a store.
const STORE: usize = 64 * 1024;

/// A parser finds the same request, whether its bytes arrive together or one by one. `length` is that of a request.
fn check_parser<'i, R, E: Debug + PartialEq>(
    input: &'i [u8],
    parse: impl Fn(&'i [u8]) -> Result<Option<R>, E>,
    length: impl Fn(&R) -> usize,
) {
    let Ok(Some(request)) = parse(input) else {
        return;
    };
    let end = length(&request);
    assert!((1..=input.len()).contains(&end), "{end} bytes");
    let alone = parse(&input[..end]).unwrap();
    assert_eq!(
        alone.as_ref().map(&length),
        Some(end),
        "without what follows"
    );
    assert!(
        matches!(parse(&input[..end - 1]), Ok(None)),
        "without its last byte"
    );
}

/// Any bytes to the key-value store.
pub fn kv(input: &[u8]) {
    check_parser(input, resp::parse, |request| request.length);
    let mut kv = Kv::new(STORE);
    kv.accepted(0);
    let mut at = 0;
    loop {
        let mut output = Vec::new();
        let served = kv.serve(&mut (), &input[at..], &mut output);
        at += served.consumed;
        assert!(at <= input.len());
        assert!(output.len() <= OUTPUT_LIMIT + Kv::ANSWER_LIMIT);
        if served.close || output.len() < OUTPUT_LIMIT {
            break;
        }
    }
    kv.closed(0, ());
}

/// Any bytes to the HTTP parser.
pub fn http(input: &[u8]) {
    check_parser(input, request::parse, |request| request.length);
}

/// Any datagram to the node.
pub fn node(input: &[u8]) {
    let mut node = Node::new([1; 13]);
    let mut answer = Vec::new();
    let to = node.answer(input, &mut answer);
    match Frame::parse(input) {
        Ok(asked) if to.is_some() => {
            assert!(answer.len() <= MAX_DATAGRAM);
            let answered = Frame::parse(&answer).unwrap();
            assert_eq!(answered.tid, asked.tid);
        }
        Ok(_) => {}
        Err(_) => assert!(to.is_none(), "an answer to no frame"),
    }
}

const CONFIG: &str = r#"
    [table]
    connections = 4
    [[frontend]]
    name = "web"
    port = 80
    backends = ["a", "b"]
    [[backend]]
    name = "a"
    address = "10.0.0.11:8000"
    [[backend]]
    name = "b"
    address = "10.0.0.12:8000"
"#;

/// Changes of the backends in an input.
const MAX_CHANGES: u32 = 4;

/// Any segments through the balancer, four bytes for each: who sends, what, to which port, and what is broken.
pub fn balancer(input: &[u8]) {
    let config = Config::parse(CONFIG, "10.0.0.2/24".parse().unwrap(), 8080).unwrap();
    let mut forwarder = Forwarder::new(&config, OWN_IP);
    forwarder.set_mac(OWN_MAC);
    let mac = |number| EthernetAddress([2, 0, 0, 0, 1, number]);
    let (mut now, mut changes) = (Instant::now(), 0);
    for step in input.chunks_exact(4) {
        let &[who, what, port, broken] = step else {
            continue;
        };
        now += Duration::from_millis(u64::from(who >> 4) * 50);
        forwarder.set_time(now);
        let control = match what & 7 {
            0 => TcpControl::None,
            1 => TcpControl::Psh,
            2 => TcpControl::Fin,
            3 => TcpControl::Rst,
            _ => TcpControl::Syn,
        };
        let ack = what & 8 != 0;
        let (from, port) = match who & 15 {
            // The backends change their state, or say their addresses.
            14 => {
                // Each change takes time, because it makes a table.
                changes += 1;
                if changes > MAX_CHANGES {
                    break;
                }
                forwarder.set_health(usize::from(port & 1), what & 1 == 0, what & 2 == 0);
                continue;
            }
            15 => {
                forwarder.set_neighbour([10, 0, 0, 11 + (port & 1)].into(), mac(port));
                continue;
            }
            number @ 8.. => ([10, 0, 0, 11 + (number & 1)], 65_532 + u16::from(port & 3)),
            number => ([10, 0, 0, 20 + number], 80),
        };
        let from = SocketAddrV4::new(from.into(), if port == 80 { 4000 } else { 8000 });
        let mut bytes = frame(mac(who & 15), from, port, control, ack, &[0; 8]);
        let at = usize::from(broken);
        let is_whole = at >= bytes.len();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 0x11;
        }
        match forwarder.decide(&mut bytes) {
            Verdict::Send(size) => {
                assert!(size <= bytes.len());
                if is_whole {
                    ends(&bytes[..size]);
                }
            }
            Verdict::Keep => assert!(!is_whole, "kept"),
            Verdict::Drop => {}
        }
        while let Some(own) = forwarder.own_frame() {
            ends(&own);
        }
        let counts = forwarder.counts();
        let table = counts.table;
        let current = (table.opening + table.open + table.closing) as u64;
        assert!(current <= 4);
        let of_backends = counts
            .backends
            .iter()
            .map(|backend| backend.traffic.connections_current);
        assert_eq!(of_backends.sum::<u64>(), current);
        assert_eq!(counts.frontends[0].traffic.connections_current, current);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::Path;

    /// Runs a law on the inputs of its corpus.
    fn run_corpus(name: &str, law: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/corpus")
            .join(name);
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            law(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0, "{} is empty", folder.display());
    }

    #[test]
    fn the_laws_hold_for_the_inputs_of_the_corpus() {
        run_corpus("kv_requests", kv);
        run_corpus("http_requests", http);
        run_corpus("node_frames", node);
        run_corpus("balancer_segments", balancer);
    }

    proptest! {
        #[test]
        fn the_laws_hold_for_random_inputs(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            kv(&bytes);
            http(&bytes);
            node(&bytes);
            balancer(&bytes);
        }

        #[test]
        fn the_laws_hold_for_almost_right_inputs(
            resp in "(\\*[0-9]{1,2}\r\n(\\$[0-9]{1,2}\r\n[A-Za-z0-9]{0,6}\r\n){0,3}){1,3}",
            text in "(GET|POST) /[a-z]{0,5} HTTP/1\\.[01]\r\n(Host: a\r\n|Content-Length: [0-9]{1,2}\r\n|X: y\r\n){0,4}\r\n[a-z]{0,20}",
        ) {
            kv(resp.as_bytes());
            http(text.as_bytes());
        }
    }
}
