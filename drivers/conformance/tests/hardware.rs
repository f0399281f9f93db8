//! What a real card does, and the software card on request: late links, states that an earlier driver
//! left behind, writes out of order, and write-backs in groups.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{at_rate, capturing, expect, for_each_implementation, saturated, wait_until};
use conformance::{Implementation, Lockstep, Program, TestNic, Totals, LIMIT};
use nic::registers::{DeviceId, DEVICE_IDS};
use nic::{Faults, MmioMode, Module, PortConfig};
use rustix::process::Signal;

for_each_implementation!(
    the_link_comes_up_at_a_later_reset,
    a_link_that_never_comes_up_ends_the_driver,
    a_link_that_takes_its_time_is_waited_for,
    two_cabled_ports_light_each_other,
    what_an_earlier_driver_left_behind_is_undone,
    a_phy_that_is_powered_down_is_powered_up,
    a_phy_that_never_answers_is_left_to_the_link,
    a_master_that_stays_enabled_ends_no_attempt,
    a_link_that_goes_down_once_more_is_waited_for,
    a_vector_masks_itself_whichever_register_counts,
    sent_descriptors_are_written_back_in_groups_of_four,
    the_last_descriptors_are_written_back_at_the_end,
    a_stop_flushes_before_it_waits_for_tdh,
    relaxed_ordering_changes_nothing,
    cards_that_the_driver_cannot_set_up_are_refused,
);

/// Runs a forwarder on a NIC with saturating traffic, and checks that it forwards `packets` packets
/// without a mistake. Returns its totals.
fn forwards(
    driver: Implementation,
    packets: u64,
    change: impl FnMut(&mut PortConfig),
) -> Result<Totals> {
    let mut nic = TestNic::running(|config| saturated(config).with_each_port(change))?;
    nic.forward(driver, &["--packets", &packets.to_string()])
}

/// The link needs several resets of the whole card, while frames arrive all the time. The driver
/// sends nothing before, and gets no frame from before the last reset.
fn the_link_comes_up_at_a_later_reset(driver: Implementation) -> Result<()> {
    for attempts in [2, 3] {
        // Only one port needs them, because a driver waits for one port after the other.
        let mut nic = TestNic::running(|config| {
            let mut config = at_rate(0.2)(config);
            config.ports[1].link.attempts = attempts;
            config
        })?;
        // Without a number of packets: a driver that ended between two looks would have taken the link down.
        let mut running = nic.forwarder(driver)?.start()?;
        let port = nic.ports()[1].clone();
        let mut early = None;
        wait_until("the link, or the driver's end", || {
            // The link comes up between the two looks at most once, so the order matters.
            let state = port.snapshot();
            let sent = port.stats().transmitted > 0 || state.tx_pending > 0;
            if sent && !port.snapshot().link_up {
                early = Some(state);
            }
            port.snapshot().link_up || !running.is_running().unwrap_or(false)
        })?;
        wait_until("forwarded packets, or the driver's end", || {
            port.stats().transmitted > 0 || !running.is_running().unwrap_or(false)
        })?;
        let output = running.end_by(Signal::TERM)?;
        ensure!(early.is_none(), "sent before the link: {early:#?}");
        let resets = nic.sessions()?[1].resets;
        expect::exactly("made", resets, "resets", attempts.into())?;
        nic.check_run(&output)?;
        let stats = port.stats();
        ensure!(stats.dropped_not_running > 0, "{stats:#?}");
    }
    Ok(())
}

fn a_link_that_never_comes_up_ends_the_driver(driver: Implementation) -> Result<()> {
    for (device_id, attempts, delay) in [
        (nic::DEFAULT_DEVICE_ID, 100, Duration::ZERO),
        (0x1528, 0, Duration::from_secs(3600)),
    ] {
        let nic = TestNic::running(|config| {
            config.with_each_port(|port| {
                port.device_id = device_id;
                port.link.attempts = attempts;
                port.link.delay = delay;
            })
        })?;
        let program = nic.forwarder(driver)?.args(["--link-timeout", "1"]);
        let texts = [&nic.devices()[0], "no link", "1000 ms", "attempts"];
        program.run()?.expect_failure(texts)?;
        for session in nic.sessions()? {
            ensure!(session.snapshot.dma_maps == 0, "{session:#?}");
            expect::well_behaved(&session)?;
        }
    }
    Ok(())
}

