extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn device_reset(
        device: *mut device,
        config: *const device_config,
        pools: *mut mempool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_init(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn device_stop(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
    fn interrupts_stop(device: *mut device);
    fn phy_take(vfio: *mut vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn phy_release(vfio: *mut vfio_device);
    fn phy_power_up(vfio: *mut vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn rss_init(device: *mut device);
    fn stats_read(
        device: *mut device,
        stats: *mut device_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn stats_init(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn mac_read(
        device: *mut device,
        mac: *mut uint8_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn end_requests(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn clear_tables(vfio: *mut vfio_device);
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
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const IXGBE_LINKS: ::core::ffi::c_uint = 0x42a4 as ::core::ffi::c_uint;
pub const IXGBE_LINKS_UP: ::core::ffi::c_uint = 0x40000000 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
pub const LINK_INTERVAL_US: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const LINK_ATTEMPT: ::core::ffi::c_int = 2000 as ::core::ffi::c_int;
pub const CHECK_LOOKS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const CHECK_INTERVAL_US: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
unsafe extern "C" fn prepare(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if stats_init(device, error) != 0 as ::core::ffi::c_int
        || mac_read(device, &raw mut (*device).mac as *mut uint8_t, error)
            != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    clear_tables(&raw mut (*device).vfio);
    rss_init(device);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn reset_and_power_up(
    mut device: *mut device,
    mut config: *const device_config,
    mut pools: *mut mempool,
    mut has_phy: bool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if !(*device).running && end_requests(device, error) != 0 as ::core::ffi::c_int
        || device_reset(device, config, pools, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return if has_phy as ::core::ffi::c_int != 0 {
        phy_power_up(&raw mut (*device).vfio, error)
    } else {
        0 as ::core::ffi::c_int
    };
}
#[no_mangle]
pub unsafe extern "C" fn device_start_queues(
    mut device: *mut device,
    mut config: *const device_config,
    mut pools: *mut mempool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let has_phy: bool = (*device).family as ::core::ffi::c_uint
        != DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint;
    if has_phy as ::core::ffi::c_int != 0
        && phy_take(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    let mut result: ::core::ffi::c_int = reset_and_power_up(
        device,
        config,
        pools,
        has_phy,
        error,
    );
    if has_phy {
        phy_release(&raw mut (*device).vfio);
    }
    if result != 0 as ::core::ffi::c_int
        || prepare(device, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return device_init(device, error);
}
unsafe extern "C" fn check_sent(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut stats: device_stats = device_stats {
        rx_packets: 0 as uint64_t,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut done: uint64_t = 0 as uint64_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).config.tx_queues {
        done = done.wrapping_add((*device).tx[i as usize].done);
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < CHECK_LOOKS as uint32_t {
        if stats_read(device, &raw mut stats, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        if stats.tx_packets >= done {
            return 0 as ::core::ffi::c_int;
        }
        sleep_us(CHECK_INTERVAL_US as uint32_t);
        i_0 = i_0.wrapping_add(1);
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: the device reported %lu packets as sent, but GPTC counts %lu; the difference is lost\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw mut (*device).vfio.address as *mut ::core::ffi::c_char,
        done,
        stats.tx_packets,
    );
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn device_stop_queues(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut later: error = error { text: [0; 1024] };
    interrupts_stop(device);
    let mut result: ::core::ffi::c_int = device_stop(device, error);
    if check_sent(
        device,
        (if result == 0 as ::core::ffi::c_int { error } else { &raw mut later }),
    ) != 0 as ::core::ffi::c_int
    {
        result = -(1 as ::core::ffi::c_int);
    }
    return result;
}
unsafe extern "C" fn link_comes_up(
    mut device: *mut device,
    mut timeout_ms: uint32_t,
) -> bool {
    let mut deadline: uint64_t = now_ms().wrapping_add(timeout_ms as uint64_t);
    let mut was_up: bool = false_0 != 0;
    loop {
        let mut late: bool = now_ms() >= deadline;
        let mut up: bool = reg_read(&raw mut (*device).vfio, IXGBE_LINKS as uint32_t)
            & IXGBE_LINKS_UP as uint32_t != 0;
        if (*device).vfio.failed {
            return false_0 != 0;
        }
        if up as ::core::ffi::c_int != 0 && was_up as ::core::ffi::c_int != 0
            || late as ::core::ffi::c_int != 0
        {
            return up;
        }
        was_up = up;
        sleep_us(LINK_INTERVAL_US as uint32_t);
    };
}
unsafe extern "C" fn restart(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut config: device_config = (*device).config;
    let mut ignored: error = error { text: [0; 1024] };
    device_stop_queues(device, &raw mut ignored);
    if vfio_check(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    return device_start_queues(device, &raw mut config, (*device).pools, error);
}
#[no_mangle]
pub unsafe extern "C" fn device_wait_for_link(
    mut device: *mut device,
    mut timeout_ms: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut left: uint32_t = timeout_ms;
    let mut attempts: uint32_t = 0 as uint32_t;
    let mut wait: uint32_t = LINK_ATTEMPT as uint32_t;
    loop {
        let mut last: bool = (*device).family as ::core::ffi::c_uint
            != DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint
            || left <= wait;
        attempts = attempts.wrapping_add(1);
        if link_comes_up(
            device,
            if last as ::core::ffi::c_int != 0 { left } else { wait },
        ) {
            return 0 as ::core::ffi::c_int;
        }
        if vfio_check(&raw mut (*device).vfio, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        if last {
            break;
        }
        left = left.wrapping_sub(wait);
        if restart(device, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        wait = wait.wrapping_mul(2 as uint32_t);
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: no link after %u ms and %u attempts; check the cable, the module, and that the other side is up\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw mut (*device).vfio.address as *mut ::core::ffi::c_char,
        timeout_ms,
        attempts,
    );
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn device_is_trapped(mut device: *const device) -> bool {
    return (*device).rx[0 as ::core::ffi::c_int as usize].tail.is_null()
        || (*device).tx[0 as ::core::ffi::c_int as usize].tail.is_null();
}
