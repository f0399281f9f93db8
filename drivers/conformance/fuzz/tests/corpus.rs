//! Runs the fuzzers' corpora, and mutations of them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use hostile_fuzz::{attack, safe_client, vfio_user_peer, vfio_user_stream};

/// Runs the inputs that a fuzzer found worth keeping, those that once failed, and so many mutations.
fn run(target: &str, mutations: u64, function: impl FnMut(&[u8])) {
    let corpora = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    fuzz_input::run(&Path::new(corpora).join(target), mutations, function).unwrap();
}

/// One test, because it counts the descriptors of the process.
#[test]
fn no_input_does_harm() {
    let mut succeeded = false;
    attack(&[], |address| succeeded = safe_client(address));
    assert!(succeeded, "an honest server is refused");

    let mutations = 400;
    let mut failed = 0;
    run("vfio_user_server", mutations, |input| {
        attack(input, |address| failed += u64::from(!safe_client(address)));
    });
    // Most lies are noticed, but some change nothing that the client needs.
    assert!(failed > mutations / 3, "{failed}");

    run("vfio_user_peer", 300, vfio_user_peer);
    run("vfio_user_stream", 300, vfio_user_stream);
}
