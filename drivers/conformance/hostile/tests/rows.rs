//! Properties of the tables of scenarios.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use hostile::builds::Build;
use hostile::server::lie::Expect;
use hostile::{client, server};

#[test]
fn names_are_unique_and_begin_with_their_class() {
    let mut seen = BTreeSet::new();
    let server = server::rows::all()
        .into_iter()
        .map(|row| ("server", row.name));
    let client = client::rows::all()
        .into_iter()
        .map(|row| ("client", row.name));
    for (part, name) in server.chain(client) {
        assert!(name.contains(": ") || name.contains(' '), "{name}");
        assert!(name.len() <= 70, "{name} is too long for the table");
        assert!(
            seen.insert((part, name.clone())),
            "two rows of the {part} are named {name}"
        );
    }
}

#[test]
fn there_are_at_least_150_scenarios_of_each_side() {
    let (server, client) = (server::rows::all().len(), client::rows::all().len());
    assert!(
        server >= 150 && client >= 150,
        "server {server}, client {client}"
    );
}

#[test]
fn a_truthful_server_is_among_the_rows_and_every_build_must_work_with_it() {
    let rows = server::rows::all();
    let truths: Vec<_> = rows
        .iter()
        .filter(|row| row.name.contains("the truth"))
        .collect();
    assert_eq!(truths.len(), 3);
    assert!(truths.iter().all(|row| row.expect == Expect::Works));
    assert!(truths.iter().all(|row| row.setup.victims == Build::ALL));
}

#[test]
fn only_memory_with_metadata_spares_a_build() {
    for row in server::rows::all() {
        let spares = row.setup.victims != Build::ALL;
        assert!(!spares || row.name.starts_with("memory: "), "{}", row.name);
        assert!(row.setup.victims.contains(&Build::Rust), "{}", row.name);
    }
}

#[test]
fn a_row_of_each_class_has_the_default_options() {
    let rows = server::rows::all();
    for class in [
        "every reply",
        "registers' file",
        "reads",
        "memory",
        "both devices",
        "no answer",
    ] {
        let mut of_class = rows.iter().filter(|row| row.name.starts_with(class));
        assert!(of_class.any(|row| row.setup.defaults), "{class}");
    }
}
