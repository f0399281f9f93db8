//! A driver's reads and writes of registers, and the table of their effects.
//!
//! A write first changes the register's bits, by the rules of the register table. Then the
//! register's [`WriteHandler`] does what else the write starts. Handlers of one line stand in the
//! table; the others are functions of the part that they concern.

use crate::config::QUEUES;
use crate::device::card::Device;
use crate::device::data_path;
use crate::device::families::{EepromAccess, Medium};
use crate::device::host_interface;
use crate::device::interrupts::mirror;
use crate::device::misuse::{misuse, packet_buffer_misuse};
use crate::device::register_file::Located;
use crate::device::registers::{self as r, RegisterId};
use crate::device::ring::{RingRegisters, DESCRIPTOR_LEN, RECEIVE, TRANSMIT};
use crate::device::statistics::forget_read_counts;
use crate::device::trace::TraceEntry;
use crate::device::unmodelled::feature_asked_for;
use crate::report::{ResetCause, RingView, RingViews, WatchedWrite};

/// A driver's write, after the register's own bits have changed.
#[derive(Clone, Copy, Debug)]
struct Write {
    register: Located,
    value: u32,
}

/// What a write does beyond changing the register's bits.
type WriteEffect = fn(&mut Device, Write);

/// Which of the data path's settings a register feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeds {
    /// None of them.
    Nothing,
    /// All but the filters.
    Settings,
    /// The filters too, which take longer to derive.
    Filters,
}

/// How the card reacts to a write to one register.
#[derive(Clone, Copy)]
struct WriteHandler {
    effect: WriteEffect,
    feeds: Feeds,
}

/// The reaction to a write to a register that no row names.
const DEFAULT_WRITE: WriteHandler = WriteHandler {
    effect: no_effect,
    feeds: Feeds::Settings,
};

fn no_effect(_: &mut Device, _: Write) {}

/// What a read does beyond the register's own rules. Gets the value that the driver has read.
type ReadEffect = fn(&mut Device, u32);

/// The effects of writes. A register has at most one row.
const WRITE_ROWS: &[(RegisterId, Feeds, WriteEffect)] = {
    use Feeds::{Filters, Nothing, Settings};
    use RegisterId as Id;
    &[
        // The doorbells: the data plane polls them.
        (Id::RDT, Nothing, no_effect),
        (Id::TDT, Nothing, no_effect),
        // Queues.
        (Id::RXDCTL, Settings, |card, _| card.observe_queues()),
        (Id::TXDCTL, Settings, |card, _| card.observe_queues()),
        // The packet buffer.
        (Id::RXPBSIZE, Settings, Device::packet_buffer_written),
        (Id::FCRTH, Settings, Device::packet_buffer_written),
        // Control, EEPROM, security engine.
        (Id::CTRL, Settings, Device::ctrl_written),
        (Id::EERD, Settings, |card, write| {
            card.eeprom.eerd_written(&card.registers, write.value);
        }),
        (Id::EEC, Settings, Device::eec_written),
        (Id::HICR, Settings, Device::hicr_written),
        (Id::SW_FW_SYNC, Nothing, |card, _| card.show_firmware()),
        (Id::SECRXCTRL, Settings, |card, write| {
            data_path::secrxctrl_written(&card.registers, write.value);
        }),
        // Link.
        (Id::ESDP, Settings, |card, _| {
            card.link.drive_pins(&card.registers);
        }),
        (Id::I2CCTL, Settings, |card, write| {
            card.link.i2cctl_written(&card.registers, write.value);
        }),
        (Id::MSCA, Settings, |card, write| {
            card.link.msca_written(&card.registers, write.value);
            card.link_may_have_changed();
        }),
        (Id::AUTOC, Settings, |card, write| {
            card.link.autoc_written(&card.registers, write.value);
            card.link_may_have_changed();
        }),
        (Id::AUTOC2, Settings, |card, _| {
            card.link.autoc2_changed(&card.registers);
            card.link_may_have_changed();
        }),
        // Rate limits.
        (Id::RTTDQSEL, Nothing, |card, _| {
            card.rate_limits.show(&card.registers);
        }),
        (Id::RTTBCNRC, Nothing, |card, _| {
            card.rate_limits.written(&card.registers);
        }),
        // Interrupts.
        (Id::EICS, Settings, |card, _| {
            card.interrupts.evaluate(&card.registers);
        }),
        (Id::EIMS, Settings, Device::interrupt_mask_written),
        (Id::EIMC, Settings, Device::interrupt_mask_written),
        (Id::EIAM, Settings, |card, _| {
            if !card.config.hardware.separate_eiam {
                mirror(&card.registers, r::EIAM, r::EIAM_EX(0));
            }
        }),
        (Id::EICS_EX, Settings, Device::eics_ex_written),
        (Id::EIMS_EX, Settings, Device::extended_mask_written),
        (Id::EIMC_EX, Settings, Device::extended_mask_written),
        (Id::EIAM_EX, Settings, |card, write| {
            if write.register.entry == Some(0) && !card.config.hardware.separate_eiam {
                mirror(&card.registers, r::EIAM_EX(0), r::EIAM);
            }
        }),
        // Filters.
        (Id::FCTRL, Filters, no_effect),
        (Id::MCSTCTRL, Filters, no_effect),
        (Id::RAL, Filters, no_effect),
        (Id::RAH, Filters, no_effect),
        (Id::MTA, Filters, no_effect),
        (Id::PFUTA, Filters, no_effect),
        (Id::VLNCTRL, Filters, no_effect),
        (Id::VFTA, Filters, no_effect),
        (Id::MRQC, Filters, Device::rss_written),
        (Id::RETA, Filters, Device::rss_written),
        (Id::RSSRK, Filters, Device::rss_written),
        // The flow director has its registers and reports success, but its filters match no frame.
        (Id::FDIRCTRL, Settings, |card, write| {
            let allocated = write.value & r::FDIRCTRL_PBALLOC != 0;
            card.registers
                .put(r::FDIRCTRL, r::FDIRCTRL_INIT_DONE, allocated);
        }),
        (Id::FDIRCMD, Settings, |card, _| {
            card.registers.change(r::FDIRCMD, 0, r::FDIRCMD_CMD);
        }),
    ]
};

