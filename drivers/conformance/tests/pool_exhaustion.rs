//! A pool that runs dry: reception stops, nothing breaks, nothing is lost, and when packets come
//! back it goes on.
//!
//! A forwarder's pools are large enough that this never happens to it. So here most of a pool is
//! taken away: from the C forwarder and the transpiled one, whose structures are the same, through
//! their memory; safe Rust does not let anybody at its memory, there a device gets a small pool.

use anyhow::{ensure, Result};
use conformance::{expect, Implementation, Lockstep, TestNic};
use ixgbe::device::{Config, OpenDevice};
use ixgbe::mempool::Mempool;
use ixgbe::vfio::Container;
use ixgbe_unsafe::gen::forwarder::{forwarder, mempool};
use nic::{Faults, MmioMode, NicConfig, Traffic};

/// Packets that a receive ring holds.
const RING: u32 = 512;
/// Packets in a pool besides, while it is small.
const SPARE: u32 = 88;
/// Of those, the packets that come back when they are sent: they are taken back 32 at a time.
const RECLAIMED: u32 = SPARE / 32 * 32;
/// How often a pool is run dry.
const CYCLES: u32 = 500;

fn saturated(config: NicConfig) -> NicConfig {
    config
        .with_mmio(MmioMode::Trap)
        .with_each_port(|port| port.traffic = Traffic::Saturate)
}

/// Whether the device sends nothing, and no other fault.
fn tx_stalled(on: bool) -> Faults {
    let mut faults = Faults::default();
    faults.stall_tx = on;
    faults
}

mod c {
    #[test]
    fn a_dry_pool_loses_nothing() -> anyhow::Result<()> {
        super::a_dry_pool_of_a_forwarder(conformance::Implementation::C)
    }
}

mod rust {
    #[test]
    fn a_dry_pool_loses_nothing() -> anyhow::Result<()> {
        super::a_dry_pool_of_a_device()
    }
}

mod rust_unsafe {
    #[test]
    fn a_dry_pool_loses_nothing() -> anyhow::Result<()> {
        super::a_dry_pool_of_a_forwarder(conformance::Implementation::RustUnsafe)
    }
}

/// The memory of a forwarder that is laid out as in C.
struct Inside(*mut forwarder);

impl Inside {
    fn of(lockstep: &mut Lockstep) -> Result<Self> {
        Ok(Self(lockstep.forwarder()?.as_ptr().cast()))
    }

    /// The pool that feeds the first device.
    fn pool(&mut self) -> &mut mempool {
        // SAFETY: the forwarder is open as long as its `Lockstep` is, and does nothing between two
        // turns. Its structure is that of the transpiled C, which `make transpile-check` keeps the
        // same as that of the C.
        unsafe { &mut (*self.0).pools[0] }
    }

    /// Hides all free packets of the pool but `left`, the ones on top of the stack. Returns how
    /// many.
    fn hide(&mut self, left: u32) -> u32 {
        let pool = self.pool();
        let hidden = pool.free_count - left;
        // SAFETY: the stack has `free_count` entries at least, so this stays within it.
        pool.free = unsafe { pool.free.add(hidden as usize) };
        pool.free_count = left;
        hidden
    }

    /// Shows what [`Inside::hide`] has hidden.
    fn show(&mut self, hidden: u32) {
        let pool = self.pool();
        // SAFETY: undoes what `hide` has done.
        pool.free = unsafe { pool.free.sub(hidden as usize) };
        pool.free_count += hidden;
    }

    /// Packets of the first device that are free, in its receive ring, or in the other's transmit
    /// ring: all there are.
    fn packets(&mut self) -> u32 {
        // SAFETY: as in `pool`.
        let (rx, tx) = unsafe { (&(*self.0).devices[0].rx[0], &(*self.0).devices[1].tx[0]) };
        let receiving = rx.mask + 1;
        let sending = tx.index.wrapping_sub(tx.clean_index) & tx.mask;
        self.pool().free_count + receiving + sending
    }

    /// Calls that found the pool empty.
    fn pool_empty(&self) -> u64 {
        // SAFETY: as in `pool`.
        unsafe { (*self.0).devices[0].rx[0].pool_empty }
    }
}

