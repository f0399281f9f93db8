//! A hostile vfio-user server, made of bytes, for the clients in the drivers.
//!
//! [`attack`] starts a client against a server that acts as its input says. Where the input has no
//! lie, the server tells the truth, so that the client gets as far as the lie: it describes an 82599,
//! maps its registers, and takes the client's memory. All waits end by themselves: a server that
//! leaves a reply unfinished closes the connection.
//!
//! The function panics if the client keeps a descriptor or a mapping. The fuzzer detects other
//! failures: crashes, reports of sanitizers, and hangs.
//!
//! `drivers/conformance/fuzz` runs it under libFuzzer, against the C and the safe driver. The test of
//! this crate runs the corpus, and mutations of it, against the safe driver.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod reply;
mod server;

use std::os::unix::net::UnixListener;

use fuzz_input::Input;
use reply::FILE_NAME;

/// Runs a client against a server that acts as the input says. The client gets the name of the
/// device to open.
///
/// # Panics
/// If the client has kept a descriptor or a mapping when it returns.
pub fn attack(input: &[u8], client: impl FnOnce(&str)) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("port0.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let before = open_descriptors();
    std::thread::scope(|scope| {
        let server = scope.spawn(|| server::serve(&listener, &mut Input(input)));
        client(&format!("vfio-user:{}", socket.display()));
        server::wake(&socket);
        server.join().unwrap();
    });
    assert_eq!(open_descriptors(), before, "the client keeps descriptors");
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains(FILE_NAME), "the client keeps a mapping");
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
