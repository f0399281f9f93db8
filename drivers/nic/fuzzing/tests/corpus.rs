//! Runs the fuzzer's corpus, and mutations of it, against the NIC.
#![allow(clippy::unwrap_used)]

use nic_fuzzing::{vfio_user_peer, vfio_user_stream};

/// Folders of inputs that a fuzzer found worth keeping, and of inputs that once failed.
const CORPORA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus");
/// Number of mutations to run for each target.
const MUTATIONS: u64 = 300;

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

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(format!("{CORPORA}/{target}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 8, "inputs are missing");
    paths
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .collect()
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
    bytes.truncate(4096);
    bytes
}

/// Runs a target's corpus, and mutations of it.
fn run(name: &str, target: fn(&[u8])) {
    let corpus = corpus(name);
    corpus.iter().for_each(|input| target(input));
    let mut numbers = Numbers(0x8259_9825);
    for _ in 0..MUTATIONS {
        let input = &corpus[numbers.below(corpus.len())];
        let other = &corpus[numbers.below(corpus.len())];
        target(&mutate(input, other, &mut numbers));
    }
}

#[test]
fn drivers_that_act_as_inputs_say_do_no_harm() {
    run("vfio_user_peer", vfio_user_peer);
}

#[test]
fn any_bytes_as_messages_do_no_harm() {
    run("vfio_user_stream", vfio_user_stream);
}
