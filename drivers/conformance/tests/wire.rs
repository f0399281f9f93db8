//! A TAP interface as a port's wire: frames between the host's own sockets and every driver.
//!
//! Each test runs in a network name space of its own, which it makes without root. Nothing leaves it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{ensure, Context, Result};
use conformance::{for_each_implementation, name_space, Implementation, TestNic};
use nic::{MmioMode, Nic, NicConfig};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::net::netdevice::name_to_index;
use rustix::net::{recv, send, socket_with, AddressFamily, Protocol, RecvFlags, SendFlags};
use rustix::net::{SocketFlags, SocketType};
use rustix::process::Signal;

for_each_implementation!(frames_cross_the_driver_from_one_interface_to_the_other);

/// No wait here takes so long, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(10);

/// An EtherType for experiments (IEEE 802). The host sends no such frames itself.
const ETHER_TYPE: u16 = 0x88b5;

const FRAMES: usize = 500;

/// A socket for whole frames of [`ETHER_TYPE`] on an interface.
struct PacketSocket(OwnedFd);

impl PacketSocket {
    fn open(interface: &str) -> Result<Self> {
        let protocol = Protocol::from_raw(
            u32::from(ETHER_TYPE.to_be())
                .try_into()
                .context("an EtherType of 0")?,
        );
        let fd = socket_with(
            AddressFamily::PACKET,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(protocol),
        )?;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: ETHER_TYPE.to_be(),
            sll_ifindex: name_to_index(&fd, interface)? as i32,
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 0,
            sll_addr: [0; 8],
        };
        // SAFETY: the address is one of a packet socket, of the given size, and outlives the call.
        let result = unsafe {
            libc::bind(
                fd.as_raw_fd(),
                std::ptr::from_ref(&address).cast(),
                size_of_val(&address) as u32,
            )
        };
        ensure!(result == 0, "bind: {}", io::Error::last_os_error());
        Ok(Self(fd))
    }

    fn send(&self, frame: &[u8]) -> Result<()> {
        ensure!(send(&self.0, frame, SendFlags::empty())? == frame.len());
        Ok(())
    }

    /// The next frame, which must come before the deadline.
    fn receive(&self, deadline: Instant) -> Result<Vec<u8>> {
        let left = deadline.saturating_duration_since(Instant::now());
        let time = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        let mut fds = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        ensure!(
            poll(&mut fds, Some(&time))? == 1,
            "no frame within {LIMIT:?}"
        );
        let mut frame = vec![0; 2048];
        let (count, _) = recv(&self.0, &mut frame, RecvFlags::empty())?;
        frame.truncate(count);
        Ok(frame)
    }
}

/// Frame number `number`: of another length and contents than its neighbours.
fn frame(number: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(ETHER_TYPE.to_be_bytes());
    let len = 60 + number * 7 % 1455;
    frame.extend((frame.len()..len).map(|at| (at + number) as u8));
    frame
}

fn frames_cross_the_driver_from_one_interface_to_the_other(driver: Implementation) -> Result<()> {
    let test = "frames_cross_the_driver_from_one_interface_to_the_other";
    if !name_space::is_inside_for(driver, test)? {
        return Ok(());
    }
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut nic = TestNic::running(|config| name_space::with_taps(config).with_mmio(mmio))?;
        let running = nic.forwarder(driver)?.start()?;
        nic.wait_until_running([0, 1])?;
        let sockets = [PacketSocket::open("t0")?, PacketSocket::open("t1")?];
        for (from, to) in [(0, 1), (1, 0)] {
            for number in 0..FRAMES {
                let mut expected = frame(number);
                sockets[from].send(&expected)?;
                expected[1] += 1;
                let received = sockets[to].receive(Instant::now() + LIMIT)?;
                ensure!(
                    received == expected,
                    "{number} from {from}, {mmio:?}: {received:x?}"
                );
            }
        }
        running.end_by(Signal::INT)?;
        nic.expect_rest()?;
        nic.stop_data_plane()?;
        for port in nic.ports() {
            let counters = port.stats();
            let [delivered, sent] = [counters.delivered, counters.transmitted];
            ensure!(
                (delivered, sent, counters.refused_by_tap) == (FRAMES as u64, FRAMES as u64, 0)
            );
        }
    }
    Ok(())
}

/// An interface belongs to one card at a time, and goes with it.
#[test]
fn a_name_in_use_is_refused() -> Result<()> {
    if !name_space::is_inside("a_name_in_use_is_refused")? {
        return Ok(());
    }
    let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
    let [first, second] = folders
        .each_ref()
        .map(|folder| name_space::with_taps(NicConfig::new(folder.path(), 2)));
    let nic = Nic::new(first)?;
    let error = Nic::new(second.clone())
        .err()
        .context("a second card has t0")?;
    let text = error.to_string();
    ensure!(
        text.contains("TAP interface t0") && text.contains("choose another name"),
        "{text}"
    );
    drop(nic);
    Ok(Nic::new(second).map(drop)?)
}
