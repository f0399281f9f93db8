//! A TAP interface as the wire of a port: the host's own programs exchange frames with the driver.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use libc::{c_short, c_ulong, ifreq};
use rustix::net::{socket, AddressFamily, SocketType};

use crate::error::NicError;
use crate::traffic::frame::{MAX_FRAME, MIN_FRAME};

/// The device from which the kernel makes TAP interfaces.
const TUN: &str = "/dev/net/tun";

/// Frames that are read from the interface in a round.
const ROUND_FRAMES: usize = 64;

/// Room for a frame with a VLAN tag.
const LONGEST: usize = MAX_FRAME + 4;

/// What to do without the right to open that device, which most systems give to everybody.
const NO_ACCESS: &str =
    "run it as root, or let everybody use the device (chmod 666 /dev/net/tun); making \
     interfaces needs root or a name space of your own all the same";

/// What to do without the right to make an interface.
const NO_PERMISSION: &str = "run it as root or with CAP_NET_ADMIN, or in a name space of your own \
     (unshare --user --map-root-user --net), or let root make the interface for you \
     (ip tuntap add dev NAME mode tap user USER; ip link set NAME up)";

/// An open TAP interface. It disappears when this is dropped, unless somebody else made it.
#[derive(Debug)]
pub(crate) struct Tap {
    file: File,
    /// Frames that the interface did not take, because it was down or its queue was full.
    pub(crate) refused: u64,
}

/// The request about an interface of this name.
fn request(name: &str) -> ifreq {
    // SAFETY: zeroes are a valid `ifreq`: numbers, and unions of numbers.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    // `WireEnd::check` has refused names that do not fit.
    let bytes = name.bytes().take(libc::IFNAMSIZ - 1);
    for (to, from) in request.ifr_name.iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    request
}

/// A request to the kernel that reads and writes an `ifreq`.
fn ioctl(fd: RawFd, number: c_ulong, request: &mut ifreq) -> io::Result<()> {
    // SAFETY: all numbers that this module passes take a pointer to an `ifreq`, which lives longer than
    // the call.
    match unsafe { libc::ioctl(fd, number as _, std::ptr::from_mut(request)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Brings an interface up, if it is not.
fn set_up(name: &str) -> io::Result<()> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut request = request(name);
    ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the kernel has written the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    if flags & libc::IFF_UP as c_short != 0 {
        return Ok(());
    }
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as c_short;
    ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &mut request)
}

impl Tap {
    /// Makes the interface `name`, or opens it if it exists and is free, and brings it up.
    pub(crate) fn open(name: &str) -> Result<Self, NicError> {
        let error = |what, remedy: &str, reason: io::Error| {
            let reason = format!("{what}: {reason}");
            NicError::unusable("TAP interface", name, reason, remedy)
        };
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK);
        let file = options.open(TUN).map_err(|reason| {
            let remedy = match reason.kind() {
                ErrorKind::PermissionDenied => NO_ACCESS,
                _ => "load the kernel's module (modprobe tun)",
            };
            error("open /dev/net/tun", remedy, reason)
        })?;
        let mut request = request(name);
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as c_short;
        ioctl(file.as_raw_fd(), libc::TUNSETIFF as c_ulong, &mut request).map_err(|reason| {
            let remedy = match reason.raw_os_error() {
                Some(libc::EPERM) => NO_PERMISSION,
                Some(libc::EBUSY) => "another program uses it; choose another name",
                _ => "if an interface of this name is no TAP, choose another name",
            };
            error("make the interface", remedy, reason)
        })?;
        // Otherwise the host sends frames of its own as soon as the interface is up. A kernel without
        // IPv6 has no such file, and sends none.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/addr_gen_mode"), "1");
        set_up(name).map_err(|reason| error("bring the interface up", NO_PERMISSION, reason))?;
        Ok(Self { file, refused: 0 })
    }

    /// Appends frames that the host has sent, at most as many as fit into a round.
    pub(crate) fn receive(&mut self, frames: &mut impl Extend<Vec<u8>>) {
        let mut bytes = [0; LONGEST];
        for _ in 0..ROUND_FRAMES {
            // Nothing to read, or the interface is down.
            let Ok(count) = self.file.read(&mut bytes) else {
                return;
            };
            // A real wire has no shorter frames.
            let len = count.max(MIN_FRAME);
            bytes[count.min(len)..len].fill(0);
            frames.extend([bytes[..len].to_vec()]);
        }
    }

    /// Hands frames that the driver has sent to the host.
    pub(crate) fn send(&mut self, frames: impl Iterator<Item = Vec<u8>>) {
        for frame in frames {
            // The interface takes a frame whole, or not at all.
            if !matches!(self.file.write(&frame), Ok(count) if count == frame.len()) {
                self.refused += 1;
            }
        }
    }
}
