//! The drivers' register accesses, as the NIC sees them: the same in all implementations, and as the
//! datasheet demands.
//!
//! The runs are in lockstep with trapped registers. The NIC sees every access, and the same steps
//! give the same accesses. Repeated reads while a driver waits are not compared
//! ([`trace::without_polling`]).

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, trace, Implementation, Lockstep};
use nic::registers as r;
use nic::{MmioMode, TraceEntry, TraceTo};

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

/// The accesses in one step of a run.
struct Step {
    name: &'static str,
    accesses: Vec<TraceEntry>,
}

/// A whole run: opening, steps with and without packets, closing.
struct Run(Vec<Step>);

/// The name of each step, and the packets that arrive in it at each port. The batch is 32.
const ARRIVALS: [(&str, &[(usize, usize)]); 7] = [
    ("no packet", &[]),
    ("one packet", &[(0, 1)]),
    ("one packet the other way", &[(1, 1)]),
    ("a full batch", &[(0, 32)]),
    ("a batch and eight packets", &[(0, 40)]),
    ("both ways", &[(0, 64), (1, 50)]),
    ("a full ring", &[(0, 511), (1, 511)]),
];

const SETUP: &str = "opening";
const STATISTICS: &str = "statistics";
const END: &str = "closing";

impl Run {
    fn of(implementation: Implementation, device_id: u16) -> Result<Self> {
        let mut lockstep = Lockstep::open(implementation, 32, |config| {
            let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
            config.with_each_port(|port| {
                port.capture = true;
                port.device_id = device_id;
            })
        })?;
        let mut steps = Vec::new();
        let mut step = |name, lockstep: &Lockstep| {
            steps.push(Step {
                name,
                accesses: trace::without_polling(lockstep.take_trace()),
            });
        };
        step(SETUP, &lockstep);
        let frame = [0x5a; 60];
        for (name, arrivals) in ARRIVALS {
            for (port, packets) in arrivals {
                for _ in 0..*packets {
                    lockstep.port(*port).inject(&frame)?;
                }
            }
            lockstep.run_until_idle()?;
            step(name, &lockstep);
        }
        lockstep.device_stats()?;
        step(STATISTICS, &lockstep);
        lockstep.close()?;
        step(END, &lockstep);
        lockstep
            .sessions()?
            .iter()
            .try_for_each(expect::left_at_rest)?;
        Ok(Self(steps))
    }

    /// The accesses in one step.
    fn step(&self, name: &str) -> Result<&[TraceEntry]> {
        let step = self.0.iter().find(|step| step.name == name);
        Ok(&step.with_context(|| format!("no step {name}"))?.accesses)
    }

    /// The accesses in one step to one port.
    fn port(&self, step: &str, port: usize) -> Result<Accesses> {
        Ok(Accesses(
            self.step(step)?
                .iter()
                .filter(|entry| entry.port == port)
                .cloned()
                .collect(),
        ))
    }
}

/// Whether an access matches.
type Matches<'a> = &'a dyn Fn(&TraceEntry) -> bool;

/// Accesses to one port's registers, in order.
struct Accesses(Vec<TraceEntry>);

fn writes(address: u32, bits: u32) -> impl Fn(&TraceEntry) -> bool {
    move |entry| is(entry, address) && entry.write && entry.value & bits == bits
}

fn clears(address: u32, bits: u32) -> impl Fn(&TraceEntry) -> bool {
    move |entry| is(entry, address) && entry.write && entry.value & bits == 0
}

fn reads(address: u32, mask: u32, value: u32) -> impl Fn(&TraceEntry) -> bool {
    move |entry| is(entry, address) && !entry.write && entry.value & mask == value
}

/// Whether an access is to the register at this address and not to the configuration space.
fn is(entry: &TraceEntry, address: u32) -> bool {
    entry.address == address && !is_config(entry)
}

fn is_config(entry: &TraceEntry) -> bool {
    entry.register.starts_with("PCI(")
}

impl Accesses {
    /// The index of the first matching access.
    fn first(&self, name: &str, matches: impl Fn(&TraceEntry) -> bool) -> Result<usize> {
        self.0
            .iter()
            .position(matches)
            .with_context(|| format!("there is no {name}"))
    }

    /// The index of the last matching access.
    fn last(&self, name: &str, matches: impl Fn(&TraceEntry) -> bool) -> Result<usize> {
        self.0
            .iter()
            .rposition(matches)
            .with_context(|| format!("there is no {name}"))
    }

