extern "C" {
    fn echo_packet(
        headers: *mut uint8_t,
        size: uint32_t,
        own: *const echo_address,
    ) -> echo_answer;
    static mut optind: ::core::ffi::c_int;
    fn dprintf(
        __fd: ::core::ffi::c_int,
        __fmt: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
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
    fn mac_read(
        device: *mut device,
        mac: *mut uint8_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn inet_pton(
        __af: ::core::ffi::c_int,
        __cp: *const ::core::ffi::c_char,
        __buf: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
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
pub struct echo_address {
    pub mac: [uint8_t; 6],
    pub has_ip: bool,
    pub ip: [uint8_t; 4],
}
pub type echo_answer = ::core::ffi::c_uint;
pub const ECHO_ICMP: echo_answer = 3;
pub const ECHO_ARP: echo_answer = 2;
pub const ECHO_MAC: echo_answer = 1;
pub const ECHO_NONE: echo_answer = 0;
pub type size_t = usize;
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
pub struct options {
    pub common: common_options,
    pub own: echo_address,
    pub device: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct totals {
    pub rx: uint64_t,
    pub tx: uint64_t,
    pub answers: [uint64_t; 4],
    pub dropped: uint64_t,
    pub seconds: ::core::ffi::c_double,
    pub tsc_cycles: uint64_t,
}
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const STDERR_FILENO: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const EXIT_RUN_TIME: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
pub const PF_INET: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const AF_INET: ::core::ffi::c_int = PF_INET;
pub const EXIT_SUCCESS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
static mut usage: [::core::ffi::c_char; 501] = unsafe {
    ::core::mem::transmute::<
        [u8; 501],
        [::core::ffi::c_char; 501],
    >(
        *b"usage: ixgbe-echo [--ip ADDRESS] [--batch N] [--ring-size N] [--packets N] [--duration S]\n                  [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE\n\nAnswers the frames that a device receives. With --ip, it answers ARP and ping for that\naddress. Without, it returns each frame that is addressed to the device to its sender.\nEnds on SIGINT or SIGTERM, after N packets, or after S seconds.\n\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-echo\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn set_address(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut own: *mut echo_address = (*row).place as *mut echo_address;
    (*own).has_ip = inet_pton(
        AF_INET,
        text,
        &raw mut (*own).ip as *mut uint8_t as *mut ::core::ffi::c_void,
    ) == 1 as ::core::ffi::c_int;
    return (*own).has_ip;
}
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut options: *mut options,
) -> ::core::ffi::c_int {
    let rows: [option_row; 9] = [
        option_row {
            name: b"ip\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"ADDRESS\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"the IPv4 address to answer for, such as 10.0.0.2\0" as *const u8
                as *const ::core::ffi::c_char,
            set: Some(
                set_address
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).own as *mut ::core::ffi::c_void,
            must_be: b"an IPv4 address, such as 10.0.0.2\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
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
            help: b"end after N received packets\0" as *const u8
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
    if argc - optind != 1 as ::core::ffi::c_int {
        return usage_error(
            &raw const program,
            b"one device is needed\0" as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    (*options).device = *argv.offset(optind as isize);
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn echo_turn(
    mut port: *mut port,
    mut own: *const echo_address,
    mut count: uint32_t,
    mut packets: *mut *mut packet,
    mut totals: *mut totals,
) -> uint32_t {
    let mut received: uint32_t = rx_batch(
        (&raw mut (*port).device.rx as *mut rx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut rx_queue,
        packets,
        count,
    );
    let mut answers: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        let mut packet: *mut packet = *packets.offset(i as isize);
        let mut answer: echo_answer = echo_packet(
            &raw mut (*packet).data as *mut uint8_t,
            (*packet).size,
            own,
        );
        (*totals).answers[answer as usize] = (*totals)
            .answers[answer as usize]
            .wrapping_add(1);
        if answer as ::core::ffi::c_uint
            == ECHO_NONE as ::core::ffi::c_int as ::core::ffi::c_uint
        {
            packet_free(packet);
        } else {
            let ref mut fresh1 = *packets.offset(answers as isize);
            *fresh1 = packet;
            answers = answers.wrapping_add(1);
        }
        i = i.wrapping_add(1);
    }
    let mut sent: uint32_t = tx_batch(
        (&raw mut (*port).device.tx as *mut tx_queue)
            .offset(0 as ::core::ffi::c_int as isize) as *mut tx_queue,
        packets,
        answers,
    );
    packets_free(packets, sent, answers);
    (*totals).rx = (*totals).rx.wrapping_add(received as uint64_t);
    (*totals).tx = (*totals).tx.wrapping_add(sent as uint64_t);
    (*totals).dropped = (*totals)
        .dropped
        .wrapping_add(answers.wrapping_sub(sent) as uint64_t);
    return received;
}
unsafe extern "C" fn echo(
    mut port: *mut port,
    mut options: *const options,
    mut totals: *mut totals,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut packets: [*mut packet; 512] = [::core::ptr::null_mut::<packet>(); 512];
    let mut turns: uint32_t = port_turns_per_look(port);
    let mut left: uint64_t = (*options).common.packets;
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
    run_start(&raw mut run, (*options).common.duration);
    while left > 0 as uint64_t && !ended {
        let mut i: uint32_t = 0 as uint32_t;
        while i < turns && left > 0 as uint64_t {
            let mut batch: uint32_t = (*options).common.batch;
            let mut count: uint32_t = if (batch as uint64_t) < left {
                batch
            } else {
                left as uint32_t
            };
            left = left
                .wrapping_sub(
                    echo_turn(
                        port,
                        &raw const (*options).own,
                        count,
                        &raw mut packets as *mut *mut packet,
                        totals,
                    ) as uint64_t,
                );
            i = i.wrapping_add(1);
        }
        if run_look(&raw mut run, port, &raw mut ended, error) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
    }
    (*totals).seconds = run_seconds(&raw mut run);
    (*totals).tsc_cycles = run_tsc_cycles(&raw mut run);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn write_totals(
    mut fd: ::core::ffi::c_int,
    mut totals: *const totals,
) -> ::core::ffi::c_int {
    return json_close(
        fd,
        dprintf(
            fd,
            b"{\"rx\":%lu,\"tx\":%lu,\"mac\":%lu,\"arp\":%lu,\"icmp\":%lu,\"ignored\":%lu,\"dropped\":%lu,\"seconds\":%.9f,\"tsc_cycles\":%lu}\n\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*totals).rx,
            (*totals).tx,
            (*totals).answers[ECHO_MAC as ::core::ffi::c_int as usize],
            (*totals).answers[ECHO_ARP as ::core::ffi::c_int as usize],
            (*totals).answers[ECHO_ICMP as ::core::ffi::c_int as usize],
            (*totals).answers[ECHO_NONE as ::core::ffi::c_int as usize],
            (*totals).dropped,
            (*totals).seconds,
            (*totals).tsc_cycles,
        ),
    );
}
unsafe extern "C" fn echo_until_end(
    mut options: *mut options,
    mut json_fd: ::core::ffi::c_int,
) -> ::core::ffi::c_int {
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
    };
    let mut totals: totals = totals {
        rx: 0 as uint64_t,
        tx: 0,
        answers: [0; 4],
        dropped: 0,
        seconds: 0.,
        tsc_cycles: 0,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut status: ::core::ffi::c_int = EXIT_SUCCESS;
    if port_open(
        &raw mut port,
        &raw const program,
        (*options).device,
        1 as uint32_t,
        1 as uint32_t,
        &raw mut (*options).common,
        &raw mut error,
    ) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-echo: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        return EXIT_RUN_TIME;
    }
    if mac_read(
        &raw mut port.device,
        &raw mut (*options).own.mac as *mut uint8_t,
        &raw mut error,
    ) != 0 as ::core::ffi::c_int
        || echo(&raw mut port, options, &raw mut totals, &raw mut error)
            != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-echo: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if port_close(&raw mut port, &raw mut error) != 0 as ::core::ffi::c_int
        && status == EXIT_SUCCESS
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-echo: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if json_fd >= 0 as ::core::ffi::c_int
        && write_totals(json_fd, &raw mut totals) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-echo: %s: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
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
        own: echo_address {
            mac: [0; 6],
            has_ip: false,
            ip: [0; 4],
        },
        device: ::core::ptr::null::<::core::ffi::c_char>(),
    };
    let mut status: ::core::ffi::c_int = parse_options(argc, argv, &raw mut options);
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    let mut json_fd: ::core::ffi::c_int = json_open(
        &raw const program,
        options.common.json,
    );
    return if json_fd == -(2 as ::core::ffi::c_int) {
        EXIT_RUN_TIME
    } else {
        echo_until_end(&raw mut options, json_fd)
    };
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
