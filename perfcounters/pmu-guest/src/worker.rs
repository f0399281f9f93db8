//! The worker's windows, with a stand-in for a forwarder that executes known instructions.

use std::time::Duration;

use anyhow::{ensure, Result};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::worker::{self, ForwarderCounts, Forwarding, Plan};
use perfcounters::Interrupt;

use crate::environment::{Environment, INST_RETIRED, LOOP, LOOP_INSTRUCTIONS};

const WINDOW: Duration = Duration::from_millis(40);
/// Packets of a turn: a batch from each device.
const PACKETS: u64 = 64;
/// Iterations of the loop for each packet.
const ITERATIONS: u64 = 200;

/// Executes the loop instead of forwarding.
#[derive(Default)]
struct StandIn {
    turns: u64,
}

impl Forwarding for StandIn {
    fn turn(&mut self) -> u32 {
        LOOP.run(PACKETS * ITERATIONS);
        self.turns += 1;
        PACKETS as u32
    }

    fn counts(&self) -> ForwarderCounts {
        ForwarderCounts {
            rx: self.turns * PACKETS,
            tx: self.turns * PACKETS,
            dropped: 0,
            rx_calls: 2 * self.turns,
            full_batches: 2 * self.turns,
        }
    }
}

/// Eight events are two passes. Each has packets of its own, and both give the loop's instructions for
/// a packet. The turns themselves add less than 1 %.
pub fn per_packet(environment: &Environment) -> Result<()> {
    let plan = Plan {
        events: environment.events(INST_RETIRED, 8),
        warm_up: Duration::ZERO,
        window: WINDOW,
    };
    let counted = worker::count(&mut StandIn::default(), &plan, &Kernel, &Interrupt::new())?;
    let complete = counted.absent.is_empty() && counted.passes.len() == 2;
    ensure!(complete, "{counted:?}");
    let loops = (LOOP_INSTRUCTIONS * ITERATIONS) as f64;
    for pass in &counted.passes {
        let window = pass.window;
        ensure!(window.packets > 0);
        ensure!(window.full_batches == window.rx_calls);
        ensure!(window.seconds >= WINDOW.as_secs_f64(), "{window:?}");
        let mhz = window.tsc_cycles as f64 / window.seconds / 1e6;
        let ratio = mhz / environment.machine.timer_mhz;
        ensure!((0.99..1.01).contains(&ratio), "{mhz} MHz: {window:?}");
        for value in &pass.values {
            let each = value.count / window.packets as f64;
            ensure!(!value.scaled, "{value:?}");
            ensure!((loops..1.01 * loops).contains(&each), "{each} a packet");
        }
    }
    Ok(())
}

/// The packets of the warm-up are in no window.
pub fn warm_up(environment: &Environment) -> Result<()> {
    // The worker reads the clock every 64 turns, which take 131 or 524 ms here.
    let window = 5 * WINDOW;
    let plan = Plan {
        events: environment.events(INST_RETIRED, 1),
        warm_up: 3 * window,
        window,
    };
    let mut forwarder = StandIn::default();
    let counted = worker::count(&mut forwarder, &plan, &Kernel, &Interrupt::new())?;
    let [pass] = &counted.passes[..] else {
        anyhow::bail!("{counted:?}");
    };
    let all = forwarder.counts().rx;
    ensure!(all > 2 * pass.window.packets);
    let expected = (pass.window.packets * LOOP_INSTRUCTIONS * ITERATIONS) as f64;
    let ratio = pass.values[0].count / expected;
    ensure!((1.0..1.01).contains(&ratio), "{ratio}");
    Ok(())
}
