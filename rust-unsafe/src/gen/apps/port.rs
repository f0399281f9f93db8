extern "C" {
    fn turns_per_look(is_trapped: bool) -> uint32_t;
    fn warn_of_ordinary_pages(program: *const program);
    fn vfio_container_init(container: *mut vfio_container);
    fn vfio_container_close(container: *mut vfio_container);
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
    fn device_open(
        device: *mut device,
        container: *mut vfio_container,
        address: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_release(device: *mut device);
    fn device_close(device: *mut device);
    fn run_open(run: *mut run) -> ::core::ffi::c_int;
    fn run_look(run: *mut run, nanoseconds: uint64_t) -> bool;
    fn run_end(run: *mut run);
    fn run_check(run: *mut run, result: ::core::ffi::c_int, error: *const error);
    fn run_close(run: *mut run) -> ::core::ffi::c_int;
    fn device_start_queues(
        device: *mut device,
        config: *const device_config,
        pools: *mut mempool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_wait_for_link(
        device: *mut device,
        timeout_ms: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_stop_queues(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn device_is_trapped(device: *const device) -> bool;
    fn stats_read(
        device: *mut device,
        stats: *mut device_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct _IO_FILE {
    pub _flags: ::core::ffi::c_int,
    pub _IO_read_ptr: *mut ::core::ffi::c_char,
    pub _IO_read_end: *mut ::core::ffi::c_char,
    pub _IO_read_base: *mut ::core::ffi::c_char,
    pub _IO_write_base: *mut ::core::ffi::c_char,
    pub _IO_write_ptr: *mut ::core::ffi::c_char,
    pub _IO_write_end: *mut ::core::ffi::c_char,
    pub _IO_buf_base: *mut ::core::ffi::c_char,
    pub _IO_buf_end: *mut ::core::ffi::c_char,
    pub _IO_save_base: *mut ::core::ffi::c_char,
    pub _IO_backup_base: *mut ::core::ffi::c_char,
    pub _IO_save_end: *mut ::core::ffi::c_char,
    pub _markers: *mut _IO_marker,
    pub _chain: *mut _IO_FILE,
    pub _fileno: ::core::ffi::c_int,
    pub _flags2: ::core::ffi::c_int,
    pub _old_offset: __off_t,
    pub _cur_column: ::core::ffi::c_ushort,
    pub _vtable_offset: ::core::ffi::c_schar,
    pub _shortbuf: [::core::ffi::c_char; 1],
    pub _lock: *mut ::core::ffi::c_void,
    pub _offset: __off64_t,
    pub _codecvt: *mut _IO_codecvt,
    pub _wide_data: *mut _IO_wide_data,
    pub _freeres_list: *mut _IO_FILE,
    pub _freeres_buf: *mut ::core::ffi::c_void,
    pub __pad5: size_t,
    pub _mode: ::core::ffi::c_int,
    pub _unused2: [::core::ffi::c_char; 20],
}
pub type _IO_lock_t = ();
pub type FILE = _IO_FILE;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct program {
    pub name: *const ::core::ffi::c_char,
    pub usage: *const ::core::ffi::c_char,
    pub arguments: ::core::ffi::c_int,
    pub needs: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct common_options {
    pub batch: uint32_t,
    pub ring_size: uint32_t,
    pub packets: uint64_t,
    pub duration: uint64_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
    pub json: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __sigset_t {
    pub __val: [::core::ffi::c_ulong; 16],
}
pub type sigset_t = __sigset_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct run {
    pub program: *const program,
    pub options: *const common_options,
    pub result: ::core::ffi::c_int,
    pub error: error,
    pub json: *mut FILE,
    pub device_count: uint32_t,
    pub devices: [*const ::core::ffi::c_char; 2],
    pub read_stats: Option<
        unsafe extern "C" fn(
            *mut ::core::ffi::c_void,
            uint32_t,
            *mut device_stats,
            *mut error,
        ) -> ::core::ffi::c_int,
    >,
    pub owner: *mut ::core::ffi::c_void,
    pub left: uint64_t,
    pub held: sigset_t,
    pub start: uint64_t,
    pub cpu_start: uint64_t,
    pub tsc_start: uint64_t,
    pub time: uint64_t,
    pub printed: uint64_t,
    pub before: [device_stats; 2],
    pub seconds: ::core::ffi::c_double,
    pub cpu_seconds: ::core::ffi::c_double,
    pub tsc_cycles: uint64_t,
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
pub struct work {
    pub do_work: Option<
        unsafe extern "C" fn(*mut run, *mut port, *mut ::core::ffi::c_void) -> (),
    >,
    pub write_totals: Option<
        unsafe extern "C" fn(*const run, *const ::core::ffi::c_void) -> (),
    >,
    pub state: *mut ::core::ffi::c_void,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const POOL_PACKETS_PER_DESCRIPTOR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const POOL_MIN_CAPACITY: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
unsafe extern "C" fn create_pools(
    mut port: *mut port,
    mut pools: *mut mempool,
    mut count: uint32_t,
    mut ring_size: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut capacity: uint32_t = ring_size
        .wrapping_mul(POOL_PACKETS_PER_DESCRIPTOR as uint32_t);
    if capacity < POOL_MIN_CAPACITY as uint32_t {
        capacity = POOL_MIN_CAPACITY as uint32_t;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        if mempool_create(
            pools.offset(i as isize) as *mut mempool,
            &raw mut (*port).container,
            capacity,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn open_and_start(
    mut port: *mut port,
    mut config: *const port_config,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let device: device_config = device_config {
        rx_queues: (*config).rx_queues,
        tx_queues: (*config).tx_queues,
        rx_ring_size: (*config).ring_size,
        tx_ring_size: (*config).ring_size,
        promiscuous: true_0 != 0,
        tx_sparse_rs: false,
    };
    let mut tx_pools: uint32_t = if (*config).tx_pools as ::core::ffi::c_int != 0 {
        (*config).tx_queues
    } else {
        0 as uint32_t
    };
    if device_open(
        &raw mut (*port).device,
        &raw mut (*port).container,
        (*config).address,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*port).opened = true_0 != 0;
    if create_pools(
        port,
        &raw mut (*port).pools as *mut mempool,
        (*config).rx_queues,
        (*config).ring_size,
        error,
    ) != 0 as ::core::ffi::c_int
        || create_pools(
            port,
            &raw mut (*port).tx_pools as *mut mempool,
            tx_pools,
            (*config).ring_size,
            error,
        ) != 0 as ::core::ffi::c_int
        || device_start_queues(
            &raw mut (*port).device,
            &raw const device,
            &raw mut (*port).pools as *mut mempool,
            error,
        ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return device_wait_for_link(
        &raw mut (*port).device,
        (*config).link_timeout_ms,
        error,
    );
}
#[no_mangle]
pub unsafe extern "C" fn port_open(
    mut port: *mut port,
    mut config: *const port_config,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut ignored: error = error { text: [0; 1024] };
    *port = port {
        container: vfio_container {
            fd: 0,
            groups: [vfio_group {
                number: 0,
                fd: 0,
                users: 0,
            }; 8],
            device_count: 0,
            devices: [::core::ptr::null_mut::<vfio_device>(); 8],
            range_count: 0,
            ranges: [iova_range { first: 0, last: 0 }; 16],
            next_iova: 0,
            map_count: 0,
            ordinary_pages: false,
            connect_timeout_ms: 0,
            connect_by_ms: 0,
            patience_us: 0,
            refilled_us: 0,
        },
        pools: [mempool {
            dma: dma_memory {
                container: ::core::ptr::null_mut::<vfio_container>(),
                memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                iova: 0,
                size: 0,
                fd: 0,
            },
            capacity: 0,
            free_count: 0,
            free: ::core::ptr::null_mut::<*mut packet>(),
            apart: [0; 128],
            returned: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            apart_returned: [0; 128],
        }; 16],
        tx_pools: [mempool {
            dma: dma_memory {
                container: ::core::ptr::null_mut::<vfio_container>(),
                memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                iova: 0,
                size: 0,
                fd: 0,
            },
            capacity: 0,
            free_count: 0,
            free: ::core::ptr::null_mut::<*mut packet>(),
            apart: [0; 128],
            returned: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            apart_returned: [0; 128],
        }; 16],
        device: device {
            vfio: vfio_device {
                container: ::core::ptr::null_mut::<vfio_container>(),
                reserve_us: 0,
                address: [0; 128],
                kind: VFIO_KIND_KERNEL,
                fd: 0,
                request_fd: 0,
                group: 0,
                area_count: 0,
                next_message: 0,
                bar0_size: 0,
                bar0_file_offset: 0,
                config_file_offset: 0,
                areas: [vfio_area {
                    offset: 0,
                    size: 0,
                    memory: ::core::ptr::null_mut::<uint8_t>(),
                }; 8],
                failed: false,
                failure: error { text: [0; 1024] },
            },
            family: DEVICE_FAMILY_82599,
            config: device_config {
                rx_queues: 0,
                tx_queues: 0,
                rx_ring_size: 0,
                tx_ring_size: 0,
                promiscuous: false,
                tx_sparse_rs: false,
            },
            pools: ::core::ptr::null_mut::<mempool>(),
            queues_in_threads: false,
            running: false,
            mac: [0; 6],
            stats: device_stats {
                rx_packets: 0,
                rx_bytes: 0,
                tx_packets: 0,
                tx_bytes: 0,
            },
            queue_stats: [queue_stats {
                rx_packets: 0,
                rx_bytes: 0,
                rx_dropped: 0,
                tx_packets: 0,
                tx_bytes: 0,
            }; 16],
            rx: [rx_queue {
                ring: ::core::ptr::null_mut::<descriptor>(),
                packets: ::core::ptr::null_mut::<*mut packet>(),
                pool: ::core::ptr::null_mut::<mempool>(),
                tail: ::core::ptr::null_mut::<uint32_t>(),
                tail_offset: 0,
                mask: 0,
                index: 0,
                discarding: false,
                id: 0,
                vfio: ::core::ptr::null_mut::<vfio_device>(),
                dma: dma_memory {
                    container: ::core::ptr::null_mut::<vfio_container>(),
                    memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                    iova: 0,
                    size: 0,
                    fd: 0,
                },
                pool_empty: 0,
                discarded: 0,
                suspect: 0,
                apart: [0; 128],
            }; 16],
            tx: [tx_queue {
                ring: ::core::ptr::null_mut::<descriptor>(),
                packets: ::core::ptr::null_mut::<*mut packet>(),
                tail: ::core::ptr::null_mut::<uint32_t>(),
                tail_offset: 0,
                mask: 0,
                index: 0,
                clean_index: 0,
                done: 0,
                id: 0,
                vfio: ::core::ptr::null_mut::<vfio_device>(),
                dma: dma_memory {
                    container: ::core::ptr::null_mut::<vfio_container>(),
                    memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                    iova: 0,
                    size: 0,
                    fd: 0,
                },
                apart: [0; 128],
            }; 16],
            interrupts: device_interrupts {
                vectors: 0,
                armed: 0,
                eventfds: [0; 16],
                apart: [0; 56],
            },
        },
        opened: false_0 != 0,
        turns: 0,
        packets: [::core::ptr::null_mut::<packet>(); 512],
    };
    vfio_container_init(&raw mut (*port).container);
    (*port).container.connect_timeout_ms = (*config).connect_timeout_ms;
    if open_and_start(port, config, error) != 0 as ::core::ffi::c_int {
        port_close(port, &raw mut ignored);
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn port_close(
    mut port: *mut port,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut result: ::core::ffi::c_int = if (*port).device.running as ::core::ffi::c_int
        != 0
    {
        device_stop_queues(&raw mut (*port).device, error)
    } else {
        0 as ::core::ffi::c_int
    };
    if (*port).opened {
        device_release(&raw mut (*port).device);
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < DEVICE_MAX_QUEUES as uint32_t {
        mempool_destroy(
            (&raw mut (*port).pools as *mut mempool).offset(i as isize) as *mut mempool,
        );
        mempool_destroy(
            (&raw mut (*port).tx_pools as *mut mempool).offset(i as isize)
                as *mut mempool,
        );
        i = i.wrapping_add(1);
    }
    if (*port).opened {
        device_close(&raw mut (*port).device);
    }
    vfio_container_close(&raw mut (*port).container);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn packets_free(
    mut packets: *mut *mut packet,
    mut first: uint32_t,
    mut count: uint32_t,
) {
    let mut i: uint32_t = first;
    while i < count {
        packet_free(*packets.offset(i as isize));
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn run_goes_on(
    mut run: *mut run,
    mut port: *mut port,
    mut count: *mut uint32_t,
) -> bool {
    let mut batch: uint32_t = (*(*run).options).batch;
    let mut goes_on: bool = (*run).left > 0 as uint64_t
        && (*run).result == 0 as ::core::ffi::c_int;
    if goes_on as ::core::ffi::c_int != 0 && (*port).turns == 0 as uint32_t {
        (*port).turns = turns_per_look(device_is_trapped(&raw mut (*port).device));
        goes_on = run_look(run, 0 as uint64_t);
    }
    if !goes_on {
        run_end(run);
    }
    (*port).turns = (*port).turns.wrapping_sub(1);
    *count = if (batch as uint64_t) < (*run).left {
        batch
    } else {
        (*run).left as uint32_t
    };
    return goes_on;
}
#[no_mangle]
pub unsafe extern "C" fn port_drop_received(
    mut port: *mut port,
    mut batch: uint32_t,
) -> uint32_t {
    let mut received: uint32_t = rx_batch(
        (&raw mut (*port).device.rx as *mut rx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut rx_queue,
        &raw mut (*port).packets as *mut *mut packet,
        batch,
    );
    packets_free(&raw mut (*port).packets as *mut *mut packet, 0 as uint32_t, received);
    return received;
}
unsafe extern "C" fn read_stats(
    mut owner: *mut ::core::ffi::c_void,
    mut device: uint32_t,
    mut stats: *mut device_stats,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut port: *mut port = owner as *mut port;
    return stats_read(&raw mut (*port).device, stats, error);
}
unsafe extern "C" fn work_on(
    mut run: *mut run,
    mut port: *mut port,
    mut work: *const work,
) {
    let mut error: error = error { text: [0; 1024] };
    if (*port).container.ordinary_pages {
        warn_of_ordinary_pages((*run).program);
    }
    (*work).do_work.expect("non-null function pointer")(run, port, (*work).state);
    run_check(run, port_close(port, &raw mut error), &raw mut error);
    if !(*run).json.is_null() {
        (*work).write_totals.expect("non-null function pointer")(run, (*work).state);
    }
}
#[no_mangle]
pub unsafe extern "C" fn run_on_port(
    mut program: *const program,
    mut options: *const common_options,
    mut address: *const ::core::ffi::c_char,
    mut tx_queues: uint32_t,
    mut work: *const work,
) -> ::core::ffi::c_int {
    let config: port_config = port_config {
        address: address,
        rx_queues: 1 as uint32_t,
        tx_queues: if tx_queues > 0 as uint32_t { tx_queues } else { 1 as uint32_t },
        tx_pools: tx_queues > 0 as uint32_t,
        ring_size: (*options).ring_size,
        connect_timeout_ms: (*options).connect_timeout_ms,
        link_timeout_ms: (*options).link_timeout_ms,
    };
    let mut port: port = port {
        container: vfio_container {
            fd: 0,
            groups: [vfio_group {
                number: 0,
                fd: 0,
                users: 0,
            }; 8],
            device_count: 0,
            devices: [::core::ptr::null_mut::<vfio_device>(); 8],
            range_count: 0,
            ranges: [iova_range { first: 0, last: 0 }; 16],
            next_iova: 0,
            map_count: 0,
            ordinary_pages: false,
            connect_timeout_ms: 0,
            connect_by_ms: 0,
            patience_us: 0,
            refilled_us: 0,
        },
        pools: [mempool {
            dma: dma_memory {
                container: ::core::ptr::null_mut::<vfio_container>(),
                memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                iova: 0,
                size: 0,
                fd: 0,
            },
            capacity: 0,
            free_count: 0,
            free: ::core::ptr::null_mut::<*mut packet>(),
            apart: [0; 128],
            returned: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            apart_returned: [0; 128],
        }; 16],
        tx_pools: [mempool {
            dma: dma_memory {
                container: ::core::ptr::null_mut::<vfio_container>(),
                memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                iova: 0,
                size: 0,
                fd: 0,
            },
            capacity: 0,
            free_count: 0,
            free: ::core::ptr::null_mut::<*mut packet>(),
            apart: [0; 128],
            returned: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            apart_returned: [0; 128],
        }; 16],
        device: device {
            vfio: vfio_device {
                container: ::core::ptr::null_mut::<vfio_container>(),
                reserve_us: 0,
                address: [0; 128],
                kind: VFIO_KIND_KERNEL,
                fd: 0,
                request_fd: 0,
                group: 0,
                area_count: 0,
                next_message: 0,
                bar0_size: 0,
                bar0_file_offset: 0,
                config_file_offset: 0,
                areas: [vfio_area {
                    offset: 0,
                    size: 0,
                    memory: ::core::ptr::null_mut::<uint8_t>(),
                }; 8],
                failed: false,
                failure: error { text: [0; 1024] },
            },
            family: DEVICE_FAMILY_82599,
            config: device_config {
                rx_queues: 0,
                tx_queues: 0,
                rx_ring_size: 0,
                tx_ring_size: 0,
                promiscuous: false,
                tx_sparse_rs: false,
            },
            pools: ::core::ptr::null_mut::<mempool>(),
            queues_in_threads: false,
            running: false,
            mac: [0; 6],
            stats: device_stats {
                rx_packets: 0,
                rx_bytes: 0,
                tx_packets: 0,
                tx_bytes: 0,
            },
            queue_stats: [queue_stats {
                rx_packets: 0,
                rx_bytes: 0,
                rx_dropped: 0,
                tx_packets: 0,
                tx_bytes: 0,
            }; 16],
            rx: [rx_queue {
                ring: ::core::ptr::null_mut::<descriptor>(),
                packets: ::core::ptr::null_mut::<*mut packet>(),
                pool: ::core::ptr::null_mut::<mempool>(),
                tail: ::core::ptr::null_mut::<uint32_t>(),
                tail_offset: 0,
                mask: 0,
                index: 0,
                discarding: false,
                id: 0,
                vfio: ::core::ptr::null_mut::<vfio_device>(),
                dma: dma_memory {
                    container: ::core::ptr::null_mut::<vfio_container>(),
                    memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                    iova: 0,
                    size: 0,
                    fd: 0,
                },
                pool_empty: 0,
                discarded: 0,
                suspect: 0,
                apart: [0; 128],
            }; 16],
            tx: [tx_queue {
                ring: ::core::ptr::null_mut::<descriptor>(),
                packets: ::core::ptr::null_mut::<*mut packet>(),
                tail: ::core::ptr::null_mut::<uint32_t>(),
                tail_offset: 0,
                mask: 0,
                index: 0,
                clean_index: 0,
                done: 0,
                id: 0,
                vfio: ::core::ptr::null_mut::<vfio_device>(),
                dma: dma_memory {
                    container: ::core::ptr::null_mut::<vfio_container>(),
                    memory: ::core::ptr::null_mut::<::core::ffi::c_void>(),
                    iova: 0,
                    size: 0,
                    fd: 0,
                },
                apart: [0; 128],
            }; 16],
            interrupts: device_interrupts {
                vectors: 0,
                armed: 0,
                eventfds: [0; 16],
                apart: [0; 56],
            },
        },
        opened: false,
        turns: 0,
        packets: [::core::ptr::null_mut::<packet>(); 512],
    };
    let mut run: run = run {
        program: program,
        options: options,
        result: 0,
        error: error { text: [0; 1024] },
        json: ::core::ptr::null_mut::<FILE>(),
        device_count: 1 as uint32_t,
        devices: [address, ::core::ptr::null::<::core::ffi::c_char>()],
        read_stats: Some(
            read_stats
                as unsafe extern "C" fn(
                    *mut ::core::ffi::c_void,
                    uint32_t,
                    *mut device_stats,
                    *mut error,
                ) -> ::core::ffi::c_int,
        ),
        owner: &raw mut port as *mut ::core::ffi::c_void,
        left: 0,
        held: __sigset_t { __val: [0; 16] },
        start: 0,
        cpu_start: 0,
        tsc_start: 0,
        time: 0,
        printed: 0,
        before: [device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        }; 2],
        seconds: 0.,
        cpu_seconds: 0.,
        tsc_cycles: 0,
    };
    if run_open(&raw mut run) == 0 as ::core::ffi::c_int {
        run.result = port_open(&raw mut port, &raw const config, &raw mut run.error);
        if run.result == 0 as ::core::ffi::c_int {
            work_on(&raw mut run, &raw mut port, work);
        }
    }
    return run_close(&raw mut run);
}
#[repr(C)]
pub struct _IO_wide_data {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_codecvt {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_marker {
    _opaque: [u8; 0],
}