    /// Checks that these accesses occur in order: the first match of each step after the match of
    /// the previous step. Returns the index of the last.
    fn expect_in_order(&self, steps: &[(&str, Matches<'_>)]) -> Result<usize> {
        let mut at = 0;
        let mut before = "the start";
        for (name, matches) in steps {
            let found = self.0[at..].iter().position(matches);
            at += found.with_context(|| format!("no {name} after {before}"))? + 1;
            before = name;
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
}

/// Runs an implementation on an ordinary 82599 and checks both ports.
fn for_both_ports(
    implementation: Implementation,
    check: impl Fn(&Run, usize) -> Result<()>,
) -> Result<()> {
    let run = Run::of(implementation, nic::DEFAULT_DEVICE_ID)?;
    (0..2).try_for_each(|port| check(&run, port).with_context(|| format!("port {port}")))
}

/// C, safe Rust and transpiled Rust make the same accesses with the same values, on each device
/// family. This is what makes the three drivers comparable.
#[test]
fn all_implementations_make_the_same_accesses() -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528, 0x1563] {
        let c = Run::of(Implementation::C, device_id).context("c")?;
        ensure!(
            c.step(SETUP)?.len() > 500,
            "the NIC recorded too few accesses"
        );
        for implementation in Implementation::OURS
            .into_iter()
            .filter(|other| *other != Implementation::C)
        {
            let name = implementation.to_string();
            let other = Run::of(implementation, device_id).with_context(|| name.clone())?;
            for (ours, theirs) in c.0.iter().zip(&other.0) {
                trace::expect_same(("c", &ours.accesses), (&name, &theirs.accesses))
                    .with_context(|| format!("device {device_id:04x}, {}", ours.name))?;
            }
        }
    }
    Ok(())
}

/// The premise of the test above: two runs of one implementation are the same.
#[test]
fn the_same_run_gives_the_same_trace() -> Result<()> {
    let [one, other] = [0, 1].map(|_| Run::of(Implementation::C, nic::DEFAULT_DEVICE_ID));
    let (one, other) = (one?, other?);
    for (a, b) in one.0.iter().zip(&other.0) {
        trace::expect_same(("one run", &a.accesses), ("the other", &b.accesses))?;
    }
    Ok(())
}

/// Section 4.6.3.1. The driver uses EIMC, because EIMS can only set bits.
fn interrupts_are_masked_before_and_after_a_reset(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let masks = writes(r::EIMC, 0x7fff_ffff);
        let reads_cause = |entry: &TraceEntry| is(entry, r::EICR) && !entry.write;
        setup.expect_in_order(&[
            ("write of EIMC", &masks),
            ("read of EICR", &reads_cause),
            ("write of CTRL.RST", &writes(r::CTRL, r::CTRL_RST)),
            ("write of EIMC", &masks),
            ("read of EICR", &reads_cause),
        ])?;
        ensure!(
            setup.writes_to(&["EIMS"]).count() == 0,
            "the driver writes EIMS, which can only set bits"
        );
        let first = setup.first("write", |entry| entry.write && !is_config(entry))?;
        ensure!(
            is(&setup.0[first], r::EIMC),
            "the first write is {}",
            setup.0[first]
        );
        Ok(())
    })
}

/// Section 5.2.5.3.2, the master-disable handshake.
fn requests_end_before_a_reset(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        setup.expect_in_order(&[
            (
                "write of CTRL.MASTER_DISABLE",
                &writes(r::CTRL, r::CTRL_MASTER_DISABLE),
            ),
            (
                "STATUS without MASTER_ENABLE",
                &reads(r::STATUS, r::STATUS_MASTER_ENABLE, 0),
            ),
            ("write of CTRL.RST", &writes(r::CTRL, r::CTRL_RST)),
        ])?;
        let resets = setup
            .0
            .iter()
            .filter(|entry| writes(r::CTRL, r::CTRL_RST)(entry))
            .count();
        ensure!(resets == 1, "{resets} resets instead of one");
        Ok(())
    })
}

