extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn atomic_load32_acquire(address: *const uint32_t) -> uint32_t;
    fn atomic_store32_release(address: *mut uint32_t, value: uint32_t);
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
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
pub struct packet_ring {
    pub slots: *mut *mut packet,
    pub capacity: uint32_t,
    pub apart: [uint8_t; 128],
    pub put: uint32_t,
    pub taken_seen: uint32_t,
    pub apart_put: [uint8_t; 128],
    pub taken: uint32_t,
    pub put_seen: uint32_t,
    pub apart_taken: [uint8_t; 128],
}
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const MEMPOOL_MAX_CAPACITY: ::core::ffi::c_uint = (1 as ::core::ffi::c_uint)
    << 20 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn packet_ring_create(
    mut ring: *mut packet_ring,
    mut capacity: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    *ring = packet_ring {
        slots: ::core::ptr::null_mut::<*mut packet>(),
        capacity: 1 as uint32_t,
        apart: [0; 128],
        put: 0,
        taken_seen: 0,
        apart_put: [0; 128],
        taken: 0,
        put_seen: 0,
        apart_taken: [0; 128],
    };
    while (*ring).capacity < capacity
        && (*ring).capacity < MEMPOOL_MAX_CAPACITY as uint32_t
    {
        (*ring).capacity = (*ring).capacity.wrapping_mul(2 as uint32_t);
    }
    (*ring).slots = calloc(
        (*ring).capacity as size_t,
        ::core::mem::size_of::<*mut packet>() as size_t,
    ) as *mut *mut packet;
    if (*ring).slots.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"out of memory for a ring of %u packets\0" as *const u8
                as *const ::core::ffi::c_char,
            (*ring).capacity,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn packet_ring_destroy(mut ring: *mut packet_ring) {
    free((*ring).slots as *mut ::core::ffi::c_void);
    (*ring).slots = ::core::ptr::null_mut::<*mut packet>();
}
#[no_mangle]
pub unsafe extern "C" fn packet_ring_put(
    mut ring: *mut packet_ring,
    mut packets: *const *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    let mask: uint32_t = (*ring).capacity.wrapping_sub(1 as uint32_t);
    let mut put: uint32_t = (*ring).put;
    let mut space: uint32_t = (*ring)
        .capacity
        .wrapping_sub(put.wrapping_sub((*ring).taken_seen));
    if space < count {
        (*ring).taken_seen = atomic_load32_acquire(&raw mut (*ring).taken);
        space = (*ring).capacity.wrapping_sub(put.wrapping_sub((*ring).taken_seen));
    }
    if count > space {
        count = space;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let ref mut fresh0 = *(*ring).slots.offset((put & mask) as isize);
        *fresh0 = *packets.offset(i as isize);
        put = put.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    if count > 0 as uint32_t {
        atomic_store32_release(&raw mut (*ring).put, put);
    }
    return count;
}
#[no_mangle]
pub unsafe extern "C" fn packet_ring_take(
    mut ring: *mut packet_ring,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    let mask: uint32_t = (*ring).capacity.wrapping_sub(1 as uint32_t);
    let mut taken: uint32_t = (*ring).taken;
    let mut available: uint32_t = (*ring).put_seen.wrapping_sub(taken);
    if available < count {
        (*ring).put_seen = atomic_load32_acquire(&raw mut (*ring).put);
        available = (*ring).put_seen.wrapping_sub(taken);
    }
    if count > available {
        count = available;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let ref mut fresh1 = *packets.offset(i as isize);
        *fresh1 = *(*ring).slots.offset((taken & mask) as isize);
        taken = taken.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    if count > 0 as uint32_t {
        atomic_store32_release(&raw mut (*ring).taken, taken);
    }
    return count;
}
#[no_mangle]
pub unsafe extern "C" fn packet_ring_waits(mut ring: *const packet_ring) -> bool {
    return atomic_load32_acquire(&raw const (*ring).put) != (*ring).taken;
}
