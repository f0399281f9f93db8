//! `triptych anonymise`: copies a results folder and replaces what identifies its owner.

use std::fs;
use std::path::Path;

use anyhow::{bail, Context, Result};
use record::{RUN_FILE, SAMPLES_FILE};

use super::arguments::AnonymiseArguments;
use super::folder::{files, NewFolder};
use super::merge::MERGED_FILE;
use super::private::Private;
use crate::usage::UsageError;

/// A random number that identifies this machine, and that only its users can read.
const MACHINE_ID: &str = "/etc/machine-id";

/// A file of the results: its place in the folder, and its text.
struct Text {
    place: String,
    text: String,
}

/// Copies a folder of results without private texts.
///
/// # Errors
/// [`UsageError`] if the folder holds no run; an error if a file cannot be read or written, or if a
/// private text would remain.
pub fn run(arguments: &AnonymiseArguments) -> Result<()> {
    let folder = &arguments.folder;
    let mut texts = read(folder, "")?;
    if folder.join(MERGED_FILE).is_file() {
        for entry in fs::read_dir(folder)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().join(RUN_FILE).is_file() {
                texts.extend(read(&entry.path(), &format!("{name}/"))?);
            }
        }
    } else if !folder.join(RUN_FILE).is_file() {
        return Err(UsageError(format!(
            "{} is neither a run nor merged runs: it has no {RUN_FILE} and no {MERGED_FILE}",
            folder.display()
        ))
        .into());
    }
    let private = collect(arguments, &texts)?;
    let new = NewFolder::begin(&arguments.into)?;
    for text in &texts {
        // The columns of the samples are names of the format and numbers.
        let written = match text.place.ends_with(SAMPLES_FILE) {
            true => text.text.clone(),
            false => private.replace(&text.text),
        };
        let left = private.left(&written);
        if !left.is_empty() {
            bail!(
                "{} would still name {}: remove that by hand, and try again",
                text.place,
                left.join(", ")
            );
        }
        let path = new.path().join(&text.place);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, written).with_context(|| format!("cannot write {}", path.display()))?;
    }
    new.finish()?;
    println!(
        "{} files in {}; read them before you send them",
        texts.len(),
        arguments.into.display()
    );
    Ok(())
}

/// Reads the text files of a folder.
fn read(folder: &Path, prefix: &str) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for path in files(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        match String::from_utf8(bytes) {
            Ok(text) => texts.push(Text {
                place: format!("{prefix}{name}"),
                text,
            }),
            Err(_) => eprintln!("warning: {} is no text, and is left out", path.display()),
        }
    }
    Ok(texts)
}

/// Finds the private texts of all files.
fn collect(arguments: &AnonymiseArguments, texts: &[Text]) -> Result<Private> {
    let mut private = Private::new(arguments.pci)?;
    let salt = fs::read_to_string(MACHINE_ID).unwrap_or_default();
    for text in texts {
        if let Ok(json) = serde_json::from_str::<serde_json::Value>(&text.text) {
            if let Some(host) = json["host"]["host"].as_str() {
                private.machine(host, &salt);
            }
            if let Some(host) = json["plan"]["pktgen_host"].as_str() {
                if !host.contains('@') {
                    private.name(host, "host");
                }
            }
        }
        if !text.place.ends_with(SAMPLES_FILE) {
            private.collect(&text.text);
        }
    }
    for variable in ["USER", "SUDO_USER", "LOGNAME"] {
        private.name(&std::env::var(variable).unwrap_or_default(), "user");
    }
    for name in &arguments.name {
        private.name(name, "name");
    }
    private.fix()?;
    Ok(private)
}
