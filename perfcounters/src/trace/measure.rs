//! A cell's driver under the tracer, beside a software card in turns, and what the trace shows.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use caches::cpu::Cpu;
use caches::evaluate;
use caches::hierarchy::Dma;
use caches::stream::Stream;
use record::{BackendName, LinePlacement, Metric, Placement, Sample};
use tracer::{trace, Launch, Plan, TraceError};

use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram};
use crate::files;
use crate::interrupt::Interrupt;
use crate::peer::{self, card::CardCounts};
use crate::place::Place;

/// Longest time of each step of a trace: a few seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(180);
/// The link to the driver in the folder of a measurement.
const DRIVER: &str = "driver";
/// Where programs that the driver starts are found.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Starts a card and the driver of a cell, ours or a peer, and records what the driver executes with full
/// batches. Driver and card take turns on `cpu`, or on any. Both have ended when this returns.
/// Fails if the card found wrong frames.
pub(super) fn record(
    program: &NicProgram,
    cpu: Option<usize>,
    cell: &Cell,
    interrupt: &Interrupt,
) -> Result<Stream, MeasureError> {
    let placement = Placement {
        nic: cpu,
        ..Placement::default()
    };
    let place = Place::new(&placement, interrupt)?;
    let nic = Nic::start(program, cell, &place, &["--traffic", "saturate", "--turns"])?;
    let command = peer::command(cell, &nic, cpu);
    let driver = std::path::absolute(&cell.program).map_err(files::unusable(&cell.program))?;
    let launch = Launch {
        command: words(&command, &driver, place.folder())?,
        driver,
        environment: environment(&command),
        folder: place.folder().to_owned(),
        control: nic.control(),
        cpu,
        limit: LIMIT,
        interrupt: interrupt.flag(),
    };
    let stream = trace(&launch, &Plan::default()).map_err(|error| match error {
        TraceError::Interrupted => MeasureError::Interrupted,
        other => MeasureError::Other(other.to_string()),
    })?;
    files::read_json::<CardCounts>(&nic.stop()?)?.check()?;
    Ok(stream)
}

/// The words of a command that runs in `folder`, which has a link to the driver. A driver copies its words to
/// its heap, and the addresses there depend on their length. So they do not depend on any folder's path.
fn words(command: &Command, driver: &Path, folder: &Path) -> Result<Vec<OsString>, MeasureError> {
    let link = folder.join(DRIVER);
    std::os::unix::fs::symlink(driver, &link).map_err(files::unusable(&link))?;
    let here = folder.display().to_string();
    let first = std::path::absolute(command.get_program()).unwrap_or_default();
    let first = match first == *driver {
        true => Path::new(".").join(DRIVER),
        false => first,
    };
    let short = |word: &OsStr| match word.to_str() {
        Some(word) => word.replace(&here, ".").into(),
        None => word.to_owned(),
    };
    let others = command.get_args().map(short);
    Ok(std::iter::once(first.into()).chain(others).collect())
}

/// The variables that a command sets itself, and those that every program needs. Others would change
/// addresses from machine to machine.
fn environment(command: &Command) -> BTreeMap<OsString, OsString> {
    let path = std::iter::once(("PATH".into(), PATH.into()));
    // `triptych` finds its cache there, and a user namespace its folder.
    let inherited = ["HOME", "TMPDIR"].into_iter();
    let inherited = inherited.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let own = command.get_envs();
    let own = own.filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    path.chain(inherited).chain(own).collect()
}

/// The counts of an execution, which are equal on all processors.
pub(super) fn counts(cell: &Cell, found: &tracer::Counts) -> Vec<Sample> {
    let sums = [
        (Metric::Instructions, found.instructions),
        (Metric::Branches, found.branches),
        (Metric::ConditionalBranches, found.conditional),
        // As the published counter counts them: see `metrics.toml`.
        (Metric::Loads, found.loads + found.prefetches),
        (Metric::Stores, found.stores),
    ];
    per_packet(cell, &sums, found.packets, "", None)
}

