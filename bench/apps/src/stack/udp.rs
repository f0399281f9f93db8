//! A service over UDP on a port.
//!
//! An answer goes to the Ethernet address that the datagram came from. So no answer waits for a host that is not there.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use anyhow::{anyhow, Result};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr,
    UdpPacket, UdpRepr,
};

use super::frame::{kind, Kind};
use super::interface::{PortOptions, Stack, TURN_FRAMES};
use crate::contain::contained;
use crate::run::Run;
use crate::service::{DatagramService, To, MAX_DATAGRAM};
use crate::statistics::Statistics;

/// Datagrams that wait for the service. Each is answered before the next frame is received.
const WAITING: usize = 4;

/// Serves the clients of a port until the run is over. The statistics are valid even after an error.
///
/// # Errors
/// If the port cannot be opened, or fails.
pub fn serve<S: DatagramService>(
    service: &mut S,
    options: &PortOptions,
    listen: u16,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let mut stack = Stack::open(options)?;
    stack
        .interface
        .join_multicast_group(S::GROUP)
        .map_err(|error| anyhow!("cannot join {}: {error:?}", S::GROUP))?;
    let buffer = |count: usize| {
        PacketBuffer::new(
            vec![PacketMetadata::EMPTY; count],
            vec![0; count * MAX_DATAGRAM],
        )
    };
    let mut socket = Socket::new(buffer(WAITING), buffer(0));
    socket
        .bind(listen)
        .map_err(|error| anyhow!("cannot use port {listen}: {error}"))?;
    let handle = stack.others.add(socket);
    let own = SocketAddrV4::new(options.address.ip, listen);
    let group = (SocketAddrV4::new(S::GROUP, listen), group_mac(S::GROUP));
    send(&mut stack, own, group, &service.announce());
    eprintln!("ready: {own} on {}", options.port.device);
    let mut answer = Vec::with_capacity(MAX_DATAGRAM);
    let ran = loop {
        if run.is_over() {
            break Ok(());
        }
        let mut frames = 0;
        while let Some(frame) = stack.device.peek().filter(|_| frames < TURN_FRAMES) {
            frames += 1;
            let mac = EthernetFrame::new_checked(frame).map(|frame| frame.src_addr());
            if kind(frame) == Kind::Corrupt {
                statistics.checksum_errors += 1;
                stack.device.skip();
                continue;
            }
            let done = contained(|| {
                stack.receive(None);
                let socket = stack.others.get_mut::<Socket<'_>>(handle);
                let Ok((datagram, from)) = socket.recv() else {
                    return;
                };
                statistics.bytes_received += datagram.len() as u64;
                answer.clear();
                let to = match (
                    service.answer(datagram, &mut answer),
                    from.endpoint.addr,
                    mac,
                ) {
                    (Some(To::Sender), IpAddress::Ipv4(ip), Ok(mac)) => {
                        (SocketAddrV4::new(ip, listen), mac)
                    }
                    (Some(To::Group), ..) => group,
                    _ => return,
                };
                send(&mut stack, own, to, &answer);
                statistics.bytes_sent += answer.len() as u64;
            });
            statistics.panics += u64::from(done.is_none());
        }
        stack.send(None, TURN_FRAMES);
        if let Err(error) = stack.rest(frames > 0, run, |_| Duration::MAX) {
            break Err(error);
        }
    };
    let closed = stack.close(statistics);
    ran.and(closed)
}

/// The Ethernet address of a group (RFC 1112, section 6.4).
fn group_mac(group: Ipv4Addr) -> EthernetAddress {
    let [_, b, c, d] = group.octets();
    EthernetAddress([0x01, 0x00, 0x5e, b & 0x7f, c, d])
}

/// Sends a datagram. As any datagram, it may be lost.
fn send(
    stack: &mut Stack,
    from: SocketAddrV4,
    (to, mac): (SocketAddrV4, EthernetAddress),
    payload: &[u8],
) {
    let udp = UdpRepr {
        src_port: from.port(),
        dst_port: to.port(),
    };
    let ip = Ipv4Repr {
        src_addr: *from.ip(),
        dst_addr: *to.ip(),
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + payload.len(),
        hop_limit: if to.ip().is_multicast() { 1 } else { 64 },
    };
    let own = stack.mac();
    let size = EthernetFrame::<&[u8]>::buffer_len(ip.buffer_len() + ip.payload_len);
    stack.device.put(size, |bytes| {
        let mut frame = EthernetFrame::new_unchecked(bytes);
        frame.set_src_addr(own);
        frame.set_dst_addr(mac);
        frame.set_ethertype(EthernetProtocol::Ipv4);
        let checksums = ChecksumCapabilities::default();
        let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
        ip.emit(&mut packet, &checksums);
        udp.emit(
            &mut UdpPacket::new_unchecked(packet.payload_mut()),
            &ip.src_addr.into(),
            &ip.dst_addr.into(),
            payload.len(),
            |room| room.copy_from_slice(payload),
            &checksums,
        );
    });
}