/// The effects of reads. Some things take the card a moment, and the moment ends when the driver has
/// looked once. So every wait is visible to a driver that polls, and the same in every run.
const READ_ROWS: &[(RegisterId, ReadEffect)] = &[
    (RegisterId::CTRL, |card, _| card.finish_reset()),
    (RegisterId::EEC, |card, _| {
        card.registers.change(r::EEC, r::EEC_ARD, 0);
    }),
    (RegisterId::RDRXCTL, |card, _| {
        card.registers.change(r::RDRXCTL, r::RDRXCTL_DMAIDONE, 0);
    }),
    (RegisterId::LINKS, |card, value| {
        card.observe_training();
        card.link.links_read(&card.registers, value);
        card.observe_training();
    }),
    (RegisterId::SW_FW_SYNC, |card, _| card.sync_read()),
    (RegisterId::EICR, |card, value| {
        card.interrupts.causes_read(&card.registers, value);
    }),
];

/// Handlers by register. A register with two rows does not compile.
static WRITE_HANDLERS: [WriteHandler; RegisterId::COUNT] = {
    let mut handlers = [DEFAULT_WRITE; RegisterId::COUNT];
    let mut seen = [false; RegisterId::COUNT];
    let mut nth = 0;
    while nth < WRITE_ROWS.len() {
        let (register, feeds, effect) = WRITE_ROWS[nth];
        assert!(!seen[register as usize], "a register has two rows");
        seen[register as usize] = true;
        handlers[register as usize] = WriteHandler { effect, feeds };
        nth += 1;
    }
    handlers
};

/// Effects of reads by register.
static READ_EFFECTS: [Option<ReadEffect>; RegisterId::COUNT] = {
    let mut effects = [None; RegisterId::COUNT];
    let mut nth = 0;
    while nth < READ_ROWS.len() {
        let (register, effect) = READ_ROWS[nth];
        assert!(
            effects[register as usize].is_none(),
            "a register has two rows"
        );
        effects[register as usize] = Some(effect);
        nth += 1;
    }
    effects
};

