//! The tests. Each runs a driver in turns with the software card, with rings, batches and frames of random size.
//!
//! An error names the step: what was expected on the ring, and what was seen. It never says what to write.

use std::fmt::Display;
use std::mem::ManuallyDrop;

use anyhow::{bail, ensure, Context, Result};
use conformance::{capturing, expect, setup, Lockstep};
use fastrand::Rng;
use nic::registers as r;
use nic::{Faults, Port, ReceiveFault, RingView};

use crate::course::Language;

/// The byte that the forwarder changes.
const TOUCHED: usize = 1;
/// The driver takes so many sent packets back at a time.
const CLEAN: u32 = 32;
/// Free buffers beside a receive ring of 128, in the tests of an empty pool.
const SPARE: u32 = 64;
/// Lengths that no packet can have: one has at most 1984 bytes.
const BEYOND: [u16; 4] = [1985, 2048, 4000, u16::MAX];

/// A test: its name, the free buffers of a pool beside a receive ring, and what it does.
pub type Case = (&'static str, u32, fn(&mut Bench) -> Result<()>);

/// All tests. With few free buffers, a driver that loses some runs out of them soon.
#[rustfmt::skip] // a test a line
pub const CASES: [Case; 22] = [
    ("one-frame", 2048, one_frame),
    ("empty-ring", 2048, empty_ring),
    ("batches", 2048, batches),
    ("laps", 2048, laps),
    ("refilled", 2048, refilled),
    ("rdt", 2048, rdt),
    ("one-owner", 2048, one_owner),
    ("tx-descriptor", 2048, tx_descriptor),
    ("tx-command", 2048, tx_command),
    ("tdt", 2048, tdt),
    ("full-ring", 2048, full_ring),
    ("clean-in-32", 2048, clean_in_32),
    ("clean-done-only", 2048, clean_done_only),
    ("pool-complete", 300, pool_complete),
    ("pool-empty", SPARE, pool_empty),
    ("pool-again", SPARE, pool_again),
    ("length-beyond", 600, |bench| refuse(bench, &BEYOND)),
    ("length-zero", 600, |bench| refuse(bench, &[0])),
    ("length-counted", 600, length_counted),
    ("length-between", 600, length_between),
    ("length-leak", 600, |bench| refuse(bench, &[BEYOND[1]; 30])),
    ("all", 600, all),
];

/// The test of that name.
pub fn find(name: &str) -> Result<&'static Case> {
    let found = CASES.iter().find(|case| case.0 == name);
    found.with_context(|| format!("no test {name}"))
}

/// Runs a test with the driver in `TRIPTYCH_BUILD`. The error is the step at which the driver failed.
pub fn run((name, _, test): &Case, language: Language, seed: u64) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    let ring = 64 << rng.u32(0..3);
    let batch = rng.u32(1..=ring / 4);
    // A driver that has failed may not stop, so it is never dropped.
    let mut bench = ManuallyDrop::new(Bench::open(language, rng, ring, batch)?);
    test(&mut bench)?;
    match *name {
        // It looks at the receive ring alone: a student may not have written the rest.
        "rdt" => Ok(()),
        _ => bench.end(),
    }
}

/// An error unless a number is as expected.
fn same<T: PartialEq + Display>(what: impl Display, seen: T, expected: T) -> Result<()> {
    ensure!(
        seen == expected,
        "{what} should be {expected}, and is {seen}"
    );
    Ok(())
}

/// A driver on the card. Frames that arrive at port 0 leave at port 1, and the other way.
pub struct Bench {
    language: Language,
    lockstep: Lockstep,
    rng: Rng,
    ring: u32,
    batch: u32,
    /// Frames that a port should send, and has not.
    expected: [Vec<Vec<u8>>; 2],
}

impl Bench {
    fn open(language: Language, rng: Rng, ring: u32, batch: u32) -> Result<Self> {
        let (implementation, setup) = (language.implementation(), setup(batch, ring));
        let start = || Lockstep::open_with(implementation, setup, capturing);
        Ok(Self {
            language,
            // Twice, because on a busy machine the card may answer too late. The start is not the student's.
            lockstep: start().or_else(|_| start())?,
            rng,
            ring,
            batch,
            expected: [Vec::new(), Vec::new()],
        })
    }

