//! The drivers' register accesses, as the NIC sees them: the same in all implementations, and as the
//! datasheet demands.
//!
//! The runs are in lockstep with trapped registers. The NIC sees every access, and the same steps
//! give the same accesses. Repeated reads while a driver waits are not compared
//! ([`trace::without_polling`]).

use std::collections::HashMap;
use std::fmt;

use anyhow::{ensure, Context, Result};
use conformance::{capturing, expect, for_each_implementation, trace, Implementation, Lockstep};
use nic::registers as r;
use nic::{MmioMode, NicConfig, TraceEntry, TraceTo};

use Access::{BusMaster, Clears, Puts, Reads, Writes};

for_each_implementation!(
    interrupts_are_masked_before_and_after_a_reset,
    requests_end_before_a_reset,
    set_up_starts_after_the_reset,
    counters_are_read_low_half_first,
    filters_change_only_while_reception_is_off,
    an_address_always_stays_valid,
    the_arbiter_is_halted_while_packet_buffers_change,
    transmission_is_enabled_before_its_queues,
    a_queue_is_programmed_then_enabled_then_filled,
    reception_is_enabled_last_and_with_the_security_block_halted,
    the_link_is_set_up_as_the_device_requires,
    reserved_bits_stay_unchanged,
    a_batch_writes_each_tail_once,
    a_dropped_batch_does_not_write_the_transmit_tail,
    closing_follows_the_prescribed_order,
);

