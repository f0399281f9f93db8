//! The folder of the command's own files.

/// The folder. It exists only in the namespace.
pub const FOLDER: &str = "/dev/.triptych";
