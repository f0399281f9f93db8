//! Runs the fuzzer's corpus, and mutations of it, against the NIC.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use nic_fuzzing::{vfio_user_peer, vfio_user_stream};

/// Folders of inputs that a fuzzer found worth keeping, and of inputs that once failed.
const CORPORA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus");
/// Number of mutations to run for each target.
const MUTATIONS: u64 = 300;

fn run(target: &str, function: fn(&[u8])) {
    fuzz_input::run(&Path::new(CORPORA).join(target), MUTATIONS, function).unwrap();
}

#[test]
fn drivers_that_act_as_inputs_say_do_no_harm() {
    run("vfio_user_peer", vfio_user_peer);
}

#[test]
fn any_bytes_as_messages_do_no_harm() {
    run("vfio_user_stream", vfio_user_stream);
}
