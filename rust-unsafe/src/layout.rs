//! The assertions of the C about sizes and offsets. C2Rust drops `_Static_assert` and the alignment of fields, and does
//! not check the layout of its structures. A wrong layout is a compile error here.

use core::mem::{offset_of, size_of};

use crate::gen;

/// `descriptor.h`: two 64-bit words without padding, as the device reads them (datasheet 7.1.6, 7.2.3.2.4).
macro_rules! assert_descriptor {
    ($descriptor:ty) => {
        assert!(size_of::<$descriptor>() == 16);
        assert!(offset_of!($descriptor, lower) == 0);
        assert!(offset_of!($descriptor, upper) == 8);
    };
}

/// `mempool.h`: the metadata fill the headroom in front of the packet's data.
macro_rules! assert_packet {
    ($packet:ty) => {
        assert!(offset_of!($packet, iova) == 0);
        assert!(offset_of!($packet, pool) == 8);
        assert!(offset_of!($packet, size) == 16);
        assert!(offset_of!($packet, data) == 64);
        assert!(size_of::<$packet>() == 64);
    };
}

// C2Rust copies the structures of a header into each module that includes it, so this checks each copy.
const _: () = {
    assert_descriptor!(gen::driver::init::descriptor);
    assert_descriptor!(gen::driver::rx::descriptor);
    assert_descriptor!(gen::driver::tx::descriptor);

    assert_packet!(gen::rooms::forwarder::packet);
    assert_packet!(gen::driver::init::packet);
    assert_packet!(gen::driver::mempool::packet);
    assert_packet!(gen::driver::rx::packet);
    assert_packet!(gen::driver::tx::packet);

    // The messages of the vfio-user protocol.
    assert!(size_of::<gen::vfio_user::vfio_user::message_header>() == 16);
    assert!(offset_of!(gen::vfio_user::socket::message, payload) == 16);
    assert!(offset_of!(gen::vfio_user::vfio_user::message, payload) == 16);
    assert!(offset_of!(gen::vfio_user::vfio_user::version, capabilities) == 4);
    assert!(size_of::<gen::vfio_user::vfio_user::dma_map>() == 32);
    assert!(size_of::<gen::vfio_user::vfio_user::dma_unmap>() == 24);
    assert!(size_of::<gen::vfio_user::vfio_user::irq_set>() == 20);
    assert!(offset_of!(gen::vfio_user::vfio_user::region_access, data) == 16);
    assert!(size_of::<gen::vfio_user::vfio_user::vfio_region_info>() == 32);
};
