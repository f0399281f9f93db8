//! The command line: what the forwarder refuses and accepts. These tests need no NIC.

use anyhow::{ensure, Result};
use conformance::{for_each_implementation, Implementation, Output, Program};

for_each_implementation!(
    help_names_every_option,
    the_version_is_that_of_the_project,
    a_wrong_command_line_is_refused,
    other_forms_of_a_command_line_are_accepted,
);

/// Devices that do not exist. The forwarder opens them only if the command line is correct.
const A: &str = "vfio-user:/nonexistent/a.sock";
const B: &str = "vfio-user:/nonexistent/b.sock";

fn run(driver: Implementation, arguments: &[&str]) -> Result<Output> {
    Program::forwarder(driver)?.args(arguments).run()
}

fn the_version_is_that_of_the_project(driver: Implementation) -> Result<()> {
    for option in ["--version", "-V"] {
        let output = run(driver, &[option])?;
        output.expect_success()?;
        let expected = concat!("ixgbe-fwd ", env!("CARGO_PKG_VERSION"), "\n");
        ensure!(output.stdout == expected, "{option}: {output}");
    }
    Ok(())
}

const NAMED: &str = "--batch --ring-size --packets --duration --connect-timeout --link-timeout --json --help --version \
                     DEVICE 32 0000:03:00.0 vfio-user:PATH";
const RANGES: [&str; 2] = ["1 to 512", "64 to 4096"];

fn help_names_every_option(driver: Implementation) -> Result<()> {
    for option in ["--help", "-h"] {
        let output = run(driver, &[option])?;
        output.expect_success()?;
        for text in NAMED.split(' ').chain(RANGES) {
            ensure!(
                output.stdout.contains(text),
                "{option} lacks {text}: {output}"
            );
        }
    }
    Ok(())
}

/// The forwarder names the wrong argument and points to `--help` in a few lines on standard error, with exit
/// status 2.
fn a_wrong_command_line_is_refused(driver: Implementation) -> Result<()> {
    let values: [(&str, &[&str]); 6] = [
        (
            "--batch",
            &[
                "0",
                "513",
                "-1",
                "abc",
                "32x",
                "",
                "4294967328",
                "+5",
                " 5",
                "0x10",
            ],
        ),
        ("--ring-size", &["0", "500", "32", "8192"]),
        (
            "--packets",
            &["0", "-1", "x", "1.5", "18446744073709551616", "+5"],
        ),
        (
            "--duration",
            &["0", "-1", "abc", "nan", "inf", "1s", "", "+5", "0x10"],
        ),
        ("--connect-timeout", &["0", "3601", ""]),
        ("--link-timeout", &["0", "3601", "1s"]),
    ];
    let of_option = |(option, values): &(&'static str, &[&'static str])| {
        let row = |value: &&'static str| {
            // A value that looks like an option is named as one.
            let named = if *value == "-1" { *value } else { *option };
            (vec![*option, value, A, B], named)
        };
        values.iter().map(row).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = values.iter().flat_map(of_option).collect();
    rows.extend([
        (vec![], "device"),
        (vec![A], "device"),
        (vec![A, B, "vfio-user:/nonexistent/c.sock"], "device"),
        (vec![A, A], A),
        (
            vec!["--packets", "1", "--duration", "1", A, B],
            "--duration",
        ),
        (vec!["--frobnicate", A, B], "--frobnicate"),
        (vec!["-x", A, B], "-x"),
        (vec!["--batch"], "--batch"),
        (vec![A, B, "--json"], "--json"),
        (vec!["--batch=", A, B], "--batch"),
        (vec!["--batch=513", A, B], "--batch"),
    ]);
    for (arguments, named) in rows {
        let output = run(driver, &arguments)?;
        output.expect_exit(2)?;
        let message = output.stderr.to_lowercase();
        let says = message.contains(named) && message.contains("--help");
        ensure!(says, "does not name {named} and --help: {output}");
        let lines = output.stderr.lines().filter(|line| !line.is_empty());
        ensure!(lines.count() <= 5 && output.stdout.is_empty(), "{output}");
    }
    Ok(())
}

/// Numbers are decimal digits, values may follow an equals sign, and options may follow devices.
fn other_forms_of_a_command_line_are_accepted(driver: Implementation) -> Result<()> {
    for arguments in [
        &["--batch", "1", A, B][..],
        &["--batch", "512", A, B],
        &["--batch", "032", A, B],
        &["--packets", "10000000", A, B],
        &["--duration", "0.5", A, B],
        &["--duration", "2", A, B],
        &["--batch=512", "--packets=1", A, B],
        &[A, "--batch", "8", B, "--duration", "1"],
        &["--batch", "8", "--", A, B],
    ] {
        // It fails at the first device.
        let output = run(
            driver,
            &[&["--connect-timeout", "0.01"], arguments].concat(),
        )?;
        output.expect_failure([A])?;
    }
    Ok(())
}
