//! Interrupts: causes in EICR, through IVAR to vectors, through eventfds to the driver.
//!
//! With GPIE.MSIX_MODE a queue's cause becomes the EICR bit of its vector, and the vector is
//! signalled if EIMS has that bit; EIAC clears the cause and EIAM (with GPIE.EIAME) masks it,
//! automatically. Without, any unmasked cause signals MSI, or INTx if MSI is not set up. A vector's
//! EITR keeps signals apart; what comes too early waits for the next poll of the data plane.
//!
//! Mask bits in the MSI-X table are not looked at: through VFIO, the table is the client's affair.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::pci_config::MSIX_VECTORS;
use crate::register_file::RegisterFile;
use crate::registers as r;

/// Vectors that EICR, EIMS and the like have a bit for in MSI-X mode.
const EICR_VECTORS: usize = 16;

/// The interrupt indices of VFIO.
pub(crate) const INTX: u32 = 0;
pub(crate) const MSI: u32 = 1;
pub(crate) const MSIX: u32 = 2;
/// How many indices there are: the above, errors, requests.
pub(crate) const INDICES: u32 = 5;

/// How many vectors an index has.
pub(crate) fn vectors_of(index: u32) -> u32 {
    match index {
        INTX | MSI => 1,
        MSIX => u32::from(MSIX_VECTORS),
        _ => 0,
    }
}

const DATA_NONE: u32 = 1 << 0;
const DATA_EVENTFD: u32 = 1 << 2;
const ACTION_MASK: u32 = 1 << 3;
const ACTION_UNMASK: u32 = 1 << 4;
const ACTION_TRIGGER: u32 = 1 << 5;

#[derive(Debug, Default)]
struct Vector {
    eventfd: Option<File>,
    /// When it may be signalled again.
    not_before: Option<Instant>,
    /// A signal is due, but it is too early for it.
    due: bool,
}

impl Vector {
    fn signal(&self) {
        if let Some(mut eventfd) = self.eventfd.as_ref() {
            // A full counter has the same effect as one more signal, and a driver that closed its
            // end wants none.
            let _ = eventfd.write(&1_u64.to_ne_bytes());
        }
    }
}

/// The interrupts of one port.
#[derive(Debug)]
pub(crate) struct Interrupts {
    intx: Vector,
    msi: Vector,
    msix: Vec<Vector>,
    /// Whether a vector's signal is waiting for its time.
    any_due: bool,
}

impl Interrupts {
    pub(crate) fn new() -> Self {
        Self {
            intx: Vector::default(),
            msi: Vector::default(),
            msix: (0..MSIX_VECTORS).map(|_| Vector::default()).collect(),
            any_due: false,
        }
    }

    /// As VFIO's request to set interrupts up.
    pub(crate) fn set(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<OwnedFd>,
    ) -> Result<(), Errno> {
        let vectors = match index {
            INTX => std::slice::from_mut(&mut self.intx),
            MSI => std::slice::from_mut(&mut self.msi),
            MSIX => self.msix.as_mut_slice(),
            _ => return Err(Errno::INVAL),
        };
        if flags & (ACTION_MASK | ACTION_UNMASK) != 0 {
            // Masking is done in EIMS; VFIO masks only INTx, and ours is not level-triggered.
            return Ok(());
        }
        if flags & ACTION_TRIGGER == 0 {
            return Err(Errno::INVAL);
        }
        let end = start.checked_add(count).ok_or(Errno::INVAL)? as usize;
        let chosen = vectors.get_mut(start as usize..end).ok_or(Errno::INVAL)?;
        match flags & (DATA_NONE | DATA_EVENTFD) {
            DATA_NONE if count == 0 => vectors
                .iter_mut()
                .for_each(|vector| *vector = Vector::default()),
            DATA_NONE => chosen.iter().for_each(Vector::signal),
            DATA_EVENTFD => {
                let mut fds = fds.into_iter();
                for vector in chosen {
                    let eventfd = fds.next();
                    if let Some(fd) = &eventfd {
                        // Whatever the client handed over: signalling it must not block the data
                        // plane.
                        let flags = rustix::fs::fcntl_getfl(fd)?;
                        rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?;
                    }
                    *vector = Vector {
                        eventfd: eventfd.map(File::from),
                        ..Vector::default()
                    };
                }
            }
            _ => return Err(Errno::INVAL),
        }
        Ok(())
    }

