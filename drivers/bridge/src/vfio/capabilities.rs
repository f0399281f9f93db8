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

/// Writes a fixed part and its capabilities to the program. The first word is the argsz that the program gave: its room.
/// In the answer it says how much the whole needs. Without room for the capabilities, their offset in word `offset_at` is 0.
pub(crate) fn write_answer<const N: usize>(
    to: u64,
    mut fixed: [u32; N],
    offset_at: usize,
    capabilities: &[Capability],
) -> Result<u64, Errno> {
    let (room, start) = (fixed[0], (4 * N).next_multiple_of(8));
    let chain = chain(start, capabilities);
    if !chain.is_empty() {
        let whole = (start + chain.len()) as u32;
        // As the kernel does, only an answer that is cut off changes argsz.
        fixed[0] = room.max(whole);
        if room >= whole {
            fixed[offset_at] = start as u32;
            user_memory::write_bytes(to + start as u64, &chain)?;
        }
    }
    let fixed = fixed.map(u32::to_ne_bytes).concat();
    user_memory::write_bytes(to, &fixed[..fixed.len().min(room as usize)])?;
    Ok(0)
}
