use proptest::prelude::*;

use super::*;
use crate::stream::Accesses;

const KIB: u64 = 1024;
const BASE: u64 = 0x10_0000_0000;

fn haswell() -> Cpu {
    Cpu::named("haswell").unwrap()
}

/// Haswell without prefetchers, so that a test sees only what it asks for.
fn quiet() -> Cpu {
    let mut cpu = haswell();
    cpu.prefetchers.adjacent_line = false;
    cpu.prefetchers.next_line = false;
    cpu.prefetchers.stride_entries = 0;
    cpu
}

fn large_pages() -> Vec<Region> {
    vec![Region {
        start: BASE,
        end: BASE + (64 << 20),
    }]
}

/// Empty caches, with DMA to L3.
fn hierarchy(cpu: &Cpu) -> Hierarchy {
    Hierarchy::new(cpu, Dma::L3, large_pages())
}

fn access(kind: AccessKind, address: u64) -> Access {
    Access {
        address,
        bytes: 8,
        kind,
        memory: Memory::WriteBack,
    }
}

fn step_at(instruction: u64, accesses: &[Access]) -> Step {
    let accesses = Accesses::from_slice(accesses);
    Step {
        address: instruction,
        accesses,
        taken: None,
        target: instruction + 4,
    }
}

/// Executes one access and enough other instructions for all lines to arrive.
fn one(caches: &mut Hierarchy, kind: AccessKind, address: u64) -> Level {
    let served = caches.step(&step_at(0x1000, &[access(kind, address)]));
    idle(caches);
    served[0]
}

fn idle(caches: &mut Hierarchy) {
    for _ in 0..2000 {
        caches.step(&step_at(0x2000, &[]));
    }
}

fn load(caches: &mut Hierarchy, address: u64) -> Level {
    one(caches, AccessKind::Load, address)
}

fn device(caches: &mut Hierarchy, kind: DeviceAccessKind, address: u64, bytes: u32) {
    caches.device(&DeviceAccess {
        address,
        bytes,
        kind,
    });
}

#[test]
fn a_line_is_missed_once_and_then_hit() {
    let mut caches = hierarchy(&quiet());
    assert_eq!(load(&mut caches, BASE), Level::Memory);
    assert_eq!(load(&mut caches, BASE + 56), Level::L1);
    assert_eq!(load(&mut caches, BASE + 64), Level::Memory);
    assert_eq!(caches.counts().loads, 3);
    assert_eq!(caches.counts().memory, 2);
}

#[test]
fn buffers_that_fall_into_the_same_set_leave_l1_for_l2() {
    let mut caches = hierarchy(&quiet());
    for round in 0..3 {
        for index in 0..9 {
            let level = load(&mut caches, BASE + index * 4 * KIB);
            if round == 0 {
                assert_eq!(level, Level::Memory);
            } else {
                assert!(level <= Level::L2, "{level:?}");
            }
        }
    }
    assert!(caches.counts().l2 > 0);
}

#[test]
fn a_card_that_writes_takes_the_line_to_l3() {
    let mut caches = hierarchy(&quiet());
    load(&mut caches, BASE);
    assert_eq!(load(&mut caches, BASE), Level::L1);
    device(&mut caches, DeviceAccessKind::Write, BASE, 64);
    assert_eq!(load(&mut caches, BASE), Level::L3);
    assert_eq!(load(&mut caches, BASE), Level::L1);
}

#[test]
fn a_card_that_reads_leaves_the_line() {
    let mut caches = hierarchy(&quiet());
    load(&mut caches, BASE);
    device(&mut caches, DeviceAccessKind::Read, BASE, 128);
    assert_eq!(load(&mut caches, BASE), Level::L1);
    assert_eq!(load(&mut caches, BASE + 64), Level::Memory);
}

#[test]
fn a_card_fills_only_its_own_ways() {
    let mut caches = hierarchy(&quiet());
    // Lines of one L3 set, found by the placement itself.
    let set_of = |caches: &mut Hierarchy, address: u64| {
        let line = caches.frames.line(address);
        caches.slices.set(line)
    };
    let set = set_of(&mut caches, BASE);
    let same: Vec<u64> = (0..)
        .map(|index| BASE + index * 64)
        .filter(|address| set_of(&mut caches, *address) == set)
        .take(12)
        .collect();
    assert_eq!(same.len(), 12);
    for address in &same {
        device(&mut caches, DeviceAccessKind::Write, *address, 64);
    }
    let held = same
        .iter()
        .filter(|address| {
            let line = caches.frames.line(**address);
            caches.l3.contains(set, line)
        })
        .count();
    // Empty ways outside those for cards stay empty.
    assert_eq!(held, 2);
}

