//! The cases: what the card does, and what the program must do then.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use nic::{Expected, Faults, FrameSizes, MmioMode, NicConfig, Traffic};
use rustix::process::Signal;

use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::testbed::{Counted, Step, Stop, Testbed, RECOVERY, START};

use Act::{BadCrc, Fault, Forward, Pass, Plug};

/// Millions of frames a second and port: so few that a ring holds a tenth of a second.
const SLOW: Traffic = Traffic::Rate { mpps: 0.005 };
/// So few that a driver with interrupts waits between them.
const SPARSE: Traffic = Traffic::Rate { mpps: 0.0005 };
/// Frames of each port before a case begins.
const WARM: u64 = 500;
/// Frames of each port that show that the program forwards.
const MANY: u64 = 2_000;
/// Length of a fault, in milliseconds.
const FAULT: u64 = 300;
/// Time for frames on their way to arrive, in milliseconds.
const SETTLED: u64 = 500;

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, for `--case`.
    pub name: &'static str,
    /// What the card does, and what the program must do then.
    pub asks: &'static str,
    run: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A program that forwards this traffic goes through these acts. No frame may be wrong.
    Acts(Traffic, &'static [Act]),
    /// The same, and no frame may be lost.
    Lossless(Traffic, &'static [Act]),
    Other(fn(&Run<'_>) -> Step),
}

/// What happens in a case.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// The program forwards so many frames more.
    Forward(u64),
    /// So many milliseconds pass.
    Pass(u64),
    /// Both ports get this fault, or none if the name is empty.
    Fault(&'static str),
    /// The cables are plugged in or pulled out.
    Plug(bool),
    /// Frames with a wrong CRC arrive.
    BadCrc,
}

const fn case(name: &'static str, run: Kind, asks: &'static str) -> Case {
    Case { name, asks, run }
}

/// A fault comes and goes, and the program forwards again.
macro_rules! survives {
    ($fault:literal) => {
        survives!($fault, FAULT)
    };
    ($fault:literal, $time:expr) => {
        Kind::Acts(
            SLOW,
            &[Fault($fault), Pass($time), Fault(""), Forward(MANY)],
        )
    };
}

/// The link goes down and comes up.
const FLAP: &[Act] = &[
    Plug(false),
    Pass(SETTLED),
    Plug(true),
    Pass(SETTLED),
    Forward(MANY),
];

/// The cases, in the order of the table.
#[rustfmt::skip] // a case a line or two
pub const CASES: &[Case] = &[
    case("forwards", Kind::Lossless(SLOW, &[Forward(MANY)]),
        "5000 frames a second: each comes back once, in order, changed only as intended"),
    case("sizes", Kind::Other(sizes),
        "Frames of 60 to 1514 bytes in turn: no byte else differs"),
    case("saturation", Kind::Acts(Traffic::Saturate, &[Forward(200_000)]),
        "A frame for every free descriptor: frames may be dropped, but none is wrong"),
    case("sparse", Kind::Lossless(SPARSE, &[Forward(500)]),
        "500 frames a second, which a driver with interrupts waits for: none is lost"),
    case("traffic-stops", Kind::Other(traffic_stops),
        "The traffic of one port stops, then that of the other: no received frame stays behind"),
    case("link-down-up", Kind::Acts(SLOW, FLAP),
        "The link goes down and comes up: forwards again"),
    case("late-link", Kind::Other(late_link),
        "The link comes up 2 s after the start: forwards then"),
    case("stall", survives!("stall", 1000),
        "The card sends nothing for 1 s: forwards again"),
    case("bad-crc", Kind::Lossless(SLOW, &[BadCrc, Forward(WARM)]),
        "Frames with a wrong CRC among the others: they do not come back"),
    case("relaxed-ordering", Kind::Acts(SLOW, &[Fault("relaxed-ordering"), Forward(MANY)]),
        "Write-backs arrive out of order, where the driver allows it: no frame is wrong"),
    case("interrupt-storm", survives!("interrupt-storm"),
        "All causes and vectors all the time, for 0.3 s: forwards again"),
    case("rx-length-beyond", survives!("rx-length-beyond"),
        "Descriptors show 4000 bytes in buffers of 2048, for 0.3 s: such frames are not sent"),
    case("rx-length-zero", survives!("rx-length-zero"),
        "Descriptors show 0 bytes, for 0.3 s: such frames are not sent"),
    case("rx-no-eop", survives!("rx-no-eop"),
        "No descriptor ends a packet, for 0.3 s: the frames are dropped"),
    case("head-beyond-ring", survives!("head-beyond-ring"),
        "RDH and TDH read 8192 too high, for 0.3 s: forwards again"),
    case("never-finish-reset", Kind::Other(never_finish_reset),
        "CTRL.RST never clears: ends with a message"),
    case("removed", Kind::Other(removed),
        "All registers read ones from a moment on: ends with a message"),
    case("stop", Kind::Other(stop),
        "Ctrl-C: ends within 5 s, and leaves the card at rest"),
];

impl Case {
    /// The hazard of `hazards.toml` that the case provokes, if it is one.
    pub fn hazard(&self) -> Option<&'static str> {
        Some(match self.name {
            "link-down-up" => "dev-link-flapping",
            "bad-crc" => "wire-bad-crc",
            "interrupt-storm" => "dev-interrupt-storm",
            "rx-length-beyond" => "dev-length-beyond-buffer",
            "rx-length-zero" => "dev-length-zero",
            "rx-no-eop" => "dev-dd-without-eop",
            "head-beyond-ring" => "dev-head-beyond-ring",
            "never-finish-reset" => "dev-reset-never-ends",
            "removed" => "dev-removed",
            _ => return None,
        })
    }

    /// Runs the case. A program that loses frames or does not forward in time gets a second run,
    /// because other work on the machine may have held it up.
    ///
    /// # Errors
    /// If the card or the launcher cannot be started.
    pub fn run(&self, triptych: &Path, subject: &Subject) -> Result<(Outcome, Counted)> {
        match self.run_once(triptych, subject)? {
            (Outcome::Lost(_) | Outcome::Hangs, _) => self.run_once(triptych, subject),
            tried => Ok(tried),
        }
    }

    fn run_once(&self, triptych: &Path, subject: &Subject) -> Result<(Outcome, Counted)> {
        let run = Run {
            triptych,
            subject,
            counted: Rc::default(),
        };
        let ended = match self.run {
            Kind::Acts(traffic, acts) => run.acts(traffic, acts, Testbed::nothing_wrong_since),
            Kind::Lossless(traffic, acts) => run.acts(traffic, acts, Testbed::nothing_lost_since),
            Kind::Other(other) => other(&run),
        };
        let outcome = match ended {
            Ok(()) => Outcome::Pass,
            Err(Stop::Outcome(outcome)) => outcome,
            Err(Stop::Failure(error)) => return Err(error),
        };
        Ok((outcome, run.counted.get()))
    }
}

/// A program, and the launcher that runs it on a card.
struct Run<'a> {
    triptych: &'a Path,
    subject: &'a Subject,
    counted: Rc<Cell<Counted>>,
}

impl Run<'_> {
    fn start(&self, change: impl FnOnce(NicConfig) -> NicConfig) -> Step<Testbed> {
        let (triptych, subject) = (self.triptych, self.subject);
        let counted = Rc::clone(&self.counted);
        Ok(Testbed::start(triptych, subject, counted, change)?)
    }

    /// A program that forwards this traffic.
    fn warm(&self, traffic: Traffic) -> Step<Testbed> {
        let mut bed = self.start(with(traffic))?;
        let frames = if traffic == SPARSE { 100 } else { WARM };
        bed.forwards(frames, START)?;
        Ok(bed)
    }

    fn acts(
        &self,
        traffic: Traffic,
        acts: &[Act],
        check: fn(&Testbed, crate::testbed::Counts) -> Step,
    ) -> Step {
        let mut bed = self.warm(traffic)?;
        let before = bed.counts();
        for act in acts {
            match *act {
                Forward(frames) => bed.forwards(frames, RECOVERY)?,
                Pass(time) => bed.pass(Duration::from_millis(time))?,
                Fault(name) => bed.set_fault(name)?,
                Plug(plugged) => bed.set_plugged(plugged),
                BadCrc => bad_crc(&mut bed)?,
            }
        }
        check(&bed, before)
    }
}

