extern "C" {
    fn flow_packet_fill(frame: *mut uint8_t, size: uint32_t, source: *const uint8_t);
    fn flow_packet_number(frame: *mut uint8_t, flow: uint32_t, sequence: uint64_t);
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
    fn tx_batch(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn run_start(run: *mut run);
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
    fn mac_read(
        device: *mut device,
        mac: *mut uint8_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
}
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
pub type size_t = usize;
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
    pub rate: uint64_t,
    pub size: uint32_t,
    pub flows: uint32_t,
    pub queues: uint32_t,
    pub template_file: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct generator {
    pub options: options,
    pub frame: [uint8_t; 1514],
    pub size: uint32_t,
    pub sent: [uint64_t; 16],
    pub tx: uint64_t,
    pub rx: uint64_t,
}
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FLOW_PACKET_MIN_SIZE: ::core::ffi::c_int = 60 as ::core::ffi::c_int;
pub const FLOW_PACKET_MAX_SIZE: ::core::ffi::c_int = 1514 as ::core::ffi::c_int;
pub const FLOW_PACKET_MAX_FLOWS: ::core::ffi::c_int = 65535 as ::core::ffi::c_int;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
static mut usage: [::core::ffi::c_char; 549] = unsafe {
    ::core::mem::transmute::<
        [u8; 549],
        [::core::ffi::c_char; 549],
    >(
        *b"usage: ixgbe-pktgen [--rate PPS] [--size BYTES] [--flows N] [--template FILE] [--queues N]\n                    [--batch N] [--ring-size N] [--packets N] [--duration S]\n                    [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n\nSends packets on a device: UDP in IPv4. The first 8 bytes of the payload are the packet's\nnumber in its flow. Drops what the device receives. Ends on SIGINT or SIGTERM, after N\npackets, or after S seconds.\n\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-pktgen\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
        arguments: 1 as ::core::ffi::c_int,
        needs: b"one device is needed\0" as *const u8 as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut common: *mut common_options,
    mut options: *mut options,
) -> ::core::ffi::c_int {
    let rows: [option_row; 13] = [
        option_row {
            name: b"rate\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"PPS\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"packets a second, such as 250000, 10k or 1.5M (default: as many as the\ndevice takes); a batch is the largest burst\0"
                as *const u8 as *const ::core::ffi::c_char,
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
            name: b"size\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"BYTES\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"bytes of a frame without CRC, 60 to 1514 (default 60)\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).size as *mut ::core::ffi::c_void,
            must_be: b"a number of bytes\0" as *const u8 as *const ::core::ffi::c_char,
            low: FLOW_PACKET_MIN_SIZE as uint64_t,
            high: FLOW_PACKET_MAX_SIZE as uint64_t,
        },
        option_row {
            name: b"flows\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"flows, 1 to 65535, in turn; each has a UDP source port (default:\none for each queue)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).flows as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: FLOW_PACKET_MAX_FLOWS as uint64_t,
        },
        option_row {
            name: b"template\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"FILE\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"send the first frame of this pcap file instead, unchanged\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_text
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).template_file as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"queues\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"TX queues, 1 to 16, in turn; flow i uses queue i modulo N (default 1)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).queues as *mut ::core::ffi::c_void,
            must_be: b"a number\0" as *const u8 as *const ::core::ffi::c_char,
            low: 1 as uint64_t,
            high: DEVICE_MAX_QUEUES as uint64_t,
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
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    if !(*options).template_file.is_null()
        && ((*options).size != 0 as uint32_t || (*options).flows != 0 as uint32_t)
    {
        return usage_error(
            &raw const program,
            b"--template sends the recorded frame unchanged; leave out --size and --flows\0"
                as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    (*options).size = if (*options).size != 0 as uint32_t {
        (*options).size
    } else {
        FLOW_PACKET_MIN_SIZE as uint32_t
    };
    (*options).flows = if (*options).flows != 0 as uint32_t {
        (*options).flows
    } else {
        (*options).queues
    };
    if (*options).template_file.is_null() && (*options).flows < (*options).queues {
        return usage_error(
            &raw const program,
            b"each queue needs a flow, because a flow uses one queue: raise --flows to the number of --queues\0"
                as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn prefill(mut pool: *mut mempool, mut generator: *const generator) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*pool).capacity {
        memcpy(
            &raw mut (**(*pool).free.offset(i as isize)).data as *mut uint8_t
                as *mut ::core::ffi::c_void,
            &raw const (*generator).frame as *const uint8_t
                as *const ::core::ffi::c_void,
            (*generator).size as size_t,
        );
        (**(*pool).free.offset(i as isize)).size = (*generator).size;
        i = i.wrapping_add(1);
    }
}
unsafe extern "C" fn number_packet(
    mut packet: *mut packet,
    mut generator: *const generator,
    mut queue: uint32_t,
    mut nth: uint64_t,
) {
    let mut queues: uint32_t = (*generator).options.queues;
    let mut flows: uint64_t = (*generator)
        .options
        .flows
        .wrapping_sub(queue)
        .wrapping_add(queues)
        .wrapping_sub(1 as uint32_t)
        .wrapping_div(queues) as uint64_t;
    flow_packet_number(
        &raw mut (*packet).data as *mut uint8_t,
        queue.wrapping_add(queues.wrapping_mul(nth.wrapping_rem(flows) as uint32_t)),
        nth.wrapping_div(flows),
    );
}
unsafe extern "C" fn send_batch(
    mut port: *mut port,
    mut generator: *mut generator,
    mut queue: uint32_t,
    mut count: uint32_t,
) -> uint32_t {
    let mut packets: *mut *mut packet = &raw mut (*port).packets as *mut *mut packet;
    let mut filled: uint32_t = 0 as uint32_t;
    while filled < count {
        let mut packet: *mut packet = packet_alloc(
            (&raw mut (*port).tx_pools as *mut mempool).offset(queue as isize)
                as *mut mempool,
        );
        if packet.is_null() {
            break;
        }
        if (*generator).options.template_file.is_null() {
            number_packet(
                packet,
                generator,
                queue,
                (*generator).sent[queue as usize].wrapping_add(filled as uint64_t),
            );
        }
        let ref mut fresh0 = *packets.offset(filled as isize);
        *fresh0 = packet;
        filled = filled.wrapping_add(1);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*port).device.tx as *mut tx_queue).offset(queue as isize)
            as *mut tx_queue,
        packets,
        filled,
    );
    packets_free(packets, sent, filled);
    (*generator).sent[queue as usize] = (*generator)
        .sent[queue as usize]
        .wrapping_add(sent as uint64_t);
    (*generator).tx = (*generator).tx.wrapping_add(sent as uint64_t);
    return sent;
}
unsafe extern "C" fn generate(
    mut run: *mut run,
    mut port: *mut port,
    mut state: *mut ::core::ffi::c_void,
) {
    let mut generator: *mut generator = state as *mut generator;
    let mut options: *const options = &raw mut (*generator).options;
    let mut queue: uint32_t = 0 as uint32_t;
    let mut count: uint32_t = 0 as uint32_t;
    if (*options).template_file.is_null() {
        let mut mac: [uint8_t; 6] = [0 as ::core::ffi::c_int as uint8_t, 0, 0, 0, 0, 0];
        (*run).result = mac_read(
            &raw mut (*port).device,
            &raw mut mac as *mut uint8_t,
            &raw mut (*run).error,
        );
        flow_packet_fill(
            &raw mut (*generator).frame as *mut uint8_t,
            (*generator).size,
            &raw mut mac as *mut uint8_t as *const uint8_t,
        );
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < DEVICE_MAX_QUEUES as uint32_t {
        prefill(
            (&raw mut (*port).tx_pools as *mut mempool).offset(i as isize)
                as *mut mempool,
            generator,
        );
        i = i.wrapping_add(1);
    }
    run_start(run);
    let mut bucket: token_bucket = token_bucket_new(
        (*options).rate,
        (*(*run).options).batch,
    );
    while run_goes_on(run, port, &raw mut count) {
        let mut taken: uint32_t = token_bucket_take(&raw mut bucket, count);
        let mut sent: uint32_t = send_batch(port, generator, queue, taken);
        token_bucket_return(&raw mut bucket, taken.wrapping_sub(sent));
        (*run).left = (*run).left.wrapping_sub(sent as uint64_t);
        (*generator).rx = (*generator)
            .rx
            .wrapping_add(port_drop_received(port, (*(*run).options).batch) as uint64_t);
        queue = queue.wrapping_add(1 as uint32_t).wrapping_rem((*options).queues);
    }
}
unsafe extern "C" fn write_totals(
    mut run: *const run,
    mut state: *const ::core::ffi::c_void,
) {
    let mut generator: *const generator = state as *const generator;
    let mut queues: uint32_t = (*generator).options.queues;
    fprintf(
        (*run).json,
        b"{\"tx\":%lu,\"tx_bytes\":%lu,\"rx\":%lu,\"seconds\":%.9f,\"tsc_cycles\":%lu\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*generator).tx,
        (*generator).tx.wrapping_mul((*generator).size as uint64_t),
        (*generator).rx,
        (*run).seconds,
        (*run).tsc_cycles,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < queues && queues > 1 as uint32_t {
        fprintf(
            (*run).json,
            b"%s%lu\0" as *const u8 as *const ::core::ffi::c_char,
            if i == 0 as uint32_t {
                b",\"queues\":[\0" as *const u8 as *const ::core::ffi::c_char
            } else {
                b",\0" as *const u8 as *const ::core::ffi::c_char
            },
            (*generator).sent[i as usize],
        );
        i = i.wrapping_add(1);
    }
    fprintf(
        (*run).json,
        if queues > 1 as uint32_t {
            b"]}\n\0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"}\n\0" as *const u8 as *const ::core::ffi::c_char
        },
    );
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut common: common_options = common_options_default();
    let mut generator: generator = generator {
        options: options {
            rate: 0,
            size: 0,
            flows: 0,
            queues: 1 as uint32_t,
            template_file: ::core::ptr::null::<::core::ffi::c_char>(),
        },
        frame: [0; 1514],
        size: 0,
        sent: [0; 16],
        tx: 0,
        rx: 0,
    };
    let mut options: *mut options = &raw mut generator.options;
    let mut recording: pcap_recording = pcap_recording {
        bytes: ::core::ptr::null_mut::<uint8_t>(),
        frames: ::core::ptr::null_mut::<pcap_frame>(),
        count: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = parse_options(
        argc,
        argv,
        &raw mut common,
        options,
    );
    let work: work = work {
        do_work: Some(
            generate
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
        state: &raw mut generator as *mut ::core::ffi::c_void,
    };
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    generator.size = (*options).size;
    if !(*options).template_file.is_null() {
        if pcap_load(
            (*options).template_file,
            1 as uint64_t,
            FLOW_PACKET_MAX_SIZE as uint32_t,
            &raw mut recording,
            &raw mut error,
        ) != 0 as ::core::ffi::c_int
        {
            return exit_status(
                &raw const program,
                -(1 as ::core::ffi::c_int),
                &raw mut error,
            );
        }
        generator.size = (*recording.frames.offset(0 as ::core::ffi::c_int as isize))
            .size;
        memcpy(
            &raw mut generator.frame as *mut uint8_t as *mut ::core::ffi::c_void,
            (*recording.frames.offset(0 as ::core::ffi::c_int as isize)).data
                as *const ::core::ffi::c_void,
            generator.size as size_t,
        );
        pcap_unload(&raw mut recording);
    }
    return run_on_port(
        &raw const program,
        &raw mut common,
        *argv.offset(optind as isize),
        (*options).queues,
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
