use proptest::prelude::*;

use super::Level::{Memory, L1, L2, L3};
use super::*;

const BASE: u64 = 0x10_0000_0000;

/// Haswell without the fetches of pairs, so that a test sees only what it asks for.
fn quiet() -> Cpu {
    Cpu {
        adjacent_line: false,
        ..Cpu::named("haswell").unwrap()
    }
}

fn with_dma(cpu: &Cpu, dma: Dma) -> Hierarchy {
    let region = BASE..BASE + (64 << 20);
    Hierarchy::new(cpu, dma, vec![region])
}

/// Empty caches, with DMA to L3.
fn hierarchy(cpu: &Cpu) -> Hierarchy {
    with_dma(cpu, Dma::L3)
}

/// The next instruction, at the address `instruction`, makes one access.
fn at(caches: &mut Hierarchy, instruction: u64, kind: AccessKind, address: u64) -> Level {
    caches.step(instruction);
    caches.access(&Access {
        address,
        bytes: 8,
        kind,
        register: false,
    })
}

/// The same. It is another instruction each time, so that no stride is followed.
fn now(caches: &mut Hierarchy, kind: AccessKind, address: u64) -> Level {
    at(caches, caches.now, kind, address)
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

#[test]
fn a_load_hits_if_its_lines_were_loaded_before() {
    let mut caches = hierarchy(&quiet());
    // The last two cross a line.
    let expected = [
        (0, Memory),
        (56, L1),
        (64, Memory),
        (124, Memory),
        (124, L1),
    ];
    for (offset, expected) in expected {
        assert_eq!(load(&mut caches, BASE + offset), expected, "{offset}");
    }
}

#[test]
fn buffers_that_fall_into_the_same_set_leave_l1_for_l2() {
    let mut caches = hierarchy(&quiet());
    for expected in [Memory, L2, L2] {
        for index in 0..9 {
            assert_eq!(load(&mut caches, BASE + index * 4096), expected);
        }
    }
}

#[test]
fn a_card_that_writes_takes_the_lines_to_where_dma_goes() {
    for (dma, expected) in [(Dma::L3, L3), (Dma::Memory, Memory)] {
        let mut caches = with_dma(&quiet(), dma);
        load(&mut caches, BASE);
        load(&mut caches, BASE + 64);
        caches.device_writes(BASE + 60, 8);
        for address in [BASE, BASE + 64] {
            assert_eq!(load(&mut caches, address), expected);
            assert_eq!(load(&mut caches, address), L1);
        }
    }
}

#[test]
fn a_card_fills_only_its_own_ways() {
    let mut cpu = quiet();
    cpu.l3.size_kib = 1;
    let mut caches = hierarchy(&cpu);
    // The only set is empty. Still only two of its ways are used.
    caches.device_writes(BASE, 12 * 64);
    for index in (0..12).rev() {
        let level = load(&mut caches, BASE + index * 64);
        assert_eq!(level == L3, index >= 10, "{index}");
    }
}

#[test]
fn pages_of_2_mib_do_not_compete_for_l3() {
    // Sets of 2 MiB in all, as on Skylake-SP.
    let mut caches = hierarchy(&Cpu::named("skylake-sp").unwrap());
    let same = (0..12).map(|page| BASE + (page << 21));
    same.clone()
        .for_each(|address| caches.device_writes(address, 64));
    for address in same {
        assert_eq!(load(&mut caches, address), L3);
    }
}

#[test]
fn a_victim_l3_gives_its_line_away() {
    let mut caches = hierarchy(&Cpu {
        l3_contents: Contents::Victims,
        ..quiet()
    });
    caches.device_writes(BASE, 64);
    assert_eq!(load(&mut caches, BASE), L3);
    let line = caches.frames.line(BASE);
    assert!(!caches.l3.contains(line));
    // 16 lines of one L2 set push it out of L1 and L2, back into L3.
    for index in 1..=16 {
        load(&mut caches, BASE + (index << 15));
    }
    assert_eq!(load(&mut caches, BASE), L3);
}

#[test]
fn a_line_that_was_just_asked_for_is_on_its_way() {
    for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Prefetch] {
        let mut caches = hierarchy(&quiet());
        assert_eq!(now(&mut caches, kind, BASE), Memory);
        // Haswell's reorder buffer has 192 entries.
        (0..190).for_each(|_| caches.step(0));
        assert_eq!(now(&mut caches, AccessKind::Load, BASE), Level::Underway);
        assert_eq!(now(&mut caches, AccessKind::Load, BASE), L1);
    }
}

#[test]
fn an_l2_miss_also_fetches_the_other_line_of_the_pair() {
    let mut caches = hierarchy(&Cpu::named("haswell").unwrap());
    load(&mut caches, BASE + 64);
    assert_eq!(load(&mut caches, BASE), L2);
    // A load that waits for the prefetch counts where the line was.
    for address in [BASE + 128, BASE + 192] {
        assert_eq!(now(&mut caches, AccessKind::Load, address), Memory);
    }
}

#[test]
fn a_load_instruction_is_followed_after_two_equal_strides() {
    let cases: [([u64; 3], Option<u64>); 8] = [
        ([0, 256, 512], Some(12)),
        ([3072, 2048, 1024], Some(0)),
        ([0, 2048, 4096], Some(96)),
        // The next line is in another page, the stride is too long or changes, or the line is the same.
        ([1024, 2048, 3072], None),
        ([0, 2112, 4224], None),
        ([0, 64, 192], None),
        ([0, 8, 16], None),
        ([0, 0, 0], None),
    ];
    for (offsets, expected) in cases {
        let mut strides = Strides::default();
        let fetched = offsets.map(|offset| strides.load(1, BASE + offset));
        let expected = expected.map(|line| BASE / LINE + line);
        assert_eq!(fetched, [None, None, expected], "{offsets:?}");
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
    for (offset, expected) in [(0, Memory), (256, Memory), (512, Memory), (768, L1)] {
        let level = at(&mut caches, 0x4500, AccessKind::Load, BASE + offset);
        assert_eq!(level, expected, "{offset}");
        idle(&mut caches);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The core accesses random lines on Haswell with a small L3, or the card writes them.
    #[test]
    fn an_inclusive_l3_holds_all_lines_of_l1_and_l2(
        acts in prop::collection::vec((0..3, 0_u64..3000), 1..4000)
    ) {
        let mut cpu = quiet();
        cpu.l3.size_kib = 512;
        let mut caches = hierarchy(&cpu);
        // The lines share the sets of the caches evenly.
        let place = |line| BASE + line * 1088;
        for (act, line) in acts {
            let kind = match act {
                0 => AccessKind::Load,
                1 => AccessKind::Store,
                _ => {
                    caches.device_writes(place(line), 64);
                    continue;
                }
            };
            now(&mut caches, kind, place(line));
        }
        for line in (0..3000).map(place) {
            let line = caches.frames.line(line);
            let inner = caches.l1.contains(line) || caches.l2.contains(line);
            prop_assert!(!inner || caches.l3.contains(line));
        }
    }
}
