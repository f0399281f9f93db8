use proptest::prelude::*;

use super::*;

const KIB: u64 = 1024;
const BASE: u64 = 0x10_0000_0000;

fn haswell() -> Cpu {
    Cpu::named("haswell").unwrap()
}

/// Haswell without the fetches of pairs, so that a test sees only what it asks for.
fn quiet() -> Cpu {
    Cpu {
        adjacent_line: false,
        ..haswell()
    }
}

/// The same with an L3 of one set.
fn one_set() -> Cpu {
    let mut cpu = quiet();
    cpu.l3.size_kib = 1;
    cpu
}

fn with_dma(cpu: &Cpu, dma: Dma) -> Hierarchy {
    let region = Region {
        start: BASE,
        end: BASE + (64 << 20),
    };
    Hierarchy::new(cpu, dma, vec![region])
}

/// Empty caches, with DMA to L3.
fn hierarchy(cpu: &Cpu) -> Hierarchy {
    with_dma(cpu, Dma::L3)
}

/// The next instruction makes one access. It is another one each time, so that no stride is followed.
fn now(caches: &mut Hierarchy, kind: AccessKind, address: u64) -> Level {
    let instruction = caches.now;
    now_at(caches, instruction, kind, address)
}

/// The next instruction, at the address `instruction`, makes one access.
fn now_at(caches: &mut Hierarchy, instruction: u64, kind: AccessKind, address: u64) -> Level {
    caches.step(instruction);
    caches.access(&Access {
        address,
        bytes: 8,
        kind,
        memory: Memory::WriteBack,
    })
}

/// Loads, and waits until all lines have arrived.
fn load(caches: &mut Hierarchy, address: u64) -> Level {
    let level = now(caches, AccessKind::Load, address);
    idle(caches);
    level
}

fn idle(caches: &mut Hierarchy) {
    (0..2000).for_each(|_| caches.step(0));
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
}

#[test]
fn buffers_that_fall_into_the_same_set_leave_l1_for_l2() {
    let mut caches = hierarchy(&quiet());
    for expected in [Level::Memory, Level::L2, Level::L2] {
        for index in 0..9 {
            assert_eq!(load(&mut caches, BASE + index * 4 * KIB), expected);
        }
    }
}

#[test]
fn a_card_that_writes_takes_the_lines_to_where_dma_goes() {
    for (dma, expected) in [(Dma::L3, Level::L3), (Dma::Memory, Level::Memory)] {
        let mut caches = with_dma(&quiet(), dma);
        load(&mut caches, BASE);
        load(&mut caches, BASE + 64);
        device(&mut caches, DeviceAccessKind::Write, BASE + 60, 8);
        for address in [BASE, BASE + 64] {
            assert_eq!(load(&mut caches, address), expected);
            assert_eq!(load(&mut caches, address), Level::L1);
        }
    }
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
    // Its set is empty. Still only two of the ways are used.
    let mut caches = hierarchy(&one_set());
    device(&mut caches, DeviceAccessKind::Write, BASE, 12 * 64);
    for index in (0..12).rev() {
        let level = load(&mut caches, BASE + index * 64);
        assert_eq!(level == Level::L3, index >= 10, "{index}");
    }
}

#[test]
fn pages_of_2_mib_do_not_compete_for_l3() {
    // Sets of 2 MiB in all, as on Skylake-SP.
    let mut caches = hierarchy(&Cpu::named("skylake-sp").unwrap());
    let same: Vec<u64> = (0..12).map(|page| BASE + page * 2048 * KIB).collect();
    for address in &same {
        device(&mut caches, DeviceAccessKind::Write, *address, 64);
    }
    for address in same {
        assert_eq!(load(&mut caches, address), Level::L3);
    }
}

#[test]
fn an_inclusive_l3_takes_its_victims_from_l1_and_l2() {
    let mut caches = hierarchy(&one_set());
    for index in 0..17 {
        load(&mut caches, BASE + index * 64);
    }
    assert_eq!(load(&mut caches, BASE), Level::Memory);
}

#[test]
fn a_victim_l3_gives_its_line_away() {
    let mut caches = hierarchy(&Cpu {
        l3_contents: Contents::Victims,
        ..quiet()
    });
    device(&mut caches, DeviceAccessKind::Write, BASE, 64);
    assert_eq!(load(&mut caches, BASE), Level::L3);
    let line = caches.frames.line(BASE);
    assert!(!caches.l3.contains(line));
    // 16 lines of one L2 set push it out of L1 and L2, back into L3.
    for index in 1..=16 {
        load(&mut caches, BASE + index * 32 * KIB);
    }
    assert_eq!(load(&mut caches, BASE), Level::L3);
}

#[test]
fn a_line_that_was_just_asked_for_is_on_its_way() {
    for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Prefetch] {
        let mut caches = hierarchy(&quiet());
        assert_eq!(now(&mut caches, kind, BASE), Level::Memory);
        // Haswell's reorder buffer has 192 entries.
        (0..190).for_each(|_| caches.step(0));
        assert_eq!(now(&mut caches, AccessKind::Load, BASE), Level::Underway);
        assert_eq!(now(&mut caches, AccessKind::Load, BASE), Level::L1);
    }
}

#[test]
fn an_access_across_two_lines_counts_at_the_slower_one() {
    let mut caches = hierarchy(&quiet());
    load(&mut caches, BASE);
    assert_eq!(load(&mut caches, BASE + 60), Level::Memory);
    assert_eq!(load(&mut caches, BASE + 60), Level::L1);
}

