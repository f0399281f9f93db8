//! The amount of unsafe code in the driver, its place, and what it depends on.
#![allow(clippy::unwrap_used)] // for a test

mod support;

use std::fs;
use std::path::Path;

use support::sources;

/// The largest allowed share of unsafe lines among all lines of code.
const MOST: f64 = 0.05;

/// Generated constants would make the share look smaller. The other files are for tests.
const NOT_COUNTED: [&str; 5] = [
    "clock_fake.rs",
    "driver/registers.rs",
    "driver/device_ids.rs",
    "test_queues.rs",
    "vfio/fake.rs",
];

/// For tests only, and unsafe as the driver's own code is.
const FOR_TESTS: [&str; 2] = ["sys/memory_heap.rs", "sys/buffers/played_device.rs"];

/// The unsafe code that only the variants for an untrusted device have.
const UNTRUSTED_DEVICE: [&str; 3] = [
    "sys/buffers/untrusted.rs",
    "sys/device_bytes.rs",
    "sys/lines.rs",
];

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

/// Whether the code names the crate outside of `sys`. Then an auditor of `sys` has to read that, too.
fn names_the_crate(code: &[&str]) -> bool {
    let names = |line: &&str| line.replace("crate::sys", "").contains("crate::");
    code.iter().any(names)
}

/// A ladder rung makes a file unsafe, so the file of its room must not forbid that.
fn only_declares_modules(code: &[&str]) -> bool {
    code.iter()
        .all(|line| line.starts_with('#') || line.contains("mod "))
}

#[test]
fn only_a_small_part_of_sys_is_unsafe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut all, mut core, mut inside) = (0, 0, 0);
    let mut untrusted = (0, 0);
    for path in sources(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let code = code(&text);
        let inside_sys = name.starts_with("sys");
        let independent = !(inside_sys && names_the_crate(&code));
        assert!(independent, "{} names other modules", name.display());
        let is_one_of = |names: &[&str]| names.iter().any(|other| name == Path::new(other));
        if is_one_of(&FOR_TESTS) {
            continue;
        }
        if is_one_of(&UNTRUSTED_DEVICE) {
            untrusted.0 += code.len();
            untrusted.1 += unsafe_lines(&code);
            continue;
        }
        if is_one_of(&NOT_COUNTED) {
            assert_eq!(unsafe_lines(&code), 0, "{}", name.display());
            continue;
        }
        all += code.len();
        if inside_sys {
            core += code.len();
            inside += unsafe_lines(&code);
        } else if !only_declares_modules(&code) && name != Path::new("lib.rs") {
            let forbids = text.contains("#![forbid(unsafe_code)]");
            assert!(forbids, "{} does not forbid unsafe code", name.display());
        }
    }
    let share = inside as f64 / all as f64;
    println!("{inside} of {all} lines are unsafe, {:.1} %", share * 100.0);
    // The first thing that a reader of the driver learns must be true.
    let headline = format!("{core} lines of code, of which {inside} are unsafe");
    let variants = format!(
        "{} lines of code, of which {} are unsafe",
        untrusted.0, untrusted.1
    );
    for (file, claim) in [
        ("src/lib.rs", &headline),
        ("README.md", &headline),
        ("README.md", &variants),
    ] {
        let text = fs::read_to_string(folder.join("..").join(file)).unwrap();
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(|word| *word != "//!")
            .collect();
        assert!(words.join(" ").contains(claim), "{file}: {claim}");
    }
    assert!(
        inside > 0 && share <= MOST,
        "{inside} of {all} lines are unsafe"
    );
}