    /// Goes on with a fresh driver.
    fn reopen(&mut self, ring: u32, batch: u32) -> Result<()> {
        Self::open(self.language, self.rng.clone(), ring, batch).map(|fresh| *self = fresh)
    }

    fn port(&self, port: usize) -> &Port {
        self.lockstep.port(port)
    }

    /// A random number from 1 to `most`.
    fn some(&mut self, most: u32) -> u32 {
        self.rng.u32(1..=most)
    }

    /// `count` frames arrive at a port, of random bytes and one random size, and the card stores them.
    fn arrive(&mut self, port: usize, count: u32) -> Result<()> {
        let size = self.rng.usize(60..=1514);
        for _ in 0..count {
            let mut frame: Vec<u8> = (0..size).map(|_| self.rng.u8(..)).collect();
            self.port(port).inject(&frame)?;
            frame[TOUCHED] = frame[TOUCHED].wrapping_add(1);
            self.expected[1 - port].push(frame);
        }
        self.lockstep.poll();
        Ok(())
    }

    /// Turns of the driver until it has received `count` packets.
    fn take(&mut self, count: u32) -> Result<()> {
        let (ring, batch) = (self.ring, self.batch);
        let mut taken = 0;
        while taken < count {
            let more = self.lockstep.turn()?;
            ensure!(
                more > 0,
                "{count} frames are in a receive ring of {ring}; rx_batch, at most {batch} a call, returned \
                 {taken} of them, then none"
            );
            taken += more;
        }
        same("what rx_batch returned in all", taken, count)
    }

    /// Frames arrive, and the driver receives them.
    fn bring(&mut self, port: usize, count: u32) -> Result<()> {
        self.arrive(port, count)?;
        self.take(count)
    }

    fn receive_ring(&self) -> RingView {
        self.port(0).rings().receive
    }

    fn transmit_ring(&self) -> RingView {
        self.port(1).rings().transmit
    }

    /// Packets that the card is to send from port 1.
    fn pending(&self) -> u32 {
        self.port(1).snapshot().tx_pending
    }

    fn expect_dropped(&mut self, expected: u32) -> Result<()> {
        let dropped = self.lockstep.counts()?.dropped;
        same("the number of dropped packets", dropped, expected.into())
    }

    /// The card sends, and writes back, perhaps a round later.
    fn send(&mut self) {
        self.lockstep.poll();
        self.lockstep.poll();
    }

    /// Lets the card send nothing from port 1, or send again.
    fn stall(&mut self, on: bool) {
        let mut faults = Faults::default();
        faults.stall_tx = on;
        self.port(1).set_faults(faults);
        if !on {
            self.send();
        }
    }

    /// The card sends. Checks that both ports have sent what they should: all, in order, unaltered.
    fn expect_sent(&mut self) -> Result<()> {
        self.send();
        for port in [0, 1] {
            let sent = self.port(port).take_transmitted();
            let expected = std::mem::take(&mut self.expected[port]);
            for (nth, (sent, expected)) in sent.iter().zip(&expected).enumerate() {
                let length = format!("the length of frame {nth} that left port {port}");
                same(length, sent.len(), expected.len())?;
                let differs = sent.iter().zip(expected).position(|(a, b)| a != b);
                if let Some(at) = differs {
                    bail!("frame {nth} left port {port} altered, from byte {at} on: another frame, or another buffer")
                }
            }
            let count = format!("the number of frames that left port {port}");
            same(count, sent.len(), expected.len())?;
        }
        Ok(())
    }

    /// Random numbers of frames, at most `most`, go through until `total` have.
    fn through(&mut self, port: usize, total: u32, most: u32) -> Result<()> {
        let mut left = total;
        while left > 0 {
            let count = self.some(most.min(left));
            self.bring(port, count)?;
            self.expect_sent()?;
            left -= count;
        }
        Ok(())
    }

    /// The driver stops. Checks that the card saw no mistake: no access outside the driver's memory, and nothing left.
    fn end(&mut self) -> Result<()> {
        self.expect_sent()?;
        // A queue counts as stalled if two looks find it so.
        self.lockstep.device_stats()?;
        self.lockstep.device_stats()?;
        self.lockstep.close()?;
        self.lockstep
            .sessions()?
            .iter()
            .try_for_each(expect::left_at_rest)
    }
}

