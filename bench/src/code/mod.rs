//! Reads the machine code of a built driver.

pub mod asm;
pub mod machine_code;