#[test]
fn with_dma_to_memory_no_cache_keeps_what_the_card_wrote() {
    let mut caches = Hierarchy::new(&quiet(), Dma::Memory, large_pages());
    load(&mut caches, BASE);
    device(&mut caches, DeviceAccessKind::Write, BASE, 64);
    assert_eq!(load(&mut caches, BASE), Level::Memory);
}

#[test]
fn an_inclusive_l3_takes_its_victims_from_l1_and_l2() {
    let mut cpu = quiet();
    (cpu.ddio.ways, cpu.l3.ways) = (1, 1);
    let mut caches = hierarchy(&cpu);
    load(&mut caches, BASE);
    let line = caches.frames.line(BASE);
    let set = caches.slices.set(line);
    let rival = (1..)
        .map(|index| line + index)
        .find(|rival| caches.slices.set(*rival) == set)
        .unwrap();
    caches.insert_l3(rival, 1);
    assert_eq!(load(&mut caches, BASE), Level::Memory);
}

#[test]
fn loads_of_a_line_that_was_just_asked_for_find_it_on_its_way() {
    let mut caches = hierarchy(&quiet());
    let mut now = |address| caches.step(&step_at(0, &[access(AccessKind::Load, address)]))[0];
    assert_eq!(now(BASE), Level::Memory);
    assert_eq!(now(BASE + 8), Level::Underway);
    idle(&mut caches);
    assert_eq!(load(&mut caches, BASE + 8), Level::L1);
    assert_eq!(caches.counts().underway, 1);
}

#[test]
fn a_prefetch_turns_a_later_miss_into_a_hit() {
    let mut caches = hierarchy(&quiet());
    one(&mut caches, AccessKind::Prefetch, BASE);
    assert_eq!(load(&mut caches, BASE), Level::L1);
    assert_eq!(caches.counts().loads, 1);
}

#[test]
fn a_store_that_misses_asks_for_its_line() {
    let mut caches = hierarchy(&quiet());
    let mut now = |kind, address| caches.step(&step_at(0, &[access(kind, address)]))[0];
    assert_eq!(now(AccessKind::Store, BASE), Level::Memory);
    assert_eq!(now(AccessKind::Load, BASE), Level::Underway);
}

#[test]
fn an_access_across_two_lines_counts_once() {
    let mut caches = hierarchy(&quiet());
    load(&mut caches, BASE);
    assert_eq!(load(&mut caches, BASE + 60), Level::Memory);
    assert_eq!(load(&mut caches, BASE + 60), Level::L1);
    assert_eq!(caches.counts().loads, 3);
}

#[test]
fn registers_of_the_card_are_not_cached() {
    let mut caches = hierarchy(&quiet());
    let register = Access {
        memory: Memory::Uncached,
        ..access(AccessKind::Load, BASE)
    };
    for _ in 0..2 {
        assert_eq!(caches.step(&step_at(0, &[register]))[0], Level::Register);
    }
    assert_eq!(caches.counts().registers, 2);
}

#[test]
fn the_spatial_prefetcher_completes_the_pair_of_lines() {
    let mut cpu = quiet();
    cpu.prefetchers.adjacent_line = true;
    let mut caches = hierarchy(&cpu);
    load(&mut caches, BASE + 64);
    assert_eq!(load(&mut caches, BASE), Level::L2);
    assert_eq!(load(&mut caches, BASE + 128), Level::Memory);
}

#[test]
fn a_load_that_waits_for_a_prefetch_of_l2_counts_where_the_line_was() {
    let mut cpu = quiet();
    cpu.prefetchers.adjacent_line = true;
    let mut caches = hierarchy(&cpu);
    let mut now = |address| caches.step(&step_at(0, &[access(AccessKind::Load, address)]))[0];
    assert_eq!((now(BASE), now(BASE + 64)), (Level::Memory, Level::Memory));
}

