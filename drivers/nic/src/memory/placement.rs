//! Where DMA leaves the lines that it writes. A real card's DMA leaves them in memory, or in the last cache
//! (Intel's DDIO). This card is a program, so they stay in the caches of its own processor. After a round,
//! the card can move exactly these lines to where a real card would have left them.

use std::fs;
use std::hint::black_box;

use crate::config::Placement;
use crate::memory::shared::{Window, LINE};

/// The time-stamp counter, after all earlier loads and before all later ones.
pub(crate) use instruction::ticks;

impl Placement {
    /// Whether this processor can leave lines there.
    ///
    /// # Errors
    /// [`Unplaceable`] with the reason.
    pub fn check(self) -> Result<(), Unplaceable> {
        Placer::new(self).map(drop)
    }
}

/// Why this processor cannot leave lines at a placement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unplaceable(String);

/// A sweep reads so many times the size of the second-level cache, which pushes all else out of it.
const SWEEP: usize = 3;

/// How the lines are moved.
#[derive(Debug)]
enum Means {
    Nothing,
    /// Flushes each line, one after the other or overlapping.
    Flush {
        overlapping: bool,
    },
    Demote,
    /// Reads this memory, larger than the second-level cache. The driver's own lines leave that cache too,
    /// so what is measured is an upper bound.
    Sweep(Vec<u64>),
}

/// Moves lines to a placement.
#[derive(Debug)]
pub(crate) struct Placer(Means);

impl Placer {
    /// A placer for this processor.
    ///
    /// # Errors
    /// Why this processor cannot place lines there.
    pub(crate) fn new(placement: Placement) -> Result<Self, Unplaceable> {
        Ok(Self(match placement {
            Placement::Warm => Means::Nothing,
            Placement::Memory => Means::Flush {
                overlapping: instruction::flushes_overlap(),
            },
            Placement::L3 if instruction::can_demote() => Means::Demote,
            Placement::L3 => {
                Means::Sweep(vec![0; SWEEP * second_level_bytes()? / size_of::<u64>()])
            }
        }))
    }

    /// Moves the lines of all windows.
    pub(crate) fn place<'w>(&self, windows: impl Iterator<Item = Window<'w>>) {
        match &self.0 {
            Means::Nothing => {}
            Means::Flush { overlapping } => {
                let flush = |line| instruction::flush(*overlapping, line);
                windows.for_each(|window| window.lines().for_each(flush));
            }
            Means::Demote => {
                windows.for_each(|window| window.lines().for_each(instruction::demote))
            }
            Means::Sweep(memory) => {
                let lines = memory.iter().step_by(LINE / size_of::<u64>());
                black_box(lines.fold(0, |sum: u64, word| sum.wrapping_add(*word)));
            }
        }
        instruction::complete();
    }
}

/// Whether the kernel lists a feature of the processor.
#[cfg(target_arch = "x86_64")]
fn processor_has(feature: &str) -> bool {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpus.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == feature))
}

/// Bytes of the second-level cache.
///
/// # Errors
/// If the kernel names no third-level cache for lines to be pushed into, or no size.
fn second_level_bytes() -> Result<usize, Unplaceable> {
    let read = |index: u32, file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}");
        fs::read_to_string(path).unwrap_or_default()
    };
    let cache = |level: &str| (0..8).find(|index| read(*index, "level").trim() == level);
    let unplaceable = |why: &str| Unplaceable(why.to_owned());
    cache("3").ok_or_else(|| unplaceable("the kernel knows of no third-level cache here"))?;
    let size = cache("2").map(|index| read(index, "size"));
    let kibibytes = size.and_then(|size| size.trim().strip_suffix('K')?.parse::<usize>().ok());
    let bytes = kibibytes.map(|kibibytes| kibibytes * 1024);
    bytes.ok_or_else(|| unplaceable("the kernel does not name the size of the second-level cache"))
}

/// The processor's instructions for cache lines.
#[cfg(target_arch = "x86_64")]
mod instruction {
    use std::arch::asm;
    use std::arch::x86_64::{_mm_lfence, _rdtsc};

    use super::processor_has;

    pub(super) fn can_demote() -> bool {
        processor_has("cldemote")
    }

    /// Whether the processor has the form of CLFLUSH whose flushes overlap.
    pub(super) fn flushes_overlap() -> bool {
        processor_has("clflushopt")
    }

    /// Writes a line back and takes it out of all caches.
    #[inline(always)]
    pub(super) fn flush(overlapping: bool, line: *const u8) {
        // SAFETY: both instructions change no data. The caller's address is in a mapping.
        unsafe {
            match overlapping {
                true => asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags)),
                false => asm!("clflush [{}]", in(reg) line, options(nostack, preserves_flags)),
            }
        }
    }

    /// Moves a line to the last cache. It is a hint, so the latency of a load is measured beside it.
    #[inline(always)]
    pub(super) fn demote(line: *const u8) {
        // SAFETY: CLDEMOTE changes no data. The caller's address is in a mapping.
        unsafe { asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags)) }
    }

    /// Waits until the lines have moved: the flushes come before all later loads and stores.
    pub(super) fn complete() {
        // SAFETY: MFENCE changes no data.
        unsafe { asm!("mfence", options(nostack, preserves_flags)) }
    }

    pub(crate) fn ticks() -> u64 {
        // SAFETY: LFENCE and RDTSC write only registers.
        unsafe {
            _mm_lfence();
            let now = _rdtsc();
            _mm_lfence();
            now
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod instruction {
    use std::arch::asm;

    pub(super) fn can_demote() -> bool {
        false
    }

    pub(super) fn flushes_overlap() -> bool {
        true
    }

    /// Writes a line back and takes it out of all caches. Linux lets every program do this.
    #[inline(always)]
    pub(super) fn flush(_: bool, line: *const u8) {
        // SAFETY: DC CIVAC changes no data. The caller's address is in a mapping.
        unsafe { asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) }
    }

    pub(super) fn demote(_: *const u8) {}

    /// Waits until the lines have moved: the flushes come before all later loads and stores.
    pub(super) fn complete() {
        // SAFETY: DSB changes no data.
        unsafe { asm!("dsb sy", options(nostack, preserves_flags)) }
    }

    pub(crate) fn ticks() -> u64 {
        let now;
        // SAFETY: ISB and MRS change only a register, which Linux lets every program read.
        unsafe {
            asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) now, options(nostack, preserves_flags));
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placement_without_its_means_gives_the_reason() {
        // Memory and warm are possible on every processor that this crate supports.
        assert!(Placer::new(Placement::Warm).is_ok() && Placer::new(Placement::Memory).is_ok());
        if let Err(why) = Placer::new(Placement::L3) {
            assert!(why.to_string().contains("cache"), "{why}");
        }
    }
}
