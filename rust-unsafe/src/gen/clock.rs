extern "C" {
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn nanosleep(
        __requested_time: *const timespec,
        __remaining: *mut timespec,
    ) -> ::core::ffi::c_int;
    fn clock_gettime(__clock_id: clockid_t, __tp: *mut timespec) -> ::core::ffi::c_int;
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __time_t = ::core::ffi::c_long;
pub type __clockid_t = ::core::ffi::c_int;
pub type __syscall_slong_t = ::core::ffi::c_long;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
pub type clockid_t = __clockid_t;
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const CLOCK_MONOTONIC: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn now_us() -> uint64_t {
    let mut now: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(CLOCK_MONOTONIC, &raw mut now);
    return (now.tv_sec as uint64_t)
        .wrapping_mul(1000000 as uint64_t)
        .wrapping_add((now.tv_nsec as uint64_t).wrapping_div(1000 as uint64_t));
}
#[no_mangle]
pub unsafe extern "C" fn now_ms() -> uint64_t {
    return now_us().wrapping_div(1000 as uint64_t);
}
#[no_mangle]
pub unsafe extern "C" fn sleep_us(mut microseconds: uint32_t) {
    let mut left: timespec = timespec {
        tv_sec: microseconds.wrapping_div(1000000 as uint32_t) as __time_t,
        tv_nsec: microseconds.wrapping_rem(1000000 as uint32_t) as __syscall_slong_t
            * 1000 as __syscall_slong_t,
    };
    while nanosleep(&raw mut left, &raw mut left) != 0 as ::core::ffi::c_int
        && *__errno_location() == EINTR
    {}
}