impl Device {
    /// A driver's read of a register, with its effects.
    pub(crate) fn register_read(&mut self, address: u32) -> u32 {
        let value = self.read_with_effects(address);
        self.trace_register(false, address, value);
        value
    }

    fn read_with_effects(&mut self, address: u32) -> u32 {
        let Some(register) = self.registers.locate(address) else {
            self.note(format!(
                "read of {address:#07x}, where no register is modelled"
            ));
            return 0;
        };
        if !self.family.has(register.id) {
            self.note_missing(&register);
            return 0;
        }
        if register.id != RegisterId::CTRL {
            self.finish_reset();
        }
        if register.id == RegisterId::QBTC_L && self.shared_pages {
            forget_read_counts(&self.registers, register.entry.unwrap_or_default());
        }
        match self.registers.is_counter(address) {
            true => self.publish_all(),
            false => self.publish(),
        }
        let value = self.registers.read(address);
        let value = self.shown_again(register.address, value);
        if let Some(effect) = READ_EFFECTS[register.id as usize] {
            effect(self, value);
        }
        value
    }

    /// What a driver reads from a register: of a counter that is cleared slowly, also what the last access read.
    fn shown_again(&mut self, address: u32, value: u32) -> u32 {
        let slow = self.config.hardware.slow_counters && self.registers.is_counter(address);
        let before = self.last_counter.take();
        if !slow {
            return value;
        }
        let before = before.filter(|(last, _)| *last == address);
        let value = before.map_or(value, |(_, shown)| value.saturating_add(shown));
        self.last_counter = Some((address, value));
        value
    }

    /// A driver's write to a register, with its effects.
    pub(crate) fn register_write(&mut self, address: u32, value: u32) {
        self.trace_register(true, address, value);
        self.note_watched(address, value);
        self.last_counter = None;
        let Some(register) = self.registers.locate(address) else {
            self.note(format!(
                "write to {address:#07x}, where no register is modelled"
            ));
            return;
        };
        if !self.family.has(register.id) {
            return self.note_missing(&register);
        }
        self.finish_reset();
        let enabled = self.is_enabled(&register);
        if let Some(text) = misuse(&register, value, &self.registers, enabled == Some(false)) {
            self.note(text);
        }
        if matches!(register.id, RegisterId::RDH | RegisterId::TDH) && enabled == Some(true) {
            return self.note(format!(
                "write to {register} while the queue is enabled: ignored"
            ));
        }
        let before = self.registers.get(register.address);
        self.registers.write(address, value);
        if let Some(feature) = feature_asked_for(self.family, register.id, before, value) {
            self.note_unmodelled(feature);
        }
        let handler = WRITE_HANDLERS[register.id as usize];
        (handler.effect)(self, Write { register, value });
        // A reset clears its own bit when the driver looks.
        if register.id != RegisterId::CTRL {
            self.registers.finish(address);
        }
        if handler.feeds != Feeds::Nothing {
            self.refresh();
        }
        if handler.feeds == Feeds::Filters {
            self.refresh_filters();
        }
    }

    /// Whether the queue is enabled that a head or tail register belongs to; `None` for any other
    /// register.
    fn is_enabled(&self, register: &Located) -> Option<bool> {
        let queue = register.entry? as usize;
        match register.id {
            _ if queue >= QUEUES => None,
            RegisterId::RDH | RegisterId::RDT => Some(!self.queues.rx.is_off(queue)),
            RegisterId::TDH | RegisterId::TDT => Some(!self.queues.tx.is_off(queue)),
            _ => None,
        }
    }

    /// Records an access to a register that the card's family does not have.
    fn note_missing(&mut self, register: &Located) {
        let family = self.family.name;
        self.note_unmodelled(format!(
            "{register}: the {family} does not have this register"
        ));
    }

    /// Ends a reset, unless a fault makes it last.
    fn finish_reset(&mut self) {
        if !self.config.faults.never_finish_reset {
            self.registers
                .change(r::CTRL, 0, r::CTRL_RST | r::CTRL_LNK_RST);
        }
    }

