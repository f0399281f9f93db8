//! The cycles of small streams, with LLVM's tables, and LLVM's programs that fail.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use model::caches::{Level, Served, Translation};
use model::cpu::Cpu;
use model::pipeline::llvm::{simulate, Timed};
use model::pipeline::{Cause, Costs, Llvm, LlvmError, PipelineError, Timing, Window};
use model::stream::{Access, AccessKind, Accesses, Code, Memory, Step};

const START: u64 = 0x1000;

/// LLVM's programs, or a printed reason why the test ends here: some distributions have no LLVM of this version.
fn llvm() -> Option<Llvm> {
    Llvm::find()
        .map_err(|error| println!("skipped: {error}"))
        .ok()
}

/// A stream under construction.
#[derive(Default)]
struct Program {
    code: Code,
    steps: Vec<(Step, Vec<Served>, bool)>,
    end: u64,
}

impl Program {
    fn new() -> Self {
        Self {
            end: START,
            ..Self::default()
        }
    }

    /// Adds an instruction behind the last one.
    fn plain(&mut self, bytes: &[u8]) -> &mut Self {
        self.with(bytes, &[])
    }

    /// Adds an instruction with accesses.
    fn with(&mut self, bytes: &[u8], accesses: &[(Access, Level)]) -> &mut Self {
        self.code.insert(self.end, bytes).unwrap();
        let step = Step {
            address: self.end,
            accesses: accesses
                .iter()
                .map(|(access, _)| *access)
                .collect::<Accesses>(),
            taken: None,
            target: self.end + bytes.len() as u64,
        };
        let served = accesses
            .iter()
            .map(|(_, level)| Served {
                level: *level,
                cycles: 0,
                translation: Translation::First,
                translation_cycles: 0,
            })
            .collect();
        self.end = step.target;
        self.steps.push((step, served, false));
        self
    }

    /// Marks the last instruction as a mispredicted branch.
    fn mispredicted(&mut self) {
        self.steps.last_mut().unwrap().2 = true;
    }

    fn timing_on(&self, cpu: &Cpu) -> Timing {
        let costs = Costs::new(&Llvm::find().unwrap(), cpu, &self.code).unwrap();
        let mut window = Window::new(cpu, cpu.core.clock_mhz, &costs);
        for (step, served, mispredicted) in &self.steps {
            window.execute(step, served, *mispredicted).unwrap();
        }
        window.timing()
    }

    fn timing(&self) -> Timing {
        self.timing_on(&haswell())
    }

    fn cycles(&self) -> u64 {
        self.timing().cycles
    }
}

fn haswell() -> Cpu {
    Cpu::named("haswell").unwrap()
}

fn access(kind: AccessKind, address: u64) -> Access {
    Access {
        address,
        bytes: 8,
        kind,
        memory: Memory::WriteBack,
    }
}

fn load(address: u64, level: Level) -> [(Access, Level); 1] {
    [(access(AccessKind::Load, address), level)]
}

fn store(address: u64, level: Level) -> [(Access, Level); 1] {
    [(access(AccessKind::Store, address), level)]
}

const ADD_RAX_RAX: &[u8] = &[0x48, 0x01, 0xc0];
const ADD_RBX_RAX: &[u8] = &[0x48, 0x01, 0xd8];
const MOV_RAX_FROM_RAX: &[u8] = &[0x48, 0x8b, 0x00];
const MOV_RAX_FROM_RDI: &[u8] = &[0x48, 0x8b, 0x07];
const MOV_RAX_TO_RDI: &[u8] = &[0x48, 0x89, 0x07];
const IMUL_RAX_RAX: &[u8] = &[0x48, 0x0f, 0xaf, 0xc0];
const NOP: &[u8] = &[0x90];
const JNE: &[u8] = &[0x75, 0x00];
const TEST_RAX_RAX: &[u8] = &[0x48, 0x85, 0xc0];
const MFENCE: &[u8] = &[0x0f, 0xae, 0xf0];
const PUSH_RBX: &[u8] = &[0x53];

/// Asserts that `actual` is within `tolerance` of `expected`.
#[track_caller]
fn assert_near(actual: u64, expected: u64, tolerance: u64) {
    assert!(
        actual.abs_diff(expected) <= tolerance,
        "{actual} is not {expected} ± {tolerance}"
    );
}

#[test]
fn a_chain_takes_the_sum_of_its_latencies() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for _ in 0..1000 {
        program.plain(IMUL_RAX_RAX);
    }
    assert_near(program.cycles(), 3000, 10);
}

