//! Any bytes as messages to the NIC; see the crate `nic-fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| nic_fuzzing::vfio_user_stream(input));