#[test]
fn registers_of_the_card_are_not_cached() {
    let mut caches = hierarchy(&quiet());
    for _ in 0..2 {
        let level = caches.access(&Access {
            address: BASE,
            bytes: 4,
            kind: AccessKind::Load,
            memory: Memory::Uncached,
        });
        assert_eq!(level, Level::Register);
    }
}

#[test]
fn an_l2_miss_also_fetches_the_other_line_of_the_pair() {
    let mut cpu = quiet();
    cpu.adjacent_line = true;
    let mut caches = hierarchy(&cpu);
    load(&mut caches, BASE + 64);
    assert_eq!(load(&mut caches, BASE), Level::L2);
    // A load that waits for the prefetch counts where the line was.
    for address in [BASE + 128, BASE + 192] {
        let level = now(&mut caches, AccessKind::Load, address);
        assert_eq!(level, Level::Memory);
    }
}

/// The lines that one instruction's loads at `offsets` from `BASE` make the stride prefetcher fetch, counted from
/// `BASE`.
fn followed(offsets: &[u64]) -> Vec<Option<u64>> {
    let mut strides = Strides::default();
    let loads = offsets.iter();
    let fetched = loads.map(|offset| strides.load(1, BASE + offset));
    fetched.map(|line| Some(line? - BASE / LINE)).collect()
}

#[test]
fn a_load_instruction_is_followed_after_two_equal_strides() {
    assert_eq!(
        followed(&[0, 256, 512, 768]),
        [None, None, Some(12), Some(16)]
    );
    assert_eq!(followed(&[3072, 2048, 1024]), [None, None, Some(0)]);
    assert_eq!(followed(&[0, 2048, 4096]), [None, None, Some(96)]);
    // The next line is in another page, the stride is too long or changes, or the line is the same.
    for offsets in [
        [1024, 2048, 3072],
        [0, 2112, 4224],
        [0, 64, 192],
        [0, 8, 16],
        [0, 0, 0],
    ] {
        assert_eq!(followed(&offsets), [None; 3], "{offsets:?}");
    }
}

#[test]
fn the_stride_prefetcher_forgets_the_instruction_that_loaded_longest_ago() {
    for (others, expected) in [(23, Some(12)), (24, None)] {
        let mut strides = Strides::default();
        strides.load(0, BASE);
        strides.load(0, BASE + 256);
        for other in 1..=others {
            strides.load(other, BASE);
        }
        // Only the low 8 bits tell instructions apart.
        let fetched = strides.load(0x4500, BASE + 512);
        assert_eq!(fetched.map(|line| line - BASE / LINE), expected);
    }
}

#[test]
fn lines_of_a_stride_arrive_in_l1() {
    let mut caches = hierarchy(&quiet());
    for (offset, expected) in [
        (0, Level::Memory),
        (256, Level::Memory),
        (512, Level::Memory),
        (768, Level::L1),
    ] {
        let level = now_at(&mut caches, 0x4500, AccessKind::Load, BASE + offset);
        assert_eq!(level, expected, "{offset}");
        idle(&mut caches);
    }
}

/// What a random stream does to a line: the core accesses it, or the card writes it.
fn acts(lines: u64) -> impl Strategy<Value = Vec<(Option<AccessKind>, u64)>> {
    let kinds = vec![Some(AccessKind::Load), Some(AccessKind::Store), None];
    prop::collection::vec((prop::sample::select(kinds), 0..lines), 1..400)
}

fn run(caches: &mut Hierarchy, acts: &[(Option<AccessKind>, u64)]) -> Vec<Level> {
    let mut levels = Vec::new();
    for (kind, line) in acts {
        let address = BASE + line * 1088;
        match kind {
            Some(kind) => levels.push(now(caches, *kind, address)),
            None => device(caches, DeviceAccessKind::Write, address, 64),
        }
    }
    levels
}

fn cpus() -> impl Strategy<Value = Cpu> {
    let cpus: Vec<_> = Cpu::names().map(|name| Cpu::named(name).unwrap()).collect();
    prop::sample::select(cpus)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn two_runs_are_equal(acts in acts(3000), cpu in cpus()) {
        prop_assert_eq!(run(&mut hierarchy(&cpu), &acts), run(&mut hierarchy(&cpu), &acts));
    }

    #[test]
    fn a_device_write_makes_the_next_load_miss_l1_and_l2(
        acts in acts(200),
        line in 0_u64..200,
        cpu in cpus(),
    ) {
        let mut caches = hierarchy(&cpu);
        run(&mut caches, &acts);
        idle(&mut caches);
        device(&mut caches, DeviceAccessKind::Write, BASE + line * 1088, 8);
        prop_assert!(load(&mut caches, BASE + line * 1088) > Level::L2);
    }

    #[test]
    fn an_inclusive_l3_holds_all_lines_of_l1_and_l2(acts in acts(3000)) {
        let mut cpu = haswell();
        cpu.l3.size_kib = 512;
        let mut caches = hierarchy(&cpu);
        run(&mut caches, &acts);
        for address in (0..3000).map(|line| BASE + line * 1088) {
            let line = caches.frames.line(address);
            let inner = caches.l1.contains(line) || caches.l2.contains(line);
            prop_assert!(!inner || caches.l3.contains(line));
        }
    }
}
