//! Finds the sentence that explains a failure in the output of a test or of a compiler.

use perfcounters::process::ProcessError;

const LONGEST: usize = 240;

/// Why a test failed: the error or panic that it printed, or how its process ended.
pub(super) fn of_test(output: &str, end: &ProcessError) -> String {
    let lines: Vec<&str> = output.lines().collect();
    for (nth, line) in lines.iter().enumerate() {
        if let Some(error) = line.strip_prefix("Error: ") {
            return shortened(&with_causes(error, &lines[nth + 1..]));
        }
        if line.contains("panicked at ") {
            let reason = lines.get(nth + 1).copied().unwrap_or_default();
            return shortened(&format!("panic: {}", reason.trim()));
        }
        let signs = ["AddressSanitizer", "stack smashing", "fatal runtime error"];
        if signs.iter().any(|sign| line.contains(sign)) {
            return shortened(line.trim());
        }
    }
    of_end(end)
}

/// An [`anyhow::Error`] as its `Debug` prints it: the causes follow "Caused by:", indented, and numbered if there are
/// several.
fn with_causes(error: &str, below: &[&str]) -> String {
    let mut text = error.trim().to_owned();
    let causes = below
        .iter()
        .skip_while(|line| ["", "Caused by:"].contains(line));
    for line in causes.take_while(|line| line.starts_with("   ")) {
        let line = line.trim();
        let cause = line.trim_start_matches(|c: char| c.is_ascii_digit());
        text += if text.ends_with(':') { " " } else { ": " };
        text += cause.strip_prefix(": ").unwrap_or(line);
    }
    text
}

pub(super) fn of_end(error: &ProcessError) -> String {
    match error {
        ProcessError::Failed { status, .. } => match status.code() {
            Some(code) => format!("exit status {code} without a message"),
            None => status.to_string(),
        },
        ProcessError::Timeout { seconds, .. } => {
            format!("did not end within {seconds:.0} s (hang)")
        }
        other => other.to_string(),
    }
}

pub(super) fn of_compiler(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let of_rust = |line: &str| line.starts_with("error[") || line.starts_with("error: ");
    // The safety lab puts the compiler's name in front.
    let signs = [
        ": error: ",
        ": error[",
        ": fatal error: ",
        "undefined reference to",
    ];
    let is_error = |line: &&str| of_rust(line) || signs.iter().any(|sign| line.contains(sign));
    let Some(nth) = lines.iter().position(is_error) else {
        let last = lines.iter().rev().find(|line| !line.trim().is_empty());
        return shortened(last.map_or("the compiler gave no message", |line| line.trim()));
    };
    let mut below = lines[nth + 1..].iter().take(3);
    let place = below.find_map(|line| line.trim_start().strip_prefix("--> "));
    match place.filter(|_| of_rust(lines[nth])) {
        Some(place) => shortened(&format!("{place}: {}", lines[nth])),
        None => shortened(lines[nth].trim()),
    }
}

fn shortened(text: &str) -> String {
    // The conformance tests add all counters of the card in this way.
    let text = text.split("; the counters are ").next().unwrap_or(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn failed(status: i32) -> ProcessError {
        ProcessError::Failed {
            name: "test".to_owned(),
            status: ExitStatus::from_raw(status),
            stderr: String::new(),
        }
    }

    #[test]
    fn a_failed_test_is_explained_in_a_sentence() {
        let long = format!("Error: {}", "é".repeat(900));
        let cut = format!("{}…", "é".repeat(LONGEST));
        for (output, expected) in [
            (
                "\nrunning 1 test\nError: ring of 64, lap 1\n\nCaused by:\n    port 1 sent 4 packets\n\ntest c::x\n",
                "ring of 64, lap 1: port 1 sent 4 packets",
            ),
            (
                "Error: port 0\n\nCaused by:\n    0: the step\n    1: no write; the counters are [1]\n",
                "port 0: the step: no write",
            ),
            (
                "thread 'x' panicked at rust/src/driver/rx.rs:10:5:\nindex out of bounds: the len is 0\n",
                "panic: index out of bounds: the len is 0",
            ),
            ("running 1 test\n", "signal: 11 (SIGSEGV)"),
            (&long, &cut),
        ] {
            assert_eq!(of_test(output, &failed(11)), expected);
        }
        assert_eq!(of_end(&failed(2 << 8)), "exit status 2 without a message");
    }

    #[test]
    fn the_first_error_of_each_compiler_is_found() {
        for (output, expected) in [
            (
                "warning: x\nerror[E0425]: no `y`\n  --> tx.rs:9:5\n",
                "tx.rs:9:5: error[E0425]: no `y`",
            ),
            (
                "in 'f':\ntx.c:9:2: error: 'y'\nmake: *** 1\n",
                "tx.c:9:2: error: 'y'",
            ),
            ("", "the compiler gave no message"),
            ("make: *** no rule\n", "make: *** no rule"),
        ] {
            assert_eq!(of_compiler(output), expected);
        }
    }
}
