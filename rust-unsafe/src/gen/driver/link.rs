extern "C" {
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_write_field(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
    );
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
    fn phy_power_up(vfio: *mut vfio_device, error: *mut error) -> ::core::ffi::c_int;
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
    pub connect_waited_ms: uint64_t,
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
    pub huge: bool,
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
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const IXGBE_ESDP: ::core::ffi::c_uint = 0x20 as ::core::ffi::c_uint;
pub const IXGBE_ESDP_SDP3: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC: ::core::ffi::c_uint = 0x42a0 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_AN_RESTART: ::core::ffi::c_uint = 0x1000 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_LMS: ::core::ffi::c_uint = 0xe000 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_LMS_10G_SERIAL: ::core::ffi::c_uint = 0x6000
    as ::core::ffi::c_uint;
pub const IXGBE_LINKS: ::core::ffi::c_uint = 0x42a4 as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED_NON_STD: ::core::ffi::c_uint = 0x8000000
    as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED: ::core::ffi::c_uint = 0x30000000 as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED_100M: ::core::ffi::c_uint = 268435456;
pub const IXGBE_LINKS_SPEED_1G: ::core::ffi::c_uint = 536870912;
pub const IXGBE_LINKS_SPEED_10G: ::core::ffi::c_uint = 805306368;
pub const IXGBE_LINKS_UP: ::core::ffi::c_uint = 0x40000000 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2: ::core::ffi::c_uint = 0x42a8 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_10G_PMA_PMD_SERIAL: ::core::ffi::c_uint = 0x30000
    as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI: ::core::ffi::c_uint = 0x20000
    as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_LINK_DISABLE: ::core::ffi::c_uint = 0x70000000
    as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
pub const LINK_INTERVAL_US: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_10G: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_5G: ::core::ffi::c_int = 5000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_2_5G: ::core::ffi::c_int = 2500 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_1G: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_100M: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
unsafe extern "C" fn init_serial_link(mut vfio: *mut vfio_device) {
    reg_clear(vfio, IXGBE_ESDP as uint32_t, IXGBE_ESDP_SDP3 as uint32_t);
    reg_write_field(
        vfio,
        IXGBE_AUTOC as uint32_t,
        IXGBE_AUTOC_LMS as uint32_t,
        IXGBE_AUTOC_LMS_10G_SERIAL as uint32_t,
    );
    reg_write_field(
        vfio,
        IXGBE_AUTOC2 as uint32_t,
        IXGBE_AUTOC2_10G_PMA_PMD_SERIAL as uint32_t
            | IXGBE_AUTOC2_LINK_DISABLE as uint32_t,
        IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI as uint32_t,
    );
    reg_set(vfio, IXGBE_AUTOC as uint32_t, IXGBE_AUTOC_AN_RESTART as uint32_t);
}
#[no_mangle]
pub unsafe extern "C" fn link_init(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*device).family as ::core::ffi::c_uint
        == DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        init_serial_link(&raw mut (*device).vfio);
        return vfio_check(&raw mut (*device).vfio, error);
    }
    return phy_power_up(&raw mut (*device).vfio, error);
}
#[no_mangle]
pub unsafe extern "C" fn link_comes_up(
    mut device: *mut device,
    mut timeout_ms: uint32_t,
) -> bool {
    let mut deadline: uint64_t = now_ms().wrapping_add(timeout_ms as uint64_t);
    loop {
        let mut late: bool = now_ms() >= deadline;
        let mut up: bool = reg_read(&raw mut (*device).vfio, IXGBE_LINKS as uint32_t)
            & IXGBE_LINKS_UP as uint32_t != 0;
        if (*device).vfio.failed {
            return false_0 != 0;
        }
        if up as ::core::ffi::c_int != 0 || late as ::core::ffi::c_int != 0 {
            return up;
        }
        sleep_us(LINK_INTERVAL_US as uint32_t);
    };
}
#[no_mangle]
pub unsafe extern "C" fn link_speed(
    mut device: *mut device,
    mut speed: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut links: uint32_t = reg_read(&raw mut (*device).vfio, IXGBE_LINKS as uint32_t);
    let mut nonstandard: bool = (*device).family as ::core::ffi::c_uint
        == DEVICE_FAMILY_X550 as ::core::ffi::c_int as ::core::ffi::c_uint
        && links & IXGBE_LINKS_SPEED_NON_STD as uint32_t != 0;
    *speed = 0 as uint32_t;
    if links & IXGBE_LINKS_UP as uint32_t != 0 {
        match links & IXGBE_LINKS_SPEED as uint32_t {
            IXGBE_LINKS_SPEED_10G => {
                *speed = (if nonstandard as ::core::ffi::c_int != 0 {
                    MBIT_PER_SECOND_2_5G
                } else {
                    MBIT_PER_SECOND_10G
                }) as uint32_t;
            }
            IXGBE_LINKS_SPEED_1G => {
                *speed = MBIT_PER_SECOND_1G as uint32_t;
            }
            IXGBE_LINKS_SPEED_100M => {
                *speed = (if nonstandard as ::core::ffi::c_int != 0 {
                    MBIT_PER_SECOND_5G
                } else {
                    MBIT_PER_SECOND_100M
                }) as uint32_t;
            }
            _ => {}
        }
    }
    return vfio_check(&raw mut (*device).vfio, error);
}
