extern "C" {
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_read_barrier();
    fn dma_write_barrier();
    fn quad32_load(values: *const uint32_t) -> quad32;
    fn quad32_store(values: *mut uint32_t, quad: quad32);
    fn quad64_splat(word: uint64_t) -> quad64;
    fn quad64_add(a: quad64, b: quad64) -> quad64;
    fn quad64_has_none_of(quad: quad64, bits: quad64) -> bool;
    fn quad64_widen(quad: quad32) -> quad64;
    fn quad64_bits_32_to_47(quad: quad64) -> quad32;
    fn descriptors_load_upper(descriptors: *const descriptor) -> quad64;
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
pub struct tuned_rx {
    pub queue: *mut rx_queue,
    pub places: *mut uint32_t,
    pub iova: uint64_t,
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
pub const RX_WHOLE: ::core::ffi::c_ulong = 0x1 as ::core::ffi::c_ulong
    | 0x2 as ::core::ffi::c_ulong
    | (1 as ::core::ffi::c_ulong)
        .wrapping_mul(
            0xffff00000000 as ::core::ffi::c_ulong
                & (!(0xffff00000000 as ::core::ffi::c_ulong))
                    .wrapping_add(1 as ::core::ffi::c_ulong),
        );
pub const RX_WRONG: ::core::ffi::c_ulong = 0x1 as ::core::ffi::c_ulong
    | 0x2 as ::core::ffi::c_ulong
    | 0xffff00000000 as ::core::ffi::c_ulong
        & !((2048 as ::core::ffi::c_int - 1 as ::core::ffi::c_int)
            as ::core::ffi::c_ulong)
            .wrapping_mul(
                0xffff00000000 as ::core::ffi::c_ulong
                    & (!(0xffff00000000 as ::core::ffi::c_ulong))
                        .wrapping_add(1 as ::core::ffi::c_ulong),
            );
#[inline]
unsafe extern "C" fn rx_is_whole(mut upper: uint64_t) -> bool {
    return upper.wrapping_sub(RX_WHOLE as uint64_t) & RX_WRONG as uint64_t
        == 0 as uint64_t;
}
pub const QUAD: ::core::ffi::c_uint = 4 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn rx_groups(
    mut rx: *const tuned_rx,
    mut batch: *mut tuned_batch,
    mut received: uint32_t,
    mut index: uint32_t,
    mut groups: uint32_t,
) -> uint32_t {
    let mut ring: *mut descriptor = (*(*rx).queue).ring.offset(index as isize);
    let mut slots: *mut uint32_t = (*rx).places.offset(index as isize);
    let mut places: *mut uint32_t = (&raw mut (*batch).places as *mut uint32_t)
        .offset(received as isize);
    let mut sizes: *mut uint32_t = (&raw mut (*batch).sizes as *mut uint32_t)
        .offset(received as isize);
    let iova: quad64 = quad64_splat((*rx).iova) as quad64;
    let minus_whole: quad64 = quad64_splat((RX_WHOLE as uint64_t).wrapping_neg())
        as quad64;
    let wrong: quad64 = quad64_splat(RX_WRONG as uint64_t) as quad64;
    let mut done: size_t = 0 as size_t;
    while done < groups as size_t {
        let mut upper: quad64 = descriptors_load_upper(
            ring.offset((QUAD as size_t).wrapping_mul(done) as isize),
        );
        if !quad64_has_none_of(quad64_add(upper, minus_whole), wrong)
            as ::core::ffi::c_int as ::core::ffi::c_long != 0
        {
            break;
        }
        let mut full: quad32 = quad32_load(
            slots.offset((QUAD as size_t).wrapping_mul(done) as isize),
        );
        let mut empty: quad32 = quad32_load(
            places.offset((QUAD as size_t).wrapping_mul(done) as isize),
        );
        quad32_store(slots.offset((QUAD as size_t).wrapping_mul(done) as isize), empty);
        quad32_store(places.offset((QUAD as size_t).wrapping_mul(done) as isize), full);
        quad32_store(
            sizes.offset((QUAD as size_t).wrapping_mul(done) as isize),
            quad64_bits_32_to_47(upper),
        );
        descriptors_store(
            ring.offset((QUAD as size_t).wrapping_mul(done) as isize),
            quad64_add(quad64_widen(empty), iova),
            quad64_splat(0 as uint64_t),
        );
        done = done.wrapping_add(1);
    }
    return (QUAD as uint32_t).wrapping_mul(done as uint32_t);
}
#[inline(never)]
#[cold]
unsafe extern "C" fn rx_more(
    mut rx: *const tuned_rx,
    mut batch: *mut tuned_batch,
    mut count: uint32_t,
) {
    let queue: *mut rx_queue = (*rx).queue;
    let mut index: uint32_t = (*queue).index;
    let mut received: uint32_t = (*batch).count;
    while received < count {
        let mut descriptor: *mut descriptor = (*queue).ring.offset(index as isize)
            as *mut descriptor;
        let mut status: uint64_t = dma_load64(&raw mut (*descriptor).upper);
        let mut is_end: bool = status & 0x2 as uint64_t != 0 as uint64_t;
        if status & 0x1 as uint64_t == 0 {
            break;
        }
        if (*queue).discarding as ::core::ffi::c_int != 0 || !rx_is_whole(status) {
            (*queue).discarding = !is_end;
            (*queue).discarded = (*queue).discarded.wrapping_add(is_end as uint64_t);
            count = count.wrapping_sub(1);
        } else {
            let mut full: uint32_t = *(*rx).places.offset(index as isize);
            *(*rx).places.offset(index as isize) = (*batch).places[received as usize];
            (*batch).places[received as usize] = full;
            (*batch).sizes[received as usize] = (status & 0xffff00000000 as uint64_t)
                .wrapping_div(
                    0xffff00000000 as uint64_t
                        & (!(0xffff00000000 as uint64_t)).wrapping_add(1 as uint64_t),
                ) as uint32_t;
            received = received.wrapping_add(1);
        }
        dma_store64(
            &raw mut (*descriptor).lower,
            (*rx).iova.wrapping_add(*(*rx).places.offset(index as isize) as uint64_t),
        );
        dma_store64(&raw mut (*descriptor).upper, 0 as uint64_t);
        index = index.wrapping_add(1 as uint32_t) & (*queue).mask;
        if index.wrapping_rem(QUAD as uint32_t) == 0 as uint32_t && !(*queue).discarding
            && received < count
        {
            let mut left: uint32_t = count.wrapping_sub(received);
            let mut to_end: uint32_t = (*queue)
                .mask
                .wrapping_add(1 as uint32_t)
                .wrapping_sub(index);
            let mut whole: uint32_t = rx_groups(
                rx,
                batch,
                received,
                index,
                (if left < to_end { left } else { to_end })
                    .wrapping_div(QUAD as uint32_t),
            );
            received = received.wrapping_add(whole);
            index = index.wrapping_add(whole) & (*queue).mask;
        }
    }
    (*queue).index = index;
    (*batch).count = received;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn tuned_rx_batch(
    mut rx: *mut tuned_rx,
    mut batch: *mut tuned_batch,
    mut count: uint32_t,
) -> uint32_t {
    let queue: *mut rx_queue = (*rx).queue;
    let mask: uint32_t = (*queue).mask;
    let first: uint32_t = (*queue).index;
    let to_end: uint32_t = mask.wrapping_add(1 as uint32_t).wrapping_sub(first);
    let end: uint32_t = first.wrapping_add(count)
        & !(QUAD as uint32_t).wrapping_sub(1 as uint32_t);
    let mut received: uint32_t = 0 as uint32_t;
    if (end > first) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        count = end.wrapping_sub(first);
    }
    if (first.wrapping_rem(QUAD as uint32_t) == 0 as uint32_t && !(*queue).discarding)
        as ::core::ffi::c_int as ::core::ffi::c_long != 0
    {
        received = rx_groups(
            rx,
            batch,
            0 as uint32_t,
            first,
            (if count < to_end { count } else { to_end }).wrapping_div(QUAD as uint32_t),
        );
    }
    (*batch).count = received;
    (*queue).index = first.wrapping_add(received) & mask;
    if (received != count) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        rx_more(rx, batch, count);
        if (*queue).index == first {
            return 0 as uint32_t;
        }
    }
    dma_read_barrier();
    dma_write_barrier();
    tail_write(
        (*queue).vfio,
        (*queue).tail,
        (*queue).tail_offset,
        (*queue).index.wrapping_sub(1 as uint32_t) & mask,
    );
    return (*batch).count;
}