    fn trace_register(&self, write: bool, address: u32, value: u32) {
        let Some(trace) = &self.trace else { return };
        let located = self.registers.locate(address);
        trace.record(TraceEntry {
            port: self.index,
            write,
            register: located
                .map_or_else(|| format!("{address:#07x}"), |located| located.to_string()),
            address: located.map_or(address, |located| located.address),
            value,
            size: 4,
        });
    }

    // ---- Watching ----

    /// Both rings of queue 0 at this moment.
    pub(crate) fn ring_views(&mut self) -> RingViews {
        self.publish();
        let view = |of: &RingRegisters| {
            let peek = |address| self.registers.peek(address);
            let base = of.base(0, peek);
            let count = u64::from(peek((of.len)(0))) / DESCRIPTOR_LEN;
            let descriptors = (0..count).map_while(|nth| {
                let mut bytes = [0; DESCRIPTOR_LEN as usize];
                let at = base.checked_add(nth * DESCRIPTOR_LEN)?;
                self.dma.table.peek(at, &mut bytes).ok()?;
                let both = u128::from_le_bytes(bytes);
                Some([both as u64, (both >> 64) as u64])
            });
            RingView {
                head: peek((of.head)(0)),
                tail: peek((of.tail)(0)),
                descriptors: descriptors.collect(),
            }
        };
        RingViews {
            receive: view(&RECEIVE),
            transmit: view(&TRANSMIT),
        }
    }

    /// Notes a driver's write, before its effect, if the register is watched. A driver changes
    /// descriptors and then writes a register, all in one call: who only looks between two calls
    /// misses the states in between.
    fn note_watched(&mut self, address: u32, value: u32) {
        if self.watch.addresses.contains(&address) {
            let rings = self.ring_views();
            self.watch.writes.push(WatchedWrite {
                address,
                value,
                rings,
            });
        }
    }

    // ---- Effects that concern several parts ----

    /// 4.2.1.6: CTRL.RST and CTRL.LNK_RST both reset the device. Drivers use the link reset where
    /// no other function shares the link.
    fn ctrl_written(&mut self, write: Write) {
        let reset = write.value & (r::CTRL_RST | r::CTRL_LNK_RST);
        let (software, _) = self.phy_owners();
        let taken = self.registers.get(r::SW_FW_SYNC) & software != 0;
        if reset != 0 && self.family.medium != Medium::SfpCage && !taken {
            self.note(
                "reset without the PHY's semaphore in SW_FW_SYNC: firmware may use the PHY"
                    .to_owned(),
            );
        }
        if reset != 0 {
            self.reset(ResetCause::Register);
            self.registers.change(r::CTRL, reset, 0);
        }
    }

    /// Only the 82599's EEPROM has wires for software.
    fn eec_written(&mut self, write: Write) {
        if self.family.eeprom == EepromAccess::EerdOrWires {
            self.eeprom.eec_written(&self.registers, write.value);
        }
    }

    fn hicr_written(&mut self, write: Write) {
        if self.family.eeprom != EepromAccess::HostInterface {
            return;
        }
        let result = host_interface::hicr_written(&self.registers, &self.eeprom, write.value);
        if let Err(code) = result {
            self.note_unmodelled(format!("host interface: command {code:#04x}"));
        }
    }

    fn packet_buffer_written(&mut self, write: Write) {
        let text = packet_buffer_misuse(&write.register, &self.registers, self.family);
        if let Some(text) = text {
            self.note(text);
        }
    }

    fn interrupt_mask_written(&mut self, _: Write) {
        mirror(&self.registers, r::EIMS, r::EIMS_EX(0));
        self.interrupts.evaluate(&self.registers);
    }

    fn extended_mask_written(&mut self, write: Write) {
        if write.register.entry == Some(0) {
            mirror(&self.registers, r::EIMS_EX(0), r::EIMS);
        }
        self.interrupts.evaluate(&self.registers);
    }

    fn eics_ex_written(&mut self, write: Write) {
        let Some(entry) = write.register.entry else {
            return;
        };
        self.registers.set(write.register.address, 0);
        self.interrupts
            .set_causes(&self.registers, entry, write.value);
    }

    fn rss_written(&mut self, _: Write) {
        self.rss_generation += 1;
    }
}