#[test]
fn a_victim_l3_gives_its_line_away() {
    let mut cpu = quiet();
    cpu.l3.contents = Contents::Victims;
    let mut caches = hierarchy(&cpu);
    device(&mut caches, DeviceAccessKind::Write, BASE, 64);
    assert_eq!(load(&mut caches, BASE), Level::L3);
    let line = caches.frames.line(BASE);
    assert!(!caches.l3.contains(caches.slices.set(line), line));
    // 16 lines of one L2 set push it out of L1 and L2, back into L3.
    for index in 1..=16 {
        load(&mut caches, BASE + index * 32 * KIB);
    }
    assert_eq!(load(&mut caches, BASE), Level::L3);
}

#[test]
fn counts_restart_after_the_warm_up_and_caches_stay() {
    let mut caches = hierarchy(&quiet());
    load(&mut caches, BASE);
    caches.reset_counts();
    assert_eq!(load(&mut caches, BASE), Level::L1);
    assert_eq!(caches.counts().loads, 1);
}

/// What a random stream does.
#[derive(Clone, Debug)]
enum Act {
    Core(AccessKind, u64),
    Device(DeviceAccessKind, u64),
}

fn acts(lines: u64) -> impl Strategy<Value = Vec<Act>> {
    let act = (0_u8..5, 0..lines).prop_map(|(what, line)| match what {
        0 | 1 => Act::Core(AccessKind::Load, BASE + line * 1088),
        2 => Act::Core(AccessKind::Store, BASE + line * 1088),
        3 => Act::Device(DeviceAccessKind::Write, BASE + line * 1088),
        _ => Act::Device(DeviceAccessKind::Read, BASE + line * 1088),
    });
    prop::collection::vec(act, 1..400)
}

fn run(caches: &mut Hierarchy, acts: &[Act]) -> Vec<Level> {
    let mut levels = Vec::new();
    for act in acts {
        match act {
            Act::Core(kind, address) => {
                let step = step_at(*address & 0xff, &[access(*kind, *address)]);
                levels.extend(caches.step(&step));
            }
            Act::Device(kind, address) => device(caches, *kind, *address, 64),
        }
    }
    levels
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn two_runs_are_equal(
        acts in acts(3000),
        name in prop::sample::select(Cpu::names().collect::<Vec<_>>()),
    ) {
        let cpu = Cpu::named(name).unwrap();
        let (mut one, mut other) = (hierarchy(&cpu), hierarchy(&cpu));
        prop_assert_eq!(run(&mut one, &acts), run(&mut other, &acts));
        prop_assert_eq!(one.counts(), other.counts());
    }

    #[test]
    fn every_load_is_counted_once(acts in acts(3000)) {
        let mut caches = hierarchy(&haswell());
        run(&mut caches, &acts);
        let counts = caches.counts();
        let served = counts.l1 + counts.underway + counts.l2 + counts.l3 + counts.memory;
        let loads = acts.iter().filter(|act| matches!(act, Act::Core(AccessKind::Load, _))).count();
        prop_assert_eq!((served, counts.loads), (loads as u64, loads as u64));
    }

    #[test]
    fn a_device_write_makes_the_next_load_miss_l1_and_l2(
        acts in acts(200),
        line in 0_u64..200,
        name in prop::sample::select(Cpu::names().collect::<Vec<_>>()),
    ) {
        let mut caches = hierarchy(&Cpu::named(name).unwrap());
        run(&mut caches, &acts);
        idle(&mut caches);
        device(&mut caches, DeviceAccessKind::Write, BASE + line * 1088, 8);
        let level = load(&mut caches, BASE + line * 1088);
        prop_assert!(level > Level::L2, "{name}: {level:?}");
    }

    #[test]
    fn an_inclusive_l3_holds_all_lines_of_l1_and_l2(acts in acts(3000)) {
        let mut cpu = haswell();
        cpu.l3.size_kib = 512;
        let mut caches = hierarchy(&cpu);
        run(&mut caches, &acts);
        for address in (0..3000).map(|line| BASE + line * 1088) {
            let line = caches.frames.line(address);
            let inner = caches.l1.contains(line % caches.l1.sets(), line)
                || caches.l2.contains(line % caches.l2.sets(), line);
            prop_assert!(!inner || caches.l3.contains(caches.slices.set(line), line));
        }
    }
}
