//! What a real card does, and the software card on request: late links, states that an earlier driver
//! left behind, writes out of order, and write-backs in groups.

use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{
    expect, for_each_implementation, wait_until, Implementation, Lockstep, Output, Program,
    TestNic, Totals,
};
use nic::registers::{DeviceId, DEVICE_IDS};
use nic::{Faults, MmioMode, Module, NicConfig, PortConfig, Traffic};
use rustix::process::Signal;

for_each_implementation!(
    the_link_comes_up_at_a_later_reset,
    a_link_that_never_comes_up_ends_the_driver,
    a_link_that_takes_its_time_is_waited_for,
    two_cabled_ports_light_each_other,
    what_an_earlier_driver_left_behind_is_undone,
    a_phy_that_is_powered_down_is_powered_up,
    a_phy_that_starts_again_is_waited_for,
    a_phy_that_never_answers_is_left_to_the_link,
    firmware_that_died_does_not_keep_the_phy,
    a_master_that_stays_enabled_ends_no_attempt,
    a_link_that_goes_down_once_more_is_waited_for,
    a_vector_masks_itself_whichever_register_counts,
    sent_descriptors_are_written_back_in_groups_of_four,
    the_last_descriptors_are_written_back_at_the_end,
    a_stop_flushes_before_it_waits_for_tdh,
    relaxed_ordering_changes_nothing,
    cards_that_the_driver_cannot_set_up_are_refused,
);

/// Time for a run that has to wait for a link.
const LIMIT: Duration = Duration::from_secs(20);

fn saturated(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Saturate)
}

fn at_low_rate(config: NicConfig) -> NicConfig {
    config.with_each_port(|port| port.traffic = Traffic::Rate { mpps: 0.2 })
}

/// Runs a forwarder on a NIC with saturating traffic, and checks that it forwards `packets` packets
/// without a mistake. Returns its totals.
fn forwards(
    implementation: Implementation,
    packets: u64,
    change: impl FnMut(&mut PortConfig),
) -> Result<Totals> {
    let mut nic = TestNic::running(|config| saturated(config).with_each_port(change))?;
    let output = nic
        .forwarder(implementation)?
        .arg("--packets")
        .arg(packets.to_string())
        .run(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    let totals = output.totals()?;
    expect::nothing_lost(nic.ports(), &totals)?;
    Ok(totals)
}

/// The link needs several resets of the whole card, while frames arrive all the time. The driver
/// sends nothing before, and gets no frame from before the last reset.
fn the_link_comes_up_at_a_later_reset(implementation: Implementation) -> Result<()> {
    for attempts in [2, 3] {
        // Only one port needs them, because a driver waits for one port after the other.
        let mut nic = TestNic::running(|config| {
            let mut config = at_low_rate(config);
            config.ports[1].link.attempts = attempts;
            config
        })?;
        // Without a number of packets: a driver that ended between two looks would have taken the link down.
        let mut running = nic.forwarder(implementation)?.start()?;
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
        running.signal(Signal::TERM)?;
        let output = running.wait(LIMIT)?;
        output.expect_success()?;
        ensure!(early.is_none(), "sent before the link: {early:#?}");
        let sessions = nic.sessions()?;
        sessions.iter().try_for_each(expect::left_at_rest)?;
        ensure!(
            sessions[1].resets == u64::from(attempts),
            "{} resets for attempt {attempts}",
            sessions[1].resets
        );
        nic.stop_data_plane()?;
        expect::nothing_lost(nic.ports(), &output.totals()?)?;
        ensure!(
            port.stats().dropped_not_running > 0,
            "no frame arrived before the link: {:#?}",
            port.stats()
        );
    }
    Ok(())
}

/// Checks that a forwarder gave up with one message about the link.
fn gave_up(output: &Output, device: &str, milliseconds: &str) -> Result<()> {
    let texts = [device, "no link", milliseconds, "attempts"];
    output.expect_exit(1)?.expect_stderr(texts)?;
    Ok(())
}

fn a_link_that_never_comes_up_ends_the_driver(implementation: Implementation) -> Result<()> {
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
        let output = nic
            .forwarder(implementation)?
            .args(["--link-timeout", "1"])
            .run(LIMIT)?;
        gave_up(&output, &nic.devices()[0], "1000 ms")?;
        for session in nic.sessions()? {
            ensure!(session.snapshot.dma_maps == 0, "{session:#?}");
            expect::well_behaved(&session)?;
        }
    }
    Ok(())
}

/// As the training of 10GBASE-T does, in less time.
fn a_link_that_takes_its_time_is_waited_for(implementation: Implementation) -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528, 0x1563] {
        forwards(implementation, 2000, |port| {
            port.device_id = device_id;
            port.link.delay = Duration::from_millis(500);
        })?;
    }
    Ok(())
}

