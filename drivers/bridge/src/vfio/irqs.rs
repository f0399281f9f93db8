//! VFIO_DEVICE_SET_IRQS: interrupts through eventfds.

use crate::card::stream::MAX_FDS;
use crate::ports::Port;
use crate::say::trace;
use crate::sys::{self, refuse_if, Errno, Fd};
use crate::user_memory;
use crate::vfio::numbers::{IRQ_ERR, IRQ_INTX, IRQ_KINDS, IRQ_REQ};

const DATA_NONE: u32 = 1;
const DATA_BOOL: u32 = 2;
const DATA_EVENTFD: u32 = 4;
const ACTION_MASK: u32 = 8;
const ACTION_UNMASK: u32 = 16;
const ACTION_TRIGGER: u32 = 32;
const DATA: u32 = DATA_NONE | DATA_BOOL | DATA_EVENTFD;
const ACTIONS: u32 = ACTION_MASK | ACTION_UNMASK | ACTION_TRIGGER;

const FLAG_EVENTFD: u32 = 1;
const FLAG_NO_RESIZE: u32 = 8;

/// The interrupts that a program has set up.
#[derive(Debug, Default)]
pub(crate) struct Irqs {
    /// Which of INTx, MSI and MSI-X is in use. A device uses one at a time.
    kind: Option<u32>,
    /// The program's eventfd for requests to release the device.
    request: Option<Fd>,
}

/// A request, after the kernel's checks.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    data: u32,
    action: u32,
    index: u32,
    start: u32,
    count: u32,
}

/// How many interrupts of a kind there are, and its flags. The kernel itself offers errors and
/// requests, one each, whatever the device is.
fn irq_info(port: Port, index: u32) -> Result<(u32, u32), Errno> {
    match index {
        IRQ_ERR | IRQ_REQ => Ok((FLAG_EVENTFD | FLAG_NO_RESIZE, 1)),
        _ => port.irq_info(index),
    }
}

/// Answers VFIO_DEVICE_GET_IRQ_INFO.
pub(crate) fn get_info(port: Port, at: u64) -> Result<u64, Errno> {
    let [_, _, index, _] = user_memory::read_sized(at)?;
    refuse_if(index >= IRQ_KINDS, libc::EINVAL)?;
    let (flags, count) = irq_info(port, index)?;
    user_memory::write(at + 4, [flags, index, count])?;
    Ok(0)
}

/// Checks a request as the kernel does (`vfio_set_irqs_validate_and_prepare`).
fn check(
    words: [u32; 5],
    available: impl FnOnce(u32) -> Result<u32, Errno>,
) -> Result<Request, Errno> {
    const FIXED: u32 = 20;
    let [argsz, flags, index, start, count] = words;
    let data = flags & DATA;
    let bad = argsz < FIXED || index >= IRQ_KINDS || flags & !(DATA | ACTIONS) != 0;
    let size = match data {
        DATA_NONE => 0,
        DATA_BOOL => 1,
        DATA_EVENTFD => 4,
        _ => return Err(Errno(libc::EINVAL)),
    };
    let end = start.checked_add(count).ok_or(Errno(libc::EINVAL))?;
    refuse_if(bad, libc::EINVAL)?;
    let available = available(index)?;
    refuse_if(start >= available || end > available, libc::EINVAL)?;
    refuse_if(
        u64::from(argsz - FIXED) < u64::from(count) * size,
        libc::EINVAL,
    )?;
    Ok(Request {
        data,
        action: flags & ACTIONS,
        index,
        start,
        count,
    })
}

/// Answers VFIO_DEVICE_SET_IRQS.
pub(crate) fn set(irqs: &mut Irqs, port: Port, at: u64) -> Result<u64, Errno> {
    let request = check(user_memory::read(at)?, |index| {
        irq_info(port, index).map(|(_, count)| count)
    })?;
    trace(format_args!("{}: {request:?}", port.address()));
    match request.index {
        IRQ_ERR | IRQ_REQ => set_own(irqs, port, &request, at + 20)?,
        _ => set_device(irqs, port, &request, at + 20)?,
    }
    Ok(0)
}

