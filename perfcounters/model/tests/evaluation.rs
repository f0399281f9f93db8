//! Recordings on a processor: what stays in its caches between them, and what counts.

#![allow(clippy::unwrap_used)]

use model::cpu::{Cpu, LINE};
use model::evaluation::{all_code, Evaluation, Machine};
use model::pipeline::{Costs, Llvm};
use model::stream::{
    Access, AccessKind, Accesses, DeviceAccess, DeviceAccessKind, Event, Memory, Step, Stream,
};

const LOAD: u64 = 0x1000;
const BUFFER: u64 = 0x10_0000;
/// More than the core executes at a time, and less than L1 holds.
const LINES: u64 = 256;

/// LLVM's programs, or a printed reason why the test ends here: some distributions have no LLVM of
/// this version.
fn llvm() -> Option<Llvm> {
    Llvm::find()
        .map_err(|error| println!("skipped: {error}"))
        .ok()
}

/// A driver that loads `LINES` lines. With `card`, the card writes each line before.
fn loads(card: bool) -> Stream {
    let mut stream = Stream::default();
    stream.code.insert(LOAD, &[0x48, 0x8b, 0x07]).unwrap();
    for line in 0..LINES {
        let address = BUFFER + line * LINE;
        if card {
            stream.events.push(Event::Device(DeviceAccess {
                address,
                bytes: 16,
                kind: DeviceAccessKind::Write,
            }));
        }
        let access = Access {
            address,
            bytes: 8,
            kind: AccessKind::Load,
            memory: Memory::WriteBack,
        };
        stream.events.push(Event::Step(Step {
            address: LOAD,
            accesses: Accesses::from_slice(&[access]),
            taken: None,
            target: LOAD,
        }));
    }
    stream.packets = LINES;
    stream
}

/// Runs the recordings on one Haswell.
fn run(llvm: &Llvm, card_on_this_core: bool, streams: &[&Stream]) -> Vec<Evaluation> {
    let cpu = Cpu::named("haswell").unwrap();
    let code = all_code(streams.iter().copied()).unwrap();
    let costs = Costs::new(llvm, &cpu, &code).unwrap();
    let mut machine = Machine::new(&cpu, 1600, &code, &costs, Vec::new());
    if card_on_this_core {
        machine = machine.with_card_on_this_core();
    }
    let evaluations = streams.iter().map(|stream| machine.run(stream).unwrap());
    evaluations.collect()
}

/// Loads of lines that are in L1, or still on their way to it.
fn in_l1(evaluation: &Evaluation) -> u64 {
    evaluation.accesses.load_l1 + evaluation.accesses.load_fill_buffer
}

#[test]
fn a_second_recording_finds_the_caches_warm() {
    let Some(llvm) = llvm() else { return };
    let stream = loads(false);
    let [first, second] = run(&llvm, false, &[&stream, &stream]).try_into().unwrap();
    assert!(in_l1(&first) < LINES);
    assert_eq!(in_l1(&second), LINES);
    assert_eq!(second.timing.instructions, LINES);
    assert!(second.timing.cycles < first.timing.cycles);
}

#[test]
fn the_part_that_warms_the_caches_does_not_count() {
    let Some(llvm) = llvm() else { return };
    let mut stream = loads(false);
    let again = stream.events.clone();
    stream.measured_from = stream.events.len();
    stream.events.extend(again);
    let [whole] = run(&llvm, false, &[&stream]).try_into().unwrap();
    assert_eq!(whole.accesses.loads, LINES);
    assert_eq!(in_l1(&whole), LINES);
    assert_eq!(whole.timing.instructions, LINES);
    let by_address = whole.timing.by_address.values().map(|spent| spent.total());
    assert_eq!(by_address.sum::<u64>(), whole.timing.cycles);
}

#[test]
fn a_card_takes_its_lines_away_and_a_software_card_on_this_core_does_not() {
    let Some(llvm) = llvm() else { return };
    let stream = loads(true);
    let last = |on_this_core| run(&llvm, on_this_core, &[&stream, &stream]).pop().unwrap();
    let (card, software) = (last(false), last(true));
    assert_eq!(card.accesses.load_l1, 0);
    assert!(software.accesses.load_l1 >= LINES);
    assert!(
        software.timing.cycles < card.timing.cycles,
        "{software:?} {card:?}"
    );
}

#[test]
fn two_evaluations_are_equal() {
    let Some(llvm) = llvm() else { return };
    let stream = loads(true);
    let streams = [&stream, &stream];
    assert_eq!(run(&llvm, false, &streams), run(&llvm, false, &streams));
}

#[test]
fn a_chain_of_results_takes_the_sum_of_its_latencies() {
    let Some(llvm) = llvm() else { return };
    let mut stream = Stream::default();
    // imul rax, rax: 3 cycles, and each needs the result of the one before.
    stream.code.insert(LOAD, &[0x48, 0x0f, 0xaf, 0xc0]).unwrap();
    let step = Step {
        address: LOAD,
        accesses: Accesses::new(),
        taken: None,
        target: LOAD,
    };
    stream.events = vec![Event::Step(step); 3000];
    (stream.measured_from, stream.packets) = (1000, 20);
    let [chain] = run(&llvm, false, &[&stream]).try_into().unwrap();
    assert_eq!(
        (chain.timing.instructions, chain.timing.cycles),
        (2000, 6000)
    );
    assert_eq!(chain.cycles_per_packet(), 300.0);
}

#[test]
fn a_recording_without_measured_part_counts_nothing() {
    let Some(llvm) = llvm() else { return };
    let mut stream = loads(true);
    stream.measured_from = stream.events.len();
    let [nothing] = run(&llvm, false, &[&stream]).try_into().unwrap();
    let expected = Evaluation {
        packets: LINES,
        ..Evaluation::default()
    };
    assert_eq!(nothing, expected);
}