/// A whole run: opening, steps with and without packets, closing. Each step has a name and its accesses.
struct Run(Vec<(&'static str, Vec<TraceEntry>)>);

/// The name of each step, and the packets that arrive in it at each port. The batch is 32.
const ARRIVALS: [(&str, [usize; 2]); 7] = [
    ("no packet", [0, 0]),
    ("one packet", [1, 0]),
    ("one packet the other way", [0, 1]),
    ("a full batch", [32, 0]),
    ("a batch and eight packets", [40, 0]),
    ("both ways", [64, 50]),
    ("a full ring", [511, 511]),
];

const SETUP: &str = "opening";
const STATISTICS: &str = "statistics";
const END: &str = "closing";

fn traced(config: NicConfig) -> NicConfig {
    config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory)
}

impl Run {
    fn of(driver: Implementation, device_id: u16) -> Result<Self> {
        let mut lockstep = Lockstep::open(driver, 32, |config| {
            capturing(traced(config)).with_each_port(|port| port.device_id = device_id)
        })?;
        let mut steps = Vec::new();
        let mut step = |name, lockstep: &Lockstep| {
            steps.push((name, trace::without_polling(lockstep.take_trace())));
        };
        step(SETUP, &lockstep);
        for (name, arrivals) in ARRIVALS {
            for (port, packets) in arrivals.into_iter().enumerate() {
                lockstep.inject(port, packets)?;
            }
            lockstep.run_until_idle()?;
            step(name, &lockstep);
        }
        lockstep.device_stats()?;
        step(STATISTICS, &lockstep);
        lockstep.close_at_rest()?;
        step(END, &lockstep);
        Ok(Self(steps))
    }

    /// The accesses in one step.
    fn step(&self, name: &str) -> Result<&[TraceEntry]> {
        let step = self.0.iter().find(|step| step.0 == name);
        Ok(&step.with_context(|| format!("no step {name}"))?.1)
    }

    /// The accesses in one step to one port.
    fn port(&self, step: &str, port: usize) -> Result<Accesses> {
        let accesses = self.step(step)?.iter();
        let of_port = accesses.filter(|entry| entry.port == port).cloned();
        Ok(Accesses(of_port.collect()))
    }

    /// All accesses to one port.
    fn whole(&self, port: usize) -> Accesses {
        let accesses = self.0.iter().flat_map(|step| &step.1);
        Accesses(
            accesses
                .filter(|entry| entry.port == port)
                .cloned()
                .collect(),
        )
    }
}

/// A kind of access to a register, by the register's address.
#[derive(Clone, Copy, Debug)]
enum Access {
    /// Writes these bits as 1.
    Writes(u32, u32),
    /// Writes these bits as 0.
    Clears(u32, u32),
    /// Writes this value.
    Puts(u32, u32),
    /// Reads this value under this mask.
    Reads(u32, u32, u32),
    /// Switches the bus master on or off, in the configuration space.
    BusMaster(bool),
}

impl Access {
    fn matches(self, entry: &TraceEntry) -> bool {
        let at = |address| is(entry, address);
        match self {
            Writes(address, bits) => at(address) && entry.write && entry.value & bits == bits,
            Clears(address, bits) => at(address) && entry.write && entry.value & bits == 0,
            Puts(address, value) => at(address) && entry.write && entry.value == value,
            Reads(address, mask, value) => {
                at(address) && !entry.write && entry.value & mask == value
            }
            BusMaster(on) => {
                entry.register == "PCI(0x004)" && entry.write && (entry.value & 4 != 0) == on
            }
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |address: &u32| r::locate(*address).map_or("?", |(register, _)| register.name);
        match self {
            Writes(address, bits) => write!(f, "write of {} with {bits:#x}", name(address)),
            Clears(address, bits) => write!(f, "write of {} without {bits:#x}", name(address)),
            Puts(address, value) => write!(f, "write of {value:#x} to {}", name(address)),
            Reads(address, _, value) => write!(f, "read of {value:#x} from {}", name(address)),
            BusMaster(on) => write!(f, "switch of the bus master to {on}"),
        }
    }
}

/// Whether an access is to the register at this address and not to the configuration space.
fn is(entry: &TraceEntry, address: u32) -> bool {
    entry.address == address && !is_config(entry)
}

fn is_config(entry: &TraceEntry) -> bool {
    entry.register.starts_with("PCI(")
}

/// Accesses to one port's registers, in order.
struct Accesses(Vec<TraceEntry>);

impl Accesses {
    /// The index of the first matching access.
    fn first(&self, access: Access) -> Result<usize> {
        let found = self.0.iter().position(|entry| access.matches(entry));
        found.with_context(|| format!("there is no {access}"))
    }

    /// The index of the last matching access.
    fn last(&self, access: Access) -> Result<usize> {
        let found = self.0.iter().rposition(|entry| access.matches(entry));
        found.with_context(|| format!("there is no {access}"))
    }

    /// Checks that these accesses occur in order: the first match of each after the match of the one
    /// before. Returns the index of the last.
    fn expect_in_order(&self, accesses: &[Access]) -> Result<usize> {
        let mut at = 0;
        let mut before = "the start".to_owned();
        for access in accesses {
            let found = self.0[at..].iter().position(|entry| access.matches(entry));
            at += found.with_context(|| format!("no {access} after {before}"))? + 1;
            before = access.to_string();
        }
        Ok(at - 1)
    }

    /// All writes to registers with one of these names (without index).
    fn writes_to<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = (usize, &'a TraceEntry)> {
        self.0.iter().enumerate().filter(|(_, entry)| {
            let name = entry.register.split('(').next().unwrap_or_default();
            entry.write && names.contains(&name)
        })
    }

    /// Checks that these registers, whose names stand between blanks, are written only in this range.
    /// Returns the number of writes.
    fn expect_written_in(&self, range: std::ops::Range<usize>, names: &str) -> Result<usize> {
        let names: Vec<_> = names.split(' ').collect();
        let mut writes = self.writes_to(&names);
        let out = writes.find(|(at, _)| !range.contains(at));
        let out = out.map(|(at, entry)| format!("{entry} (access {at}) comes at the wrong time"));
        ensure!(out.is_none(), "{}", out.unwrap_or_default());
        Ok(self.writes_to(&names).count())
    }
}

/// Runs an implementation on an ordinary 82599 and checks both ports.
fn for_both_ports(driver: Implementation, check: impl Fn(&Run, usize) -> Result<()>) -> Result<()> {
    let run = Run::of(driver, nic::DEFAULT_DEVICE_ID)?;
    (0..2).try_for_each(|port| check(&run, port).with_context(|| format!("port {port}")))
}

/// The same for the accesses while it opens its devices.
fn for_both_setups(driver: Implementation, check: impl Fn(&Accesses) -> Result<()>) -> Result<()> {
    for_both_ports(driver, |run, port| check(&run.port(SETUP, port)?))
}

/// C, safe Rust and transpiled Rust make the same accesses with the same values, on each device
/// family. This is what makes the three drivers comparable. So do two runs of one driver.
#[test]
fn all_implementations_make_the_same_accesses() -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528, 0x1563] {
        let c = Run::of(Implementation::C, device_id).context("c")?;
        ensure!(c.step(SETUP)?.len() > 500, "too few accesses");
        for driver in Implementation::OURS {
            let name = driver.to_string();
            let other = Run::of(driver, device_id).with_context(|| name.clone())?;
            for ((step, ours), (_, theirs)) in c.0.iter().zip(&other.0) {
                trace::expect_same(("c", ours), (&name, theirs))
                    .with_context(|| format!("device {device_id:04x}, {step}"))?;
            }
        }
    }
    Ok(())
}

