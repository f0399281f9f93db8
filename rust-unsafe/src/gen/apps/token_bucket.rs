pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct token_bucket {
    pub rate: uint64_t,
    pub burst: uint64_t,
    pub tokens: uint64_t,
    pub filled: uint64_t,
}
pub const TOKEN: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const MAX_ELAPSED: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
#[no_mangle]
pub unsafe extern "C" fn token_bucket_new(
    mut rate: uint64_t,
    mut burst: uint32_t,
    mut now: uint64_t,
) -> token_bucket {
    return token_bucket {
        rate: rate,
        burst: (burst as ::core::ffi::c_ulonglong).wrapping_mul(TOKEN) as uint64_t,
        tokens: 0,
        filled: now,
    };
}
#[no_mangle]
pub unsafe extern "C" fn token_bucket_take(
    mut bucket: *mut token_bucket,
    mut now: uint64_t,
    mut wanted: uint32_t,
) -> uint32_t {
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
