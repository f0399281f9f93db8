extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn vfio_check_request(
        device: *const vfio_device,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn enable_rx(
        vfio: *mut vfio_device,
        on: bool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn rx_check_stall(queue: *mut rx_queue, error: *mut error) -> ::core::ffi::c_int;
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
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
pub const UINT32_MAX: ::core::ffi::c_uint = 4294967295 as ::core::ffi::c_uint;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const IXGBE_STATUS: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL: ::core::ffi::c_uint = 0x5080 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL_MPE: ::core::ffi::c_uint = 0x100 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL_UPE: ::core::ffi::c_uint = 0x200 as ::core::ffi::c_uint;
pub const IXGBE_RAH_AV: ::core::ffi::c_uint = 0x80000000 as ::core::ffi::c_uint;
pub const IXGBE_RXCTRL: ::core::ffi::c_uint = 0x3000 as ::core::ffi::c_uint;
pub const IXGBE_RXCTRL_RXEN: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_LINKS: ::core::ffi::c_uint = 0x42a4 as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED_NON_STD: ::core::ffi::c_uint = 0x8000000
    as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED: ::core::ffi::c_uint = 0x30000000 as ::core::ffi::c_uint;
pub const IXGBE_LINKS_SPEED_100M: ::core::ffi::c_uint = 268435456;
pub const IXGBE_LINKS_SPEED_1G: ::core::ffi::c_uint = 536870912;
pub const IXGBE_LINKS_SPEED_10G: ::core::ffi::c_uint = 805306368;
pub const IXGBE_LINKS_UP: ::core::ffi::c_uint = 0x40000000 as ::core::ffi::c_uint;
pub const IXGBE_GPTC: ::core::ffi::c_uint = 0x4080 as ::core::ffi::c_uint;
pub const IXGBE_GOTCL: ::core::ffi::c_uint = 0x4090 as ::core::ffi::c_uint;
pub const IXGBE_GOTCH: ::core::ffi::c_uint = 0x4094 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const __ASSERT_FUNCTION: [::core::ffi::c_char; 86] = unsafe {
    ::core::mem::transmute::<
        [u8; 86],
        [::core::ffi::c_char; 86],
    >(
        *b"int queue_stats_read(struct device *, uint32_t, struct queue_stats *, struct error *)\0",
    )
};
pub const QUEUES_A_REGISTER: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_10G: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_5G: ::core::ffi::c_int = 5000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_2_5G: ::core::ffi::c_int = 2500 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_1G: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const MBIT_PER_SECOND_100M: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
unsafe extern "C" fn counter_read36(
    mut vfio: *mut vfio_device,
    mut low_offset: uint32_t,
    mut high_offset: uint32_t,
) -> uint64_t {
    let mut low: uint64_t = reg_read(vfio, low_offset) as uint64_t;
    let mut high: uint64_t = reg_read(vfio, high_offset) as uint64_t;
    return low | (high & 0xf as uint64_t) << 32 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn stats_read(
    mut device: *mut device,
    mut stats: *mut device_stats,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut total: *mut device_stats = &raw mut (*device).stats;
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut tx_packets: uint64_t = reg_read(vfio, IXGBE_GPTC as uint32_t) as uint64_t;
    let mut tx_bytes: uint64_t = counter_read36(
        vfio,
        IXGBE_GOTCL as uint32_t,
        IXGBE_GOTCH as uint32_t,
    );
    let mut rx_packets: uint64_t = 0 as uint64_t;
    let mut rx_bytes: uint64_t = 0 as uint64_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).config.rx_queues {
        let mut queue: queue_stats = queue_stats {
            rx_packets: 0,
            rx_bytes: 0,
            rx_dropped: 0,
            tx_packets: 0,
            tx_bytes: 0,
        };
        if queue_stats_read(device, i, &raw mut queue, error) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        rx_packets = rx_packets.wrapping_add(queue.rx_packets);
        rx_bytes = rx_bytes.wrapping_add(queue.rx_bytes);
        i = i.wrapping_add(1);
    }
    let mut status: uint32_t = reg_read(vfio, IXGBE_STATUS as uint32_t);
    if vfio_check(vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if status == UINT32_MAX as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: STATUS reads 0xffffffff: the device is gone; reset it or plug it in again\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*vfio).address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if vfio_check_request(vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    (*total).rx_packets = rx_packets;
    (*total).rx_bytes = rx_bytes;
    (*total).tx_packets = (*total).tx_packets.wrapping_add(tx_packets);
    (*total).tx_bytes = (*total).tx_bytes.wrapping_add(tx_bytes);
    *stats = *total;
    if !(*device).running || (*device).queues_in_threads as ::core::ffi::c_int != 0 {
        return 0 as ::core::ffi::c_int;
    }
    let mut stall: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < (*device).config.rx_queues && result == 0 as ::core::ffi::c_int {
        result = rx_check_stall(
            (&raw mut (*device).rx as *mut rx_queue).offset(i_0 as isize)
                as *mut rx_queue,
            &raw mut stall,
        );
        i_0 = i_0.wrapping_add(1);
    }
    if vfio_check(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    return if result == 0 as ::core::ffi::c_int {
        0 as ::core::ffi::c_int
    } else {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut stall.text as *mut ::core::ffi::c_char,
        );
        -(1 as ::core::ffi::c_int)
    };
}
#[no_mangle]
pub unsafe extern "C" fn stats_init(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*device).config.rx_queues > 1 as uint32_t
        || (*device).config.tx_queues > 1 as uint32_t
    {
        let mut i: uint32_t = 0 as uint32_t;
        while i < (DEVICE_MAX_QUEUES / QUEUES_A_REGISTER) as uint32_t {
            let mut first: uint32_t = i.wrapping_mul(QUEUES_A_REGISTER as uint32_t);
            reg_write(
                &raw mut (*device).vfio,
                (0x2300 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
                first
                    .wrapping_mul(
                        0xf as uint32_t
                            & (!(0xf as uint32_t)).wrapping_add(1 as uint32_t),
                    )
                    | first
                        .wrapping_add(1 as uint32_t)
                        .wrapping_mul(
                            0xf00 as uint32_t
                                & (!(0xf00 as uint32_t)).wrapping_add(1 as uint32_t),
                        )
                    | first
                        .wrapping_add(2 as uint32_t)
                        .wrapping_mul(
                            0xf0000 as uint32_t
                                & (!(0xf0000 as uint32_t)).wrapping_add(1 as uint32_t),
                        )
                    | first
                        .wrapping_add(3 as uint32_t)
                        .wrapping_mul(
                            0xf000000 as uint32_t
                                & (!(0xf000000 as uint32_t)).wrapping_add(1 as uint32_t),
                        ),
            );
            reg_write(
                &raw mut (*device).vfio,
                (0x8600 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
                first
                    .wrapping_mul(
                        0xf as uint32_t
                            & (!(0xf as uint32_t)).wrapping_add(1 as uint32_t),
                    )
                    | first
                        .wrapping_add(1 as uint32_t)
                        .wrapping_mul(
                            0xf00 as uint32_t
                                & (!(0xf00 as uint32_t)).wrapping_add(1 as uint32_t),
                        )
                    | first
                        .wrapping_add(2 as uint32_t)
                        .wrapping_mul(
                            0xf0000 as uint32_t
                                & (!(0xf0000 as uint32_t)).wrapping_add(1 as uint32_t),
                        )
                    | first
                        .wrapping_add(3 as uint32_t)
                        .wrapping_mul(
                            0xf000000 as uint32_t
                                & (!(0xf000000 as uint32_t)).wrapping_add(1 as uint32_t),
                        ),
            );
            i = i.wrapping_add(1);
        }
        let mut i_0: uint32_t = 0 as uint32_t;
        while i_0 < DEVICE_MAX_QUEUES as uint32_t {
            let mut ignored: queue_stats = queue_stats {
                rx_packets: 0,
                rx_bytes: 0,
                rx_dropped: 0,
                tx_packets: 0,
                tx_bytes: 0,
            };
            if queue_stats_read(device, i_0, &raw mut ignored, error)
                != 0 as ::core::ffi::c_int
            {
                return -(1 as ::core::ffi::c_int);
            }
            i_0 = i_0.wrapping_add(1);
        }
    }
    let mut ignored_0: device_stats = device_stats {
        rx_packets: 0,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    if stats_read(device, &raw mut ignored_0, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    memset(
        &raw mut (*device).stats as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<device_stats>() as size_t,
    );
    memset(
        &raw mut (*device).queue_stats as *mut queue_stats as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<[queue_stats; 16]>() as size_t,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn queue_stats_read(
    mut device: *mut device,
    mut id: uint32_t,
    mut stats: *mut queue_stats,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut total: *mut queue_stats = (&raw mut (*device).queue_stats
        as *mut queue_stats)
        .offset(id as isize) as *mut queue_stats;
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    '_c2rust_label: {
        if id < 16 as uint32_t {} else {
            __assert_fail(
                b"id < DEVICE_MAX_QUEUES\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/rooms/stats.c\0" as *const u8 as *const ::core::ffi::c_char,
                123 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    let mut tx_packets: uint64_t = reg_read(
        vfio,
        (0x8680 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(id)),
    ) as uint64_t;
    let mut rx_packets: uint64_t = reg_read(
        vfio,
        (0x1030 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
    ) as uint64_t;
    let mut rx_dropped: uint64_t = reg_read(
        vfio,
        (0x1430 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
    ) as uint64_t;
    let mut rx_bytes: uint64_t = counter_read36(
        vfio,
        (0x1034 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        (0x1038 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
    );
    let mut tx_bytes: uint64_t = counter_read36(
        vfio,
        (0x8700 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(id)),
        (0x8704 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(id)),
    );
    if vfio_check(vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    (*total).rx_packets = (*total).rx_packets.wrapping_add(rx_packets);
    (*total).rx_dropped = (*total).rx_dropped.wrapping_add(rx_dropped);
    (*total).rx_bytes = (*total).rx_bytes.wrapping_add(rx_bytes);
    (*total).tx_packets = (*total).tx_packets.wrapping_add(tx_packets);
    (*total).tx_bytes = (*total).tx_bytes.wrapping_add(tx_bytes);
    *stats = *total;
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn mac_read(
    mut device: *mut device,
    mut mac: *mut uint8_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut low: uint32_t = reg_read(
        &raw mut (*device).vfio,
        (0xa200 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(0 as uint32_t)),
    );
    let mut high: uint32_t = reg_read(
        &raw mut (*device).vfio,
        (0xa204 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(0 as uint32_t)),
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < 4 as uint32_t {
        *mac.offset(i as isize) = (low >> (8 as uint32_t).wrapping_mul(i)) as uint8_t;
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < 2 as uint32_t {
        *mac.offset((4 as uint32_t).wrapping_add(i_0) as isize) = (high
            >> (8 as uint32_t).wrapping_mul(i_0)) as uint8_t;
        i_0 = i_0.wrapping_add(1);
    }
    return vfio_check(&raw mut (*device).vfio, error);
}
#[no_mangle]
pub unsafe extern "C" fn mac_write(
    mut device: *mut device,
    mut mac: *const uint8_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut low: uint32_t = *mac.offset(0 as ::core::ffi::c_int as isize) as uint32_t
        | (*mac.offset(1 as ::core::ffi::c_int as isize) as uint32_t)
            << 8 as ::core::ffi::c_int
        | (*mac.offset(2 as ::core::ffi::c_int as isize) as uint32_t)
            << 16 as ::core::ffi::c_int
        | (*mac.offset(3 as ::core::ffi::c_int as isize) as uint32_t)
            << 24 as ::core::ffi::c_int;
    let mut high: uint32_t = *mac.offset(4 as ::core::ffi::c_int as isize) as uint32_t
        | (*mac.offset(5 as ::core::ffi::c_int as isize) as uint32_t)
            << 8 as ::core::ffi::c_int;
    reg_write(
        &raw mut (*device).vfio,
        (0xa200 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(0 as uint32_t)),
        low,
    );
    reg_write(
        &raw mut (*device).vfio,
        (0xa204 as uint32_t).wrapping_add((0x8 as uint32_t).wrapping_mul(0 as uint32_t)),
        high | IXGBE_RAH_AV as uint32_t,
    );
    if vfio_check(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        &raw mut (*device).mac as *mut uint8_t as *mut ::core::ffi::c_void,
        mac as *const ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 6]>() as size_t,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn promiscuous_set(
    mut device: *mut device,
    mut on: bool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut receiving: bool = reg_read(&raw mut (*device).vfio, IXGBE_RXCTRL as uint32_t)
        & IXGBE_RXCTRL_RXEN as uint32_t != 0;
    if receiving as ::core::ffi::c_int != 0
        && enable_rx(&raw mut (*device).vfio, false_0 != 0, error)
            != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if on {
        reg_set(
            &raw mut (*device).vfio,
            IXGBE_FCTRL as uint32_t,
            IXGBE_FCTRL_MPE as uint32_t | IXGBE_FCTRL_UPE as uint32_t,
        );
    } else {
        reg_clear(
            &raw mut (*device).vfio,
            IXGBE_FCTRL as uint32_t,
            IXGBE_FCTRL_MPE as uint32_t | IXGBE_FCTRL_UPE as uint32_t,
        );
    }
    if receiving as ::core::ffi::c_int != 0
        && enable_rx(&raw mut (*device).vfio, true_0 != 0, error)
            != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if vfio_check(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    (*device).config.promiscuous = on;
    return 0 as ::core::ffi::c_int;
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
