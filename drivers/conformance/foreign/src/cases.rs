//! The cases: what the card does, and what the program must do then.

use std::path::Path;
use std::time::Duration;

use nic::{Expected, FrameSizes, MmioMode, NicConfig, Traffic};

use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::testbed::{Step, Stop, Testbed, RECOVERY, START};

/// Millions of frames a second and port: so few that a ring holds a tenth of a second.
const SLOW: Traffic = Traffic::Rate { mpps: 0.005 };
/// So few that a driver with interrupts waits between them.
const SPARSE: Traffic = Traffic::Rate { mpps: 0.0005 };
/// Frames of each port before a case begins.
const WARM: u64 = 500;
/// Frames of each port that show that the program forwards.
const MANY: u64 = 2_000;
/// Length of a fault.
const FAULT: Duration = Duration::from_millis(300);
/// Time after which ixy waits for interrupts: it polls for a second first.
const POLLED: Duration = Duration::from_secs(2);
/// Time for frames on their way to arrive.
const SETTLED: Duration = Duration::from_millis(500);

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, for `--case`.
    pub name: &'static str,
    /// What the card does, and what the program must do then.
    pub asks: &'static str,
    run: fn(&Run<'_>) -> Step,
}

/// A program, and the launcher that runs it on a card.
struct Run<'a> {
    triptych: &'a Path,
    subject: &'a Subject,
}

impl Run<'_> {
    fn start(&self, change: impl FnOnce(NicConfig) -> NicConfig) -> Step<Testbed> {
        Ok(Testbed::start(self.triptych, self.subject, change)?)
    }

    /// A program that forwards this traffic.
    fn warm(&self, traffic: Traffic) -> Step<Testbed> {
        let mut bed = self.start(with(traffic))?;
        let frames = if traffic == SPARSE { 100 } else { WARM };
        bed.forwards(frames, START)?;
        Ok(bed)
    }

    /// A fault comes and goes. The program must forward again, and send no wrong frame meanwhile.
    fn survives(&self, fault: &str) -> Step {
        let mut bed = self.warm(SLOW)?;
        let before = bed.counts();
        bed.set_fault(Some(fault))?;
        bed.pass(FAULT)?;
        bed.set_fault(None)?;
        bed.forwards(MANY, RECOVERY)?;
        bed.nothing_wrong_since(before)
    }
}

fn with(traffic: Traffic) -> impl FnOnce(NicConfig) -> NicConfig {
    move |config| config.with_each_port(|port| port.traffic = traffic)
}

/// The cases, in the order of the table.
pub const CASES: &[Case] = &[
    Case {
        name: "forwards",
        asks: "5000 frames a second: each comes back once, in order, changed only as intended",
        run: forwards,
    },
    Case {
        name: "sizes",
        asks: "Frames of 60 to 1514 bytes in turn: no byte else differs",
        run: sizes,
    },
    Case {
        name: "saturation",
        asks: "A frame for every free descriptor: frames may be dropped, but none is wrong",
        run: saturation,
    },
    Case {
        name: "sparse",
        asks: "500 frames a second, which a driver with interrupts waits for: none is lost",
        run: sparse,
    },
    Case {
        name: "traffic-stops",
        asks:
            "The traffic of one port stops, then that of the other: no received frame stays behind",
        run: traffic_stops,
    },
    Case {
        name: "link-down-up",
        asks: "The link goes down and comes up: forwards again",
        run: link_down_up,
    },
    Case {
        name: "late-link",
        asks: "The link comes up 2 s after the start: forwards then",
        run: late_link,
    },
    Case {
        name: "stall",
        asks: "The card sends nothing for 1 s: forwards again",
        run: stall,
    },
    Case {
        name: "bad-crc",
        asks: "Frames with a wrong CRC among the others: they do not come back",
        run: bad_crc,
    },
    Case {
        name: "relaxed-ordering",
        asks: "Write-backs arrive out of order, where the driver allows it: no frame is wrong",
        run: relaxed_ordering,
    },
    Case {
        name: "interrupt-storm",
        asks: "All causes and vectors all the time, for 0.3 s: forwards again",
        run: |run| run.survives("interrupt-storm"),
    },
    Case {
        name: "rx-length-beyond",
        asks: "Descriptors show 4000 bytes in buffers of 2048, for 0.3 s: such frames are not sent",
        run: |run| run.survives("rx-length-beyond"),
    },
    Case {
        name: "rx-length-zero",
        asks: "Descriptors show 0 bytes, for 0.3 s: such frames are not sent",
        run: |run| run.survives("rx-length-zero"),
    },
    Case {
        name: "rx-no-eop",
        asks: "No descriptor ends a packet, for 0.3 s: the frames are dropped",
        run: |run| run.survives("rx-no-eop"),
    },
    Case {
        name: "head-beyond-ring",
        asks: "RDH and TDH read 8192 too high, for 0.3 s: forwards again",
        run: |run| run.survives("head-beyond-ring"),
    },
    Case {
        name: "never-finish-reset",
        asks: "CTRL.RST never clears: ends with a message",
        run: never_finish_reset,
    },
    Case {
        name: "removed",
        asks: "All registers read ones from a moment on: ends with a message",
        run: removed,
    },
    Case {
        name: "stop",
        asks: "Ctrl-C: ends within 5 s, and leaves the card at rest",
        run: stop,
    },
];

