//! Mistakes with packets and devices that do not compile, and the compiler's message for each.
//!
//! `compile_fail/NAME.rs` holds a mistake, on lines marked `//~ mistake`. `NAME_right.rs` is its twin:
//! without the marked lines, the two files are equal. So the tests below prove that the mistake alone
//! stops the compiler:
//!
//! - The twin compiles. The safety lab also runs it against the software card.
//! - A span of each error covers a marked line, and each error has the expected code and words.
//! - The program compiles without a line marked `//~ needed`, which makes the later line a mistake.
//!
//! `NAME.stderr` holds the whole message, which differs between versions of rustc. The test compares
//! it for the release in [`KNOWN`] only. For all releases it compares code, first line and place, which
//! are equal in 1.85 and 1.95. `TRIPTYCH_BLESS=1` overwrites the files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

use serde_json::Value;

/// The release of rustc that wrote the `.stderr` files.
const KNOWN: &str = "rustc 1.95.";

/// Marks the lines that are the mistake.
const MISTAKE: &str = "//~ mistake";
/// Marks the lines of a twin that stand in place of the mistake.
const RIGHT: &str = "//~ right";
/// Marks a line that makes a later line a mistake.
const NEEDED: &str = " //~ needed";

/// A mistake, and the first line of the compiler's message.
struct Case {
    name: &'static str,
    /// The error's code. Some errors have none.
    code: Option<&'static str>,
    message: &'static str,
}

const CASES: [Case; 9] = [
    Case {
        name: "use_after_send",
        code: Some("E0499"),
        message: "cannot borrow `packets` as mutable more than once at a time",
    },
    Case {
        name: "double_free",
        code: Some("E0382"),
        message: "use of moved value: `packet`",
    },
    Case {
        name: "use_after_pool",
        code: Some("E0505"),
        message: "cannot move out of `pool` because it is borrowed",
    },
    Case {
        name: "negative_index",
        code: None,
        message: "negative integers cannot be used to index on a `[u8]`",
    },
    Case {
        name: "two_threads",
        code: Some("E0277"),
        message: "`Rc<vfio::VfioDevice>` cannot be sent between threads safely",
    },
    Case {
        name: "foreign_free",
        code: Some("E0277"),
        message: "`*const ()` cannot be sent between threads safely",
    },
    Case {
        name: "pool_destroyed",
        code: Some("E0505"),
        message: "cannot move out of `pool` because it is borrowed",
    },
    Case {
        name: "raw_registers",
        code: Some("E0624"),
        message: "method `open` is private",
    },
    Case {
        name: "raw_memory",
        code: Some("E0603"),
        message: "module `sys` is private",
    },
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail")
}

fn source(name: &str) -> String {
    fs::read_to_string(folder().join(format!("{name}.rs"))).unwrap()
}

/// The folder with the libraries that this test was linked with.
fn libraries() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().unwrap().to_owned()
}

/// The driver's library. Of several, with other settings, the newest.
fn driver() -> PathBuf {
    let written = |path: &PathBuf| -> SystemTime { path.metadata().unwrap().modified().unwrap() };
    libraries()
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libixgbe-") && name.ends_with(".rlib")
        })
        .max_by_key(written)
        .expect("no libixgbe-*.rlib beside this test")
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Compiles the program NAME.rs in `folder`.
fn compile(folder: &Path, name: &str) -> Output {
    let scratch = tempfile::tempdir().unwrap();
    rustc()
        .current_dir(folder)
        .args(["--edition=2021", "--crate-type=bin", "--emit=metadata"])
        .arg("--error-format=json")
        .arg("--out-dir")
        .arg(scratch.path())
        .arg("-L")
        .arg(format!("dependency={}", libraries().display()))
        .arg("--extern")
        .arg(format!("ixgbe={}", driver().display()))
        .arg(format!("{name}.rs"))
        .output()
        .unwrap()
}

fn must_compile(folder: &Path, name: &str) {
    let output = compile(folder, name);
    let message = rendered(&errors(&output));
    assert!(
        output.status.success(),
        "{name}.rs does not compile: {message}"
    );
}

/// The compiler's errors, without the line that counts them.
fn errors(output: &Output) -> Vec<Value> {
    String::from_utf8_lossy(&output.stderr)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|message| message["level"] == "error")
        .filter(|message| !message["spans"].as_array().unwrap().is_empty())
        .collect()
}

