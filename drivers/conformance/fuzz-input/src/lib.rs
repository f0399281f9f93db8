//! What the fuzzing crates share: a reader of inputs, and runs of a corpus without a fuzzer.
//!
//! libFuzzer makes up inputs under `make test ONLY=fuzz`. The unit tests have no fuzzer, so [`run`] repeats the
//! corpus and changes it, the same way in every run.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The least number of inputs in a corpus. With fewer, files are missing.
const LEAST: usize = 8;
/// The largest mutation, in bytes.
const MAX_LEN: usize = 4096;

/// The rest of an input, from whose front values are read. Past its end, every value is zero.
#[derive(Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(&taken);
        bytes
    }

    /// The next `count` bytes, or fewer at the end of the input.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    /// The next two bytes, little endian.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    /// The next four bytes, little endian.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// The next eight bytes, little endian.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// An index below `limit`, which is at least 1. Takes one byte.
    pub fn index(&mut self, limit: usize) -> usize {
        usize::from(self.u8()) % limit
    }
}

/// Runs `target` with every input in `folder`, and then with `mutations` changed inputs. The changes
/// are the same in every run.
///
/// # Errors
/// If the corpus cannot be read, or lacks inputs.
pub fn run(folder: &Path, mutations: u64, mut target: impl FnMut(&[u8])) -> io::Result<()> {
    let corpus = corpus(folder).map_err(|error| {
        io::Error::new(
            error.kind(),
            format!("cannot read {}: {error}", folder.display()),
        )
    })?;
    corpus.iter().for_each(|input| target(input));
    let mut numbers = Numbers(0x8259_9825);
    for _ in 0..mutations {
        let input = &corpus[numbers.below(corpus.len())];
        let other = &corpus[numbers.below(corpus.len())];
        target(&mutate(input, other, &mut numbers));
    }
    Ok(())
}

fn corpus(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let paths: io::Result<Vec<PathBuf>> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect();
    let mut paths = paths?;
    if paths.len() < LEAST {
        let text = format!(
            "it holds {} inputs, but the corpus has at least {LEAST}",
            paths.len()
        );
        return Err(io::Error::other(text));
    }
    paths.sort();
    paths.iter().map(fs::read).collect()
}

/// Pseudo-random numbers, the same in every run (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }
}

/// Changes, removes or repeats bytes of an input, or inserts bytes of another input.
fn mutate(input: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=numbers.below(6) {
        let at = numbers.below(bytes.len());
        let len = numbers.below(24).min(bytes.len() - at);
        match numbers.below(6) {
            0 => drop(bytes.drain(at..at + len)),
            1 => {
                let again = bytes[at..at + len].to_vec();
                bytes.splice(at..at, again);
            }
            2 => {
                let from = numbers.below(other.len());
                let end = (from + 1 + numbers.below(40)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)],
            _ if at < bytes.len() => bytes[at] = numbers.below(256) as u8,
            _ => {}
        }
    }
    bytes.truncate(MAX_LEN);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_the_front_and_are_zero_past_the_end() {
        let mut input = Input(&[1, 2, 3, 4, 5, 6]);
        assert_eq!((input.u8(), input.u16(), input.index(3)), (1, 0x0302, 1));
        assert_eq!(input.u32(), 0x0605);
        assert_eq!((input.u64(), input.take(3)), (0, Vec::new()));
    }

    #[test]
    fn every_run_makes_the_same_changes_and_a_corpus_without_inputs_is_refused() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = here.join("../fuzz/corpus/vfio_user_server");
        let mut runs = [Vec::new(), Vec::new()];
        for inputs in &mut runs {
            run(&folder, 20, |input| inputs.push(input.to_vec())).unwrap();
        }
        assert_eq!(runs[0], runs[1]);
        assert!(runs[0].len() >= LEAST + 20);
        let error = run(here, 0, |_| {}).unwrap_err().to_string();
        assert!(error.contains("holds"), "{error}");
        let error = run(&here.join("missing"), 0, |_| {})
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot read"), "{error}");
    }
}
