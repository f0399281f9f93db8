use ::libc;
extern "C" {
    fn fclose(__stream: *mut FILE) -> ::core::ffi::c_int;
    fn fopen(
        __filename: *const ::core::ffi::c_char,
        __modes: *const ::core::ffi::c_char,
    ) -> *mut FILE;
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
    fn ferror(__stream: *mut FILE) -> ::core::ffi::c_int;
    fn exit_status(
        program: *const program,
        result: ::core::ffi::c_int,
        error: *const error,
    ) -> ::core::ffi::c_int;
    fn signal(__sig: ::core::ffi::c_int, __handler: __sighandler_t) -> __sighandler_t;
    fn sigemptyset(__set: *mut sigset_t) -> ::core::ffi::c_int;
    fn sigaddset(
        __set: *mut sigset_t,
        __signo: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn sigprocmask(
        __how: ::core::ffi::c_int,
        __set: *const sigset_t,
        __oset: *mut sigset_t,
    ) -> ::core::ffi::c_int;
    fn sigtimedwait(
        __set: *const sigset_t,
        __info: *mut siginfo_t,
        __timeout: *const timespec,
    ) -> ::core::ffi::c_int;
    fn tsc_read() -> uint64_t;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn clock_gettime(__clock_id: clockid_t, __tp: *mut timespec) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __uid_t = ::core::ffi::c_uint;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
pub type __pid_t = ::core::ffi::c_int;
pub type __clock_t = ::core::ffi::c_long;
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
pub struct device_stats {
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
pub type sigset_t = __sigset_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union sigval {
    pub sival_int: ::core::ffi::c_int,
    pub sival_ptr: *mut ::core::ffi::c_void,
}
pub type __sigval_t = sigval;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct siginfo_t {
    pub si_signo: ::core::ffi::c_int,
    pub si_errno: ::core::ffi::c_int,
    pub si_code: ::core::ffi::c_int,
    pub __pad0: ::core::ffi::c_int,
    pub _sifields: C2RustUnnamed,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union C2RustUnnamed {
    pub _pad: [::core::ffi::c_int; 28],
    pub _kill: C2RustUnnamed_8,
    pub _timer: C2RustUnnamed_7,
    pub _rt: C2RustUnnamed_6,
    pub _sigchld: C2RustUnnamed_5,
    pub _sigfault: C2RustUnnamed_2,
    pub _sigpoll: C2RustUnnamed_1,
    pub _sigsys: C2RustUnnamed_0,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_0 {
    pub _call_addr: *mut ::core::ffi::c_void,
    pub _syscall: ::core::ffi::c_int,
    pub _arch: ::core::ffi::c_uint,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_1 {
    pub si_band: ::core::ffi::c_long,
    pub si_fd: ::core::ffi::c_int,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_2 {
    pub si_addr: *mut ::core::ffi::c_void,
    pub si_addr_lsb: ::core::ffi::c_short,
    pub _bounds: C2RustUnnamed_3,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union C2RustUnnamed_3 {
    pub _addr_bnd: C2RustUnnamed_4,
    pub _pkey: __uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_4 {
    pub _lower: *mut ::core::ffi::c_void,
    pub _upper: *mut ::core::ffi::c_void,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_5 {
    pub si_pid: __pid_t,
    pub si_uid: __uid_t,
    pub si_status: ::core::ffi::c_int,
    pub si_utime: __clock_t,
    pub si_stime: __clock_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_6 {
    pub si_pid: __pid_t,
    pub si_uid: __uid_t,
    pub si_sigval: __sigval_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_7 {
    pub si_tid: ::core::ffi::c_int,
    pub si_overrun: ::core::ffi::c_int,
    pub si_sigval: __sigval_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_8 {
    pub si_pid: __pid_t,
    pub si_uid: __uid_t,
}
pub type __sighandler_t = Option<unsafe extern "C" fn(::core::ffi::c_int) -> ()>;
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
pub type clockid_t = __clockid_t;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const STDOUT_FILENO: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const SIGINT: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const SIGTERM: ::core::ffi::c_int = 15 as ::core::ffi::c_int;
pub const SIGPIPE: ::core::ffi::c_int = 13 as ::core::ffi::c_int;
pub const SIG_BLOCK: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const CLOCK_MONOTONIC: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const CLOCK_PROCESS_CPUTIME_ID: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const WIRE_OVERHEAD_BYTES: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const MIN_FRAME_BYTES: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
unsafe extern "C" fn clock_ns(mut clock: clockid_t) -> uint64_t {
    let mut now: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(clock, &raw mut now);
    return (now.tv_sec as uint64_t as ::core::ffi::c_ulonglong)
        .wrapping_mul(NANOSECONDS)
        .wrapping_add(now.tv_nsec as uint64_t as ::core::ffi::c_ulonglong) as uint64_t;
}
#[no_mangle]
pub unsafe extern "C" fn now_ns() -> uint64_t {
    return clock_ns(CLOCK_MONOTONIC);
}
#[no_mangle]
pub unsafe extern "C" fn run_open(mut run: *mut run) -> ::core::ffi::c_int {
    let mut path: *const ::core::ffi::c_char = (*(*run).options).json;
    if !path.is_null() {
        (*run).json = fopen(path, b"we\0" as *const u8 as *const ::core::ffi::c_char)
            as *mut FILE;
    }
    if !path.is_null() && (*run).json.is_null() {
        snprintf(
            &raw mut (*run).error.text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            path,
            strerror(*__errno_location()),
        );
        (*run).result = -(1 as ::core::ffi::c_int);
    }
    return (*run).result;
}
#[no_mangle]
pub unsafe extern "C" fn run_start(mut run: *mut run) {
    sigemptyset(&raw mut (*run).held);
    sigaddset(&raw mut (*run).held, SIGINT);
    sigaddset(&raw mut (*run).held, SIGTERM);
    sigprocmask(SIG_BLOCK, &raw mut (*run).held, ::core::ptr::null_mut::<sigset_t>());
    signal(
        SIGPIPE,
        ::core::mem::transmute::<
            ::libc::intptr_t,
            __sighandler_t,
        >(1 as ::core::ffi::c_int as ::libc::intptr_t),
    );
    (*run).left = (*(*run).options).packets;
    (*run).start = now_ns();
    (*run).time = (*run).start;
    (*run).printed = (*run).start;
    (*run).cpu_start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    (*run).tsc_start = tsc_read();
}
unsafe extern "C" fn rates_print(
    mut device: *const ::core::ffi::c_char,
    mut before: *const device_stats,
    mut now: *const device_stats,
    mut seconds: ::core::ffi::c_double,
) {
    let mut rx: ::core::ffi::c_double = (*now)
        .rx_packets
        .wrapping_sub((*before).rx_packets) as ::core::ffi::c_double;
    let mut tx: ::core::ffi::c_double = (*now)
        .tx_packets
        .wrapping_sub((*before).tx_packets) as ::core::ffi::c_double;
    let mut rx_bytes: ::core::ffi::c_double = (*now)
        .rx_bytes
        .wrapping_sub((*before).rx_bytes) as ::core::ffi::c_double;
    if rx_bytes < rx * MIN_FRAME_BYTES as ::core::ffi::c_double {
        rx_bytes = rx * MIN_FRAME_BYTES as ::core::ffi::c_double;
    }
    let mut rx_bits: ::core::ffi::c_double = (rx_bytes
        + rx * WIRE_OVERHEAD_BYTES as ::core::ffi::c_double)
        * 8 as ::core::ffi::c_int as ::core::ffi::c_double;
    let mut tx_bits: ::core::ffi::c_double = ((*now)
        .tx_bytes
        .wrapping_sub((*before).tx_bytes) as ::core::ffi::c_double
        + tx * WIRE_OVERHEAD_BYTES as ::core::ffi::c_double)
        * 8 as ::core::ffi::c_int as ::core::ffi::c_double;
    dprintf(
        STDOUT_FILENO,
        b"%s: RX %.2f Mpps %.2f Gbit/s, TX %.2f Mpps %.2f Gbit/s\n\0" as *const u8
            as *const ::core::ffi::c_char,
        device,
        rx / seconds / 1e6f64,
        rx_bits / seconds / 1e9f64,
        tx / seconds / 1e6f64,
        tx_bits / seconds / 1e9f64,
    );
}
#[no_mangle]
pub unsafe extern "C" fn run_look(mut run: *mut run, mut nanoseconds: uint64_t) -> bool {
    let wait: timespec = timespec {
        tv_sec: 0,
        tv_nsec: nanoseconds as __syscall_slong_t,
    };
    let mut ended: bool = sigtimedwait(
        &raw mut (*run).held,
        ::core::ptr::null_mut::<siginfo_t>(),
        &raw const wait,
    ) > 0 as ::core::ffi::c_int;
    (*run).time = now_ns();
    if ended as ::core::ffi::c_int != 0
        || (*run).time.wrapping_sub((*run).start) >= (*(*run).options).duration
    {
        return false_0 != 0;
    }
    if ((*run).time.wrapping_sub((*run).printed) as ::core::ffi::c_ulonglong)
        < NANOSECONDS
    {
        return true_0 != 0;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*run).device_count && (*run).result == 0 as ::core::ffi::c_int {
        let mut now: device_stats = device_stats {
            rx_packets: 0,
            rx_bytes: 0,
            tx_packets: 0,
            tx_bytes: 0,
        };
        (*run).result = (*run)
            .read_stats
            .expect(
                "non-null function pointer",
            )((*run).owner, i, &raw mut now, &raw mut (*run).error);
        if (*run).result == 0 as ::core::ffi::c_int {
            rates_print(
                (*run).devices[i as usize],
                (&raw mut (*run).before as *mut device_stats).offset(i as isize)
                    as *mut device_stats,
                &raw mut now,
                (*run).time.wrapping_sub((*run).printed) as ::core::ffi::c_double
                    / NANOSECONDS as ::core::ffi::c_double,
            );
            (*run).before[i as usize] = now;
        }
        i = i.wrapping_add(1);
    }
    (*run).printed = (*run).time;
    return (*run).result == 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn run_end(mut run: *mut run) {
    let mut cpu_time: uint64_t = clock_ns(CLOCK_PROCESS_CPUTIME_ID)
        .wrapping_sub((*run).cpu_start);
    (*run).tsc_cycles = tsc_read().wrapping_sub((*run).tsc_start);
    (*run).seconds = now_ns().wrapping_sub((*run).start) as ::core::ffi::c_double
        / NANOSECONDS as ::core::ffi::c_double;
    (*run).cpu_seconds = cpu_time as ::core::ffi::c_double
        / NANOSECONDS as ::core::ffi::c_double;
}
#[no_mangle]
pub unsafe extern "C" fn run_check(
    mut run: *mut run,
    mut result: ::core::ffi::c_int,
    mut error: *const error,
) {
    if result != 0 as ::core::ffi::c_int && (*run).result == 0 as ::core::ffi::c_int {
        (*run).result = -(1 as ::core::ffi::c_int);
        (*run).error = *error;
    }
}
#[no_mangle]
pub unsafe extern "C" fn run_close(mut run: *mut run) -> ::core::ffi::c_int {
    let mut error: error = error { text: [0; 1024] };
    if !(*run).json.is_null() {
        let mut failed: bool = ferror((*run).json) != 0 as ::core::ffi::c_int;
        if fclose((*run).json) != 0 as ::core::ffi::c_int
            || failed as ::core::ffi::c_int != 0
        {
            snprintf(
                &raw mut error.text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%.900s: %s\0" as *const u8 as *const ::core::ffi::c_char,
                (*(*run).options).json,
                strerror(*__errno_location()),
            );
            run_check(run, -(1 as ::core::ffi::c_int), &raw mut error);
        }
    }
    return exit_status((*run).program, (*run).result, &raw mut (*run).error);
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
