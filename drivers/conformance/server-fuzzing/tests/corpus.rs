//! Runs the fuzzer's corpus, and mutations of it, against the client of the safe driver.
#![allow(clippy::unwrap_used)]

use ixgbe::device::OpenDevice;
use ixgbe::mempool::Mempool;
use ixgbe::vfio::Container;
use server_fuzzing::attack;

/// Inputs that a fuzzer found worth keeping, and inputs that once failed.
const CORPUS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../fuzz/corpus/vfio_user_server"
);
/// Number of mutations to run.
const MUTATIONS: u64 = 400;

/// Opens a device and maps memory. Returns whether both succeeded.
fn client(address: &str) -> bool {
    let container = Container::new();
    let opened = OpenDevice::open(&container, address);
    let pool = Mempool::create(&container, 64);
    opened.is_ok() && pool.is_ok()
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

fn corpus() -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(CORPUS).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 8, "inputs are missing");
    let read = |path| std::fs::read(path).unwrap();
    paths.into_iter().map(read).collect()
}

/// One test, because it counts the descriptors of the process.
#[test]
fn a_client_survives_all_lies_and_succeeds_without_one() {
    let mut succeeded = false;
    attack(&[], |address| succeeded = client(address));
    assert!(succeeded);

    let corpus = corpus();
    let mut failed = 0;
    let mut run = |input: &[u8]| attack(input, |address| failed += u64::from(!client(address)));
    corpus.iter().for_each(|input| run(input));
    let mut numbers = Numbers(0x8259_9825);
    for _ in 0..MUTATIONS {
        let mut input = corpus[numbers.below(corpus.len())].clone();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(input.len() + 1);
            match numbers.below(3) {
                0 if at < input.len() => input[at] = numbers.below(256) as u8,
                1 if at < input.len() => drop(input.remove(at)),
                _ => input.insert(at, numbers.below(256) as u8),
            }
        }
        run(&input);
    }
    // Most lies are noticed, but some change nothing that the client needs.
    assert!(failed > MUTATIONS / 3, "{failed}");
}