fn rendered(errors: &[Value]) -> String {
    let text = |error: &Value| error["rendered"].as_str().unwrap().to_owned();
    errors.iter().map(text).collect()
}

/// Whether one of the error's spans covers line `number`.
fn points_to(error: &Value, number: u64) -> bool {
    error["spans"].as_array().unwrap().iter().any(|span| {
        let [from, to] = ["line_start", "line_end"].map(|key| span[key].as_u64().unwrap());
        (from..=to).contains(&number)
    })
}

/// The message without notes that point into other crates, which depend on the machine.
fn portable(message: &str) -> String {
    let (mut kept, mut skipping) = (Vec::new(), false);
    for line in message.lines() {
        let begins = ["error", "help", "note", "warning"];
        if begins.iter().any(|begin| line.starts_with(begin)) {
            skipping = line.starts_with("note: required") || line.starts_with("note: `");
        }
        let elsewhere = line.contains("--> /")
            || line.contains("--> rust/")
            || line.starts_with("note: the module")
            || line.contains("the full name for the type");
        if !skipping && !elsewhere {
            kept.push(line.trim_end());
        }
    }
    kept.join("\n") + "\n"
}

/// The text without the lines that are marked with `mark`.
fn without_lines(text: &str, mark: &str) -> String {
    let kept = text.lines().filter(|line| !line.ends_with(mark));
    kept.map(|line| format!("{line}\n")).collect()
}

fn must_not_compile(case: &Case) {
    let Case { name, .. } = case;
    let output = compile(&folder(), name);
    assert!(!output.status.success(), "{name}.rs compiles");
    let errors = errors(&output);
    let text = rendered(&errors);
    assert_eq!(errors[0]["message"], case.message, "{text}");
    let source = source(name);
    let mistake = source.lines().position(|line| line.ends_with(MISTAKE));
    let mistake = mistake.unwrap_or_else(|| panic!("{name}.rs marks no line with {MISTAKE}"));
    for error in &errors {
        assert_eq!(error["code"]["code"].as_str(), case.code, "{text}");
        assert!(
            points_to(error, mistake as u64 + 1),
            "{name}.rs, line {} is marked, but the compiler refuses another: {text}",
            mistake + 1
        );
    }
    compare_message(name, &portable(&text));
}

/// Compares the whole message with `NAME.stderr`, if a rustc of this release wrote it.
fn compare_message(name: &str, message: &str) {
    let version = rustc().arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    if !version.starts_with(KNOWN) {
        eprintln!("{name}.stderr has the message of {KNOWN}x, so this test does not compare it: {version}");
        return;
    }
    let file = folder().join(format!("{name}.stderr"));
    if std::env::var_os("TRIPTYCH_BLESS").is_some() {
        fs::write(&file, message).unwrap();
    }
    let committed = fs::read_to_string(&file).unwrap();
    assert!(
        committed == message,
        "{} differs from what {version} writes (TRIPTYCH_BLESS=1 overwrites it):\n{message}",
        file.display()
    );
}

#[test]
fn each_mistake_is_refused_at_its_line_with_its_code_and_message() {
    CASES.iter().for_each(must_not_compile);
}

#[test]
fn each_twin_differs_by_the_mistake_only_and_compiles() {
    for Case { name, .. } in CASES {
        let twin = format!("{name}_right");
        let wrong = source(name);
        let right = source(&twin);
        assert_eq!(
            without_lines(&wrong, MISTAKE).replace(NEEDED, ""),
            without_lines(&right, RIGHT),
            "{name}.rs and {twin}.rs differ in lines that are not marked"
        );
        assert_ne!(without_lines(&wrong, MISTAKE), wrong, "{name}.rs");
        must_compile(&folder(), &twin);
    }
}

#[test]
fn a_program_without_its_needed_line_compiles() {
    let needing: Vec<_> = CASES
        .iter()
        .map(|case| case.name)
        .filter(|name| source(name).contains(NEEDED))
        .collect();
    assert_eq!(needing, ["use_after_send", "double_free"]);
    for name in needing {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("setup.rs"), source("setup")).unwrap();
        let text = without_lines(&source(name), NEEDED);
        fs::write(scratch.path().join(format!("{name}.rs")), text).unwrap();
        must_compile(scratch.path(), name);
    }
}

#[test]
fn every_file_belongs_to_a_case() {
    for entry in folder().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = name.strip_suffix("_right").unwrap_or(&name);
        assert!(
            case == "setup" || CASES.iter().any(|known| known.name == case),
            "{}",
            path.display()
        );
    }
}
