//! Interrupts: from causes in EICR, by IVAR to vectors, by eventfds to the driver.
//!
//! With GPIE.MSIX_MODE, a queue's cause sets the EICR bit of its vector. The card signals the vector
//! if EIMS has that bit. A signal clears the cause if EIAC has the bit, and masks it if EIAM has the
//! bit and GPIE.EIAME is set. All other causes share the vector that IVAR_MISC names. Vectors above
//! 15 have bits in the _EX registers only. A vector's EITR keeps its signals apart: a signal that
//! comes too early waits for the first poll of the data plane after the time is up.
//!
//! Without GPIE.MSIX_MODE, the line is up while EICR and EIMS have a bit in common. When the line
//! goes up, the card signals what the driver has set up: vector 0 of MSI-X, MSI, or INTx. A read of
//! EICR masks the bits that EIAM names.
//!
//! The card ignores the mask bits in the MSI-X table: through VFIO, the client handles the table.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::device::pci_config::MSIX_VECTORS;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::eventfd::Signaller;
use crate::pci_function::{IrqRequest, IRQ_INTX, IRQ_MSI, IRQ_MSIX};

const MSIX: usize = IRQ_MSIX as usize;
/// Vectors that EICR, EIMS and the like have a bit for in MSI-X mode.
const EICR_VECTORS: usize = 16;

/// How many vectors an interrupt kind has.
pub(crate) fn vectors_of(kind: u32) -> u32 {
    match kind {
        IRQ_INTX | IRQ_MSI => 1,
        IRQ_MSIX => u32::from(MSIX_VECTORS),
        _ => 0,
    }
}

#[derive(Debug, Default)]
struct Vector {
    eventfd: Option<OwnedFd>,
    /// The time of the last signal.
    last: Option<Instant>,
    /// A signal is due, but comes too early, or has no eventfd yet.
    due: bool,
}

/// Signals a vector's eventfd, if it has one. Never waits.
fn signal_vector(signaller: &mut Option<Signaller>, vector: &Vector) {
    if let (Some(signaller), Some(eventfd)) = (signaller, &vector.eventfd) {
        signaller.signal(eventfd);
    }
}

/// The interrupts of one port.
#[derive(Debug)]
pub(crate) struct Interrupts {
    /// The vectors of each kind: INTx, MSI, MSI-X.
    kinds: [Vec<Vector>; 3],
    /// Whether a vector has a signal that waits.
    any_due: bool,
    /// Causes of the vectors above 15. They have no bit in EICR.
    causes: u64,
    /// Whether the line is up and has been signalled.
    line: bool,
    /// Whether any vector has an eventfd.
    any_eventfd: bool,
    /// Whether no throttle holds signals back: a card in turns has no clock.
    pub(crate) clockless: bool,
    /// Signals the eventfds; `None` if the operating system cannot.
    signaller: Option<Signaller>,
}

impl Interrupts {
    /// The interrupts of a card without a driver, and the reason if the card cannot signal them.
    pub(crate) fn new() -> (Self, Option<io::Error>) {
        let (signaller, reason) = match Signaller::new() {
            Ok(signaller) => (Some(signaller), None),
            Err(reason) => (None, Some(reason)),
        };
        (Self::with(signaller), reason)
    }

    fn with(signaller: Option<Signaller>) -> Self {
        Self {
            kinds: [IRQ_INTX, IRQ_MSI, IRQ_MSIX]
                .map(|kind| (0..vectors_of(kind)).map(|_| Vector::default()).collect()),
            any_due: false,
            causes: 0,
            line: false,
            any_eventfd: false,
            clockless: false,
            signaller,
        }
    }

    /// The card is reset: no cause is pending.
    pub(crate) fn reset(&mut self) {
        self.causes = 0;
        self.any_due = false;
        self.line = false;
        for vector in &mut self.kinds[MSIX] {
            (vector.last, vector.due) = (None, false);
        }
    }

    /// Whether the driver has set up any interrupt.
    #[inline(always)]
    pub(crate) fn set_up(&self) -> bool {
        self.any_eventfd
    }