/// Section 4.6.3.1. The driver uses EIMC, because EIMS can only set bits.
fn interrupts_are_masked_before_and_after_a_reset(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let (mask, cause) = (Writes(r::EIMC, 0x7fff_ffff), Reads(r::EICR, 0, 0));
        let reset = Writes(r::CTRL, r::CTRL_RST);
        setup.expect_in_order(&[mask, cause, reset, mask, cause])?;
        ensure!(
            setup.writes_to(&["EIMS"]).count() == 0,
            "the driver writes EIMS"
        );
        let mut accesses = setup.0.iter();
        let first = accesses.find(|entry| entry.write && !is_config(entry));
        let is_mask = first.is_some_and(|entry| is(entry, r::EIMC));
        ensure!(is_mask, "the first write is {first:?}");
        Ok(())
    })
}

/// Section 5.2.5.3.2, the master-disable handshake.
fn requests_end_before_a_reset(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let reset = Writes(r::CTRL, r::CTRL_RST);
        setup.expect_in_order(&[
            Writes(r::CTRL, r::CTRL_MASTER_DISABLE),
            Reads(r::STATUS, r::STATUS_MASTER_ENABLE, 0),
            reset,
        ])?;
        ensure!(setup.first(reset)? == setup.last(reset)?, "several resets");
        Ok(())
    })
}

/// Section 4.6.3: RST clears, the EEPROM is read, DMA is initialised, and then set-up starts.
fn set_up_starts_after_the_reset(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let ready = setup.expect_in_order(&[
            Writes(r::CTRL, r::CTRL_RST),
            Reads(r::CTRL, r::CTRL_RST | r::CTRL_LNK_RST, 0),
            Reads(r::EEC, r::EEC_ARD, r::EEC_ARD),
            Reads(r::RDRXCTL, r::RDRXCTL_DMAIDONE, r::RDRXCTL_DMAIDONE),
        ])?;
        let queues =
            "RDBAL RDBAH RDLEN RDT RXDCTL RXCTRL TDBAL TDBAH TDLEN TDT TXDCTL DMATXCTL AUTOC";
        setup.expect_written_in(ready..usize::MAX, queues)?;
        // Section 9.3.2: queues start only after the device may access memory.
        let bus_master = setup.first(BusMaster(true))?;
        setup.expect_written_in(bus_master..usize::MAX, "RXDCTL TXDCTL RXCTRL DMATXCTL")?;
        Ok(())
    })
}

/// A read of the high half clears both halves.
fn counters_are_read_low_half_first(driver: Implementation) -> Result<()> {
    for_both_ports(driver, |run, port| {
        for step in [SETUP, STATISTICS] {
            let accesses = run.port(step, port)?;
            for (low, high) in [(r::QBRC_L(0), r::QBRC_H(0)), (r::GOTCL, r::GOTCH)] {
                let [low, high] = [low, high].map(|half| accesses.first(Reads(half, 0, 0)));
                ensure!(low? < high?, "{step}: the high half comes first");
            }
        }
        Ok(())
    })
}

