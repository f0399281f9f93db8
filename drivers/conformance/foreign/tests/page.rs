//! The page lists the cases as they are.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use foreign::cases::CASES;
use foreign::table;

const PAGE: &str = "README.md";
const BEGIN: &str = "<!-- foreign: cases -->\n";
const END: &str = "<!-- /foreign: cases -->";

/// `TRIPTYCH_UPDATE=1` writes the list into the page.
#[test]
fn the_page_lists_the_cases() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (listed, after) = rest.split_once(END).unwrap();
    let wanted = table::list(CASES);
    if std::env::var_os("TRIPTYCH_UPDATE").is_some() {
        let new = format!("{before}{BEGIN}{wanted}{END}{after}");
        std::fs::write(&path, new).unwrap();
        return;
    }
    assert_eq!(listed, wanted, "run this test with TRIPTYCH_UPDATE=1");
}

#[test]
fn the_table_has_a_row_for_each_case() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(path).unwrap();
    let (_, rest) = page.split_once("<!-- foreign: generated -->").unwrap();
    let (table, _) = rest.split_once("<!-- /foreign -->").unwrap();
    for case in CASES {
        let row = format!("| `{}` |", case.name);
        assert!(
            table.contains(&row),
            "run make test ONLY=foreign: no row {row}"
        );
    }
}

#[test]
fn names_of_cases_are_unique() {
    let names: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), CASES.len());
}
