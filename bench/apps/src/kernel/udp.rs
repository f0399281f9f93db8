//! A service over UDP on the kernel's sockets.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::run::Run;
use crate::service::{DatagramService, To, MAX_DATAGRAM};
use crate::statistics::Statistics;

/// The longest wait, so that signals and limits are noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// A socket that also receives the datagrams of a group. Its own datagrams to the group do not come back.
///
/// # Errors
/// If the port is in use, or the group cannot be joined.
pub fn group_socket(ip: Ipv4Addr, group: Ipv4Addr, port: u16) -> Result<UdpSocket> {
    let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
    let socket = UdpSocket::bind(address).with_context(|| format!("cannot use UDP port {port}"))?;
    socket
        .join_multicast_v4(&group, &ip)
        .with_context(|| format!("cannot join {group} on the interface of {ip}"))?;
    rustix::net::sockopt::set_ip_multicast_if(&socket, &ip)?;
    socket.set_multicast_loop_v4(false)?;
    Ok(socket)
}

/// Serves clients of the kernel's sockets until the run is over. The statistics are valid even after an
/// error.
///
/// # Errors
/// If the address cannot be used.
pub fn serve<S: DatagramService>(
    service: &mut S,
    (ip, listen): (Ipv4Addr, u16),
    run: &Run,
    statistics: &mut Statistics,
) -> Result<()> {
    let socket = group_socket(ip, S::GROUP, listen)?;
    let group = SocketAddr::from((S::GROUP, listen));
    socket.send_to(&service.announce(), group)?;
    eprintln!("ready: {ip}:{listen} on the kernel's sockets");
    // Longer datagrams are cut, and then malformed.
    let mut datagram = [0; MAX_DATAGRAM];
    let mut answer = Vec::with_capacity(MAX_DATAGRAM);
    while !run.is_over() {
        socket.set_read_timeout(Some(
            LONGEST_WAIT.min(run.left()).max(Duration::from_millis(1)),
        ))?;
        let (size, from) = match socket.recv_from(&mut datagram) {
            Ok(received) => received,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                _ => return Err(error).context("cannot receive"),
            },
        };
        statistics.bytes_received += size as u64;
        answer.clear();
        let to = match service.answer(&datagram[..size], &mut answer) {
            Some(To::Sender) => SocketAddr::new(from.ip(), listen),
            Some(To::Group) => group,
            None => continue,
        };
        // A host without a route is the client's problem.
        if socket.send_to(&answer, to).is_ok() {
            statistics.bytes_sent += answer.len() as u64;
        }
    }
    Ok(())
}