/// Section 8.2.3.7.1: the driver may write FCTRL only while RXCTRL.RXEN is 0.
fn filters_change_only_while_reception_is_off(driver: Implementation) -> Result<()> {
    for_both_ports(driver, |run, port| {
        let mut receiving = false;
        for (_, entry) in run.whole(port).writes_to(&["RXCTRL", "FCTRL"]) {
            if is(entry, r::RXCTRL) {
                receiving = entry.value & r::RXCTRL_RXEN != 0;
            }
            let allowed = !receiving || !is(entry, r::FCTRL);
            ensure!(allowed, "{entry} while RXEN is set");
        }
        let wanted = r::FCTRL_BAM | r::FCTRL_MPE | r::FCTRL_UPE;
        run.port(SETUP, port)?
            .first(Writes(r::FCTRL, wanted))
            .map(drop)
    })
}

/// Section 8.2.3.7.9: a write of RAH without AV disables the address.
fn an_address_always_stays_valid(driver: Implementation) -> Result<()> {
    for_both_ports(driver, |run, port| {
        for (_, entry) in run.whole(port).writes_to(&["RAH"]) {
            ensure!(
                entry.value & r::RAH_AV != 0,
                "{entry} makes the address invalid"
            );
        }
        Ok(())
    })
}

/// Sections 4.6.11.3.4 and 4.6.8: RTTDCS.ARBDIS is set before the change and cleared after it. The
/// threshold fits the buffer size.
fn the_arbiter_is_halted_while_packet_buffers_change(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let halt = setup.first(Writes(r::RTTDCS, r::RTTDCS_ARBDIS))?;
        let go = setup.last(Clears(r::RTTDCS, r::RTTDCS_ARBDIS))?;
        let count = setup.expect_written_in(halt..go, "TXPBSIZE TXPBTHRESH DTXMXSZRQ MTQC")?;
        ensure!(count >= 18, "only {count} writes to packet buffers");
        let te = setup.first(Writes(r::DMATXCTL, r::DMATXCTL_TE))?;
        ensure!(go < te, "transmission is enabled with the arbiter halted");
        let value =
            |address| -> Result<u32> { Ok(setup.0[setup.first(Writes(address, 0))?].value) };
        let size = r::field_get(r::TXPBSIZE_SIZE, value(r::TXPBSIZE(0))?);
        let threshold = value(r::TXPBTHRESH(0))?;
        ensure!(size == 160 && threshold < size, "{threshold} of {size} KiB");
        Ok(())
    })
}

/// Section 8.2.3.9.2: DMATXCTL.TE comes before the first TXDCTL.ENABLE.
fn transmission_is_enabled_before_its_queues(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let te = setup.first(Writes(r::DMATXCTL, r::DMATXCTL_TE))?;
        let enabled = setup.first(Writes(r::TXDCTL(0), r::TXDCTL_ENABLE))?;
        ensure!(te < enabled, "a queue is enabled before DMATXCTL.TE");
        Ok(())
    })
}

/// Sections 4.6.7.1.1 and 4.6.8.1.1. The driver does not change a queue's registers while the queue is enabled.
fn a_queue_is_programmed_then_enabled_then_filled(driver: Implementation) -> Result<()> {
    for_both_setups(driver, |setup| {
        let (rxdctl, on) = (r::RXDCTL(0), r::RXDCTL_ENABLE);
        setup.expect_in_order(&[
            Writes(r::RDBAL(0), 0),
            Puts(r::RDLEN(0), 512 * 16),
            Writes(r::SRRCTL(0), r::SRRCTL_DROP_EN),
            Writes(rxdctl, on),
            Reads(rxdctl, on, on),
            Puts(r::RDT(0), 511),
        ])?;
        let enabled = setup.first(Writes(rxdctl, on))?;
        setup.expect_written_in(0..enabled, "RDBAL RDBAH RDLEN RDH SRRCTL")?;
        for (at, entry) in setup.writes_to(&["RDT"]) {
            ensure!(entry.value == 0 || at > enabled, "{entry} before ENABLE");
        }
        let (txdctl, on) = (r::TXDCTL(0), r::TXDCTL_ENABLE);
        setup.expect_in_order(&[
            Writes(r::TDBAL(0), 0),
            Puts(r::TDLEN(0), 512 * 16),
            Writes(txdctl, on),
            Reads(txdctl, on, on),
        ])?;
        let enabled = setup.first(Writes(txdctl, on))?;
        setup
            .expect_written_in(0..enabled, "TDBAL TDBAH TDLEN TDH")
            .map(drop)
    })
}

