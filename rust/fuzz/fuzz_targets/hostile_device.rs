//! A hostile device against the safe driver; see `ixgbe::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ixgbe::fuzzing::hostile_device(input));
