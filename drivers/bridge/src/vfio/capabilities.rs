//! Answers that consist of a fixed part and a chain of capabilities.

use crate::sys::Errno;
use crate::user_memory;

/// A capability: its identifier, and what follows its header. All have version 1.
pub(crate) type Capability = (u16, Vec<u8>);

/// The chain that follows a fixed part of `start` bytes. Each header names the offset of the next
/// capability from the start of the fixed part.
fn chain(start: usize, capabilities: &[Capability]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, (id, data)) in capabilities.iter().enumerate() {
        let end = (start + bytes.len() + 8 + data.len()).next_multiple_of(8);
        let is_last = index + 1 == capabilities.len();
        bytes.extend([*id, 1].map(u16::to_ne_bytes).concat());
        bytes.extend(if is_last { 0 } else { end as u32 }.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(end - start, 0);
    }
    bytes
}

/// Writes a fixed part and its capabilities to the program. `room` is the argsz that the program
/// gave. The first word of the answer, argsz, says how much room the whole answer needs. Without
/// room for the capabilities, the offset at `offset_at` is 0.
pub(crate) fn write_answer(
    to: u64,
    room: u32,
    mut fixed: Vec<u8>,
    offset_at: usize,
    capabilities: &[Capability],
) -> Result<(), Errno> {
    let start = fixed.len().next_multiple_of(8);
    let chain = chain(start, capabilities);
    if !chain.is_empty() {
        let whole = (start + chain.len()) as u32;
        // As the kernel does, only an answer that is cut off changes argsz.
        let (offset, argsz) = match room >= whole {
            true => (start as u32, room),
            false => (0, whole),
        };
        fixed[offset_at..offset_at + 4].copy_from_slice(&offset.to_ne_bytes());
        fixed[0..4].copy_from_slice(&argsz.to_ne_bytes());
        if offset > 0 {
            user_memory::write_bytes(to + start as u64, &chain)?;
        }
    }
    let len = fixed.len().min(room as usize);
    user_memory::write_bytes(to, &fixed[..len])
}
