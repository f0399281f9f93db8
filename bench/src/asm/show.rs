//! Shows the machine code of a function beside its source.

use std::collections::BTreeMap;
use std::path::Path;

use crate::machine_code::checks::Analysis;
use crate::machine_code::listing::{Function, Place};

/// Source files, by name; `None` for missing files.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<String, Option<Vec<String>>>);

impl Sources {
    fn line(&mut self, file: &str, line: usize) -> String {
        let read = |file: &String| {
            let text = std::fs::read_to_string(file).ok()?;
            Some(text.lines().map(|line| line.trim().to_owned()).collect())
        };
        let key = file.to_owned();
        let lines = self.0.entry(key).or_insert_with_key(read);
        let text = lines
            .as_ref()
            .and_then(|lines| lines.get(line.checked_sub(1)?));
        text.cloned().unwrap_or_default()
    }
}

/// A function as text. Bars at the left show loops, marks at the right show checks and panics.
pub(super) fn show(function: &Function, analysis: &Analysis, sources: &mut Sources) -> String {
    let mut text = format!(
        "\n{}: {} instructions, {} loops\n",
        function.name,
        function.code.len(),
        analysis.loops
    );
    let here = std::env::current_dir().unwrap_or_default();
    let mut last = None;
    for (place, instruction) in function.code.iter().enumerate() {
        let bars = "│".repeat(analysis.depth[place]);
        // Of inlined functions, show the innermost one that is not in a library.
        let ours = |there: &&Place| {
            Path::new(&there.file).starts_with(&here) || !there.file.starts_with('/')
        };
        let source = instruction
            .places
            .iter()
            .find(ours)
            .or(instruction.places.first());
        if source.is_some() && source != last {
            if let Some(there) = source {
                let file = Path::new(&there.file);
                let file = file.strip_prefix(&here).unwrap_or(file).display();
                let line = sources.line(&there.file, there.line);
                text.push_str(&format!("{bars:4} ; {file}:{}  {line}\n", there.line));
            }
            last = source;
        }
        let mark = match (analysis.checks.get(&place), analysis.panics.get(&place)) {
            (Some(kind), _) => format!("  <== {kind} check"),
            (None, Some(kind)) => format!("  <== panic: {kind}"),
            (None, None) => String::new(),
        };
        text.push_str(&format!(
            "{bars:4} {:8x}  {:60}{mark}",
            instruction.address, instruction.text
        ));
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}
