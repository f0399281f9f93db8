extern "C" {
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
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
pub struct tuned_tx {
    pub queue: *mut tx_queue,
    pub places: *mut uint32_t,
    pub iova: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct tuned_lane {
    pub rx: [tuned_rx; 2],
    pub tx: [tuned_tx; 2],
    pub memory: *mut uint8_t,
    pub batch: tuned_batch,
}
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
pub const TUNED_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
unsafe extern "C" fn take_places(
    mut pool: *mut mempool,
    mut places: *mut uint32_t,
    mut count: uint32_t,
) -> bool {
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let mut packet: *mut packet = packet_alloc(pool);
        if packet.is_null() {
            return false_0 != 0;
        }
        *places.offset(i as isize) = (*packet).iova.wrapping_sub((*pool).dma.iova)
            as uint32_t;
        i = i.wrapping_add(1);
    }
    return true_0 != 0;
}
unsafe extern "C" fn init_rx(mut rx: *mut tuned_rx, mut queue: *mut rx_queue) -> bool {
    *rx = tuned_rx {
        queue: queue,
        places: ::core::ptr::null_mut::<uint32_t>(),
        iova: (*(*queue).pool).dma.iova,
    };
    (*rx).places = calloc(
        (*queue).mask.wrapping_add(1 as uint32_t) as size_t,
        ::core::mem::size_of::<uint32_t>() as size_t,
    ) as *mut uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while !(*rx).places.is_null() && i <= (*queue).mask {
        *(*rx).places.offset(i as isize) = (**(*queue).packets.offset(i as isize))
            .iova
            .wrapping_sub((*rx).iova) as uint32_t;
        i = i.wrapping_add(1);
    }
    return !(*rx).places.is_null();
}
unsafe extern "C" fn init_tx(
    mut tx: *mut tuned_tx,
    mut queue: *mut tx_queue,
    mut pool: *mut mempool,
) -> bool {
    *tx = tuned_tx {
        queue: queue,
        places: ::core::ptr::null_mut::<uint32_t>(),
        iova: (*pool).dma.iova,
    };
    (*tx).places = calloc(
        (*queue).mask.wrapping_add(1 as uint32_t) as size_t,
        ::core::mem::size_of::<uint32_t>() as size_t,
    ) as *mut uint32_t;
    return !(*tx).places.is_null()
        && take_places(pool, (*tx).places, (*queue).mask.wrapping_add(1 as uint32_t))
            as ::core::ffi::c_int != 0;
}
#[no_mangle]
pub unsafe extern "C" fn tuned_lane_create(
    mut rx: *const *mut rx_queue,
    mut tx: *const *mut tx_queue,
) -> *mut tuned_lane {
    let mut pool: *mut mempool = (**rx.offset(0 as ::core::ffi::c_int as isize)).pool;
    let mut lane: *mut tuned_lane = calloc(
        1 as size_t,
        ::core::mem::size_of::<tuned_lane>() as size_t,
    ) as *mut tuned_lane;
    if lane.is_null() {
        return ::core::ptr::null_mut::<tuned_lane>();
    }
    (*lane).memory = (*pool).dma.memory as *mut uint8_t;
    if (**rx.offset(1 as ::core::ffi::c_int as isize)).pool != pool
        || !init_rx(
            (&raw mut (*lane).rx as *mut tuned_rx)
                .offset(0 as ::core::ffi::c_int as isize) as *mut tuned_rx,
            *rx.offset(0 as ::core::ffi::c_int as isize),
        )
        || !init_rx(
            (&raw mut (*lane).rx as *mut tuned_rx)
                .offset(1 as ::core::ffi::c_int as isize) as *mut tuned_rx,
            *rx.offset(1 as ::core::ffi::c_int as isize),
        )
        || !init_tx(
            (&raw mut (*lane).tx as *mut tuned_tx)
                .offset(0 as ::core::ffi::c_int as isize) as *mut tuned_tx,
            *tx.offset(0 as ::core::ffi::c_int as isize),
            pool,
        )
        || !init_tx(
            (&raw mut (*lane).tx as *mut tuned_tx)
                .offset(1 as ::core::ffi::c_int as isize) as *mut tuned_tx,
            *tx.offset(1 as ::core::ffi::c_int as isize),
            pool,
        )
        || !take_places(
            pool,
            &raw mut (*lane).batch.places as *mut uint32_t,
            TUNED_MAX_BATCH as uint32_t,
        )
    {
        tuned_lane_destroy(lane);
        return ::core::ptr::null_mut::<tuned_lane>();
    }
    return lane;
}
#[no_mangle]
pub unsafe extern "C" fn tuned_lane_destroy(mut lane: *mut tuned_lane) {
    if !lane.is_null() {
        free(
            (*lane).rx[0 as ::core::ffi::c_int as usize].places
                as *mut ::core::ffi::c_void,
        );
        free(
            (*lane).rx[1 as ::core::ffi::c_int as usize].places
                as *mut ::core::ffi::c_void,
        );
        free(
            (*lane).tx[0 as ::core::ffi::c_int as usize].places
                as *mut ::core::ffi::c_void,
        );
        free(
            (*lane).tx[1 as ::core::ffi::c_int as usize].places
                as *mut ::core::ffi::c_void,
        );
        free(lane as *mut ::core::ffi::c_void);
    }
}
