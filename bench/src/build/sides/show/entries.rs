//! What a listing of two sides shows, line by line.

use crate::code::machine_code::code::Code;
use crate::code::machine_code::difference::{Kind, Row};
use crate::code::machine_code::source::SourceLine;

use super::Comparison;

/// An entry of the listing. Entries that are not code may be missing on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'c> {
    /// This many rows without a difference are left out.
    Fold(usize),
    /// A function starts.
    Function(Option<&'c str>, Option<&'c str>),
    /// The target of a jump.
    Label(Option<usize>, Option<usize>),
    /// The source of the code below.
    Source(Option<&'c SourceLine>, Option<&'c SourceLine>),
    /// A row of code.
    Code(Row),
}

/// How many rows without a difference stand around each difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// All rows are shown.
    All,
    /// This many on each side of a difference.
    Rows(usize),
}

impl std::str::FromStr for Context {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            number => number
                .parse()
                .map(Self::Rows)
                .map_err(|_| format!("{number:?} is neither a number of lines nor `all`")),
        }
    }
}

/// The entries of a comparison.
pub fn entries(comparison: &Comparison, context: Context) -> Vec<Entry<'_>> {
    let (a, b) = (&comparison.a.code, &comparison.b.code);
    let difference = &comparison.difference;
    let shown = shown(&difference.rows, context);
    let mut all = Vec::new();
    let mut folded = 0;
    let (mut source_a, mut source_b) = (None, None);
    for (row, shown) in difference.rows.iter().zip(shown) {
        if !shown {
            folded += 1;
            continue;
        }
        if folded > 0 {
            all.push(Entry::Fold(folded));
            folded = 0;
            (source_a, source_b) = (None, None);
        }
        let (function_a, function_b) = (starting(a, row.a), starting(b, row.b));
        if function_a.is_some() || function_b.is_some() {
            all.push(Entry::Function(function_a, function_b));
        }
        let label_a = row
            .a
            .and_then(|line| difference.labels_a.get(&line))
            .copied();
        let label_b = row
            .b
            .and_then(|line| difference.labels_b.get(&line))
            .copied();
        if label_a.is_some() || label_b.is_some() {
            all.push(Entry::Label(label_a, label_b));
        }
        let new_a = changed(a, row.a, &mut source_a);
        let new_b = changed(b, row.b, &mut source_b);
        if new_a.is_some() || new_b.is_some() {
            all.push(Entry::Source(new_a, new_b));
        }
        all.push(Entry::Code(*row));
    }
    if folded > 0 {
        all.push(Entry::Fold(folded));
    }
    all
}

/// The function that starts at a line.
fn starting(code: &Code, line: Option<usize>) -> Option<&str> {
    let part = code.parts.iter().find(|part| Some(part.start) == line)?;
    Some(&part.name)
}

/// The source of a line, if it is not the one that stands above.
fn changed<'c>(
    code: &'c Code,
    line: Option<usize>,
    last: &mut Option<&'c SourceLine>,
) -> Option<&'c SourceLine> {
    let source = code.lines[line?].source.as_ref()?;
    if *last == Some(source) {
        return None;
    }
    *last = Some(source);
    Some(source)
}

/// Which rows stand near a difference.
fn shown(rows: &[Row], context: Context) -> Vec<bool> {
    let Context::Rows(context) = context else {
        return vec![true; rows.len()];
    };
    let mut shown = vec![false; rows.len()];
    for (place, row) in rows.iter().enumerate() {
        if row.kind != Kind::Same {
            let end = (place + context + 1).min(rows.len());
            shown[place.saturating_sub(context)..end].fill(true);
        }
    }
    shown
}
