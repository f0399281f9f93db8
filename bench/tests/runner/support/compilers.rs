//! Compilers for tests: scripts that call themselves gcc 12.2.0.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes an executable script, and returns its path.
pub fn script(path: &Path, lines: &str) -> String {
    // A program that runs cannot be written, so each content gets a new file.
    let new = path.with_extension("new");
    fs::write(&new, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&new, path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A compiler that executes `act` with the output file in `$out`.
fn compiler(path: &Path, act: &str) -> String {
    let lines = format!(
        "case \"$*\" in\n\
         *--version*) echo 'gcc (Stub) 12.2.0'; exit ;;\n\
         *-dM*) echo '#define __GNUC__ 12'; echo '#define __GNUC_MINOR__ 2'; echo '#define __GNUC_PATCHLEVEL__ 0'; exit ;;\n\
         *-print-*|*-###*) exit ;;\n\
         esac\n\
         while [ $# -gt 0 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n\
         {act}"
    );
    script(path, &lines)
}

/// A compiler that writes `code` in place of machine code.
pub fn stub_compiler(path: &Path, code: &str) -> String {
    compiler(path, &format!("echo {code} > \"$out\""))
}

/// A compiler, `gcc` in a folder, that copies the program and the library of that folder.
pub fn copying_compiler(folder: &Path) -> String {
    let act = format!(
        "case $out in\n\
         */ixgbe-fwd|*/libforwarder.so) cp {}/${{out##*/}} \"$out\" ;;\n\
         *) : > \"$out\" ;;\n\
         esac",
        folder.display()
    );
    compiler(&folder.join("gcc"), &act)
}
