extern "C" {
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_write_barrier();
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
pub struct tx_queue {
    pub ring: *mut descriptor,
    pub packets: *mut *mut packet,
    pub tail: *mut uint32_t,
    pub tail_offset: uint32_t,
    pub mask: uint32_t,
    pub index: uint32_t,
    pub clean_index: uint32_t,
    pub done: uint64_t,
    pub id: uint32_t,
    pub vfio: *mut vfio_device,
    pub dma: dma_memory,
    pub apart: [uint8_t; 128],
}
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn tail_write(
    mut vfio: *mut vfio_device,
    mut tail: *mut uint32_t,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    if !tail.is_null() {
        mmio_store32_relaxed(tail, value);
    } else {
        vfio_ring(vfio, offset, value);
    };
}
#[inline]
unsafe extern "C" fn tx_done(mut queue: *const tx_queue, mut index: uint32_t) -> bool {
    return dma_load64(&raw mut (*(*queue).ring.offset(index as isize)).upper)
        & 0x100000000 as uint64_t != 0;
}
#[inline]
unsafe extern "C" fn tx_all_done(
    mut queue: *const tx_queue,
    mut count: uint32_t,
) -> bool {
    return (*queue).index.wrapping_sub((*queue).clean_index) & (*queue).mask >= count
        && tx_done(
            queue,
            (*queue).clean_index.wrapping_add(count).wrapping_sub(1 as uint32_t)
                & (*queue).mask,
        ) as ::core::ffi::c_int != 0;
}
pub const TX_CLEAN_BATCH: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn tx_free(mut queue: *mut tx_queue, mut count: uint32_t) {
    let packets: *mut *mut packet = (*queue).packets;
    let mask: uint32_t = (*queue).mask;
    let mut index: uint32_t = (*queue).clean_index;
    (*queue).done = (*queue).done.wrapping_add(count as uint64_t);
    while count > 0 as uint32_t {
        let pool: *mut mempool = (**packets.offset(index as isize)).pool as *mut mempool;
        let mut free: *mut *mut packet = (*pool)
            .free
            .offset((*pool).free_count as isize);
        while count > 0 as uint32_t && (**packets.offset(index as isize)).pool == pool {
            *free = *packets.offset(index as isize);
            free = free.offset(1);
            index = index.wrapping_add(1 as uint32_t) & mask;
            count = count.wrapping_sub(1);
        }
        (*pool).free_count = free.offset_from((*pool).free) as ::core::ffi::c_long
            as uint32_t;
    }
    (*queue).clean_index = index;
}
#[inline]
unsafe extern "C" fn tx_clean(mut queue: *mut tx_queue) {
    while tx_all_done(queue, TX_CLEAN_BATCH as uint32_t) {
        tx_free(queue, TX_CLEAN_BATCH as uint32_t);
    }
}
#[no_mangle]
pub unsafe extern "C" fn tx_reclaim(mut queue: *mut tx_queue) {
    while (*queue).clean_index != (*queue).index
        && tx_done(queue, (*queue).clean_index) as ::core::ffi::c_int != 0
    {
        tx_free(queue, 1 as uint32_t);
    }
}
#[no_mangle]
pub unsafe extern "C" fn tx_space(mut queue: *const tx_queue) -> uint32_t {
    return (*queue).clean_index.wrapping_sub((*queue).index).wrapping_sub(1 as uint32_t)
        & (*queue).mask;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn tx_put(
    mut queue: *mut tx_queue,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    let mask: uint32_t = (*queue).mask;
    let mut index: uint32_t = (*queue).index;
    let mut space: uint32_t = tx_space(queue);
    let mut sent: uint32_t = if count < space { count } else { space };
    let mut i: uint32_t = 0 as uint32_t;
    while i < sent {
        let mut packet: *mut packet = *packets.offset(i as isize);
        let mut descriptor: *mut descriptor = (*queue).ring.offset(index as isize)
            as *mut descriptor;
        let mut size: uint64_t = (*packet).size as uint64_t;
        let ref mut fresh0 = *(*queue).packets.offset(index as isize);
        *fresh0 = packet;
        dma_store64(&raw mut (*descriptor).lower, (*packet).iova);
        dma_store64(
            &raw mut (*descriptor).upper,
            0x300000 as uint64_t | 0x20000000 as uint64_t | 0x8000000 as uint64_t
                | 0x2000000 as uint64_t | 0x1000000 as uint64_t
                | size
                    .wrapping_mul(
                        0xffffc00000000000 as uint64_t
                            & (!(0xffffc00000000000 as uint64_t))
                                .wrapping_add(1 as uint64_t),
                    )
                | size
                    .wrapping_mul(
                        0xffff as uint64_t
                            & (!(0xffff as uint64_t)).wrapping_add(1 as uint64_t),
                    ),
        );
        index = index.wrapping_add(1 as uint32_t) & mask;
        i = i.wrapping_add(1);
    }
    if sent > 0 as uint32_t {
        (*queue).index = index;
        dma_write_barrier();
        tail_write((*queue).vfio, (*queue).tail, (*queue).tail_offset, index);
    }
    return sent;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn tx_batch(
    mut queue: *mut tx_queue,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    tx_clean(queue);
    return tx_put(queue, packets, count);
}