/// Section 4.6.7: RXEN comes after the whole receive side, while the security block is halted.
fn reception_is_enabled_last_and_with_the_security_block_halted(
    driver: Implementation,
) -> Result<()> {
    for_both_setups(driver, |setup| {
        let rxen = Writes(r::RXCTRL, r::RXCTRL_RXEN);
        let receive_side =
            "FCTRL PFUTA MTA VFTA RXPBSIZE RDRXCTL RDBAL RDBAH RDLEN RDH RDT SRRCTL \
                            DCA_RXCTRL RXDCTL FCRTL FCRTH CTRL_EXT";
        setup.expect_written_in(0..setup.first(rxen)?, receive_side)?;
        let halted = r::SECRXSTAT_SECRX_RDY;
        setup.expect_in_order(&[
            Writes(r::SECRXCTRL, r::SECRXCTRL_RX_DIS),
            Reads(r::SECRXSTAT, halted, halted),
            rxen,
            Clears(r::SECRXCTRL, r::SECRXCTRL_RX_DIS),
        ])?;
        Ok(())
    })
}

/// The 82599 needs its serial link configured. On X540 and X550 the firmware configures the PHY.
fn the_link_is_set_up_as_the_device_requires(driver: Implementation) -> Result<()> {
    for (device_id, configured) in [(0x10fb, true), (0x1528, false), (0x1563, false)] {
        let run = Run::of(driver, device_id)?;
        for port in [0, 1] {
            let setup = run.port(SETUP, port)?;
            let writes = setup.writes_to(&["AUTOC", "AUTOC2"]).count();
            // LNK_RST resets the PHY, too.
            let reset = &setup.0[setup.first(Writes(r::CTRL, r::CTRL_RST))?];
            let with_link = reset.value & r::CTRL_LNK_RST != 0;
            let seen = (writes > 0, with_link);
            ensure!(
                seen == (configured, configured),
                "{device_id:04x}: {writes}, {reset}"
            );
            let last = setup.last(Reads(r::LINKS, r::LINKS_UP, r::LINKS_UP))?;
            ensure!(last == setup.0.len() - 1, "the link is not the last wait");
        }
    }
    Ok(())
}

/// The driver writes reserved bits as it read them, or with their reset value. EIMC bit 31 and
/// DTXMXSZRQ bits 15:12 must be 0.
fn reserved_bits_stay_unchanged(driver: Implementation) -> Result<()> {
    for_both_ports(driver, |run, port| {
        let mut last_read = HashMap::new();
        let accesses = run.whole(port);
        for entry in accesses.0.iter().filter(|entry| !is_config(entry)) {
            if !entry.write {
                last_read.insert(entry.address, entry.value);
                continue;
            }
            let (reserved, must_be_0) = match entry.address {
                // All bits except 31 clear a mask bit, even those without a cause.
                r::EIMC => (1 << 31, 1 << 31),
                r::DTXMXSZRQ => (!trace::known_bits(entry), 0xf000),
                _ => (!trace::known_bits(entry), 0),
            };
            let located = r::locate(entry.address);
            let reset = located.map_or(0, |(register, index)| register.reset_of(index));
            let kept = reserved & last_read.get(&entry.address).copied().unwrap_or(reset);
            let written = entry.value & reserved;
            ensure!(
                (written == kept || written == 0) && entry.value & must_be_0 == 0,
                "{entry} changes reserved bits {reserved:#010x}, which were {kept:#010x}"
            );
        }
        let setup = run.port(SETUP, port)?;
        let writes = setup.writes_to(&["DTXMXSZRQ"]).count();
        ensure!(writes == 1, "{writes} writes of DTXMXSZRQ");
        // Sections 8.2.3.8.8 and 8.2.3.11.1: these bits must change from their reset value.
        let must = r::RDRXCTL_RSCACKC | r::RDRXCTL_FCOE_WRFIX | r::RDRXCTL_CRCSTRIP;
        for (name, ones, zeros) in [
            ("RDRXCTL", must, r::RDRXCTL_RSCFRSTSIZE),
            ("DCA_RXCTRL", 0, r::DCA_RXCTRL_RESERVED_12),
        ] {
            let names = [name];
            let (_, entry) = setup.writes_to(&names).last().context(name)?;
            let right = entry.value & (ones | zeros) == ones;
            ensure!(right, "{entry}: {ones:#x} must be 1, {zeros:#x} must be 0");
        }
        Ok(())
    })
}

