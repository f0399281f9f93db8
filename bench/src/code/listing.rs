//! Shows code: that of one program, or how that of two differs, for terminals and as JSON.

use std::collections::BTreeMap;

use console::Style;
use serde::Serialize;

use super::counts::Counts;
use super::difference::{Difference, Kind, Row, RowCounts};
use super::disassembly::split;
use super::lines::Code;
use super::source::SourceLine;

/// The narrowest column that is of use.
const NARROWEST: usize = 24;
/// How a line of source starts in the listing of two sides.
const SOURCE: &str = "  ; ";

/// Some code, and what it was built from.
#[derive(Debug)]
pub struct Shown {
    pub label: String,
    pub code: Code,
}

#[derive(Debug)]
pub struct Pair {
    sides: [Shown; 2],
    difference: Difference,
}

#[derive(Debug, Serialize)]
struct JsonSide<'c> {
    label: &'c str,
    functions: Vec<&'c str>,
    /// Those of all functions that are shown, and of their loops.
    counts: BTreeMap<&'static str, Counts>,
}

#[derive(Debug, Serialize)]
struct JsonLine<'c> {
    address: u64,
    /// The number of the label in front of the line; lines that correspond have equal labels.
    label: Option<usize>,
    text: String,
    in_loop: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<&'c str>,
    source: Option<&'c SourceLine>,
}

fn json(document: &impl Serialize) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

impl Shown {
    /// The code beside its source. Bars at the left show loops, marks at the right checks and panics.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.code.parts {
            let (name, count, loops) = (&part.name, part.lines.len(), part.loops);
            text += &format!("\n{name}: {count} instructions, {loops} loops");
            if part.hidden > 0 {
                let count = part.hidden;
                text += &format!("; --all shows {count} more that are not of the data path");
            }
            text += "\n";
            let mut last = None;
            for line in &self.code.lines[part.lines.clone()] {
                if line.after_gap {
                    text += "     ...\n";
                    last = None;
                }
                let bars = "│".repeat(line.depth);
                if let Some(source) = line.source.as_ref().filter(|source| last != Some(*source)) {
                    text += &format!("{bars:4} ; {source}\n");
                    last = Some(source);
                }
                let (address, code) = (line.instruction.address, &line.instruction.text);
                let mark = line.mark.as_ref().map(|mark| format!("  <== {mark}"));
                let mark = mark.unwrap_or_default();
                let row = format!("{bars:4} {address:8x}  {code:60}{mark}");
                text += &format!("{}\n", row.trim_end());
            }
        }
        text
    }

    pub fn json(self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Document<'c> {
            #[serde(flatten)]
            side: JsonSide<'c>,
            lines: Vec<JsonLine<'c>>,
        }
        let code = &self.code;
        // Beside itself, its jumps get labels, too.
        let difference = Difference::new([code, code], true);
        let lines = (0..code.lines.len()).map(|line| json_line(code, &difference, 0, line));
        let (side, lines) = (self.json_side(), lines.collect());
        json(&Document { side, lines })
    }

    fn functions(&self) -> Vec<&str> {
        let parts = self.code.parts.iter();
        parts.map(|part| part.name.as_str()).collect()
    }

    fn json_side(&self) -> JsonSide<'_> {
        JsonSide {
            label: &self.label,
            functions: self.functions(),
            counts: BTreeMap::from([
                ("all", self.code.counts(0)),
                ("in_loops", self.code.counts(1)),
            ]),
        }
    }
}

fn json_line<'c>(
    code: &'c Code,
    difference: &Difference,
    side: usize,
    place: usize,
) -> JsonLine<'c> {
    let line = &code.lines[place];
    JsonLine {
        address: line.instruction.address,
        label: difference.labels[side].get(&place).copied(),
        text: columns(code, difference, side, place),
        in_loop: line.depth > 0,
        mark: line.mark.as_deref(),
        source: line.source.as_ref(),
    }
}

/// A line without addresses: the mnemonic in a column of its own, then the operands.
fn columns(code: &Code, difference: &Difference, side: usize, place: usize) -> String {
    let line = &code.lines[place];
    let (mnemonic, operands) = split(&line.text);
    let text = format!("{mnemonic:7} {operands}");
    let label = |target| difference.labels[side].get(&target);
    match line.target.and_then(label) {
        Some(label) => format!("{text}.L{label}"),
        None => text.trim_end().to_owned(),
    }
}

/// What a line of the listing of two sides is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// This many rows without a difference are left out.
    Fold(usize),
    Function,
    Label,
    Source,
    Code(Kind),
}

/// A line of the listing of two sides. One of the texts may be missing.
#[derive(Debug)]
struct Entry {
    what: What,
    texts: [Option<String>; 2],
}