fn with(traffic: Traffic) -> impl FnOnce(NicConfig) -> NicConfig {
    move |config| config.with_each_port(|port| port.traffic = traffic)
}

fn sizes(run: &Run<'_>) -> Step {
    let sizes = FrameSizes::range(60, 1514).map_err(anyhow::Error::from)?;
    let mut bed =
        run.start(|config| with(SLOW)(config).with_each_port(|port| port.sizes = sizes.clone()))?;
    bed.forwards(WARM, START)?;
    let before = bed.counts();
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_lost_since(before)
}

/// A program that waits at an idle port without a limit leaves the frames of the other port. The
/// other port goes on for a while, so that the program reaches the wait before the last frame arrives.
/// ixy waits for interrupts after 2 s: it polls for a second first.
fn traffic_stops(run: &Run<'_>) -> Step {
    for first in [0, 1] {
        let mut bed = run.warm(SLOW)?;
        for (port, time) in [(first, 2000), (1 - first, 2 * SETTLED)] {
            bed.nic.ports()[port].set_traffic(Traffic::Off);
            bed.pass(Duration::from_millis(time))?;
        }
        match bed.counts().outstanding {
            0 => {}
            left => return Err(Outcome::Lost(left).into()),
        }
    }
    Ok(())
}

fn late_link(run: &Run<'_>) -> Step {
    let mut bed = run.start(with(SLOW))?;
    bed.set_plugged(false);
    bed.pass(Duration::from_secs(2))?;
    bed.set_plugged(true);
    bed.forwards(WARM, START)
}