/// Section 4.6.3: RST clears, the EEPROM is read, DMA is initialised, and then set-up starts.
fn set_up_starts_after_the_reset(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let ready = setup.expect_in_order(&[
            ("write of CTRL.RST", &writes(r::CTRL, r::CTRL_RST)),
            (
                "CTRL without RST",
                &reads(r::CTRL, r::CTRL_RST | r::CTRL_LNK_RST, 0),
            ),
            ("EEC.ARD", &reads(r::EEC, r::EEC_ARD, r::EEC_ARD)),
            (
                "RDRXCTL.DMAIDONE",
                &reads(r::RDRXCTL, r::RDRXCTL_DMAIDONE, r::RDRXCTL_DMAIDONE),
            ),
        ])?;
        let queues = [
            "RDBAL", "RDBAH", "RDLEN", "RDT", "RXDCTL", "RXCTRL", "TDBAL", "TDBAH", "TDLEN", "TDT",
            "TXDCTL", "DMATXCTL", "AUTOC",
        ];
        for (at, entry) in setup.writes_to(&queues) {
            ensure!(at > ready, "{entry} comes before the device is ready");
        }
        // Section 9.3.2: queues start only after the device may access memory.
        let bus_master = setup.first("bus master", |entry| {
            entry.register == "PCI(0x004)" && entry.write && entry.value & 4 != 0
        })?;
        for (at, entry) in setup.writes_to(&["RXDCTL", "TXDCTL", "RXCTRL", "DMATXCTL"]) {
            ensure!(at > bus_master, "{entry} comes before the bus master is on");
        }
        Ok(())
    })
}

/// A read of the high half clears both halves.
fn counters_are_read_low_half_first(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        for step in [SETUP, STATISTICS] {
            let accesses = run.port(step, port)?;
            for (low, high) in [(r::QBRC_L(0), r::QBRC_H(0)), (r::GOTCL, r::GOTCH)] {
                let first = accesses.first("read of a low half", |entry| is(entry, low))?;
                let second = accesses.first("read of a high half", |entry| is(entry, high))?;
                ensure!(
                    first < second,
                    "{step}: the driver reads {} before the low half",
                    accesses.0[second]
                );
            }
        }
        Ok(())
    })
}

/// Section 8.2.3.7.1: the driver may write FCTRL only while RXCTRL.RXEN is 0.
fn filters_change_only_while_reception_is_off(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let mut receiving = false;
        let mut changes = 0;
        for step in &run.0 {
            for entry in step
                .accesses
                .iter()
                .filter(|entry| entry.port == port && entry.write)
            {
                if is(entry, r::RXCTRL) {
                    receiving = entry.value & r::RXCTRL_RXEN != 0;
                }
                if is(entry, r::FCTRL) {
                    ensure!(!receiving, "{}: {entry} while RXEN is set", step.name);
                    changes += 1;
                }
            }
        }
        ensure!(
            changes > 0,
            "the driver never writes FCTRL, so this test proves nothing"
        );
        let wanted = r::FCTRL_BAM | r::FCTRL_MPE | r::FCTRL_UPE;
        let setup = run.port(SETUP, port)?;
        setup.first("promiscuous mode", writes(r::FCTRL, wanted))?;
        Ok(())
    })
}

/// Section 8.2.3.7.9: a write of RAH without AV disables the address.
fn an_address_always_stays_valid(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        for step in &run.0 {
            for (_, entry) in run.port(step.name, port)?.writes_to(&["RAH"]) {
                ensure!(
                    entry.value & r::RAH_AV != 0,
                    "{}: {entry} makes the address invalid",
                    step.name
                );
            }
        }
        Ok(())
    })
}

/// Sections 4.6.11.3.4 and 4.6.8: RTTDCS.ARBDIS is set before the change and cleared after it. The
/// threshold fits the buffer size.
fn the_arbiter_is_halted_while_packet_buffers_change(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let halt = setup.first("write of ARBDIS", writes(r::RTTDCS, r::RTTDCS_ARBDIS))?;
        let go = setup.last("clearing of ARBDIS", clears(r::RTTDCS, r::RTTDCS_ARBDIS))?;
        let guarded = ["TXPBSIZE", "TXPBTHRESH", "DTXMXSZRQ", "MTQC"];
        let mut count = 0;
        for (at, entry) in setup.writes_to(&guarded) {
            ensure!((halt..go).contains(&at), "{entry} while the arbiter runs");
            count += 1;
        }
        ensure!(count >= 18, "only {count} writes to packet buffers");
        let te = setup.first("write of TE", writes(r::DMATXCTL, r::DMATXCTL_TE))?;
        ensure!(go < te, "transmission is enabled with the arbiter halted");

        let (_, size) = setup
            .writes_to(&["TXPBSIZE"])
            .find(|(_, entry)| entry.address == r::TXPBSIZE(0))
            .context("TXPBSIZE(0) is not written")?;
        let (_, threshold) = setup
            .writes_to(&["TXPBTHRESH"])
            .find(|(_, entry)| entry.address == r::TXPBTHRESH(0))
            .context("TXPBTHRESH(0) is not written")?;
        let (size, threshold) = (r::field_get(r::TXPBSIZE_SIZE, size.value), threshold.value);
        ensure!(size == 160, "TX packet buffer of {size} KiB");
        ensure!(
            threshold < size,
            "a threshold of {threshold} KiB in a buffer of {size}"
        );
        Ok(())
    })
}