impl Pair {
    /// Compares two sides. With `exact_names`, each other register or stack slot is a change.
    pub fn new(sides: [Shown; 2], exact_names: bool) -> Self {
        let [a, b] = &sides;
        let difference = Difference::new([&a.code, &b.code], exact_names);
        Self { sides, difference }
    }

    /// Both sides, their numbers and all rows, for programs.
    pub fn json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Document<'c> {
            a: JsonSide<'c>,
            b: JsonSide<'c>,
            lines: RowCounts,
            rows: Vec<JsonRow<'c>>,
        }
        #[derive(Serialize)]
        struct JsonRow<'c> {
            kind: Kind,
            a: Option<JsonLine<'c>>,
            b: Option<JsonLine<'c>>,
        }
        let rows = self.difference.rows.iter().map(|row| {
            let line = |side: usize| {
                let code = &self.sides[side].code;
                Some(json_line(code, &self.difference, side, row.lines[side]?))
            };
            let (kind, a, b) = (row.kind, line(0), line(1));
            JsonRow { kind, a, b }
        });
        let (lines, rows) = (self.difference.counts(), rows.collect());
        let [a, b] = self.sides.each_ref().map(Shown::json_side);
        json(&Document { a, b, lines, rows })
    }

    /// The sides, their numbers of instructions, and the number of rows that differ.
    pub fn summary(&self) -> String {
        let [a, b] = self.sides.each_ref();
        let [in_a, in_b] = [a, b].map(|side| side.functions().join(", "));
        let mut text = format!("A: {}: {in_a}\nB: {}: {in_b}\n", a.label, b.label);
        text += &format!("\n{:24}{:>8}{:>8}{:>8}\n", "", "A", "B", "B - A");
        let all = [0, 1].map(|side| self.sides[side].code.counts(0).named());
        let hot = [0, 1].map(|side| self.sides[side].code.counts(1).named());
        for (place, (name, _)) in all[0].into_iter().enumerate() {
            for (name, [a, b]) in [(name, &all), ("  in loops", &hot)] {
                let (a, b) = (a[place].1, b[place].1);
                let more = b as i128 - a as i128;
                text += &format!("{name:24}{a:>8}{b:>8}{more:>+8}\n");
            }
        }
        let rows = self.difference.counts();
        let all = self.difference.rows.len();
        text += &match rows.differ + rows.names {
            0 => "\nno line differs\n".to_owned(),
            _ => format!(
                "\n{} of {all} lines differ: {} changed, {} only in A, {} only in B; \
                 {} more differ only in registers or stack slots\n",
                rows.differ, rows.changed, rows.only_a, rows.only_b, rows.names
            ),
        };
        text
    }

    /// Both sides in columns, `width` characters wide. The marks are those of `diff --side-by-side`: `|` for a
    /// changed line, `<` and `>` for a line of one side. `~` marks other registers or stack slots.
    pub fn side_by_side(&self, context: usize, width: usize, colours: bool) -> String {
        let column = (width.saturating_sub(3) / 2).max(NARROWEST);
        let mut text = String::new();
        for entry in self.entries(context) {
            let mark = match entry.what {
                What::Fold(count) => {
                    let line = format!("      ... equal lines: {count} ...");
                    push_painted(&mut text, Style::new().dim(), &line, colours);
                    continue;
                }
                What::Code(Kind::Names) => '~',
                What::Code(Kind::Changed) => '|',
                What::Code(Kind::OnlyA) => '<',
                What::Code(Kind::OnlyB) => '>',
                _ => ' ',
            };
            let style = match entry.what {
                What::Source => Style::new().dim(),
                What::Function => Style::new().bold(),
                _ => style(mark),
            };
            let [a, b] = entry
                .texts
                .map(|text| cut(text.unwrap_or_default(), column));
            push_painted(
                &mut text,
                style,
                &format!("{a:column$} {mark} {b}"),
                colours,
            );
        }
        text
    }

    /// Both sides in one column: `-` starts a line of side A, `+` one of side B. `~` starts a line that differs only
    /// in registers or stack slots; what side B has stands behind `|`.
    pub fn unified(&self, context: usize, colours: bool) -> String {
        let mut page = Page {
            colours,
            ..Page::default()
        };
        for (name, side) in ["A", "B"].into_iter().zip(&self.sides) {
            page.line(' ', &format!("{name}: {}", side.label));
        }
        for entry in self.entries(context) {
            match entry.what {
                What::Fold(count) => {
                    page.flush();
                    page.line('@', &format!("@ equal lines: {count} @@"));
                }
                What::Code(kind) => page.row(kind, entry.texts),
                What::Function | What::Label | What::Source => {
                    for (above, text) in page.above.iter_mut().zip(entry.texts) {
                        above.extend(text);
                    }
                }
            }
        }
        page.flush();
        page.text
    }

    /// The lines of the listing, with `context` rows around each difference.
    fn entries(&self, context: usize) -> Vec<Entry> {
        let mut all: Vec<Entry> = Vec::new();
        let mut sources = [None; 2];
        let rows = &self.difference.rows;
        for (row, shown) in rows.iter().zip(near_differences(rows, context)) {
            if !shown {
                if let Some(What::Fold(count)) = all.last_mut().map(|last| &mut last.what) {
                    *count += 1;
                } else {
                    let (what, texts) = (What::Fold(1), [None, None]);
                    all.push(Entry { what, texts });
                }
                sources = [None; 2];
                continue;
            }
            let mut add = |what: What, text: &mut dyn FnMut(usize, usize) -> Option<String>| {
                let texts = [0, 1].map(|side| text(side, row.lines[side]?));
                if texts.iter().any(Option::is_some) {
                    all.push(Entry { what, texts });
                }
            };
            add(What::Function, &mut |side, line| {
                let mut parts = self.sides[side].code.parts.iter();
                let part = parts.find(|part| part.lines.start == line)?;
                Some(format!("{}:", part.name))
            });
            add(What::Label, &mut |side, line| {
                let number = self.difference.labels[side].get(&line)?;
                Some(format!(".L{number}:"))
            });
            add(What::Source, &mut |side, line| {
                let source = self.sides[side].code.lines[line].source.as_ref()?;
                let last = sources[side].replace(source);
                (last != Some(source)).then(|| format!("{SOURCE}{source}"))
            });
            add(What::Code(row.kind), &mut |side, line| {
                let code = &self.sides[side].code;
                let text = columns(code, &self.difference, side, line);
                Some(format!("      {text}"))
            });
        }
        all
    }
}

