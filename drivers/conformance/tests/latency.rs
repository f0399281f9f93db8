//! The latency of a forwarder that the NIC measures. These tests do not check the latency itself,
//! which needs a quiet machine, but that the NIC accounts for every frame.

use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{at_rate, for_each_implementation, Implementation, TestNic};
use nic::{Latency, MeasureLatency, Port};

for_each_implementation!(every_frame_at_a_fixed_rate_is_timed_or_accounted_for);

/// Rate of both ports together.
const MPPS: f64 = 0.5;
/// The NIC does not time frames of this first period, which wait until the driver starts.
const AFTER: Duration = Duration::from_millis(100);

fn every_frame_at_a_fixed_rate_is_timed_or_accounted_for(driver: Implementation) -> Result<()> {
    let mut nic = TestNic::running(|config| {
        at_rate(MPPS / 2.0)(config).with_latency(MeasureLatency { after: AFTER })
    })?;
    let totals = nic.forward(driver, &["--duration", "0.6"])?;

    for port in nic.ports() {
        let (own, peer) = (port.stats(), nic.ports()[port.index() ^ 1].stats());
        let Some(latency) = port.latency() else {
            anyhow::bail!("port {}: no latency was measured", port.index())
        };
        let about = format!(
            "port {}: {} {own:?} {peer:?} {totals:?}",
            port.index(),
            serde_json::to_string(&latency)?
        );
        let timed = latency.times.count();
        ensure!(timed > 0 && timed < peer.verify.ok, "{about}");
        ensure!(latency.untimed == 0, "{about}");
        // A frame that was neither timed nor lost was in the driver when it ended.
        let gone = latency.offered.checked_sub(timed + latency.lost);
        let ended = peer.verify.abandoned + peer.outstanding;
        ensure!(gone.is_some_and(|gone| gone <= ended), "{about}");
        let losses = own.dropped_no_descriptor + own.dropped_no_buffer + peer.verify.missing;
        ensure!(latency.lost <= losses, "{about}");

        let [min, median, high, max] = [
            latency.times.min(),
            latency.times.percentile(50.0),
            latency.times.percentile(99.0),
            latency.times.max(),
        ];
        ensure!(min > Some(Duration::ZERO), "{about}");
        ensure!(min <= median && median <= high && high <= max, "{about}");
        // This check would fail if the NIC exceeded the rate.
        let offered = latency.offered as f64 / (MPPS / 2.0 * 1e6);
        ensure!(offered < 0.6 + 0.5, "{about}");
    }
    let merged = Latency::merged(nic.ports().iter().filter_map(Port::latency));
    let counts = |port: &Port| port.latency().map_or(0, |latency| latency.times.count());
    ensure!(
        merged.map(|latency| latency.times.count()) == Some(nic.ports().iter().map(counts).sum()),
        "merged"
    );
    Ok(())
}
