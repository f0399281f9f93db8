extern "C" {
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn pcap_writer_open(
        writer: *mut pcap_writer,
        options: *const pcap_options,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn pcap_writer_put(
        writer: *mut pcap_writer,
        frame: *const uint8_t,
        size: uint32_t,
        time: uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn pcap_writer_flush(
        writer: *mut pcap_writer,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn pcap_writer_close(
        writer: *mut pcap_writer,
        error: *mut error,
    ) -> ::core::ffi::c_int;
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
    fn exit_status(
        program_0: *const program,
        result: ::core::ffi::c_int,
        error: *const error,
    ) -> ::core::ffi::c_int;
    fn rx_batch(
        queue: *mut rx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn run_start(run: *mut run);
    fn run_check(run: *mut run, result: ::core::ffi::c_int, error: *const error);
    fn packets_free(packets: *mut *mut packet, first: uint32_t, count: uint32_t);
    fn run_on_port(
        program_0: *const program,
        options: *const common_options,
        address: *const ::core::ffi::c_char,
        tx_queues: uint32_t,
        work: *const work,
    ) -> ::core::ffi::c_int;
    fn run_goes_on(run: *mut run, port: *mut port, count: *mut uint32_t) -> bool;
    fn queue_stats_read(
        device: *mut device,
        id: uint32_t,
        stats: *mut queue_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn clock_gettime(__clock_id: clockid_t, __tp: *mut timespec) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
pub type __time_t = ::core::ffi::c_long;
pub type __clockid_t = ::core::ffi::c_int;
pub type __syscall_slong_t = ::core::ffi::c_long;
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
pub struct pcap_options {
    pub path: *const ::core::ffi::c_char,
    pub snap: uint32_t,
    pub rotate_size: uint64_t,
    pub files: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_writer {
    pub options: *const pcap_options,
    pub number: uint32_t,
    pub fd: ::core::ffi::c_int,
    pub name: [::core::ffi::c_char; 4096],
    pub written: uint64_t,
    pub frames: uint64_t,
    pub used: size_t,
    pub buffered: uint32_t,
    pub buffer: [uint8_t; 262144],
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
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
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
pub type clockid_t = __clockid_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct capture {
    pub options: pcap_options,
    pub writer: pcap_writer,
    pub flushed: uint64_t,
    pub rx: uint64_t,
    pub rx_bytes: uint64_t,
    pub snapped: uint64_t,
    pub dropped: uint64_t,
}
pub const UINT32_MAX: ::core::ffi::c_uint = 4294967295 as ::core::ffi::c_uint;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const PACKET_BUFFER_SIZE: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const PACKET_HEADROOM: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const PACKET_MAX_SIZE: ::core::ffi::c_int = PACKET_BUFFER_SIZE - PACKET_HEADROOM;
pub const CLOCK_REALTIME: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const MIN_ROTATE_SIZE: ::core::ffi::c_int = 4096 as ::core::ffi::c_int;
static mut usage: [::core::ffi::c_char; 520] = unsafe {
    ::core::mem::transmute::<
        [u8; 520],
        [::core::ffi::c_char; 520],
    >(
        *b"usage: ixgbe-capture [--write FILE] [--snap BYTES] [--rotate-size BYTES] [--files N]\n                     [--batch N] [--ring-size N] [--packets N] [--duration S]\n                     [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n\nRecords the frames that a device receives, in the pcap format with nanoseconds. The frames\nof a batch have one time. Ends on SIGINT or SIGTERM, after N packets, or after S seconds.\n\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-capture\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
        arguments: 1 as ::core::ffi::c_int,
        needs: b"one device is needed\0" as *const u8 as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut common: *mut common_options,
    mut options: *mut pcap_options,
) -> ::core::ffi::c_int {
    let rows: [option_row; 12] = [
        option_row {
            name: b"write\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"FILE\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"record to FILE; without it, frames are only counted\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_text
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).path as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"snap\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"BYTES\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"record at most so many bytes of a frame, 14 to 1984 (default 1984)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).snap as *mut ::core::ffi::c_void,
            must_be: b"a number of bytes\0" as *const u8 as *const ::core::ffi::c_char,
            low: 14 as uint64_t,
            high: PACKET_MAX_SIZE as uint64_t,
        },
        option_row {
            name: b"rotate-size\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"BYTES\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"begin another file before one has more bytes than this, from 4096 on;\nthe files are FILE-00001, FILE-00002, with the ending of FILE\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_large_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).rotate_size as *mut ::core::ffi::c_void,
            must_be: b"a number of bytes\0" as *const u8 as *const ::core::ffi::c_char,
            low: MIN_ROTATE_SIZE as uint64_t,
            high: UINT32_MAX as uint64_t,
        },
        option_row {
            name: b"files\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"keep the newest N files only; needs --rotate-size\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).files as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: 99999 as uint64_t,
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
            help: b"end after N received packets\0" as *const u8
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
            place: NULL,
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
    if (*options).rotate_size != 0 as uint64_t && (*options).path.is_null() {
        return usage_error(
            &raw const program,
            b"--rotate-size needs --write FILE\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if (*options).files != 0 as uint32_t && (*options).rotate_size == 0 as uint64_t {
        return usage_error(
            &raw const program,
            b"--files needs --rotate-size BYTES\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn wall_time_ns() -> uint64_t {
    let mut now: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(CLOCK_REALTIME, &raw mut now);
    return (now.tv_sec as uint64_t as ::core::ffi::c_ulonglong)
        .wrapping_mul(NANOSECONDS)
        .wrapping_add(now.tv_nsec as uint64_t as ::core::ffi::c_ulonglong) as uint64_t;
}
unsafe extern "C" fn record(
    mut capture: *mut capture,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut time: uint64_t = wall_time_ns();
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        (*capture).snapped = (*capture)
            .snapped
            .wrapping_add(
                ((**packets.offset(i as isize)).size > (*capture).options.snap)
                    as ::core::ffi::c_int as uint64_t,
            );
        if pcap_writer_put(
            &raw mut (*capture).writer,
            &raw mut (**packets.offset(i as isize)).data as *mut uint8_t,
            (**packets.offset(i as isize)).size,
            time,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn capture_turn(
    mut run: *mut run,
    mut port: *mut port,
    mut capture: *mut capture,
    mut count: uint32_t,
) -> uint32_t {
    let mut received: uint32_t = rx_batch(
        (&raw mut (*port).device.rx as *mut rx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut rx_queue,
        &raw mut (*port).packets as *mut *mut packet,
        count,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        (*capture).rx_bytes = (*capture)
            .rx_bytes
            .wrapping_add((*(*port).packets[i as usize]).size as uint64_t);
        i = i.wrapping_add(1);
    }
    if !(*capture).options.path.is_null() && received > 0 as uint32_t {
        (*run).result = record(
            capture,
            &raw mut (*port).packets as *mut *mut packet,
            received,
            &raw mut (*run).error,
        );
    }
    packets_free(&raw mut (*port).packets as *mut *mut packet, 0 as uint32_t, received);
    (*capture).rx = (*capture).rx.wrapping_add(received as uint64_t);
    return received;
}
unsafe extern "C" fn capture_packets(
    mut run: *mut run,
    mut port: *mut port,
    mut state: *mut ::core::ffi::c_void,
) {
    let mut capture: *mut capture = state as *mut capture;
    let mut writer: *mut pcap_writer = &raw mut (*capture).writer;
    let mut stats: queue_stats = queue_stats {
        rx_packets: 0 as uint64_t,
        rx_bytes: 0,
        rx_dropped: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut count: uint32_t = 0 as uint32_t;
    run_start(run);
    while run_goes_on(run, port, &raw mut count) {
        (*run).left = (*run)
            .left
            .wrapping_sub(capture_turn(run, port, capture, count) as uint64_t);
        if (*run).result == 0 as ::core::ffi::c_int
            && (*run).time.wrapping_sub((*capture).flushed) as ::core::ffi::c_ulonglong
                >= NANOSECONDS
        {
            (*run).result = pcap_writer_flush(writer, &raw mut (*run).error);
            (*capture).flushed = (*run).time;
        }
    }
    run_check(
        run,
        queue_stats_read(
            &raw mut (*port).device,
            0 as uint32_t,
            &raw mut stats,
            &raw mut error,
        ),
        &raw mut error,
    );
    (*capture).dropped = stats.rx_dropped;
    run_check(run, pcap_writer_close(writer, &raw mut error), &raw mut error);
}
unsafe extern "C" fn write_totals(
    mut run: *const run,
    mut state: *const ::core::ffi::c_void,
) {
    let mut capture: *const capture = state as *const capture;
    fprintf(
        (*run).json,
        b"{\"rx\":%lu,\"rx_bytes\":%lu,\"written\":%lu,\"snapped\":%lu,\"dropped\":%lu,\"files\":%u,\"seconds\":%.9f,\"tsc_cycles\":%lu}\n\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*capture).rx,
        (*capture).rx_bytes,
        (*capture).writer.frames,
        (*capture).snapped,
        (*capture).dropped,
        (*capture).writer.number,
        (*run).seconds,
        (*run).tsc_cycles,
    );
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut common: common_options = common_options_default();
    let mut state: capture = capture {
        options: pcap_options {
            path: ::core::ptr::null::<::core::ffi::c_char>(),
            snap: PACKET_MAX_SIZE as uint32_t,
            rotate_size: 0,
            files: 0,
        },
        writer: pcap_writer {
            options: ::core::ptr::null::<pcap_options>(),
            number: 0,
            fd: 0,
            name: [0; 4096],
            written: 0,
            frames: 0,
            used: 0,
            buffered: 0,
            buffer: [0; 262144],
        },
        flushed: 0,
        rx: 0,
        rx_bytes: 0,
        snapped: 0,
        dropped: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = parse_options(
        argc,
        argv,
        &raw mut common,
        &raw mut state.options,
    );
    let work: work = work {
        do_work: Some(
            capture_packets
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
        state: &raw mut state as *mut ::core::ffi::c_void,
    };
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    if pcap_writer_open(&raw mut state.writer, &raw mut state.options, &raw mut error)
        != 0 as ::core::ffi::c_int
    {
        return exit_status(
            &raw const program,
            -(1 as ::core::ffi::c_int),
            &raw mut error,
        );
    }
    return run_on_port(
        &raw const program,
        &raw mut common,
        *argv.offset(optind as isize),
        0 as uint32_t,
        &raw const work,
    );
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