/// Each port has a link only when the driver has switched on the laser of the other one.
fn two_cabled_ports_light_each_other(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        config.with_cable(0, 1).with_each_port(|port| {
            port.module = Module::Sr;
            port.left_behind.laser_off = true;
        })
    })?;
    let program = nic.forwarder(driver)?.args(["--duration", "0.2"]);
    program.run()?.expect_success()?;
    nic.expect_rest()
}

fn what_an_earlier_driver_left_behind_is_undone(driver: Implementation) -> Result<()> {
    let totals = forwards(driver, 200_000, |port| {
        port.module = Module::Sr;
        port.left_behind.laser_off = true;
        port.left_behind.link_disabled = true;
        port.left_behind.rate_limit = Some(10);
    })?;
    // The rate limit is gone.
    ensure!(totals.tx > totals.rx / 2, "{totals:?}");
    Ok(())
}

/// As the training of 10GBASE-T does, in less time.
fn a_link_that_takes_its_time_is_waited_for(driver: Implementation) -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528, 0x1563] {
        forwards(driver, 2000, |port| {
            port.device_id = device_id;
            port.link.delay = Duration::from_millis(500);
        })?;
    }
    Ok(())
}

fn a_phy_that_is_powered_down_is_powered_up(driver: Implementation) -> Result<()> {
    type Change = fn(&mut PortConfig);
    let states: [(&str, Change); 3] = [
        ("off", |_| ()),
        // It starts again, and takes longer than the time after which the driver looks first.
        ("silent", |port| port.hardware.silent_phy_ms = 250),
        // Firmware that died does not keep it.
        ("kept", |port| port.hardware.firmware_looks = u32::MAX),
    ];
    for (name, change) in states {
        for device_id in [0x1528, 0x1563] {
            let run = forwards(driver, 2000, |port| {
                port.device_id = device_id;
                port.left_behind.phy_off = true;
                change(port);
            });
            run.with_context(|| format!("{name}, {device_id:04x}"))?;
        }
    }
    Ok(())
}

fn a_phy_that_never_answers_is_left_to_the_link(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(|config| {
        saturated(config).with_each_port(|port| {
            port.device_id = 0x1528;
            port.hardware.silent_phy_ms = 3_600_000;
        })
    })?;
    let program = nic.forwarder(driver)?.args(["--packets", "2000"]);
    let output = program.run()?;
    let [a, b] = nic.devices();
    let texts = [&a, &b, "warning: ", "no PHY answers"];
    output.expect_exit(0)?.expect_stderr(texts)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &output.totals()?)
}

/// The driver waits for the link while the fault begins, so the fault meets the stop before the second attempt.
fn a_master_that_stays_enabled_ends_no_attempt(driver: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        let mut config = at_rate(0.2)(config);
        config.ports[1].link.attempts = 2;
        config
    })?;
    let mut running = nic.forwarder(driver)?.start()?;
    let port = &nic.ports()[1];
    wait_until("the port to run", || port.snapshot().tx_enabled)?;
    let mut faults = Faults::default();
    faults.add("master-stays")?;
    port.set_faults(faults);
    wait_until("forwarded packets, or the driver's end", || {
        port.stats().transmitted > 0 || !running.is_running().unwrap_or(false)
    })?;
    port.set_faults(Faults::default());
    running.signal(Signal::TERM)?;
    running
        .wait(LIMIT)?
        .expect_exit(0)?
        .expect_stderr(["warning: ", "STATUS.MASTER_ENABLE"])?;
    nic.expect_rest()
}

/// The link is down again while the driver goes on, unless the driver looks twice.
fn a_link_that_goes_down_once_more_is_waited_for(driver: Implementation) -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528] {
        let mut lockstep = Lockstep::open(driver, 32, |config| {
            config.with_each_port(|port| {
                port.device_id = device_id;
                port.hardware.flap_at_start = 1;
            })
        })?;
        for port in [0, 1] {
            ensure!(lockstep.port(port).snapshot().link_up, "port {port}");
        }
        lockstep.close()?;
    }
    Ok(())
}

/// The card signals a driver that sleeps, and the driver is stopped so that it cannot arm the vector again.
fn a_vector_masks_itself_whichever_register_counts(driver: Implementation) -> Result<()> {
    for separate in [false, true] {
        let nic = TestNic::running(|config| {
            config.with_each_port(|port| port.hardware.separate_eiam = separate)
        })?;
        let mut running = nic.forwarder(driver)?.arg("--interrupts").start()?;
        let port = &nic.ports()[0];
        wait_until("the driver to sleep", || {
            port.snapshot().interrupts_enabled != 0 && port.snapshot().link_up
        })?;
        running.signal(Signal::STOP)?;
        port.inject(&[0x5a; 60])?;
        wait_until("the vector to be masked", || {
            port.snapshot().interrupts_enabled == 0
        })?;
        running.signal(Signal::CONT)?;
        running.end_by(Signal::TERM)?;
    }
    Ok(())
}

