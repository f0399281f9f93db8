extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn vfio_patience(device: *mut vfio_device) -> uint64_t;
    fn vfio_sleep(device: *mut vfio_device, microseconds: uint32_t);
    fn now_ms() -> uint64_t;
}
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type size_t = usize;
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
pub const REG_TIMEOUT_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
pub const POLL_INTERVAL_US: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn reg_set(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut bits: uint32_t,
) {
    reg_write(vfio, offset, reg_read(vfio, offset) | bits);
}
#[no_mangle]
pub unsafe extern "C" fn reg_clear(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut bits: uint32_t,
) {
    reg_write(vfio, offset, reg_read(vfio, offset) & !bits);
}
#[no_mangle]
pub unsafe extern "C" fn reg_write_field(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut mask: uint32_t,
    mut value: uint32_t,
) {
    reg_write(vfio, offset, reg_read(vfio, offset) & !mask | value);
}
#[no_mangle]
pub unsafe extern "C" fn reg_wait(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut mask: uint32_t,
    mut value: uint32_t,
    mut name: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    return reg_wait_setting(
        vfio,
        0 as uint32_t,
        0 as uint32_t,
        offset,
        mask,
        value,
        name,
        error,
    );
}
#[no_mangle]
pub unsafe extern "C" fn reg_wait_setting(
    mut vfio: *mut vfio_device,
    mut request: uint32_t,
    mut bits: uint32_t,
    mut offset: uint32_t,
    mut mask: uint32_t,
    mut value: uint32_t,
    mut name: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut patience_ms: uint64_t = vfio_patience(vfio).wrapping_div(1000 as uint64_t);
    let mut timeout_ms: uint64_t = if patience_ms < REG_TIMEOUT_MS as uint64_t {
        patience_ms
    } else {
        REG_TIMEOUT_MS as uint64_t
    };
    let mut deadline: uint64_t = now_ms().wrapping_add(timeout_ms);
    loop {
        let mut late: bool = now_ms() >= deadline;
        if bits != 0 as uint32_t {
            reg_set(vfio, request, bits);
        }
        let mut read: uint32_t = reg_read(vfio, offset);
        if vfio_check(vfio, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        if read & mask == value {
            return 0 as ::core::ffi::c_int;
        }
        if late {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: %s is 0x%08x after %u ms, waited for 0x%x of 0x%x; reset the device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC\0"
                    as *const u8 as *const ::core::ffi::c_char,
                &raw mut (*vfio).address as *mut ::core::ffi::c_char,
                name,
                read,
                timeout_ms as uint32_t,
                value,
                mask,
            );
            return -(1 as ::core::ffi::c_int);
        }
        vfio_sleep(vfio, POLL_INTERVAL_US as uint32_t);
    };
}
