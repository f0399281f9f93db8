//! Checks that the dynamic loader starts a program, and that the bridge has its architecture.

use std::path::Path;

use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

use super::way_round::WAY_ROUND;
use crate::usage::UsageError;

#[cfg(target_arch = "x86_64")]
const HERE: (u16, &str) = (elf::EM_X86_64, "x86-64");
#[cfg(target_arch = "aarch64")]
const HERE: (u16, &str) = (elf::EM_AARCH64, "AArch64");

/// Libraries that insist on coming first: the sanitizers of gcc, when they are linked dynamically.
const FIRST: [&str; 3] = ["libasan.so", "libtsan.so", "libhwasan.so"];

/// Checks the file of a program. Returns the libraries that must be loaded before the bridge.
///
/// # Errors
/// It is no program, or of another architecture, or statically linked.
pub fn check(path: &Path) -> Result<Vec<String>, UsageError> {
    let say = |why: String| UsageError(format!("{}: {why}", path.display()));
    let data = std::fs::read(path).map_err(|error| say(error.to_string()))?;
    let data = data.as_slice();
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => {
            return Err(say(format!(
                "this is a 32-bit program, and the bridge is built for {}",
                HERE.1
            )))
        }
        _ => {
            return Err(say(
                "this is neither an ELF program nor a script with `#!` in its first line"
                    .to_owned(),
            ))
        }
    }
    let damaged = |error: object::Error| say(format!("the ELF file is damaged: {error}"));
    let header = FileHeader64::<Endianness>::parse(data).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    let machine = header.e_machine(endian);
    if machine != HERE.0 {
        return Err(say(format!(
            "this program is built for another architecture (ELF machine {machine}), and the bridge \
             for {}; build the program for this machine",
            HERE.1
        )));
    }
    let segments = header.program_headers(endian, data).map_err(damaged)?;
    if !segments
        .iter()
        .any(|segment| segment.p_type(endian) == elf::PT_INTERP)
    {
        return Err(say(format!(
            "this program is statically linked, so no loader can load the bridge into it; link it \
             dynamically, or {WAY_ROUND}"
        )));
    }
    Ok(needed(endian, data, segments)
        .into_iter()
        .filter(|name| FIRST.iter().any(|first| name.starts_with(first)))
        .collect())
}

/// The names of the libraries that a program needs; empty if they cannot be read.
fn needed(
    endian: Endianness,
    data: &[u8],
    segments: &[elf::ProgramHeader64<Endianness>],
) -> Vec<String> {
    let entries = segments
        .iter()
        .find_map(|segment| segment.dynamic(endian, data).ok().flatten())
        .unwrap_or_default();
    let value = |tag: u32| {
        let entry = entries
            .iter()
            .find(|entry| entry.tag32(endian) == Some(tag))?;
        Some(entry.d_val(endian))
    };
    let (Some(address), Some(size)) = (value(elf::DT_STRTAB), value(elf::DT_STRSZ)) else {
        return Vec::new();
    };
    let strings = segments
        .iter()
        .find_map(|segment| {
            segment
                .data_range(endian, data, address, size)
                .ok()
                .flatten()
        })
        .unwrap_or_default();
    entries
        .iter()
        .filter(|entry| entry.tag32(endian) == Some(elf::DT_NEEDED))
        .filter_map(|entry| {
            let start = usize::try_from(entry.d_val(endian)).ok()?;
            let name = strings.get(start..)?.split(|byte| *byte == 0).next()?;
            Some(String::from_utf8_lossy(name).into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why_not(bytes: &[u8]) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        check(file.path()).unwrap_err().0
    }

    /// A program of this machine.
    fn program() -> Vec<u8> {
        std::fs::read("/bin/sh").unwrap()
    }

    #[test]
    fn an_ordinary_program_is_accepted() {
        assert_eq!(check(Path::new("/bin/sh")).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn libraries_of_a_program_are_read() {
        let data = program();
        let header = FileHeader64::<Endianness>::parse(data.as_slice()).unwrap();
        let endian = header.endian().unwrap();
        let segments = header.program_headers(endian, data.as_slice()).unwrap();
        let names = needed(endian, &data, segments);
        assert!(
            names.iter().any(|name| name.starts_with("libc.so")),
            "{names:?}"
        );
    }

    #[test]
    fn other_architectures_are_refused() {
        let mut bytes = program();
        bytes[18] ^= 0x55; // e_machine
        assert!(why_not(&bytes).contains("another architecture"));
        let mut bytes = program();
        bytes[4] = 1; // EI_CLASS
        assert!(why_not(&bytes).contains("32-bit"));
    }

    #[test]
    fn a_program_without_a_loader_is_refused_with_the_way_round() {
        let mut bytes = program();
        let (start, count) = (
            u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize,
            u16::from_le_bytes(bytes[56..58].try_into().unwrap()) as usize,
        );
        for segment in 0..count {
            let at = start + segment * 56;
            if bytes[at..at + 4] == elf::PT_INTERP.to_le_bytes() {
                bytes[at..at + 4].copy_from_slice(&elf::PT_NULL.to_le_bytes());
            }
        }
        let why = why_not(&bytes);
        assert!(
            why.contains("statically linked") && why.contains("make vm-test"),
            "{why}"
        );
    }

    #[test]
    fn other_files_are_refused() {
        assert!(why_not(b"hello").contains("neither"));
        assert!(why_not(b"").contains("neither"));
        assert!(why_not(&program()[..40]).contains("damaged"));
    }
}
