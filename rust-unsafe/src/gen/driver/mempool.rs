extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn dma_alloc(
        container: *mut vfio_container,
        size: size_t,
        dma: *mut dma_memory,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn dma_free(dma: *mut dma_memory);
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
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
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const PACKET_BUFFER_SIZE: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const PACKET_HEADROOM: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const MEMPOOL_MAX_CAPACITY: ::core::ffi::c_uint = (1 as ::core::ffi::c_uint)
    << 20 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
#[no_mangle]
pub unsafe extern "C" fn mempool_create(
    mut pool: *mut mempool,
    mut container: *mut vfio_container,
    mut capacity: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    return mempool_create_strided(
        pool,
        container,
        capacity,
        PACKET_BUFFER_SIZE as uint32_t,
        error,
    );
}
#[no_mangle]
pub unsafe extern "C" fn mempool_create_strided(
    mut pool: *mut mempool,
    mut container: *mut vfio_container,
    mut capacity: uint32_t,
    mut stride: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    memset(
        pool as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<mempool>() as size_t,
    );
    (*pool).capacity = capacity;
    if capacity == 0 as uint32_t || capacity > MEMPOOL_MAX_CAPACITY as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"a pool has 1 to %u packets, not %u\0" as *const u8
                as *const ::core::ffi::c_char,
            (1 as ::core::ffi::c_uint) << 20 as ::core::ffi::c_int,
            capacity,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*pool).free = calloc(
        capacity as size_t,
        ::core::mem::size_of::<*mut packet>() as size_t,
    ) as *mut *mut packet;
    if (*pool).free.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"out of memory for a pool of %u packets\0" as *const u8
                as *const ::core::ffi::c_char,
            capacity,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if dma_alloc(
        container,
        (capacity as size_t).wrapping_mul(stride as size_t),
        &raw mut (*pool).dma,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        mempool_destroy(pool);
        return -(1 as ::core::ffi::c_int);
    }
    let mut i: uint32_t = capacity;
    while i > 0 as uint32_t {
        let mut offset: size_t = (i.wrapping_sub(1 as uint32_t) as size_t)
            .wrapping_mul(stride as size_t);
        let mut packet: *mut packet = ((*pool).dma.memory as *mut uint8_t)
            .offset(offset as isize) as *mut packet;
        (*packet).iova = (*pool)
            .dma
            .iova
            .wrapping_add(offset as uint64_t)
            .wrapping_add(PACKET_HEADROOM as uint64_t);
        (*packet).pool = pool as *mut mempool;
        (*packet).size = 0 as uint32_t;
        packet_free(packet);
        i = i.wrapping_sub(1);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn mempool_destroy(mut pool: *mut mempool) {
    dma_free(&raw mut (*pool).dma);
    free((*pool).free as *mut ::core::ffi::c_void);
    (*pool).free = ::core::ptr::null_mut::<*mut packet>();
    (*pool).free_count = 0 as uint32_t;
}
