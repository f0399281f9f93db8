//! The driver belongs to one thread. Types say so, and this fails to compile if they no longer do.

use ixgbe::device::{Device, OpenDevice};
use ixgbe::forwarder::{Forwarder, Ports};
use ixgbe::mempool::{Mempool, Packet};
use ixgbe::sys::buffers::{Buffer, BufferStore};
use ixgbe::sys::dma::{DmaMemory, Entries, Entry, Ring};
use ixgbe::sys::mmio::{Area, Register};
use ixgbe::vfio::{Container, VfioDevice};

/// Asserts that types are neither `Send` nor `Sync`: if one were, two of the implementations would
/// apply to it, and which `check` is meant could not be inferred.
macro_rules! assert_of_one_thread {
    ($($type:ty),+ $(,)?) => {$(
        const _: fn() = || {
            trait Unless<Which> {
                fn check() {}
            }
            struct IfSend;
            struct IfSync;
            impl<T: ?Sized> Unless<()> for T {}
            impl<T: ?Sized + Send> Unless<IfSend> for T {}
            impl<T: ?Sized + Sync> Unless<IfSync> for T {}
            let _ = <$type as Unless<_>>::check;
        };
    )+};
}

assert_of_one_thread!(
    Container,
    VfioDevice,
    OpenDevice,
    Device<'static>,
    Ports,
    Forwarder<'static>,
    Mempool,
    Packet<'static>,
    BufferStore,
    Buffer<'static>,
    DmaMemory,
    Ring<u8>,
    Entries<'static, u8>,
    Entry<'static, u8>,
    Area,
    Register,
);
