//! A hostile driver against the NIC; see `nic::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| nic::fuzzing::vfio_user_peer(input));
