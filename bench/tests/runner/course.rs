//! The pages of the course name commands. Each must exist, with its options.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::text;

const PAGES: [&str; 3] = ["handout.md", "instructor.md", "own/go/README.md"];

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).unwrap()
}

/// What the page sets in code that begins with `make` or `triptych`, without comments.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (nth, block) in page.split("```").enumerate() {
        let code: Vec<&str> = if nth % 2 == 1 {
            block.lines().skip(1).collect()
        } else {
            block.split('`').skip(1).step_by(2).collect()
        };
        for line in code {
            let command = line.split(" #").next().unwrap_or_default().trim();
            let command = command.strip_prefix("build/bin/").unwrap_or(command);
            if command.starts_with("make ") || command.starts_with("triptych ") {
                found.push(command.replace('\n', " "));
            }
        }
    }
    found
}

/// What is wrong with a command, if anything is.
fn mistake(command: &str, makefile: &str, parts: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let missing = |what: &str| Some(format!("`{command}`: there is no {what}"));
    if words[0] == "make" {
        for word in &words[1..] {
            let there = match word.split_once('=') {
                Some(("ONLY", part)) => parts.contains(&format!("\n{part}) ##")),
                Some((variable, _)) => {
                    let uses = [")", ":"].map(|end| format!("$({variable}{end}"));
                    uses.iter().any(|used| makefile.contains(used))
                }
                None => makefile.lines().any(|line| {
                    let goals = line.split_once(':').map_or("", |rule| rule.0);
                    !line.starts_with('\t') && goals.split_whitespace().any(|goal| goal == *word)
                }),
            };
            if !there {
                return missing(word);
            }
        }
        return None;
    }
    let names = words[1..].iter().take_while(|word| !word.starts_with('-'));
    let mut help = Command::new(env!("CARGO_BIN_EXE_triptych"));
    let output = help.args(names).arg("--help").output().unwrap();
    if !output.status.success() {
        return missing("such command");
    }
    let help = text(&output);
    let options = words.iter().filter(|word| word.starts_with('-'));
    let mut unknown = options.filter(|option| {
        let named = help.split([' ', ',', '\n']);
        !named.into_iter().any(|word| word == **option)
    });
    unknown.next().and_then(|option| missing(option))
}

#[test]
fn every_command_of_the_course_exists() {
    let (makefile, parts) = (read("Makefile"), read(".ci/part"));
    let wrong = |command: &str| mistake(command, &makefile, &parts);
    for made_up in [
        "make no-such-goal",
        "make build NO_SUCH=1",
        "make test ONLY=no-such-part",
        "triptych fly",
        "triptych verdict --no-such",
        "triptych run -z",
    ] {
        assert!(wrong(made_up).is_some(), "{made_up}");
    }
    let pages = PAGES.map(|page| commands(&read(&format!("drivers/exercises/{page}"))));
    assert!(pages.iter().all(|commands| commands.len() > 2), "{pages:?}");
    let wrong: Vec<_> = pages.concat().iter().filter_map(|it| wrong(it)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
