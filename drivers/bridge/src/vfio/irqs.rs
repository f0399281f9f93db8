//! VFIO_DEVICE_SET_IRQS: interrupts through eventfds.

use crate::card::stream::MAX_FDS;
use crate::ports::Port;
use crate::say::trace;
use crate::sys::{self, Errno};
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
    request: Option<Eventfd>,
}

/// A copy of an eventfd.
#[derive(Debug)]
struct Eventfd(i32);

impl Drop for Eventfd {
    fn drop(&mut self) {
        sys::close(self.0);
    }
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
        _ => port.card().irq_info(index),
    }
}

/// Answers VFIO_DEVICE_GET_IRQ_INFO.
pub(crate) fn get_info(port: Port, at: u64) -> Result<u64, Errno> {
    let argsz: u32 = user_memory::read(at)?;
    let index: u32 = user_memory::read(at + 8)?;
    if argsz < 16 || index >= IRQ_KINDS {
        return Err(Errno(libc::EINVAL));
    }
    let (flags, count) = irq_info(port, index)?;
    user_memory::write(at + 4, &flags)?;
    user_memory::write(at + 12, &count)?;
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
    if bad {
        return Err(Errno(libc::EINVAL));
    }
    let available = available(index)?;
    if start >= available || end > available {
        return Err(Errno(libc::EINVAL));
    }
    if u64::from(argsz - FIXED) < u64::from(count) * size {
        return Err(Errno(libc::EINVAL));
    }
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
    let mut words = [0; 5];
    for (index, word) in words.iter_mut().enumerate() {
        *word = user_memory::read(at + 4 * index as u64)?;
    }
    let request = check(words, |index| irq_info(port, index).map(|(_, count)| count))?;
    trace(format_args!("{}: {request:?}", port.address()));
    match request.index {
        IRQ_ERR | IRQ_REQ => set_own(irqs, port, &request, at + 20)?,
        _ => set_device(irqs, port, &request, at + 20)?,
    }
    Ok(0)
}

/// Sets up errors or requests, which the kernel signals and not the device.
fn set_own(irqs: &mut Irqs, port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    if request.action != ACTION_TRIGGER {
        return Err(Errno(libc::ENOTTY));
    }
    let is_error = request.index == IRQ_ERR;
    let mut trigger = request.data == DATA_NONE && request.count > 0;
    if request.data == DATA_BOOL && request.count > 0 {
        let mut byte = [0];
        user_memory::read_bytes(data, &mut byte)?;
        trigger = byte[0] != 0;
    }
    if trigger {
        match (is_error, &irqs.request) {
            (true, _) => port.session().signal_error(),
            (false, Some(eventfd)) => sys::signal_eventfd(eventfd.0),
            (false, None) => {}
        }
        return Ok(());
    }
    let fd = match request.data {
        DATA_EVENTFD if request.count > 0 => user_memory::read::<i32>(data)?,
        DATA_BOOL => return Ok(()),
        _ => -1,
    };
    let copy = if fd >= 0 {
        Some(sys::duplicate_high(fd, 600)?)
    } else {
        None
    };
    if is_error {
        port.session().set_error_eventfd(copy.unwrap_or(-1));
    } else {
        irqs.request = copy.map(Eventfd);
    }
    Ok(())
}

/// Sets up interrupts of the device.
fn set_device(irqs: &mut Irqs, port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    let Request {
        index,
        start,
        count,
        ..
    } = *request;
    if request.action != ACTION_TRIGGER {
        // The kernel masks INTx only.
        if index != IRQ_INTX || !matches!(request.action, ACTION_MASK | ACTION_UNMASK) {
            return Err(Errno(libc::ENOTTY));
        }
        return mask_line(port, request, data);
    }
    if request.data == DATA_NONE && count == 0 {
        let words = [DATA_NONE | ACTION_TRIGGER, index, 0, 0];
        port.card().set_irqs(words, &[], &[])?;
        irqs.kind = None;
        return Ok(());
    }
    if irqs.kind.is_some_and(|kind| kind != index) || (index == IRQ_INTX && count != 1) {
        return Err(Errno(libc::EINVAL));
    }
    if request.data == DATA_EVENTFD {
        connect(port, index, start, &read_eventfds(data, count)?)?;
        irqs.kind = Some(index);
        return Ok(());
    }
    if irqs.kind != Some(index) {
        return Err(Errno(libc::EINVAL));
    }
    for vector in start..start + count {
        let mut byte = [1];
        if request.data == DATA_BOOL {
            user_memory::read_bytes(data + u64::from(vector - start), &mut byte)?;
        }
        if byte[0] != 0 {
            port.card()
                .set_irqs([DATA_NONE | ACTION_TRIGGER, index, vector, 1], &[], &[])?;
        }
    }
    Ok(())
}

