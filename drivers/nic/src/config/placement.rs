//! Where DMA leaves lines.

use serde::Serialize;

/// Where DMA leaves the lines that it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// In the caches of the card's own processor: nothing is moved.
    #[default]
    Warm,
    /// In the last cache, as with DDIO.
    L3,
    /// In memory and in no cache, as without DDIO.
    Memory,
}
