use super::*;
use crate::laws::frames::{ends, frame, OWN_IP, OWN_MAC};
use smoltcp::wire::TcpControl;
use std::time::Duration;

const CLIENT_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
const BACKEND_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 11]);

const CONFIG: &str = r#"
    [table]
    connections = 2
    [[frontend]]
    name = "web"
    port = 80
    backends = ["a"]
    [[backend]]
    name = "a"
    address = "10.0.0.11:8000"
"#;

fn forwarder() -> Forwarder {
    let config = Config::parse(CONFIG, "10.0.0.2/24".parse().unwrap(), 8080).unwrap();
    let mut forwarder = Forwarder::new(&config, OWN_IP);
    forwarder.set_mac(OWN_MAC);
    forwarder.backends[0].mac = Some(BACKEND_MAC);
    forwarder.set_health(0, true, true);
    forwarder
}

fn client(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new([10, 0, 0, 1].into(), port)
}

fn backend() -> SocketAddrV4 {
    "10.0.0.11:8000".parse().unwrap()
}

fn own(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(OWN_IP, port)
}

/// A segment of a client to the frontend.
fn sends(
    forwarder: &mut Forwarder,
    port: u16,
    control: TcpControl,
    ack: bool,
) -> Option<(SocketAddrV4, SocketAddrV4, bool)> {
    decide(forwarder, CLIENT_MAC, client(port), 80, control, ack)
}

/// A segment of the backend to a port of the balancer.
fn answers(
    forwarder: &mut Forwarder,
    port: u16,
    control: TcpControl,
) -> Option<(SocketAddrV4, SocketAddrV4, bool)> {
    decide(forwarder, BACKEND_MAC, backend(), port, control, true)
}

/// The addresses of what is sent, and whether it is a reset.
fn decide(
    forwarder: &mut Forwarder,
    mac: EthernetAddress,
    from: SocketAddrV4,
    port: u16,
    control: TcpControl,
    ack: bool,
) -> Option<(SocketAddrV4, SocketAddrV4, bool)> {
    let mut bytes = frame(mac, from, port, control, ack, b"");
    match forwarder.decide(&mut bytes) {
        Verdict::Send(size) => {
            let (from, to) = ends(&bytes[..size]);
            Some((from, to, bytes[47] & 0x04 != 0))
        }
        Verdict::Keep => panic!("kept"),
        Verdict::Drop => None,
    }
}

fn open(forwarder: &mut Forwarder, client_port: u16) -> u16 {
    let (from, to, _) = sends(forwarder, client_port, TcpControl::Syn, false).unwrap();
    assert_eq!((*from.ip(), to), (OWN_IP, backend()));
    let answer = answers(forwarder, from.port(), TcpControl::Syn);
    assert_eq!(answer, Some((own(80), client(client_port), false)));
    sends(forwarder, client_port, TcpControl::None, true).unwrap();
    from.port()
}

#[test]
fn a_connection_goes_to_the_backend_and_back_until_both_sides_close() {
    let mut forwarder = forwarder();
    let port = open(&mut forwarder, 4000);
    assert_eq!(forwarder.counts().table.open, 1);
    sends(&mut forwarder, 4000, TcpControl::Fin, true).unwrap();
    assert_eq!(forwarder.counts().table.open, 1);
    answers(&mut forwarder, port, TcpControl::Fin).unwrap();
    assert_eq!(forwarder.counts().table.closing, 1);
    // The last acknowledgement still gets through.
    let last = sends(&mut forwarder, 4000, TcpControl::None, true);
    assert_eq!(last, Some((own(port), backend(), false)));
    forwarder.set_time(Instant::now() + Duration::from_secs(3));
    let counts = forwarder.counts();
    assert_eq!(counts.table.closing, 0);
    assert_eq!(counts.frontends[0].traffic.connections_current, 0);
    assert_eq!(counts.backends[0].traffic.connections_total, 1);
    let late = sends(&mut forwarder, 4000, TcpControl::None, true);
    assert_eq!(late, Some((own(80), client(4000), true)));
}

/// A connection that the backend closes first, and then the client.
fn close(forwarder: &mut Forwarder, client_port: u16, port: u16) {
    answers(forwarder, port, TcpControl::Fin).unwrap();
    sends(forwarder, client_port, TcpControl::Fin, true).unwrap();
    answers(forwarder, port, TcpControl::None).unwrap();
}

#[test]
fn a_backend_forgets_a_connection_before_its_port_comes_back() {
    let mut forwarder = forwarder();
    let first = open(&mut forwarder, 4000);
    close(&mut forwarder, 4000, first);
    let second = open(&mut forwarder, 4001);
    assert!(
        !forwarder.has_own_frame(),
        "the first port is not used again"
    );
    // The table has room for two connections, so the oldest that is closing makes room.
    assert_eq!(open(&mut forwarder, 4002), first);
    let reset = forwarder.own_frame().unwrap();
    assert_eq!(ends(&reset), (own(first), backend()));
    let segment = smoltcp::wire::TcpPacket::new_checked(&reset[34..]).unwrap();
    // The client's FIN had the number 1000.
    assert!(segment.rst() && !segment.ack());
    assert_eq!(segment.seq_number(), smoltcp::wire::TcpSeqNumber(1001));

    close(&mut forwarder, 4001, second);
    forwarder.set_time(Instant::now() + Duration::from_secs(3));
    assert_eq!(
        ends(&forwarder.own_frame().unwrap()),
        (own(second), backend())
    );
    assert!(!forwarder.has_own_frame());
    assert_eq!(forwarder.counts().frames.port_resets, 2);
}