#[test]
fn independent_instructions_fill_the_rename_stage() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for _ in 0..4000 {
        program.plain(NOP);
    }
    assert_near(program.cycles(), 1000, 10);
}

#[test]
fn a_chain_of_loads_takes_the_latency_of_their_level() {
    let Some(_) = llvm() else { return };
    let latencies = haswell().nominal_latencies();
    for (level, latency) in [
        (Level::L1, latencies.l1),
        (Level::L2, latencies.l2),
        (Level::L3, latencies.l3),
        (Level::Memory, latencies.memory),
    ] {
        let mut program = Program::new();
        for index in 0..100 {
            program.with(MOV_RAX_FROM_RAX, &load(0x10_0000 + 64 * index, level));
        }
        assert_near(program.cycles(), 100 * u64::from(latency), 10);
    }
}

#[test]
fn independent_misses_overlap_as_far_as_the_fill_buffers_go() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for index in 0..400 {
        program.with(MOV_RAX_FROM_RDI, &load(0x10_0000 + 64 * index, Level::L3));
    }
    let cpu = haswell();
    let rounds = 400 / u64::from(cpu.core.fill_buffers);
    let timing = program.timing_on(&cpu);
    assert_near(
        timing.cycles,
        rounds * u64::from(cpu.nominal_latencies().l3),
        40,
    );
    let fewer = cpu.with("core.fill_buffers", 5).unwrap();
    assert_near(program.timing_on(&fewer).cycles, 2 * timing.cycles, 60);
}

#[test]
fn loads_of_a_line_on_its_way_wait_for_it_and_take_no_fill_buffer() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for index in 0..20 {
        let level = if index == 0 { Level::Memory } else { Level::L1 };
        program.with(MOV_RAX_FROM_RDI, &load(0x10_0000 + 8 * (index % 8), level));
    }
    let memory = u64::from(haswell().nominal_latencies().memory);
    assert_near(program.cycles(), memory, 20);
}

#[test]
fn a_prefetch_hides_the_miss_behind_it() {
    let Some(_) = llvm() else { return };
    let chain = |prefetch: bool| {
        let mut program = Program::new();
        if prefetch {
            let line = (access(AccessKind::Prefetch, 0x10_0000), Level::L3);
            program.with(&[0x0f, 0x18, 0x0f], &[line]);
        }
        for _ in 0..30 {
            program.plain(IMUL_RAX_RAX);
        }
        let level = if prefetch { Level::L1 } else { Level::L3 };
        program.with(MOV_RAX_FROM_RAX, &load(0x10_0000, level));
        program.cycles()
    };
    let latencies = haswell().nominal_latencies();
    assert_near(
        chain(false) - chain(true),
        u64::from(latencies.l3 - latencies.l1),
        5,
    );
}

#[test]
fn a_load_takes_its_data_from_the_store_before_it() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for _ in 0..100 {
        program.with(MOV_RAX_TO_RDI, &store(0x10_0000, Level::L1));
        program.with(MOV_RAX_FROM_RDI, &load(0x10_0000, Level::L1));
    }
    let forwarding = u64::from(haswell().core.store_forwarding);
    assert_near(program.cycles(), 100 * (forwarding + 1), 110);
}

#[test]
fn forwarding_takes_its_latency_on_every_processor() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for _ in 0..100 {
        program.with(MOV_RAX_TO_RDI, &store(0x10_0000, Level::L1));
        program.with(MOV_RAX_FROM_RDI, &load(0x10_0000, Level::L1));
    }
    for name in Cpu::names() {
        let cpu = Cpu::named(name).unwrap();
        let each = u64::from(cpu.core.store_forwarding) + 1;
        assert_near(program.timing_on(&cpu).cycles, 100 * each, 110);
    }
}

/// Increments in buffers that lie 4 KiB apart follow one another, although they do not depend on each other.
#[test]
fn a_load_4_kib_from_an_earlier_store_waits_for_it() {
    let Some(_) = llvm() else { return };
    let increments = |cpu: &Cpu, apart: u64| {
        let mut program = Program::new();
        for index in 0..200 {
            let address = 0x10_0000 + apart * index;
            program.with(MOV_RAX_FROM_RDI, &load(address, Level::L2));
            program.with(MOV_RAX_TO_RDI, &store(address, Level::L1));
        }
        program.timing_on(cpu).cycles
    };
    let aliasing = haswell();
    let mut comparing_all = haswell();
    comparing_all.core.aliasing_bits = 0;
    let latency = u64::from(aliasing.nominal_latencies().l2);
    assert!(increments(&aliasing, 4096) > 200 * latency);
    assert!(increments(&comparing_all, 4096) < 100 * latency);
    assert_eq!(
        increments(&aliasing, 4096 + 64),
        increments(&comparing_all, 4096 + 64)
    );
}