    /// Forgets all eventfds: the client is gone.
    pub(crate) fn disconnect(&mut self) {
        *self = Self::new();
    }

    /// A queue has written descriptors back.
    pub(crate) fn queue_cause(&mut self, registers: &RegisterFile, queue: usize, transmit: bool) {
        let allocation = registers.get(r::IVAR(queue as u32 / 2));
        let byte = allocation >> (16 * (queue % 2) + 8 * usize::from(transmit)) & 0xff;
        if byte & 0x80 == 0 {
            return;
        }
        let vector = byte & 0x3f;
        if (vector as usize) < EICR_VECTORS {
            registers.change(r::EICR, 1 << vector, 0);
        }
        self.deliver(registers, vector as usize);
    }

    /// Causes or masks have changed by a register write.
    pub(crate) fn evaluate(&mut self, registers: &RegisterFile) {
        let pending = registers.get(r::EICR) & registers.get(r::EIMS);
        for vector in (0..32).filter(|bit| pending >> bit & 1 == 1) {
            self.deliver(registers, vector);
        }
    }

    /// Signals that had to wait, if their time has come.
    pub(crate) fn poll(&mut self, registers: &RegisterFile) {
        if !self.any_due {
            return;
        }
        self.any_due = false;
        for vector in 0..self.msix.len() {
            if self.msix[vector].due {
                self.msix[vector].due = false;
                self.deliver(registers, vector);
            }
        }
    }

    /// Signals every vector, whatever is masked. Returns how many eventfds there were to signal.
    pub(crate) fn signal_all(&self) -> u64 {
        let all = [&self.intx, &self.msi].into_iter().chain(&self.msix);
        let connected = all.filter(|vector| vector.eventfd.is_some());
        connected.map(|vector| vector.signal()).count() as u64
    }

    fn deliver(&mut self, registers: &RegisterFile, vector: usize) {
        let control = registers.get(r::GPIE);
        if control & r::GPIE_MSIX_MODE == 0 {
            if registers.get(r::EICR) & registers.get(r::EIMS) != 0 {
                self.auto_mask(registers, registers.get(r::EICR));
                let target = if self.msi.eventfd.is_some() {
                    &self.msi
                } else {
                    &self.intx
                };
                target.signal();
            }
            return;
        }
        let unmasked = if vector < EICR_VECTORS {
            registers.get(r::EIMS) >> vector & 1 == 1
        } else {
            let word = registers.get(r::EIMS_EX(vector as u32 / 32));
            word >> (vector % 32) & 1 == 1
        };
        let Some(state) = self.msix.get_mut(vector).filter(|_| unmasked) else {
            return;
        };
        if state.eventfd.is_none() {
            return;
        }
        let interval = r::field_get(r::EITR_ITR_INTERVAL, registers.get(r::EITR(vector as u32)));
        if interval > 0 {
            let now = Instant::now();
            if state.not_before.is_some_and(|not_before| now < not_before) {
                state.due = true;
                self.any_due = true;
                return;
            }
            state.not_before = Some(now + Duration::from_micros(2 * u64::from(interval)));
        }
        state.signal();
        if vector < EICR_VECTORS {
            let bit = 1 << vector;
            registers.change(r::EICR, 0, registers.get(r::EIAC) & bit);
            self.auto_mask(registers, bit);
        }
    }

    fn auto_mask(&self, registers: &RegisterFile, causes: u32) {
        if registers.get(r::GPIE) & r::GPIE_EIAME != 0 {
            registers.change(r::EIMS, 0, causes & registers.get(r::EIAM));
        }
    }

