//! The amount of unsafe code in the driver, and its place.
#![allow(clippy::unwrap_used)] // for a test

use std::fs;
use std::path::{Path, PathBuf};

/// The largest allowed share of unsafe lines among all lines of code, as README.md says.
const MOST: f64 = 0.05;

/// Generated constants would make the share look smaller. The other files are for tests, or only a variant
/// has them.
const NOT_COUNTED: [&str; 10] = [
    "clock_fake.rs",
    "driver/device_ids.rs",
    "driver/registers.rs",
    "sys/buffers/played_device.rs",
    "sys/buffers/untrusted.rs",
    "sys/device_bytes.rs",
    "sys/lines.rs",
    "sys/memory_heap.rs",
    "test_queues.rs",
    "vfio/fake.rs",
];

/// The Rust files in `folder` and below it.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// The lines of code of a file, without tests.
fn code(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect()
}

/// The lines of `unsafe` blocks, functions and implementations, with their first and last lines.
fn unsafe_lines(code: &[&str]) -> usize {
    let mut lines = 0;
    let mut depth = 0;
    for line in code {
        let opens = ["unsafe {", "unsafe fn", "unsafe impl"]
            .iter()
            .any(|keyword| line.contains(keyword));
        if depth == 0 && !opens {
            continue;
        }
        lines += 1;
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count());
    }
    lines
}

#[test]
fn only_a_small_part_of_sys_is_unsafe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut all, mut inside) = (0, 0);
    for path in sources(&folder) {
        let name = path.strip_prefix(&folder).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let code = code(&text);
        // A ladder rung makes a file unsafe, so the file of its room must not forbid that.
        let declares = |line: &&str| line.starts_with('#') || line.contains("mod ");
        if !name.starts_with("sys") && name != Path::new("lib.rs") && !code.iter().all(declares) {
            let forbids = text.contains("#![forbid(unsafe_code)]");
            assert!(forbids, "{} does not forbid unsafe code", name.display());
        }
        if !NOT_COUNTED.iter().any(|other| name == Path::new(other)) {
            all += code.len();
            inside += unsafe_lines(&code);
        }
    }
    let share = inside as f64 / all as f64;
    println!("{inside} of {all} lines are unsafe, {:.1} %", share * 100.0);
    assert!(inside > 0 && share <= MOST, "{inside} of {all}");
}
