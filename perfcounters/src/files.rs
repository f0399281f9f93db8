//! The files between a measurement and its processes.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::Serialize;

use crate::backend::MeasureError;

/// The error of a file or folder.
pub(crate) fn unusable(path: &Path) -> impl Fn(io::Error) -> MeasureError + '_ {
    move |cause| MeasureError::Other(format!("cannot use {}: {cause}", path.display()))
}

pub(crate) fn read(path: &Path) -> Result<String, MeasureError> {
    std::fs::read_to_string(path).map_err(unusable(path))
}

pub(crate) fn write(path: &Path, text: &[u8]) -> Result<(), MeasureError> {
    std::fs::write(path, text).map_err(unusable(path))
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, MeasureError> {
    let malformed = |error| format!("{} is malformed: {error}", path.display());
    Ok(serde_json::from_str(&read(path)?).map_err(malformed)?)
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), MeasureError> {
    let json = serde_json::to_vec(value).map_err(|error| unusable(path)(error.into()))?;
    // Who waits for the file finds it whole.
    let part = path.with_extension("part");
    write(&part, &json)?;
    std::fs::rename(&part, path).map_err(unusable(path))
}

/// The command of a worker: its program and first arguments, and then the file of its specification.
pub(crate) fn worker(
    (program, arguments): &(PathBuf, Vec<String>),
    specification: &impl Serialize,
    folder: &Path,
) -> Result<Command, MeasureError> {
    let file = folder.join("specification.json");
    write_json(&file, specification)?;
    let mut command = Command::new(program);
    command.args(arguments).arg(file);
    // The folder then holds everything that a driver leaves behind.
    command.env("TMPDIR", folder);
    Ok(command)
}
