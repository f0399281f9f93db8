//! A port of a card, through one of the three drivers.
//!
//! The driver is a library, `libports.so`, which the program loads. So the application is the same
//! machine code with each driver, and only the driver differs.

mod library;
mod port;

pub use port::{Port, PortConfig, PortStats, RxBatch, TxBatch, MAX_FRAME};

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};

/// The drivers by name.
pub const NAMES: [&str; 3] = ["c", "rust", "rust-unsafe"];

/// The file of a driver: that of a name beside this program, or the file itself.
///
/// # Errors
/// If there is no such file.
pub fn library_path(driver: &str) -> Result<PathBuf> {
    let path = if NAMES.contains(&driver) {
        let program = std::env::current_exe().context("cannot find this program")?;
        // build/bin/apps/PROGRAM, beside build/bin/NAME/libports.so.
        let programs = program.parent().and_then(Path::parent);
        let programs = programs.context("this program is in no folder")?;
        programs.join(driver).join("libports.so")
    } else {
        PathBuf::from(driver)
    };
    if !path.is_file() {
        bail!(
            "{}: no such library; --driver is {}, kernel, or the path of a libports.so (`make build` \
             builds them)",
            path.display(),
            NAMES.join(", ")
        );
    }
    Ok(path)
}
