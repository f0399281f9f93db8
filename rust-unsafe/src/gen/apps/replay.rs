extern "C" {
    fn dprintf(
        __fd: ::core::ffi::c_int,
        __fmt: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn pcap_load(
        path: *const ::core::ffi::c_char,
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
    fn now_ns() -> uint64_t;
    fn json_open(
        program_0: *const program,
        path: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn json_close(
        fd: ::core::ffi::c_int,
        written: ::core::ffi::c_int,
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
        program_0: *const program,
        address: *const ::core::ffi::c_char,
        rx_queues: uint32_t,
        tx_queues: uint32_t,
        options: *const common_options,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn port_close(port: *mut port, error: *mut error) -> ::core::ffi::c_int;
    fn port_turns_per_look(port: *const port) -> uint32_t;
    fn packets_free(packets: *mut *mut packet, first: uint32_t, count: uint32_t);
    fn run_start(run: *mut run, duration: uint64_t);
    fn run_look(
        run: *mut run,
        port: *mut port,
        ended: *mut bool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn run_seconds(run: *const run) -> ::core::ffi::c_double;
    fn run_tsc_cycles(run: *const run) -> uint64_t;
    fn token_bucket_new(rate: uint64_t, burst: uint32_t, now: uint64_t) -> token_bucket;
    fn token_bucket_take(
        bucket: *mut token_bucket,
        now: uint64_t,
        wanted: uint32_t,
    ) -> uint32_t;
    fn token_bucket_return(bucket: *mut token_bucket, count: uint32_t);
    fn token_bucket_parse_rate(
        text: *const ::core::ffi::c_char,
        rate: *mut uint64_t,
    ) -> bool;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn strtod(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
    ) -> ::core::ffi::c_double;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strspn(
        __s: *const ::core::ffi::c_char,
        __accept: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_ulong;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
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
    pub size: size_t,
    pub frames: *mut pcap_frame,
    pub count: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __sigset_t {
    pub __val: [::core::ffi::c_ulong; 16],
}
pub type sigset_t = __sigset_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct program {
    pub name: *const ::core::ffi::c_char,
    pub usage: *const ::core::ffi::c_char,
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
pub struct port {
    pub container: vfio_container,
    pub pools: [mempool; 16],
    pub config: device_config,
    pub device: device,
    pub opened: bool,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct run {
    pub held: sigset_t,
    pub duration: uint64_t,
    pub start: uint64_t,
    pub start_tsc: uint64_t,
    pub time: uint64_t,
    pub printed: uint64_t,
    pub before: device_stats,
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
    pub common: common_options,
    pub speed: ::core::ffi::c_double,
    pub rate: uint64_t,
    pub fast: bool,
    pub loops: uint64_t,
    pub file: *const ::core::ffi::c_char,
    pub device: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct totals {
    pub tx: uint64_t,
    pub tx_bytes: uint64_t,
    pub rx: uint64_t,
    pub loops: uint64_t,
    pub late: uint64_t,
    pub max_late: uint64_t,
    pub seconds: ::core::ffi::c_double,
    pub tsc_cycles: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct replay {
    pub port: port,
    pub recording: pcap_recording,
    pub next: uint64_t,
    pub loops: uint64_t,
    pub packets: [*mut packet; 512],
}
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const STDERR_FILENO: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const EXIT_RUN_TIME: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
pub const EXIT_SUCCESS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
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
    }
};
unsafe extern "C" fn set_speed(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut speed: *mut ::core::ffi::c_double = (*row).place
        as *mut ::core::ffi::c_double;
    let mut end: *mut ::core::ffi::c_char = ::core::ptr::null_mut::<
        ::core::ffi::c_char,
    >();
    if (*text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int)
        < '0' as i32
        || *text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            > '9' as i32
    {
        return false_0 != 0;
    }
    *__errno_location() = 0 as ::core::ffi::c_int;
    *speed = strtod(text, &raw mut end);
    let mut decimal: bool = strspn(
        text,
        b"0123456789.\0" as *const u8 as *const ::core::ffi::c_char,
    ) as size_t == end.offset_from(text) as ::core::ffi::c_long as size_t;
    return *__errno_location() == 0 as ::core::ffi::c_int
        && decimal as ::core::ffi::c_int != 0
        && *end as ::core::ffi::c_int == '\0' as i32 && *speed >= MIN_SPEED
        && *speed <= MAX_SPEED;
}
unsafe extern "C" fn set_rate(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    return token_bucket_parse_rate(text, (*row).place as *mut uint64_t);
}
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
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
            place: &raw mut (*options).common.batch as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.ring_size as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.packets as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.duration as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.connect_timeout_ms
                as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.link_timeout_ms
                as *mut ::core::ffi::c_void,
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
            place: &raw mut (*options).common.json as *mut ::core::ffi::c_void,
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
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    if ((*options).speed > 0 as ::core::ffi::c_int as ::core::ffi::c_double)
        as ::core::ffi::c_int + ((*options).rate > 0 as uint64_t) as ::core::ffi::c_int
        + (*options).fast as ::core::ffi::c_int > 1 as ::core::ffi::c_int
    {
        return usage_error(
            &raw const program,
            b"--speed, --rate and --fast exclude each other\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if argc - optind != 2 as ::core::ffi::c_int {
        return usage_error(
            &raw const program,
            b"one file and one device are needed\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    (*options).speed = if (*options).speed
        > 0 as ::core::ffi::c_int as ::core::ffi::c_double
    {
        (*options).speed
    } else {
        1 as ::core::ffi::c_int as ::core::ffi::c_double
    };
    (*options).file = *argv.offset(optind as isize);
    (*options).device = *argv.offset((optind + 1 as ::core::ffi::c_int) as isize);
    return -(1 as ::core::ffi::c_int);
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
unsafe extern "C" fn due_time(
    mut replay: *const replay,
    mut speed: ::core::ffi::c_double,
) -> uint64_t {
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
unsafe extern "C" fn fill_packet(mut replay: *mut replay, mut index: uint32_t) -> bool {
    let mut frame: *const pcap_frame = (*replay)
        .recording
        .frames
        .offset((*replay).next as isize) as *mut pcap_frame;
    let mut packet: *mut packet = packet_alloc(
        (&raw mut (*replay).port.pools as *mut mempool)
            .offset(0 as ::core::ffi::c_int as isize) as *mut mempool,
    );
    if packet.is_null() {
        return false_0 != 0;
    }
    memcpy(
        &raw mut (*packet).data as *mut uint8_t as *mut ::core::ffi::c_void,
        (*frame).data as *const ::core::ffi::c_void,
        (*frame).size as size_t,
    );
    (*packet).size = (*frame).size;
    (*replay).packets[index as usize] = packet;
    return true_0 != 0;
}
unsafe extern "C" fn send_due(
    mut replay: *mut replay,
    mut options: *const options,
    mut count: uint32_t,
    mut now: uint64_t,
    mut totals: *mut totals,
) -> uint32_t {
    let mut timed: bool = (*options).rate == 0 as uint64_t && !(*options).fast;
    let mut first: uint64_t = (*replay).next;
    let mut loops: uint64_t = (*replay).loops;
    let mut filled: uint32_t = 0 as uint32_t;
    while filled < count && (*replay).loops < (*options).loops {
        if timed as ::core::ffi::c_int != 0 && due_time(replay, (*options).speed) > now
            || !fill_packet(replay, filled)
        {
            break;
        }
        filled = filled.wrapping_add(1);
        step(replay);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*replay).port.device.tx as *mut tx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut tx_queue,
        &raw mut (*replay).packets as *mut *mut packet,
        filled,
    );
    packets_free(&raw mut (*replay).packets as *mut *mut packet, sent, filled);
    (*replay).next = first;
    (*replay).loops = loops;
    let mut i: uint32_t = 0 as uint32_t;
    while i < sent {
        let mut late: uint64_t = if timed as ::core::ffi::c_int != 0 {
            now.wrapping_sub(due_time(replay, (*options).speed))
        } else {
            0 as uint64_t
        };
        (*totals).late = (*totals)
            .late
            .wrapping_add(
                (late as ::core::ffi::c_ulonglong > LATE_NANOSECONDS)
                    as ::core::ffi::c_int as uint64_t,
            );
        (*totals).max_late = if late > (*totals).max_late {
            late
        } else {
            (*totals).max_late
        };
        (*totals).tx_bytes = (*totals)
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
unsafe extern "C" fn drop_received(
    mut replay: *mut replay,
    mut batch: uint32_t,
) -> uint32_t {
    let mut received: uint32_t = rx_batch(
        (&raw mut (*replay).port.device.rx as *mut rx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut rx_queue,
        &raw mut (*replay).packets as *mut *mut packet,
        batch,
    );
    packets_free(
        &raw mut (*replay).packets as *mut *mut packet,
        0 as uint32_t,
        received,
    );
    return received;
}
unsafe extern "C" fn send_all(
    mut replay: *mut replay,
    mut options: *const options,
    mut totals: *mut totals,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut common: *const common_options = &raw const (*options).common;
    let mut turns: uint32_t = port_turns_per_look(&raw mut (*replay).port);
    let mut left: uint64_t = (*common).packets;
    let mut ended: bool = false_0 != 0;
    let mut run: run = run {
        held: __sigset_t { __val: [0; 16] },
        duration: 0,
        start: 0,
        start_tsc: 0,
        time: 0,
        printed: 0,
        before: device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        },
    };
    run_start(&raw mut run, (*common).duration);
    let mut bucket: token_bucket = token_bucket_new(
        (*options).rate,
        (*common).batch,
        run.start,
    );
    while left > 0 as uint64_t && !ended && (*replay).loops < (*options).loops {
        let mut i: uint32_t = 0 as uint32_t;
        while i < turns && left > 0 as uint64_t && (*replay).loops < (*options).loops {
            let mut count: uint32_t = if ((*common).batch as uint64_t) < left {
                (*common).batch
            } else {
                left as uint32_t
            };
            let mut now: uint64_t = now_ns();
            if (*options).rate > 0 as uint64_t {
                count = token_bucket_take(&raw mut bucket, now, count);
            }
            let mut sent: uint32_t = send_due(
                replay,
                options,
                count,
                now.wrapping_sub(run.start),
                totals,
            );
            if (*options).rate > 0 as uint64_t {
                token_bucket_return(&raw mut bucket, count.wrapping_sub(sent));
            }
            left = left.wrapping_sub(sent as uint64_t);
            (*totals).tx = (*totals).tx.wrapping_add(sent as uint64_t);
            (*totals).rx = (*totals)
                .rx
                .wrapping_add(drop_received(replay, (*common).batch) as uint64_t);
            i = i.wrapping_add(1);
        }
        if run_look(&raw mut run, &raw mut (*replay).port, &raw mut ended, error)
            != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
    }
    (*totals).loops = (*replay).loops;
    (*totals).seconds = run_seconds(&raw mut run);
    (*totals).tsc_cycles = run_tsc_cycles(&raw mut run);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn write_totals(
    mut fd: ::core::ffi::c_int,
    mut totals: *const totals,
) -> ::core::ffi::c_int {
    let mut written: ::core::ffi::c_int = dprintf(
        fd,
        b"{\"tx\":%lu,\"tx_bytes\":%lu,\"rx\":%lu,\"loops\":%lu,\"late\":%lu,\"max_late_seconds\":%.9f,\"seconds\":%.9f,\"tsc_cycles\":%lu}\n\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*totals).tx,
        (*totals).tx_bytes,
        (*totals).rx,
        (*totals).loops,
        (*totals).late,
        (*totals).max_late as ::core::ffi::c_double
            / NANOSECONDS as ::core::ffi::c_double,
        (*totals).seconds,
        (*totals).tsc_cycles,
    );
    return json_close(fd, written);
}
unsafe extern "C" fn replay_until_end(
    mut options: *const options,
    mut replay: *mut replay,
    mut json_fd: ::core::ffi::c_int,
) -> ::core::ffi::c_int {
    let mut totals: totals = totals {
        tx: 0 as uint64_t,
        tx_bytes: 0,
        rx: 0,
        loops: 0,
        late: 0,
        max_late: 0,
        seconds: 0.,
        tsc_cycles: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = EXIT_SUCCESS;
    if port_open(
        &raw mut (*replay).port,
        &raw const program,
        (*options).device,
        1 as uint32_t,
        1 as uint32_t,
        &raw const (*options).common,
        &raw mut error,
    ) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-replay: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        return EXIT_RUN_TIME;
    }
    if send_all(replay, options, &raw mut totals, &raw mut error)
        != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-replay: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if port_close(&raw mut (*replay).port, &raw mut error) != 0 as ::core::ffi::c_int
        && status == EXIT_SUCCESS
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-replay: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if json_fd >= 0 as ::core::ffi::c_int
        && write_totals(json_fd, &raw mut totals) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-replay: %s: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            (*options).common.json,
            strerror(*__errno_location()),
        );
        status = EXIT_RUN_TIME;
    }
    return status;
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut options: options = options {
        common: common_options_default(),
        speed: 0.,
        rate: 0,
        fast: false,
        loops: 1 as uint64_t,
        file: ::core::ptr::null::<::core::ffi::c_char>(),
        device: ::core::ptr::null::<::core::ffi::c_char>(),
    };
    let mut replay: replay = replay {
        port: port {
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
                connect_waited_ms: 0,
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
            config: device_config {
                rx_queues: 0,
                tx_queues: 0,
                rx_ring_size: 0,
                tx_ring_size: 0,
                promiscuous: false,
            },
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
        },
        recording: pcap_recording {
            bytes: ::core::ptr::null_mut::<uint8_t>(),
            size: 0,
            frames: ::core::ptr::null_mut::<pcap_frame>(),
            count: 0,
        },
        next: 0 as uint64_t,
        loops: 0,
        packets: [::core::ptr::null_mut::<packet>(); 512],
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = parse_options(argc, argv, &raw mut options);
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    if pcap_load(
        options.file,
        MAX_FRAME as uint32_t,
        &raw mut replay.recording,
        &raw mut error,
    ) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-replay: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        return EXIT_RUN_TIME;
    }
    let mut json_fd: ::core::ffi::c_int = json_open(
        &raw const program,
        options.common.json,
    );
    status = if json_fd == -(2 as ::core::ffi::c_int) {
        EXIT_RUN_TIME
    } else {
        replay_until_end(&raw mut options, &raw mut replay, json_fd)
    };
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
