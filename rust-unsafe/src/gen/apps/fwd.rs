extern "C" {
    fn clock_gettime(__clock_id: clockid_t, __tp: *mut timespec) -> ::core::ffi::c_int;
    fn cpu_list_parse(
        text: *const ::core::ffi::c_char,
        list: *mut cpu_list,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_open_queues(
        device_a: *const ::core::ffi::c_char,
        device_b: *const ::core::ffi::c_char,
        batch: uint32_t,
        ring_size: uint32_t,
        queues: uint32_t,
        connect_timeout_ms: uint32_t,
        link_timeout_ms: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> *mut forwarder;
    fn forwarder_limit(forwarder: *mut forwarder, packets: uint64_t);
    fn forwarder_on_ordinary_pages(forwarder: *const forwarder) -> bool;
    fn forwarder_is_trapped(forwarder: *const forwarder) -> bool;
    fn forwarder_turn(forwarder: *mut forwarder) -> uint32_t;
    fn forwarder_use_interrupts(
        forwarder: *mut forwarder,
        interval_us: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_wait(
        forwarder: *mut forwarder,
        timeout_ms: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_read_waits(forwarder: *const forwarder, waits: *mut forwarder_waits);
    fn forwarder_read_counts(forwarder: *const forwarder, counts: *mut forwarder_counts);
    fn forwarder_queue_turn(forwarder: *mut forwarder, queue: uint32_t) -> uint32_t;
    fn forwarder_read_queue_counts(
        forwarder: *const forwarder,
        queue: uint32_t,
        counts: *mut forwarder_counts,
    );
    fn forwarder_device_stats(
        forwarder: *mut forwarder,
        device: uint32_t,
        stats: *mut forwarder_device_stats,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_read_missed(
        forwarder: *mut forwarder,
        missed: *mut uint64_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_close(
        forwarder: *mut forwarder,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn pipeline_threads_start(
        forwarder: *mut forwarder,
        queues: uint32_t,
        cpus: *const cpu_list,
        packets: uint64_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> *mut pipeline_threads;
    fn pipeline_threads_ended(threads: *mut pipeline_threads) -> bool;
    fn pipeline_threads_stop(
        threads: *mut pipeline_threads,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    static mut optind: ::core::ffi::c_int;
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
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
    fn hold_signals(held: *mut sigset_t);
    fn signal_comes(held: *const sigset_t, nanoseconds: uint64_t) -> bool;
    fn json_open(
        program_0: *const program,
        path: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn queue_threads_start(
        forwarder: *mut forwarder,
        queues: uint32_t,
        cpus: *const cpu_list,
        packets: uint64_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> *mut queue_threads;
    fn queue_threads_ended(threads: *mut queue_threads) -> bool;
    fn queue_threads_stop(
        threads: *mut queue_threads,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn rates_print(
        device: *const ::core::ffi::c_char,
        before: *const device_stats,
        now: *const device_stats,
        seconds: ::core::ffi::c_double,
    );
    fn totals_print(totals: *const totals, missed: uint64_t);
    fn totals_write(fd: ::core::ffi::c_int, totals: *const totals) -> ::core::ffi::c_int;
    fn tsc_read() -> uint64_t;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn strcmp(
        __s1: *const ::core::ffi::c_char,
        __s2: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __time_t = ::core::ffi::c_long;
pub type __clockid_t = ::core::ffi::c_int;
pub type __syscall_slong_t = ::core::ffi::c_long;
pub type size_t = usize;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
pub type clockid_t = __clockid_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __sigset_t {
    pub __val: [::core::ffi::c_ulong; 16],
}
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_list {
    pub count: uint32_t,
    pub cpus: [uint32_t; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_counts {
    pub rx: uint64_t,
    pub tx: uint64_t,
    pub dropped: uint64_t,
    pub rx_calls: uint64_t,
    pub full_batches: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
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
pub struct device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct totals {
    pub counts: forwarder_counts,
    pub seconds: ::core::ffi::c_double,
    pub cpu_seconds: ::core::ffi::c_double,
    pub tsc_cycles: uint64_t,
    pub queues: uint32_t,
    pub queue_counts: [forwarder_counts; 16],
    pub interrupts: bool,
    pub waits: forwarder_waits,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct options {
    pub common: common_options,
    pub queues: uint32_t,
    pub cpus: cpu_list,
    pub pipeline: bool,
    pub interrupts: bool,
    pub interrupt_interval_us: uint32_t,
    pub devices: [*const ::core::ffi::c_char; 2],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct rates {
    pub printed: uint64_t,
    pub before: [device_stats; 2],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct start {
    pub time: uint64_t,
    pub cpu_time: uint64_t,
    pub tsc: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct load {
    pub busy: bool,
    pub since: uint64_t,
    pub received: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct threads {
    pub queues: *mut queue_threads,
    pub pipeline: *mut pipeline_threads,
}
pub const CLOCK_PROCESS_CPUTIME_ID: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const FORWARDER_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const FORWARDER_MAX_INTERRUPT_INTERVAL_US: ::core::ffi::c_int = 1022
    as ::core::ffi::c_int;
pub const FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US: ::core::ffi::c_int = 50
    as ::core::ffi::c_int;
pub const STDERR_FILENO: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const EXIT_RUN_TIME: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const EXIT_SUCCESS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const TURNS_PER_LOOK_TRAPPED: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const EMPTY_TURNS: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const SLEEP_MS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const BUSY_PACKETS: ::core::ffi::c_int = 200 as ::core::ffi::c_int;
pub const BUSY_NANOSECONDS: ::core::ffi::c_ulonglong = 1000000
    as ::core::ffi::c_ulonglong;
pub const LOOK_NANOSECONDS: ::core::ffi::c_ulonglong = 20000000
    as ::core::ffi::c_ulonglong;
static mut usage: [::core::ffi::c_char; 691] = unsafe {
    ::core::mem::transmute::<
        [u8; 691],
        [::core::ffi::c_char; 691],
    >(
        *b"usage: ixgbe-fwd [--batch N] [--ring-size N] [--packets N | --duration S]\n                 [--queues N] [--cpus LIST] [--pipeline]\n                 [--interrupts] [--interrupt-interval US]\n                 [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE DEVICE\n\nForwards packets between two devices, both ways, and changes one byte of every packet.\nEnds on SIGINT or SIGTERM, after N packets, or after S seconds.\nPrints the rates of each second. Without --json, it prints at the end how many packets\nwere received, sent, dropped (no room in the TX ring) and missed (no RX descriptor).\n\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-fwd\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn in_threads(mut options: *const options) -> bool {
    return (*options).queues > 1 as uint32_t || (*options).cpus.count > 0 as uint32_t
        || (*options).pipeline as ::core::ffi::c_int != 0;
}
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut options: *mut options,
) -> ::core::ffi::c_int {
    let mut reason: [::core::ffi::c_char; 1024] = [0; 1024];
    let mut cpus: *const ::core::ffi::c_char = ::core::ptr::null::<
        ::core::ffi::c_char,
    >();
    let rows: [option_row; 13] = [
        option_row {
            name: b"queues\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"N\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"queue pairs of each device, 1 to 16, each with a thread of its own\n(default 1); RSS divides the flows among them\0"
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
            high: FORWARDER_MAX_QUEUES as uint64_t,
        },
        option_row {
            name: b"cpus\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"LIST\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"pin a thread to each of these CPUs, such as 1,3 or 0-3; with fewer CPUs\nthan queues, a thread has several queues\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_text
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut cpus as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"pipeline\0" as *const u8 as *const ::core::ffi::c_char,
            value: ::core::ptr::null::<::core::ffi::c_char>(),
            help: b"hand packets from thread to thread: one receives, one for each queue\nchanges the packets, and one sends; they take the CPUs of --cpus in\nturn, the receiving and the sending thread first\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_flag
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).pipeline as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"interrupts\0" as *const u8 as *const ::core::ffi::c_char,
            value: ::core::ptr::null::<::core::ffi::c_char>(),
            help: b"sleep while few packets come, instead of polling; needs one queue\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_flag
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).interrupts as *mut ::core::ffi::c_void,
            must_be: ::core::ptr::null::<::core::ffi::c_char>(),
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
        option_row {
            name: b"interrupt-interval\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"US\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"at least US microseconds between two interrupts of a queue, 0 to\n1022 (default 50)\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_number
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).interrupt_interval_us as *mut ::core::ffi::c_void,
            must_be: b"a number of microseconds\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: FORWARDER_MAX_INTERRUPT_INTERVAL_US as uint64_t,
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
            help: b"end after N received packets, counted over both directions\0"
                as *const u8 as *const ::core::ffi::c_char,
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
    if !cpus.is_null()
        && cpu_list_parse(
            cpus,
            &raw mut (*options).cpus,
            &raw mut reason as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        ) != 0 as ::core::ffi::c_int
    {
        return usage_error(
            &raw const program,
            b"--cpus\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut reason as *mut ::core::ffi::c_char,
        );
    }
    if (*options).common.packets != UINT64_MAX as uint64_t
        && (*options).common.duration != UINT64_MAX as uint64_t
    {
        return usage_error(
            &raw const program,
            b"--packets and --duration exclude each other\0" as *const u8
                as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if (*options).pipeline as ::core::ffi::c_int != 0
        && (*options).cpus.count > (*options).queues.wrapping_add(2 as uint32_t)
    {
        return usage_error(
            &raw const program,
            b"--cpus names more CPUs than there are threads: with --pipeline, one for each queue, and two; raise --queues\0"
                as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if !(*options).pipeline && (*options).cpus.count > (*options).queues {
        return usage_error(
            &raw const program,
            b"--cpus names more CPUs than there are queues; each thread needs a queue: raise --queues\0"
                as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if (*options).interrupts as ::core::ffi::c_int != 0
        && in_threads(options) as ::core::ffi::c_int != 0
    {
        return usage_error(
            &raw const program,
            b"--interrupts needs one queue without threads; leave out --queues, --cpus and --pipeline\0"
                as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    if argc - optind != 2 as ::core::ffi::c_int {
        return usage_error(
            &raw const program,
            b"two devices are needed\0" as *const u8 as *const ::core::ffi::c_char,
            ::core::ptr::null::<::core::ffi::c_char>(),
        );
    }
    (*options).devices[0 as ::core::ffi::c_int as usize] = *argv.offset(optind as isize);
    (*options).devices[1 as ::core::ffi::c_int as usize] = *argv
        .offset((optind + 1 as ::core::ffi::c_int) as isize);
    if strcmp(
        (*options).devices[0 as ::core::ffi::c_int as usize],
        (*options).devices[1 as ::core::ffi::c_int as usize],
    ) == 0 as ::core::ffi::c_int
    {
        return usage_error(
            &raw const program,
            b"the two devices must differ; both are\0" as *const u8
                as *const ::core::ffi::c_char,
            (*options).devices[0 as ::core::ffi::c_int as usize],
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn print_both_rates(
    mut forwarder: *mut forwarder,
    mut options: *const options,
    mut rates: *mut rates,
    mut time: uint64_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut read: forwarder_device_stats = forwarder_device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        };
        if forwarder_device_stats(forwarder, i, &raw mut read, error, error_size)
            != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        let now: device_stats = device_stats {
            rx_packets: read.rx_packets,
            rx_bytes: read.rx_bytes,
            tx_packets: read.tx_packets,
            tx_bytes: read.tx_bytes,
        };
        rates_print(
            (*options).devices[i as usize],
            (&raw mut (*rates).before as *mut device_stats).offset(i as isize)
                as *mut device_stats,
            &raw const now,
            time.wrapping_sub((*rates).printed) as ::core::ffi::c_double
                / NANOSECONDS as ::core::ffi::c_double,
        );
        (*rates).before[i as usize] = now;
        i = i.wrapping_add(1);
    }
    (*rates).printed = time;
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn cpu_time_ns() -> uint64_t {
    let mut now: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &raw mut now);
    return (now.tv_sec as uint64_t as ::core::ffi::c_ulonglong)
        .wrapping_mul(NANOSECONDS)
        .wrapping_add(now.tv_nsec as uint64_t as ::core::ffi::c_ulonglong) as uint64_t;
}
unsafe extern "C" fn start_now() -> start {
    return start {
        time: now_ns(),
        cpu_time: cpu_time_ns(),
        tsc: tsc_read(),
    };
}
unsafe extern "C" fn read_totals(
    mut forwarder: *const forwarder,
    mut queues: uint32_t,
    mut start: *const start,
    mut totals: *mut totals,
) {
    (*totals).tsc_cycles = tsc_read().wrapping_sub((*start).tsc);
    (*totals).seconds = now_ns().wrapping_sub((*start).time) as ::core::ffi::c_double
        / NANOSECONDS as ::core::ffi::c_double;
    (*totals).cpu_seconds = cpu_time_ns().wrapping_sub((*start).cpu_time)
        as ::core::ffi::c_double / NANOSECONDS as ::core::ffi::c_double;
    forwarder_read_counts(forwarder, &raw mut (*totals).counts);
    (*totals).queues = queues;
    let mut i: uint32_t = 0 as uint32_t;
    while i < queues {
        forwarder_read_queue_counts(
            forwarder,
            i,
            (&raw mut (*totals).queue_counts as *mut forwarder_counts).offset(i as isize)
                as *mut forwarder_counts,
        );
        i = i.wrapping_add(1);
    }
}
#[inline(never)]
unsafe extern "C" fn forward_turns(
    mut forwarder: *mut forwarder,
    mut turns: uint32_t,
    mut packets: uint64_t,
) -> uint64_t {
    let mut received: uint64_t = 0 as uint64_t;
    while turns > 0 as uint32_t && received < packets {
        received = received.wrapping_add(forwarder_turn(forwarder) as uint64_t);
        turns = turns.wrapping_sub(1);
    }
    return received;
}
unsafe extern "C" fn run(
    mut forwarder: *mut forwarder,
    mut options: *const options,
    mut held: *const sigset_t,
    mut totals: *mut totals,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut rates: rates = rates {
        printed: now_ns(),
        before: [device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        }; 2],
    };
    let mut start: start = start_now();
    let mut time: uint64_t = start.time;
    let mut received: uint64_t = 0 as uint64_t;
    let mut packets: uint64_t = (*options).common.packets;
    let mut turns: uint32_t = (if forwarder_is_trapped(forwarder) as ::core::ffi::c_int
        != 0
    {
        TURNS_PER_LOOK_TRAPPED
    } else {
        TURNS_PER_LOOK
    }) as uint32_t;
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    while received < packets
        && time.wrapping_sub(start.time) < (*options).common.duration
        && result == 0 as ::core::ffi::c_int
    {
        received = received
            .wrapping_add(
                forward_turns(forwarder, turns, packets.wrapping_sub(received)),
            );
        time = now_ns();
        if signal_comes(held, 0 as uint64_t) {
            break;
        }
        if time.wrapping_sub(rates.printed) as ::core::ffi::c_ulonglong >= NANOSECONDS {
            result = print_both_rates(
                forwarder,
                options,
                &raw mut rates,
                time,
                error,
                error_size,
            );
        }
    }
    read_totals(forwarder, 1 as uint32_t, &raw mut start, totals);
    return result;
}
#[inline(never)]
unsafe extern "C" fn forward_until_idle(
    mut forwarder: *mut forwarder,
    mut turns: uint32_t,
    mut packets: uint64_t,
    mut idle: *mut bool,
) -> uint64_t {
    let mut received: uint64_t = 0 as uint64_t;
    let mut empty: uint32_t = 0 as uint32_t;
    while turns > 0 as uint32_t && empty < EMPTY_TURNS as uint32_t && received < packets
    {
        let mut batch: uint32_t = forwarder_queue_turn(forwarder, 0 as uint32_t);
        received = received.wrapping_add(batch as uint64_t);
        turns = turns
            .wrapping_sub((batch > 0 as uint32_t) as ::core::ffi::c_int as uint32_t);
        empty = if batch > 0 as uint32_t {
            0 as uint32_t
        } else {
            empty.wrapping_add(1 as uint32_t)
        };
    }
    *idle = empty == EMPTY_TURNS as uint32_t;
    return received;
}
unsafe extern "C" fn load_update(
    mut load: *mut load,
    mut time: uint64_t,
    mut received: uint64_t,
) {
    let mut period: uint64_t = time.wrapping_sub((*load).since);
    if (period as ::core::ffi::c_ulonglong) < BUSY_NANOSECONDS {
        return;
    }
    (*load).busy = (received.wrapping_sub((*load).received) as ::core::ffi::c_ulonglong)
        .wrapping_mul(BUSY_NANOSECONDS)
        > (BUSY_PACKETS as uint64_t).wrapping_mul(period) as ::core::ffi::c_ulonglong;
    (*load).since = time;
    (*load).received = received;
}
unsafe extern "C" fn run_with_interrupts(
    mut forwarder: *mut forwarder,
    mut options: *const options,
    mut held: *const sigset_t,
    mut totals: *mut totals,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut rates: rates = rates {
        printed: now_ns(),
        before: [device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        }; 2],
    };
    let mut start: start = start_now();
    let mut time: uint64_t = start.time;
    let mut received: uint64_t = 0 as uint64_t;
    let mut packets: uint64_t = (*options).common.packets;
    let mut turns: uint32_t = (if forwarder_is_trapped(forwarder) as ::core::ffi::c_int
        != 0
    {
        TURNS_PER_LOOK_TRAPPED
    } else {
        TURNS_PER_LOOK
    }) as uint32_t;
    let mut load: load = load {
        busy: false,
        since: time,
        received: 0,
    };
    let mut idle: bool = false_0 != 0;
    let mut result: ::core::ffi::c_int = forwarder_use_interrupts(
        forwarder,
        (*options).interrupt_interval_us,
        error,
        error_size,
    );
    while received < packets
        && time.wrapping_sub(start.time) < (*options).common.duration
        && result == 0 as ::core::ffi::c_int
    {
        let mut left_ms: uint64_t = (*options)
            .common
            .duration
            .wrapping_sub(time.wrapping_sub(start.time))
            .wrapping_div(1000000 as uint64_t);
        if idle as ::core::ffi::c_int != 0 && !load.busy {
            result = forwarder_wait(
                forwarder,
                if left_ms < SLEEP_MS as uint64_t {
                    left_ms as uint32_t
                } else {
                    SLEEP_MS as uint32_t
                },
                error,
                error_size,
            );
        }
        received = received
            .wrapping_add(
                forward_until_idle(
                    forwarder,
                    turns,
                    packets.wrapping_sub(received),
                    &raw mut idle,
                ),
            );
        time = now_ns();
        load_update(&raw mut load, time, received);
        if signal_comes(held, 0 as uint64_t) {
            break;
        }
        if result == 0 as ::core::ffi::c_int
            && time.wrapping_sub(rates.printed) as ::core::ffi::c_ulonglong
                >= NANOSECONDS
        {
            result = print_both_rates(
                forwarder,
                options,
                &raw mut rates,
                time,
                error,
                error_size,
            );
        }
    }
    read_totals(forwarder, 1 as uint32_t, &raw mut start, totals);
    (*totals).interrupts = true_0 != 0;
    forwarder_read_waits(forwarder, &raw mut (*totals).waits);
    return result;
}
unsafe extern "C" fn threads_start(
    mut threads: *mut threads,
    mut forwarder: *mut forwarder,
    mut options: *const options,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    *threads = threads {
        queues: ::core::ptr::null_mut::<queue_threads>(),
        pipeline: ::core::ptr::null_mut::<pipeline_threads>(),
    };
    if forwarder_is_trapped(forwarder) {
        snprintf(
            error,
            error_size,
            b"%s: the queues cannot have threads of their own, because a doorbell is not mapped; start the software NIC with --mmio shared\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*options).devices[0 as ::core::ffi::c_int as usize],
        );
        return -(1 as ::core::ffi::c_int);
    }
    if (*options).pipeline {
        (*threads).pipeline = pipeline_threads_start(
            forwarder,
            (*options).queues,
            &raw const (*options).cpus,
            (*options).common.packets,
            error,
            error_size,
        );
        return if (*threads).pipeline.is_null() {
            -(1 as ::core::ffi::c_int)
        } else {
            0 as ::core::ffi::c_int
        };
    }
    (*threads).queues = queue_threads_start(
        forwarder,
        (*options).queues,
        &raw const (*options).cpus,
        (*options).common.packets,
        error,
        error_size,
    );
    return if (*threads).queues.is_null() {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
unsafe extern "C" fn threads_ended(mut threads: *const threads) -> bool {
    return if !(*threads).pipeline.is_null() {
        pipeline_threads_ended((*threads).pipeline) as ::core::ffi::c_int
    } else {
        queue_threads_ended((*threads).queues) as ::core::ffi::c_int
    } != 0;
}
unsafe extern "C" fn threads_stop(
    mut threads: *const threads,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    return if !(*threads).pipeline.is_null() {
        pipeline_threads_stop((*threads).pipeline, error, error_size)
    } else {
        queue_threads_stop((*threads).queues, error, error_size)
    };
}
unsafe extern "C" fn run_threads(
    mut forwarder: *mut forwarder,
    mut options: *const options,
    mut held: *const sigset_t,
    mut totals: *mut totals,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut rates: rates = rates {
        printed: now_ns(),
        before: [device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        }; 2],
    };
    let mut start: start = start_now();
    let mut time: uint64_t = start.time;
    let mut failure: [::core::ffi::c_char; 1024] = [0; 1024];
    let mut threads: threads = threads {
        queues: ::core::ptr::null_mut::<queue_threads>(),
        pipeline: ::core::ptr::null_mut::<pipeline_threads>(),
    };
    let mut result: ::core::ffi::c_int = threads_start(
        &raw mut threads,
        forwarder,
        options,
        error,
        error_size,
    );
    if result != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    while result == 0 as ::core::ffi::c_int
        && time.wrapping_sub(start.time) < (*options).common.duration
        && !threads_ended(&raw mut threads)
        && !signal_comes(held, LOOK_NANOSECONDS as uint64_t)
    {
        time = now_ns();
        if time.wrapping_sub(rates.printed) as ::core::ffi::c_ulonglong >= NANOSECONDS {
            result = print_both_rates(
                forwarder,
                options,
                &raw mut rates,
                time,
                error,
                error_size,
            );
        }
    }
    if threads_stop(
        &raw mut threads,
        &raw mut failure as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
    ) != 0 as ::core::ffi::c_int && result == 0 as ::core::ffi::c_int
    {
        snprintf(
            error,
            error_size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut failure as *mut ::core::ffi::c_char,
        );
        result = -(1 as ::core::ffi::c_int);
    }
    read_totals(forwarder, (*options).queues, &raw mut start, totals);
    return result;
}
unsafe extern "C" fn forward_until_end(
    mut options: *const options,
    mut json_fd: ::core::ffi::c_int,
) -> ::core::ffi::c_int {
    let mut error: [::core::ffi::c_char; 1024] = ::core::mem::transmute::<
        [u8; 1024],
        [::core::ffi::c_char; 1024],
    >(
        *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    let mut totals: totals = totals {
        counts: forwarder_counts {
            rx: 0 as uint64_t,
            tx: 0,
            dropped: 0,
            rx_calls: 0,
            full_batches: 0,
        },
        seconds: 0.,
        cpu_seconds: 0.,
        tsc_cycles: 0,
        queues: 0,
        queue_counts: [forwarder_counts {
            rx: 0,
            tx: 0,
            dropped: 0,
            rx_calls: 0,
            full_batches: 0,
        }; 16],
        interrupts: false,
        waits: forwarder_waits {
            interrupts: 0,
            sleeps: 0,
        },
    };
    let mut missed: uint64_t = 0 as uint64_t;
    let mut held: sigset_t = __sigset_t { __val: [0; 16] };
    let mut status: ::core::ffi::c_int = EXIT_SUCCESS;
    let mut forwarder: *mut forwarder = forwarder_open_queues(
        (*options).devices[0 as ::core::ffi::c_int as usize],
        (*options).devices[1 as ::core::ffi::c_int as usize],
        (*options).common.batch,
        (*options).common.ring_size,
        (*options).queues,
        (*options).common.connect_timeout_ms,
        (*options).common.link_timeout_ms,
        &raw mut error as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
    );
    if forwarder.is_null() {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-fwd: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error as *mut ::core::ffi::c_char,
        );
        return EXIT_RUN_TIME;
    }
    hold_signals(&raw mut held);
    if forwarder_on_ordinary_pages(forwarder) {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-fwd: warning: too few huge pages of 2 MiB are free, using ordinary pages, which are slower; `make hugepages` reserves some\n\0"
                as *const u8 as *const ::core::ffi::c_char,
        );
    }
    if (*options).common.packets != UINT64_MAX as uint64_t && !in_threads(options) {
        forwarder_limit(forwarder, (*options).common.packets);
    }
    let mut run_as: Option<
        unsafe extern "C" fn(
            *mut forwarder,
            *const options,
            *const sigset_t,
            *mut totals,
            *mut ::core::ffi::c_char,
            size_t,
        ) -> ::core::ffi::c_int,
    > = Some(
        run
            as unsafe extern "C" fn(
                *mut forwarder,
                *const options,
                *const sigset_t,
                *mut totals,
                *mut ::core::ffi::c_char,
                size_t,
            ) -> ::core::ffi::c_int,
    );
    if in_threads(options) {
        run_as = Some(
            run_threads
                as unsafe extern "C" fn(
                    *mut forwarder,
                    *const options,
                    *const sigset_t,
                    *mut totals,
                    *mut ::core::ffi::c_char,
                    size_t,
                ) -> ::core::ffi::c_int,
        )
            as Option<
                unsafe extern "C" fn(
                    *mut forwarder,
                    *const options,
                    *const sigset_t,
                    *mut totals,
                    *mut ::core::ffi::c_char,
                    size_t,
                ) -> ::core::ffi::c_int,
            >;
    } else if (*options).interrupts {
        run_as = Some(
            run_with_interrupts
                as unsafe extern "C" fn(
                    *mut forwarder,
                    *const options,
                    *const sigset_t,
                    *mut totals,
                    *mut ::core::ffi::c_char,
                    size_t,
                ) -> ::core::ffi::c_int,
        )
            as Option<
                unsafe extern "C" fn(
                    *mut forwarder,
                    *const options,
                    *const sigset_t,
                    *mut totals,
                    *mut ::core::ffi::c_char,
                    size_t,
                ) -> ::core::ffi::c_int,
            >;
    }
    let mut ran: ::core::ffi::c_int = run_as
        .expect(
            "non-null function pointer",
        )(
        forwarder,
        options,
        &raw mut held,
        &raw mut totals,
        &raw mut error as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
    );
    if ran == 0 as ::core::ffi::c_int {
        ran = forwarder_read_missed(
            forwarder,
            &raw mut missed,
            &raw mut error as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        );
    }
    if ran != 0 as ::core::ffi::c_int {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-fwd: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if forwarder_close(
        forwarder,
        &raw mut error as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
    ) != 0 as ::core::ffi::c_int && status == EXIT_SUCCESS
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-fwd: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error as *mut ::core::ffi::c_char,
        );
        status = EXIT_RUN_TIME;
    }
    if (*options).common.json.is_null() && status == EXIT_SUCCESS {
        totals_print(&raw mut totals, missed);
    }
    if json_fd >= 0 as ::core::ffi::c_int
        && totals_write(json_fd, &raw mut totals) != 0 as ::core::ffi::c_int
    {
        dprintf(
            STDERR_FILENO,
            b"ixgbe-fwd: %s: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
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
        queues: 1 as uint32_t,
        cpus: cpu_list {
            count: 0,
            cpus: [0; 16],
        },
        pipeline: false,
        interrupts: false,
        interrupt_interval_us: FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US as uint32_t,
        devices: [::core::ptr::null::<::core::ffi::c_char>(); 2],
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
        forward_until_end(&raw mut options, json_fd)
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
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct pipeline_threads {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct queue_threads {
    _opaque: [u8; 0],
}