    /// EICR has been read: with auto-masking, what was pending is masked now.
    pub(crate) fn causes_read(&self, registers: &RegisterFile, causes: u32) {
        self.auto_mask(registers, causes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{eventfd, EventfdFlags};
    use std::io::Read;

    fn with_vector(vector: u32) -> (Interrupts, File) {
        let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        let other = fd.try_clone().unwrap();
        let mut interrupts = Interrupts::new();
        interrupts
            .set(MSIX, DATA_EVENTFD | ACTION_TRIGGER, vector, 1, vec![fd])
            .unwrap();
        (interrupts, File::from(other))
    }

    fn signals(file: &mut File) -> u64 {
        let mut bytes = [0; 8];
        match file.read_exact(&mut bytes) {
            Ok(_) => u64::from_ne_bytes(bytes),
            Err(_) => 0,
        }
    }

    fn registers_for(queue: u32, vector: u32) -> RegisterFile {
        let registers = RegisterFile::new(0).unwrap();
        registers.set(r::IVAR(queue / 2), (vector | 0x80) << (16 * (queue % 2)));
        registers.set(r::GPIE, r::GPIE_MSIX_MODE);
        registers
    }

    #[test]
    fn a_cause_goes_through_ivar_to_its_vector() {
        let (mut interrupts, mut file) = with_vector(5);
        let registers = registers_for(3, 5);
        interrupts.queue_cause(&registers, 3, false);
        assert_eq!(signals(&mut file), 0, "masked");
        assert_eq!(registers.get(r::EICR), 1 << 5, "recorded even when masked");
        registers.set(r::EIMS, 1 << 5);
        interrupts.evaluate(&registers);
        assert_eq!(signals(&mut file), 1);
        interrupts.queue_cause(&registers, 2, false);
        interrupts.queue_cause(&registers, 3, true);
        assert_eq!(signals(&mut file), 0, "other queues");
    }

    #[test]
    fn causes_are_cleared_and_masked_automatically() {
        let (mut interrupts, mut file) = with_vector(0);
        let registers = registers_for(0, 0);
        registers.set(r::EIMS, 1);
        registers.set(r::EIAC, 1);
        interrupts.queue_cause(&registers, 0, false);
        assert_eq!(
            (
                signals(&mut file),
                registers.get(r::EICR),
                registers.get(r::EIMS)
            ),
            (1, 0, 1)
        );
        registers.set(r::EIAM, 1);
        registers.change(r::GPIE, r::GPIE_EIAME, 0);
        interrupts.queue_cause(&registers, 0, false);
        interrupts.queue_cause(&registers, 0, false);
        assert_eq!((signals(&mut file), registers.get(r::EIMS)), (1, 0));
    }

    #[test]
    fn signals_are_throttled_but_not_lost() {
        let (mut interrupts, mut file) = with_vector(0);
        let registers = registers_for(0, 0);
        registers.set(r::EIMS, 1);
        registers.set(r::EITR(0), r::field(r::EITR_ITR_INTERVAL, 511));
        for _ in 0..5 {
            interrupts.queue_cause(&registers, 0, false);
        }
        assert_eq!(signals(&mut file), 1);
        std::thread::sleep(Duration::from_millis(2));
        interrupts.poll(&registers);
        assert_eq!(signals(&mut file), 1);
    }

    #[test]
    fn requests_that_make_no_sense_are_refused() {
        let mut interrupts = Interrupts::new();
        let trigger = DATA_EVENTFD | ACTION_TRIGGER;
        assert_eq!(interrupts.set(7, trigger, 0, 1, vec![]), Err(Errno::INVAL));
        assert_eq!(
            interrupts.set(MSIX, trigger, 64, 1, vec![]),
            Err(Errno::INVAL)
        );
        assert_eq!(
            interrupts.set(MSIX, trigger, u32::MAX, 2, vec![]),
            Err(Errno::INVAL)
        );
        assert_eq!(
            interrupts.set(MSIX, ACTION_TRIGGER, 0, 1, vec![]),
            Err(Errno::INVAL)
        );
    }
}
