//! The requests of `<linux/vfio.h>`.

pub(crate) mod capabilities;
pub(crate) mod container;
pub(crate) mod device;
pub(crate) mod group;
pub(crate) mod irqs;
pub(crate) mod numbers;
pub(crate) mod region;
