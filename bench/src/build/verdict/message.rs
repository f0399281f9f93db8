//! Finds the sentence that explains a failure in the output of a test or of a compiler.

use std::process::ExitStatus;

/// Most characters of an explanation.
const LONGEST: usize = 240;

/// Why a test failed: the error or panic that it printed, or how its process ended.
pub fn of_test(output: &str, end: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    for (nth, line) in lines.iter().enumerate() {
        if let Some(error) = line.strip_prefix("Error: ") {
            let causes = causes(&lines[nth + 1..]);
            return shortened(&joined(error, &causes));
        }
        if line.contains("panicked at ") {
            let reason = lines.get(nth + 1).copied().unwrap_or_default();
            return shortened(&format!("panic: {}", reason.trim()));
        }
        for sign in ["AddressSanitizer", "stack smashing", "fatal runtime error"] {
            if line.contains(sign) {
                return shortened(line.trim());
            }
        }
    }
    end.to_owned()
}

/// The causes of an [`anyhow::Error`], as its `Debug` prints them: after "Caused by:", indented and
/// numbered if there are several.
fn causes(lines: &[&str]) -> Vec<String> {
    let mut rest = lines.iter().skip_while(|line| line.trim().is_empty());
    if rest.next().map(|line| line.trim()) != Some("Caused by:") {
        return Vec::new();
    }
    rest.take_while(|line| line.starts_with("   "))
        .map(|line| {
            let text = line.trim();
            match text.split_once(": ") {
                Some((number, text)) if number.parse::<u32>().is_ok() => text.to_owned(),
                _ => text.to_owned(),
            }
        })
        .collect()
}

fn joined(error: &str, causes: &[String]) -> String {
    let mut text = error.trim().to_owned();
    for cause in causes {
        text.push_str(if text.ends_with(':') { " " } else { ": " });
        text.push_str(cause);
    }
    text
}

/// How a process ended, in words.
pub fn end_of(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code} without a message"),
        (None, Some(signal)) => match signal {
            4 => "illegal instruction (SIGILL)".to_owned(),
            6 => "aborted (SIGABRT)".to_owned(),
            7 => "bus error (SIGBUS)".to_owned(),
            8 => "division by zero (SIGFPE)".to_owned(),
            11 => "segmentation fault (SIGSEGV)".to_owned(),
            other => format!("signal {other}"),
        },
        (None, None) => status.to_string(),
    }
}

/// The first error of gcc, clang, rustc or cargo, with its place.
pub fn of_compiler(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    for (nth, line) in lines.iter().enumerate() {
        if line.starts_with("error[") || line.starts_with("error: ") {
            let arrow = lines[nth + 1..]
                .iter()
                .take(3)
                .find_map(|line| line.trim_start().strip_prefix("--> "));
            let place = arrow.map(|place| format!("{place}: "));
            return shortened(&format!("{}{line}", place.unwrap_or_default()));
        }
        // The safety lab puts the compiler's name in front.
        if line.contains(": error: ")
            || line.contains(": error[")
            || line.contains(": fatal error: ")
        {
            return shortened(line);
        }
        if line.contains("undefined reference to") {
            return shortened(line.trim());
        }
    }
    let last = lines.iter().rev().find(|line| !line.trim().is_empty());
    shortened(last.map_or("the compiler gave no message", |line| line.trim()))
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

    #[test]
    fn an_error_with_its_causes_becomes_a_sentence() {
        let output = "\nrunning 1 test\nError: ring of 64, lap 1\n\nCaused by:\n    port 1 sent 4 \
                      packets, expected 10\n\ntest c::x ... FAILED\n";
        assert_eq!(
            of_test(output, "exit status 101"),
            "ring of 64, lap 1: port 1 sent 4 packets, expected 10"
        );
        let counters =
            "Error: sent 1 packets, expected 2; the counters are [PortCounters { ok: 1 }]\n";
        assert_eq!(of_test(counters, ""), "sent 1 packets, expected 2");
        let several = "Error: port 0\n\nCaused by:\n    0: the step\n    1: no write of EIMC\n";
        assert_eq!(of_test(several, ""), "port 0: the step: no write of EIMC");
    }

    #[test]
    fn a_panic_gives_its_reason_and_a_crash_its_signal() {
        let panic =
            "thread 'x' panicked at rust/src/driver/rx.rs:10:5:\nindex out of bounds: the len is 0\n";
        assert_eq!(
            of_test(panic, ""),
            "panic: index out of bounds: the len is 0"
        );
        let crash = std::process::Command::new("sh")
            .args(["-c", "kill -SEGV $$"])
            .status()
            .unwrap();
        assert_eq!(
            of_test("running 1 test\n", &end_of(crash)),
            "segmentation fault (SIGSEGV)"
        );
    }

    #[test]
    fn the_first_error_of_each_compiler_is_found() {
        for (output, expected) in [
            (
                "warning: x\nerror[E0425]: cannot find value `y`\n  --> rust/src/driver/tx.rs:9:5\n",
                "rust/src/driver/tx.rs:9:5: error[E0425]: cannot find value `y`",
            ),
            (
                "c/src/driver/tx.c: In function 'f':\nc/src/driver/tx.c:9:2: error: 'y' undeclared\nmake: *** [x] 1\n",
                "c/src/driver/tx.c:9:2: error: 'y' undeclared",
            ),
            ("", "the compiler gave no message"),
            ("make: *** no rule\n", "make: *** no rule"),
        ] {
            assert_eq!(of_compiler(output), expected);
        }
    }

    #[test]
    fn a_long_message_is_cut() {
        let text = of_test(&format!("Error: {}", "é".repeat(900)), "");
        assert_eq!(text.chars().count(), LONGEST + 1);
    }
}
