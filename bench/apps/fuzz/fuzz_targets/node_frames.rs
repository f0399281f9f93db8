//! Fuzzes the applications; see `apps::laws`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| apps::laws::node(input));