/// Sets up errors or requests, which the kernel signals and not the device.
fn set_own(irqs: &mut Irqs, port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    refuse_if(request.action != ACTION_TRIGGER, libc::ENOTTY)?;
    let is_error = request.index == IRQ_ERR;
    let mut trigger = request.data == DATA_NONE && request.count > 0;
    if request.data == DATA_BOOL && request.count > 0 {
        trigger = user_memory::read::<u8>(data)? != 0;
    }
    if trigger {
        match (is_error, &irqs.request) {
            (true, _) => port.connection().signal_error(),
            (false, Some(eventfd)) => sys::signal_eventfd(eventfd.number()),
            (false, None) => {}
        }
        return Ok(());
    }
    let fd = match request.data {
        DATA_EVENTFD if request.count > 0 => user_memory::read::<i32>(data)?,
        DATA_BOOL => return Ok(()),
        _ => -1,
    };
    let copy = match fd {
        0.. => Some(sys::duplicate(fd)?),
        _ => None,
    };
    if is_error {
        port.connection().set_error_eventfd(copy);
    } else {
        irqs.request = copy;
    }
    Ok(())
}

/// Sets up interrupts of the device.
fn set_device(irqs: &mut Irqs, port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    let (index, start, count) = (request.index, request.start, request.count);
    if request.action != ACTION_TRIGGER {
        // The kernel masks INTx only.
        refuse_if(
            index != IRQ_INTX || !matches!(request.action, ACTION_MASK | ACTION_UNMASK),
            libc::ENOTTY,
        )?;
        return mask_line(port, request, data);
    }
    if request.data == DATA_NONE && count == 0 {
        let words = [DATA_NONE | ACTION_TRIGGER, index, 0, 0];
        port.set_irqs(words, &[])?;
        irqs.kind = None;
        return Ok(());
    }
    refuse_if(
        irqs.kind.is_some_and(|kind| kind != index) || (index == IRQ_INTX && count != 1),
        libc::EINVAL,
    )?;
    if request.data == DATA_EVENTFD {
        connect(port, index, start, &read_eventfds(data, count)?)?;
        irqs.kind = Some(index);
        return Ok(());
    }
    refuse_if(irqs.kind != Some(index), libc::EINVAL)?;
    for vector in start..start + count {
        if is_set(request, data + u64::from(vector - start))? {
            port.set_irqs([DATA_NONE | ACTION_TRIGGER, index, vector, 1], &[])?;
        }
    }
    Ok(())
}

fn mask_line(port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    refuse_if(request.start != 0 || request.count != 1, libc::EINVAL)?;
    if request.data == DATA_EVENTFD {
        // Only virtual machines unmask by an eventfd. -1 takes one away, and there is none.
        let fd: i32 = user_memory::read(data)?;
        return refuse_if(fd >= 0, libc::ENOTTY);
    }
    if !is_set(request, data)? {
        return Ok(());
    }
    port.set_irqs([DATA_NONE | request.action, IRQ_INTX, 0, 1], &[])
}

/// Whether a request asks for an interrupt: the byte for it may be 0.
fn is_set(request: &Request, byte: u64) -> Result<bool, Errno> {
    Ok(request.data != DATA_BOOL || user_memory::read::<u8>(byte)? != 0)
}

/// The eventfds of a request; -1 means none. A descriptor that is not open is EBADF, and one that
/// is no eventfd is EINVAL.
fn read_eventfds(at: u64, count: u32) -> Result<Vec<i32>, Errno> {
    let fds = (0..u64::from(count)).map(|index| {
        let fd = user_memory::read(at + 4 * index)?;
        match fd {
            0.. => sys::file_id(fd).map(|_| fd),
            -1 => Ok(fd),
            _ => Err(Errno(libc::EINVAL)),
        }
    });
    fds.collect()
}

/// Gives the card the eventfds, in messages of as many as one may carry.
fn connect(port: Port, index: u32, start: u32, fds: &[i32]) -> Result<(), Errno> {
    let mut vector = start;
    for run in fds.chunk_by(|a, b| (*a < 0) == (*b < 0)) {
        for part in run.chunks(MAX_FDS) {
            let count = part.len() as u32;
            let words = [DATA_EVENTFD | ACTION_TRIGGER, index, vector, count];
            // Without descriptors, the vectors lose theirs. A card that never had MSI-X on needs no
            // message for them.
            let eventfds = if part[0] < 0 { &[] } else { part };
            port.set_irqs(words, eventfds)?;
            vector += count;
        }
    }
    Ok(())
}