#[test]
fn resets_of_a_port_that_sends_nothing_are_bounded() {
    let mut forwarder = forwarder();
    for client_port in 4000..4010 {
        let port = open(&mut forwarder, client_port);
        close(&mut forwarder, client_port, port);
    }
    assert_eq!(std::iter::from_fn(|| forwarder.own_frame()).count(), 2);
}

#[test]
fn without_a_backend_a_client_is_reset() {
    let mut forwarder = forwarder();
    open(&mut forwarder, 4000);
    forwarder.set_health(0, false, false);
    for (port, control) in [(4000, TcpControl::Psh), (4001, TcpControl::Syn)] {
        let ack = control != TcpControl::Syn;
        let answer = sends(&mut forwarder, port, control, ack);
        assert_eq!(answer, Some((own(80), client(port), true)));
    }
    let counts = forwarder.counts();
    assert_eq!(counts.frontends[0].refused, 1);
    assert_eq!(counts.table.open + counts.table.opening, 0);
    assert_eq!(counts.backends[0].checks_failed, 1);
}

#[test]
fn a_segment_of_a_stranger_to_a_connection_is_reset() {
    let mut forwarder = forwarder();
    let port = open(&mut forwarder, 4000);
    let stranger = "10.0.0.12:8000".parse().unwrap();
    let answer = decide(
        &mut forwarder,
        CLIENT_MAC,
        stranger,
        port,
        TcpControl::Psh,
        true,
    );
    assert_eq!(answer, Some((own(port), stranger, true)));
    let unused = answers(&mut forwarder, 65_535, TcpControl::Psh);
    assert_eq!(unused, Some((own(65_535), backend(), true)));
    assert_eq!(forwarder.counts().table.open, 1);
}

#[test]
fn a_flood_of_syns_evicts_only_what_is_half_open() {
    let mut forwarder = forwarder();
    open(&mut forwarder, 4000);
    for port in 5000..6000 {
        sends(&mut forwarder, port, TcpControl::Syn, false).unwrap();
    }
    let counts = forwarder.counts();
    assert_eq!((counts.table.open, counts.table.opening), (1, 1));
    assert_eq!(counts.table.evicted, 999);
    assert_eq!(counts.backends[0].traffic.connections_current, 2);
    open(&mut forwarder, 4001);
    assert_eq!(sends(&mut forwarder, 4002, TcpControl::Syn, false), None);
    assert_eq!(forwarder.counts().table.full, 1);
}

#[test]
fn a_client_that_only_repeats_its_syn_does_not_stay() {
    let mut forwarder = forwarder();
    let start = Instant::now();
    for seconds in 0..5 {
        forwarder.set_time(start + Duration::from_secs(seconds));
        sends(&mut forwarder, 4000, TcpControl::Syn, false).unwrap();
    }
    forwarder.set_time(start + Duration::from_secs(6));
    assert_eq!(forwarder.counts().table.opening_expired, 1);
}

#[test]
fn a_port_that_is_used_again_gets_a_new_connection() {
    let mut forwarder = forwarder();
    let first = open(&mut forwarder, 4000);
    answers(&mut forwarder, first, TcpControl::Rst).unwrap();
    let second = open(&mut forwarder, 4000);
    assert_ne!(first, second);
    assert_eq!(forwarder.counts().table.open, 1);
}

#[test]
fn a_reset_that_the_backend_ignores_ends_nothing() {
    let mut forwarder = forwarder();
    let port = open(&mut forwarder, 4000);
    sends(&mut forwarder, 4000, TcpControl::Rst, false).unwrap();
    assert_eq!(forwarder.counts().table.closing, 1);
    answers(&mut forwarder, port, TcpControl::Psh).unwrap();
    assert_eq!(forwarder.counts().table.open, 1);
}

#[test]
fn fragments_and_malformed_segments_are_dropped_and_counted() {
    let mut forwarder = forwarder();
    let mut fragment = frame(CLIENT_MAC, client(1), 80, TcpControl::Psh, true, b"");
    smoltcp::wire::Ipv4Packet::new_unchecked(&mut fragment[14..]).set_more_frags(true);
    let mut broken = fragment.clone();
    smoltcp::wire::Ipv4Packet::new_unchecked(&mut fragment[14..]).fill_checksum();
    for bytes in [&mut fragment, &mut broken] {
        assert!(matches!(forwarder.decide(bytes), Verdict::Drop));
    }
    let frames = forwarder.counts().frames;
    assert_eq!((frames.fragments, frames.malformed), (1, 1));
}
