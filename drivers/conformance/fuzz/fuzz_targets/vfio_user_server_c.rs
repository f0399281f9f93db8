//! A hostile vfio-user server against the client of the C driver.
#![no_main]

use std::ffi::{c_char, CString};

extern "C" {
    /// Opens the device, uses and closes it (`client.c`). The string ends with a NUL.
    fn fuzz_client(address: *const c_char);
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| hostile_fuzz::attack(input, |address| {
    let address = CString::new(address).expect("a path without NUL");
    // SAFETY: the string lives until the function returns, and the function keeps no pointer to it.
    unsafe { fuzz_client(address.as_ptr()) };
}));