fn one_frame(bench: &mut Bench) -> Result<()> {
    bench.through(0, 1, 1)
}

/// The driver looks at descriptors that the card has not written.
fn empty_ring(bench: &mut Bench) -> Result<()> {
    for _ in 0..8 {
        let received = bench.lockstep.turn()?;
        same("what rx_batch returned of an empty ring", received, 0)?;
        let count = bench.some(bench.batch);
        bench.through(0, count, count)?;
    }
    Ok(())
}

fn batches(bench: &mut Bench) -> Result<()> {
    for _ in 0..4 {
        let mut left = bench.some(bench.ring - 1);
        bench.arrive(0, left)?;
        while left > 0 {
            let received = bench.lockstep.turn()?;
            let what = format!("with {left} frames in the ring, what rx_batch returned");
            same(what, received, left.min(bench.batch))?;
            bench.send();
            left -= received;
        }
        bench.expect_sent()?;
    }
    Ok(())
}

fn laps(bench: &mut Bench) -> Result<()> {
    let most = bench.ring / 4;
    for _ in 0..3 {
        bench.through(0, 2 * bench.ring, most)?;
        bench.through(1, bench.ring, most)?;
    }
    bench.expect_dropped(0)
}

fn refilled(bench: &mut Bench) -> Result<()> {
    let count = bench.some(bench.batch);
    let before = bench.receive_ring();
    let first = before.tail + 1;
    bench.bring(0, count)?;
    let after = bench.receive_ring().descriptors;
    for nth in (first..first + count).map(|nth| nth % bench.ring) {
        let [lower, upper] = after[nth as usize];
        ensure!(
            upper == 0,
            "the packet of descriptor {nth} was taken, and its second word is {upper:#x}: the card's write-back"
        );
        ensure!(
            before.descriptors.iter().all(|[old, _]| *old != lower),
            "the packet of descriptor {nth} was taken, and its first word is {lower:#x}: a buffer that was in the ring"
        );
    }
    bench.expect_sent()
}

/// A tail follows the driver's index, more than once round the ring.
fn tail(bench: &mut Bench, name: &str, of: fn(&Bench) -> RingView, behind: u32) -> Result<()> {
    let ring = bench.ring;
    let mut index = (of(bench).tail + behind) % ring;
    for _ in 0..16 {
        let count = bench.some(ring / 4);
        bench.bring(0, count)?;
        index = (index + count) % ring;
        let RingView { head, tail, .. } = of(bench);
        let what = format!("the driver goes on at {index} of {ring}, the card at {head}: {name}");
        same(what, tail, (index + ring - behind) % ring)?;
        bench.send();
    }
    Ok(())
}

fn rdt(bench: &mut Bench) -> Result<()> {
    tail(bench, "RDT", Bench::receive_ring, 1)
}

fn tdt(bench: &mut Bench) -> Result<()> {
    tail(bench, "TDT", Bench::transmit_ring, 0)
}

/// The card holds the packets, so no receive descriptor may point to one of their buffers.
fn one_owner(bench: &mut Bench) -> Result<()> {
    bench.stall(true);
    let first = bench.transmit_ring().tail;
    let count = bench.some(bench.ring / 2);
    bench.bring(0, count)?;
    let transmit = bench.transmit_ring();
    let mut owned: Vec<u64> = (first..first + count)
        .map(|nth| transmit.descriptors[(nth % bench.ring) as usize][0])
        .collect();
    for (nth, [buffer, _]) in bench.receive_ring().descriptors.into_iter().enumerate() {
        ensure!(
            !owned.contains(&buffer),
            "receive descriptor {nth} points to {buffer:#x}, as another one or a packet to send does"
        );
        owned.push(buffer);
    }
    bench.stall(false);
    bench.expect_sent()?;
    bench.through(0, 2 * bench.ring, bench.ring / 4)
}

