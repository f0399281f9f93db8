extern "C" {
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn pcap_load(
        path: *const ::core::ffi::c_char,
        most: uint64_t,
        room: uint32_t,
        recording: *mut pcap_recording,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn pcap_unload(recording: *mut pcap_recording);
    static mut optind: ::core::ffi::c_int;
    fn set_number(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
    fn set_power_of_two(
        row: *const option_row,
        text: *const ::core::ffi::c_char,
    ) -> bool;
    fn set_large_number(
        row: *const option_row,
        text: *const ::core::ffi::c_char,
    ) -> bool;
    fn set_text(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
    fn set_flag(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
    fn set_duration(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
    fn set_timeout(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
    fn common_options_default() -> common_options;
    fn parse_rows(
        program_0: *const program,
        rows: *const option_row,
        argc: ::core::ffi::c_int,
        argv: *mut *mut ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn usage_error(
        program_0: *const program,
        what: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn parse_decimal(
        text: *const ::core::ffi::c_char,
        number: *mut ::core::ffi::c_double,
        end: *mut *const ::core::ffi::c_char,
    ) -> bool;
    fn exit_status(
        program_0: *const program,
        result: ::core::ffi::c_int,
        error: *const error,
    ) -> ::core::ffi::c_int;
    fn tx_batch(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn run_start(run: *mut run);
    fn now_ns() -> uint64_t;
    fn packets_free(packets: *mut *mut packet, first: uint32_t, count: uint32_t);
    fn run_on_port(
        program_0: *const program,
        options: *const common_options,
        address: *const ::core::ffi::c_char,
        tx_queues: uint32_t,
        work: *const work,
    ) -> ::core::ffi::c_int;
    fn run_goes_on(run: *mut run, port: *mut port, count: *mut uint32_t) -> bool;
    fn port_drop_received(port: *mut port, batch: uint32_t) -> uint32_t;
    fn token_bucket_new(rate: uint64_t, burst: uint32_t) -> token_bucket;
    fn token_bucket_take(bucket: *mut token_bucket, wanted: uint32_t) -> uint32_t;
    fn token_bucket_return(bucket: *mut token_bucket, count: uint32_t);
    fn set_rate(row: *const option_row, text: *const ::core::ffi::c_char) -> bool;
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
pub struct pcap_frame {
    pub data: *const uint8_t,
    pub size: uint32_t,
    pub time: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_recording {
    pub bytes: *mut uint8_t,
    pub frames: *mut pcap_frame,
    pub count: uint64_t,
}
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
pub struct option_row {
    pub name: *const ::core::ffi::c_char,
    pub value: *const ::core::ffi::c_char,
    pub help: *const ::core::ffi::c_char,
    pub set: Option<
        unsafe extern "C" fn(*const option_row, *const ::core::ffi::c_char) -> bool,
    >,
    pub place: *mut ::core::ffi::c_void,
    pub must_be: *const ::core::ffi::c_char,
    pub low: uint64_t,
    pub high: uint64_t,
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct token_bucket {
    pub rate: uint64_t,
    pub burst: uint64_t,
    pub tokens: uint64_t,
    pub filled: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct options {
    pub speed: ::core::ffi::c_double,
    pub rate: uint64_t,
    pub fast: bool,
    pub loops: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct replay {
    pub options: options,
    pub recording: pcap_recording,
    pub next: uint64_t,
    pub loops: uint64_t,
    pub tx: uint64_t,
    pub tx_bytes: uint64_t,
    pub rx: uint64_t,
    pub late: uint64_t,
    pub max_late: uint64_t,
}
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
pub const MAX_FRAME: ::core::ffi::c_int = 1518 as ::core::ffi::c_int;
pub const MAX_LOOPS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const MIN_SPEED: ::core::ffi::c_double = 0.001f64;
pub const MAX_SPEED: ::core::ffi::c_double = 1000.0f64;
pub const MAX_DUE: ::core::ffi::c_ulonglong = (1 as ::core::ffi::c_ulonglong)
    << 63 as ::core::ffi::c_int;
pub const LATE_NANOSECONDS: ::core::ffi::c_ulonglong = 1000000
    as ::core::ffi::c_ulonglong;
static mut usage: [::core::ffi::c_char; 621] = unsafe {
    ::core::mem::transmute::<
        [u8; 621],
        [::core::ffi::c_char; 621],
    >(
        *b"usage: ixgbe-replay [--speed X | --rate PPS | --fast] [--loops N]\n                    [--batch N] [--ring-size N] [--packets N] [--duration S]\n                    [--connect-timeout S] [--link-timeout S] [--json FILE] FILE DEVICE\n\nSends the frames of a pcap file on a device, with the pauses between them. Checks the whole\nfile first. Drops what the device receives. Ends after the last frame, on SIGINT or SIGTERM,\nafter N packets, or after S seconds.\n\n  FILE                 classic pcap with whole Ethernet frames, up to 2 GiB\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-replay\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
        arguments: 2 as ::core::ffi::c_int,
        needs: b"one file and one device are needed\0" as *const u8
            as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn set_speed(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut speed: *mut ::core::ffi::c_double = (*row).place
        as *mut ::core::ffi::c_double;
    let mut end: *const ::core::ffi::c_char = ::core::ptr::null::<::core::ffi::c_char>();
    return parse_decimal(text, speed, &raw mut end) as ::core::ffi::c_int != 0
        && *end as ::core::ffi::c_int == '\0' as i32 && *speed >= MIN_SPEED
        && *speed <= MAX_SPEED;
}
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut common: *mut common_options,
    mut options: *mut options,
) -> ::core::ffi::c_int {
    let rows: [option_row; 12] = [
        option_row {
            name: b"speed\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"X\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"X times the recorded speed, 0.001 to 1000 (default 1)\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_speed
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).speed as *mut ::core::ffi::c_void,
            must_be: b"a number from 0.001 to 1000\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"rate\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"PPS\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"packets a second instead, such as 250000, 10k or 1.5M\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_rate
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).rate as *mut ::core::ffi::c_void,
            must_be: b"whole packets a second, from 1 to 100M\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"fast\0" as *const u8 as *const ::core::ffi::c_char,
            value: ::core::ptr::null::<::core::ffi::c_char>(),
            help: b"as fast as the device takes them\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_flag
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).fast as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"loops\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"send the file N times, up to 1000000000 (default 1)\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_large_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).loops as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: MAX_LOOPS as uint64_t,
        },
        option_row {
            name: b"batch\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"packets per call, 1 to 512 (default 32)\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).batch as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: FORWARDER_MAX_BATCH as uint64_t,
        },
        option_row {
            name: b"ring-size\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"descriptors of every ring, a power of two, 64 to 4096 (default 512)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_power_of_two
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).ring_size as *mut ::core::ffi::c_void,
            must_be: b"a power of two\0" as *const u8 as *const ::core::ffi::c_char,
            low: 64 as uint64_t,
            high: 4096 as uint64_t,
        },
        option_row {
            name: b"packets\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"end after N sent packets\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_large_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).packets as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: (UINT64_MAX as uint64_t).wrapping_sub(1 as uint64_t),
        },
        option_row {
            name: b"duration\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"S\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"end after S seconds; fractions are allowed\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_duration
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).duration as *mut ::core::ffi::c_void,
            must_be: b"a number of seconds above 0\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"connect-timeout\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"S\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"wait at most S seconds for the sockets, up to 3600 (default 5)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_timeout
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).connect_timeout_ms as *mut ::core::ffi::c_void,
            must_be: b"a number of seconds above 0, at most 3600\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"link-timeout\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"S\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"wait at most S seconds for each link, up to 3600 (default 30)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_timeout
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).link_timeout_ms as *mut ::core::ffi::c_void,
            must_be: b"a number of seconds above 0, at most 3600\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"json\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"FILE\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"write the totals to FILE at the end\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_text
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*common).json as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            value: ::core::ptr::null::<::core::ffi::c_char>(),
            help: ::core::ptr::null::<::core::ffi::c_char>(),
            set: None,
            place: NULL_0,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
    ];
    let mut status: ::core::ffi::c_int = parse_rows(
        &raw const program,
        &raw const rows as *const option_row,
        argc,
        argv,
    );
    if status < 0 as ::core::ffi::c_int
        && ((*options).speed > 0 as ::core::ffi::c_int as ::core::ffi::c_double)
            as ::core::ffi::c_int
            + ((*options).rate > 0 as uint64_t) as ::core::ffi::c_int
            + (*options).fast as ::core::ffi::c_int > 1 as ::core::ffi::c_int
    {
        return usage_error(
            &raw const program,
            b"--speed, --rate and --fast exclude each other\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    return status;
}
unsafe extern "C" fn loop_time(mut recording: *const pcap_recording) -> uint64_t {
    let mut last: uint64_t = (*(*recording)
        .frames
        .offset((*recording).count.wrapping_sub(1 as uint64_t) as isize))
        .time;
    return if (*recording).count == 1 as uint64_t {
        0 as uint64_t
    } else {
        last.wrapping_add(
            last.wrapping_div((*recording).count.wrapping_sub(1 as uint64_t)),
        )
    };
}
unsafe extern "C" fn due_time(mut replay: *const replay) -> uint64_t {
    let mut speed: ::core::ffi::c_double = if (*replay).options.speed
        > 0 as ::core::ffi::c_int as ::core::ffi::c_double
    {
        (*replay).options.speed
    } else {
        1 as ::core::ffi::c_int as ::core::ffi::c_double
    };
    let mut loops: ::core::ffi::c_double = (*replay).loops as ::core::ffi::c_double
        * loop_time(&raw const (*replay).recording) as ::core::ffi::c_double;
    let mut due: ::core::ffi::c_double = (loops
        + (*(*replay).recording.frames.offset((*replay).next as isize)).time
            as ::core::ffi::c_double) / speed;
    return (if due < MAX_DUE as ::core::ffi::c_double {
        due as uint64_t as ::core::ffi::c_ulonglong
    } else {
        MAX_DUE
    }) as uint64_t;
}
unsafe extern "C" fn step(mut replay: *mut replay) {
    (*replay).next = (*replay).next.wrapping_add(1);
    if (*replay).next == (*replay).recording.count {
        (*replay).next = 0 as uint64_t;
        (*replay).loops = (*replay).loops.wrapping_add(1);
    }
}
unsafe extern "C" fn packet_of(
    mut pool: *mut mempool,
    mut frame: *const pcap_frame,
) -> *mut packet {
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
unsafe extern "C" fn send_due(
    mut port: *mut port,
    mut replay: *mut replay,
    mut count: uint32_t,
    mut now: uint64_t,
) -> uint32_t {
    let mut timed: bool = (*replay).options.rate == 0 as uint64_t
        && !(*replay).options.fast;
    let mut first: uint64_t = (*replay).next;
    let mut loops: uint64_t = (*replay).loops;
    let mut filled: uint32_t = 0 as uint32_t;
    while filled < count && !(timed as ::core::ffi::c_int != 0 && due_time(replay) > now)
    {
        (*port).packets[filled as usize] = packet_of(
            (&raw mut (*port).pools as *mut mempool)
                .offset(0 as ::core::ffi::c_int as isize) as *mut mempool,
            (*replay).recording.frames.offset((*replay).next as isize) as *mut pcap_frame,
        );
        if (*port).packets[filled as usize].is_null() {
            break;
        }
        filled = filled.wrapping_add(1);
        step(replay);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*port).device.tx as *mut tx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut tx_queue,
        &raw mut (*port).packets as *mut *mut packet,
        filled,
    );
    packets_free(&raw mut (*port).packets as *mut *mut packet, sent, filled);
    (*replay).next = first;
    (*replay).loops = loops;
    let mut i: uint32_t = 0 as uint32_t;
    while i < sent {
        let mut late: uint64_t = if timed as ::core::ffi::c_int != 0 {
            now.wrapping_sub(due_time(replay))
        } else {
            0 as uint64_t
        };
        (*replay).late = (*replay)
            .late
            .wrapping_add(
                (late as ::core::ffi::c_ulonglong > LATE_NANOSECONDS)
                    as ::core::ffi::c_int as uint64_t,
            );
        (*replay).max_late = if late > (*replay).max_late {
            late
        } else {
            (*replay).max_late
        };
        (*replay).tx_bytes = (*replay)
            .tx_bytes
            .wrapping_add(
                (*(*replay).recording.frames.offset((*replay).next as isize)).size
                    as uint64_t,
            );
        step(replay);
        i = i.wrapping_add(1);
    }
    return sent;
}
unsafe extern "C" fn send_all(
    mut run: *mut run,
    mut port: *mut port,
    mut state: *mut ::core::ffi::c_void,
) {
    let mut replay: *mut replay = state as *mut replay;
    let mut frames: uint64_t = (*replay)
        .options
        .loops
        .wrapping_mul((*replay).recording.count);
    let mut count: uint32_t = 0 as uint32_t;
    run_start(run);
    let mut bucket: token_bucket = token_bucket_new(
        (*replay).options.rate,
        (*(*run).options).batch,
    );
    (*run).left = if frames < (*run).left { frames } else { (*run).left };
    while run_goes_on(run, port, &raw mut count) {
        let mut now: uint64_t = now_ns().wrapping_sub((*run).start);
        let mut taken: uint32_t = token_bucket_take(&raw mut bucket, count);
        let mut sent: uint32_t = send_due(port, replay, taken, now);
        token_bucket_return(&raw mut bucket, taken.wrapping_sub(sent));
        (*run).left = (*run).left.wrapping_sub(sent as uint64_t);
        (*replay).tx = (*replay).tx.wrapping_add(sent as uint64_t);
        (*replay).rx = (*replay)
            .rx
            .wrapping_add(port_drop_received(port, (*(*run).options).batch) as uint64_t);
    }
}
unsafe extern "C" fn write_totals(
    mut run: *const run,
    mut state: *const ::core::ffi::c_void,
) {
    let mut replay: *const replay = state as *const replay;
    fprintf(
        (*run).json,
        b"{\"tx\":%lu,\"tx_bytes\":%lu,\"rx\":%lu,\"loops\":%lu,\"late\":%lu,\"max_late_seconds\":%.9f,\"seconds\":%.9f,\"tsc_cycles\":%lu}\n\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*replay).tx,
        (*replay).tx_bytes,
        (*replay).rx,
        (*replay).loops,
        (*replay).late,
        (*replay).max_late as ::core::ffi::c_double
            / NANOSECONDS as ::core::ffi::c_double,
        (*run).seconds,
        (*run).tsc_cycles,
    );
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut common: common_options = common_options_default();
    let mut replay: replay = replay {
        options: options {
            speed: 0.,
            rate: 0,
            fast: false,
            loops: 1 as uint64_t,
        },
        recording: pcap_recording {
            bytes: ::core::ptr::null_mut::<uint8_t>(),
            frames: ::core::ptr::null_mut::<pcap_frame>(),
            count: 0,
        },
        next: 0,
        loops: 0,
        tx: 0,
        tx_bytes: 0,
        rx: 0,
        late: 0,
        max_late: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = parse_options(
        argc,
        argv,
        &raw mut common,
        &raw mut replay.options,
    );
    let work: work = work {
        do_work: Some(
            send_all
                as unsafe extern "C" fn(
                    *mut run,
                    *mut port,
                    *mut ::core::ffi::c_void,
                ) -> (),
        ),
        write_totals: Some(
            write_totals
                as unsafe extern "C" fn(*const run, *const ::core::ffi::c_void) -> (),
        ),
        state: &raw mut replay as *mut ::core::ffi::c_void,
    };
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    if pcap_load(
        *argv.offset(optind as isize),
        UINT64_MAX as uint64_t,
        MAX_FRAME as uint32_t,
        &raw mut replay.recording,
        &raw mut error,
    ) != 0 as ::core::ffi::c_int
    {
        return exit_status(
            &raw const program,
            -(1 as ::core::ffi::c_int),
            &raw mut error,
        );
    }
    status = run_on_port(
        &raw const program,
        &raw mut common,
        *argv.offset((optind + 1 as ::core::ffi::c_int) as isize),
        0 as uint32_t,
        &raw const work,
    );
    pcap_unload(&raw mut replay.recording);
    return status;
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