#[test]
fn stores_that_miss_stall_the_core_when_the_store_buffer_is_full() {
    let Some(_) = llvm() else { return };
    let cpu = haswell();
    let entries = u64::from(cpu.core.store_buffer);
    let stores = |count: u64| {
        let mut program = Program::new();
        for index in 0..count {
            program.with(
                MOV_RAX_TO_RDI,
                &store(0x10_0000 + 64 * index, Level::Memory),
            );
        }
        program.timing()
    };
    let fitting = stores(entries);
    assert_near(fitting.cycles, entries, 15);
    assert_eq!(fitting.causes[Cause::StoreBuffer], 0);
    let many = stores(20 * entries);
    let per_store = u64::from(cpu.nominal_latencies().memory) / u64::from(cpu.core.fill_buffers);
    assert_near(
        many.cycles,
        19 * entries * per_store,
        19 * entries * per_store / 5,
    );
    assert!(
        many.causes[Cause::StoreBuffer] > many.cycles / 2,
        "{many:?}"
    );
}

#[test]
fn hits_between_stores_that_miss_keep_their_requests_apart() {
    let Some(_) = llvm() else { return };
    let stores = |cpu: &Cpu, hits: u64| {
        let mut program = Program::new();
        for index in 0..400 {
            program.with(MOV_RAX_TO_RDI, &store(0x10_0000 + 64 * index, Level::L3));
            for _ in 0..hits {
                program.with(MOV_RAX_TO_RDI, &store(0x8000, Level::L1));
            }
        }
        program.timing_on(cpu).cycles
    };
    let parting = haswell();
    assert!(parting.core.hits_part_store_misses);
    let mut overlapping = haswell();
    overlapping.core.hits_part_store_misses = false;
    let latency = u64::from(parting.nominal_latencies().l3);
    let buffered = u64::from(parting.core.store_buffer);
    let apart = (400 - buffered) * latency;
    assert_near(stores(&parting, 1), apart, apart / 8);
    assert!(stores(&overlapping, 1) < apart / 3);
    assert_eq!(stores(&parting, 0), stores(&overlapping, 0));
}

#[test]
fn a_doorbell_holds_the_head_of_the_store_buffer() {
    let Some(_) = llvm() else { return };
    let cpu = haswell();
    let run = |memory: Memory, stores: u64| {
        let mut program = Program::new();
        let mut doorbell = store(0xf000_0000, Level::L1);
        doorbell[0].0.memory = memory;
        program.with(MOV_RAX_TO_RDI, &doorbell);
        for index in 0..stores {
            program.with(
                MOV_RAX_TO_RDI,
                &store(0x10_0000 + 8 * (index % 8), Level::L1),
            );
        }
        program.cycles()
    };
    let entries = u64::from(cpu.core.store_buffer);
    let price = u64::from(cpu.nominal_latencies().uncached_store);
    // The buffer hides the price from a core that stores little.
    assert_near(
        run(Memory::Uncached, entries / 2),
        run(Memory::WriteBack, entries / 2),
        2,
    );
    let (doorbell, plain) = (run(Memory::Uncached, 1000), run(Memory::WriteBack, 1000));
    assert_near(doorbell - plain, price - entries, 10);
}

#[test]
fn a_misprediction_costs_its_penalty_and_the_wait_for_the_branch() {
    let Some(_) = llvm() else { return };
    let run = |mispredicted: bool| {
        let mut program = Program::new();
        for _ in 0..50 {
            program.with(MOV_RAX_FROM_RDI, &load(0x10_0000, Level::L1));
            program.plain(TEST_RAX_RAX);
            program.plain(JNE);
            if mispredicted {
                program.mispredicted();
            }
            for _ in 0..8 {
                program.plain(NOP);
            }
        }
        program.timing()
    };
    let (right, wrong) = (run(false), run(true));
    let cpu = haswell();
    let least = u64::from(cpu.core.mispredict_penalty + cpu.l1d.latency);
    let each = (wrong.cycles - right.cycles) / 50;
    assert!(
        (least..least + 8).contains(&each),
        "{each} cycles each, at least {least} expected"
    );
    assert!(
        wrong.causes[Cause::Mispredict] > wrong.cycles / 2,
        "{wrong:?}"
    );
}

