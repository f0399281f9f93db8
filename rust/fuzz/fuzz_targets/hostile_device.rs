//! Fuzzes the safe driver with a hostile device, on all its paths; see `ixgbe::fuzzing` and `ixgbe::tuned::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    ixgbe::fuzzing::hostile_device(input);
    ixgbe::tuned::fuzzing::hostile_paths(input);
});
