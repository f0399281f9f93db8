//! What drivers do to the registers, as the NIC sees it: the same in all implementations, and as
//! the datasheet demands.
//!
//! A run in lockstep with trapped registers, where every access is seen and the same steps give
//! the same accesses. How often a driver looks while it waits is not compared, see
//! [`trace::without_polling`].

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, trace, Implementation, Lockstep};
use nic::registers as r;
use nic::{MmioMode, TraceEntry, TraceTo};

for_each_implementation!(
    interrupts_are_masked_before_and_after_a_reset,
    requests_have_ended_before_a_reset,
    nothing_is_set_up_before_the_reset_is_over,
    counters_are_read_low_half_first,
    filters_change_only_while_nothing_is_received,
    an_address_is_never_made_invalid,
    the_arbiter_is_halted_while_packet_buffers_change,
    transmission_is_enabled_before_its_queues,
    a_queue_is_programmed_then_enabled_then_given_descriptors,
    reception_is_enabled_last_and_with_the_security_block_halted,
    the_link_is_set_up_as_the_model_wants_it,
    no_reserved_bit_is_changed,
    a_batch_is_one_write_of_each_tail,
    a_batch_that_is_dropped_is_no_write_of_the_transmit_tail,
    the_end_is_in_order,
);

/// What was done in one step of a run.
struct Step {
    name: &'static str,
    accesses: Vec<TraceEntry>,
}

/// A whole run: opening, steps with packets and without, closing.
struct Run(Vec<Step>);

/// Port, packets that arrive, and what this step is called. In batches of 32.
const ARRIVALS: [(&str, &[(usize, usize)]); 7] = [
    ("nothing", &[]),
    ("one packet", &[(0, 1)]),
    ("the other way", &[(1, 1)]),
    ("a full batch", &[(0, 32)]),
    ("a batch and a bit", &[(0, 40)]),
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

    /// The accesses of one step.
    fn step(&self, name: &str) -> Result<&[TraceEntry]> {
        let step = self.0.iter().find(|step| step.name == name);
        Ok(&step.with_context(|| format!("no step {name}"))?.accesses)
    }

    /// The accesses of one step to one port, for looking into.
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

/// Whether an access is the one looked for.
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

/// The register at this address, and not the configuration space.
fn is(entry: &TraceEntry, address: u32) -> bool {
    entry.address == address && !is_config(entry)
}

fn is_config(entry: &TraceEntry) -> bool {
    entry.register.starts_with("PCI(")
}

impl Accesses {
    /// Where the first such access is.
    fn first(&self, what: &str, matches: impl Fn(&TraceEntry) -> bool) -> Result<usize> {
        self.0
            .iter()
            .position(matches)
            .with_context(|| format!("there is no {what}"))
    }

    /// Where the last such access is.
    fn last(&self, what: &str, matches: impl Fn(&TraceEntry) -> bool) -> Result<usize> {
        self.0
            .iter()
            .rposition(matches)
            .with_context(|| format!("there is no {what}"))
    }

    /// Checks that these accesses are there, one after the other (the first of each kind after the
    /// one before). Returns the place of the last.
    fn expect_in_order(&self, steps: &[(&str, Matches<'_>)]) -> Result<usize> {
        let mut at = 0;
        let mut before = "the start";
        for (what, matches) in steps {
            let found = self.0[at..].iter().position(matches);
            at += found.with_context(|| format!("no {what} after {before}"))? + 1;
            before = what;
        }
        Ok(at - 1)
    }

    /// All writes to registers whose name (without index) is one of these.
    fn writes_to<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = (usize, &'a TraceEntry)> {
        self.0.iter().enumerate().filter(|(_, entry)| {
            let name = entry.register.split('(').next().unwrap_or_default();
            entry.write && names.contains(&name)
        })
    }
}

/// Does something for both ports of a run of an ordinary 82599.
fn for_both_ports(
    implementation: Implementation,
    check: impl Fn(&Run, usize) -> Result<()>,
) -> Result<()> {
    let run = Run::of(implementation, nic::DEFAULT_DEVICE_ID)?;
    (0..2).try_for_each(|port| check(&run, port).with_context(|| format!("port {port}")))
}

/// The point of it all: C, safe Rust and transpiled Rust do the same, access for access, value for
/// value, on each family of devices.
#[test]
fn all_implementations_do_the_same() -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528, 0x1563] {
        let runs = Implementation::ALL.map(|implementation| {
            Run::of(implementation, device_id).with_context(|| implementation.name())
        });
        let [c, others @ ..] = runs;
        let c = c?;
        ensure!(c.step(SETUP)?.len() > 500, "hardly anything was recorded");
        for (implementation, other) in Implementation::ALL[1..].iter().zip(others) {
            let other = other?;
            for (ours, theirs) in c.0.iter().zip(&other.0) {
                trace::expect_same(
                    (Implementation::C.name(), &ours.accesses),
                    (implementation.name(), &theirs.accesses),
                )
                .with_context(|| format!("device {device_id:04x}, {}", ours.name))?;
            }
        }
    }
    Ok(())
}

/// The premise of the test above: one implementation's runs are the same.
#[test]
fn the_same_run_gives_the_same_trace() -> Result<()> {
    let [one, other] = [0, 1].map(|_| Run::of(Implementation::C, nic::DEFAULT_DEVICE_ID));
    let (one, other) = (one?, other?);
    for (a, b) in one.0.iter().zip(&other.0) {
        trace::expect_same(("one run", &a.accesses), ("the other", &b.accesses))?;
    }
    Ok(())
}

/// 4.6.3.1: and through EIMC, as EIMS only ever sets.
fn interrupts_are_masked_before_and_after_a_reset(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        let setup = run.port(SETUP, port)?;
        let masks = writes(r::EIMC, 0x7fff_ffff);
        let looks = |entry: &TraceEntry| is(entry, r::EICR) && !entry.write;
        let end = setup.expect_in_order(&[
            ("write of EIMC", &masks),
            ("read of EICR", &looks),
            ("write of CTRL.RST", &writes(r::CTRL, r::CTRL_RST)),
            ("write of EIMC", &masks),
            ("read of EICR", &looks),
        ])?;
        ensure!(
            setup.writes_to(&["EIMS"]).count() == 0,
            "EIMS is written, which can only set"
        );
        let first = setup.first("write", |entry| entry.write && !is_config(entry))?;
        ensure!(
            is(&setup.0[first], r::EIMC),
            "the first write is {}",
            setup.0[first]
        );
        ensure!(end < setup.0.len());
        Ok(())
    })
}

