//! An empty pool stops reception without a loss, and reception resumes when packets return.
//!
//! A forwarder's pools are so large that they never run empty. So these tests take most of a pool
//! away. They change the memory of the C forwarder and of the transpiled forwarder, which have the
//! same structures. Safe Rust gives no access to its memory, so its device gets a small pool.

use anyhow::{ensure, Context, Result};
use conformance::{expect, Implementation, Lockstep, TestNic};
use ixgbe::driver::device::{Config, OpenDevice};
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;
use ixgbe_unsafe::gen::rooms::forwarder::{forwarder, mempool};
use nic::{Faults, MmioMode, NicConfig, Traffic};

/// Packets that a receive ring holds.
const RING: u32 = 512;
/// Further packets in a small pool.
const SPARE: u32 = 88;
/// Of those, the packets that return after transmission: the driver reclaims 32 at a time.
const RECLAIMED: u32 = SPARE / 32 * 32;
/// How often a test empties a pool.
const CYCLES: u32 = 500;

fn saturated(config: NicConfig) -> NicConfig {
    config.with_mmio(MmioMode::Trap).with_each_port(|port| {
        port.traffic = Traffic::Saturate;
        // The packets that return in a round are counted, so the write-backs must come in that round.
        port.hardware.late_write_backs = false;
    })
}

/// Faults of a device that sends nothing if `on`, and of a correct device otherwise.
fn tx_stalled(on: bool) -> Faults {
    let mut faults = Faults::default();
    faults.stall_tx = on;
    faults
}

mod c {
    #[test]
    fn an_empty_pool_loses_nothing() -> anyhow::Result<()> {
        super::an_empty_pool_of_a_forwarder(conformance::Implementation::C)
    }
}

mod rust {
    #[test]
    fn an_empty_pool_loses_nothing() -> anyhow::Result<()> {
        super::an_empty_pool_of_a_device()
    }
}

mod rust_unsafe {
    #[test]
    fn an_empty_pool_loses_nothing() -> anyhow::Result<()> {
        super::an_empty_pool_of_a_forwarder(conformance::Implementation::RustUnsafe)
    }
}

/// The memory of a forwarder with C's layout.
struct ForwarderMemory(*mut forwarder);

impl ForwarderMemory {
    fn of(lockstep: &mut Lockstep) -> Result<Self> {
        Ok(Self(lockstep.forwarder()?.as_ptr().cast()))
    }

    /// The pool that feeds the first device.
    fn pool(&mut self) -> &mut mempool {
        // SAFETY: the forwarder is open as long as its `Lockstep`, and does nothing between two
        // turns. `make test ONLY=transpile-up-to-date` proves that C and transpiled C have the same structure.
        unsafe { &mut (*self.0).pools[0][0] }
    }

    /// Hides all free packets of the pool except the `left` packets on top of the stack. Returns how
    /// many it hides.
    fn hide(&mut self, left: u32) -> u32 {
        let pool = self.pool();
        let hidden = pool.free_count - left;
        // SAFETY: the stack has at least `free_count` entries, so the pointer stays inside.
        pool.free = unsafe { pool.free.add(hidden as usize) };
        pool.free_count = left;
        hidden
    }

    /// Shows the packets that [`ForwarderMemory::hide`] hid.
    fn show(&mut self, hidden: u32) {
        let pool = self.pool();
        // SAFETY: this reverses `hide`.
        pool.free = unsafe { pool.free.sub(hidden as usize) };
        pool.free_count += hidden;
    }

    /// All packets of the first device's pool: free, in its receive ring, or in the other device's
    /// transmit ring.
    fn packets(&mut self) -> u32 {
        // SAFETY: as in `pool`.
        let (rx, tx) = unsafe { (&(*self.0).devices[0].rx[0], &(*self.0).devices[1].tx[0]) };
        let receiving = rx.mask + 1;
        let sending = tx.index.wrapping_sub(tx.clean_index) & tx.mask;
        self.pool().free_count + receiving + sending
    }

    /// Receive calls that found the pool empty.
    fn pool_empty(&self) -> u64 {
        // SAFETY: as in `pool`.
        unsafe { (*self.0).devices[0].rx[0].pool_empty }
    }
}

