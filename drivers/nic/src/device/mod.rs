//! The 82599 itself: registers, queues, filters, interrupts and the chips beside it.

pub(crate) mod card;
pub(crate) mod eeprom;
pub(crate) mod filter;
pub(crate) mod interrupts;
pub(crate) mod offload;
pub(crate) mod packet;
pub(crate) mod pci_config;
pub(crate) mod pci_function;
pub(crate) mod register_file;
#[allow(missing_docs)]
pub mod registers;
pub(crate) mod ring;
pub(crate) mod rss;
pub(crate) mod rx;
pub(crate) mod sfp;
pub(crate) mod shared;
pub(crate) mod statistics;
pub(crate) mod trace;
pub(crate) mod tx;
pub(crate) mod unmodelled;
