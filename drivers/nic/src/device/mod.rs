//! The card itself: registers, queues, filters, interrupts and the chips beside it.

pub(crate) mod card;
pub(crate) mod data_path;
pub(crate) mod diagnostics;
pub(crate) mod dma_port;
pub(crate) mod eeprom;
pub(crate) mod families;
pub(crate) mod filter;
pub(crate) mod host_interface;
pub(crate) mod interrupts;
pub(crate) mod late_writes;
pub(crate) mod link_state;
pub(crate) mod misuse;
pub(crate) mod offload;
pub(crate) mod packet;
pub(crate) mod packet_buffer;
pub(crate) mod pci_config;
pub(crate) mod phy;
pub(crate) mod queues;
pub(crate) mod rate_limit;
pub(crate) mod receive;
pub(crate) mod regions;
pub(crate) mod register_access;
pub(crate) mod register_file;
#[allow(missing_docs)]
pub mod registers;
pub(crate) mod ring;
pub(crate) mod rss;
pub(crate) mod rx;
mod segmentation;
pub(crate) mod sfp;
pub(crate) mod shared_device;
pub(crate) mod statistics;
pub(crate) mod trace;
pub(crate) mod transmit;
pub(crate) mod tx;
mod tx_frames;
pub(crate) mod unmodelled;
