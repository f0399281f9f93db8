extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_read_barrier();
    fn dma_write_barrier();
    fn tx_space(queue: *const tx_queue) -> uint32_t;
    fn quad32_load(values: *const uint32_t) -> quad32;
    fn quad64_splat(word: uint64_t) -> quad64;
    fn quad64_add(a: quad64, b: quad64) -> quad64;
    fn quad64_shift_left(quad: quad64, bits: uint32_t) -> quad64;
    fn quad64_has_none_of(quad: quad64, bits: quad64) -> bool;
    fn quad64_widen(quad: quad32) -> quad64;
    fn quad64_wide_bits_32_to_47(quad: quad64) -> quad64;
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
pub struct agent {
    pub rx: *mut rx_queue,
    pub tx: *mut tx_queue,
    pub data: *mut uint8_t,
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
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const PACKET_STRIDE_ODD: ::core::ffi::c_int = 2112 as ::core::ffi::c_int;
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
pub const TOUCHED_BYTE: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
static mut offsets: [uint32_t; 4] = [0; 4];
#[inline]
unsafe extern "C" fn four_addresses(
    mut agent: *const agent,
    mut index: uint32_t,
) -> quad64 {
    return quad64_add(
        quad64_splat(
            (*agent)
                .iova
                .wrapping_add(
                    (index as uint64_t).wrapping_mul(PACKET_STRIDE_ODD as uint64_t),
                ),
        ),
        quad64_widen(quad32_load(&raw const offsets as *const uint32_t)),
    );
}
#[no_mangle]
pub unsafe extern "C" fn agent_init(
    mut agent: *mut agent,
    mut rx: *mut rx_queue,
    mut tx: *mut tx_queue,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    *agent = agent {
        rx: rx,
        tx: tx,
        data: &raw mut (**(*rx).packets.offset(0 as ::core::ffi::c_int as isize)).data
            as *mut uint8_t,
        iova: (**(*rx).packets.offset(0 as ::core::ffi::c_int as isize)).iova,
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i <= (*rx).mask {
        if (**(*rx).packets.offset(i as isize)).iova
            != (*agent)
                .iova
                .wrapping_add(
                    (i as uint64_t).wrapping_mul(PACKET_STRIDE_ODD as uint64_t),
                )
        {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: the buffers of RX queue %u do not lie in the order of its descriptors, as the agent needs them\0"
                    as *const u8 as *const ::core::ffi::c_char,
                &raw mut (*(*rx).vfio).address as *mut ::core::ffi::c_char,
                (*rx).id,
            );
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
#[inline]
unsafe extern "C" fn agent_refill(mut agent: *const agent) {
    let tx: *mut tx_queue = (*agent).tx;
    let rx: *mut rx_queue = (*agent).rx;
    let next: quad64 = quad64_splat(
        (4 as ::core::ffi::c_uint as uint64_t)
            .wrapping_mul(PACKET_STRIDE_ODD as uint64_t),
    ) as quad64;
    let mut refilled: bool = false_0 != 0;
    while tx_all_done(tx, TX_RS_EVERY as uint32_t) {
        let mut ring: *mut descriptor = (*rx).ring.offset((*tx).clean_index as isize);
        let mut addresses: quad64 = four_addresses(agent, (*tx).clean_index);
        let mut i: size_t = 0 as size_t;
        while i < TX_RS_EVERY as size_t {
            descriptors_store(
                ring.offset(i as isize),
                addresses,
                quad64_splat(0 as uint64_t),
            );
            addresses = quad64_add(addresses, next);
            i = i.wrapping_add(QUAD as size_t);
        }
        (*tx).clean_index = (*tx).clean_index.wrapping_add(TX_RS_EVERY as uint32_t)
            & (*tx).mask;
        (*tx).done = (*tx).done.wrapping_add(TX_RS_EVERY as uint64_t);
        refilled = true_0 != 0;
    }
    if refilled {
        dma_write_barrier();
        tail_write(
            (*rx).vfio,
            (*rx).tail,
            (*rx).tail_offset,
            (*tx).clean_index.wrapping_sub(1 as uint32_t) & (*rx).mask,
        );
    }
}
#[inline]
unsafe extern "C" fn agent_groups(
    mut agent: *const agent,
    mut index: uint32_t,
    mut groups: uint32_t,
) -> uint32_t {
    let mut from: *const descriptor = (*(*agent).rx).ring.offset(index as isize);
    let mut to: *mut descriptor = (*(*agent).tx).ring.offset(index as isize);
    let mut touched: *mut uint8_t = (*agent)
        .data
        .offset((index as size_t).wrapping_mul(PACKET_STRIDE_ODD as size_t) as isize)
        .offset(TOUCHED_BYTE as isize);
    let mut addresses: quad64 = four_addresses(agent, index);
    let next: quad64 = quad64_splat(
        (4 as ::core::ffi::c_uint as uint64_t)
            .wrapping_mul(PACKET_STRIDE_ODD as uint64_t),
    ) as quad64;
    let minus_whole: quad64 = quad64_splat((RX_WHOLE as uint64_t).wrapping_neg())
        as quad64;
    let wrong: quad64 = quad64_splat(RX_WRONG as uint64_t) as quad64;
    let mut done: size_t = 0 as size_t;
    while done < groups as size_t {
        let mut upper: quad64 = descriptors_load_upper(
            from.offset((QUAD as size_t).wrapping_mul(done) as isize),
        );
        if !quad64_has_none_of(quad64_add(upper, minus_whole), wrong)
            as ::core::ffi::c_int as ::core::ffi::c_long != 0
        {
            break;
        }
        dma_read_barrier();
        let ref mut fresh1 = *touched.offset(0 as ::core::ffi::c_int as isize);
        *fresh1 = (*fresh1).wrapping_add(1);
        let ref mut fresh2 = *touched
            .offset(
                (1 as ::core::ffi::c_int as size_t)
                    .wrapping_mul(PACKET_STRIDE_ODD as size_t) as isize,
            );
        *fresh2 = (*fresh2).wrapping_add(1);
        let ref mut fresh3 = *touched
            .offset(
                (2 as ::core::ffi::c_int as size_t)
                    .wrapping_mul(PACKET_STRIDE_ODD as size_t) as isize,
            );
        *fresh3 = (*fresh3).wrapping_add(1);
        let ref mut fresh4 = *touched
            .offset(
                (3 as ::core::ffi::c_int as size_t)
                    .wrapping_mul(PACKET_STRIDE_ODD as size_t) as isize,
            );
        *fresh4 = (*fresh4).wrapping_add(1);
        touched = touched
            .offset(
                (4 as ::core::ffi::c_uint as size_t)
                    .wrapping_mul(PACKET_STRIDE_ODD as size_t) as isize,
            );
        descriptors_store(
            to.offset((QUAD as size_t).wrapping_mul(done) as isize),
            addresses,
            tx_upper_words(quad64_wide_bits_32_to_47(upper)),
        );
        addresses = quad64_add(addresses, next);
        done = done.wrapping_add(1);
    }
    return (QUAD as uint32_t).wrapping_mul(done as uint32_t);
}
#[inline(never)]
#[cold]
unsafe extern "C" fn agent_more(
    mut agent: *const agent,
    mut forwarded: uint32_t,
    mut count: uint32_t,
) -> uint32_t {
    let mask: uint32_t = (*(*agent).rx).mask;
    let mut index: uint32_t = (*(*agent).rx).index.wrapping_add(forwarded) & mask;
    while forwarded < count {
        let mut status: uint64_t = dma_load64(
            &raw mut (*(*(*agent).rx).ring.offset(index as isize)).upper,
        );
        let mut offset: size_t = (index as size_t)
            .wrapping_mul(PACKET_STRIDE_ODD as size_t);
        if !rx_is_whole(status) {
            break;
        }
        dma_read_barrier();
        let ref mut fresh0 = *(*agent)
            .data
            .offset(offset.wrapping_add(TOUCHED_BYTE as size_t) as isize);
        *fresh0 = (*fresh0).wrapping_add(1);
        dma_store64(
            &raw mut (*(*(*agent).tx).ring.offset(index as isize)).lower,
            (*agent).iova.wrapping_add(offset as uint64_t),
        );
        dma_store64(
            &raw mut (*(*(*agent).tx).ring.offset(index as isize)).upper,
            tx_upper_word(
                (status & 0xffff00000000 as uint64_t)
                    .wrapping_div(
                        0xffff00000000 as uint64_t
                            & (!(0xffff00000000 as uint64_t)).wrapping_add(1 as uint64_t),
                    ),
            ),
        );
        forwarded = forwarded.wrapping_add(1);
        index = index.wrapping_add(1 as uint32_t) & mask;
        if index.wrapping_rem(QUAD as uint32_t) == 0 as uint32_t {
            let mut left: uint32_t = count.wrapping_sub(forwarded);
            let mut to_end: uint32_t = mask
                .wrapping_add(1 as uint32_t)
                .wrapping_sub(index);
            let mut whole: uint32_t = agent_groups(
                agent,
                index,
                (if left < to_end { left } else { to_end })
                    .wrapping_div(QUAD as uint32_t),
            );
            forwarded = forwarded.wrapping_add(whole);
            index = index.wrapping_add(whole) & mask;
        }
    }
    return forwarded;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn agent_forward(
    mut agent: *mut agent,
    mut count: uint32_t,
) -> uint32_t {
    let rx: *mut rx_queue = (*agent).rx;
    let mask: uint32_t = (*rx).mask;
    let first: uint32_t = (*rx).index;
    let to_end: uint32_t = mask.wrapping_add(1 as uint32_t).wrapping_sub(first);
    let end: uint32_t = first.wrapping_add(count)
        & !(QUAD as uint32_t).wrapping_sub(1 as uint32_t);
    let mut forwarded: uint32_t = 0 as uint32_t;
    agent_refill(agent);
    if (end > first) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        count = end.wrapping_sub(first);
    }
    let most: uint32_t = tx_space((*agent).tx) as uint32_t;
    if (count > most) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        count = most;
    }
    if (first.wrapping_rem(QUAD as uint32_t) == 0 as uint32_t) as ::core::ffi::c_int
        as ::core::ffi::c_long != 0
    {
        forwarded = agent_groups(
            agent,
            first,
            (if count < to_end { count } else { to_end }).wrapping_div(QUAD as uint32_t),
        );
    }
    if (forwarded != count) as ::core::ffi::c_int as ::core::ffi::c_long != 0 {
        forwarded = agent_more(agent, forwarded, count);
    }
    if forwarded > 0 as uint32_t {
        (*rx).index = first.wrapping_add(forwarded) & mask;
        tx_hand_over((*agent).tx, forwarded);
    }
    return forwarded;
}
#[no_mangle]
pub unsafe extern "C" fn agent_check(
    mut agent: *const agent,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut rx: *const rx_queue = (*agent).rx;
    let mut status: uint64_t = dma_load64(
        &raw mut (*(*rx).ring.offset((*rx).index as isize)).upper,
    );
    if status & 0x1 as uint64_t == 0 || rx_is_whole(status) as ::core::ffi::c_int != 0 {
        return 0 as ::core::ffi::c_int;
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: descriptor %u of RX queue %u has %s of %u bytes, and the agent cannot drop it; --path tuned drops such frames\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw mut (*(*rx).vfio).address as *mut ::core::ffi::c_char,
        (*rx).index,
        (*rx).id,
        (if status & 0x2 as uint64_t != 0 {
            b"a frame\0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"a part of a frame\0" as *const u8 as *const ::core::ffi::c_char
        }),
        (status & 0xffff00000000 as uint64_t)
            .wrapping_div(
                0xffff00000000 as uint64_t
                    & (!(0xffff00000000 as uint64_t)).wrapping_add(1 as uint64_t),
            ) as uint32_t,
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn run_static_initializers() {
    offsets = [
        (0 as ::core::ffi::c_int as size_t).wrapping_mul(PACKET_STRIDE_ODD as size_t)
            as uint32_t,
        (1 as ::core::ffi::c_int as size_t).wrapping_mul(PACKET_STRIDE_ODD as size_t)
            as uint32_t,
        (2 as ::core::ffi::c_int as size_t).wrapping_mul(PACKET_STRIDE_ODD as size_t)
            as uint32_t,
        (3 as ::core::ffi::c_int as size_t).wrapping_mul(PACKET_STRIDE_ODD as size_t)
            as uint32_t,
    ];
}
#[used]
#[cfg_attr(target_os = "linux", link_section = ".init_array")]
#[cfg_attr(target_os = "windows", link_section = ".CRT$XIB")]
#[cfg_attr(target_os = "macos", link_section = "__DATA,__mod_init_func")]
static INIT_ARRAY: [unsafe extern "C" fn(); 1] = [run_static_initializers];
