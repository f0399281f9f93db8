//! What every measurement has: CPUs, a folder, and a way to end it.

use std::path::Path;

use record::Placement;

use crate::backend::MeasureError;
use crate::interrupt::Interrupt;
use crate::temporary::TemporaryFolder;

/// Where a measurement takes place.
pub(crate) struct Place<'a> {
    pub placement: &'a Placement,
    /// For sockets and reports.
    folder: TemporaryFolder,
    /// Ends every wait when set.
    pub interrupt: &'a Interrupt,
}

impl<'a> Place<'a> {
    /// A place with a folder of its own.
    pub fn new(placement: &'a Placement, interrupt: &'a Interrupt) -> Result<Self, MeasureError> {
        Ok(Self {
            placement,
            folder: TemporaryFolder::create()?,
            interrupt,
        })
    }

    /// The folder for sockets and reports.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}
