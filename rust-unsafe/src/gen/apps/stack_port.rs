extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
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
    fn port_open(
        port: *mut port,
        config: *const port_config,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn port_close(port: *mut port, error: *mut error) -> ::core::ffi::c_int;
    fn interrupts_start(
        device: *mut device,
        interval_us: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn interrupts_wait(
        devices: *mut device,
        count: uint32_t,
        timeout_ms: uint32_t,
        waits: *mut interrupts_waits,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn stats_read(
        device: *mut device,
        stats: *mut device_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn mac_read(
        device: *mut device,
        mac: *mut uint8_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
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
pub struct stack_port {
    pub port: port,
    pub waits: interrupts_waits,
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
pub struct interrupts_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct port {
    pub container: vfio_container,
    pub pools: [mempool; 16],
    pub tx_pools: [mempool; 16],
    pub device: device,
    pub opened: bool,
    pub turns: uint32_t,
    pub packets: [*mut packet; 512],
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
pub struct stack_port_config {
    pub device: *const ::core::ffi::c_char,
    pub queues: uint32_t,
    pub ring_size: uint32_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
    pub interrupts: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct stack_packet {
    pub data: *mut uint8_t,
    pub size: uint32_t,
    pub slot: uint32_t,
    pub owner: *mut ::core::ffi::c_void,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct stack_port_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
    pub ordinary_pages: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct port_config {
    pub address: *const ::core::ffi::c_char,
    pub rx_queues: uint32_t,
    pub tx_queues: uint32_t,
    pub tx_pools: bool,
    pub ring_size: uint32_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const STACK_PORT_MAX_BATCH: ::core::ffi::c_int = 256 as ::core::ffi::c_int;
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
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
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
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const INTERRUPT_INTERVAL_US: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
unsafe extern "C" fn open_port(
    mut port: *mut stack_port,
    mut config: *const stack_port_config,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let opened: port_config = port_config {
        address: (*config).device,
        rx_queues: (*config).queues,
        tx_queues: (*config).queues,
        tx_pools: false,
        ring_size: (*config).ring_size,
        connect_timeout_ms: (*config).connect_timeout_ms,
        link_timeout_ms: (*config).link_timeout_ms,
    };
    let mut ignored: error = error { text: [0; 1024] };
    if (*config).queues < 1 as uint32_t
        || (*config).queues > DEVICE_MAX_QUEUES as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"a port has 1 to %d queues, not %u\0" as *const u8
                as *const ::core::ffi::c_char,
            16 as ::core::ffi::c_int,
            (*config).queues,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if port_open(&raw mut (*port).port, &raw const opened, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if (*config).interrupts != 0 as uint32_t
        && interrupts_start(
            &raw mut (*port).port.device,
            INTERRUPT_INTERVAL_US as uint32_t,
            error,
        ) != 0 as ::core::ffi::c_int
    {
        port_close(&raw mut (*port).port, &raw mut ignored);
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_open(
    mut config: *const stack_port_config,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut stack_port {
    let mut port: *mut stack_port = calloc(
        1 as size_t,
        ::core::mem::size_of::<stack_port>() as size_t,
    ) as *mut stack_port;
    let mut reason: error = error { text: [0; 1024] };
    if port.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the port\0" as *const u8 as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<stack_port>();
    }
    if error_copy(
        open_port(port, config, &raw mut reason),
        &raw mut reason,
        error,
        error_size,
    ) != 0 as ::core::ffi::c_int
    {
        free(port as *mut ::core::ffi::c_void);
        return ::core::ptr::null_mut::<stack_port>();
    }
    return port;
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_mac(
    mut port: *mut stack_port,
    mut mac: *mut uint8_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = mac_read(
        &raw mut (*port).port.device,
        mac,
        &raw mut reason,
    );
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_receive(
    mut port: *mut stack_port,
    mut queue: uint32_t,
    mut packets: *mut stack_packet,
    mut count: uint32_t,
) -> uint32_t {
    let mut wanted: uint32_t = if count < STACK_PORT_MAX_BATCH as uint32_t {
        count
    } else {
        STACK_PORT_MAX_BATCH as uint32_t
    };
    let mut received: uint32_t = rx_batch(
        (&raw mut (*port).port.device.rx as *mut rx_queue).offset(queue as isize)
            as *mut rx_queue,
        &raw mut (*port).packets as *mut *mut packet,
        wanted,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        let mut packet: *mut packet = (*port).packets[i as usize];
        *packets.offset(i as isize) = stack_packet {
            data: &raw mut (*packet).data as *mut uint8_t,
            size: (*packet).size,
            slot: 0,
            owner: packet as *mut ::core::ffi::c_void,
        };
        i = i.wrapping_add(1);
    }
    return received;
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_free(
    mut port: *mut stack_port,
    mut packets: *const stack_packet,
    mut count: uint32_t,
) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        packet_free((*packets.offset(i as isize)).owner as *mut packet);
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_alloc(
    mut port: *mut stack_port,
    mut packet: *mut stack_packet,
) -> bool {
    let mut taken: *mut packet = packet_alloc(
        (&raw mut (*port).port.pools as *mut mempool)
            .offset(0 as ::core::ffi::c_int as isize) as *mut mempool,
    );
    if taken.is_null() {
        return false_0 != 0;
    }
    *packet = stack_packet {
        data: &raw mut (*taken).data as *mut uint8_t,
        size: PACKET_MAX_SIZE as uint32_t,
        slot: 0,
        owner: taken as *mut ::core::ffi::c_void,
    };
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_send(
    mut port: *mut stack_port,
    mut queue: uint32_t,
    mut packets: *const stack_packet,
    mut count: uint32_t,
) -> uint32_t {
    let mut offered: uint32_t = if count < STACK_PORT_MAX_BATCH as uint32_t {
        count
    } else {
        STACK_PORT_MAX_BATCH as uint32_t
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i < offered {
        let mut packet: *mut packet = (*packets.offset(i as isize)).owner as *mut packet;
        (*packet).size = (*packets.offset(i as isize)).size;
        (*port).packets[i as usize] = packet;
        i = i.wrapping_add(1);
    }
    return tx_batch(
        (&raw mut (*port).port.device.tx as *mut tx_queue).offset(queue as isize)
            as *mut tx_queue,
        &raw mut (*port).packets as *mut *mut packet,
        offered,
    );
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_wait(
    mut port: *mut stack_port,
    mut timeout_ms: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = interrupts_wait(
        &raw mut (*port).port.device,
        1 as uint32_t,
        timeout_ms,
        &raw mut (*port).waits,
        &raw mut reason,
    );
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_stats(
    mut port: *mut stack_port,
    mut stats: *mut stack_port_stats,
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
        &raw mut (*port).port.device,
        &raw mut read,
        &raw mut reason,
    );
    *stats = stack_port_stats {
        rx_packets: read.rx_packets,
        rx_bytes: read.rx_bytes,
        tx_packets: read.tx_packets,
        tx_bytes: read.tx_bytes,
        interrupts: (*port).waits.interrupts,
        sleeps: (*port).waits.sleeps,
        ordinary_pages: (*port).port.container.ordinary_pages as uint64_t,
    };
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn stack_port_close(
    mut port: *mut stack_port,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = port_close(
        &raw mut (*port).port,
        &raw mut reason,
    );
    free(port as *mut ::core::ffi::c_void);
    return error_copy(result, &raw mut reason, error, error_size);
}
