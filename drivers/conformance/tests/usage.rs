//! The command line: what the forwarder refuses and accepts. These tests need no NIC.

use std::time::Duration;

use anyhow::{ensure, Result};
use conformance::{for_each_implementation, Implementation, Output, Program};

for_each_implementation!(
    help_names_every_option,
    the_version_is_that_of_the_project,
    a_wrong_command_line_is_refused,
    numbers_are_decimal_digits,
    values_may_follow_an_equals_sign,
    options_may_follow_devices,
);

/// No run here waits for a device.
const LIMIT: Duration = Duration::from_secs(5);

/// Devices that do not exist. The forwarder opens them only if the command line is correct.
const A: &str = "vfio-user:/nonexistent/a.sock";
const B: &str = "vfio-user:/nonexistent/b.sock";

fn run(implementation: Implementation, arguments: &[&str]) -> Result<Output> {
    Program::forwarder(implementation)?
        .args(arguments)
        .run(LIMIT)
}

/// Checks that the forwarder names the wrong argument and points to `--help` in a few lines on standard
/// error, with exit status 2.
fn expect_refused(implementation: Implementation, arguments: &[&str], names: &str) -> Result<()> {
    let output = run(implementation, arguments)?;
    output.expect_exit(2)?;
    let message = output.stderr.to_lowercase();
    ensure!(message.contains(names), "does not name {names}: {output}");
    ensure!(
        message.contains("--help"),
        "does not point to --help: {output}"
    );
    let lines = output.stderr.lines().filter(|line| !line.is_empty());
    ensure!(lines.count() <= 5, "prints more than a few lines: {output}");
    ensure!(
        output.stdout.is_empty(),
        "the error is not on standard error: {output}"
    );
    Ok(())
}

fn the_version_is_that_of_the_project(implementation: Implementation) -> Result<()> {
    for option in ["--version", "-V"] {
        let output = run(implementation, &[option])?;
        output.expect_success()?;
        let expected = concat!("ixgbe-fwd ", env!("CARGO_PKG_VERSION"), "\n");
        ensure!(output.stdout == expected, "{option}: {output}");
    }
    Ok(())
}

/// Checks that the forwarder accepts the command line and fails at the first device.
fn expect_accepted(implementation: Implementation, arguments: &[&str]) -> Result<()> {
    let arguments = [&["--connect-timeout", "0.01"], arguments].concat();
    run(implementation, &arguments)?
        .expect_exit(1)?
        .expect_stderr([A])?;
    Ok(())
}

fn help_names_every_option(implementation: Implementation) -> Result<()> {
    for option in ["--help", "-h"] {
        let output = run(implementation, &[option])?;
        output.expect_success()?;
        for name in [
            "--batch",
            "--ring-size",
            "--packets",
            "--duration",
            "--connect-timeout",
            "--link-timeout",
            "--json",
            "--help",
            "--version",
            "DEVICE",
        ] {
            ensure!(
                output.stdout.contains(name),
                "{option} does not name {name}: {output}"
            );
        }
        for explained in [
            "1 to 512",
            "32",
            "64 to 4096",
            "0000:03:00.0",
            "vfio-user:PATH",
        ] {
            ensure!(
                output.stdout.contains(explained),
                "{option} lacks {explained}: {output}"
            );
        }
    }
    Ok(())
}

fn a_wrong_command_line_is_refused(implementation: Implementation) -> Result<()> {
    let wrong: &[(&[&str], &str)] = &[
        (&[], "device"),
        (&[A], "device"),
        (&[A, B, "vfio-user:/nonexistent/c.sock"], "device"),
        (&[A, A], A),
        (&["--batch", "0", A, B], "--batch"),
        (&["--batch", "513", A, B], "--batch"),
        (&["--batch", "-1", A, B], "-1"),
        (&["--batch", "abc", A, B], "--batch"),
        (&["--batch", "32x", A, B], "--batch"),
        (&["--batch", "", A, B], "--batch"),
        (&["--batch", "4294967328", A, B], "--batch"),
        (&["--ring-size", "0", A, B], "--ring-size"),
        (&["--ring-size", "500", A, B], "--ring-size"),
        (&["--ring-size", "32", A, B], "--ring-size"),
        (&["--ring-size", "8192", A, B], "--ring-size"),
        (&["--packets", "0", A, B], "--packets"),
        (&["--packets", "-1", A, B], "-1"),
        (&["--packets", "x", A, B], "--packets"),
        (&["--packets", "1.5", A, B], "--packets"),
        (&["--packets", "18446744073709551616", A, B], "--packets"),
        (&["--duration", "0", A, B], "--duration"),
        (&["--duration", "-1", A, B], "-1"),
        (&["--duration", "abc", A, B], "--duration"),
        (&["--duration", "nan", A, B], "--duration"),
        (&["--duration", "inf", A, B], "--duration"),
        (&["--duration", "1s", A, B], "--duration"),
        (&["--duration", "", A, B], "--duration"),
        (&["--connect-timeout", "0", A, B], "--connect-timeout"),
        (&["--connect-timeout", "3601", A, B], "--connect-timeout"),
        (&["--connect-timeout", "", A, B], "--connect-timeout"),
        (&["--link-timeout", "0", A, B], "--link-timeout"),
        (&["--link-timeout", "3601", A, B], "--link-timeout"),
        (&["--link-timeout", "1s", A, B], "--link-timeout"),
        (&["--packets", "1", "--duration", "1", A, B], "--duration"),
        (&["--frobnicate", A, B], "--frobnicate"),
        (&["-x", A, B], "-x"),
        (&["--batch"], "--batch"),
        (&[A, B, "--json"], "--json"),
    ];
    for (arguments, names) in wrong {
        expect_refused(implementation, arguments, names)?;
    }
    Ok(())
}

fn numbers_are_decimal_digits(implementation: Implementation) -> Result<()> {
    for (option, value) in [
        ("--batch", "+5"),
        ("--batch", " 5"),
        ("--batch", "0x10"),
        ("--packets", "+5"),
        ("--duration", "+5"),
        ("--duration", "0x10"),
    ] {
        expect_refused(implementation, &[option, value, A, B], option)?;
    }
    for (option, value) in [
        ("--batch", "1"),
        ("--batch", "512"),
        ("--batch", "032"),
        ("--packets", "10000000"),
        ("--duration", "0.5"),
        ("--duration", "2"),
    ] {
        expect_accepted(implementation, &[option, value, A, B])?;
    }
    Ok(())
}

fn values_may_follow_an_equals_sign(implementation: Implementation) -> Result<()> {
    expect_accepted(implementation, &["--batch=512", "--packets=1", A, B])?;
    expect_refused(implementation, &["--batch=", A, B], "--batch")?;
    expect_refused(implementation, &["--batch=513", A, B], "--batch")
}

fn options_may_follow_devices(implementation: Implementation) -> Result<()> {
    expect_accepted(implementation, &[A, "--batch", "8", B, "--duration", "1"])?;
    expect_accepted(implementation, &["--batch", "8", "--", A, B])
}
