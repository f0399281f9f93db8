//! The driver belongs to one thread, but for its lanes, the parts of a pipeline, and remote packets. Types say
//! so, and this fails to compile if they no longer do.

use ixgbe::driver::device::{Device, OpenDevice};
use ixgbe::driver::mempool::{Mempool, Packet};
use ixgbe::rooms::forwarder::{Forwarder, Ports};
use ixgbe::rooms::lane::{Lane, Monitor};
use ixgbe::rooms::pipeline::{Receiver, RemotePacket, Sender, Worker};
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

/// These move to another thread.
const _: fn() = || {
    fn moves<T: Send>() {}
    moves::<Lane<'static, 'static>>();
    moves::<RemotePacket<'static>>();
    moves::<Receiver<'static, 'static>>();
    moves::<Worker<'static>>();
    moves::<Sender<'static, 'static>>();
};
