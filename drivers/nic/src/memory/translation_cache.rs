//! A cache of IOVA translations for small frames.

use std::cell::Cell;

use crate::memory::shared::Place;

/// Number of entries. Each serves 2 MiB of IOVAs, so IOVAs 1 GiB apart share an entry.
const ENTRIES: usize = 512;
/// IOVAs that differ only below this bit share an entry.
const ENTRY_SHIFT: u32 = 21;

/// A map that was found before, so that a translation is one comparison.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct CachedMap {
    /// First IOVA of the map.
    pub(super) iova: u64,
    /// Number of IOVAs, from the first on, at which a small frame fits into the map.
    pub(super) fits: u64,
    /// The place of the first IOVA.
    pub(super) place: Place,
}

impl CachedMap {
    /// No map: no frame fits into it.
    pub(super) const NONE: CachedMap = CachedMap {
        iova: 0,
        fits: 0,
        place: Place::NOWHERE,
    };
}

/// The maps found last, by IOVA.
#[derive(Debug)]
pub(super) struct TranslationCache([Cell<CachedMap>; ENTRIES]);

impl Default for TranslationCache {
    fn default() -> Self {
        Self([const { Cell::new(CachedMap::NONE) }; ENTRIES])
    }
}

impl TranslationCache {
    pub(super) fn clear(&self) {
        self.0.iter().for_each(|entry| entry.set(CachedMap::NONE));
    }

    /// The entry that an IOVA uses.
    #[inline(always)]
    pub(super) fn entry(&self, iova: u64) -> &Cell<CachedMap> {
        &self.0[(iova >> ENTRY_SHIFT) as usize % ENTRIES]
    }
}