fn mask_line(port: Port, request: &Request, data: u64) -> Result<(), Errno> {
    if request.start != 0 || request.count != 1 {
        return Err(Errno(libc::EINVAL));
    }
    if request.data == DATA_EVENTFD {
        // Only virtual machines unmask by an eventfd. -1 takes one away, and there is none.
        let fd: i32 = user_memory::read(data)?;
        return if fd < 0 {
            Ok(())
        } else {
            Err(Errno(libc::ENOTTY))
        };
    }
    let mut byte = [1];
    if request.data == DATA_BOOL {
        user_memory::read_bytes(data, &mut byte)?;
    }
    if byte[0] == 0 {
        return Ok(());
    }
    port.card()
        .set_irqs([DATA_NONE | request.action, IRQ_INTX, 0, 1], &[], &[])
}

/// The eventfds of a request; -1 means none. A descriptor that is not open is EBADF, and one that
/// is no eventfd is EINVAL.
fn read_eventfds(at: u64, count: u32) -> Result<Vec<i32>, Errno> {
    let mut fds = Vec::new();
    for index in 0..count {
        let fd: i32 = user_memory::read(at + 4 * u64::from(index))?;
        if fd < -1 {
            return Err(Errno(libc::EINVAL));
        }
        if fd >= 0 {
            sys::file_id(fd)?;
        }
        fds.push(fd);
    }
    Ok(fds)
}

/// Gives the card the eventfds, in messages of as many as one may carry.
fn connect(port: Port, index: u32, start: u32, fds: &[i32]) -> Result<(), Errno> {
    let flags = DATA_EVENTFD | ACTION_TRIGGER;
    for (from, len) in runs(fds) {
        let part = &fds[from..from + len];
        let part = if part[0] < 0 { &[] } else { part };
        // Without descriptors, the vectors lose theirs. A card that never had MSI-X on needs no
        // message for them.
        let words = [flags, index, start + from as u32, len as u32];
        port.card().set_irqs(words, &[], part)?;
    }
    Ok(())
}

/// Splits descriptors into runs that are all -1 or all valid: start and length. A run of valid ones
/// fits into a message.
fn runs(fds: &[i32]) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < fds.len() {
        let empty = fds[at] < 0;
        let most = if empty { usize::MAX } else { MAX_FDS };
        let len = fds[at..]
            .iter()
            .take(most)
            .take_while(|fd| (**fd < 0) == empty)
            .count();
        runs.push((at, len));
        at += len;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vfio::numbers::IRQ_MSIX;

    fn errno(words: [u32; 5]) -> i32 {
        check(words, |_| Ok(4)).err().map_or(0, |error| error.0)
    }

    #[test]
    fn requests_are_checked_as_the_kernel_does() {
        let trigger = DATA_EVENTFD | ACTION_TRIGGER;
        assert_eq!(errno([36, trigger, IRQ_MSIX, 0, 4]), 0);
        assert_eq!(errno([35, trigger, IRQ_MSIX, 0, 4]), libc::EINVAL);
        assert_eq!(errno([40, trigger, IRQ_MSIX, 0, 5]), libc::EINVAL);
        assert_eq!(errno([40, trigger, 5, 0, 1]), libc::EINVAL);
        assert_eq!(errno([40, trigger | 64, IRQ_MSIX, 0, 1]), libc::EINVAL);
        assert_eq!(
            errno([40, trigger | DATA_NONE, IRQ_MSIX, 0, 1]),
            libc::EINVAL
        );
        assert_eq!(errno([20, DATA_NONE | ACTION_TRIGGER, IRQ_MSIX, 0, 0]), 0);
        assert_eq!(
            errno([20, DATA_NONE | ACTION_TRIGGER, IRQ_MSIX, u32::MAX, 2]),
            libc::EINVAL
        );
    }

    #[test]
    fn holes_split_the_eventfds() {
        assert_eq!(runs(&[5, 6, -1, -1, 7]), [(0, 2), (2, 2), (4, 1)]);
        assert_eq!(runs(&[3; 40]), [(0, 16), (16, 16), (32, 8)]);
        assert_eq!(runs(&[]), []);
    }
}
