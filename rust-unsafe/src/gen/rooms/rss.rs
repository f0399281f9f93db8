extern "C" {
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct iova_range {
    pub first: uint64_t,
    pub last: uint64_t,
}
pub type vfio_kind = ::core::ffi::c_uint;
pub const VFIO_KIND_USER: vfio_kind = 1;
pub const VFIO_KIND_KERNEL: vfio_kind = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_area {
    pub offset: uint64_t,
    pub size: uint64_t,
    pub memory: *mut uint8_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_device {
    pub container: *mut vfio_container,
    pub reserve_us: uint64_t,
    pub address: [::core::ffi::c_char; 128],
    pub kind: vfio_kind,
    pub fd: ::core::ffi::c_int,
    pub request_fd: ::core::ffi::c_int,
    pub group: ::core::ffi::c_int,
    pub area_count: uint32_t,
    pub next_message: uint16_t,
    pub bar0_size: uint64_t,
    pub bar0_file_offset: uint64_t,
    pub config_file_offset: uint64_t,
    pub areas: [vfio_area; 8],
    pub failed: bool,
    pub failure: error,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_container {
    pub fd: ::core::ffi::c_int,
    pub groups: [vfio_group; 8],
    pub device_count: uint32_t,
    pub devices: [*mut vfio_device; 8],
    pub range_count: uint32_t,
    pub ranges: [iova_range; 16],
    pub next_iova: uint64_t,
    pub map_count: uint32_t,
    pub ordinary_pages: bool,
    pub connect_timeout_ms: uint32_t,
    pub connect_by_ms: uint64_t,
    pub patience_us: uint64_t,
    pub refilled_us: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_group {
    pub number: ::core::ffi::c_int,
    pub fd: ::core::ffi::c_int,
    pub users: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct dma_memory {
    pub container: *mut vfio_container,
    pub memory: *mut ::core::ffi::c_void,
    pub iova: uint64_t,
    pub size: size_t,
    pub fd: ::core::ffi::c_int,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct packet {
    pub iova: uint64_t,
    pub pool: *mut mempool,
    pub size: uint32_t,
    pub reserved: [uint8_t; 4],
    pub next: *mut packet,
    pub reserved_too: [uint8_t; 32],
    pub data: [uint8_t; 0],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct mempool {
    pub dma: dma_memory,
    pub capacity: uint32_t,
    pub free_count: uint32_t,
    pub free: *mut *mut packet,
    pub apart: [uint8_t; 128],
    pub returned: *mut ::core::ffi::c_void,
    pub apart_returned: [uint8_t; 128],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct rx_queue {
    pub ring: *mut descriptor,
    pub packets: *mut *mut packet,
    pub pool: *mut mempool,
    pub tail: *mut uint32_t,
    pub tail_offset: uint32_t,
    pub mask: uint32_t,
    pub index: uint32_t,
    pub discarding: bool,
    pub id: uint32_t,
    pub vfio: *mut vfio_device,
    pub dma: dma_memory,
    pub pool_empty: uint64_t,
    pub discarded: uint64_t,
    pub suspect: uint32_t,
    pub apart: [uint8_t; 128],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct tx_queue {
    pub ring: *mut descriptor,
    pub packets: *mut *mut packet,
    pub tail: *mut uint32_t,
    pub tail_offset: uint32_t,
    pub mask: uint32_t,
    pub index: uint32_t,
    pub clean_index: uint32_t,
    pub done: uint64_t,
    pub id: uint32_t,
    pub vfio: *mut vfio_device,
    pub dma: dma_memory,
    pub apart: [uint8_t; 128],
}
pub type device_family = ::core::ffi::c_uint;
pub const DEVICE_FAMILY_X550: device_family = 2;
pub const DEVICE_FAMILY_X540: device_family = 1;
pub const DEVICE_FAMILY_82599: device_family = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_config {
    pub rx_queues: uint32_t,
    pub tx_queues: uint32_t,
    pub rx_ring_size: uint32_t,
    pub tx_ring_size: uint32_t,
    pub promiscuous: bool,
    pub tx_sparse_rs: bool,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct queue_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub rx_dropped: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_interrupts {
    pub vectors: uint32_t,
    pub armed: uint32_t,
    pub eventfds: [::core::ffi::c_int; 16],
    pub apart: [uint8_t; 56],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device {
    pub vfio: vfio_device,
    pub family: device_family,
    pub config: device_config,
    pub pools: *mut mempool,
    pub queues_in_threads: bool,
    pub running: bool,
    pub mac: [uint8_t; 6],
    pub stats: device_stats,
    pub queue_stats: [queue_stats; 16],
    pub rx: [rx_queue; 16],
    pub tx: [tx_queue; 16],
    pub interrupts: device_interrupts,
}
pub const IXGBE_RXCSUM: ::core::ffi::c_uint = 0x5000 as ::core::ffi::c_uint;
pub const IXGBE_RXCSUM_PCSD: ::core::ffi::c_uint = 0x2000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC: ::core::ffi::c_uint = 0xec80 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_MRQE_RSS: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_TCP_IPV4: ::core::ffi::c_uint = 0x10000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_IPV4: ::core::ffi::c_uint = 0x20000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_IPV6: ::core::ffi::c_uint = 0x100000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_TCP_IPV6: ::core::ffi::c_uint = 0x200000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_UDP_IPV4: ::core::ffi::c_uint = 0x400000 as ::core::ffi::c_uint;
pub const IXGBE_MRQC_RSS_UDP_IPV6: ::core::ffi::c_uint = 0x800000 as ::core::ffi::c_uint;
pub const IXGBE_RSSRK_COUNT: ::core::ffi::c_uint = 10 as ::core::ffi::c_uint;
pub const IXGBE_RETA_COUNT: ::core::ffi::c_uint = 32 as ::core::ffi::c_uint;
pub const IXGBE_ERETA_COUNT: ::core::ffi::c_uint = 96 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
pub const RSS_KEY_WORD: ::core::ffi::c_int = 0x5a6d5a6d as ::core::ffi::c_int;
pub const RETA_ENTRIES: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
unsafe extern "C" fn reta_entries(
    mut first: uint32_t,
    mut queues: uint32_t,
) -> uint32_t {
    return first
        .wrapping_rem(queues)
        .wrapping_mul(0xf as uint32_t & (!(0xf as uint32_t)).wrapping_add(1 as uint32_t))
        | first
            .wrapping_add(1 as uint32_t)
            .wrapping_rem(queues)
            .wrapping_mul(
                0xf00 as uint32_t & (!(0xf00 as uint32_t)).wrapping_add(1 as uint32_t),
            )
        | first
            .wrapping_add(2 as uint32_t)
            .wrapping_rem(queues)
            .wrapping_mul(
                0xf0000 as uint32_t
                    & (!(0xf0000 as uint32_t)).wrapping_add(1 as uint32_t),
            )
        | first
            .wrapping_add(3 as uint32_t)
            .wrapping_rem(queues)
            .wrapping_mul(
                0xf000000 as uint32_t
                    & (!(0xf000000 as uint32_t)).wrapping_add(1 as uint32_t),
            );
}
#[no_mangle]
pub unsafe extern "C" fn rss_init(mut device: *mut device) {
    let mut queues: uint32_t = (*device).config.rx_queues;
    if queues == 1 as uint32_t {
        return;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < IXGBE_RSSRK_COUNT as uint32_t {
        reg_write(
            &raw mut (*device).vfio,
            (0xeb80 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
            RSS_KEY_WORD as uint32_t,
        );
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < IXGBE_RETA_COUNT as uint32_t {
        reg_write(
            &raw mut (*device).vfio,
            (0xeb00 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i_0)),
            reta_entries(i_0.wrapping_mul(RETA_ENTRIES as uint32_t), queues),
        );
        i_0 = i_0.wrapping_add(1);
    }
    let mut i_1: uint32_t = 0 as uint32_t;
    while (*device).family as ::core::ffi::c_uint
        == DEVICE_FAMILY_X550 as ::core::ffi::c_int as ::core::ffi::c_uint
        && i_1 < IXGBE_ERETA_COUNT as uint32_t
    {
        reg_write(
            &raw mut (*device).vfio,
            (0xee80 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i_1)),
            reta_entries(i_1.wrapping_mul(RETA_ENTRIES as uint32_t), queues),
        );
        i_1 = i_1.wrapping_add(1);
    }
    reg_set(
        &raw mut (*device).vfio,
        IXGBE_RXCSUM as uint32_t,
        IXGBE_RXCSUM_PCSD as uint32_t,
    );
    reg_write(
        &raw mut (*device).vfio,
        IXGBE_MRQC as uint32_t,
        IXGBE_MRQC_MRQE_RSS as uint32_t | IXGBE_MRQC_RSS_TCP_IPV4 as uint32_t
            | IXGBE_MRQC_RSS_IPV4 as uint32_t | IXGBE_MRQC_RSS_IPV6 as uint32_t
            | IXGBE_MRQC_RSS_TCP_IPV6 as uint32_t | IXGBE_MRQC_RSS_UDP_IPV4 as uint32_t
            | IXGBE_MRQC_RSS_UDP_IPV6 as uint32_t,
    );
}
