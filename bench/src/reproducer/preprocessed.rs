//! The preprocessed sources of the C driver.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::Process;
use perfcounters::Interrupt;

use super::script::{compiler_variable, default_compiler, Build, Commands};
use crate::build::sides::build::Built;
use crate::build::sides::side::DriverBuild;

/// Longest time for preprocessing one file.
const LIMIT: Duration = Duration::from_secs(60);

/// Preprocesses all files of the program, because link-time optimisation sees all of them. The files
/// have no line markers, so they name no path.
///
/// # Errors
/// The compiler's message.
pub fn write(
    driver: &DriverBuild,
    built: &Built,
    toolchain: &str,
    folder: &Path,
    functions: &[String],
    interrupt: &Interrupt,
) -> Result<Commands> {
    let all = flags(toolchain)?;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let folder = std::fs::canonicalize(folder)?;
    let (_, compiler) = compiler_variable("", driver);
    let mut files = Vec::new();
    for source in sources(&built.sources)? {
        // Files of two folders may have the same name.
        let name = source.trim_start_matches("c/src/").replace('/', "-");
        let name = name.trim_end_matches(".c").to_owned();
        let mut command = Command::new(&compiler);
        command
            .current_dir(&built.sources)
            .args(&all)
            .args(["-Ic/src", "-E", "-P"])
            .arg(format!(
                "-DTRIPTYCH_VERSION=\"{}\"",
                env!("CARGO_PKG_VERSION")
            ))
            .arg(&source)
            .arg("-o")
            .arg(folder.join(format!("{name}.i")));
        let logs = perfcounters::temporary::TemporaryFolder::create()?;
        Process::start(
            "the preprocessor",
            command,
            None,
            logs.path(),
            Stdio::null(),
        )?
        .wait(LIMIT, interrupt)
        .with_context(|| format!("cannot preprocess {source}"))?;
        files.push(name);
    }
    Ok(Commands {
        label: driver.label(),
        compiler: default_compiler(driver),
        functions: functions.to_vec(),
        build: Build::C { flags: all, files },
    })
}

/// The files of the program in the order in which the Makefile links them.
fn sources(top: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in [
        "c/src",
        "c/src/driver",
        "c/src/vfio",
        "c/src/vfio_user",
        "c/src/tuned",
        "c/src/rooms",
    ] {
        let path = top.join(folder);
        let entries =
            std::fs::read_dir(&path).with_context(|| format!("cannot read {}", path.display()))?;
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".c") {
                names.push(format!("{folder}/{name}"));
            }
        }
    }
    names.sort();
    let apps = [
        "fwd",
        "pipeline_threads",
        "program",
        "queue_threads",
        "run",
        "threads",
    ];
    names.extend(apps.map(|name| format!("c/src/apps/{name}.c")));
    Ok(names)
}

/// The flags that decide the code. Folders, warnings and line tables do not.
fn flags(toolchain: &str) -> Result<Vec<String>> {
    let Some(start) = toolchain.find(" -std=") else {
        bail!("toolchain.txt has no flags: {toolchain:?}");
    };
    let decides = |flag: &&str| {
        let warning = flag.starts_with("-W") && !flag.starts_with("-Wl,");
        let tables = ["-g1", "-gline-tables-only"].contains(flag);
        !flag.starts_with("-I") && !warning && !tables
    };
    let words = toolchain[start..].split_whitespace();
    Ok(words.filter(decides).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_that_decide_the_code_are_kept() {
        let line = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0 -std=gnu11 -O2 -march=haswell -flto -Ic/src -Wall \
                    -Wextra -Wl,-z,now -g1 -fno-inline";
        assert_eq!(
            flags(line).unwrap(),
            [
                "-std=gnu11",
                "-O2",
                "-march=haswell",
                "-flto",
                "-Wl,-z,now",
                "-fno-inline"
            ]
        );
        assert!(flags("gcc 12").is_err());
    }
}