    /// Sets the interrupts of one kind up.
    pub(crate) fn set(&mut self, kind: u32, request: IrqRequest) -> Result<(), Errno> {
        let vectors = self.kinds.get_mut(kind as usize).ok_or(Errno::INVAL)?;
        match request {
            // The driver masks vectors in EIMS. Only INTx is masked here: a client masks the line
            // when it is signalled, and unmasks it when the driver has handled the interrupt. A
            // line that is still up then is signalled again.
            IrqRequest::Mask => return Ok(()),
            IrqRequest::Unmask => {
                if kind == IRQ_INTX {
                    self.line = false;
                }
                return Ok(());
            }
            IrqRequest::Disable => vectors.fill_with(Vector::default),
            IrqRequest::Trigger(chosen) => {
                let chosen = vectors.get(chosen).ok_or(Errno::INVAL)?;
                for vector in chosen {
                    signal_vector(&mut self.signaller, vector);
                }
            }
            IrqRequest::Connect {
                vectors: chosen,
                eventfds,
            } => {
                let chosen = vectors.get_mut(chosen).ok_or(Errno::INVAL)?;
                // A refused request changes nothing, so the checks come first.
                if !eventfds.is_empty() {
                    let signaller = self.signaller.as_ref().ok_or(Errno::NOTSUP)?;
                    if !eventfds.iter().all(|fd| signaller.is_eventfd(fd)) {
                        return Err(Errno::INVAL);
                    }
                }
                let mut eventfds = eventfds.into_iter();
                for vector in chosen {
                    vector.eventfd = eventfds.next();
                }
            }
        }
        let mut all = self.kinds.iter().flatten();
        self.any_eventfd = all.any(|vector| vector.eventfd.is_some());
        // Signals that waited for an eventfd may go out now.
        self.any_due = self.kinds[MSIX].iter().any(|vector| vector.due);
        Ok(())
    }

    /// Drops all eventfds: the client is gone.
    pub(crate) fn disconnect(&mut self) {
        let clockless = self.clockless;
        *self = Self::with(self.signaller.take());
        self.clockless = clockless;
    }

    /// The card has written descriptors of a queue back.
    pub(crate) fn queue_cause(&mut self, registers: &RegisterFile, queue: usize, transmit: bool) {
        let Some(vector) = vector_of(registers, queue, transmit) else {
            return;
        };
        if vector < EICR_VECTORS {
            registers.change(r::EICR, 1 << vector, 0);
        } else {
            self.causes |= 1 << vector;
        }
        self.deliver(registers, vector);
    }

    /// Other causes have occurred: bits of EICR above those of the queues.
    pub(crate) fn other_cause(&mut self, registers: &RegisterFile, causes: u32) {
        registers.change(r::EICR, causes, 0);
        self.deliver_other(registers);
    }

    /// A register write has changed causes or masks.
    pub(crate) fn evaluate(&mut self, registers: &RegisterFile) {
        if registers.get(r::GPIE) & r::GPIE_MSIX_MODE == 0 {
            return self.deliver_line(registers);
        }
        let mut pending = u64::from(registers.get(r::EICR) & r::EICR_RTX_QUEUE) | self.causes;
        while pending != 0 {
            let vector = pending.trailing_zeros() as usize;
            pending &= pending - 1;
            self.deliver(registers, vector);
        }
        self.deliver_other(registers);
    }

    /// A driver's write to EICS_EX: causes of queue vectors.
    pub(crate) fn set_causes(&mut self, registers: &RegisterFile, entry: u32, bits: u32) {
        if entry == 0 {
            registers.change(r::EICR, bits & r::EICR_RTX_QUEUE, 0);
        }
        let bits = u64::from(bits) << (32 * (entry & 1));
        self.causes |= bits & !u64::from(r::EICR_RTX_QUEUE);
        self.evaluate(registers);
    }

    /// Sends the signals that waited, if their time has come.
    #[inline(always)]
    pub(crate) fn poll(&mut self, registers: &RegisterFile) {
        if self.any_due {
            self.poll_due(registers);
        }
    }

