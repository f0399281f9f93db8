//! Values and sections of the configuration files that several commands share.

pub mod backends;
pub mod values;
