//! Answers that consist of a fixed part and a chain of capabilities.

use crate::sys::Errno;
use crate::user_memory;

/// A capability: its identifier, its version and what follows its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capability {
    pub(crate) id: u16,
    pub(crate) version: u16,
    pub(crate) data: Vec<u8>,
}

/// The chain that follows a fixed part of `start` bytes. Each header names the offset of the next
/// capability from the start of the fixed part.
pub(crate) fn chain(start: usize, capabilities: &[Capability]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, capability) in capabilities.iter().enumerate() {
        let end = (start + bytes.len() + 8 + capability.data.len()).next_multiple_of(8);
        let next = if index + 1 < capabilities.len() {
            end as u32
        } else {
            0
        };
        bytes.extend(capability.id.to_ne_bytes());
        bytes.extend(capability.version.to_ne_bytes());
        bytes.extend(next.to_ne_bytes());
        bytes.extend(&capability.data);
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
    let whole = if chain.is_empty() {
        fixed.len()
    } else {
        start + chain.len()
    };
    if !chain.is_empty() {
        let fits = room as usize >= whole;
        let offset = if fits { start as u32 } else { 0 };
        fixed[offset_at..offset_at + 4].copy_from_slice(&offset.to_ne_bytes());
        // As the kernel does, only an answer that is cut off changes argsz.
        let argsz = if fits { room } else { whole as u32 };
        fixed[0..4].copy_from_slice(&argsz.to_ne_bytes());
        if fits {
            user_memory::write_bytes(to + start as u64, &chain)?;
        }
    }
    let len = fixed.len().min(room as usize);
    user_memory::write_bytes(to, &fixed[..len])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> [Capability; 2] {
        [
            Capability {
                id: 1,
                version: 2,
                data: vec![9; 5],
            },
            Capability {
                id: 3,
                version: 1,
                data: vec![],
            },
        ]
    }

    #[test]
    fn each_capability_names_the_next() {
        let bytes = chain(24, &two());
        assert_eq!(bytes.len(), 24);
        assert_eq!(bytes[0..8], [1, 0, 2, 0, 40, 0, 0, 0]);
        assert_eq!(bytes[8..16], [9, 9, 9, 9, 9, 0, 0, 0]);
        assert_eq!(bytes[16..24], [3, 0, 1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn without_room_the_answer_says_how_much_it_needs() {
        let mut answer = [0xff_u8; 64];
        let to = answer.as_mut_ptr() as u64;
        write_answer(to, 24, vec![0; 24], 16, &two()).unwrap();
        assert_eq!(answer[0..4], 48_u32.to_ne_bytes());
        assert_eq!(answer[16..20], [0; 4]);
        assert_eq!(answer[24], 0xff);
        write_answer(to, 64, vec![0; 24], 16, &two()).unwrap();
        assert_eq!(answer[0..4], 64_u32.to_ne_bytes());
        assert_eq!(answer[16..20], 24_u32.to_ne_bytes());
        assert_eq!(answer[24], 1);
        assert_eq!(answer[48], 0xff);
    }
}