    fn poll_due(&mut self, registers: &RegisterFile) {
        self.any_due = false;
        for vector in 0..self.kinds[MSIX].len() {
            if std::mem::take(&mut self.kinds[MSIX][vector].due) {
                self.deliver(registers, vector);
            }
        }
        self.deliver_other(registers);
    }

    /// Signals every vector, masked or not. Returns the number of eventfds.
    pub(crate) fn signal_all(&mut self) -> u64 {
        let all = self.kinds.iter().flatten();
        let connected = all.filter(|vector| vector.eventfd.is_some());
        let signal = |vector| signal_vector(&mut self.signaller, vector);
        connected.map(signal).count() as u64
    }

    /// The time of the next waiting signal; `None` if no signal waits.
    pub(crate) fn next_due(&self, registers: &RegisterFile) -> Option<Instant> {
        let due = |(nth, vector): (usize, &Vector)| {
            let last = vector.last.filter(|_| vector.due)?;
            Some(last + interval(registers, nth))
        };
        if !self.any_due {
            return None;
        }
        self.kinds[MSIX].iter().enumerate().filter_map(due).min()
    }

    /// The throttle of a transmit queue's vector: the time from which the card may signal it again,
    /// or `Some(None)` before the first signal. `None` if the queue has no vector, or the vector no
    /// throttle.
    pub(crate) fn throttle_of(
        &self,
        registers: &RegisterFile,
        queue: usize,
    ) -> Option<Option<Instant>> {
        let vector = vector_of(registers, queue, true)?;
        let interval = interval(registers, vector);
        if interval.is_zero() {
            return None;
        }
        let last = self.kinds[MSIX].get(vector)?.last;
        Some(last.map(|last| last + interval))
    }

    /// Signals a queue vector if its cause is pending and not masked: now, or when its throttle
    /// allows.
    fn deliver(&mut self, registers: &RegisterFile, vector: usize) {
        if registers.get(r::GPIE) & r::GPIE_MSIX_MODE == 0 {
            return self.deliver_line(registers);
        }
        let pending = if vector < EICR_VECTORS {
            registers.get(r::EICR) >> vector & 1 == 1
        } else {
            self.causes >> vector & 1 == 1
        };
        let (mask, auto_mask) = masks_of(vector);
        let bit = 1 << (vector % 32);
        let unmasked = registers.get(mask) & bit != 0;
        if !pending || !unmasked || !self.signal(registers, vector) {
            return;
        }
        if vector < EICR_VECTORS {
            registers.change(r::EICR, 0, registers.get(r::EIAC) & 1 << vector);
        } else {
            self.causes &= !(1 << vector);
        }
        if registers.get(r::GPIE) & r::GPIE_EIAME != 0 {
            registers.change(mask, 0, registers.get(auto_mask) & bit);
            mirror(registers, r::EIMS, r::EIMS_EX(0));
        }
    }

    /// Signals the vector of the other causes, if one of them is pending and not masked.
    fn deliver_other(&mut self, registers: &RegisterFile) {
        if registers.get(r::GPIE) & r::GPIE_MSIX_MODE == 0 {
            return self.deliver_line(registers);
        }
        let others = !(r::EICR_RTX_QUEUE | r::EICR_OTHER);
        let pending = registers.get(r::EICR) & registers.get(r::EIMS) & others;
        let allocation = registers.get(r::IVAR_MISC);
        if pending == 0 || allocation & r::IVAR_MISC_OTHER_VALID == 0 {
            return;
        }
        let vector = r::field_get(r::IVAR_MISC_OTHER, allocation) as usize;
        if self.signal(registers, vector) {
            registers.change(r::EICR, 0, registers.get(r::EIAC) & pending);
            if registers.get(r::GPIE) & r::GPIE_EIAME != 0 {
                registers.change(r::EIMS, 0, registers.get(r::EIAM) & pending);
            }
        }
    }

