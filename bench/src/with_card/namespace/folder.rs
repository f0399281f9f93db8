//! The folder of devices, and in it the folder of the command's own files.

/// The folder of devices.
pub const DEV: &str = "/dev";

/// The folder. It exists only in the namespace.
pub const FOLDER: &str = "/dev/.triptych";