/// 5.2.5.3.2: the master-disable handshake.
fn requests_have_ended_before_a_reset(implementation: Implementation) -> Result<()> {
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
        ensure!(resets == 1, "{resets} resets, where one is enough");
        Ok(())
    })
}

/// 4.6.3: RST gone, then EEPROM read, then DMA initialised, and only then the rest.
fn nothing_is_set_up_before_the_reset_is_over(implementation: Implementation) -> Result<()> {
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
        // 9.3.2: nothing that needs memory starts before the device may access it.
        let may = setup.first("bus master", |entry| {
            entry.register == "PCI(0x004)" && entry.write && entry.value & 4 != 0
        })?;
        for (at, entry) in setup.writes_to(&["RXDCTL", "TXDCTL", "RXCTRL", "DMATXCTL"]) {
            ensure!(at > may, "{entry} comes before the bus master is on");
        }
        Ok(())
    })
}

/// Reading the high half clears both.
fn counters_are_read_low_half_first(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        for step in [SETUP, STATISTICS] {
            let accesses = run.port(step, port)?;
            for (low, high) in [(r::GORCL, r::GORCH), (r::GOTCL, r::GOTCH)] {
                let first = accesses.first("read of a low half", |entry| is(entry, low))?;
                let second = accesses.first("read of a high half", |entry| is(entry, high))?;
                ensure!(first < second, "{step}: {} first", accesses.0[second]);
            }
        }
        Ok(())
    })
}

/// 8.2.3.7.1: FCTRL only while RXCTRL.RXEN is 0.
fn filters_change_only_while_nothing_is_received(implementation: Implementation) -> Result<()> {
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
            "FCTRL was never written, so this shows nothing"
        );
        let wanted = r::FCTRL_BAM | r::FCTRL_MPE | r::FCTRL_UPE;
        let setup = run.port(SETUP, port)?;
        setup.first("promiscuous mode", writes(r::FCTRL, wanted))?;
        Ok(())
    })
}

/// 8.2.3.7.9: a write of RAH without AV switches the address off.
fn an_address_is_never_made_invalid(implementation: Implementation) -> Result<()> {
    for_both_ports(implementation, |run, port| {
        for step in &run.0 {
            for (_, entry) in run.port(step.name, port)?.writes_to(&["RAH"]) {
                ensure!(entry.value & r::RAH_AV != 0, "{}: {entry}", step.name);
            }
        }
        Ok(())
    })
}

/// 4.6.11.3.4 and 4.6.8: RTTDCS.ARBDIS is set before, and cleared after. The sizes fit together.
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

