//! The page lists the cases as they are.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use foreign::cases::CASES;
use foreign::table;

const BEGIN: &str = "<!-- foreign: cases -->\n";
const END: &str = "<!-- /foreign: cases -->";

/// `TRIPTYCH_UPDATE=1` writes the list into the page.
#[test]
fn the_page_lists_the_cases_and_has_a_row_for_each() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, listed, after) = table::parts(&page, BEGIN, END).unwrap();
    let wanted = table::list(CASES);
    if std::env::var_os("TRIPTYCH_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{wanted}{after}")).unwrap();
        return;
    }
    assert_eq!(listed, wanted, "run this test with TRIPTYCH_UPDATE=1");
    let hazards = std::fs::read_to_string(path.with_file_name("../hazards.toml")).unwrap();
    let (_, outcomes, _) = table::parts(&page, table::BEGIN, table::END).unwrap();
    for case in CASES {
        let row = format!("| `{}` |", case.name);
        let rows = outcomes.matches(&row).count();
        assert_eq!(rows, 1, "run make test ONLY=foreign: {row}");
        assert_eq!(table::recorded(case.name).len(), 3, "{row}");
        let known = |id: &str| hazards.contains(&format!("id = \"{id}\""));
        assert!(case.hazard().is_none_or(known), "{row}");
    }
}
