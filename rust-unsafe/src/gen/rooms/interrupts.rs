extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_register(device: *const vfio_device, offset: uint32_t) -> *mut uint32_t;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_signal_msix(
        device: *mut vfio_device,
        eventfds: *const ::core::ffi::c_int,
        count: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_write_field(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
    );
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn poll(
        __fds: *mut pollfd,
        __nfds: nfds_t,
        __timeout: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn eventfd(
        __count: ::core::ffi::c_uint,
        __flags: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn read(
        __fd: ::core::ffi::c_int,
        __buf: *mut ::core::ffi::c_void,
        __nbytes: size_t,
    ) -> ssize_t;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __ssize_t = ::core::ffi::c_long;
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
pub type ssize_t = __ssize_t;
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
pub const EFD_NONBLOCK: C2RustUnnamed = 2048;
pub const EFD_CLOEXEC: C2RustUnnamed = 524288;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct interrupts_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
}
pub type nfds_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pollfd {
    pub fd: ::core::ffi::c_int,
    pub events: ::core::ffi::c_short,
    pub revents: ::core::ffi::c_short,
}
pub type C2RustUnnamed = ::core::ffi::c_uint;
pub const EFD_SEMAPHORE: C2RustUnnamed = 1;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const IXGBE_EIMS: ::core::ffi::c_uint = 0x880 as ::core::ffi::c_uint;
pub const IXGBE_EIMC: ::core::ffi::c_uint = 0x888 as ::core::ffi::c_uint;
pub const IXGBE_EIAC: ::core::ffi::c_uint = 0x810 as ::core::ffi::c_uint;
pub const IXGBE_EIAM: ::core::ffi::c_uint = 0x890 as ::core::ffi::c_uint;
pub const IXGBE_IVAR_RX_EVEN: ::core::ffi::c_uint = 0x3f as ::core::ffi::c_uint;
pub const IXGBE_IVAR_RX_EVEN_VALID: ::core::ffi::c_uint = 0x80 as ::core::ffi::c_uint;
pub const IXGBE_IVAR_RX_ODD: ::core::ffi::c_uint = 0x3f0000 as ::core::ffi::c_uint;
pub const IXGBE_IVAR_RX_ODD_VALID: ::core::ffi::c_uint = 0x800000 as ::core::ffi::c_uint;
pub const IXGBE_GPIE: ::core::ffi::c_uint = 0x898 as ::core::ffi::c_uint;
pub const IXGBE_GPIE_MSIX_MODE: ::core::ffi::c_uint = 0x10 as ::core::ffi::c_uint;
pub const IXGBE_GPIE_OCD: ::core::ffi::c_uint = 0x20 as ::core::ffi::c_uint;
pub const IXGBE_GPIE_EIAME: ::core::ffi::c_uint = 0x40000000 as ::core::ffi::c_uint;
pub const IXGBE_GPIE_PBA_SUPPORT: ::core::ffi::c_uint = 0x80000000
    as ::core::ffi::c_uint;
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
pub const INTERRUPTS_MAX_SLEEP_MS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const POLLIN: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
unsafe extern "C" fn vector_bits(mut count: uint32_t) -> uint32_t {
    return ((1 as uint32_t) << count)
        .wrapping_sub(1 as uint32_t)
        .wrapping_mul(
            0xffff as uint32_t & (!(0xffff as uint32_t)).wrapping_add(1 as uint32_t),
        );
}
unsafe extern "C" fn write_often(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    if vfio_register(vfio, offset).is_null() {
        vfio_ring(vfio, offset, value);
        return;
    }
    reg_write(vfio, offset, value);
    reg_read(vfio, IXGBE_EIMS as uint32_t);
}
unsafe extern "C" fn init_vector(
    mut vfio: *mut vfio_device,
    mut id: uint32_t,
    mut interval_us: uint32_t,
) {
    let mut vector: uint32_t = if id.wrapping_rem(2 as uint32_t) == 0 as uint32_t {
        IXGBE_IVAR_RX_EVEN as uint32_t
    } else {
        IXGBE_IVAR_RX_ODD as uint32_t
    };
    let mut valid: uint32_t = if id.wrapping_rem(2 as uint32_t) == 0 as uint32_t {
        IXGBE_IVAR_RX_EVEN_VALID as uint32_t
    } else {
        IXGBE_IVAR_RX_ODD_VALID as uint32_t
    };
    reg_write_field(
        vfio,
        (0x900 as uint32_t)
            .wrapping_add(
                (0x4 as uint32_t).wrapping_mul(id.wrapping_div(2 as uint32_t)),
            ),
        vector | valid,
        id.wrapping_mul(vector & (!vector).wrapping_add(1 as uint32_t)) | valid,
    );
    reg_write(
        vfio,
        if id < 24 as uint32_t {
            (0x820 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(id))
        } else {
            (0x12300 as uint32_t)
                .wrapping_add(
                    (0x4 as uint32_t).wrapping_mul(id.wrapping_sub(24 as uint32_t)),
                )
        },
        interval_us
            .wrapping_add(2 as uint32_t)
            .wrapping_sub(1 as uint32_t)
            .wrapping_div(2 as uint32_t)
            .wrapping_mul(
                0xff8 as uint32_t & (!(0xff8 as uint32_t)).wrapping_add(1 as uint32_t),
            ),
    );
}
unsafe extern "C" fn open_eventfds(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut interrupts: *mut device_interrupts = &raw mut (*device).interrupts;
    let mut reason: error = error { text: [0; 1024] };
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).config.rx_queues {
        (*interrupts).eventfds[i as usize] = eventfd(
            0 as ::core::ffi::c_uint,
            EFD_CLOEXEC as ::core::ffi::c_int | EFD_NONBLOCK as ::core::ffi::c_int,
        );
        if (*interrupts).eventfds[i as usize] < 0 as ::core::ffi::c_int {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: eventfd for interrupts: %s\0" as *const u8
                    as *const ::core::ffi::c_char,
                &raw mut (*device).vfio.address as *mut ::core::ffi::c_char,
                strerror(*__errno_location()),
            );
            return -(1 as ::core::ffi::c_int);
        }
        (*interrupts).vectors = (*interrupts).vectors.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    if vfio_signal_msix(
        &raw mut (*device).vfio,
        &raw mut (*interrupts).eventfds as *mut ::core::ffi::c_int,
        (*interrupts).vectors,
        &raw mut reason,
    ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s; the device has no MSI-X to wait for: leave out --interrupts\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut reason.text as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn interrupts_start(
    mut device: *mut device,
    mut interval_us: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut bits: uint32_t = vector_bits((*device).config.rx_queues);
    '_c2rust_label: {
        if interval_us <= 1022 as uint32_t {} else {
            __assert_fail(
                b"interval_us <= INTERRUPTS_MAX_INTERVAL_US\0" as *const u8
                    as *const ::core::ffi::c_char,
                b"c/src/rooms/interrupts.c\0" as *const u8 as *const ::core::ffi::c_char,
                78 as ::core::ffi::c_uint,
                b"int interrupts_start(struct device *, uint32_t, struct error *)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    interrupts_stop(device);
    if open_eventfds(device, error) != 0 as ::core::ffi::c_int {
        interrupts_stop(device);
        return -(1 as ::core::ffi::c_int);
    }
    reg_set(
        vfio,
        IXGBE_GPIE as uint32_t,
        IXGBE_GPIE_MSIX_MODE as uint32_t | IXGBE_GPIE_OCD as uint32_t
            | IXGBE_GPIE_EIAME as uint32_t | IXGBE_GPIE_PBA_SUPPORT as uint32_t,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).interrupts.vectors {
        init_vector(vfio, i, interval_us);
        i = i.wrapping_add(1);
    }
    reg_write(vfio, IXGBE_EIAC as uint32_t, bits);
    reg_write(vfio, IXGBE_EIAM as uint32_t, bits);
    reg_write(
        vfio,
        (0xad0 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        bits,
    );
    return vfio_check(vfio, error);
}
#[no_mangle]
pub unsafe extern "C" fn interrupts_stop(mut device: *mut device) {
    let mut ignored: error = error { text: [0; 1024] };
    if (*device).interrupts.vectors == 0 as uint32_t {
        return;
    }
    if !(*device).vfio.failed {
        reg_write(
            &raw mut (*device).vfio,
            IXGBE_EIMC as uint32_t,
            vector_bits((*device).interrupts.vectors),
        );
        vfio_signal_msix(
            &raw mut (*device).vfio,
            ::core::ptr::null::<::core::ffi::c_int>(),
            0 as uint32_t,
            &raw mut ignored,
        );
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).interrupts.vectors {
        close((*device).interrupts.eventfds[i as usize]);
        i = i.wrapping_add(1);
    }
    (*device).interrupts.vectors = 0 as uint32_t;
    (*device).interrupts.armed = 0 as uint32_t;
}
unsafe extern "C" fn arm(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut masked: uint32_t = vector_bits((*device).interrupts.vectors)
        & !(*device).interrupts.armed;
    if masked != 0 as uint32_t {
        write_often(&raw mut (*device).vfio, IXGBE_EIMS as uint32_t, masked);
        (*device).interrupts.armed |= masked;
    }
    return vfio_check(&raw mut (*device).vfio, error);
}
unsafe extern "C" fn sleep_until_signal(
    mut devices: *const device,
    mut count: uint32_t,
    mut timeout_ms: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut ready: [pollfd; 32] = [pollfd {
        fd: 0,
        events: 0,
        revents: 0,
    }; 32];
    let mut used: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let mut j: uint32_t = 0 as uint32_t;
        while j < (*devices.offset(i as isize)).interrupts.vectors {
            ready[used as usize] = pollfd {
                fd: (*devices.offset(i as isize)).interrupts.eventfds[j as usize],
                events: POLLIN as ::core::ffi::c_short,
                revents: 0,
            };
            used = used.wrapping_add(1);
            j = j.wrapping_add(1);
        }
        i = i.wrapping_add(1);
    }
    if timeout_ms > INTERRUPTS_MAX_SLEEP_MS as uint32_t {
        timeout_ms = INTERRUPTS_MAX_SLEEP_MS as uint32_t;
    }
    if poll(
        &raw mut ready as *mut pollfd,
        used as nfds_t,
        timeout_ms as ::core::ffi::c_int,
    ) < 0 as ::core::ffi::c_int && *__errno_location() != EINTR
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: poll for interrupts: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw const (*devices.offset(0 as ::core::ffi::c_int as isize)).vfio.address
                as *const ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn take(mut device: *mut device) -> uint64_t {
    let mut taken: uint64_t = 0 as uint64_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).interrupts.vectors {
        let mut signals: uint64_t = 0 as uint64_t;
        if read(
            (*device).interrupts.eventfds[i as usize],
            &raw mut signals as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<uint64_t>() as size_t,
        ) == ::core::mem::size_of::<uint64_t>() as ssize_t
        {
            taken = taken.wrapping_add(signals);
            (*device).interrupts.armed = ((*device).interrupts.armed
                as ::core::ffi::c_uint
                & !((1 as ::core::ffi::c_uint) << i)
                    .wrapping_mul(
                        0xffff as ::core::ffi::c_uint
                            & (!(0xffff as ::core::ffi::c_uint))
                                .wrapping_add(1 as ::core::ffi::c_uint),
                    )) as uint32_t;
        }
        i = i.wrapping_add(1);
    }
    return taken;
}
unsafe extern "C" fn packet_waits(mut device: *const device) -> bool {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).config.rx_queues {
        let mut rx: *const rx_queue = (&raw const (*device).rx as *const rx_queue)
            .offset(i as isize) as *const rx_queue;
        if dma_load64(&raw mut (*(*rx).ring.offset((*rx).index as isize)).upper)
            & 0x1 as uint64_t != 0
        {
            return true_0 != 0;
        }
        i = i.wrapping_add(1);
    }
    return false_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn interrupts_wait(
    mut devices: *mut device,
    mut count: uint32_t,
    mut timeout_ms: uint32_t,
    mut waits: *mut interrupts_waits,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    '_c2rust_label: {
        if count <= 2 as uint32_t {} else {
            __assert_fail(
                b"count <= MAX_SLEEPERS\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/rooms/interrupts.c\0" as *const u8 as *const ::core::ffi::c_char,
                190 as ::core::ffi::c_uint,
                b"int interrupts_wait(struct device *, uint32_t, uint32_t, struct interrupts_waits *, struct error *)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        (*waits).interrupts = (*waits)
            .interrupts
            .wrapping_add(take(devices.offset(i as isize) as *mut device));
        if arm(devices.offset(i as isize) as *mut device, error)
            != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < count {
        if packet_waits(devices.offset(i_0 as isize) as *mut device) {
            return 0 as ::core::ffi::c_int;
        }
        i_0 = i_0.wrapping_add(1);
    }
    (*waits).sleeps = (*waits).sleeps.wrapping_add(1);
    if sleep_until_signal(devices, count, timeout_ms, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    let mut i_1: uint32_t = 0 as uint32_t;
    while i_1 < count {
        (*waits).interrupts = (*waits)
            .interrupts
            .wrapping_add(take(devices.offset(i_1 as isize) as *mut device));
        i_1 = i_1.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