fn a_dry_pool_of_a_forwarder(implementation: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(implementation, 32, saturated)?;
    let mut inside = Inside::of(&mut lockstep)?;
    let capacity = inside.pool().capacity;
    ensure!(
        inside.packets() == capacity,
        "{} of {capacity} packets",
        inside.packets()
    );
    for cycle in 1..=CYCLES {
        let before = lockstep.counts()?;
        let other_way = lockstep.port(0).stats().transmitted;
        let hidden = inside.hide(SPARE);
        // What is received stays in the transmit ring, so that it does not come back.
        lockstep.port(1).set_faults(tx_stalled(true));
        for _ in 0..20 {
            lockstep.poll();
            lockstep.turn()?;
        }
        let (free, empty) = (inside.pool().free_count, inside.pool_empty());
        let waiting = lockstep.port(1).snapshot().tx_pending;
        lockstep.poll();
        lockstep.turn()?;
        let waiting_later = lockstep.port(1).snapshot().tx_pending;
        // Before anything that may fail: a forwarder can only be closed when its pools are whole.
        inside.show(hidden);
        ensure!(
            free == 0 && empty > 0,
            "cycle {cycle}: {free} packets are left, {empty} calls"
        );
        ensure!(
            waiting >= SPARE,
            "cycle {cycle}: only {waiting} packets were received"
        );
        ensure!(
            waiting_later == waiting,
            "cycle {cycle}: packets out of an empty pool"
        );
        ensure!(
            inside.packets() == capacity,
            "cycle {cycle}: {} left",
            inside.packets()
        );
        // The other direction has its own pool.
        ensure!(
            lockstep.port(0).stats().transmitted >= other_way + 20 * 32,
            "cycle {cycle}"
        );

        lockstep.port(1).set_faults(tx_stalled(false));
        let sent = lockstep.port(1).stats().transmitted + u64::from(waiting);
        lockstep.poll();
        lockstep.turn()?;
        lockstep.poll();
        let going_on = lockstep.port(1).stats().transmitted;
        ensure!(
            going_on == sent + 32,
            "cycle {cycle}: reception has not resumed"
        );
        let after = lockstep.counts()?;
        ensure!(after.dropped == before.dropped, "cycle {cycle}: {after:?}");
    }
    lockstep.close()?;
    lockstep
        .sessions()?
        .iter()
        .try_for_each(expect::left_at_rest)?;
    for port in [0, 1] {
        let stats = lockstep.port(port).stats();
        ensure!(stats.verify.missing == 0, "{stats:#?}");
        ensure!(
            stats.verify.altered + stats.verify.duplicated == 0,
            "{stats:#?}"
        );
    }
    Ok(())
}

fn a_dry_pool_of_a_device() -> Result<()> {
    let nic = TestNic::still(|mut config| {
        // It sends what it has received, unchanged.
        config.ports[0].peer = Some(0);
        saturated(config).with_each_port(|port| port.expected = nic::Expected::Unchanged)
    })?;
    let mut data_plane = nic.nic().data_plane()?;
    let container = Container::new();
    let open = OpenDevice::open(&container, &nic.devices()[0])?;
    let pool = Mempool::create(&container, RING + SPARE)?;
    let mut device = open.start(&Config::default(), &pool)?;
    let mut held = Vec::new();
    for cycle in 0..CYCLES {
        data_plane.poll();
        while device.rx_batch(0, &mut held, 32)? > 0 {
            data_plane.poll();
        }
        let received = held.len() as u32;
        let expected = if cycle == 0 { SPARE } else { RECLAIMED };
        ensure!(
            received == expected,
            "cycle {cycle}: {received} packets, not {expected}"
        );
        ensure!(
            pool.free_count() == 0,
            "cycle {cycle}: {} are free",
            pool.free_count()
        );
        for _ in 0..10 {
            data_plane.poll();
            let more = device.rx_batch(0, &mut held, 32)?;
            ensure!(
                more == 0,
                "cycle {cycle}: {more} packets out of an empty pool"
            );
        }
        let sent = device.tx_batch(0, &mut held)?;
        ensure!(
            sent as u32 == received && held.is_empty(),
            "cycle {cycle}: {sent} sent"
        );
        data_plane.poll();
        // Sends nothing, and takes back what was sent.
        device.tx_batch(0, &mut held)?;
        let free = pool.free_count() as u32;
        ensure!(free == RECLAIMED, "cycle {cycle}: {free} packets came back");
    }
    device.stop()?;
    drop((device, held));
    let free = pool.free_count();
    ensure!(
        free == pool.capacity(),
        "{free} of {} packets in the end",
        pool.capacity()
    );
    drop(pool);
    drop(open);
    drop(container);
    conformance::wait_until("the driver to disconnect", || !nic.ports()[0].connected())?;
    let verify = nic.ports()[0].stats().verify;
    let sent = u64::from(SPARE + (CYCLES - 1) * RECLAIMED);
    ensure!(
        verify.ok == sent && verify.missing == 0,
        "{sent} sent: {verify:#?}"
    );
    let session = nic.ports()[0].last_session();
    ensure!(session.is_some_and(|session| expect::left_at_rest(&session).is_ok()));
    Ok(())
}
