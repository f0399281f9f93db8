extern "C" {
    fn dprintf(
        __fd: ::core::ffi::c_int,
        __fmt: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn json_close(
        fd: ::core::ffi::c_int,
        written: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
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
pub const STDOUT_FILENO: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
unsafe extern "C" fn write_counts(
    mut fd: ::core::ffi::c_int,
    mut counts: *const forwarder_counts,
) -> ::core::ffi::c_int {
    return dprintf(
        fd,
        b"\"rx\":%lu,\"tx\":%lu,\"dropped\":%lu,\"rx_calls\":%lu,\"full_batches\":%lu\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*counts).rx,
        (*counts).tx,
        (*counts).dropped,
        (*counts).rx_calls,
        (*counts).full_batches,
    );
}
unsafe extern "C" fn write_queues(
    mut fd: ::core::ffi::c_int,
    mut totals: *const totals,
) -> ::core::ffi::c_int {
    let mut written: ::core::ffi::c_int = if (*totals).queues > 1 as uint32_t {
        dprintf(fd, b",\"queues\":[\0" as *const u8 as *const ::core::ffi::c_char)
    } else {
        0 as ::core::ffi::c_int
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*totals).queues && (*totals).queues > 1 as uint32_t
        && written >= 0 as ::core::ffi::c_int
    {
        written = dprintf(
            fd,
            b"%s{\"queue\":%u,\0" as *const u8 as *const ::core::ffi::c_char,
            if i > 0 as uint32_t {
                b",\0" as *const u8 as *const ::core::ffi::c_char
            } else {
                b"\0" as *const u8 as *const ::core::ffi::c_char
            },
            i,
        );
        if written >= 0 as ::core::ffi::c_int {
            written = write_counts(
                fd,
                (&raw const (*totals).queue_counts as *const forwarder_counts)
                    .offset(i as isize) as *const forwarder_counts,
            );
        }
        if written >= 0 as ::core::ffi::c_int {
            written = dprintf(
                fd,
                b"}%s\0" as *const u8 as *const ::core::ffi::c_char,
                if i.wrapping_add(1 as uint32_t) == (*totals).queues {
                    b"]\0" as *const u8 as *const ::core::ffi::c_char
                } else {
                    b"\0" as *const u8 as *const ::core::ffi::c_char
                },
            );
        }
        i = i.wrapping_add(1);
    }
    return written;
}
#[no_mangle]
pub unsafe extern "C" fn totals_print(mut totals: *const totals, mut missed: uint64_t) {
    dprintf(
        STDOUT_FILENO,
        b"both devices: received %lu, sent %lu, dropped %lu, missed %lu\n\0" as *const u8
            as *const ::core::ffi::c_char,
        (*totals).counts.rx,
        (*totals).counts.tx,
        (*totals).counts.dropped,
        missed,
    );
}
#[no_mangle]
pub unsafe extern "C" fn totals_write(
    mut fd: ::core::ffi::c_int,
    mut totals: *const totals,
) -> ::core::ffi::c_int {
    let mut written: ::core::ffi::c_int = dprintf(
        fd,
        b"{\0" as *const u8 as *const ::core::ffi::c_char,
    );
    if written >= 0 as ::core::ffi::c_int {
        written = write_counts(fd, &raw const (*totals).counts);
    }
    if written >= 0 as ::core::ffi::c_int {
        written = dprintf(
            fd,
            b",\"seconds\":%.9f,\"cpu_seconds\":%.9f,\"tsc_cycles\":%lu\0" as *const u8
                as *const ::core::ffi::c_char,
            (*totals).seconds,
            (*totals).cpu_seconds,
            (*totals).tsc_cycles,
        );
    }
    if written >= 0 as ::core::ffi::c_int
        && (*totals).interrupts as ::core::ffi::c_int != 0
    {
        written = dprintf(
            fd,
            b",\"interrupts\":%lu,\"sleeps\":%lu\0" as *const u8
                as *const ::core::ffi::c_char,
            (*totals).waits.interrupts,
            (*totals).waits.sleeps,
        );
    }
    if written >= 0 as ::core::ffi::c_int {
        written = write_queues(fd, totals);
    }
    if written >= 0 as ::core::ffi::c_int {
        written = dprintf(fd, b"}\n\0" as *const u8 as *const ::core::ffi::c_char);
    }
    return json_close(fd, written);
}
