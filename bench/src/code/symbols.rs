//! Names for the data that instructions refer to.

use object::{Object, ObjectSection, ObjectSymbol};

/// Longest text of a string constant that stands for its address.
const LONGEST_TEXT: usize = 32;

/// An object in memory that the compiler named.
#[derive(Debug, Clone)]
struct Symbol {
    start: u64,
    size: u64,
    name: String,
}

/// The data symbols and the constant sections of a program.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    symbols: Vec<Symbol>,
    /// Sections with data: start, name, content.
    sections: Vec<(u64, String, Vec<u8>)>,
}

impl Symbols {
    /// Those of a program.
    pub fn of(file: &object::File<'_>) -> Self {
        let symbols = file
            .symbols()
            .filter(|symbol| symbol.size() > 0)
            .filter_map(|symbol| {
                Some(Symbol {
                    start: symbol.address(),
                    size: symbol.size(),
                    name: symbol.name().ok()?.to_owned(),
                })
            })
            .collect();
        let is_data = |name: &str| {
            [".rodata", ".data", ".bss", ".tdata", ".tbss"]
                .iter()
                .any(|start| name.starts_with(start))
        };
        let mut sections = Vec::new();
        for section in file.sections() {
            let Ok(name) = section.name() else { continue };
            if is_data(name) {
                let content = section.data().unwrap_or_default().to_vec();
                sections.push((section.address(), name.to_owned(), content));
            }
        }
        Self { symbols, sections }
    }

    /// A name for an address, independent of where the linker put it. `given` is objdump's name,
    /// which may be that of the nearest symbol before unnamed data.
    pub fn name(&self, address: u64, given: &str) -> String {
        let inside = |symbol: &&Symbol| {
            (symbol.start..symbol.start.saturating_add(symbol.size)).contains(&address)
        };
        if let Some(symbol) = self.symbols.iter().find(inside) {
            let base = given.split("+0x").next().unwrap_or(given);
            // objdump demangles names.
            let name = if base.is_empty() { &symbol.name } else { base };
            return match address - symbol.start {
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
            symbols: vec![Symbol {
                start: 0x1000,
                size: 0x10,
                name: "table".to_owned(),
            }],
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