/// Section 8.2.3.9.2: DMATXCTL.TE comes before the first TXDCTL.ENABLE.
fn transmission_is_enabled_before_its_queues(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        setup.expect_in_order(&[
            ("write of DMATXCTL.TE", &writes(r::DMATXCTL, r::DMATXCTL_TE)),
            (
                "write of TXDCTL.ENABLE",
                &writes(r::TXDCTL(0), r::TXDCTL_ENABLE),
            ),
        ])?;
        let te = setup.first("write of TE", writes(r::DMATXCTL, r::DMATXCTL_TE))?;
        for (at, entry) in setup.writes_to(&["TXDCTL"]) {
            let enables = entry.value & r::TXDCTL_ENABLE != 0;
            ensure!(
                !enables || at > te,
                "{entry} comes before the write of DMATXCTL.TE"
            );
        }
        Ok(())
    })
}

/// Sections 4.6.7.1.1 and 4.6.8.1.1.
fn a_queue_is_programmed_then_enabled_then_filled(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let enabled = r::RXDCTL_ENABLE;
        setup.expect_in_order(&[
            ("write of RDBAL", &writes(r::RDBAL(0), 0)),
            ("write of RDLEN", &|entry| {
                is(entry, r::RDLEN(0)) && entry.value == 512 * 16
            }),
            ("write of SRRCTL", &writes(r::SRRCTL(0), r::SRRCTL_DROP_EN)),
            ("write of RXDCTL.ENABLE", &writes(r::RXDCTL(0), enabled)),
            ("RXDCTL.ENABLE", &reads(r::RXDCTL(0), enabled, enabled)),
            ("write of RDT", &|entry| {
                is(entry, r::RDT(0)) && entry.value == 511
            }),
        ])?;
        let on = setup.first("write of ENABLE", writes(r::RXDCTL(0), enabled))?;
        for (at, entry) in setup.writes_to(&["RDT"]) {
            ensure!(
                entry.value == 0 || at > on,
                "{entry} before the queue is enabled"
            );
        }
        let enabled = r::TXDCTL_ENABLE;
        setup.expect_in_order(&[
            ("write of TDBAL", &writes(r::TDBAL(0), 0)),
            ("write of TDLEN", &|entry| {
                is(entry, r::TDLEN(0)) && entry.value == 512 * 16
            }),
            ("write of TXDCTL.ENABLE", &writes(r::TXDCTL(0), enabled)),
            ("TXDCTL.ENABLE", &reads(r::TXDCTL(0), enabled, enabled)),
        ])?;
        // The driver does not change a queue's registers while the queue is enabled.
        let fixed = ["RDBAL", "RDBAH", "RDLEN", "RDH", "SRRCTL"];
        ensure!(
            setup.writes_to(&fixed).all(|(at, _)| at < on),
            "a queue changes while it is enabled"
        );
        let on = setup.first("write of ENABLE", writes(r::TXDCTL(0), enabled))?;
        let fixed = ["TDBAL", "TDBAH", "TDLEN", "TDH"];
        ensure!(
            setup.writes_to(&fixed).all(|(at, _)| at < on),
            "a queue changes while it is enabled"
        );
        Ok(())
    })
}

/// Section 4.6.7: RXEN comes after the whole receive side, while the security block is halted.
fn reception_is_enabled_last_and_with_the_security_block_halted(
    implementation: Implementation,
) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let rxen = setup.first("write of RXEN", writes(r::RXCTRL, r::RXCTRL_RXEN))?;
        let receive_side = [
            "FCTRL",
            "PFUTA",
            "MTA",
            "VFTA",
            "RXPBSIZE",
            "RDRXCTL",
            "RDBAL",
            "RDBAH",
            "RDLEN",
            "RDH",
            "RDT",
            "SRRCTL",
            "DCA_RXCTRL",
            "RXDCTL",
            "FCRTL",
            "FCRTH",
            "CTRL_EXT",
        ];
        for (at, entry) in setup.writes_to(&receive_side) {
            ensure!(at < rxen, "{entry} comes after the write of RXCTRL.RXEN");
        }
        let halted = r::SECRXSTAT_SECRX_RDY;
        setup.expect_in_order(&[
            (
                "write of RX_DIS",
                &writes(r::SECRXCTRL, r::SECRXCTRL_RX_DIS),
            ),
            ("SECRX_RDY", &reads(r::SECRXSTAT, halted, halted)),
            ("write of RXEN", &writes(r::RXCTRL, r::RXCTRL_RXEN)),
            (
                "clearing of RX_DIS",
                &clears(r::SECRXCTRL, r::SECRXCTRL_RX_DIS),
            ),
        ])?;
        Ok(())
    })
}

