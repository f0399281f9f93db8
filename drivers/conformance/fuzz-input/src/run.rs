//! Runs a corpus and mutations of it.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// The least number of inputs in a corpus. With fewer, files are missing.
const LEAST: usize = 8;
/// The largest mutation, in bytes.
const MAX_LEN: usize = 4096;

/// The reason why a corpus could not be read.
#[derive(Debug)]
pub enum CorpusError {
    /// A file or the folder could not be read.
    Read(PathBuf, io::Error),
    /// The folder holds fewer than eight inputs.
    Incomplete(PathBuf, usize),
}

impl fmt::Display for CorpusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Incomplete(folder, count) => {
                let folder = folder.display();
                write!(
                    f,
                    "{folder} holds {count} inputs, but the corpus has at least {LEAST}"
                )
            }
        }
    }
}

impl std::error::Error for CorpusError {}

/// Runs `target` with every input in `folder`, and then with `mutations` changed inputs. The changes
/// are the same in every run.
///
/// # Errors
/// If the corpus cannot be read.
pub fn run(
    folder: &Path,
    mutations: u64,
    mut target: impl FnMut(&[u8]),
) -> Result<(), CorpusError> {
    let corpus = corpus(folder)?;
    corpus.iter().for_each(|input| target(input));
    let mut numbers = Numbers(0x8259_9825);
    for _ in 0..mutations {
        let input = &corpus[numbers.below(corpus.len())];
        let other = &corpus[numbers.below(corpus.len())];
        target(&mutate(input, other, &mut numbers));
    }
    Ok(())
}

fn corpus(folder: &Path) -> Result<Vec<Vec<u8>>, CorpusError> {
    let failed = |error| CorpusError::Read(folder.to_owned(), error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(failed)?;
    if paths.len() < LEAST {
        return Err(CorpusError::Incomplete(folder.to_owned(), paths.len()));
    }
    paths.sort();
    let read = |path: PathBuf| fs::read(&path).map_err(|error| CorpusError::Read(path, error));
    paths.into_iter().map(read).collect()
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
    fn every_run_makes_the_same_changes() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/vfio_user_server");
        let mut runs = [Vec::new(), Vec::new()];
        for inputs in &mut runs {
            run(&folder, 20, |input| inputs.push(input.to_vec())).unwrap();
        }
        assert_eq!(runs[0], runs[1]);
        assert!(runs[0].len() >= LEAST + 20);
    }

    #[test]
    fn a_corpus_without_inputs_is_refused() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = run(folder, 0, |_| {}).unwrap_err().to_string();
        assert!(error.contains("holds"), "{error}");
        let error = run(&folder.join("missing"), 0, |_| {})
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot read"), "{error}");
    }
}