impl Case {
    /// Runs the case. A program that loses frames or does not forward in time gets a second run,
    /// because other work on the machine may have held it up.
    ///
    /// # Errors
    /// If the card or the launcher cannot be started.
    pub fn run(&self, triptych: &Path, subject: &Subject) -> anyhow::Result<Outcome> {
        match self.run_once(triptych, subject)? {
            Outcome::Lost(_) | Outcome::Hangs => self.run_once(triptych, subject),
            outcome => Ok(outcome),
        }
    }

    fn run_once(&self, triptych: &Path, subject: &Subject) -> anyhow::Result<Outcome> {
        match (self.run)(&Run { triptych, subject }) {
            Ok(()) => Ok(Outcome::Pass),
            Err(Stop::Outcome(outcome)) => Ok(outcome),
            Err(Stop::Failure(error)) => Err(error),
        }
    }
}

fn forwards(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    let before = bed.counts();
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_lost_since(before)
}

fn sizes(run: &Run<'_>) -> Step {
    let sizes = FrameSizes::range(60, 1514).map_err(anyhow::Error::from)?;
    let mut bed = run.start(|config| {
        config.with_each_port(|port| {
            port.traffic = SLOW;
            port.sizes = sizes.clone();
        })
    })?;
    bed.forwards(WARM, START)?;
    let before = bed.counts();
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_lost_since(before)
}

fn saturation(run: &Run<'_>) -> Step {
    let mut bed = run.warm(Traffic::Saturate)?;
    let before = bed.counts();
    bed.forwards(200_000, RECOVERY)?;
    bed.nothing_wrong_since(before)
}

fn sparse(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SPARSE)?;
    let before = bed.counts();
    bed.forwards(500, RECOVERY)?;
    bed.nothing_lost_since(before)
}

/// A program that waits at an idle port without a limit leaves the frames of the other port. The
/// other port goes on for a while, so that the program reaches the wait before the last frame arrives.
fn traffic_stops(run: &Run<'_>) -> Step {
    for first in [0, 1] {
        let mut bed = run.warm(SLOW)?;
        for (port, time) in [(first, POLLED), (1 - first, 2 * SETTLED)] {
            bed.ports()[port].set_traffic(Traffic::Off);
            bed.pass(time)?;
        }
        match bed.counts().outstanding {
            0 => {}
            left => return Err(Outcome::Lost(left).into()),
        }
    }
    Ok(())
}

fn link_down_up(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    let before = bed.counts();
    for plugged in [false, true] {
        for port in bed.ports() {
            port.set_plugged(plugged);
        }
        bed.pass(SETTLED)?;
    }
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_wrong_since(before)
}

fn late_link(run: &Run<'_>) -> Step {
    let mut bed = run.start(with(SLOW))?;
    for port in bed.ports() {
        port.set_plugged(false);
    }
    bed.pass(Duration::from_secs(2))?;
    for port in bed.ports() {
        port.set_plugged(true);
    }
    bed.forwards(WARM, START)
}

fn stall(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    let before = bed.counts();
    bed.set_fault(Some("stall"))?;
    bed.pass(Duration::from_secs(1))?;
    bed.set_fault(None)?;
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_wrong_since(before)
}

fn bad_crc(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    let before = bed.counts();
    for _ in 0..20 {
        for port in bed.ports() {
            let mut frame = [0; 60];
            frame[..6].copy_from_slice(&port.mac_address());
            port.inject_with_bad_crc(&frame)
                .map_err(anyhow::Error::from)?;
        }
        bed.pass(Duration::from_millis(5))?;
    }
    bed.forwards(WARM, RECOVERY)?;
    bed.nothing_lost_since(before)
}

fn relaxed_ordering(run: &Run<'_>) -> Step {
    let mut bed = run.warm(SLOW)?;
    let before = bed.counts();
    bed.set_fault(Some("relaxed-ordering"))?;
    bed.forwards(MANY, RECOVERY)?;
    bed.nothing_wrong_since(before)
}

fn never_finish_reset(run: &Run<'_>) -> Step {
    let bed = run.start(with(SLOW))?;
    bed.set_fault(Some("never-finish-reset"))?;
    ends(bed, START / 2)
}

fn removed(run: &Run<'_>) -> Step {
    let mut bed = run.start(|config| with(SLOW)(config).with_mmio(MmioMode::Trap))?;
    bed.forwards(WARM / 10, START)?;
    bed.set_fault(Some("removed"))?;
    ends(bed, RECOVERY)
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
    if bed.program().interrupt(Duration::from_secs(5))?.is_none() {
        return Err(Outcome::Hangs.into());
    }
    let sessions = bed.sessions()?;
    let running = sessions
        .iter()
        .find(|session| !session.snapshot.quiescent());
    match running {
        None => Ok(()),
        Some(session) => {
            let left = &session.snapshot;
            let text = format!(
                "bus master {}, receiver {}, receive queues {:?}, transmit queues {:?}",
                left.bus_master, left.rx_enabled, left.rx_queues, left.tx_queues
            );
            Err(Outcome::NotAtRest(text).into())
        }
    }
}

/// What a program does to a frame, in the words of `--expect`.
pub fn expectation(expect: Expected) -> String {
    match expect {
        Expected::Touch(byte) => format!("adds 1 to byte {byte}"),
        Expected::Mac => "writes both addresses".to_owned(),
        Expected::Unchanged => "changes nothing".to_owned(),
    }
}
