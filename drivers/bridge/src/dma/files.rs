//! The files that the bridge has put behind the program's memory.

use std::sync::Arc;

use crate::dma::areas::{self, Area};
use crate::lock::Lock;
use crate::sys::{self, Errno, FileId};

/// A descriptor of the bridge's, closed with its last user.
#[derive(Debug)]
pub(crate) struct File {
    fd: i32,
    id: FileId,
}

impl File {
    /// Takes a descriptor over, and moves it out of the way of the program's numbers.
    pub(crate) fn take(fd: i32) -> Result<Arc<Self>, Errno> {
        let high = sys::duplicate_high(fd, 600);
        let id = sys::file_id(fd);
        sys::close(fd);
        let fd = high?;
        match id {
            Ok(id) => Ok(Arc::new(Self { fd, id })),
            Err(error) => {
                sys::close(fd);
                Err(error)
            }
        }
    }

    pub(crate) fn fd(&self) -> i32 {
        self.fd
    }

    pub(crate) fn id(&self) -> FileId {
        self.id
    }
}

impl Drop for File {
    fn drop(&mut self) {
        sys::close(self.fd);
    }
}

/// The files of memory that was anonymous before.
static OWN: Lock<Vec<Arc<File>>> = Lock::new(Vec::new());

/// Keeps a file for as long as the program has mapped it.
pub(crate) fn keep(file: Arc<File>) {
    OWN.lock().push(file);
}

/// The kept file of an area.
pub(crate) fn find(area: &Area) -> Option<Arc<File>> {
    let own = OWN.lock();
    own.iter().find(|file| file.id == area.file).cloned()
}

/// Drops the files that the program has mapped no more.
pub(crate) fn forget_unmapped(areas: &[Area]) {
    OWN.lock().retain(|file| {
        Arc::strong_count(file) > 1 || areas.iter().any(|area| area.file == file.id)
    });
}

/// Whether a descriptor is one of these files.
pub(crate) fn owns(fd: i32) -> bool {
    OWN.lock().iter().any(|file| file.fd == fd)
}

/// Keeps other threads out, for a fork.
pub(crate) fn acquire() {
    OWN.acquire();
}

/// Lets them in again.
pub(crate) fn release() {
    OWN.release();
}

/// Whether there is any such file. For a fork, while the caller keeps other threads out.
pub(crate) fn any() -> bool {
    !OWN.lock().is_empty()
}

/// In the child of a fork: makes the memory private again that was private before the bridge put a
/// file behind it. The kernel, too, gives the child copies of pages that are pinned for DMA.
pub(crate) fn make_private() {
    let Ok(areas) = areas::all() else {
        return;
    };
    for area in areas.iter().filter(|area| area.shared) {
        let Some(file) = find(area) else { continue };
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let len = area.end - area.start;
        // SAFETY: the range keeps its content, because the same file is behind it. If the kernel
        // refuses, the range stays shared.
        let _ = unsafe {
            sys::mmap(
                area.start,
                len,
                area.protection,
                flags,
                file.fd,
                area.offset,
            )
        };
    }
}
