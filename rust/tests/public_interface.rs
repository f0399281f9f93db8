//! The public interface is the list in `public_interface.txt`, so that no change of it is an accident.
//! Ask of each new line: which safe calls make it unsound, or let it panic or abort? README.md names
//! the tests that answer this. `TRIPTYCH_UPDATE=1` writes the list.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)] // for a test

mod support;

use std::fs;
use std::path::Path;

use support::sources;

/// Private modules whose items are `pub` for other modules of the driver, and modules for tests.
const PRIVATE: [&str; 9] = [
    "apps",
    "clock_fake.rs",
    "driver/descriptor.rs",
    "driver/registers.rs",
    "driver/rx.rs",
    "driver/tx.rs",
    "sys",
    "test_queues.rs",
    "vfio/fake.rs",
];

/// The public items of a file, without the bodies of functions.
fn items(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let mut items: Vec<String> = Vec::new();
    let mut open = false;
    for line in code.lines().map(str::trim) {
        if line.starts_with("pub ") {
            items.push(String::new());
            open = true;
        }
        if !open {
            continue;
        }
        let item = items.last_mut().unwrap();
        if !item.is_empty() && !item.ends_with('(') && !line.starts_with(')') {
            item.push(' ');
        }
        item.push_str(line);
        // A signature may take several lines. The first of them that ends so is its last.
        open = ![";", ",", "{", "}"].iter().any(|end| item.ends_with(end))
            || item.matches('(').count() > item.matches(')').count();
    }
    let clean = |item: String| {
        let mut item = item.replace(",)", ")");
        if item.starts_with("pub const ") {
            // The value is no part of the interface.
            item.truncate(item.find(" = ").unwrap_or(item.len()));
        }
        item.trim_end_matches(['{', ';', ',']).trim_end().to_owned()
    };
    items.into_iter().map(clean).collect()
}

#[test]
fn the_public_interface_is_the_one_in_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("src");
    let mut list = String::new();
    for path in sources(&folder) {
        let name = path.strip_prefix(&folder).unwrap();
        if PRIVATE.iter().any(|private| name.starts_with(private)) {
            continue;
        }
        for item in items(&fs::read_to_string(&path).unwrap()) {
            list.push_str(&format!("{}: {item}\n", name.display()));
        }
    }
    let file = root.join("tests/public_interface.txt");
    if std::env::var_os("TRIPTYCH_UPDATE").is_some() {
        fs::write(&file, &list).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap();
    let differs = list
        .lines()
        .find(|line| !expected.lines().any(|known| known == *line));
    assert!(
        list == expected,
        "the public interface differs from {} (TRIPTYCH_UPDATE=1 writes it), for example: {}",
        file.display(),
        differs.unwrap_or("a line is missing")
    );
}
