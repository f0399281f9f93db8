//! Generates the card's registers from the register map.

use std::error::Error;
use std::path::Path;

use ixgbe_registers::{emit, map::RegisterMap};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let registers = emit::nic::registers(&RegisterMap::of_the_82599()?);
    let folder = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("registers.rs"), registers)?;
    Ok(())
}
