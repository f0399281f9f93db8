//! The description of the folder.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::file::write as write_file;
use super::measured::Measured;
use super::script::{Build, Commands};
use crate::build::sides::show::summary::summary;
use crate::build::sides::show::Comparison;

/// Writes `README.md`. `different` has, for each side, how the code of the folder's
/// build differs from that of the driver.
///
/// # Errors
/// If the file cannot be written.
pub fn write(
    output: &Path,
    comparison: &Comparison,
    commands: &[Commands; 2],
    shared: bool,
    different: &[Option<String>; 2],
    measured: &[Vec<Measured>; 2],
) -> Result<()> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "# {} against {}\n\nThis folder shows how two compilers or two sets of flags translate one function of a \
         network driver, of the project Triptych. The folder needs nothing else of the project.\n",
        commands[0].label, commands[1].label
    );
    let _ = writeln!(
        text,
        "## Expected\n\nSide B needs no more instructions than side A for the same source.\n\n## Seen\n\n```\n{}```\n",
        summary(comparison)
    );
    text.push_str(&measurements(measured));
    for (name, different) in ["A", "B"].iter().zip(different) {
        let _ = match different {
            None => writeln!(
                text,
                "- Side {name}: this folder gives the same instructions as the driver's own build."
            ),
            Some(how) => writeln!(
                text,
                "- Side {name}: this folder gives other code than the driver's own build: {how}."
            ),
        };
    }
    run_section(&mut text, commands);
    files_section(&mut text, commands, shared);
    write_file(output, "README.md", &text)
}

/// The instructions per packet, if a comparison counted them.
fn measurements(measured: &[Vec<Measured>; 2]) -> String {
    let mut text = String::new();
    for (name, found) in ["A", "B"].iter().zip(measured) {
        for found in found {
            let _ = writeln!(
                text,
                "- Side {name} needs {:.1} instructions per packet at batch {}, counted under valgrind in the \
                 comparison {}.",
                found.instructions, found.batch, found.comparison
            );
        }
        if found.is_empty() {
            let _ = writeln!(
                text,
                "- Side {name}: no comparison counted its instructions per packet."
            );
        }
    }
    text
}

/// How to build, and with which compilers.
fn run_section(text: &mut String, commands: &[Commands; 2]) {
    let _ = writeln!(text, "\n## Run\n\n```sh\n./build.sh\n```\n");
    for (name, side) in ["A", "B"].iter().zip(commands) {
        let variable = match (&side.build, side.compiler.as_deref()) {
            (Build::C { .. }, _) => format!("CC_{name}"),
            (Build::Rust { .. }, Some(compiler)) if compiler != "rustc" => {
                format!("RUSTUP_TOOLCHAIN_{name}")
            }
            (Build::Rust { .. }, _) => format!("RUSTC_{name}"),
        };
        let default = side.compiler.as_ref().map_or_else(
            || "must be set to the compiler that side was built with".to_owned(),
            |compiler| format!("is `{compiler}`, unless it is set"),
        );
        let _ = writeln!(text, "- `{variable}` {default}.");
    }
}

/// The list of files.
fn files_section(text: &mut String, commands: &[Commands; 2], shared: bool) {
    let _ = writeln!(text, "\n## Files\n\n| file | content |\n|---|---|");
    let folders: &[&str] = if shared {
        &["source/"]
    } else {
        &["source-a/", "source-b/"]
    };
    for folder in folders {
        let what = match commands
            .iter()
            .any(|side| matches!(side.build, Build::C { .. }))
        {
            true => "The sources: C is preprocessed, Rust is a crate.",
            false => "The sources as a crate with a lock file.",
        };
        let _ = writeln!(text, "| `{folder}` | {what} |");
    }
    text.push_str(
        "| `build.sh` | The commands. They write `out/a.s` and `out/b.s`, and compare them with `a.s` and `b.s`. |\n\
         | `a.s`, `b.s` | The assembly of the functions, without addresses. |\n\
         | `diff.txt` | Both beside their source, aligned regardless of registers and addresses. |\n\
         | `counts.json` | The numbers above, for programs. |\n\
         | `versions.txt` | What the compilers say about themselves. |\n",
    );
}
