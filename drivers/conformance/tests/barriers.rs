//! Are the barriers of the data path in the AArch64 machine code?
//!
//! An AArch64 processor may let a device see the tail register's new value before the descriptors, or
//! read a packet before its DD bit. A run rarely shows that, and a run in an emulator on x86-64 never does.
//! So this test reads the machine code of the three drivers: between the stores of descriptors and the
//! store of the tail stands `dmb oshst`, and after the loads of DD stands `dmb oshld`.
//!
//! `make test ONLY=arm-test` builds the drivers for AArch64 and runs the test. On an AArch64 machine it always runs.
#![allow(clippy::unwrap_used)] // for a test

use std::process::Command;

use anyhow::{ensure, Context, Result};
use conformance::{forwarder_program, Implementation};

const STORES: &str = "dmb oshst";
const LOADS: &str = "dmb oshld";

/// The functions of the data path, as each compiler names them. A compiler may inline the first two into
/// the third.
const DATA_PATH: [&str; 3] = ["rx_batch", "tx_batch", "forward"];

/// A function: its name, and its instructions with single spaces and without comments.
type Function = (String, Vec<String>);

/// Parses the output of objdump.
fn parse(listing: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in listing.lines() {
        if let Some(name) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once('<'))
        {
            functions.push((name.1.to_owned(), Vec::new()));
        } else if let (Some((_, text)), Some(function)) =
            (line.split_once(":\t"), functions.last_mut())
        {
            let code = text.split("//").next().unwrap_or(text);
            function
                .1
                .push(code.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    functions
}

/// The base register of a store's address, if the instruction is one of `mnemonics` and its first register
/// is of this kind: `w` has 32 bits, `x` 64.
fn stored_to<'a>(code: &'a str, mnemonics: &[&str], kind: char) -> Option<&'a str> {
    let (mnemonic, operands) = code.split_once(' ')?;
    if !mnemonics.contains(&mnemonic) || !operands.starts_with(kind) {
        return None;
    }
    operands
        .split_once('[')
        .map(|(_, address)| address.trim_end_matches(['!', ']']))
}

/// Whether the instruction may store to a descriptor: 64 bits, not to the stack.
fn is_descriptor_store(code: &str) -> bool {
    stored_to(code, &["str", "stp", "stur"], 'x').is_some_and(|to| !to.starts_with("sp"))
}

/// Whether the instruction may store to a mapped register: 32 bits, at a pointer without an offset.
fn is_register_store(code: &str) -> bool {
    stored_to(code, &["str"], 'w').is_some_and(|to| !to.contains(['#', ',']) && to != "sp")
}

/// Counts the doorbells of a function: stores to a register that follow stores to descriptors.
///
/// # Errors
/// If a doorbell follows a descriptor without a barrier between them.
fn doorbells(name: &str, code: &[String]) -> Result<usize> {
    let (mut descriptor, mut barrier, mut found) = (None, false, 0);
    for line in code {
        if is_descriptor_store(line) {
            (descriptor, barrier) = (Some(line), false);
        } else if line == STORES {
            barrier = true;
        } else if is_register_store(line) {
            if let Some(descriptor) = descriptor {
                ensure!(
                    barrier,
                    "{name}: `{line}` follows `{descriptor}` without `{STORES}` between them"
                );
                found += 1;
            }
        }
    }
    Ok(found)
}

/// Checks the data path of a program.
fn check(functions: &[Function]) -> Result<()> {
    let is_data_path = |(name, _): &&Function| {
        let short = name.split(['.', '<']).next().unwrap_or(name);
        let last = short.rsplit("::").next().unwrap_or(short);
        DATA_PATH.contains(&last)
    };
    let (mut rings, mut loads) = (0, 0);
    for (name, code) in functions.iter().filter(is_data_path) {
        rings += doorbells(name, code)?;
        loads += code.iter().filter(|code| *code == LOADS).count();
    }
    ensure!(rings >= 2, "{rings} doorbells found: RDT and TDT are two");
    ensure!(loads >= 1, "no `{LOADS}` follows the loads of DD");
    Ok(())
}

/// The functions of a driver's program for AArch64.
fn disassemble(implementation: Implementation) -> Result<Vec<Function>> {
    // After a cross build, the program's place holds a script, which starts an emulator.
    let built = forwarder_program(implementation)?;
    let emulated = built.with_extension("aarch64");
    let program = if emulated.is_file() { emulated } else { built };
    let objdump = if cfg!(target_arch = "aarch64") {
        "objdump"
    } else {
        "aarch64-linux-gnu-objdump"
    };
    let output = Command::new(objdump)
        .args(["--disassemble", "--demangle", "--no-show-raw-insn"])
        .arg(&program)
        .output()
        .with_context(|| format!("cannot run {objdump}, of the package binutils"))?;
    ensure!(output.status.success(), "{objdump}: {output:?}");
    Ok(parse(&String::from_utf8(output.stdout)?))
}

#[test]
#[cfg_attr(
    not(target_arch = "aarch64"),
    ignore = "make test ONLY=arm-test cross-builds the drivers"
)]
fn every_driver_has_barriers_before_its_doorbells_and_after_dd() -> Result<()> {
    for implementation in Implementation::OURS {
        check(&disassemble(implementation)?).with_context(|| implementation.to_string())?;
    }
    Ok(())
}

/// As objdump prints the ends of the receive and transmit functions of the C driver.
const LISTING: &str = "
0000000000004120 <rx_batch>:
    41ac:\tstr\tx0, [x8, x5]
    41b4:\tstr\txzr, [x6, #8]
    41b8:\tstr\tw3, [x4, #16]
    41d4:\tdmb\toshld
    41d8:\tdmb\toshst
    41dc:\tstr\tw3, [x11]  // comment
00000000000048e8 <tx_batch>:
    49cc:\tstr\tx1, [x6, #8]
    49dc:\tdmb\toshst
    49ec:\tstr\tx20, [sp, #16]
    49f0:\tstr\tw12, [x2]
";

#[test]
fn a_missing_barrier_is_found() {
    check(&parse(LISTING)).unwrap();
    let doorbell = "tx_batch: `str w12, [x2]` follows `str x1, [x6, #8]`";
    for (barrier, instead, message) in [
        ("    49dc:\tdmb\toshst\n", "", doorbell),
        // A barrier for other processors only.
        ("oshst", "ish", "without `dmb oshst`"),
        ("oshld", "oshst", "no `dmb oshld`"),
    ] {
        let error = check(&parse(&LISTING.replace(barrier, instead))).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
