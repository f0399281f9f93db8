//! A service over UDP on a port.

use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{anyhow, Result};
use smoltcp::socket::udp::{PacketBuffer, PacketMetadata, Socket};
use smoltcp::wire::{IpAddress, IpEndpoint};

use super::interface::{Address, Stack};
use crate::driver::PortConfig;
use crate::run::Run;
use crate::service::{DatagramService, To, MAX_DATAGRAM};
use crate::statistics::Statistics;

/// Datagrams that wait for the service, and answers that wait for the wire. Beyond, UDP loses them.
const WAITING: usize = 256;

/// What a UDP service is served with.
pub struct UdpOptions<'o> {
    /// The driver's library.
    pub library: &'o Path,
    /// The port.
    pub port: &'o PortConfig,
    /// The service's address.
    pub address: Address,
    /// The router to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// The service's UDP port.
    pub listen: u16,
}

/// Serves the clients of a port until the run is over. The statistics are valid even after an error.
///
/// # Errors
/// If the port cannot be opened, or fails.
pub fn serve<S: DatagramService>(
    service: &mut S,
    options: &UdpOptions<'_>,
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let mut stack = Stack::open(
        options.library,
        options.port,
        options.address,
        options.gateway,
    )?;
    stack
        .interface
        .join_multicast_group(S::GROUP)
        .map_err(|error| anyhow!("cannot join {}: {error:?}", S::GROUP))?;
    let buffer = || {
        PacketBuffer::new(
            vec![PacketMetadata::EMPTY; WAITING],
            vec![0; WAITING * MAX_DATAGRAM],
        )
    };
    let mut socket = Socket::new(buffer(), buffer());
    socket
        .bind(options.listen)
        .map_err(|error| anyhow!("cannot use port {}: {error}", options.listen))?;
    let group = IpEndpoint::new(IpAddress::Ipv4(S::GROUP), options.listen);
    // A full buffer is not possible before the first datagram.
    let _ = socket.send_slice(&service.announce(), group);
    let handle = stack.add(socket);
    eprintln!(
        "ready: {}:{} on {}",
        options.address.ip, options.listen, options.port.device
    );
    let mut answer = Vec::with_capacity(MAX_DATAGRAM);
    let ran = loop {
        let mut busy = stack.receive();
        let socket = stack.sockets.get_mut::<Socket<'_>>(handle);
        while socket.can_recv() && socket.can_send() {
            answer.clear();
            let Ok((datagram, from)) = socket.recv() else {
                break;
            };
            statistics.bytes_received += datagram.len() as u64;
            let to = match service.answer(datagram, &mut answer) {
                Some(To::Sender) => IpEndpoint::new(from.endpoint.addr, options.listen),
                Some(To::Group) => group,
                None => continue,
            };
            if socket.send_slice(&answer, to).is_ok() {
                statistics.bytes_sent += answer.len() as u64;
            }
        }
        busy |= stack.send();
        match stack.rest(busy, run) {
            Ok(false) => {}
            Ok(true) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let closed = stack.close(statistics);
    ran.and(closed)
}
