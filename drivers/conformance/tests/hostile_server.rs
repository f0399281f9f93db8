//! Servers that lie, are slow, or pass the wrong descriptors. Whatever the server of its sockets does, a
//! driver ends within ten seconds, with exit status 0 or 1, and with one message that says what the server
//! did. These are the rows of the crate `hostile` that have such texts, on the path under test.

use anyhow::{bail, ensure, Result};
use conformance::{for_each_implementation, Implementation};
use hostile::builds::Build;
use hostile::row::Row;
use hostile::{server, server_rows, suite};

for_each_implementation!(
    an_honest_server_is_driven,
    the_message_says_what_the_server_did,
    memory_keeps_its_size_and_its_pages,
    servers_without_interrupts_are_refused,
);

fn an_honest_server_is_driven(implementation: Implementation) -> Result<()> {
    run(implementation, |row| row.name.contains("the truth"))
}

fn the_message_says_what_the_server_did(implementation: Implementation) -> Result<()> {
    run(implementation, |row| {
        !row.says.is_empty() && !row.interrupts
    })
}

/// The server cannot shorten the memory that it got, nor take its pages away once it is mapped. The
/// driver forwards on.
fn memory_keeps_its_size_and_its_pages(implementation: Implementation) -> Result<()> {
    run(implementation, |row| row.refused)
}

/// A kernel without asynchronous I/O, or a card without MSI-X.
fn servers_without_interrupts_are_refused(implementation: Implementation) -> Result<()> {
    run(implementation, |row| row.interrupts)
}

fn run(implementation: Implementation, wanted: fn(&Row) -> bool) -> Result<()> {
    let build = match implementation {
        Implementation::C => Build::C,
        Implementation::Rust => Build::Rust,
        Implementation::RustUnsafe => Build::RustUnsafe,
        other => bail!("no row is for {other}"),
    };
    let path = std::env::var("TRIPTYCH_PATH").unwrap_or_else(|_| "default".to_owned());
    let mut rows = server_rows::all();
    rows.retain(wanted);
    let cases = rows.iter().map(|row| suite::Case {
        row: &row.name,
        victim: build.to_string(),
        run: Box::new(|| server::run(row, build, &path)),
    });
    let mut table = Vec::new();
    let totals = suite::run(&cases.collect::<Vec<_>>(), 4, &mut table)?;
    ensure!(
        totals.failed == 0 && totals.passed > 0,
        "{}",
        String::from_utf8_lossy(&table)
    );
    Ok(())
}
