//! Shows the machine code of a function beside its source.

use crate::code::machine_code::checks::Analysis;
use crate::code::machine_code::source::Sources;

use super::part::Part;

/// The shown part of a function as text. Bars at the left show loops, marks at the right checks and panics.
pub(super) fn show(part: &Part<'_>, analysis: &Analysis, sources: &mut Sources) -> String {
    let function = part.function;
    let hidden = part.shown.iter().filter(|shown| !**shown).count();
    let mut text = format!(
        "\n{}: {} instructions, {} loops{}\n",
        function.name,
        function.code.len(),
        analysis.loops,
        match hidden {
            0 => String::new(),
            count => format!("; --all shows {count} more that are not of the data path"),
        }
    );
    let mut last = None;
    let mut gap = true;
    for (place, instruction) in function.code.iter().enumerate() {
        if !part.shown[place] {
            if !gap {
                text.push_str("     ...\n");
            }
            (gap, last) = (true, None);
            continue;
        }
        gap = false;
        let bars = "│".repeat(analysis.depth[place]);
        let source = sources.place(&instruction.places);
        if source.is_some() && source != last {
            if let Some(there) = source {
                let line = sources.line(there);
                text.push_str(&format!(
                    "{bars:4} ; {}:{}  {}\n",
                    line.file, line.line, line.text
                ));
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