/// Each batch is one write of RDT on the receiving port and one write of TDT on the other. The data
/// path makes no other access.
fn a_batch_writes_each_tail_once(driver: Implementation) -> Result<()> {
    let run = Run::of(driver, nic::DEFAULT_DEVICE_ID)?;
    // Packets received so far by each port, which determine the tails.
    let mut received = [0_u32; 2];
    for (name, arrivals) in ARRIVALS {
        let mut expected = Vec::new();
        let mut left = arrivals.map(|packets| packets as u32);
        while left != [0, 0] {
            for port in [0, 1] {
                let batch = left[port].min(32);
                if batch == 0 {
                    continue;
                }
                left[port] -= batch;
                received[port] += batch;
                expected.push((port, true, r::RDT(0), (received[port] - 1) % 512));
                expected.push((1 - port, true, r::TDT(0), received[port] % 512));
            }
        }
        let accesses = run.step(name)?.iter();
        let of = |entry: &TraceEntry| (entry.port, entry.write, entry.address, entry.value);
        let done: Vec<_> = accesses.map(of).collect();
        ensure!(
            done == expected,
            "{name}: the driver's accesses are {done:x?} (port, write, register, value), expected {expected:x?}"
        );
    }
    Ok(())
}

/// The driver sends no packet of such a batch, so it need not notify the device.
fn a_dropped_batch_does_not_write_the_transmit_tail(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, |config| {
        traced(config).with_each_port(|port| port.faults.stall_tx = true)
    })?;
    lockstep.inject(0, 511)?;
    lockstep.run_until_idle()?;
    expect::exactly("sent", lockstep.counts()?.tx, "packets", 511)?;
    lockstep.take_trace();
    lockstep.inject(0, 96)?;
    lockstep.run_until_idle()?;
    expect::exactly("dropped", lockstep.counts()?.dropped, "packets", 96)?;
    let trace = lockstep.take_trace();
    let is_tail = |entry: &TraceEntry| is(entry, r::RDT(0)) && entry.port == 0;
    let tails = trace.len() == 3 && trace.iter().all(is_tail);
    ensure!(tails, "expected three writes of RDT only: {trace:#?}");
    Ok(())
}

/// The driver disables reception, the queues and transmission, ends requests and disables the bus
/// master, in this order. It makes no later access.
fn closing_follows_the_prescribed_order(driver: Implementation) -> Result<()> {
    for_both_ports(driver, |run, port| {
        let end = run.port(END, port)?;
        let at = end.expect_in_order(&[
            Clears(r::RXCTRL, r::RXCTRL_RXEN),
            Clears(r::TXDCTL(0), r::TXDCTL_ENABLE),
            Reads(r::TXDCTL(0), r::TXDCTL_ENABLE, 0),
            Clears(r::DMATXCTL, r::DMATXCTL_TE),
            Clears(r::RXDCTL(0), r::RXDCTL_ENABLE),
            Reads(r::RXDCTL(0), r::RXDCTL_ENABLE, 0),
            Writes(r::CTRL, r::CTRL_MASTER_DISABLE),
            Reads(r::STATUS, r::STATUS_MASTER_ENABLE, 0),
            BusMaster(false),
        ])?;
        // Statistics are read after the end.
        let write = end.0[at + 1..].iter().find(|entry| entry.write);
        ensure!(write.is_none(), "write after the end: {write:?}");
        Ok(())
    })
}
