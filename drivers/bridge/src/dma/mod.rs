//! DMA memory: from a range of the program's addresses to files that the card can map.

pub(crate) mod areas;
pub(crate) mod backing;
pub(crate) mod convert;
pub(crate) mod files;
pub(crate) mod freeze;
pub(crate) mod huge;
pub(crate) mod private;
pub(crate) mod table;
