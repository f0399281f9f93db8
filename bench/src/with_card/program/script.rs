//! The interpreter of a script.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::find::find;
use crate::usage::UsageError;

/// Bytes of a script's first line that Linux reads.
const FIRST_LINE: u64 = 256;

/// The interpreter that a script's first line names; `None` if the file is no script. For `env NAME`
/// it is the program that `env` finds.
///
/// # Errors
/// The file cannot be read, or there is no such interpreter.
pub fn interpreter(path: &Path) -> Result<Option<PathBuf>, UsageError> {
    let say = |why: String| UsageError(format!("{}: {why}", path.display()));
    let mut start = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FIRST_LINE).read_to_end(&mut start))
        .map_err(|error| say(format!("cannot read this program: {error}")))?;
    let Some(line) = start.strip_prefix(b"#!") else {
        return Ok(None);
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .map(OsStr::from_bytes);
    let interpreter = words
        .next()
        .ok_or_else(|| say("its first line names no interpreter".to_owned()))?;
    let mut found = find(interpreter);
    if Path::new(interpreter).file_name() == Some(OsStr::new("env")) {
        // Options and assignments stand before the program's name.
        let named = words
            .find(|word| !word.as_bytes().starts_with(b"-") && !word.as_bytes().contains(&b'='));
        if let Some(name) = named {
            found = find(name);
        }
    }
    found.map(Some).map_err(|error| {
        say(format!(
            "the interpreter of this script cannot run: {error}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Option<PathBuf>, UsageError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        interpreter(file.path())
    }

    #[test]
    fn the_first_line_names_the_interpreter() {
        let shell = Some(PathBuf::from("/bin/sh"));
        assert_eq!(of("#!/bin/sh\n").unwrap(), shell);
        assert_eq!(of("#! /bin/sh -e\nexit").unwrap(), shell);
        assert_eq!(of("\x7fELF").unwrap(), None);
        assert_eq!(of("").unwrap(), None);
        let through_env = of("#!/usr/bin/env -S A=1 sh -e\n").unwrap().unwrap();
        assert_eq!(through_env.file_name().unwrap(), "sh");
        assert!(of("#!\n").is_err());
        assert!(of("#!/no/such/interpreter\n")
            .unwrap_err()
            .0
            .contains("/no/such/interpreter"));
    }
}
