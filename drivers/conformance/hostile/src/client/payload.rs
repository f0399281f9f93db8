//! Payloads of requests.

use crate::message::{put32, put64};

/// Flags of a DMA map: the device may read and write.
pub const READ_WRITE: u32 = 3;
/// Flags of a request about interrupts: signal eventfds that come with the message.
pub const CONNECT: u32 = 1 << 2 | 1 << 5;
/// Flags of a request about interrupts: signal now.
pub const TRIGGER: u32 = 1 | 1 << 5;
/// Kinds of interrupts: the line, MSI and MSI-X.
pub const KINDS: [u32; 3] = [0, 1, 2];

/// VERSION 0.1 with usual capabilities.
pub fn version() -> Vec<u8> {
    let mut bytes = vec![0, 0, 1, 0];
    bytes.extend(b"{\"capabilities\":{\"max_msg_fds\":8}}\0");
    bytes
}

/// DMA_MAP.
pub fn map(flags: u32, offset: u64, iova: u64, size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put32(&mut bytes, 0, 32);
    put32(&mut bytes, 4, flags);
    put64(&mut bytes, 8, offset);
    put64(&mut bytes, 16, iova);
    put64(&mut bytes, 24, size);
    bytes
}

/// DMA_UNMAP.
pub fn unmap(flags: u32, iova: u64, size: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    put32(&mut bytes, 0, 24);
    put32(&mut bytes, 4, flags);
    put64(&mut bytes, 8, iova);
    put64(&mut bytes, 16, size);
    bytes
}

/// SET_IRQS.
pub fn interrupts(flags: u32, kind: u32, start: u32, count: u32) -> Vec<u8> {
    words(&[20, flags, kind, start, count])
}

/// The fixed part of REGION_READ and REGION_WRITE.
pub fn access(offset: u64, region: u32, count: u32) -> Vec<u8> {
    let mut bytes = offset.to_le_bytes().to_vec();
    bytes.extend(words(&[region, count]));
    bytes
}

/// REGION_WRITE of these bytes.
pub fn write(offset: u64, region: u32, data: &[u8]) -> Vec<u8> {
    [access(offset, region, data.len() as u32), data.to_vec()].concat()
}

/// DEVICE_GET_REGION_INFO with room for a reply of `room` bytes.
pub fn region_info(room: u32, region: u32) -> Vec<u8> {
    words(&[room, 0, region, 0, 0, 0, 0, 0])
}

/// Words as bytes, little-endian.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
