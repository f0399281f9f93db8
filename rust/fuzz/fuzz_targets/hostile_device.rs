//! Fuzzes the safe driver with a hostile device; see `ixgbe::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| ixgbe::fuzzing::hostile_device(input));
