//! Interrupts by MSI-X: vector i reports the packets of RX queue i, by an eventfd (4.6.6, 7.3).
//!
//! A vector masks itself as it signals (EIAM). So a driver that polls gets at most one signal, and arms
//! the vectors again only when it wants to sleep.
#![forbid(unsafe_code)]

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::{read, Errno};

use crate::driver::device::{Device, Interrupts};
use crate::driver::register_access::Registers;
use crate::driver::registers::{self as regs, field};
use crate::driver::rx::RxQueue;
use crate::error::{Error, Result};

/// The longest time between two interrupts of a vector, in microseconds.
pub(crate) const MAX_INTERVAL_US: u32 = 1022;

/// The longest sleep, so that signals and limits are noticed.
const MAX_SLEEP: Duration = Duration::from_millis(100);

/// 8.2.3.5.12: the unit of EITR.ITR_INTERVAL at 10 Gbit/s, in microseconds.
const INTERVAL_UNIT_US: u32 = 2;

/// The EICR bits of the first `count` vectors (8.2.3.5.1).
fn vector_bits(count: usize) -> u32 {
    field(regs::EICR_RTX_QUEUE, (1 << count) - 1)
}

/// Writes a register while the driver forwards. A message uses up no patience, because there may be
/// thousands of them a second.
fn write_often(registers: &Registers, offset: u32, value: u32) -> Result<()> {
    if registers.vfio.register(offset).is_none() {
        return registers.vfio.ring(offset, value);
    }
    registers.write(offset, value)?;
    // A read waits until the posted write has reached the device.
    registers.read(regs::EIMS).map(drop)
}

/// 8.2.3.5.16: RX queue `id` uses vector `id`.
fn init_vector(registers: &Registers, id: u32, interval_us: u32) -> Result<()> {
    let (vector, valid) = match id % 2 {
        0 => (regs::IVAR_RX_EVEN, regs::IVAR_RX_EVEN_VALID),
        _ => (regs::IVAR_RX_ODD, regs::IVAR_RX_ODD_VALID),
    };
    registers.write_field(
        regs::IVAR(id / 2),
        vector | valid,
        field(vector, id) | valid,
    )?;
    let interval = field(
        regs::EITR_ITR_INTERVAL,
        interval_us.div_ceil(INTERVAL_UNIT_US),
    );
    registers.write(regs::EITR(id), interval)
}

/// The interrupts that have been taken, and the sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Waits {
    /// Signals of all vectors.
    pub interrupts: u64,
    /// Sleeps, however they ended.
    pub sleeps: u64,
}