    /// Signals a vector, or lets the signal wait if it comes too early. Returns whether it went out.
    fn signal(&mut self, registers: &RegisterFile, vector: usize) -> bool {
        let interval = interval(registers, vector);
        let Some(state) = self.kinds[MSIX].get_mut(vector) else {
            return false;
        };
        if state.eventfd.is_none() {
            state.due = true;
            return false;
        }
        if !interval.is_zero() && !self.clockless {
            let now = Instant::now();
            if state.last.is_some_and(|last| now < last + interval) {
                state.due = true;
                self.any_due = true;
                return false;
            }
            state.last = Some(now);
        }
        state.due = false;
        signal_vector(&mut self.signaller, state);
        true
    }

    fn deliver_line(&mut self, registers: &RegisterFile) {
        let up = registers.get(r::EICR) & registers.get(r::EIMS) != 0;
        if up && !self.line {
            let mut first = self.kinds.iter().rev().filter_map(|kind| kind.first());
            let Some(vector) = first.find(|vector| vector.eventfd.is_some()) else {
                // The signal waits for an eventfd.
                return;
            };
            signal_vector(&mut self.signaller, vector);
        }
        self.line = up;
    }

    /// The driver has read EICR: masks the causes that EIAM names. The line may have gone down.
    pub(crate) fn causes_read(&mut self, registers: &RegisterFile, causes: u32) {
        let mode = registers.get(r::GPIE);
        let line = mode & r::GPIE_MSIX_MODE == 0;
        if line || mode & r::GPIE_EIAME != 0 {
            registers.change(r::EIMS, 0, causes & registers.get(r::EIAM));
            mirror(registers, r::EIMS, r::EIMS_EX(0));
        }
        if line {
            self.deliver_line(registers);
        }
    }
}

/// Copies the bits of the first 16 vectors, which two registers have, from `from` to `to`.
pub(crate) fn mirror(registers: &RegisterFile, from: u32, to: u32) {
    let bits = registers.get(from) & r::EICR_RTX_QUEUE;
    registers.change(to, bits, r::EICR_RTX_QUEUE & !bits);
}

/// The registers that have a queue vector's enable bit and auto-mask bit.
fn masks_of(vector: usize) -> (u32, u32) {
    let entry = vector as u32 / 32;
    if vector < EICR_VECTORS {
        (r::EIMS, r::EIAM_EX(0))
    } else {
        (r::EIMS_EX(entry), r::EIAM_EX(entry))
    }
}

/// The vector of a queue, if it has one.
#[inline(always)]
fn vector_of(registers: &RegisterFile, queue: usize, transmit: bool) -> Option<usize> {
    let allocation = registers.get(r::IVAR(queue as u32 / 2));
    let byte = allocation >> (16 * (queue % 2) + 8 * usize::from(transmit)) & 0xff;
    (byte & 0x80 != 0).then_some((byte & 0x3f) as usize)
}