/// Some frames reach the transmit ring of port 1 while the card sends none. Looks at each frame and its descriptor.
fn held(
    bench: &mut Bench,
    look: impl Fn(&Bench, u32, [u64; 2], &[u8]) -> Result<()>,
) -> Result<()> {
    bench.stall(true);
    let first = bench.transmit_ring().tail;
    let count = bench.some(bench.batch);
    bench.bring(0, count)?;
    let descriptors = bench.transmit_ring().descriptors;
    for (nth, frame) in (first..).zip(&bench.expected[1]) {
        let nth = nth % bench.ring;
        look(bench, nth, descriptors[nth as usize], frame)?;
    }
    bench.stall(false);
    bench.expect_sent()
}

fn tx_descriptor(bench: &mut Bench) -> Result<()> {
    held(bench, |bench, nth, [lower, upper], frame| {
        for (name, field) in [("DTALEN", r::TXD_DTALEN), ("PAYLEN", r::TXD_PAYLEN)] {
            let what = format!("{name} of transmit descriptor {nth}");
            same(what, r::field64_get(field, upper), frame.len() as u64)?;
        }
        let mut bytes = vec![0; frame.len()];
        let read = bench.port(1).driver_memory().read(lower, &mut bytes);
        ensure!(
            read && bytes == frame,
            "transmit descriptor {nth} has the address {lower:#x}, where the frame is not"
        );
        Ok(())
    })
}

fn tx_command(bench: &mut Bench) -> Result<()> {
    held(bench, |_, nth, [_, upper], _| {
        for (bits, what) in [
            (r::TXD_DTYP_DATA, "of the type for data"),
            (r::TXD_DEXT, "an advanced descriptor"),
            (r::TXD_EOP, "the end of a packet"),
            (r::TXD_RS, "one whose sending the card reports"),
            (r::TXD_IFCS, "one to which the card appends the CRC"),
        ] {
            ensure!(
                upper & bits == bits && upper & r::TXD_DD == 0,
                "the second word of transmit descriptor {nth} is {upper:#x}: it is not {what}, or has DD already"
            );
        }
        Ok(())
    })
}

/// The card sends nothing, so the ring fills: the driver drops the rest, and counts it.
fn full_ring(bench: &mut Bench) -> Result<()> {
    let (ring, extra) = (bench.ring, bench.some(bench.batch));
    bench.stall(true);
    bench.bring(0, ring - 1)?;
    bench.bring(0, extra)?;
    bench.expected[1].truncate(ring as usize - 1);
    let what = format!("the card sends nothing: what it holds of a full ring of {ring}");
    same(what, bench.pending(), ring - 1)?;
    bench.expect_dropped(extra)?;
    bench.stall(false);
    bench.expect_sent()
}

/// Fills the transmit ring, lets the card send it, and fills it again: so many packets the driver has taken back.
fn clean_in_32(bench: &mut Bench) -> Result<()> {
    let (ring, room) = (bench.ring, bench.ring - 1);
    bench.reopen(ring, ring / 2)?;
    for _ in 0..2 {
        bench.stall(false);
        bench.expect_sent()?;
        bench.stall(true);
        bench.bring(0, room)?;
    }
    let what = format!("the card had sent {room} packets of a ring of {ring}: what the driver took back, in batches");
    same(what, bench.pending(), room / CLEAN * CLEAN)?;
    bench.expected[1].truncate(bench.pending() as usize);
    bench.stall(false);
    bench.expect_sent()
}

fn clean_done_only(bench: &mut Bench) -> Result<()> {
    let ring = bench.ring;
    bench.reopen(ring, bench.batch)?;
    for _ in 0..3 {
        bench.stall(true);
        bench.bring(0, ring - 1)?;
        let (held, extra) = (bench.pending(), bench.some(bench.batch));
        bench.bring(0, extra)?;
        let what = format!("the card sends nothing from a full ring of {ring}, and {extra} packets more come: what it holds");
        same(what, bench.pending(), held)?;
        bench.expected[1].truncate(held as usize);
        bench.stall(false);
        bench.expect_sent()?;
        // Up to 31 sent packets stay in the ring. The next round begins with them.
        for _ in 0..2 * ring / CLEAN {
            bench.bring(0, CLEAN / 2)?;
            bench.expect_sent()?;
        }
    }
    Ok(())
}