/// Each port has a link only when the driver has switched on the laser of the other one.
fn two_cabled_ports_light_each_other(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        config.with_cable(0, 1).with_each_port(|port| {
            port.module = Module::Sr;
            port.left_behind.laser_off = true;
        })
    })?;
    let running = nic
        .forwarder(implementation)?
        .args(["--duration", "0.2"])
        .start()?;
    let output = running.wait(LIMIT)?;
    output.expect_success()?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)
}

fn what_an_earlier_driver_left_behind_is_undone(implementation: Implementation) -> Result<()> {
    let totals = forwards(implementation, 200_000, |port| {
        port.module = Module::Sr;
        port.left_behind.laser_off = true;
        port.left_behind.link_disabled = true;
        port.left_behind.rate_limit = Some(10);
    })?;
    ensure!(
        totals.tx > totals.rx / 2,
        "the rate limit is still there: {totals:?}"
    );
    Ok(())
}

fn a_phy_that_is_powered_down_is_powered_up(implementation: Implementation) -> Result<()> {
    for device_id in [0x1528, 0x1563] {
        forwards(implementation, 2000, |port| {
            port.device_id = device_id;
            port.left_behind.phy_off = true;
        })?;
    }
    Ok(())
}

/// The PHY takes longer than the time after which the driver looks first.
fn a_phy_that_starts_again_is_waited_for(implementation: Implementation) -> Result<()> {
    for device_id in [0x1528, 0x1563] {
        forwards(implementation, 2000, |port| {
            port.device_id = device_id;
            port.left_behind.phy_off = true;
            port.hardware.silent_phy_ms = 250;
        })?;
    }
    Ok(())
}

fn a_phy_that_never_answers_is_left_to_the_link(implementation: Implementation) -> Result<()> {
    let mut nic = TestNic::running(|config| {
        saturated(config).with_each_port(|port| {
            port.device_id = 0x1528;
            port.hardware.silent_phy_ms = 3_600_000;
        })
    })?;
    let program = nic.forwarder(implementation)?.args(["--packets", "2000"]);
    let output = program.run(LIMIT)?;
    let [a, b] = nic.devices();
    output
        .expect_exit(0)?
        .expect_stderr([&a, &b, "warning: ", "no PHY answers"])?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &output.totals()?)
}

fn firmware_that_died_does_not_keep_the_phy(implementation: Implementation) -> Result<()> {
    for device_id in [0x1528, 0x1563] {
        forwards(implementation, 2000, |port| {
            port.device_id = device_id;
            port.left_behind.phy_off = true;
            port.hardware.firmware_looks = u32::MAX;
        })?;
    }
    Ok(())
}

/// The driver waits for the link while the fault begins, so the fault meets the stop before the second attempt.
fn a_master_that_stays_enabled_ends_no_attempt(implementation: Implementation) -> Result<()> {
    let nic = TestNic::running(|config| {
        let mut config = at_low_rate(config);
        config.ports[1].link.attempts = 2;
        config
    })?;
    let mut running = nic.forwarder(implementation)?.start()?;
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
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)
}

