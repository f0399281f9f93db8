extern "C" {
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
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
    fn forwarder_open_with(
        device_a: *const ::core::ffi::c_char,
        device_b: *const ::core::ffi::c_char,
        options: *const forwarder_options,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> *mut forwarder;
    fn forwarder_limit(forwarder: *mut forwarder, packets: uint64_t);
    fn forwarder_on_ordinary_pages(forwarder: *const forwarder) -> bool;
    fn forwarder_turn(forwarder: *mut forwarder) -> uint32_t;
    fn forwarder_tuned_turn(forwarder: *mut forwarder) -> uint32_t;
    fn forwarder_agent_turn(forwarder: *mut forwarder) -> uint32_t;
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
    fn forwarder_close(
        forwarder: *mut forwarder,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn forwarder_is_trapped(forwarder: *const forwarder) -> bool;
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
    fn forwarder_read_missed(
        forwarder: *mut forwarder,
        missed: *mut uint64_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn cpu_list_parse(
        text: *const ::core::ffi::c_char,
        list: *mut cpu_list,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn forward_in_pipeline(
        forwarder: *mut forwarder,
        queues: uint32_t,
        cpus: *const cpu_list,
        packets: uint64_t,
        watch: *const watch,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn forward_in_threads(
        forwarder: *mut forwarder,
        path: uint32_t,
        queues: uint32_t,
        cpus: *const cpu_list,
        packets: uint64_t,
        watch: *const watch,
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
    fn turns_per_look(is_trapped: bool) -> uint32_t;
    fn warn_of_ordinary_pages(program_0: *const program);
    fn run_open(run: *mut run) -> ::core::ffi::c_int;
    fn run_start(run: *mut run);
    fn run_look(run: *mut run, nanoseconds: uint64_t) -> bool;
    fn run_end(run: *mut run);
    fn run_check(run: *mut run, result: ::core::ffi::c_int, error: *const error);
    fn run_close(run: *mut run) -> ::core::ffi::c_int;
    fn strcmp(
        __s1: *const ::core::ffi::c_char,
        __s2: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
}
pub type size_t = usize;
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
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type forwarder_path = ::core::ffi::c_uint;
pub const FORWARDER_PATH_AGENT: forwarder_path = 3;
pub const FORWARDER_PATH_TUNED: forwarder_path = 2;
pub const FORWARDER_PATH_STRIDE: forwarder_path = 1;
pub const FORWARDER_PATH_DEFAULT: forwarder_path = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_options {
    pub batch: uint32_t,
    pub ring_size: uint32_t,
    pub queues: uint32_t,
    pub path: uint32_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
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
pub struct forwarder_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
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
pub struct __sigset_t {
    pub __val: [::core::ffi::c_ulong; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_list {
    pub count: uint32_t,
    pub cpus: [uint32_t; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct watch {
    pub goes_on: Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> bool>,
    pub state: *mut ::core::ffi::c_void,
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
pub struct device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
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
pub struct options {
    pub common: common_options,
    pub path: uint32_t,
    pub queues: uint32_t,
    pub cpus: cpu_list,
    pub pipeline: bool,
    pub interrupts: bool,
    pub interrupt_interval_us: uint32_t,
    pub devices: [*const ::core::ffi::c_char; 2],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct load {
    pub busy: bool,
    pub since: uint64_t,
    pub received: uint64_t,
}
pub const ERROR_SIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const FORWARDER_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const FORWARDER_MAX_INTERRUPT_INTERVAL_US: ::core::ffi::c_int = 1022
    as ::core::ffi::c_int;
pub const FORWARDER_DEFAULT_INTERRUPT_INTERVAL_US: ::core::ffi::c_int = 50
    as ::core::ffi::c_int;
pub const STDOUT_FILENO: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const EMPTY_TURNS: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const SLEEP_MS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const BUSY_PACKETS: ::core::ffi::c_int = 200 as ::core::ffi::c_int;
pub const BUSY_NANOSECONDS: ::core::ffi::c_ulonglong = 1000000
    as ::core::ffi::c_ulonglong;
pub const LOOK_NANOSECONDS: ::core::ffi::c_ulonglong = 20000000
    as ::core::ffi::c_ulonglong;
static mut usage: [::core::ffi::c_char; 705] = unsafe {
    ::core::mem::transmute::<
        [u8; 705],
        [::core::ffi::c_char; 705],
    >(
        *b"usage: ixgbe-fwd [--batch N] [--ring-size N] [--packets N | --duration S]\n                 [--path PATH] [--queues N] [--cpus LIST] [--pipeline]\n                 [--interrupts] [--interrupt-interval US]\n                 [--connect-timeout S] [--link-timeout S] [--json FILE] DEVICE DEVICE\n\nForwards packets between two devices, both ways, and changes one byte of every packet.\nEnds on SIGINT or SIGTERM, after N packets, or after S seconds.\nPrints the rates of each second. Without --json, it prints at the end how many packets\nwere received, sent, dropped (no room in the TX ring) and missed (no RX descriptor).\n\n  DEVICE               0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)\n\0",
    )
};
static mut program: program = unsafe {
    program {
        name: b"ixgbe-fwd\0" as *const u8 as *const ::core::ffi::c_char,
        usage: &raw const usage as *const ::core::ffi::c_char,
        arguments: 2 as ::core::ffi::c_int,
        needs: b"two devices are needed\0" as *const u8 as *const ::core::ffi::c_char,
    }
};
unsafe extern "C" fn in_threads(mut options: *const options) -> bool {
    return (*options).queues > 1 as uint32_t || (*options).cpus.count > 0 as uint32_t
        || (*options).pipeline as ::core::ffi::c_int != 0;
}
unsafe extern "C" fn set_path(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    static mut paths: [*const ::core::ffi::c_char; 4] = [
        b"default\0" as *const u8 as *const ::core::ffi::c_char,
        b"stride\0" as *const u8 as *const ::core::ffi::c_char,
        b"tuned\0" as *const u8 as *const ::core::ffi::c_char,
        b"agent\0" as *const u8 as *const ::core::ffi::c_char,
    ];
    let mut i: uint32_t = 0 as uint32_t;
    while (i as usize)
        < (::core::mem::size_of::<[*const ::core::ffi::c_char; 4]>() as usize)
            .wrapping_div(::core::mem::size_of::<*const ::core::ffi::c_char>() as usize)
    {
        if strcmp(text, paths[i as usize]) == 0 as ::core::ffi::c_int {
            *((*row).place as *mut uint32_t) = i;
            return true_0 != 0;
        }
        i = i.wrapping_add(1);
    }
    return false_0 != 0;
}
unsafe extern "C" fn parse_options(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
    mut options: *mut options,
) -> ::core::ffi::c_int {
    let mut error: error = error { text: [0; 1024] };
    let mut cpus: *const ::core::ffi::c_char = ::core::ptr::null::<
        ::core::ffi::c_char,
    >();
    let rows: [option_row; 14] = [
        option_row {
            name: b"path\0" as *const u8 as *const ::core::ffi::c_char,
            value: b"PATH\0" as *const u8 as *const ::core::ffi::c_char,
            help: b"how packets travel: default; stride, with buffers 2112 bytes apart in\nplace of 2048; tuned, four at a time, in exchange for sent ones; or\nagent, with one buffer for each descriptor for ever, which drops none\0"
                as *const u8 as *const ::core::ffi::c_char,
            set: Some(
                set_path
                    as unsafe extern "C" fn(
                        *const option_row,
                        *const ::core::ffi::c_char,
                    ) -> bool,
            ),
            place: &raw mut (*options).path as *mut ::core::ffi::c_void,
            must_be: b"default, stride, tuned or agent\0" as *const u8
                as *const ::core::ffi::c_char,
            low: 0 as uint64_t,
            high: 0 as uint64_t,
        },
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
        && cpu_list_parse(cpus, &raw mut (*options).cpus, &raw mut error)
            != 0 as ::core::ffi::c_int
    {
        return usage_error(
            &raw const program,
            b"--cpus\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut error.text as *mut ::core::ffi::c_char,
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
    if (*options).path >= FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t
        && ((*options).pipeline as ::core::ffi::c_int != 0
            || (*options).interrupts as ::core::ffi::c_int != 0)
    {
        return usage_error(
            &raw const program,
            b"--path tuned and agent exclude --pipeline and --interrupts, which need a pool\0"
                as *const u8 as *const ::core::ffi::c_char,
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
unsafe extern "C" fn read_stats(
    mut owner: *mut ::core::ffi::c_void,
    mut device: uint32_t,
    mut stats: *mut device_stats,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut read: forwarder_device_stats = forwarder_device_stats {
        rx_packets: 0 as uint64_t,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut result: ::core::ffi::c_int = forwarder_device_stats(
        owner as *mut forwarder,
        device,
        &raw mut read,
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ERROR_SIZE as size_t,
    );
    *stats = device_stats {
        rx_packets: read.rx_packets,
        rx_bytes: read.rx_bytes,
        tx_packets: read.tx_packets,
        tx_bytes: read.tx_bytes,
    };
    return result;
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
#[inline(never)]
unsafe extern "C" fn tuned_turns(
    mut forwarder: *mut forwarder,
    mut turns: uint32_t,
    mut packets: uint64_t,
) -> uint64_t {
    let mut received: uint64_t = 0 as uint64_t;
    while turns > 0 as uint32_t && received < packets {
        received = received.wrapping_add(forwarder_tuned_turn(forwarder) as uint64_t);
        turns = turns.wrapping_sub(1);
    }
    return received;
}
#[inline(never)]
unsafe extern "C" fn agent_turns(
    mut forwarder: *mut forwarder,
    mut turns: uint32_t,
    mut packets: uint64_t,
) -> uint64_t {
    let mut received: uint64_t = 0 as uint64_t;
    while turns > 0 as uint32_t && received < packets {
        received = received.wrapping_add(forwarder_agent_turn(forwarder) as uint64_t);
        turns = turns.wrapping_sub(1);
    }
    return received;
}
unsafe extern "C" fn forward(
    mut run: *mut run,
    mut forwarder: *mut forwarder,
    mut path: uint32_t,
) {
    let take_turns: Option<
        unsafe extern "C" fn(*mut forwarder, uint32_t, uint64_t) -> uint64_t,
    > = if path == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t {
        Some(
            tuned_turns
                as unsafe extern "C" fn(*mut forwarder, uint32_t, uint64_t) -> uint64_t,
        )
    } else if path == FORWARDER_PATH_AGENT as ::core::ffi::c_int as uint32_t {
        Some(
            agent_turns
                as unsafe extern "C" fn(*mut forwarder, uint32_t, uint64_t) -> uint64_t,
        )
    } else {
        Some(
            forward_turns
                as unsafe extern "C" fn(*mut forwarder, uint32_t, uint64_t) -> uint64_t,
        )
    };
    let mut turns: uint32_t = turns_per_look(forwarder_is_trapped(forwarder));
    loop {
        (*run).left = (*run)
            .left
            .wrapping_sub(
                take_turns
                    .expect("non-null function pointer")(forwarder, turns, (*run).left),
            );
        if !((*run).left > 0 as uint64_t
            && run_look(run, 0 as uint64_t) as ::core::ffi::c_int != 0)
        {
            break;
        }
    };
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
    (*load).received = (*load).received.wrapping_add(received);
    if period as ::core::ffi::c_ulonglong >= BUSY_NANOSECONDS {
        (*load).busy = ((*load).received as ::core::ffi::c_ulonglong)
            .wrapping_mul(BUSY_NANOSECONDS)
            > (BUSY_PACKETS as uint64_t).wrapping_mul(period)
                as ::core::ffi::c_ulonglong;
        (*load).since = time;
        (*load).received = 0 as uint64_t;
    }
}
unsafe extern "C" fn wait_for_packet(
    mut run: *mut run,
    mut forwarder: *mut forwarder,
) -> ::core::ffi::c_int {
    let mut left_ms: uint64_t = (*(*run).options)
        .duration
        .wrapping_sub((*run).time.wrapping_sub((*run).start))
        .wrapping_div(1000000 as uint64_t);
    return forwarder_wait(
        forwarder,
        if left_ms < SLEEP_MS as uint64_t {
            left_ms as uint32_t
        } else {
            SLEEP_MS as uint32_t
        },
        &raw mut (*run).error.text as *mut ::core::ffi::c_char,
        ERROR_SIZE as size_t,
    );
}
unsafe extern "C" fn forward_with_interrupts(
    mut run: *mut run,
    mut forwarder: *mut forwarder,
    mut interval_us: uint32_t,
) {
    let mut load: load = load {
        busy: false,
        since: (*run).start,
        received: 0,
    };
    let mut turns: uint32_t = turns_per_look(forwarder_is_trapped(forwarder));
    let mut idle: bool = false_0 != 0;
    (*run).result = forwarder_use_interrupts(
        forwarder,
        interval_us,
        &raw mut (*run).error.text as *mut ::core::ffi::c_char,
        ERROR_SIZE as size_t,
    );
    while (*run).result == 0 as ::core::ffi::c_int {
        let mut received: uint64_t = forward_until_idle(
            forwarder,
            turns,
            (*run).left,
            &raw mut idle,
        );
        (*run).left = (*run).left.wrapping_sub(received);
        if (*run).left == 0 as uint64_t || !run_look(run, 0 as uint64_t) {
            break;
        }
        load_update(&raw mut load, (*run).time, received);
        if idle as ::core::ffi::c_int != 0 && !load.busy {
            (*run).result = wait_for_packet(run, forwarder);
        }
    }
}
unsafe extern "C" fn threads_go_on(mut run: *mut ::core::ffi::c_void) -> bool {
    return run_look(run as *mut run, LOOK_NANOSECONDS as uint64_t);
}
unsafe extern "C" fn forward_with_threads(
    mut run: *mut run,
    mut forwarder: *mut forwarder,
    mut options: *const options,
) {
    let watch: watch = watch {
        goes_on: Some(
            threads_go_on as unsafe extern "C" fn(*mut ::core::ffi::c_void) -> bool,
        ),
        state: run as *mut ::core::ffi::c_void,
    };
    let mut error: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    if forwarder_is_trapped(forwarder) {
        snprintf(
            &raw mut error.text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the queues cannot have threads of their own, because a doorbell is not mapped; start the software NIC with --mmio shared\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*run).devices[0 as ::core::ffi::c_int as usize],
        );
        result = -(1 as ::core::ffi::c_int);
    } else if (*options).pipeline {
        result = forward_in_pipeline(
            forwarder,
            (*options).queues,
            &raw const (*options).cpus,
            (*options).common.packets,
            &raw const watch,
            &raw mut error,
        );
    } else {
        result = forward_in_threads(
            forwarder,
            (*options).path,
            (*options).queues,
            &raw const (*options).cpus,
            (*options).common.packets,
            &raw const watch,
            &raw mut error,
        );
    }
    run_check(run, result, &raw mut error);
}
unsafe extern "C" fn write_counts(
    mut file: *mut FILE,
    mut counts: *const forwarder_counts,
) {
    fprintf(
        file,
        b"\"rx\":%lu,\"tx\":%lu,\"dropped\":%lu,\"rx_calls\":%lu,\"full_batches\":%lu\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*counts).rx,
        (*counts).tx,
        (*counts).dropped,
        (*counts).rx_calls,
        (*counts).full_batches,
    );
}
unsafe extern "C" fn write_totals(
    mut run: *const run,
    mut forwarder: *const forwarder,
    mut options: *const options,
) {
    let mut file: *mut FILE = (*run).json;
    let mut counts: forwarder_counts = forwarder_counts {
        rx: 0,
        tx: 0,
        dropped: 0,
        rx_calls: 0,
        full_batches: 0,
    };
    let mut waits: forwarder_waits = forwarder_waits {
        interrupts: 0,
        sleeps: 0,
    };
    forwarder_read_counts(forwarder, &raw mut counts);
    fprintf(file, b"{\0" as *const u8 as *const ::core::ffi::c_char);
    write_counts(file, &raw mut counts);
    fprintf(
        file,
        b",\"seconds\":%.9f,\"cpu_seconds\":%.9f,\"tsc_cycles\":%lu\0" as *const u8
            as *const ::core::ffi::c_char,
        (*run).seconds,
        (*run).cpu_seconds,
        (*run).tsc_cycles,
    );
    if (*options).interrupts {
        forwarder_read_waits(forwarder, &raw mut waits);
        fprintf(
            file,
            b",\"interrupts\":%lu,\"sleeps\":%lu\0" as *const u8
                as *const ::core::ffi::c_char,
            waits.interrupts,
            waits.sleeps,
        );
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*options).queues && (*options).queues > 1 as uint32_t {
        forwarder_read_queue_counts(forwarder, i, &raw mut counts);
        fprintf(
            file,
            b"%s{\"queue\":%u,\0" as *const u8 as *const ::core::ffi::c_char,
            if i == 0 as uint32_t {
                b",\"queues\":[\0" as *const u8 as *const ::core::ffi::c_char
            } else {
                b",\0" as *const u8 as *const ::core::ffi::c_char
            },
            i,
        );
        write_counts(file, &raw mut counts);
        fprintf(file, b"}\0" as *const u8 as *const ::core::ffi::c_char);
        i = i.wrapping_add(1);
    }
    fprintf(
        file,
        if (*options).queues > 1 as uint32_t {
            b"]}\n\0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"}\n\0" as *const u8 as *const ::core::ffi::c_char
        },
    );
}
unsafe extern "C" fn forward_until_end(
    mut run: *mut run,
    mut forwarder: *mut forwarder,
    mut options: *const options,
) {
    let mut counts: forwarder_counts = forwarder_counts {
        rx: 0,
        tx: 0,
        dropped: 0,
        rx_calls: 0,
        full_batches: 0,
    };
    let mut missed: uint64_t = 0 as uint64_t;
    let mut error: error = error { text: [0; 1024] };
    if forwarder_on_ordinary_pages(forwarder) {
        warn_of_ordinary_pages(&raw const program);
    }
    if (*options).common.packets != UINT64_MAX as uint64_t && !in_threads(options) {
        forwarder_limit(forwarder, (*options).common.packets);
    }
    run_start(run);
    if in_threads(options) {
        forward_with_threads(run, forwarder, options);
    } else if (*options).interrupts {
        forward_with_interrupts(run, forwarder, (*options).interrupt_interval_us);
    } else {
        forward(run, forwarder, (*options).path);
    }
    run_end(run);
    if (*run).result == 0 as ::core::ffi::c_int {
        (*run).result = forwarder_read_missed(
            forwarder,
            &raw mut missed,
            &raw mut (*run).error.text as *mut ::core::ffi::c_char,
            ERROR_SIZE as size_t,
        );
    }
    forwarder_read_counts(forwarder, &raw mut counts);
    if !(*run).json.is_null() {
        write_totals(run, forwarder, options);
    }
    run_check(
        run,
        forwarder_close(
            forwarder,
            &raw mut error.text as *mut ::core::ffi::c_char,
            ERROR_SIZE as size_t,
        ),
        &raw mut error,
    );
    if (*run).json.is_null() && (*run).result == 0 as ::core::ffi::c_int {
        dprintf(
            STDOUT_FILENO,
            b"both devices: received %lu, sent %lu, dropped %lu, missed %lu\n\0"
                as *const u8 as *const ::core::ffi::c_char,
            counts.rx,
            counts.tx,
            counts.dropped,
            missed,
        );
    }
}
unsafe fn main_0(
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut options: options = options {
        common: common_options_default(),
        path: 0,
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
    let mut run: run = run {
        program: &raw const program,
        options: &raw mut options.common,
        result: 0,
        error: error { text: [0; 1024] },
        json: ::core::ptr::null_mut::<FILE>(),
        device_count: 2 as uint32_t,
        devices: [::core::ptr::null::<::core::ffi::c_char>(); 2],
        read_stats: Some(
            read_stats
                as unsafe extern "C" fn(
                    *mut ::core::ffi::c_void,
                    uint32_t,
                    *mut device_stats,
                    *mut error,
                ) -> ::core::ffi::c_int,
        ),
        owner: ::core::ptr::null_mut::<::core::ffi::c_void>(),
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
    let mut status: ::core::ffi::c_int = parse_options(argc, argv, &raw mut options);
    if status >= 0 as ::core::ffi::c_int {
        return status;
    }
    run.devices[0 as ::core::ffi::c_int as usize] = options
        .devices[0 as ::core::ffi::c_int as usize];
    run.devices[1 as ::core::ffi::c_int as usize] = options
        .devices[1 as ::core::ffi::c_int as usize];
    if run_open(&raw mut run) == 0 as ::core::ffi::c_int {
        let how: forwarder_options = forwarder_options {
            batch: options.common.batch,
            ring_size: options.common.ring_size,
            queues: options.queues,
            path: options.path,
            connect_timeout_ms: options.common.connect_timeout_ms,
            link_timeout_ms: options.common.link_timeout_ms,
        };
        let mut forwarder: *mut forwarder = forwarder_open_with(
            run.devices[0 as ::core::ffi::c_int as usize],
            run.devices[1 as ::core::ffi::c_int as usize],
            &raw const how,
            &raw mut run.error.text as *mut ::core::ffi::c_char,
            ERROR_SIZE as size_t,
        );
        run.result = if forwarder.is_null() {
            -(1 as ::core::ffi::c_int)
        } else {
            0 as ::core::ffi::c_int
        };
        run.owner = forwarder as *mut ::core::ffi::c_void;
        if !forwarder.is_null() {
            forward_until_end(&raw mut run, forwarder, &raw mut options);
        }
    }
    return run_close(&raw mut run);
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
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