/// 7.2.3.5.1: with TXDCTL.WTHRESH 4, four descriptors of 16 bytes are one write of a cache line.
fn sent_descriptors_are_written_back_in_groups_of_four(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, saturated)?;
    lockstep.run(1000)?;
    // Twice, because the write-backs may come a round late.
    lockstep.poll();
    lockstep.poll();
    for port in [0, 1] {
        let stats = lockstep.port(port).stats();
        let (writes, written) = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        println!("{driver}: {writes} writes of {written} descriptors");
        ensure!(written == stats.transmitted, "{stats:#?}");
        ensure!(writes * 4 == written, "{writes} writes of {written}");
    }
    lockstep.close()
}

/// Fewer than four descriptors would wait for ever without TXDCTL.SWFLSH.
fn the_last_descriptors_are_written_back_at_the_end(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut lockstep = Lockstep::open(driver, 32, |config| capturing(config.with_mmio(mmio)))?;
        lockstep.inject(0, 7)?;
        lockstep.run_until_idle()?;
        let written = |lockstep: &Lockstep| lockstep.port(1).stats().tx_descriptors_written_back;
        let waiting = written(&lockstep);
        lockstep.close()?;
        let all = written(&lockstep);
        ensure!((waiting, all) == (4, 7), "{mmio:?}: {waiting}, then {all}");
    }
    Ok(())
}

/// If TDH moves with write-backs only, the card keeps TDH back as long as it keeps descriptors back.
fn a_stop_flushes_before_it_waits_for_tdh(driver: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for frames in 1..=5 {
            let mut lockstep = Lockstep::open(driver, 32, |config| {
                let config = capturing(config.with_mmio(mmio));
                config.with_each_port(|port| port.hardware.head_with_write_back = true)
            })?;
            lockstep.inject(0, frames)?;
            lockstep.run_until_idle()?;
            let closed = lockstep.close_at_rest();
            closed.with_context(|| format!("{mmio:?}, {frames} frames"))?;
        }
    }
    Ok(())
}

/// The driver has cleared the bits that let write-backs overtake each other, and descriptors overtake
/// their packets. Full rings make it reuse descriptors at once.
fn relaxed_ordering_changes_nothing(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 512, saturated)?;
    for cycle in 0..64 {
        let mut faults = Faults::default();
        faults.relaxed_ordering = true;
        faults.stall_tx = cycle % 2 == 0;
        lockstep.set_faults(faults);
        lockstep.run(3)?;
    }
    lockstep.poll();
    lockstep.close_without_loss()
}

/// Checks that a forwarder refuses a card, and names the reason.
fn refuses(driver: Implementation, card: &DeviceId, reason: &str) -> Result<()> {
    let nic = TestNic::still(|config| {
        config.with_each_port(|port| port.faults.foreign_device_id = Some(card.id))
    })?;
    let output = Program::forwarder(driver)?.args(nic.devices()).run()?;
    let id = format!("8086:{:04x}", card.id);
    output.expect_failure([&nic.devices()[0], &id, card.name, reason])?;
    let session = TestNic::session(&nic.ports()[0])?;
    ensure!(session.resets == 0, "{session:#?}");
    expect::well_behaved(&session)
}

/// The 82599s for backplanes, CX4, XAUI and 10GBASE-T, and all X552 and X553, need a set-up of their
/// own.
fn cards_that_the_driver_cannot_set_up_are_refused(driver: Implementation) -> Result<()> {
    let cards = DEVICE_IDS.iter();
    let refused: Vec<_> = cards
        .filter_map(|card| Some((card, card.refused?)))
        .collect();
    for id in [
        0x10f7, 0x10f8, 0x10f9, 0x10fc, 0x1514, 0x1517, 0x151c, 0x15ac, 0x15c8,
    ] {
        let is_refused = refused.iter().any(|(card, _)| card.id == id);
        ensure!(is_refused, "the driver takes {id:04x}");
    }
    for (card, reason) in refused {
        refuses(driver, card, reason)?;
    }
    Ok(())
}
