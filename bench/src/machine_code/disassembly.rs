//! Disassembles programs with objdump, and selects functions.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use perfcounters::process::find_program;

use super::listing::{self, Function};

pub fn disassemble(program: &Path, lines: bool) -> Result<Vec<Function>> {
    if !program.is_file() {
        bail!(
            "there is no {}: `make build` builds the drivers",
            program.display()
        );
    }
    if find_program("objdump").is_none() {
        bail!("there is no objdump; `sudo apt-get install binutils` installs it");
    }
    let mut command = Command::new("objdump");
    command.args([
        "--disassemble",
        "--demangle",
        "--no-show-raw-insn",
        "--section=.text",
    ]);
    if lines {
        command.args(["--line-numbers", "--inlines"]);
    }
    let output = command
        .arg(program)
        .output()
        .context("cannot run objdump")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("objdump cannot read {}: {}", program.display(), said.trim());
    }
    Ok(listing::parse(&String::from_utf8_lossy(&output.stdout)))
}

pub fn is_named(function: &Function, name: &str) -> bool {
    listing::short(&function.name) == name
}

/// Functions of these names; for a name that none has, those into which it was inlined.
pub fn select<'a>(functions: &'a [Function], names: &[&str]) -> Vec<&'a Function> {
    let alone = |name: &str| functions.iter().any(|function| is_named(function, name));
    let chosen = |function: &&Function| {
        names.iter().any(|name| match alone(name) {
            true => is_named(function, name),
            false => function.holds(&[*name]),
        })
    };
    functions.iter().filter(chosen).collect()
}

pub fn not_found_message(program: &Path, functions: &[Function], names: &[&str]) -> String {
    let names = names.join(", ");
    // Without symbols, objdump names sections only.
    match functions.iter().all(|function| function.name.starts_with('.')) {
        true => format!("{} is stripped: it has no symbols to find {names} by", program.display()),
        false => format!(
            "{} has no function {names}: it is inlined, and there are no line tables that say where; \
             without --program it is built with them",
            program.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::data_path::DATA_PATH;
    use super::*;

    fn function(name: &str, inlined: &[&str]) -> Function {
        Function {
            name: name.to_owned(),
            inlined: inlined.iter().map(|name| (*name).to_owned()).collect(),
            code: Vec::new(),
        }
    }

    #[test]
    fn a_function_is_shown_where_it_is_or_where_it_was_inlined() {
        let functions = [
            function("main", &["forward"]),
            function("x::Direction::forward", &["rx_batch"]),
            function("tx_batch", &[]),
            function("other", &["max"]),
        ];
        let names = |wanted: &[&str]| -> Vec<String> {
            let found = select(&functions, wanted);
            found
                .into_iter()
                .map(|function| function.name.clone())
                .collect()
        };
        assert_eq!(names(&DATA_PATH), ["x::Direction::forward", "tx_batch"]);
        assert_eq!(names(&["rx_batch"]), ["x::Direction::forward"]);
        assert!(names(&["min"]).is_empty());
    }

    #[test]
    fn a_missing_program_is_named_with_the_command_that_builds_it() {
        let error = disassemble(Path::new("/no/program"), false).unwrap_err();
        assert!(error.to_string().contains("make build"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let stripped = not_found_message(Path::new("p"), &[function(".text", &[])], &DATA_PATH);
        assert!(stripped.contains("stripped"), "{stripped}");
        let inlined = not_found_message(Path::new("p"), &[function("main", &[])], &["forward"]);
        assert!(inlined.contains("inlined"), "{inlined}");
    }
}
