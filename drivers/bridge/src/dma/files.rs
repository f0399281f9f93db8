//! The files that the bridge has put behind the program's memory.

use std::sync::Arc;

use crate::dma::areas::{self, Area};
use crate::lock::Lock;
use crate::sys::{self, Errno, Fd, FileId};

/// A file, and what identifies it.
#[derive(Debug)]
pub(crate) struct File {
    fd: Fd,
    pub(crate) id: FileId,
}

impl File {
    /// Takes a descriptor over, and moves it out of the way of the program's numbers.
    pub(crate) fn take(fd: Fd) -> Result<Arc<Self>, Errno> {
        let id = sys::file_id(fd.number())?;
        let fd = fd.raise()?;
        Ok(Arc::new(Self { fd, id }))
    }

    pub(crate) fn fd(&self) -> i32 {
        self.fd.number()
    }
}

/// What the memory was before it got a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Shared,
    Private,
    /// Private huge pages, which keep their file as long as they are mapped.
    PrivateHuge,
}

#[derive(Debug)]
pub(crate) struct Kept {
    file: Arc<File>,
    origin: Origin,
}

impl Kept {
    /// Whether the program has the file mapped for DMA.
    fn is_used(&self) -> bool {
        Arc::strong_count(&self.file) > 1
    }

    fn is_behind(&self, area: &Area) -> bool {
        area.shared && area.file == self.file.id
    }
}

/// The files of memory that was anonymous before.
pub(crate) static OWN: Lock<Vec<Kept>> = Lock::new(Vec::new());

/// Keeps a file for as long as the program has mapped it.
pub(crate) fn keep(file: Arc<File>, origin: Origin) {
    OWN.lock().push(Kept { file, origin });
}

/// The kept file of an area.
pub(crate) fn find(area: &Area) -> Option<Arc<File>> {
    let own = OWN.lock();
    let kept = own.iter().find(|kept| kept.file.id == area.file);
    kept.map(|kept| Arc::clone(&kept.file))
}

/// The areas of private memory, each with the file behind it.
pub(crate) fn private_areas() -> Vec<(Arc<File>, Area)> {
    let own = OWN.lock();
    if own.is_empty() {
        return Vec::new();
    }
    let areas = areas::all().unwrap_or_default().into_iter();
    let private = areas.filter_map(|area| {
        let kept = own.iter().find(|kept| kept.is_behind(&area))?;
        (kept.origin != Origin::Shared).then(|| (Arc::clone(&kept.file), area))
    });
    private.collect()
}

/// Drops the files that the program does not use. Those behind private memory go once it is not mapped
/// for DMA, and `make_anonymous` has taken their areas.
pub(crate) fn release_unused(make_anonymous: impl Fn(&File, &Area) -> bool) {
    let mut own = OWN.lock();
    if own.iter().all(Kept::is_used) {
        return;
    }
    let Ok(areas) = areas::all() else { return };
    own.retain(|kept| {
        let stays = |area| kept.origin != Origin::Private || !make_anonymous(&kept.file, area);
        let mut areas = areas.iter().filter(|area| kept.is_behind(area));
        kept.is_used() || areas.any(stays)
    });
}

/// Whether a descriptor is one of these files.
pub(crate) fn owns(fd: i32) -> bool {
    OWN.lock().iter().any(|kept| kept.file.fd() == fd)
}
