extern "C" {
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_write_barrier();
    fn tx_space(queue: *const tx_queue) -> uint32_t;
    fn quad32_load(values: *const uint32_t) -> quad32;
    fn quad32_store(values: *mut uint32_t, quad: quad32);
    fn quad64_splat(word: uint64_t) -> quad64;
    fn quad64_add(a: quad64, b: quad64) -> quad64;
    fn quad64_shift_left(quad: quad64, bits: uint32_t) -> quad64;
    fn quad64_widen(quad: quad32) -> quad64;
    fn descriptors_store(descriptors: *mut descriptor, lower: quad64, upper: quad64);
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct tuned_batch {
    pub places: [uint32_t; 512],
    pub sizes: [uint32_t; 512],
    pub count: uint32_t,
    pub apart: [uint8_t; 128],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct quad64 {
    pub words: [uint64_t; 4],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct quad32 {
    pub values: [uint32_t; 4],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct tuned_tx {
    pub queue: *mut tx_queue,
    pub places: *mut uint32_t,
    pub iova: uint64_t,
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
pub const QUAD: ::core::ffi::c_uint = 4 as ::core::ffi::c_uint;
pub const TX_RS_EVERY: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
pub const TX_COMMAND: ::core::ffi::c_ulong = 0x300000 as ::core::ffi::c_ulong
    | 0x20000000 as ::core::ffi::c_ulong | 0x2000000 as ::core::ffi::c_ulong
    | 0x1000000 as ::core::ffi::c_ulong;
pub const TX_PAYLEN_SHIFT: ::core::ffi::c_int = 46 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn tx_upper_words(mut sizes: quad64) -> quad64 {
    return quad64_add(
        quad64_add(sizes, quad64_splat(TX_COMMAND as uint64_t)),
        quad64_shift_left(sizes, TX_PAYLEN_SHIFT as uint32_t),
    );
}
#[inline]
unsafe extern "C" fn tx_upper_word(mut size: uint64_t) -> uint64_t {
    return TX_COMMAND as uint64_t
        | size
            .wrapping_mul(
                0xffffc00000000000 as uint64_t
                    & (!(0xffffc00000000000 as uint64_t)).wrapping_add(1 as uint64_t),
            )
        | size
            .wrapping_mul(
                0xffff as uint64_t & (!(0xffff as uint64_t)).wrapping_add(1 as uint64_t),
            );
}
#[inline]
unsafe extern "C" fn tx_hand_over(mut queue: *mut tx_queue, mut count: uint32_t) {
    let first: uint32_t = (*queue).index;
    let mut last: uint32_t = first | (TX_RS_EVERY - 1 as ::core::ffi::c_int) as uint32_t;
    while last.wrapping_sub(first) < count {
        let mut upper: *mut uint64_t = &raw mut (*(*queue)
            .ring
            .offset((last & (*queue).mask) as isize))
            .upper;
        dma_store64(upper, dma_load64(upper) | 0x8000000 as uint64_t);
        last = last.wrapping_add(TX_RS_EVERY as uint32_t);
    }
    (*queue).index = first.wrapping_add(count) & (*queue).mask;
    dma_write_barrier();
    tail_write((*queue).vfio, (*queue).tail, (*queue).tail_offset, (*queue).index);
}
#[inline]
unsafe extern "C" fn tx_groups(
    mut tx: *const tuned_tx,
    mut batch: *mut tuned_batch,
    mut sent: uint32_t,
    mut index: uint32_t,
    mut groups: uint32_t,
) {
    let mut ring: *mut descriptor = (*(*tx).queue).ring.offset(index as isize);
    let mut slots: *mut uint32_t = (*tx).places.offset(index as isize);
    let mut places: *mut uint32_t = (&raw mut (*batch).places as *mut uint32_t)
        .offset(sent as isize);
    let mut sizes: *const uint32_t = (&raw mut (*batch).sizes as *mut uint32_t)
        .offset(sent as isize);
    let iova: quad64 = quad64_splat((*tx).iova) as quad64;
    let mut i: size_t = 0 as size_t;
    while i < groups as size_t {
        let mut full: quad32 = quad32_load(
            places.offset((QUAD as size_t).wrapping_mul(i) as isize),
        );
        let mut empty: quad32 = quad32_load(
            slots.offset((QUAD as size_t).wrapping_mul(i) as isize),
        );
        let mut size: quad64 = quad64_widen(
            quad32_load(sizes.offset((QUAD as size_t).wrapping_mul(i) as isize)),
        );
        quad32_store(slots.offset((QUAD as size_t).wrapping_mul(i) as isize), full);
        quad32_store(places.offset((QUAD as size_t).wrapping_mul(i) as isize), empty);
        descriptors_store(
            ring.offset((QUAD as size_t).wrapping_mul(i) as isize),
            quad64_add(quad64_widen(full), iova),
            tx_upper_words(size),
        );
        i = i.wrapping_add(1);
    }
}
#[inline(never)]
#[cold]
unsafe extern "C" fn tx_more(
    mut tx: *const tuned_tx,
    mut batch: *mut tuned_batch,
    mut index: uint32_t,
    mut sent: uint32_t,
    mut count: uint32_t,
) {
    while sent < count {
        let mut left: uint32_t = count.wrapping_sub(sent);
        let mut to_end: uint32_t = (*(*tx).queue)
            .mask
            .wrapping_add(1 as uint32_t)
            .wrapping_sub(index);
        let mut groups: uint32_t = (if left < to_end { left } else { to_end })
            .wrapping_div(QUAD as uint32_t);
        let mut done: uint32_t = (QUAD as uint32_t).wrapping_mul(groups);
        tx_groups(tx, batch, sent, index, groups);
        if groups == 0 as uint32_t {
            let mut descriptor: *mut descriptor = (*(*tx).queue)
                .ring
                .offset(index as isize) as *mut descriptor;
            let mut full: uint32_t = (*batch).places[sent as usize];
            (*batch).places[sent as usize] = *(*tx).places.offset(index as isize);
            *(*tx).places.offset(index as isize) = full;
            dma_store64(
                &raw mut (*descriptor).lower,
                (*tx).iova.wrapping_add(full as uint64_t),
            );
            dma_store64(
                &raw mut (*descriptor).upper,
                tx_upper_word((*batch).sizes[sent as usize] as uint64_t),
            );
            done = 1 as uint32_t;
        }
        sent = sent.wrapping_add(done);
        index = index.wrapping_add(done) & (*(*tx).queue).mask;
    }
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn tuned_tx_batch(
    mut tx: *mut tuned_tx,
    mut batch: *mut tuned_batch,
) -> uint32_t {
    let queue: *mut tx_queue = (*tx).queue;
    let mask: uint32_t = (*queue).mask;
    let first: uint32_t = (*queue).index;
    while tx_all_done(queue, TX_RS_EVERY as uint32_t) {
        (*queue).clean_index = (*queue).clean_index.wrapping_add(TX_RS_EVERY as uint32_t)
            & mask;
        (*queue).done = (*queue).done.wrapping_add(TX_RS_EVERY as uint64_t);
    }
    let space: uint32_t = tx_space(queue) as uint32_t;
    let count: uint32_t = if (*batch).count < space { (*batch).count } else { space };
    let to_end: uint32_t = mask.wrapping_add(1 as uint32_t).wrapping_sub(first);
    let groups: uint32_t = (if count < to_end { count } else { to_end })
        .wrapping_div(QUAD as uint32_t);
    if (count == 0 as uint32_t) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        return 0 as uint32_t;
    }
    tx_groups(tx, batch, 0 as uint32_t, first, groups);
    if ((QUAD as uint32_t).wrapping_mul(groups) != count) as ::core::ffi::c_int
        as ::core::ffi::c_long != 0
    {
        tx_more(
            tx,
            batch,
            first.wrapping_add((QUAD as uint32_t).wrapping_mul(groups)) & mask,
            (QUAD as uint32_t).wrapping_mul(groups),
            count,
        );
    }
    tx_hand_over(queue, count);
    return count;
}