#[test]
fn a_fence_waits_for_the_stores_and_holds_later_loads() {
    let Some(_) = llvm() else { return };
    let run = |fence: &[u8]| {
        let mut program = Program::new();
        program.with(MOV_RAX_TO_RDI, &store(0x10_0000, Level::Memory));
        program.plain(fence);
        program.with(MOV_RAX_FROM_RDI, &load(0x20_0000, Level::L1));
        program.cycles()
    };
    let memory = u64::from(haswell().nominal_latencies().memory);
    assert!(run(MFENCE) > memory);
    assert!(run(NOP) < memory);
}

#[test]
fn pushes_do_not_wait_for_each_other() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for index in 0..1000 {
        program.with(PUSH_RBX, &store(0x10_0000 - 8 * (index % 64), Level::L1));
    }
    assert_near(program.cycles(), 1000, 20);
}

#[test]
fn causes_and_addresses_add_up_to_the_cycles() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for index in 0..200 {
        let level = [Level::L1, Level::L2, Level::L3, Level::Memory][index as usize % 4];
        program.with(MOV_RAX_FROM_RDI, &load(0x10_0000 + 64 * index, level));
        program.plain(ADD_RBX_RAX);
        program.with(MOV_RAX_TO_RDI, &store(0x20_0000 + 64 * index, level));
    }
    let timing = program.timing();
    assert_eq!(timing.causes.total(), timing.cycles);
    assert_eq!(
        timing
            .by_address
            .values()
            .map(|causes| causes.total())
            .sum::<u64>(),
        timing.cycles
    );
    assert_eq!(timing.instructions, 600);
    assert_eq!(timing, program.timing());
}

#[test]
fn a_slower_clock_needs_fewer_cycles_for_memory() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    for index in 0..100 {
        program.with(
            MOV_RAX_FROM_RAX,
            &load(0x10_0000 + 64 * index, Level::Memory),
        );
    }
    let cpu = haswell();
    let costs = Costs::new(&Llvm::find().unwrap(), &cpu, &program.code).unwrap();
    let cycles = |mhz: u32| {
        let mut window = Window::new(&cpu, mhz, &costs);
        for (step, served, _) in &program.steps {
            window.execute(step, served, false).unwrap();
        }
        window.cycles()
    };
    assert!(cycles(1600) * 10 < cycles(3300) * 7);
}

#[test]
fn the_window_agrees_with_llvm_mca_where_both_know_everything() {
    let Some(llvm) = llvm() else { return };
    // Independent and dependent work on registers, and loads from L1.
    let mut program = Program::new();
    for index in 0..1500 {
        match index % 5 {
            0 => program.plain(ADD_RAX_RAX),
            1 => program.plain(&[0x48, 0x8d, 0x4f, 0x08]), // lea rcx, [rdi + 8]
            2 => program.plain(&[0x49, 0x0f, 0xaf, 0xd0]), // imul rdx, r8
            3 => program.with(&[0x4c, 0x8b, 0x0f], &load(0x10_0000, Level::L1)), // mov r9, [rdi]
            _ => program.plain(&[0x49, 0x31, 0xf2]),       // xor r10, rsi
        };
    }
    for name in Cpu::names() {
        let cpu = Cpu::named(name).unwrap();
        let ours = program.timing_on(&cpu).cycles;
        let line: Vec<Timed> = program
            .steps
            .iter()
            .map(|(step, served, _)| Timed {
                decoded: program.code.get(step.address).unwrap(),
                load: served.first().map(|_| cpu.l1d.latency),
            })
            .collect();
        let theirs = simulate(&llvm, &cpu.llvm_mca, &line).unwrap();
        assert_eq!(theirs.instructions, 1500);
        assert_near(ours, theirs.cycles, theirs.cycles / 20);
    }
}

#[test]
fn a_latency_for_llvm_mca_makes_its_load_slower() {
    let Some(llvm) = llvm() else { return };
    let mut code = Code::new();
    let decoded = code.insert(START, MOV_RAX_FROM_RAX).unwrap().clone();
    let cycles = |load: Option<u32>| {
        let line = vec![
            Timed {
                decoded: &decoded,
                load
            };
            100
        ];
        simulate(&llvm, "haswell", &line).unwrap().cycles
    };
    assert_near(cycles(None), 500, 10);
    assert_near(cycles(Some(34)), 3400, 10);
}

