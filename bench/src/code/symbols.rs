//! Names for the data that instructions refer to.

use std::ops::Range;

use object::{Object, ObjectSection, ObjectSymbol};

/// Longest text of a string constant that stands for its address.
const LONGEST_TEXT: usize = 32;

/// The data symbols and the constant sections of a program.
#[derive(Debug, Default)]
pub struct Symbols {
    /// What the compiler named: its addresses and its name.
    symbols: Vec<(Range<u64>, String)>,
    /// Sections with data: start, name, content.
    sections: Vec<(u64, String, Vec<u8>)>,
}

impl Symbols {
    pub fn of(file: &object::File<'_>) -> Self {
        let symbols = file.symbols().filter_map(|symbol| {
            let start = symbol.address();
            let name = symbol.name().ok()?.to_owned();
            Some((start..start.saturating_add(symbol.size()), name))
        });
        let data = [".rodata", ".data", ".bss", ".tdata", ".tbss"];
        let sections = file.sections().filter_map(|section| {
            let name = section.name().ok()?;
            let content = || section.data().unwrap_or_default().to_vec();
            let is_data = data.iter().any(|start| name.starts_with(start));
            is_data.then(|| (section.address(), name.to_owned(), content()))
        });
        Self {
            symbols: symbols.collect(),
            sections: sections.collect(),
        }
    }

    /// A name for an address, independent of where the linker put it. `given` is objdump's name,
    /// which may be that of the nearest symbol before unnamed data.
    pub fn name(&self, address: u64, given: &str) -> String {
        let mut symbols = self.symbols.iter();
        if let Some((range, symbol)) = symbols.find(|(range, _)| range.contains(&address)) {
            let base = given.split("+0x").next().unwrap_or(given);
            // objdump demangles names.
            let name = if base.is_empty() { symbol } else { base };
            return match address - range.start {
                0 => name.to_owned(),
                offset => format!("{name}+{offset:#x}"),
            };
        }
        let section = self
            .sections
            .iter()
            .find(|(start, _, content)| (*start..start + content.len() as u64).contains(&address));
        match section {
            Some((start, name, content)) => {
                let at = usize::try_from(address - start).unwrap_or(usize::MAX);
                let text = text(content.get(at..).unwrap_or_default());
                text.map_or_else(|| name.clone(), |text| format!("{text:?}"))
            }
            None => given.to_owned(),
        }
    }
}

/// The start of a string constant that ends with a zero byte; `None` for other data.
fn text(content: &[u8]) -> Option<String> {
    let end = content.iter().position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&content[..end]).ok()?;
    let printable = |c: char| !c.is_control() || c == '\n';
    if text.len() < 2 || !text.chars().all(printable) {
        return None;
    }
    Some(text.chars().take(LONGEST_TEXT).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_data_gets_its_section_or_its_text_and_not_the_nearest_symbol() {
        let symbols = Symbols {
            symbols: vec![(0x1000..0x1010, "table".to_owned())],
            sections: vec![(
                0x1000,
                ".rodata".to_owned(),
                [&[0; 0x10][..], b"cannot send\0\x01\x02\x03"].concat(),
            )],
        };
        assert_eq!(symbols.name(0x1000, "table"), "table");
        assert_eq!(symbols.name(0x1008, "table+0x8"), "table+0x8");
        assert_eq!(symbols.name(0x1010, "table+0x10"), "\"cannot send\"");
        assert_eq!(symbols.name(0x101d, "table+0x1d"), ".rodata");
        assert_eq!(symbols.name(0x9000, "memmove@GLIBC"), "memmove@GLIBC");
    }
}
