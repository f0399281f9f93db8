//! What a port and its driver share, for programs that look at the driver's memory.

use serde_json::{json, Value};

use super::card::Device;
use super::ring::{RingRegisters, RECEIVE, TRANSMIT};
use crate::config::QUEUES;
use crate::memory::dma::Map;

/// The memory that a port and its driver share: the file of the register space, of which the driver may map
/// pages; the rings of the enabled queues, with the offsets of their tail registers; and the DMA maps.
pub(crate) fn memory_of(port: usize, device: &Device) -> Value {
    let peek = |address| device.registers.peek(address);
    let rings = |of: &RingRegisters| -> Vec<Value> {
        let queues = 0..QUEUES as u32;
        let enabled = queues.filter(|queue| peek((of.control)(*queue)) & of.enable != 0);
        let ring = |queue| {
            json!({
                "queue": queue,
                "tail": (of.tail)(queue),
                "iova": of.base(queue, peek),
                "bytes": peek((of.len)(queue)),
            })
        };
        enabled.map(ring).collect()
    };
    let map = |map: &Map| {
        let (memory, offset) = map.memory.as_ref()?;
        let file = memory.file_id();
        Some(json!({
            "iova": map.iova,
            "bytes": map.size,
            "device": file.device,
            "inode": file.inode,
            "offset": memory.start() + offset,
        }))
    };
    let maps: Vec<_> = device.dma.table.maps().iter().filter_map(map).collect();
    json!({
        "port": port,
        "registers": device.registers.memory().file_id(),
        "rx_rings": rings(&RECEIVE),
        "tx_rings": rings(&TRANSMIT),
        "maps": maps,
    })
}
