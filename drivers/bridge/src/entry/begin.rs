//! What happens when the program is loaded.

use std::path::PathBuf;

use bridge_config::{loaded_mark, Config, VARIABLE};

use crate::entry::{filter, fork, next, signals};
use crate::mmio::fault;
use crate::say::{self, warn};
use crate::{ports, state, sys, valgrind};

/// Status of a program whose bridge cannot work.
const FAILED: i32 = 1;

#[used]
#[link_section = ".init_array"]
static BEGIN: extern "C" fn() = begin;

extern "C" fn begin() {
    next::find_all();
    let Some(path) = std::env::var_os(VARIABLE).map(PathBuf::from) else {
        return;
    };
    say::set_verbose(std::env::var_os("TRIPTYCH_BRIDGE_TRACE").is_some_and(|value| value == "1"));
    let config = match Config::read(&path) {
        Ok(config) => config,
        Err(error) => {
            warn(format_args!(
                "{error}. `triptych with-card` writes this file"
            ));
            sys::exit(FAILED);
        }
    };
    // Another user's program may not make the file. The launcher's own program has made it before.
    let _ = std::fs::File::create(loaded_mark(&path));
    ports::configure(config);
    valgrind::detect();
    fault::prepare();
    state::lock().objects.find_placeholders();
    signals::install();
    fork::install();
    // Valgrind carries system calls out itself, so a filter would never see the program's.
    if valgrind::runs_program() {
        return;
    }
    if let Err(error) = filter::install() {
        warn(format_args!(
            "no seccomp filter ({error:?}): programs that bypass the C library, as safe Rust does, will not find the card"
        ));
    }
}