#[test]
fn costs_replace_what_llvm_has_no_cost_for() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    program.plain(&[0xf3, 0x0f, 0x1e, 0xfa]); // endbr64
    program.plain(&[0xf0, 0x48, 0xff, 0x07]); // lock inc qword [rdi]
    program.plain(&[0xf3, 0x48, 0xa5]); // rep movsq
    program.plain(&[0xf3, 0xc3]); // rep ret
    program.plain(&[0xf3, 0x0f, 0xb8, 0xc1]); // popcnt eax, ecx: the prefix belongs to the opcode
    let costs = Costs::new(&Llvm::find().unwrap(), &haswell(), &program.code).unwrap();
    assert_eq!(costs.replaced(), [START, START + 4, START + 8, START + 11]);
    assert!(costs.llvm_version().starts_with("22."));
}

#[test]
fn steps_that_do_not_fit_are_errors() {
    let Some(_) = llvm() else { return };
    let mut program = Program::new();
    program.with(MOV_RAX_FROM_RDI, &load(0x10_0000, Level::L1));
    let cpu = haswell();
    let costs = Costs::new(&Llvm::find().unwrap(), &cpu, &program.code).unwrap();
    let mut window = Window::new(&cpu, 3300, &costs);
    let mut step = program.steps[0].0.clone();
    let error = window.execute(&step, &[], false).unwrap_err();
    assert_eq!(
        error,
        PipelineError::Accesses {
            address: START,
            accesses: 1,
            served: 0
        }
    );
    step.address = 0x9000;
    assert_eq!(
        window.execute(&step, &[], false).unwrap_err(),
        PipelineError::UnknownInstruction(0x9000)
    );
}

/// Writes a program that pretends to be LLVM's.
fn pretend(folder: &Path, name: &str, version: &str, body: &str) {
    let path = folder.join(name);
    let script = format!("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'LLVM version {version}'; exit; fi\n{body}\n");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What happens with an `llvm-mca` that does `body`.
fn costs_with(body: &str, limit: Duration) -> LlvmError {
    let folder = tempfile::tempdir().unwrap();
    pretend(folder.path(), "llvm-mc", "22.1.0", "echo nop");
    pretend(folder.path(), "llvm-mca", "22.1.0", body);
    let llvm = Llvm::at(folder.path()).unwrap().with_time_limit(limit);
    let mut program = Program::new();
    program.plain(NOP);
    Costs::new(&llvm, &haswell(), &program.code).unwrap_err()
}

#[test]
fn a_missing_or_other_llvm_is_an_error_that_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = Llvm::at(folder.path()).unwrap_err().to_string();
    assert!(text.contains("bench/setup/llvm-mca.sh"), "{text}");
    assert!(
        text.contains(&folder.path().display().to_string()),
        "{text}"
    );
    pretend(folder.path(), "llvm-mc", "19.1.0", "");
    pretend(folder.path(), "llvm-mca", "19.1.0", "");
    assert!(matches!(
        Llvm::at(folder.path()),
        Err(LlvmError::Missing { .. })
    ));
}

#[test]
fn an_llvm_that_fails_or_prints_something_else_is_an_error() {
    let limit = Duration::from_secs(20);
    let failed = costs_with("echo 'no such processor' >&2; exit 1", limit).to_string();
    assert!(failed.contains("no such processor"), "{failed}");
    for output in [
        "true",
        "echo 'Resources:'; echo '[0] - A:1'; echo '[1] [2] Instructions:'",
        "echo 'Resources:'; echo '[0] - A:1'; echo '[1] [2] Instructions:'; echo '1 x 0.5'",
        "echo 'Resources:'; echo '[0] - A:1000'",
    ] {
        let error = costs_with(output, limit);
        assert!(
            matches!(error, LlvmError::Malformed { .. }),
            "{output}: {error}"
        );
    }
}

#[test]
fn an_llvm_that_hangs_is_killed() {
    let start = Instant::now();
    let error = costs_with("exec sleep 60", Duration::from_millis(200));
    assert!(matches!(error, LlvmError::TimeOut { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn an_unknown_instruction_or_processor_is_an_error() {
    let Some(llvm) = llvm() else { return };
    let mut code = Code::new();
    code.insert(START, NOP).unwrap();
    let mut cpu = haswell();
    cpu.llvm_mca = "no-such-cpu".to_owned();
    assert!(matches!(
        Costs::new(&llvm, &cpu, &code),
        Err(LlvmError::Failed { .. } | LlvmError::Malformed { .. })
    ));
}