/// Which rows stand near a difference; with `usize::MAX`, all.
fn near_differences(rows: &[Row], context: usize) -> Vec<bool> {
    let near = |place: usize| {
        let start = place.saturating_sub(context);
        let end = place.saturating_add(context).min(rows.len() - 1);
        rows[start..=end].iter().any(|row| row.kind != Kind::Same)
    };
    let all = context == usize::MAX;
    (0..rows.len()).map(|place| all || near(place)).collect()
}

fn style(mark: char) -> Style {
    match mark {
        '-' | '<' => Style::new().red(),
        '+' | '>' => Style::new().green(),
        '~' => Style::new().cyan(),
        '|' => Style::new().yellow(),
        '@' => Style::new().dim(),
        _ => Style::new(),
    }
}

/// Adds a line in a style, or plain without colours.
fn push_painted(text: &mut String, style: Style, line: &str, colours: bool) {
    let style = style.force_styling(colours);
    *text += &format!("{}\n", style.apply_to(line.trim_end()));
}

/// A text of at most `width` characters.
fn cut(text: String, width: usize) -> String {
    if text.chars().count() > width {
        text.chars().take(width - 1).chain(['…']).collect()
    } else {
        text
    }
}

/// The unified text so far, and the lines of a difference that is not complete.
#[derive(Debug, Default)]
struct Page {
    colours: bool,
    text: String,
    alone: [Vec<String>; 2],
    /// Lines above the next row of code, of each side.
    above: [Vec<String>; 2],
}

impl Page {
    fn row(&mut self, kind: Kind, texts: [Option<String>; 2]) {
        let [above_a, above_b] = std::mem::take(&mut self.above);
        let (mark, text) = match (kind, texts) {
            (Kind::Same, [Some(a), _]) => (' ', a),
            (Kind::Names, [Some(a), Some(b)]) => ('~', format!("{a:44} | {}", b.trim_start())),
            (_, [a, b]) => {
                self.alone[0].extend(above_a.into_iter().chain(a));
                self.alone[1].extend(above_b.into_iter().chain(b));
                return;
            }
        };
        self.flush();
        for line in &above_a {
            // Compilers give the same code to different lines of source; side A's is enough.
            let both = line.starts_with(SOURCE) || above_b.contains(line);
            self.line(if both { ' ' } else { '-' }, line);
        }
        for line in above_b {
            if !line.starts_with(SOURCE) && !above_a.contains(&line) {
                self.line('+', &line);
            }
        }
        self.line(mark, &text);
    }

    /// Writes the lines of side A, then those of side B.
    fn flush(&mut self) {
        for (mark, lines) in ['-', '+'].into_iter().zip(std::mem::take(&mut self.alone)) {
            for line in lines {
                self.line(mark, &line);
            }
        }
    }

    fn line(&mut self, mark: char, line: &str) {
        let style = match mark {
            ' ' if line.starts_with(SOURCE) => Style::new().dim(),
            mark => style(mark),
        };
        push_painted(
            &mut self.text,
            style,
            &format!("{mark}{line}"),
            self.colours,
        );
    }
}
