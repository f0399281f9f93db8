//! Requests to a device.

use crate::ports::Port;
use crate::say::trace;
use crate::state::State;
use crate::sys::{refuse_if, Errno};
use crate::user_memory;
use crate::vfio::capabilities::write_answer;
use crate::vfio::numbers::*;
use crate::vfio::{irqs, region};

/// Answers a request to an open device.
pub(crate) fn request(state: &mut State, port: Port, request: u64, at: u64) -> Result<u64, Errno> {
    refuse_if(port.connection().is_broken(), libc::EIO)?;
    match request {
        DEVICE_GET_INFO => get_info(at),
        DEVICE_GET_REGION_INFO => region::get_info(port, at),
        DEVICE_GET_IRQ_INFO => irqs::get_info(port, at),
        DEVICE_SET_IRQS => {
            let device = state.device(port).ok_or(Errno(libc::EBADF))?;
            irqs::set(&mut device.irqs, port, at)
        }
        DEVICE_RESET => reset(port),
        DEVICE_GET_PCI_HOT_RESET_INFO => hot_reset_info(port, at),
        DEVICE_PCI_HOT_RESET => hot_reset(state, port, at),
        _ => Err(Errno(libc::ENOTTY)),
    }
}

fn get_info(at: u64) -> Result<u64, Errno> {
    const RESET: u32 = 1;
    const PCI: u32 = 2;
    let info: [u32; 4] = user_memory::read_sized(at)?;
    // The kernel counts the VGA region, although it then refuses its description. The last word is the offset of
    // capabilities, which newer structures have. There are none.
    let answer = [info[0], RESET | PCI, VGA_REGION + 1, IRQ_KINDS, 0];
    write_answer(at, answer, 4, &[])
}

/// Resets the function. The kernel saves the configuration space and restores it, so that, for
/// example, bus mastering stays on.
fn reset(port: Port) -> Result<u64, Errno> {
    let mut saved = [0; 64];
    port.read(CONFIG_REGION, 0, &mut saved)?;
    port.reset()?;
    // The command register comes last: it turns on what the BARs before it describe. Its upper half
    // is the status, whose bits a write of 1 clears.
    for at in (8..64).step_by(4).rev() {
        port.write(CONFIG_REGION, at as u64, &saved[at..at + 4])?;
    }
    port.write(CONFIG_REGION, 4, &saved[4..6])?;
    trace(format_args!("{}: reset", port.address()));
    Ok(0)
}

/// Segment, bus, and device with function of a port.
fn location(port: Port) -> Option<(u16, u8, u8)> {
    let mut parts = port.address().split([':', '.']);
    let segment = u16::from_str_radix(parts.next()?, 16).ok()?;
    let mut next = || u8::from_str_radix(parts.next()?, 16).ok();
    let (bus, slot, function) = (next()?, next()?, next()?);
    Some((segment, bus, slot << 3 | function & 7))
}

/// Each port has a bus of its own, so a reset of the bus affects only the port.
fn hot_reset_info(port: Port, at: u64) -> Result<u64, Errno> {
    // A fixed part of 12 bytes, and one port of 8.
    let [argsz, _, _] = user_memory::read_sized(at)?;
    user_memory::write(at + 4, [0_u32, 1])?;
    refuse_if(argsz < 20, libc::ENOSPC)?;
    let (segment, bus, function) = location(port).ok_or(Errno(libc::ENODEV))?;
    let place = u32::from(segment) | u32::from(bus) << 16 | u32::from(function) << 24;
    user_memory::write(at + 12, [port.group(), place])?;
    Ok(0)
}

/// The program proves that it owns the port by the descriptor of the port's group.
fn hot_reset(state: &mut State, port: Port, at: u64) -> Result<u64, Errno> {
    let [_, flags, count] = user_memory::read_sized(at)?;
    refuse_if(flags != 0 || count > 16, libc::EINVAL)?;
    let cdev = state.device(port).is_some_and(|device| device.cdev);
    let mut owned = cdev && count == 0;
    for index in 0..count {
        let fd: i32 = user_memory::read(at + 12 + 4 * u64::from(index))?;
        let (id, _) = state.objects.find(fd).ok_or(Errno(libc::EINVAL))?;
        let group = |group: &crate::state::Group| group.id == id && group.number == port.group();
        owned |= state.groups.iter().any(group);
    }
    refuse_if(!owned, libc::EINVAL)?;
    reset(port)
}