/// The least time between two signals of a vector.
fn interval(registers: &RegisterFile, vector: usize) -> Duration {
    let units = r::field_get(r::EITR_ITR_INTERVAL, registers.get(r::EITR(vector as u32)));
    Duration::from_micros(2 * u64::from(units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::families::family_of;
    use rustix::event::{eventfd, EventfdFlags};

    /// The interrupts of a card with one eventfd.
    struct Bench {
        interrupts: Interrupts,
        registers: RegisterFile,
        eventfd: OwnedFd,
    }

    impl Bench {
        /// Receive queue `queue` uses vector `vector`. The eventfd is not connected yet.
        fn without_eventfd(queue: u32, vector: u32) -> Self {
            let registers = RegisterFile::new(0, family_of(0x10fb).unwrap()).unwrap();
            let allocation = (vector | 0x80) << (16 * (queue % 2));
            registers.set(r::IVAR(queue / 2), allocation);
            registers.set(r::GPIE, r::GPIE_MSIX_MODE);
            Self {
                interrupts: Interrupts::new().0,
                registers,
                eventfd: eventfd(0, EventfdFlags::NONBLOCK).unwrap(),
            }
        }

        fn new(queue: u32, vector: u32) -> Self {
            let mut bench = Self::without_eventfd(queue, vector);
            bench.connect(IRQ_MSIX, vector as usize);
            bench
        }

        fn connect(&mut self, kind: u32, vector: usize) {
            let request = IrqRequest::Connect {
                vectors: vector..vector + 1,
                eventfds: vec![self.eventfd.try_clone().unwrap()],
            };
            self.interrupts.set(kind, request).unwrap();
        }

        fn get(&self, register: u32) -> u32 {
            self.registers.get(register)
        }

        /// The driver writes registers. Returns the signals.
        fn set(&mut self, values: &[(u32, u32)]) -> u64 {
            for (register, value) in values {
                self.registers.set(*register, *value);
            }
            self.interrupts.evaluate(&self.registers);
            self.signals()
        }

        /// A receive queue has so many causes. Returns the signals.
        fn received(&mut self, queue: usize, causes: usize) -> u64 {
            let Self {
                interrupts,
                registers,
                ..
            } = self;
            (0..causes).for_each(|_| interrupts.queue_cause(registers, queue, false));
            self.signals()
        }

        fn link_cause(&mut self) -> u64 {
            self.interrupts.other_cause(&self.registers, r::EICR_LSC);
            self.signals()
        }

        fn poll(&mut self) -> u64 {
            self.interrupts.poll(&self.registers);
            self.signals()
        }

        /// The driver reads EICR.
        fn read_causes(&mut self) {
            let causes = self.registers.read(r::EICR);
            self.interrupts.causes_read(&self.registers, causes);
        }

        /// The signals since the last call.
        fn signals(&mut self) -> u64 {
            let mut bytes = [0; 8];
            let read = rustix::io::read(&self.eventfd, &mut bytes);
            read.map_or(0, |_| u64::from_ne_bytes(bytes))
        }
    }

    #[test]
    fn a_cause_goes_through_ivar_to_its_vector() {
        let mut bench = Bench::new(3, 5);
        assert_eq!(bench.received(3, 1), 0, "masked");
        assert_eq!(bench.get(r::EICR), 1 << 5, "recorded even when masked");
        assert_eq!(bench.set(&[(r::EIMS, 1 << 5)]), 1);
        bench.interrupts.queue_cause(&bench.registers, 3, true);
        assert_eq!(bench.received(2, 1), 0, "other queues");
    }

    #[test]
    fn causes_are_cleared_and_masked_automatically() {
        let mut bench = Bench::new(0, 0);
        bench.set(&[(r::EIMS, 1), (r::EIAC, 1)]);
        assert_eq!((bench.received(0, 1), bench.get(r::EICR)), (1, 0));
        assert_eq!(bench.get(r::EIMS), 1);
        bench.set(&[(r::EIAM_EX(0), 1)]);
        bench.registers.change(r::GPIE, r::GPIE_EIAME, 0);
        assert_eq!((bench.received(0, 2), bench.get(r::EIMS)), (1, 0));
    }

    #[test]
    fn a_vector_is_signalled_at_most_once_an_interval_and_at_its_end() {
        let mut bench = Bench::new(0, 0);
        // 100 units of 2 us.
        let interval = r::field(r::EITR_ITR_INTERVAL, 100);
        bench.set(&[(r::EIMS, 1), (r::EIAC, 1), (r::EITR(0), interval)]);
        let start = Instant::now();
        let mut count = 0;
        while start.elapsed() < Duration::from_millis(20) {
            count += bench.received(0, 1) + bench.poll();
        }
        let intervals = start.elapsed().as_micros() as u64 / 200;
        let expected = 2..=intervals + 1;
        assert!(
            expected.contains(&count),
            "{count} in {intervals} intervals"
        );
        let late = bench.received(0, 2);
        let due = bench.interrupts.next_due(&bench.registers);
        assert!(due.is_none_or(|due| due <= Instant::now() + Duration::from_micros(200)));
        std::thread::sleep(Duration::from_millis(1));
        assert!(late + bench.poll() > 0, "a throttled signal is not lost");
    }

    #[test]
    fn vectors_above_15_have_their_own_registers() {
        for vector in [16, 31, 32, 63] {
            let mut bench = Bench::new(2, vector);
            assert_eq!((bench.received(2, 1), bench.get(r::EICR)), (0, 0));
            let bit = 1 << (vector % 32);
            let enable = [(r::EIMS_EX(vector / 32), bit)];
            assert_eq!(bench.set(&enable), 1, "what was pending is signalled");
            assert_eq!(bench.set(&enable), 0, "once");
            let Bench {
                interrupts,
                registers,
                ..
            } = &mut bench;
            interrupts.set_causes(registers, vector / 32, bit);
            assert_eq!(bench.signals(), 1, "by software");
            let enabled = |bench: &Bench| bench.get(r::EIMS_EX(vector / 32)) & bit != 0;
            assert!(enabled(&bench));
            bench.set(&[(r::EIAM_EX(vector / 32), bit)]);
            bench.registers.change(r::GPIE, r::GPIE_EIAME, 0);
            bench.received(2, 1);
            assert!(!enabled(&bench), "masked by itself");
        }
    }

    #[test]
    fn other_causes_share_the_vector_of_ivar_misc() {
        let mut bench = Bench::new(0, 2);
        bench.set(&[(r::IVAR_MISC, 0x8200)]);
        assert_eq!(bench.link_cause(), 0, "masked");
        assert_eq!(bench.set(&[(r::EIMS, r::EICR_LSC)]), 1);
        assert_eq!(bench.get(r::EICR), r::EICR_LSC, "not cleared by itself");
    }

    #[test]
    fn a_signal_without_an_eventfd_waits_for_one() {
        let mut bench = Bench::without_eventfd(0, 3);
        bench.set(&[(r::EIMS, 1 << 3)]);
        bench.received(0, 1);
        bench.connect(IRQ_MSIX, 3);
        assert_eq!(bench.poll(), 1);
    }

    #[test]
    fn a_line_is_signalled_when_it_goes_up() {
        let mut bench = Bench::without_eventfd(0, 0);
        bench.connect(IRQ_INTX, 0);
        bench.set(&[(r::GPIE, 0), (r::EIMS, 1), (r::EIAM, 1)]);
        assert_eq!(bench.received(0, 2), 1, "it is up already");
        bench.interrupts.set(IRQ_INTX, IrqRequest::Unmask).unwrap();
        assert_eq!(bench.set(&[]), 1, "still up when it is unmasked");
        bench.read_causes();
        assert_eq!(bench.get(r::EIMS), 0, "masked by the read");
        assert_eq!(bench.received(0, 1), 0);
        assert_eq!(bench.set(&[(r::EIMS, 1)]), 1);
    }

    /// GPIE (8.2.3.5): without Multiple_MSIX, every cause of a card with MSI-X asserts vector 0. DPDK
    /// gets its link interrupt that way.
    #[test]
    fn vector_0_is_signalled_if_msix_is_set_up_without_msix_mode() {
        let mut bench = Bench::without_eventfd(0, 5);
        bench.connect(IRQ_MSIX, 0);
        bench.set(&[(r::GPIE, 0), (r::EIMS, r::EICR_LSC)]);
        let twice = [bench.link_cause(), bench.link_cause()];
        assert_eq!(twice, [1, 0], "once, until the cause is read");
        bench.read_causes();
        assert_eq!(bench.link_cause(), 1);
    }

    #[test]
    fn a_line_that_is_up_signals_an_eventfd_that_comes_later() {
        for kind in [IRQ_MSIX, IRQ_MSI, IRQ_INTX] {
            let mut bench = Bench::without_eventfd(0, 0);
            bench.set(&[(r::GPIE, 0), (r::EIMS, r::EICR_LSC)]);
            bench.link_cause();
            bench.connect(kind, 0);
            assert_eq!(bench.set(&[]), 1, "interrupt kind {kind}");
        }
    }

    #[test]
    fn malformed_requests_are_refused() {
        let mut interrupts = Interrupts::new().0;
        let mut set = |kind, vector| interrupts.set(kind, IrqRequest::Trigger(vector..vector + 1));
        assert_eq!(set(7, 0), Err(Errno::INVAL));
        assert_eq!(set(IRQ_MSIX, 64), Err(Errno::INVAL));
        assert_eq!(set(IRQ_MSIX, 63), Ok(()));
    }
}
