extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_container_init(container: *mut vfio_container);
    fn vfio_container_close(container: *mut vfio_container);
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn mempool_create(
        pool: *mut mempool,
        container: *mut vfio_container,
        capacity: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn mempool_destroy(pool: *mut mempool);
    fn rx_batch(
        queue: *mut rx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn tx_batch(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn device_open(
        device: *mut device,
        container: *mut vfio_container,
        address: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_release(device: *mut device);
    fn device_close(device: *mut device);
    fn device_start_queues(
        device: *mut device,
        config: *const device_config,
        pools: *mut mempool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_stop_queues(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn stats_read(
        device: *mut device,
        stats: *mut device_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn link_speed(
        device: *mut device,
        speed: *mut uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
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
pub struct ports {
    pub container: vfio_container,
    pub pools: [mempool; 2],
    pub devices: [device; 2],
    pub opened: uint32_t,
    pub packets: [*mut packet; 256],
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
pub struct dma_memory {
    pub container: *mut vfio_container,
    pub memory: *mut ::core::ffi::c_void,
    pub iova: uint64_t,
    pub size: size_t,
    pub fd: ::core::ffi::c_int,
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
pub struct iova_range {
    pub first: uint64_t,
    pub last: uint64_t,
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
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_area {
    pub offset: uint64_t,
    pub size: uint64_t,
    pub memory: *mut uint8_t,
}
pub type vfio_kind = ::core::ffi::c_uint;
pub const VFIO_KIND_USER: vfio_kind = 1;
pub const VFIO_KIND_KERNEL: vfio_kind = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_group {
    pub number: ::core::ffi::c_int,
    pub fd: ::core::ffi::c_int,
    pub users: uint32_t,
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
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
pub struct queue_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub rx_dropped: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
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
pub struct device_config {
    pub rx_queues: uint32_t,
    pub tx_queues: uint32_t,
    pub rx_ring_size: uint32_t,
    pub tx_ring_size: uint32_t,
    pub promiscuous: bool,
    pub tx_sparse_rs: bool,
}
pub type device_family = ::core::ffi::c_uint;
pub const DEVICE_FAMILY_X550: device_family = 2;
pub const DEVICE_FAMILY_X540: device_family = 1;
pub const DEVICE_FAMILY_82599: device_family = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct ports_frame {
    pub data: *mut uint8_t,
    pub size: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct ports_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const PORTS_MAX_BATCH: ::core::ffi::c_int = 256 as ::core::ffi::c_int;
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn error_copy(
    mut result: ::core::ffi::c_int,
    mut reason: *const error,
    mut text: *mut ::core::ffi::c_char,
    mut size: size_t,
) -> ::core::ffi::c_int {
    if result != 0 as ::core::ffi::c_int {
        snprintf(
            text,
            size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw const (*reason).text as *const ::core::ffi::c_char,
        );
    }
    return result;
}
pub const PACKET_BUFFER_SIZE: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const PACKET_HEADROOM: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const PACKET_MAX_SIZE: ::core::ffi::c_int = PACKET_BUFFER_SIZE - PACKET_HEADROOM;
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
pub const DEVICE_CONFIG_DEFAULT: device_config = device_config {
    rx_queues: 1 as uint32_t,
    tx_queues: 1 as uint32_t,
    rx_ring_size: 512 as uint32_t,
    tx_ring_size: 512 as uint32_t,
    promiscuous: true_0 != 0,
    tx_sparse_rs: false_0 != 0,
};
pub const __ASSERT_FUNCTION: [::core::ffi::c_char; 51] = unsafe {
    ::core::mem::transmute::<
        [u8; 51],
        [::core::ffi::c_char; 51],
    >(*b"struct device *device_of(struct ports *, uint32_t)\0")
};
pub const POOL_CAPACITY: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const CONNECT_TIMEOUT_MS: ::core::ffi::c_int = 5000 as ::core::ffi::c_int;
unsafe extern "C" fn device_of(
    mut ports: *mut ports,
    mut port: uint32_t,
) -> *mut device {
    '_c2rust_label: {
        if port < 2 as uint32_t {} else {
            __assert_fail(
                b"port < 2\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/apps/ports.c\0" as *const u8 as *const ::core::ffi::c_char,
                26 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    return (&raw mut (*ports).devices as *mut device).offset(port as isize)
        as *mut device;
}
unsafe extern "C" fn destroy(mut ports: *mut ports) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*ports).opened {
        device_release(
            (&raw mut (*ports).devices as *mut device).offset(i as isize) as *mut device,
        );
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < 2 as uint32_t {
        mempool_destroy(
            (&raw mut (*ports).pools as *mut mempool).offset(i_0 as isize)
                as *mut mempool,
        );
        i_0 = i_0.wrapping_add(1);
    }
    let mut i_1: uint32_t = 0 as uint32_t;
    while i_1 < (*ports).opened {
        device_close(
            (&raw mut (*ports).devices as *mut device).offset(i_1 as isize)
                as *mut device,
        );
        i_1 = i_1.wrapping_add(1);
    }
    vfio_container_close(&raw mut (*ports).container);
    free(ports as *mut ::core::ffi::c_void);
}
unsafe extern "C" fn open_devices(
    mut ports: *mut ports,
    mut addresses: *const *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        if device_open(
            (&raw mut (*ports).devices as *mut device).offset(i as isize) as *mut device,
            &raw mut (*ports).container,
            *addresses.offset(i as isize),
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        (*ports).opened = (*ports).opened.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < 2 as uint32_t {
        if mempool_create(
            (&raw mut (*ports).pools as *mut mempool).offset(i_0 as isize)
                as *mut mempool,
            &raw mut (*ports).container,
            POOL_CAPACITY as uint32_t,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i_0 = i_0.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn ports_open(
    mut device_a: *const ::core::ffi::c_char,
    mut device_b: *const ::core::ffi::c_char,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut ports {
    let addresses: [*const ::core::ffi::c_char; 2] = [device_a, device_b];
    let mut ports: *mut ports = calloc(
        1 as size_t,
        ::core::mem::size_of::<ports>() as size_t,
    ) as *mut ports;
    let mut reason: error = error { text: [0; 1024] };
    if ports.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the ports\0" as *const u8 as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<ports>();
    }
    vfio_container_init(&raw mut (*ports).container);
    (*ports).container.connect_timeout_ms = CONNECT_TIMEOUT_MS as uint32_t;
    if error_copy(
        open_devices(
            ports,
            &raw const addresses as *const *const ::core::ffi::c_char,
            &raw mut reason,
        ),
        &raw mut reason,
        error,
        error_size,
    ) != 0 as ::core::ffi::c_int
    {
        destroy(ports);
        return ::core::ptr::null_mut::<ports>();
    }
    return ports;
}
unsafe extern "C" fn start_again(
    mut device: *mut device,
    mut pool: *mut mempool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let config: device_config = DEVICE_CONFIG_DEFAULT;
    if (*device).running as ::core::ffi::c_int != 0
        && device_stop_queues(device, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return device_start_queues(device, &raw const config, pool, error);
}
#[no_mangle]
pub unsafe extern "C" fn ports_start(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = start_again(
        device_of(ports, port),
        (&raw mut (*ports).pools as *mut mempool).offset(port as isize) as *mut mempool,
        &raw mut reason,
    );
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn ports_link_speed(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut speed: *mut uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = link_speed(
        device_of(ports, port),
        speed,
        &raw mut reason,
    );
    return error_copy(result, &raw mut reason, error, error_size);
}
unsafe extern "C" fn packet_of(
    mut pool: *mut mempool,
    mut frame: *const ports_frame,
) -> *mut packet {
    if (*frame).size > PACKET_MAX_SIZE as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    let mut packet: *mut packet = packet_alloc(pool);
    if !packet.is_null() {
        memcpy(
            &raw mut (*packet).data as *mut uint8_t as *mut ::core::ffi::c_void,
            (*frame).data as *const ::core::ffi::c_void,
            (*frame).size as size_t,
        );
        (*packet).size = (*frame).size;
    }
    return packet;
}
#[no_mangle]
pub unsafe extern "C" fn ports_send(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut frames: *const ports_frame,
    mut count: uint32_t,
) -> uint32_t {
    let mut device: *mut device = device_of(ports, port);
    let mut filled: uint32_t = 0 as uint32_t;
    if !(*device).running {
        return 0 as uint32_t;
    }
    while filled < count && filled < PORTS_MAX_BATCH as uint32_t {
        let mut packet: *mut packet = packet_of(
            (&raw mut (*ports).pools as *mut mempool).offset(port as isize)
                as *mut mempool,
            frames.offset(filled as isize) as *const ports_frame,
        );
        if packet.is_null() {
            break;
        }
        (*ports).packets[filled as usize] = packet;
        filled = filled.wrapping_add(1);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*device).tx as *mut tx_queue).offset(0 as ::core::ffi::c_int as isize)
            as *mut tx_queue,
        &raw mut (*ports).packets as *mut *mut packet,
        filled,
    );
    let mut i: uint32_t = sent;
    while i < filled {
        packet_free((*ports).packets[i as usize]);
        i = i.wrapping_add(1);
    }
    return sent;
}
#[no_mangle]
pub unsafe extern "C" fn ports_receive(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut frames: *mut ports_frame,
    mut count: uint32_t,
) -> uint32_t {
    let mut device: *mut device = device_of(ports, port);
    if !(*device).running {
        return 0 as uint32_t;
    }
    let mut wanted: uint32_t = if count < PORTS_MAX_BATCH as uint32_t {
        count
    } else {
        PORTS_MAX_BATCH as uint32_t
    };
    let mut received: uint32_t = rx_batch(
        (&raw mut (*device).rx as *mut rx_queue).offset(0 as ::core::ffi::c_int as isize)
            as *mut rx_queue,
        &raw mut (*ports).packets as *mut *mut packet,
        wanted,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        let mut packet: *mut packet = (*ports).packets[i as usize];
        let mut size: uint32_t = if (*packet).size < (*frames.offset(i as isize)).size {
            (*packet).size
        } else {
            (*frames.offset(i as isize)).size
        };
        memcpy(
            (*frames.offset(i as isize)).data as *mut ::core::ffi::c_void,
            &raw mut (*packet).data as *mut uint8_t as *const ::core::ffi::c_void,
            size as size_t,
        );
        (*frames.offset(i as isize)).size = (*packet).size;
        packet_free(packet);
        i = i.wrapping_add(1);
    }
    return received;
}
#[no_mangle]
pub unsafe extern "C" fn ports_stats(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut stats: *mut ports_stats,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut read: device_stats = device_stats {
        rx_packets: 0 as uint64_t,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = stats_read(
        device_of(ports, port),
        &raw mut read,
        &raw mut reason,
    );
    *stats = ports_stats {
        rx_packets: read.rx_packets,
        rx_bytes: read.rx_bytes,
        tx_packets: read.tx_packets,
        tx_bytes: read.tx_bytes,
    };
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn ports_register(
    mut ports: *mut ports,
    mut port: uint32_t,
    mut offset: uint32_t,
    mut value: *mut uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*(device_of
        as unsafe extern "C" fn(*mut ports, uint32_t) -> *mut device)(ports, port))
        .vfio;
    let mut reason: error = error { text: [0; 1024] };
    *value = reg_read(vfio, offset);
    return error_copy(
        vfio_check(vfio, &raw mut reason),
        &raw mut reason,
        error,
        error_size,
    );
}
#[no_mangle]
pub unsafe extern "C" fn ports_on_ordinary_pages(mut ports: *const ports) -> bool {
    return (*ports).container.ordinary_pages;
}
#[no_mangle]
pub unsafe extern "C" fn ports_close(
    mut ports: *mut ports,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut later: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut device: *mut device = (&raw mut (*ports).devices as *mut device)
            .offset(i as isize) as *mut device;
        if (*device).running as ::core::ffi::c_int != 0
            && device_stop_queues(
                device,
                (if result == 0 as ::core::ffi::c_int {
                    &raw mut reason
                } else {
                    &raw mut later
                }),
            ) != 0 as ::core::ffi::c_int
        {
            result = -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    destroy(ports);
    return error_copy(result, &raw mut reason, error, error_size);
}
