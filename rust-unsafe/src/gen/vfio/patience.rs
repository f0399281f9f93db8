extern "C" {
    fn now_us() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
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
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const VFIO_PATIENCE_MS: ::core::ffi::c_int = 5000 as ::core::ffi::c_int;
pub const PATIENCE_US: ::core::ffi::c_ulonglong = (VFIO_PATIENCE_MS
    as ::core::ffi::c_ulonglong)
    .wrapping_mul(1000 as ::core::ffi::c_ulonglong);
pub const REFILL_US: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn vfio_patience_init(mut container: *mut vfio_container) {
    (*container).patience_us = PATIENCE_US as uint64_t;
    (*container).refilled_us = now_us();
}
#[no_mangle]
pub unsafe extern "C" fn vfio_patience(mut device: *mut vfio_device) -> uint64_t {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    if (*device).kind as ::core::ffi::c_uint
        != VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        return UINT64_MAX as uint64_t;
    }
    let mut back: uint64_t = now_us()
        .wrapping_sub((*container).refilled_us)
        .wrapping_div(REFILL_US as uint64_t);
    (*container).refilled_us = (*container)
        .refilled_us
        .wrapping_add(back.wrapping_mul(REFILL_US as uint64_t));
    (*container).patience_us = (*container).patience_us.wrapping_add(back);
    if (*container).patience_us as ::core::ffi::c_ulonglong > PATIENCE_US {
        (*container).patience_us = PATIENCE_US as uint64_t;
    }
    return (*container).patience_us.wrapping_add((*device).reserve_us);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_patience_use(
    mut device: *mut vfio_device,
    mut waited_us: uint64_t,
) {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    if (*device).kind as ::core::ffi::c_uint
        != VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        return;
    }
    let mut shared: uint64_t = if waited_us < (*container).patience_us {
        waited_us
    } else {
        (*container).patience_us
    };
    let mut own: uint64_t = waited_us.wrapping_sub(shared);
    (*container).patience_us = (*container).patience_us.wrapping_sub(shared);
    (*device).reserve_us = (*device)
        .reserve_us
        .wrapping_sub(
            if own < (*device).reserve_us { own } else { (*device).reserve_us },
        );
}
#[no_mangle]
pub unsafe extern "C" fn vfio_sleep(
    mut device: *mut vfio_device,
    mut microseconds: uint32_t,
) {
    let mut asleep: uint64_t = now_us();
    sleep_us(microseconds);
    vfio_patience_use(device, now_us().wrapping_sub(asleep));
}
