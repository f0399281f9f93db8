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
use nic::{Faults, MmioMode, NicConfig};

/// Packets that a receive ring holds.
const RING: u32 = 512;
/// Further packets in a small pool.
const SPARE: u32 = 88;
/// Of those, the packets that return after transmission: the driver reclaims 32 at a time.
const RECLAIMED: u32 = SPARE / 32 * 32;
/// How often a test empties a pool.
const CYCLES: u32 = 500;

fn saturated(config: NicConfig) -> NicConfig {
    conformance::saturated(config.with_mmio(MmioMode::Trap)).with_each_port(|port| {
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

fn an_empty_pool_of_a_forwarder(driver: Implementation) -> Result<()> {
    let mut lockstep = Lockstep::open(driver, 32, saturated)?;
    let mut memory = ForwarderMemory::of(&mut lockstep)?;
    let capacity = memory.pool().capacity;
    ensure!(memory.packets() == capacity, "the pool is not complete");
    for cycle in 1..=CYCLES {
        let dropped = lockstep.counts()?.dropped;
        let other_way = lockstep.port(0).stats().transmitted;
        let hidden = memory.hide(SPARE);
        // The received packets stay in the transmit ring and do not return to the pool.
        lockstep.port(1).set_faults(tx_stalled(true));
        lockstep.run(20)?;
        let (free, empty) = (memory.pool().free_count, memory.pool_empty());
        let waiting = lockstep.port(1).snapshot().tx_pending;
        lockstep.run(1)?;
        let waiting_later = lockstep.port(1).snapshot().tx_pending;
        // This comes before the checks: the forwarder can be closed only if its pools are complete.
        memory.show(hidden);
        // The other direction has its own pool.
        let other_way = lockstep.port(0).stats().transmitted - other_way;

        lockstep.port(1).set_faults(tx_stalled(false));
        let sent = lockstep.port(1).stats().transmitted + u64::from(waiting);
        lockstep.run(1)?;
        lockstep.poll();
        let later = lockstep.port(1).stats().transmitted;
        for (holds, what) in [
            (free == 0 && empty > 0, "the pool was never empty"),
            (waiting >= SPARE, "too few packets were received"),
            (waiting_later == waiting, "received with an empty pool"),
            (memory.packets() == capacity, "packets are missing"),
            (other_way >= 20 * 32, "the other direction stopped"),
            (later == sent + 32, "reception did not resume"),
            (
                lockstep.counts()?.dropped == dropped,
                "packets were dropped",
            ),
        ] {
            ensure!(
                holds,
                "cycle {cycle}: {what}: {free} free, {waiting} wait, {later} sent"
            );
        }
    }
    lockstep.close_at_rest()?;
    for port in lockstep.ports() {
        let verify = port.stats().verify;
        let wrong = verify.missing + verify.altered + verify.duplicated;
        ensure!(wrong == 0, "port {}: {verify:?}", port.index());
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
        let received = held.len() as u64;
        let expected = if cycle == 0 { SPARE } else { RECLAIMED };
        let exactly = |verb: &str, seen: u64, what: &str, expected: u32| {
            expect::exactly(verb, seen, what, expected.into())
                .with_context(|| format!("cycle {cycle}"))
        };
        exactly("received", received, "packets", expected)?;
        exactly("the pool has", pool.free_count() as u64, "free packets", 0)?;
        for _ in 0..10 {
            data_plane.poll();
            let more = device.rx_batch(0, &mut held, 32)? as u64;
            exactly("received", more, "packets with an empty pool", 0)?;
        }
        let sent = device.tx_batch(0, &mut held)? as u64;
        exactly("sent", sent, "packets", expected)?;
        data_plane.poll();
        // Sends nothing and reclaims the sent packets.
        device.tx_batch(0, &mut held)?;
        exactly("got back", pool.free_count() as u64, "packets", RECLAIMED)?;
    }
    device.stop()?;
    drop((device, held));
    ensure!(pool.free_count() == pool.capacity(), "packets are lost");
    drop((pool, open, container));
    let session = TestNic::session(&nic.ports()[0])?;
    let verify = nic.ports()[0].stats().verify;
    let sent = u64::from(SPARE + (CYCLES - 1) * RECLAIMED);
    ensure!(
        (verify.ok, verify.missing) == (sent, 0),
        "{verify:?}, not {sent}"
    );
    expect::left_at_rest(&session)
}
