extern "C" {
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_write_field(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
    );
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
pub const IXGBE_ESDP: ::core::ffi::c_uint = 0x20 as ::core::ffi::c_uint;
pub const IXGBE_ESDP_SDP3: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC: ::core::ffi::c_uint = 0x42a0 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_AN_RESTART: ::core::ffi::c_uint = 0x1000 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_LMS: ::core::ffi::c_uint = 0xe000 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC_LMS_10G_SERIAL: ::core::ffi::c_uint = 0x6000
    as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2: ::core::ffi::c_uint = 0x42a8 as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_10G_PMA_PMD_SERIAL: ::core::ffi::c_uint = 0x30000
    as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI: ::core::ffi::c_uint = 0x20000
    as ::core::ffi::c_uint;
pub const IXGBE_AUTOC2_LINK_DISABLE: ::core::ffi::c_uint = 0x70000000
    as ::core::ffi::c_uint;
#[no_mangle]
pub unsafe extern "C" fn link_init(mut vfio: *mut vfio_device) {
    reg_clear(vfio, IXGBE_ESDP as uint32_t, IXGBE_ESDP_SDP3 as uint32_t);
    reg_write_field(
        vfio,
        IXGBE_AUTOC as uint32_t,
        IXGBE_AUTOC_LMS as uint32_t,
        IXGBE_AUTOC_LMS_10G_SERIAL as uint32_t,
    );
    reg_write_field(
        vfio,
        IXGBE_AUTOC2 as uint32_t,
        IXGBE_AUTOC2_10G_PMA_PMD_SERIAL as uint32_t
            | IXGBE_AUTOC2_LINK_DISABLE as uint32_t,
        IXGBE_AUTOC2_10G_PMA_PMD_SERIAL_SFI as uint32_t,
    );
    reg_set(vfio, IXGBE_AUTOC as uint32_t, IXGBE_AUTOC_AN_RESTART as uint32_t);
}