/// Many more packets than the pool has buffers: a buffer that does not come back is missed.
fn pool_complete(bench: &mut Bench) -> Result<()> {
    bench.through(0, 2000, CLEAN / 2)
}

/// A ring of 128 and 64 free buffers. The card sends nothing, so no buffer comes back. Returns the frames that stay.
fn starve(bench: &mut Bench) -> Result<u32> {
    bench.reopen(128, bench.batch)?;
    bench.stall(true);
    bench.arrive(0, bench.ring - 1)?;
    let taken = turns(bench, bench.ring)?;
    same(
        "with 64 empty buffers, what rx_batch returned",
        taken,
        SPARE,
    )?;
    let left = bench.ring - 1 - SPARE;
    let ring = bench.receive_ring().descriptors;
    let done = ring.iter().filter(|it| it[1] & r::RXD_DD != 0).count();
    same("the number of packets in the ring", done as u32, left)?;
    Ok(left)
}

fn pool_empty(bench: &mut Bench) -> Result<()> {
    starve(bench)?;
    bench.expected[1].truncate(SPARE as usize);
    bench.stall(false);
    bench.expect_sent()
}

/// The card sends, so the buffers come back, and the frames in the ring can be taken.
fn pool_again(bench: &mut Bench) -> Result<()> {
    let left = starve(bench)?;
    bench.stall(false);
    // This turn finds the pool empty, and takes sent packets back.
    let first = bench.lockstep.turn()?;
    same("without an empty buffer, what rx_batch returned", first, 0)?;
    bench.take(left).context("buffers are free again")?;
    bench.expect_sent()?;
    bench.expect_dropped(0)
}

/// `count` frames arrive, of which the card reports this length.
fn lie(bench: &mut Bench, count: u32, length: u16) -> Result<()> {
    let mut faults = Faults::default();
    faults.receive = Some(ReceiveFault::Length(length));
    bench.port(0).set_faults(faults);
    bench.arrive(0, count)?;
    bench.port(0).set_faults(Faults::default());
    let good = bench.expected[1].len() - count as usize;
    bench.expected[1].truncate(good);
    Ok(())
}

/// Packets that the driver receives in so many turns. It may end a batch at each wrong length.
fn turns(bench: &mut Bench, count: u32) -> Result<u32> {
    (0..count).try_fold(0, |taken, _| Ok(taken + bench.lockstep.turn()?))
}

fn refuse(bench: &mut Bench, lengths: &[u16]) -> Result<()> {
    for length in lengths {
        let count = bench.some(bench.ring / 2);
        lie(bench, count, *length)?;
        let taken = turns(bench, count)?;
        bench.expect_sent().context("after a wrong length")?;
        let what = format!("of {count} frames of length {length}, what rx_batch returned");
        same(what, taken, 0)?;
        bench.through(0, 1, 1).context("after a wrong length")?;
    }
    Ok(())
}

fn length_counted(bench: &mut Bench) -> Result<()> {
    let mut lies = 0;
    for length in BEYOND {
        let count = bench.some(bench.ring / 4);
        lie(bench, count, length)?;
        turns(bench, count)?;
        lies += count;
        bench.expect_dropped(lies)?;
    }
    Ok(())
}

/// Good frames before and behind a lie, all in the ring at once.
fn length_between(bench: &mut Bench) -> Result<()> {
    bench.reopen(bench.ring, bench.ring / 4)?;
    for length in BEYOND {
        let good = [bench.some(bench.ring / 16), bench.some(bench.ring / 16)];
        bench.arrive(0, good[0])?;
        lie(bench, 1, length)?;
        bench.arrive(0, good[1])?;
        let taken = turns(bench, 2)?;
        let what = format!("of {good:?} good frames around one of length {length}, what came");
        same(what, taken, good[0] + good[1])?;
        bench.expect_sent()?;
    }
    Ok(())
}

/// A whole driver.
fn all(bench: &mut Bench) -> Result<()> {
    const TESTS: &str =
        "laps refilled rdt one-owner tx-descriptor tx-command tdt pool-complete clean-done-only";
    TESTS.split(' ').try_for_each(|name| find(name)?.2(bench))?;
    bench.reopen(bench.ring, bench.batch)?;
    full_ring(bench)
}
