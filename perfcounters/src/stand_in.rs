//! A stand-in for a driver, for tests: a library with the drivers' functions and no NIC behind it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backend::Cell;
use crate::record::{Implementation, DEFAULT_FRAME_SIZE, DEFAULT_RING_SIZE};

/// A cell whose library is `tests/fixtures/fake_library.c`, built with a macro defined.
pub fn cell(folder: &Path, implementation: Implementation, define: &str) -> Cell {
    let library = folder.join(format!("{define}.so"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fake_library.c");
    let status = Command::new("cc")
        .args(["-O1", "-w", "-shared", "-fPIC"])
        .arg(format!("-D{define}"))
        .arg("-o")
        .args([&library, &source])
        .status()
        .unwrap();
    assert!(status.success());
    Cell {
        implementation,
        variant: "default".into(),
        toolchain: "cc 1.0".into(),
        batch: 32,
        ring_size: DEFAULT_RING_SIZE,
        frame_size: DEFAULT_FRAME_SIZE,
        offered_mpps: None,
        program: PathBuf::new(),
        library,
    }
}
