extern "C" {
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_load64(address: *const uint64_t) -> uint64_t;
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_read_barrier();
    fn dma_write_barrier();
    fn dma_prefetch(address: *const ::core::ffi::c_void);
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_wait(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
        name: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
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
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const IXGBE_RXCTRL: ::core::ffi::c_uint = 0x3000 as ::core::ffi::c_uint;
pub const IXGBE_RXCTRL_RXEN: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_SECRXCTRL: ::core::ffi::c_uint = 0x8d00 as ::core::ffi::c_uint;
pub const IXGBE_SECRXCTRL_RX_DIS: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const IXGBE_SECRXSTAT: ::core::ffi::c_uint = 0x8d04 as ::core::ffi::c_uint;
pub const IXGBE_SECRXSTAT_SECRX_RDY: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
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
unsafe extern "C" fn descriptor_refill(
    mut descriptor: *mut descriptor,
    mut packet: *const packet,
) {
    dma_store64(&raw mut (*descriptor).lower, (*packet).iova);
    dma_store64(&raw mut (*descriptor).upper, 0 as uint64_t);
}
unsafe extern "C" fn rx_discard(
    mut queue: *mut rx_queue,
    mut index: uint32_t,
) -> uint32_t {
    let mut i: uint32_t = 0 as uint32_t;
    while i <= (*queue).mask {
        let mut descriptor: *mut descriptor = (*queue).ring.offset(index as isize)
            as *mut descriptor;
        let mut status: uint64_t = dma_load64(&raw mut (*descriptor).upper);
        (*queue).discarding = true_0 != 0;
        if status & 0x1 as uint64_t == 0 {
            break;
        }
        descriptor_refill(descriptor, *(*queue).packets.offset(index as isize));
        index = index.wrapping_add(1 as uint32_t) & (*queue).mask;
        if status & 0x2 as uint64_t != 0 {
            (*queue).discarding = false_0 != 0;
            (*queue).discarded = (*queue).discarded.wrapping_add(1);
            break;
        } else {
            i = i.wrapping_add(1);
        }
    }
    return index;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn rx_batch(
    mut queue: *mut rx_queue,
    mut packets: *mut *mut packet,
    mut count: uint32_t,
) -> uint32_t {
    let ring: *mut descriptor = (*queue).ring;
    let ring_packets: *mut *mut packet = (*queue).packets;
    let pool: *mut mempool = (*queue).pool;
    let mut free: *mut *mut packet = (*pool).free.offset((*pool).free_count as isize);
    let mut limit: uint32_t = if count < (*pool).free_count {
        count
    } else {
        (*pool).free_count
    };
    let mask: uint32_t = (*queue).mask;
    let mut index: uint32_t = (*queue).index;
    let mut received: uint32_t = 0 as uint32_t;
    if (*queue).discarding as ::core::ffi::c_long != 0 {
        index = rx_discard(queue, index);
    }
    while received < limit {
        let mut descriptor: *mut descriptor = ring.offset(index as isize)
            as *mut descriptor;
        let mut status: uint64_t = dma_load64(&raw mut (*descriptor).upper);
        if status & 0x1 as uint64_t == 0 {
            break;
        }
        if (status & 0x2 as uint64_t == 0) as ::core::ffi::c_int as ::core::ffi::c_long
            != 0
        {
            index = rx_discard(queue, index);
            if (*queue).discarding {
                break;
            }
            count = count.wrapping_sub(1);
            limit = if limit < count { limit } else { count };
        } else {
            free = free.offset(-1);
            let mut fresh: *mut packet = *free;
            let mut packet: *mut packet = *ring_packets.offset(index as isize);
            dma_prefetch(
                &raw mut (*packet).data as *mut uint8_t as *const ::core::ffi::c_void,
            );
            (*packet).size = (status & 0xffff00000000 as uint64_t)
                .wrapping_div(
                    0xffff00000000 as uint64_t
                        & (!(0xffff00000000 as uint64_t)).wrapping_add(1 as uint64_t),
                ) as uint32_t;
            let ref mut fresh0 = *ring_packets.offset(index as isize);
            *fresh0 = fresh;
            descriptor_refill(descriptor, fresh);
            let ref mut fresh1 = *packets.offset(received as isize);
            *fresh1 = packet;
            received = received.wrapping_add(1);
            index = index.wrapping_add(1 as uint32_t) & mask;
        }
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(received);
    if ((*pool).free_count == 0 as uint32_t) as ::core::ffi::c_int as ::core::ffi::c_long
        != 0 && received < count
    {
        (*queue).pool_empty = ((*queue).pool_empty as ::core::ffi::c_ulong)
            .wrapping_add(
                (dma_load64(&raw mut (*ring.offset(index as isize)).upper)
                    & 0x1 as uint64_t) as ::core::ffi::c_ulong,
            ) as uint64_t as uint64_t;
    }
    if index != (*queue).index {
        (*queue).index = index;
        dma_read_barrier();
        dma_write_barrier();
        tail_write(
            (*queue).vfio,
            (*queue).tail,
            (*queue).tail_offset,
            index.wrapping_sub(1 as uint32_t) & mask,
        );
    }
    return received;
}
#[no_mangle]
pub unsafe extern "C" fn enable_rx(
    mut vfio: *mut vfio_device,
    mut on: bool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    reg_set(vfio, IXGBE_SECRXCTRL as uint32_t, IXGBE_SECRXCTRL_RX_DIS as uint32_t);
    if reg_wait(
        vfio,
        IXGBE_SECRXSTAT as uint32_t,
        IXGBE_SECRXSTAT_SECRX_RDY as uint32_t,
        IXGBE_SECRXSTAT_SECRX_RDY as uint32_t,
        b"SECRXSTAT.SECRX_RDY\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if on {
        reg_set(vfio, IXGBE_RXCTRL as uint32_t, IXGBE_RXCTRL_RXEN as uint32_t);
    } else {
        reg_clear(vfio, IXGBE_RXCTRL as uint32_t, IXGBE_RXCTRL_RXEN as uint32_t);
    }
    reg_clear(vfio, IXGBE_SECRXCTRL as uint32_t, IXGBE_SECRXCTRL_RX_DIS as uint32_t);
    return vfio_check(vfio, error);
}
