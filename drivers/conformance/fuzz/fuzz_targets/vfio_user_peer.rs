//! A hostile driver against the NIC.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hostile_fuzz::vfio_user_peer(input));