fn an_empty_pool_of_a_forwarder(implementation: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(implementation, 32, saturated)?;
    let mut memory = ForwarderMemory::of(&mut lockstep)?;
    let capacity = memory.pool().capacity;
    ensure!(
        memory.packets() == capacity,
        "{} packets in a pool of {capacity}",
        memory.packets()
    );
    for cycle in 1..=CYCLES {
        let before = lockstep.counts()?;
        let other_way = lockstep.port(0).stats().transmitted;
        let hidden = memory.hide(SPARE);
        // The received packets stay in the transmit ring and do not return to the pool.
        lockstep.port(1).set_faults(tx_stalled(true));
        for _ in 0..20 {
            lockstep.poll();
            lockstep.turn()?;
        }
        let (free, empty) = (memory.pool().free_count, memory.pool_empty());
        let waiting = lockstep.port(1).snapshot().tx_pending;
        lockstep.poll();
        lockstep.turn()?;
        let waiting_later = lockstep.port(1).snapshot().tx_pending;
        // This comes before the checks: the forwarder can be closed only if its pools are complete.
        memory.show(hidden);
        ensure!(
            free == 0 && empty > 0,
            "cycle {cycle}: {free} packets are free, {empty} calls found the pool empty"
        );
        ensure!(
            waiting >= SPARE,
            "cycle {cycle}: only {waiting} packets were received"
        );
        ensure!(
            waiting_later == waiting,
            "cycle {cycle}: the driver received packets with an empty pool"
        );
        ensure!(
            memory.packets() == capacity,
            "cycle {cycle}: only {} packets remain",
            memory.packets()
        );
        // The other direction has its own pool.
        ensure!(
            lockstep.port(0).stats().transmitted >= other_way + 20 * 32,
            "cycle {cycle}: the other direction stopped, although its pool is not empty"
        );

        lockstep.port(1).set_faults(tx_stalled(false));
        let sent = lockstep.port(1).stats().transmitted + u64::from(waiting);
        lockstep.poll();
        lockstep.turn()?;
        lockstep.poll();
        let later = lockstep.port(1).stats().transmitted;
        ensure!(
            later == sent + 32,
            "cycle {cycle}: reception did not resume"
        );
        let after = lockstep.counts()?;
        ensure!(
            after.dropped == before.dropped,
            "cycle {cycle}: dropped {} packets, expected 0",
            after.dropped - before.dropped
        );
    }
    lockstep.close()?;
    lockstep
        .sessions()?
        .iter()
        .try_for_each(expect::left_at_rest)?;
    for port in [0, 1] {
        let verify = lockstep.port(port).stats().verify;
        let [missing, altered, twice] = [verify.missing, verify.altered, verify.duplicated];
        ensure!(
            missing + altered + twice == 0,
            "port {port} received wrong packets: {missing} missing, {altered} altered, {twice} twice"
        );
    }
    Ok(())
}

fn an_empty_pool_of_a_device() -> Result<()> {
    let nic = TestNic::still(|mut config| {
        // The port receives its own packets again, unchanged.
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
            "cycle {cycle}: received {received} packets, expected {expected}"
        );
        ensure!(
            pool.free_count() == 0,
            "cycle {cycle}: {} packets are free, expected 0",
            pool.free_count()
        );
        for _ in 0..10 {
            data_plane.poll();
            let more = device.rx_batch(0, &mut held, 32)?;
            ensure!(
                more == 0,
                "cycle {cycle}: {more} packets received with an empty pool"
            );
        }
        let sent = device.tx_batch(0, &mut held)?;
        ensure!(
            sent as u32 == received && held.is_empty(),
            "cycle {cycle}: sent {sent} packets, expected {received}"
        );
        data_plane.poll();
        // Sends nothing and reclaims the sent packets.
        device.tx_batch(0, &mut held)?;
        let free = pool.free_count() as u32;
        ensure!(
            free == RECLAIMED,
            "cycle {cycle}: {free} packets returned to the pool, expected {RECLAIMED}"
        );
    }
    device.stop()?;
    drop((device, held));
    let free = pool.free_count();
    ensure!(
        free == pool.capacity(),
        "{free} of {} packets are free at the end",
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
        "{} of {sent} packets came back, and {} are missing",
        verify.ok,
        verify.missing
    );
    let session = nic.ports()[0].last_session();
    expect::left_at_rest(&session.context("port 0 had no driver")?)?;
    Ok(())
}
