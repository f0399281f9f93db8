extern "C" {
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn atomic_load_pointer(
        address: *const *mut ::core::ffi::c_void,
    ) -> *mut ::core::ffi::c_void;
    fn atomic_take_pointer(
        address: *mut *mut ::core::ffi::c_void,
    ) -> *mut ::core::ffi::c_void;
    fn atomic_replace_pointer(
        address: *mut *mut ::core::ffi::c_void,
        expected: *mut ::core::ffi::c_void,
        value: *mut ::core::ffi::c_void,
    ) -> bool;
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
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
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
#[no_mangle]
pub unsafe extern "C" fn tx_take(
    mut queue: *mut tx_queue,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    if !tx_all_done(queue, count) {
        return 0 as uint32_t;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let ref mut fresh1 = *packets.offset(i as isize);
        *fresh1 = *(*queue)
            .packets
            .offset(((*queue).clean_index.wrapping_add(i) & (*queue).mask) as isize);
        i = i.wrapping_add(1);
    }
    (*queue).clean_index = (*queue).clean_index.wrapping_add(count) & (*queue).mask;
    (*queue).done = (*queue).done.wrapping_add(count as uint64_t);
    return count;
}
unsafe extern "C" fn return_list(mut first: *mut packet, mut last: *mut packet) {
    let mut pool: *mut mempool = (*first).pool as *mut mempool;
    let mut before: *mut ::core::ffi::c_void = NULL;
    loop {
        before = atomic_load_pointer(&raw mut (*pool).returned);
        (*last).next = before as *mut packet;
        if atomic_replace_pointer(
            &raw mut (*pool).returned,
            before,
            first as *mut ::core::ffi::c_void,
        ) {
            break;
        }
    };
}
#[no_mangle]
pub unsafe extern "C" fn packets_return(
    mut packets: *const *mut packet,
    mut count: uint32_t,
) {
    let mut first: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 1 as uint32_t;
    while i < count {
        if (**packets.offset(i as isize)).pool == (**packets.offset(first as isize)).pool
        {
            let ref mut fresh2 = (**packets
                .offset(i.wrapping_sub(1 as uint32_t) as isize))
                .next;
            *fresh2 = *packets.offset(i as isize);
        } else {
            return_list(
                *packets.offset(first as isize),
                *packets.offset(i.wrapping_sub(1 as uint32_t) as isize),
            );
            first = i;
        }
        i = i.wrapping_add(1);
    }
    if count > 0 as uint32_t {
        return_list(
            *packets.offset(first as isize),
            *packets.offset(count.wrapping_sub(1 as uint32_t) as isize),
        );
    }
}
#[no_mangle]
pub unsafe extern "C" fn mempool_take_returned(mut pool: *mut mempool) {
    if atomic_load_pointer(&raw mut (*pool).returned).is_null() {
        return;
    }
    let mut packet: *mut packet = atomic_take_pointer(&raw mut (*pool).returned)
        as *mut packet;
    while !packet.is_null() {
        let mut next: *mut packet = (*packet).next;
        packet_free(packet);
        packet = next;
    }
}
