//! The driver belongs to one thread, but for its lanes. Types say so, and this fails to compile if they no
//! longer do.

use ixgbe::device::{Device, OpenDevice};
use ixgbe::forwarder::{Forwarder, Lane, Monitor, Ports};
use ixgbe::mempool::{Mempool, Packet};
use ixgbe::vfio::{BareDevice, Container};

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
    BareDevice,
    OpenDevice,
    Device<'static>,
    Ports,
    Forwarder<'static>,
    Monitor<'static>,
    Mempool,
    Packet<'static>,
);

/// A lane moves to another thread.
const _: fn() = || {
    fn moves<T: Send>() {}
    moves::<Lane<'static, 'static>>();
};
