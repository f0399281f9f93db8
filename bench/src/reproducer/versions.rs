//! What the compilers say about themselves.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::file::write as write_file;
use super::script::compiler_variable;
use crate::build::sides::side::DriverBuild;
use crate::build::toolchain::compiler::{Family, Invocation};

/// Writes `versions.txt` without the paths of this machine.
///
/// # Errors
/// If a compiler cannot be started, or the file cannot be written.
pub fn write(output: &Path, drivers: [&DriverBuild; 2]) -> Result<()> {
    let mut text = String::new();
    for (name, driver) in ["A", "B"].into_iter().zip(drivers) {
        text.push_str(&format!("Side {name}: {}\n\n", driver.label()));
        for arguments in questions(driver) {
            text.push_str(&format!(
                "$ {}\n{}\n",
                arguments.join(" "),
                answer(driver, &arguments)?
            ));
        }
    }
    write_file(output, "versions.txt", &text)
}

/// The command lines that print a compiler's version.
fn questions(driver: &DriverBuild) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let toolchain = &driver.recipe.toolchain;
    let (_, value) = compiler_variable("", driver);
    match (toolchain.family, &toolchain.invocation) {
        (Family::Rustc, Invocation::Rustup(name)) => {
            vec![words(&["rustup", "run", name, "rustc", "-vV"])]
        }
        (Family::Rustc, Invocation::Program(_)) => vec![words(&[&value, "-vV"])],
        _ => vec![words(&[&value, "--version"]), words(&[&value, "-v"])],
    }
}

fn answer(driver: &DriverBuild, arguments: &[String]) -> Result<String> {
    let [program, rest @ ..] = arguments else {
        return Ok(String::new());
    };
    let output = Command::new(program)
        .args(rest)
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    // GCC and clang answer `-v` on standard error.
    let said = [output.stdout, output.stderr].concat();
    Ok(without_paths(&String::from_utf8_lossy(&said), driver))
}

/// A text in which the folders of this user, this repository and the compiler have no names.
fn without_paths(text: &str, driver: &DriverBuild) -> String {
    let (_, value) = compiler_variable("", driver);
    let mut hidden: Vec<(String, &str)> = Vec::new();
    let compiler = Path::new(&value).parent().and_then(Path::parent);
    if let Some(folder) = compiler.filter(|folder| folder.components().count() > 1) {
        hidden.push((folder.display().to_string(), "COMPILER"));
    }
    if let Ok(here) = std::env::current_dir() {
        hidden.push((here.display().to_string(), "REPOSITORY"));
    }
    if let Some(home) = std::env::var_os("HOME") {
        hidden.push((home.to_string_lossy().into_owned(), "HOME"));
    }
    let mut text = text.to_owned();
    for (path, name) in hidden {
        if path.len() > 1 {
            text = text.replace(&path, name);
        }
    }
    text
}
