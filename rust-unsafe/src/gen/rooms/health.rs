extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn dma_load64(address: *const uint64_t) -> uint64_t;
}
pub type size_t = usize;
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
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
}
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct dma_memory {
    pub container: *mut vfio_container,
    pub memory: *mut ::core::ffi::c_void,
    pub iova: uint64_t,
    pub size: size_t,
    pub fd: ::core::ffi::c_int,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct packet {
    pub iova: uint64_t,
    pub pool: *mut mempool,
    pub size: uint32_t,
    pub reserved: [uint8_t; 4],
    pub next: *mut packet,
    pub reserved_too: [uint8_t; 32],
    pub data: [uint8_t; 0],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct mempool {
    pub dma: dma_memory,
    pub capacity: uint32_t,
    pub free_count: uint32_t,
    pub free: *mut *mut packet,
    pub apart: [uint8_t; 128],
    pub returned: *mut ::core::ffi::c_void,
    pub apart_returned: [uint8_t; 128],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct rx_queue {
    pub ring: *mut descriptor,
    pub packets: *mut *mut packet,
    pub pool: *mut mempool,
    pub tail: *mut uint32_t,
    pub tail_offset: uint32_t,
    pub mask: uint32_t,
    pub index: uint32_t,
    pub discarding: bool,
    pub id: uint32_t,
    pub vfio: *mut vfio_device,
    pub dma: dma_memory,
    pub pool_empty: uint64_t,
    pub discarded: uint64_t,
    pub suspect: uint32_t,
    pub apart: [uint8_t; 128],
}
pub const UINT32_MAX: ::core::ffi::c_uint = 4294967295 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
pub const RX_NO_SUSPECT: ::core::ffi::c_uint = UINT32_MAX;
pub const CHECK_LOOKS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
unsafe extern "C" fn rx_write_back_missing(
    mut queue: *const rx_queue,
    mut head: *mut uint32_t,
) -> bool {
    *head = reg_read(
        (*queue).vfio,
        if (*queue).id < 64 as uint32_t {
            (0x1010 as uint32_t)
                .wrapping_add((0x40 as uint32_t).wrapping_mul((*queue).id))
        } else {
            (0xd010 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t)
                        .wrapping_mul((*queue).id.wrapping_sub(64 as uint32_t)),
                )
        },
    );
    return *head != (*queue).index
        && dma_load64(&raw mut (*(*queue).ring.offset((*queue).index as isize)).upper)
            & 0x1 as uint64_t == 0;
}
#[no_mangle]
pub unsafe extern "C" fn rx_check_stall(
    mut queue: *mut rx_queue,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut head: uint32_t = 0 as uint32_t;
    if !rx_write_back_missing(queue, &raw mut head) {
        (*queue).suspect = RX_NO_SUSPECT as uint32_t;
        return 0 as ::core::ffi::c_int;
    }
    let mut suspect: uint32_t = head << 16 as ::core::ffi::c_int | (*queue).index;
    if (*queue).suspect != suspect {
        (*queue).suspect = suspect;
        return 0 as ::core::ffi::c_int;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < CHECK_LOOKS as uint32_t {
        if !rx_write_back_missing(queue, &raw mut head) {
            (*queue).suspect = RX_NO_SUSPECT as uint32_t;
            return 0 as ::core::ffi::c_int;
        }
        i = i.wrapping_add(1);
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: RX queue %u is stalled: the driver expects the next packet in descriptor %u of %u, but the device is at descriptor %u (RDH) and has not written descriptor %u back; usually the driver's index or RDT has left the order of the ring, for example at its end; restart the driver to reset the device\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw mut (*(*queue).vfio).address as *mut ::core::ffi::c_char,
        (*queue).id,
        (*queue).index,
        (*queue).mask.wrapping_add(1 as uint32_t),
        head,
        (*queue).index,
    );
    return -(1 as ::core::ffi::c_int);
}