impl Device<'_> {
    /// Gives each RX queue an interrupt, at least `interval_us` microseconds apart. A start of the device
    /// switches interrupts off.
    ///
    /// # Errors
    /// If the device has no MSI-X, or can no longer be reached.
    pub fn use_interrupts(&mut self, interval_us: u32) -> Result<()> {
        self.interrupts_start(interval_us)
    }

    /// Sleeps until a packet arrives, for at most `timeout` and at most 0.1 s. Returns at once if a packet
    /// waits already. Counts in `waits`.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn wait(&mut self, timeout: Duration, waits: &mut Waits) -> Result<()> {
        interrupts_wait(std::slice::from_mut(self), timeout, waits)
    }

    fn open_eventfds(&mut self) -> Result<()> {
        for _ in 0..self.config.rx_queues {
            let opened = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
            let address = self.registers.vfio.address();
            self.interrupts.eventfds.push(
                opened.map_err(|cause| {
                    Error::call(address, "eventfd for interrupts", cause.into())
                })?,
            );
        }
        Ok(())
    }

    /// Gives each RX queue of a running device a vector and an eventfd. All vectors are masked at first.
    /// A start of the device switches interrupts off.
    pub(crate) fn interrupts_start(&mut self, interval_us: u32) -> Result<()> {
        if interval_us > MAX_INTERVAL_US {
            return Err(Error::device(
                self.registers.vfio.address(),
                format!("interrupts are at most {MAX_INTERVAL_US} us apart, not {interval_us}"),
            ));
        }
        self.interrupts_stop();
        self.open_eventfds()?;
        let Interrupts { eventfds, .. } = &self.interrupts;
        let signalled: Vec<_> = eventfds.iter().map(AsFd::as_fd).collect();
        if let Err(error) = self.registers.vfio.signal_msix(&signalled) {
            let message =
                format!("{error}; the device has no MSI-X to wait for: leave out --interrupts");
            self.interrupts_stop();
            return Err(Box::new(Error::Argument(message)));
        }
        // 7.3.1.3, 8.2.3.5.18: with several vectors, EICR is cleared by the message (EIAC) and not by a
        // read (OCD), EIAM applies (EIAME), and pending bits follow the mask (PBA_SUPPORT).
        self.registers.set(
            regs::GPIE,
            regs::GPIE_MSIX_MODE | regs::GPIE_OCD | regs::GPIE_EIAME | regs::GPIE_PBA_SUPPORT,
        )?;
        for i in 0..self.config.rx_queues {
            init_vector(&self.registers, i, interval_us)?;
        }
        let bits = vector_bits(self.interrupts.eventfds.len());
        self.registers.write(regs::EIAC, bits)?;
        self.registers.write(regs::EIAM, bits)?;
        // 8.2.3.5.10: these vectors have bits in both registers. The datasheet does not say which one counts.
        self.registers.write(regs::EIAM_EX(0), bits)
    }

    /// Masks all vectors and closes their eventfds. Does nothing if there are none.
    pub(crate) fn interrupts_stop(&mut self) {
        let vectors = self.interrupts.eventfds.len();
        if vectors == 0 {
            return;
        }
        let masked = self.registers.write(regs::EIMC, vector_bits(vectors));
        // Whatever the device answers, its end also ends its interrupts.
        let _ = masked.and_then(|()| self.registers.vfio.signal_msix(&[]));
        self.interrupts = Interrupts::default();
    }

    /// Lets the vectors signal that have signalled since the last call, or never.
    pub(crate) fn interrupts_arm(&mut self) -> Result<()> {
        let Interrupts { eventfds, armed } = &mut self.interrupts;
        let masked = vector_bits(eventfds.len()) & !*armed;
        if masked != 0 {
            write_often(&self.registers, regs::EIMS, masked)?;
            *armed |= masked;
        }
        Ok(())
    }

    /// Takes the signals that have arrived. Returns their number.
    pub(crate) fn interrupts_take(&mut self) -> u64 {
        let Interrupts { eventfds, armed } = &mut self.interrupts;
        let mut taken = 0;
        for (vector, eventfd) in eventfds.iter().enumerate() {
            let mut signals = [0; 8];
            // An eventfd without a signal does not block: it reports EAGAIN.
            if read(eventfd, &mut signals) == Ok(signals.len()) {
                taken += u64::from_ne_bytes(signals);
                // EIAM has masked the vector.
                *armed &= !field(regs::EICR_RTX_QUEUE, 1 << vector);
            }
        }
        taken
    }
}

/// Sleeps until a vector of `devices` signals, for at most `timeout` and at most 0.1 s. A signal to this
/// process may end the sleep.
pub(crate) fn interrupts_sleep(devices: &[Device<'_>], timeout: Duration) -> Result<()> {
    let eventfds = devices
        .iter()
        .flat_map(|device| &device.interrupts.eventfds);
    let mut ready: Vec<_> = eventfds
        .map(|eventfd| PollFd::new(eventfd, PollFlags::IN))
        .collect();
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: timeout.min(MAX_SLEEP).subsec_nanos().into(),
    };
    match poll(&mut ready, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(cause) => {
            let address = devices
                .first()
                .map_or("", |device| device.registers.vfio.address());
            Err(Error::call(address, "poll for interrupts", cause.into()))
        }
    }
}

fn packet_waits(devices: &mut [Device<'_>]) -> bool {
    let mut queues = devices.iter_mut().flat_map(|device| &mut device.rx);
    queues.any(RxQueue::rx_pending)
}

/// Sleeps until a packet arrives at one of `devices`, for at most `timeout` and at most 0.1 s. Returns at
/// once if a packet waits already. Counts in `waits`.
pub(crate) fn interrupts_wait(
    devices: &mut [Device<'_>],
    timeout: Duration,
    waits: &mut Waits,
) -> Result<()> {
    for device in &mut *devices {
        // A vector that signalled while the driver polled is masked, and must be armed again.
        waits.interrupts += device.interrupts_take();
        device.interrupts_arm()?;
    }
    // A packet that came after the last poll and before arming must not wait for the next one.
    if packet_waits(devices) {
        return Ok(());
    }
    waits.sleeps += 1;
    interrupts_sleep(devices, timeout)?;
    for device in devices {
        waits.interrupts += device.interrupts_take();
    }
    Ok(())
}