/// The link is down again while the driver goes on, unless the driver looks twice.
fn a_link_that_goes_down_once_more_is_waited_for(implementation: Implementation) -> Result<()> {
    for device_id in [nic::DEFAULT_DEVICE_ID, 0x1528] {
        let mut lockstep = Lockstep::open(implementation, 32, |config| {
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
fn a_vector_masks_itself_whichever_register_counts(implementation: Implementation) -> Result<()> {
    for separate in [false, true] {
        let nic = TestNic::running(|config| {
            config.with_each_port(|port| port.hardware.separate_eiam = separate)
        })?;
        let mut running = nic.forwarder(implementation)?.arg("--interrupts").start()?;
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
        running.signal(Signal::TERM)?;
        running.wait(LIMIT)?.expect_success()?;
    }
    Ok(())
}

/// 7.2.3.5.1: with TXDCTL.WTHRESH 4, four descriptors of 16 bytes are one write of a cache line.
fn sent_descriptors_are_written_back_in_groups_of_four(
    implementation: Implementation,
) -> Result<()> {
    let mut lockstep = Lockstep::open(implementation, 32, saturated)?;
    for _ in 0..1000 {
        lockstep.poll();
        lockstep.turn()?;
    }
    // Twice, because the write-backs may come a round late.
    lockstep.poll();
    lockstep.poll();
    for port in [0, 1] {
        let stats = lockstep.port(port).stats();
        let (writes, written) = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        println!("{implementation}: {writes} writes of {written} descriptors");
        ensure!(written == stats.transmitted, "{stats:#?}");
        ensure!(writes * 4 == written, "{writes} writes of {written}");
    }
    lockstep.close()
}

/// Fewer than four descriptors would wait for ever without TXDCTL.SWFLSH.
fn the_last_descriptors_are_written_back_at_the_end(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        let mut lockstep = Lockstep::open(implementation, 32, |config| {
            config
                .with_mmio(mmio)
                .with_each_port(|port| port.capture = true)
        })?;
        for n in 0..7 {
            lockstep.port(0).inject(&[n; 60])?;
        }
        lockstep.run_until_idle()?;
        let written = |lockstep: &Lockstep| lockstep.port(1).stats().tx_descriptors_written_back;
        let waiting = written(&lockstep);
        lockstep.close()?;
        let all = written(&lockstep);
        ensure!(
            (waiting, all) == (4, 7),
            "{mmio:?}: {waiting} and then {all}"
        );
    }
    Ok(())
}

/// If TDH moves with write-backs only, the card keeps TDH back as long as it keeps descriptors back.
fn a_stop_flushes_before_it_waits_for_tdh(implementation: Implementation) -> Result<()> {
    for mmio in [MmioMode::Shared, MmioMode::Trap] {
        for frames in 1..=5 {
            let mut lockstep = Lockstep::open(implementation, 32, |config| {
                config.with_mmio(mmio).with_each_port(|port| {
                    port.capture = true;
                    port.hardware.head_with_write_back = true;
                })
            })?;
            for n in 0..frames {
                lockstep.port(0).inject(&[n; 60])?;
            }
            lockstep.run_until_idle()?;
            lockstep
                .close()
                .with_context(|| format!("{mmio:?}, {frames} frames"))?;
            lockstep
                .sessions()?
                .iter()
                .try_for_each(expect::left_at_rest)?;
        }
    }
    Ok(())
}

/// The driver has cleared the bits that let write-backs overtake each other, and descriptors overtake
/// their packets. Full rings make it reuse descriptors at once.
fn relaxed_ordering_changes_nothing(implementation: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(implementation, 512, saturated)?;
    for cycle in 0..64 {
        let mut faults = Faults::default();
        faults.relaxed_ordering = true;
        faults.stall_tx = cycle % 2 == 0;
        for port in [0, 1] {
            lockstep.port(port).set_faults(faults);
        }
        for _ in 0..3 {
            lockstep.poll();
            lockstep.turn()?;
        }
    }
    lockstep.poll();
    let counts = lockstep.counts()?;
    lockstep.close()?;
    lockstep
        .sessions()?
        .iter()
        .try_for_each(expect::left_at_rest)?;
    let ports = [0, 1].map(|port| lockstep.port(port).clone());
    let totals = Totals {
        rx: counts.rx,
        tx: counts.tx,
        dropped: counts.dropped,
        ..Totals::default()
    };
    expect::nothing_lost(&ports, &totals)
}

/// Checks that a forwarder refuses a card, and names the reason.
fn refuses(implementation: Implementation, card: &DeviceId, reason: &str) -> Result<()> {
    let nic = TestNic::still(|config| {
        config.with_each_port(|port| port.faults.foreign_device_id = Some(card.id))
    })?;
    let [device_a, device_b] = nic.devices();
    let output = Program::forwarder(implementation)?
        .args([&device_a, &device_b])
        .run(LIMIT)?;
    let id = format!("8086:{:04x}", card.id);
    output
        .expect_exit(1)?
        .expect_stderr([&device_a, &id, card.name, reason])?;
    wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;
    let session = nic.ports()[0]
        .last_session()
        .context("there was no driver")?;
    ensure!(session.resets == 0, "{session:#?}");
    expect::well_behaved(&session)
}

/// The 82599s for backplanes, CX4, XAUI and 10GBASE-T, and all X552 and X553, need a set-up of their
/// own.
fn cards_that_the_driver_cannot_set_up_are_refused(implementation: Implementation) -> Result<()> {
    let refused: Vec<_> = DEVICE_IDS
        .iter()
        .filter_map(|card| Some((card, card.refused?)))
        .collect();
    for id in [
        0x10f7, 0x10f8, 0x10f9, 0x10fc, 0x1514, 0x1517, 0x151c, 0x15ac, 0x15c8,
    ] {
        ensure!(
            refused.iter().any(|(card, _)| card.id == id),
            "the driver takes {id:04x}"
        );
    }
    for (card, reason) in refused {
        refuses(implementation, card, reason)?;
    }
    Ok(())
}