/// The 82599 needs its serial link configured. On X540 and X550 the firmware configures the PHY.
fn the_link_is_set_up_as_the_device_requires(implementation: Implementation) -> Result<()> {
    for (device_id, configured) in [(0x10fb, true), (0x1528, false), (0x1563, false)] {
        let run = Run::of(implementation, device_id)?;
        for port in [0, 1] {
            let setup = run.port(SETUP, port)?;
            let count = setup.writes_to(&["AUTOC", "AUTOC2"]).count();
            ensure!(
                (count > 0) == configured,
                "{device_id:04x}: {count} writes to AUTOC"
            );
            // LNK_RST resets the PHY, too.
            let reset = setup.first("reset", writes(r::CTRL, r::CTRL_RST))?;
            let with_link = setup.0[reset].value & r::CTRL_LNK_RST != 0;
            ensure!(
                with_link == configured,
                "{device_id:04x}: {}",
                setup.0[reset]
            );
            let up = reads(r::LINKS, r::LINKS_UP, r::LINKS_UP);
            let last = setup.last("LINKS.UP", up)?;
            ensure!(
                last == setup.0.len() - 1,
                "the driver does not wait for the link last"
            );
        }
    }
    Ok(())
}

/// The driver writes reserved bits as it read them, or with their reset value. EIMC bit 31 and
/// DTXMXSZRQ bits 15:12 must be 0.
fn reserved_bits_stay_unchanged(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let mut last_read = std::collections::HashMap::new();
        for step in &run.0 {
            let accesses = run.port(step.name, port)?;
            for entry in accesses.0.iter().filter(|entry| !is_config(entry)) {
                if !entry.write {
                    last_read.insert(entry.address, entry.value);
                    continue;
                }
                let reserved = match entry.address {
                    // All bits except 31 clear a mask bit, even those without a cause.
                    r::EIMC => 1 << 31,
                    _ => !trace::known_bits(entry),
                };
                let reset = r::locate(entry.address)
                    .map_or(0, |(register, index)| register.reset_of(index));
                let kept = last_read.get(&entry.address).copied().unwrap_or(reset);
                let written = entry.value & reserved;
                ensure!(
                    written == kept & reserved || written == 0,
                    "{}: {entry} changes reserved bits {reserved:#010x}, which were {:#010x}",
                    step.name,
                    kept & reserved
                );
            }
            for (_, entry) in accesses.writes_to(&["EIMC"]) {
                ensure!(
                    entry.value >> 31 == 0,
                    "{}: {entry} changes a reserved bit",
                    step.name
                );
            }
            for (_, entry) in accesses.writes_to(&["DTXMXSZRQ"]) {
                ensure!(
                    entry.value & 0xf000 == 0,
                    "{}: {entry} changes reserved bits",
                    step.name
                );
            }
        }
        let setup = run.port(SETUP, port)?;
        ensure!(
            setup.writes_to(&["DTXMXSZRQ"]).count() == 1,
            "the driver does not write DTXMXSZRQ exactly once"
        );
        // Sections 8.2.3.8.8 and 8.2.3.11.1: these bits must change from their reset value.
        let (_, entry) = setup
            .writes_to(&["RDRXCTL"])
            .last()
            .context("RDRXCTL is not written")?;
        ensure!(
            entry.value & r::RDRXCTL_RSCFRSTSIZE == 0,
            "{entry}: RSCFRSTSIZE must be 0"
        );
        let must = r::RDRXCTL_RSCACKC | r::RDRXCTL_FCOE_WRFIX | r::RDRXCTL_CRCSTRIP;
        ensure!(
            entry.value & must == must,
            "{entry}: RSCACKC, FCOE_WRFIX, CRCSTRIP must be 1"
        );
        let (_, entry) = setup
            .writes_to(&["DCA_RXCTRL"])
            .last()
            .context("DCA_RXCTRL is not written")?;
        ensure!(
            entry.value & r::DCA_RXCTRL_RESERVED_12 == 0,
            "{entry}: bit 12 must be 0"
        );
        Ok(())
    })
}

