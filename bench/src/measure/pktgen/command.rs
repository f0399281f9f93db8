//! The command lines of load generators.

use super::config::Config;
use super::session::quote;

/// The command line of a program that speaks the line protocol by itself.
pub(super) fn script(config: &Config) -> String {
    let mut words = vec!["exec".to_owned()];
    words.extend(guard(config));
    words.extend(config.program.clone());
    words.extend(config.options.iter().cloned());
    joined(&words)
}

/// The start of the command line: `sudo` if the configuration asks for it, and a `timeout` that
/// ends the program even if this process cannot.
pub(super) fn guard(config: &Config) -> Vec<String> {
    let mut words = Vec::new();
    if config.sudo {
        words.extend(["sudo".to_owned(), "-n".to_owned()]);
    }
    words.extend(["timeout", "-k", "5"].map(str::to_owned));
    words.push(config.time_limit_seconds.to_string());
    words
}

/// The options of DPDK itself.
pub(super) fn eal(config: &Config) -> Vec<String> {
    let mut words = vec!["--lcores".to_owned(), config.lcores.clone()];
    // A file prefix of its own keeps it apart from other DPDK programs.
    words.extend(["--file-prefix".to_owned(), "triptych".to_owned()]);
    words.push("--no-telemetry".to_owned());
    for port in &config.ports {
        words.extend(["-a".to_owned(), port.clone()]);
    }
    for vdev in &config.vdevs {
        words.extend(["--vdev".to_owned(), vdev.clone()]);
    }
    words.extend(config.eal.iter().cloned());
    words
}

/// The words as a command line.
pub(super) fn joined(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

/// A command line that writes `files` (names and texts) to a new folder `$d`, runs `command` there, and
/// removes the folder when the program ends.
pub(super) fn with_files(files: &[(&str, String)], command: &str) -> String {
    let mut script =
        "d=$(mktemp -d /tmp/triptych-XXXXXX) && trap 'rm -rf \"$d\"' EXIT && ".to_owned();
    for (name, text) in files {
        script += &format!("printf %s {} >\"$d\"/{name} && ", quote(text));
    }
    script + command
}