/// 8.2.3.9.2: DMATXCTL.TE before the first TXDCTL.ENABLE.
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
            ensure!(!enables || at > te, "{entry} before DMATXCTL.TE");
        }
        Ok(())
    })
}

/// 4.6.7.1.1, 4.6.8.1.1.
fn a_queue_is_programmed_then_enabled_then_given_descriptors(
    implementation: Implementation,
) -> Result<()> {
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
        // What belongs to a queue stays as it is once the queue is on.
        let off_limits = ["RDBAL", "RDBAH", "RDLEN", "RDH", "SRRCTL"];
        ensure!(
            setup.writes_to(&off_limits).all(|(at, _)| at < on),
            "a queue changes while on"
        );
        let on = setup.first("write of ENABLE", writes(r::TXDCTL(0), enabled))?;
        let off_limits = ["TDBAL", "TDBAH", "TDLEN", "TDH"];
        ensure!(
            setup.writes_to(&off_limits).all(|(at, _)| at < on),
            "a queue changes while on"
        );
        Ok(())
    })
}

/// 4.6.7: RXEN after everything of the receive side, between halting the security block and
/// letting it go on.
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
            ensure!(at < rxen, "{entry} after RXEN");
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

/// The 82599 wants its serial link configured; the PHY of X540 and X550 is the firmware's affair.
fn the_link_is_set_up_as_the_model_wants_it(implementation: Implementation) -> Result<()> {
    for (device_id, configured) in [(0x10fb, true), (0x1528, false), (0x1563, false)] {
        let run = Run::of(implementation, device_id)?;
        for port in [0, 1] {
            let setup = run.port(SETUP, port)?;
            let writes = setup.writes_to(&["AUTOC", "AUTOC2"]).count();
            ensure!(
                (writes > 0) == configured,
                "{device_id:04x}: {writes} writes to AUTOC"
            );
            let up = reads(r::LINKS, r::LINKS_UP, r::LINKS_UP);
            let last = setup.last("LINKS.UP", up)?;
            ensure!(
                last == setup.0.len() - 1,
                "the link is not what is waited for last"
            );
        }
    }
    Ok(())
}

/// Bits without a meaning are written as they were read, or with their reset value; named cases
/// are EIMC bit 31 and DTXMXSZRQ bits 15:12.
fn no_reserved_bit_is_changed(implementation: Implementation) -> Result<()> {
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
                    // All bits but one clear a mask, whether or not it has a cause.
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
                ensure!(entry.value >> 31 == 0, "{}: {entry}", step.name);
            }
            for (_, entry) in accesses.writes_to(&["DTXMXSZRQ"]) {
                ensure!(entry.value & 0xf000 == 0, "{}: {entry}", step.name);
            }
        }
        let setup = run.port(SETUP, port)?;
        ensure!(
            setup.writes_to(&["DTXMXSZRQ"]).count() == 1,
            "DTXMXSZRQ is written once"
        );
        // 8.2.3.8.8, 8.2.3.11.1: bits that read otherwise after a reset, and must be so.
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

/// One RDT on the port that received, one TDT on the other, for each batch; none for empty ones.
/// And nothing else at all.
fn a_batch_is_one_write_of_each_tail(implementation: Implementation) -> Result<()> {
    let run = Run::of(implementation, nic::DEFAULT_DEVICE_ID)?;
    // Where the rings are: packets received so far, by port.
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
            "{name}: registers are read"
        );
        ensure!(done == expected, "{name}: {done:x?}, not {expected:x?}");
    }
    Ok(())
}

/// A batch of which nothing could be sent has nothing to tell the device that was to send it.
fn a_batch_that_is_dropped_is_no_write_of_the_transmit_tail(
    implementation: Implementation,
) -> Result<()> {
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
    ensure!(lockstep.counts()?.tx == 511, "{:?}", lockstep.counts()?);
    lockstep.take_trace();
    receive(&mut lockstep, 96)?;
    ensure!(lockstep.counts()?.dropped == 96, "{:?}", lockstep.counts()?);
    let trace = lockstep.take_trace();
    let tails = trace
        .iter()
        .filter(|entry| is(entry, r::RDT(0)) && entry.port == 0)
        .count();
    ensure!(
        tails == 3 && trace.len() == 3,
        "not just RDT for three batches: {trace:#?}"
    );
    Ok(())
}

/// Reception off, queues off, transmission off, requests ended, bus master off: in that order, and
/// nothing afterwards.
fn the_end_is_in_order(implementation: Implementation) -> Result<()> {
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
        ensure!(at == end.0.len() - 1, "after the end: {}", end.0[at + 1]);
        Ok(())
    })
}