fn bad_crc(bed: &mut Testbed) -> Step {
    for _ in 0..20 {
        for port in bed.nic.ports() {
            let mut frame = [0; 60];
            frame[..6].copy_from_slice(&port.mac_address());
            let injected = port.inject_with_bad_crc(&frame);
            injected.map_err(anyhow::Error::from)?;
        }
        bed.pass(Duration::from_millis(5))?;
    }
    Ok(())
}

fn never_finish_reset(run: &Run<'_>) -> Step {
    // From the start, because a program may reset the card at once.
    let mut faults = Faults::default();
    let added = faults.add("never-finish-reset");
    added.map_err(anyhow::Error::from)?;
    let bed = run.start(|config| with(SLOW)(config).with_each_port(|port| port.faults = faults))?;
    ends(bed, START / 2)
}

fn removed(run: &Run<'_>) -> Step {
    let mut bed = run.start(|config| with(SLOW)(config).with_mmio(MmioMode::Trap))?;
    bed.forwards(WARM / 10, START)?;
    bed.set_fault("removed")?;
    // Our drivers notice it within a second, and then wait some seconds for the card to stop.
    ends(bed, START / 2)
}

/// The program must end of itself, with a status that tells of a failure.
fn ends(mut bed: Testbed, limit: Duration) -> Step {
    match bed.pass(limit) {
        Ok(()) => Err(Outcome::Hangs.into()),
        Err(Stop::Outcome(Outcome::Ends(status, _))) if status != 0 => Ok(()),
        Err(stop) => Err(stop),
    }
}

fn stop(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    // An error means that the launcher has ended already.
    let _ = bed.program.signal(Signal::INT);
    if !bed.program.ends_within(Duration::from_secs(5))? {
        return Err(Outcome::Hangs.into());
    }
    for session in bed.nic.sessions()? {
        let left = &session.snapshot;
        if !left.quiescent() {
            return Err(Outcome::NotAtRest(format!(
                "bus master {}, receiver {}, receive queues {:?}, transmit queues {:?}",
                left.bus_master, left.rx_enabled, left.rx_queues, left.tx_queues
            ))
            .into());
        }
    }
    Ok(())
}

/// What a program does to a frame, in the words of `--expect`.
pub fn expectation(expect: Expected) -> String {
    match expect {
        Expected::Touch(byte) => format!("adds 1 to byte {byte}"),
        Expected::Mac => "writes both addresses".to_owned(),
        Expected::Unchanged => "changes nothing".to_owned(),
    }
}
