extern "C" {
    static mut stderr: *mut FILE;
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn printf(__format: *const ::core::ffi::c_char, ...) -> ::core::ffi::c_int;
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
    fn device_start(
        device: *mut device,
        config: *const device_config,
        pools: *mut mempool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_stop(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn device_release(device: *mut device);
    fn device_close(device: *mut device);
    fn sigemptyset(__set: *mut sigset_t) -> ::core::ffi::c_int;
    fn sigaddset(
        __set: *mut sigset_t,
        __signo: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn sigismember(
        __set: *const sigset_t,
        __signo: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn sigprocmask(
        __how: ::core::ffi::c_int,
        __set: *const sigset_t,
        __oset: *mut sigset_t,
    ) -> ::core::ffi::c_int;
    fn sigpending(__set: *mut sigset_t) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
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
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
pub const DEVICE_CONFIG_DEFAULT: device_config = device_config {
    rx_queues: 1 as uint32_t,
    tx_queues: 1 as uint32_t,
    rx_ring_size: 512 as uint32_t,
    tx_ring_size: 512 as uint32_t,
    promiscuous: true_0 != 0,
    tx_sparse_rs: false_0 != 0,
};
pub const SIGINT: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const SIGTERM: ::core::ffi::c_int = 15 as ::core::ffi::c_int;
pub const SIG_BLOCK: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const BATCH: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
pub const PACKETS: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const CHANGED_BYTE: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
unsafe extern "C" fn forward(mut from: *mut device, mut to: *mut device) -> uint32_t {
    let mut packets: [*mut packet; 32] = [::core::ptr::null_mut::<packet>(); 32];
    let mut received: uint32_t = rx_batch(
        (&raw mut (*from).rx as *mut rx_queue).offset(0 as ::core::ffi::c_int as isize)
            as *mut rx_queue,
        &raw mut packets as *mut *mut packet,
        BATCH as uint32_t,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        let ref mut fresh1 = *(&raw mut (**(&raw mut packets as *mut *mut packet)
            .offset(i as isize))
            .data as *mut uint8_t)
            .offset(CHANGED_BYTE as isize);
        *fresh1 = (*fresh1).wrapping_add(1);
        i = i.wrapping_add(1);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*to).tx as *mut tx_queue).offset(0 as ::core::ffi::c_int as isize)
            as *mut tx_queue,
        &raw mut packets as *mut *mut packet,
        received,
    );
    let mut i_0: uint32_t = sent;
    while i_0 < received {
        packet_free(packets[i_0 as usize]);
        i_0 = i_0.wrapping_add(1);
    }
    return sent;
}
unsafe extern "C" fn run(mut devices: *mut device) -> uint64_t {
    let mut sent: uint64_t = 0 as uint64_t;
    let mut pending: sigset_t = __sigset_t { __val: [0; 16] };
    loop {
        let mut i: uint32_t = 0 as uint32_t;
        while i < TURNS_PER_LOOK as uint32_t {
            sent = sent
                .wrapping_add(
                    forward(
                        devices.offset(0 as ::core::ffi::c_int as isize) as *mut device,
                        devices.offset(1 as ::core::ffi::c_int as isize) as *mut device,
                    ) as uint64_t,
                );
            sent = sent
                .wrapping_add(
                    forward(
                        devices.offset(1 as ::core::ffi::c_int as isize) as *mut device,
                        devices.offset(0 as ::core::ffi::c_int as isize) as *mut device,
                    ) as uint64_t,
                );
            i = i.wrapping_add(1);
        }
        sigpending(&raw mut pending);
        if !(sigismember(&raw mut pending, SIGINT) == 0
            && sigismember(&raw mut pending, SIGTERM) == 0)
        {
            break;
        }
    }
    return sent;
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut current_block: u64;
    let config: device_config = DEVICE_CONFIG_DEFAULT;
    let mut container: vfio_container = vfio_container {
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
    };
    let mut pools: [mempool; 2] = [mempool {
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
    }; 2];
    let mut devices: [device; 2] = [device {
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
    }; 2];
    let mut error: error = error { text: [0; 1024] };
    let mut signals: sigset_t = __sigset_t { __val: [0; 16] };
    let mut status: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    if argc != 3 as ::core::ffi::c_int {
        fprintf(
            stderr,
            b"usage: ixgbe-forward-minimal DEVICE DEVICE\n\0" as *const u8
                as *const ::core::ffi::c_char,
        );
        return 2 as ::core::ffi::c_int;
    }
    sigemptyset(&raw mut signals);
    sigaddset(&raw mut signals, SIGINT);
    sigaddset(&raw mut signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &raw mut signals, ::core::ptr::null_mut::<sigset_t>());
    vfio_container_init(&raw mut container);
    let mut i: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    loop {
        if !(i < 2 as ::core::ffi::c_int) {
            current_block = 5399440093318478209;
            break;
        }
        if device_open(
            (&raw mut devices as *mut device).offset(i as isize) as *mut device,
            &raw mut container,
            *argv.offset((1 as ::core::ffi::c_int + i) as isize),
            &raw mut error,
        ) != 0 as ::core::ffi::c_int
        {
            current_block = 3382725010459277374;
            break;
        }
        i += 1;
    }
    match current_block {
        5399440093318478209 => {
            let mut i_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
            loop {
                if !(i_0 < 2 as ::core::ffi::c_int) {
                    current_block = 13056961889198038528;
                    break;
                }
                if mempool_create(
                    (&raw mut pools as *mut mempool).offset(i_0 as isize)
                        as *mut mempool,
                    &raw mut container,
                    PACKETS as uint32_t,
                    &raw mut error,
                ) != 0 as ::core::ffi::c_int
                    || device_start(
                        (&raw mut devices as *mut device).offset(i_0 as isize)
                            as *mut device,
                        &raw const config,
                        (&raw mut pools as *mut mempool).offset(i_0 as isize)
                            as *mut mempool,
                        &raw mut error,
                    ) != 0 as ::core::ffi::c_int
                {
                    current_block = 3382725010459277374;
                    break;
                }
                i_0 += 1;
            }
            match current_block {
                3382725010459277374 => {}
                _ => {
                    printf(
                        b"sent %llu packets\n\0" as *const u8
                            as *const ::core::ffi::c_char,
                        run(&raw mut devices as *mut device) as ::core::ffi::c_ulonglong,
                    );
                    let mut i_1: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
                    while i_1 < 2 as ::core::ffi::c_int {
                        if device_stop(
                            (&raw mut devices as *mut device).offset(i_1 as isize)
                                as *mut device,
                            &raw mut error,
                        ) != 0 as ::core::ffi::c_int
                        {
                            fprintf(
                                stderr,
                                b"ixgbe-forward-minimal: %s\n\0" as *const u8
                                    as *const ::core::ffi::c_char,
                                &raw mut error.text as *mut ::core::ffi::c_char,
                            );
                            status = 1 as ::core::ffi::c_int;
                        }
                        device_release(
                            (&raw mut devices as *mut device).offset(i_1 as isize)
                                as *mut device,
                        );
                        i_1 += 1;
                    }
                    let mut i_2: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
                    while i_2 < 2 as ::core::ffi::c_int {
                        mempool_destroy(
                            (&raw mut pools as *mut mempool).offset(i_2 as isize)
                                as *mut mempool,
                        );
                        i_2 += 1;
                    }
                    let mut i_3: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
                    while i_3 < 2 as ::core::ffi::c_int {
                        device_close(
                            (&raw mut devices as *mut device).offset(i_3 as isize)
                                as *mut device,
                        );
                        i_3 += 1;
                    }
                    vfio_container_close(&raw mut container);
                    return status;
                }
            }
        }
        _ => {}
    }
    fprintf(
        stderr,
        b"ixgbe-forward-minimal: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut error.text as *mut ::core::ffi::c_char,
    );
    return 1 as ::core::ffi::c_int;
}
pub fn main() {
    let mut args_strings: Vec<Vec<u8>> = ::std::env::args()
        .map(|arg| {
            ::std::ffi::CString::new(arg)
                .expect("Failed to convert argument into CString.")
                .into_bytes_with_nul()
        })
        .collect();
    let mut args_ptrs: Vec<*mut ::core::ffi::c_char> = args_strings
        .iter_mut()
        .map(|arg| arg.as_mut_ptr() as *mut ::core::ffi::c_char)
        .chain(::core::iter::once(::core::ptr::null_mut()))
        .collect();
    unsafe {
        ::std::process::exit(
            main_0(
                (args_ptrs.len() - 1) as ::core::ffi::c_int,
                args_ptrs.as_mut_ptr() as *mut *mut ::core::ffi::c_char,
            ) as i32,
        )
    }
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
