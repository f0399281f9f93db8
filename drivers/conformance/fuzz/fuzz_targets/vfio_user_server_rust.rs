//! A hostile vfio-user server against the client of the safe driver.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| hostile_fuzz::attack(input, |address| {
    hostile_fuzz::safe_client(address);
}));
