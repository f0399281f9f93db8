extern "C" {
    fn parse_decimal(
        text: *const ::core::ffi::c_char,
        number: *mut ::core::ffi::c_double,
        end: *mut *const ::core::ffi::c_char,
    ) -> bool;
    fn now_ns() -> uint64_t;
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
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
pub struct token_bucket {
    pub rate: uint64_t,
    pub burst: uint64_t,
    pub tokens: uint64_t,
    pub filled: uint64_t,
}
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TOKEN_BUCKET_MAX_RATE: ::core::ffi::c_ulonglong = 100000000
    as ::core::ffi::c_ulonglong;
pub const TOKEN: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const MAX_ELAPSED: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
#[no_mangle]
pub unsafe extern "C" fn token_bucket_new(
    mut rate: uint64_t,
    mut burst: uint32_t,
) -> token_bucket {
    return token_bucket {
        rate: rate,
        burst: (burst as ::core::ffi::c_ulonglong).wrapping_mul(TOKEN) as uint64_t,
        tokens: 0,
        filled: now_ns(),
    };
}
#[no_mangle]
pub unsafe extern "C" fn token_bucket_take(
    mut bucket: *mut token_bucket,
    mut wanted: uint32_t,
) -> uint32_t {
    if (*bucket).rate == 0 as uint64_t {
        return wanted;
    }
    let mut now: uint64_t = now_ns();
    let mut elapsed: uint64_t = now.wrapping_sub((*bucket).filled);
    (*bucket).tokens = ((*bucket).tokens as ::core::ffi::c_ulonglong)
        .wrapping_add(
            (if (elapsed as ::core::ffi::c_ulonglong) < MAX_ELAPSED {
                elapsed as ::core::ffi::c_ulonglong
            } else {
                MAX_ELAPSED
            })
                .wrapping_mul((*bucket).rate as ::core::ffi::c_ulonglong),
        ) as uint64_t as uint64_t;
    if (*bucket).tokens > (*bucket).burst {
        (*bucket).tokens = (*bucket).burst;
    }
    (*bucket).filled = now;
    let mut available: uint64_t = ((*bucket).tokens as ::core::ffi::c_ulonglong)
        .wrapping_div(TOKEN) as uint64_t;
    let mut taken: uint32_t = if available < wanted as uint64_t {
        available as uint32_t
    } else {
        wanted
    };
    (*bucket).tokens = ((*bucket).tokens as ::core::ffi::c_ulonglong)
        .wrapping_sub((taken as ::core::ffi::c_ulonglong).wrapping_mul(TOKEN))
        as uint64_t as uint64_t;
    return taken;
}
#[no_mangle]
pub unsafe extern "C" fn token_bucket_return(
    mut bucket: *mut token_bucket,
    mut count: uint32_t,
) {
    (*bucket).tokens = ((*bucket).tokens as ::core::ffi::c_ulonglong)
        .wrapping_add((count as ::core::ffi::c_ulonglong).wrapping_mul(TOKEN))
        as uint64_t as uint64_t;
}
#[no_mangle]
pub unsafe extern "C" fn set_rate(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut rate: *mut uint64_t = (*row).place as *mut uint64_t;
    let mut end: *const ::core::ffi::c_char = ::core::ptr::null::<::core::ffi::c_char>();
    let mut number: ::core::ffi::c_double = 0 as ::core::ffi::c_int
        as ::core::ffi::c_double;
    if !parse_decimal(text, &raw mut number, &raw mut end) {
        return false_0 != 0;
    }
    if *end as ::core::ffi::c_int == 'k' as i32 {
        number *= 1e3f64;
        end = end.offset(1);
    } else if *end as ::core::ffi::c_int == 'M' as i32 {
        number *= 1e6f64;
        end = end.offset(1);
    }
    *rate = number as uint64_t;
    return *end as ::core::ffi::c_int == '\0' as i32
        && number >= 1 as ::core::ffi::c_int as ::core::ffi::c_double
        && number <= TOKEN_BUCKET_MAX_RATE as ::core::ffi::c_double
        && *rate as ::core::ffi::c_double == number;
}