/// Levels and mispredictions on a processor, for each place where DMA may leave the lines.
pub(super) fn simulated(cell: &Cell, cpu: &Cpu, stream: &Stream) -> Vec<Sample> {
    let mut places = vec![(Dma::Memory, LinePlacement::Memory)];
    if cpu.ddio_ways > 0 {
        places.push((Dma::L3, LinePlacement::L3));
    }
    let at = |(dma, place)| {
        let found = evaluate(cpu, dma, stream);
        let sums = [
            (Metric::BranchMisses, found.mispredicted),
            (Metric::L1Hits, found.l1),
            (Metric::L2Hits, found.l2),
            (Metric::L3Hits, found.l3),
            (Metric::L3Misses, found.memory),
        ];
        per_packet(cell, &sums, stream.packets, &cpu.name, Some(place))
    };
    places.into_iter().flat_map(at).collect()
}

fn per_packet(
    cell: &Cell,
    sums: &[(Metric, u64)],
    packets: u64,
    cpu: &str,
    placement: Option<LinePlacement>,
) -> Vec<Sample> {
    let packets = packets.max(1);
    let sample = |(metric, sum): &(Metric, u64)| {
        let value = *sum as f64 / packets as f64;
        let mut sample = cell.sample(BackendName::Trace, *metric, value, packets, 0);
        sample.cpu = cpu.to_owned();
        sample.conditions.placement = placement;
        sample
    };
    sums.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use caches::stream::{Access, AccessKind, Accesses, Event, Step};
    use record::Implementation;

    use super::*;

    #[test]
    fn the_words_of_a_driver_do_not_depend_on_the_paths_of_folders() {
        for name in ["a", "a-longer-name"] {
            let parent = tempfile::tempdir().unwrap();
            let (folder, driver) = (parent.path().join(name), parent.path().join("ixgbe-fwd"));
            std::fs::create_dir(&folder).unwrap();
            let mut command = Command::new(&driver);
            command.arg(format!("vfio-user:{}/port0.sock", folder.display()));
            let found = words(&command, &driver, &folder).unwrap();
            assert_eq!(found, ["./driver", "vfio-user:./port0.sock"]);
            assert_eq!(std::fs::read_link(folder.join(DRIVER)).unwrap(), driver);
        }
    }

    /// A driver that sent four packets and loaded one of their lines, which the card had written.
    #[test]
    fn values_are_per_packet_and_simulated_ones_name_processor_and_placement() {
        let address = 0x1_0000;
        let load = Access {
            address,
            bytes: 8,
            kind: AccessKind::Load,
            register: false,
        };
        let stream = Stream {
            events: vec![
                Event::Device {
                    address,
                    bytes: 64,
                    write: true,
                },
                Event::Step(Step {
                    accesses: Accesses::from_slice(&[load]),
                    target: 3,
                    ..Step::default()
                }),
            ],
            packets: 4,
            ..Stream::default()
        };
        let cell = crate::common::cell(Path::new(""), "c", Implementation::C);
        // What happened once: the metrics, and the placements.
        let once = |samples: Vec<Sample>, cpu| {
            let same = |sample: &Sample| sample.packets == 4 && sample.cpu == cpu;
            assert!(samples.iter().all(same));
            let once = samples.into_iter().filter(|sample| sample.value == 0.25);
            let once = once.map(|sample| (sample.metric, sample.conditions.placement));
            once.collect::<Vec<_>>()
        };
        let counted = once(counts(&cell, &tracer::Counts::of(&stream)), "");
        assert_eq!(
            counted,
            [(Metric::Instructions, None), (Metric::Loads, None)]
        );
        let memory = (Metric::L3Misses, Some(LinePlacement::Memory));
        let l3 = (Metric::L3Hits, Some(LinePlacement::L3));
        // AMD documents no writes of cards into L3.
        for (name, served) in [("haswell", &[memory, l3][..]), ("zen4", &[memory])] {
            let samples = simulated(&cell, &Cpu::named(name).unwrap(), &stream);
            assert_eq!(once(samples, name), served);
        }
    }
}
