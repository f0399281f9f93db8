//! Disassembles programs with objdump, and selects functions.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use perfcounters::process::find_program;

use super::listing::{self, Function};

/// Disassembles a program; with `lines`, adds source lines and inlined functions.
///
/// # Errors
/// If the program or objdump is missing, or objdump fails.
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

/// Refuses a program that is not for x86-64, whose instructions and registers alone are known here.
///
/// # Errors
/// If the program is for another architecture, or cannot be read.
pub fn check_architecture(program: &Path) -> Result<()> {
    /// `e_machine` of an ELF header, and its value for x86-64 (System V ABI, AMD64 supplement, 4.1).
    const MACHINE: std::ops::Range<usize> = 18..20;
    const X86_64: [u8; 2] = 62u16.to_le_bytes();
    let content =
        std::fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    if content.get(MACHINE) != Some(X86_64.as_slice()) {
        bail!(
            "{} is not for x86-64, and code of other processors cannot be compared yet; \
             `triptych asm` without --diff shows it",
            program.display()
        );
    }
    Ok(())
}

/// Whether a function has this name, without its path and suffixes.
pub fn is_named(function: &Function, name: &str) -> bool {
    listing::short(&function.name) == name
}

/// The functions with these names. For a name that no function has, the functions into which it
/// was inlined.
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

/// Says why none of these functions was found in a program.
pub fn not_found_message(program: &Path, functions: &[Function], names: &[&str]) -> String {
    let names = names.join(", ");
    // Without symbols, objdump prints only the names of sections.
    match functions
        .iter()
        .all(|function| function.name.starts_with('.'))
    {
        true => format!(
            "{} is stripped: it has no symbols to find {names}",
            program.display()
        ),
        false => format!(
            "{} has no function {names}: it is inlined, and the program has no line tables; omit \
             --program to build one with line tables",
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
    fn only_x86_64_code_is_compared() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let header = |machine: u8| [&[0; 18][..], &[machine, 0]].concat();
        std::io::Write::write_all(&mut file, &header(183)).unwrap();
        let error = check_architecture(file.path()).unwrap_err().to_string();
        assert!(error.contains("is not for x86-64"), "{error}");
        std::fs::write(file.path(), header(62)).unwrap();
        check_architecture(file.path()).unwrap();
    }

    #[test]
    fn an_inlined_function_selects_the_functions_that_contain_it() {
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
    fn a_function_that_is_not_found_has_a_reason() {
        let stripped = not_found_message(Path::new("p"), &[function(".text", &[])], &DATA_PATH);
        assert!(stripped.contains("stripped"), "{stripped}");
        let inlined = not_found_message(Path::new("p"), &[function("main", &[])], &["forward"]);
        assert!(inlined.contains("inlined"), "{inlined}");
    }
}
