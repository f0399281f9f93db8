//! Both sides in one column, as `diff --unified` shows them.

use console::Style;

use super::entries::{entries, Context, Entry};
use super::{painted, Comparison};
use crate::code::machine_code::difference::Kind;
use crate::code::machine_code::source::SourceLine;

/// Both sides: `-` starts a line of side A, `+` one of side B. `~` starts a line that differs only in
/// registers or stack slots; what side B has stands behind `|`.
pub fn unified(comparison: &Comparison, context: Context, colours: bool) -> String {
    let mut page = Page {
        colours,
        ..Page::default()
    };
    page.line(' ', &format!("A: {}", comparison.a.label));
    page.line(' ', &format!("B: {}", comparison.b.label));
    for entry in entries(comparison, context) {
        match entry {
            Entry::Fold(count) => {
                page.flush();
                page.line('@', &format!("@ equal lines: {count} @@"));
            }
            Entry::Function(a, b) => page.above(
                a.map(|name| format!("{name}:")),
                b.map(|name| format!("{name}:")),
            ),
            Entry::Label(a, b) => page.above(
                a.map(|number| format!(".L{number}:")),
                b.map(|number| format!(".L{number}:")),
            ),
            Entry::Source(a, b) => page.above(a.map(source), b.map(source)),
            Entry::Code(row) => {
                let a = row
                    .a
                    .map(|line| format!("      {}", comparison.text_a(line)));
                let b = row
                    .b
                    .map(|line| format!("      {}", comparison.text_b(line)));
                page.row(row.kind, a, b);
            }
        }
    }
    page.flush();
    page.text
}

fn source(line: &SourceLine) -> String {
    format!("{SOURCE}{}:{}  {}", line.file, line.line, line.text)
}

/// How a line of source starts.
const SOURCE: &str = "  ; ";

/// The text so far, and the lines of a difference that is not complete.
#[derive(Debug, Default)]
struct Page {
    colours: bool,
    text: String,
    removed: Vec<String>,
    added: Vec<String>,
    /// Lines above the next row of code, of each side.
    above_a: Vec<String>,
    above_b: Vec<String>,
}

impl Page {
    fn above(&mut self, a: Option<String>, b: Option<String>) {
        self.above_a.extend(a);
        self.above_b.extend(b);
    }

    fn row(&mut self, kind: Kind, a: Option<String>, b: Option<String>) {
        let (above_a, above_b) = (
            std::mem::take(&mut self.above_a),
            std::mem::take(&mut self.above_b),
        );
        let both = match (kind, &a, &b) {
            (Kind::Same, Some(a), _) => Some((' ', a.clone())),
            (Kind::Names, Some(a), Some(b)) => Some(('~', format!("{a:44} | {}", b.trim_start()))),
            _ => None,
        };
        let Some((mark, text)) = both else {
            self.removed.extend(above_a.into_iter().chain(a));
            self.added.extend(above_b.into_iter().chain(b));
            return;
        };
        self.flush();
        for line in &above_a {
            // Compilers give the same code to different lines of source; side A's is enough.
            let mark = match line.starts_with(SOURCE) || above_b.contains(line) {
                true => ' ',
                false => '-',
            };
            self.line(mark, line);
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
        for line in std::mem::take(&mut self.removed) {
            self.line('-', &line);
        }
        for line in std::mem::take(&mut self.added) {
            self.line('+', &line);
        }
    }

    fn line(&mut self, mark: char, line: &str) {
        let style = match mark {
            '-' => Style::new().red(),
            '+' => Style::new().green(),
            '~' => Style::new().cyan(),
            '@' => Style::new().dim(),
            _ if line.starts_with(SOURCE) => Style::new().dim(),
            _ => Style::new(),
        };
        let line = format!("{mark}{line}");
        self.text
            .push_str(&painted(&style, line.trim_end(), self.colours));
        self.text.push('\n');
    }
}