/// Each batch is one write of RDT on the receiving port and one write of TDT on the other. The data
/// path makes no other access.
fn a_batch_writes_each_tail_once(implementation: Implementation) -> Result<()> {
    let run = Run::of(implementation, nic::DEFAULT_DEVICE_ID)?;
    // Packets received so far by each port, which determine the tails.
    let mut received = [0_u32; 2];
    for (name, arrivals) in ARRIVALS {
        let mut expected = Vec::new();
        let mut left = [0; 2];
        for (port, packets) in arrivals {
            left[*port] = *packets as u32;
        }
        while left != [0, 0] {
            for port in [0, 1] {
                let batch = left[port].min(32);
                if batch == 0 {
                    continue;
                }
                left[port] -= batch;
                received[port] += batch;
                expected.push((port, r::RDT(0), (received[port] - 1) % 512));
                expected.push((1 - port, r::TDT(0), received[port] % 512));
            }
        }
        let done: Vec<_> = run
            .step(name)?
            .iter()
            .map(|entry| (entry.port, entry.address, entry.value))
            .collect();
        ensure!(
            run.step(name)?.iter().all(|entry| entry.write),
            "{name}: the driver reads registers"
        );
        ensure!(done == expected, "{name}: the driver writes the tails {done:x?} (register, value), expected {expected:x?}");
    }
    Ok(())
}

/// The driver sends no packet of such a batch, so it need not notify the device.
fn a_dropped_batch_does_not_write_the_transmit_tail(implementation: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(implementation, 32, |config| {
        let config = config.with_mmio(MmioMode::Trap).with_trace(TraceTo::Memory);
        config.with_each_port(|port| port.faults.stall_tx = true)
    })?;
    let receive = |lockstep: &mut Lockstep, packets: usize| -> Result<()> {
        for _ in 0..packets {
            lockstep.port(0).inject(&[0x5a; 60])?;
        }
        lockstep.run_until_idle().map(drop)
    };
    receive(&mut lockstep, 511)?;
    expect::exactly("sent", lockstep.counts()?.tx, "packets", 511)?;
    lockstep.take_trace();
    receive(&mut lockstep, 96)?;
    expect::exactly("dropped", lockstep.counts()?.dropped, "packets", 96)?;
    let trace = lockstep.take_trace();
    let tails = trace
        .iter()
        .filter(|entry| is(entry, r::RDT(0)) && entry.port == 0)
        .count();
    ensure!(
        tails == 3 && trace.len() == 3,
        "expected three writes of RDT only: {trace:#?}"
    );
    Ok(())
}

/// The driver disables reception, the queues and transmission, ends requests and disables the bus
/// master, in this order. It makes no later access.
fn closing_follows_the_prescribed_order(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let end = run.port(END, port)?;
        let off = |entry: &TraceEntry| {
            entry.register == "PCI(0x004)" && entry.write && entry.value & 4 == 0
        };
        let at = end.expect_in_order(&[
            ("clearing of RXEN", &clears(r::RXCTRL, r::RXCTRL_RXEN)),
            (
                "clearing of TXDCTL.ENABLE",
                &clears(r::TXDCTL(0), r::TXDCTL_ENABLE),
            ),
            (
                "TXDCTL without ENABLE",
                &reads(r::TXDCTL(0), r::TXDCTL_ENABLE, 0),
            ),
            ("clearing of TE", &clears(r::DMATXCTL, r::DMATXCTL_TE)),
            (
                "clearing of RXDCTL.ENABLE",
                &clears(r::RXDCTL(0), r::RXDCTL_ENABLE),
            ),
            (
                "RXDCTL without ENABLE",
                &reads(r::RXDCTL(0), r::RXDCTL_ENABLE, 0),
            ),
            (
                "write of MASTER_DISABLE",
                &writes(r::CTRL, r::CTRL_MASTER_DISABLE),
            ),
            (
                "STATUS without MASTER_ENABLE",
                &reads(r::STATUS, r::STATUS_MASTER_ENABLE, 0),
            ),
            ("bus master off", &off),
        ])?;
        // Statistics are read after the end.
        let write = end.0[at + 1..].iter().find(|entry| entry.write);
        ensure!(write.is_none(), "write after the end: {write:?}");
        Ok(())
    })
}
