extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_container_init(container: *mut vfio_container);
    fn vfio_container_close(container: *mut vfio_container);
    fn mempool_create_strided(
        pool: *mut mempool,
        container: *mut vfio_container,
        capacity: uint32_t,
        stride: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn mempool_destroy(pool: *mut mempool);
    fn rx_batch(
        queue: *mut rx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn tx_batch(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn device_open(
        device: *mut device,
        container: *mut vfio_container,
        address: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_release(device: *mut device);
    fn rx_check_stall(queue: *mut rx_queue, error: *mut error) -> ::core::ffi::c_int;
    fn interrupts_start(
        device: *mut device,
        interval_us: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn interrupts_wait(
        devices: *mut device,
        count: uint32_t,
        timeout_ms: uint32_t,
        waits: *mut interrupts_waits,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn agent_init(
        agent: *mut agent,
        rx: *mut rx_queue,
        tx: *mut tx_queue,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn agent_forward(agent: *mut agent, count: uint32_t) -> uint32_t;
    fn agent_check(agent: *const agent, error: *mut error) -> ::core::ffi::c_int;
    fn tuned_rx_batch(
        rx: *mut tuned_rx,
        batch: *mut tuned_batch,
        count: uint32_t,
    ) -> uint32_t;
    fn tuned_tx_batch(tx: *mut tuned_tx, batch: *mut tuned_batch) -> uint32_t;
    fn tuned_lane_create(
        rx: *const *mut rx_queue,
        tx: *const *mut tx_queue,
    ) -> *mut tuned_lane;
    fn tuned_lane_destroy(lane: *mut tuned_lane);
    fn device_start_queues(
        device: *mut device,
        config: *const device_config,
        pools: *mut mempool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_wait_for_link(
        device: *mut device,
        timeout_ms: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn device_stop_queues(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn device_is_trapped(device: *const device) -> bool;
    fn stats_read(
        device: *mut device,
        stats: *mut device_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn queue_stats_read(
        device: *mut device,
        id: uint32_t,
        stats: *mut queue_stats,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
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
pub struct forwarder {
    pub lanes: [lane; 16],
    pub queues: uint32_t,
    pub container: vfio_container,
    pub pools: [[mempool; 16]; 2],
    pub path: uint32_t,
    pub devices: [device; 2],
    pub waits: interrupts_waits,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct interrupts_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device {
    pub vfio: vfio_device,
    pub family: device_family,
    pub config: device_config,
    pub pools: *mut mempool,
    pub queues_in_threads: bool,
    pub running: bool,
    pub mac: [uint8_t; 6],
    pub stats: device_stats,
    pub queue_stats: [queue_stats; 16],
    pub rx: [rx_queue; 16],
    pub tx: [tx_queue; 16],
    pub interrupts: device_interrupts,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_interrupts {
    pub vectors: uint32_t,
    pub armed: uint32_t,
    pub eventfds: [::core::ffi::c_int; 16],
    pub apart: [uint8_t; 56],
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
pub struct dma_memory {
    pub container: *mut vfio_container,
    pub memory: *mut ::core::ffi::c_void,
    pub iova: uint64_t,
    pub size: size_t,
    pub fd: ::core::ffi::c_int,
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
pub struct iova_range {
    pub first: uint64_t,
    pub last: uint64_t,
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
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_area {
    pub offset: uint64_t,
    pub size: uint64_t,
    pub memory: *mut uint8_t,
}
pub type vfio_kind = ::core::ffi::c_uint;
pub const VFIO_KIND_USER: vfio_kind = 1;
pub const VFIO_KIND_KERNEL: vfio_kind = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_group {
    pub number: ::core::ffi::c_int,
    pub fd: ::core::ffi::c_int,
    pub users: uint32_t,
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
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
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
pub struct queue_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub rx_dropped: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_config {
    pub rx_queues: uint32_t,
    pub tx_queues: uint32_t,
    pub rx_ring_size: uint32_t,
    pub tx_ring_size: uint32_t,
    pub promiscuous: bool,
    pub tx_sparse_rs: bool,
}
pub type device_family = ::core::ffi::c_uint;
pub const DEVICE_FAMILY_X550: device_family = 2;
pub const DEVICE_FAMILY_X540: device_family = 1;
pub const DEVICE_FAMILY_82599: device_family = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct lane {
    pub rx: [*mut rx_queue; 2],
    pub tx: [*mut tx_queue; 2],
    pub direction: direction,
    pub tuned: *mut tuned_lane,
    pub agents: [agent; 2],
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
pub struct tuned_lane {
    pub rx: [tuned_rx; 2],
    pub tx: [tuned_tx; 2],
    pub memory: *mut uint8_t,
    pub batch: tuned_batch,
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
pub struct tuned_tx {
    pub queue: *mut tx_queue,
    pub places: *mut uint32_t,
    pub iova: uint64_t,
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
pub struct direction {
    pub batch: uint32_t,
    pub counts: forwarder_counts,
    pub packets_left: uint64_t,
    pub packets: [*mut packet; 512],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_counts {
    pub rx: uint64_t,
    pub tx: uint64_t,
    pub dropped: uint64_t,
    pub rx_calls: uint64_t,
    pub full_batches: uint64_t,
}
pub type forwarder_path = ::core::ffi::c_uint;
pub const FORWARDER_PATH_AGENT: forwarder_path = 3;
pub const FORWARDER_PATH_TUNED: forwarder_path = 2;
pub const FORWARDER_PATH_STRIDE: forwarder_path = 1;
pub const FORWARDER_PATH_DEFAULT: forwarder_path = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_options {
    pub batch: uint32_t,
    pub ring_size: uint32_t,
    pub queues: uint32_t,
    pub path: uint32_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_waits {
    pub interrupts: uint64_t,
    pub sleeps: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct forwarder_device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct tuned_turn {
    pub received: uint32_t,
    pub sent: uint32_t,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn error_copy(
    mut result: ::core::ffi::c_int,
    mut reason: *const error,
    mut text: *mut ::core::ffi::c_char,
    mut size: size_t,
) -> ::core::ffi::c_int {
    if result != 0 as ::core::ffi::c_int {
        snprintf(
            text,
            size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw const (*reason).text as *const ::core::ffi::c_char,
        );
    }
    return result;
}
pub const PACKET_BUFFER_SIZE: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const PACKET_STRIDE_ODD: ::core::ffi::c_int = 2112 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn packet_alloc(mut pool: *mut mempool) -> *mut packet {
    if (*pool).free_count == 0 as uint32_t {
        return ::core::ptr::null_mut::<packet>();
    }
    (*pool).free_count = (*pool).free_count.wrapping_sub(1);
    return *(*pool).free.offset((*pool).free_count as isize);
}
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh1 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh1 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const DEVICE_MAX_RING_SIZE: ::core::ffi::c_int = 4096 as ::core::ffi::c_int;
pub const DEVICE_CONFIG_DEFAULT: device_config = device_config {
    rx_queues: 1 as uint32_t,
    tx_queues: 1 as uint32_t,
    rx_ring_size: 512 as uint32_t,
    tx_ring_size: 512 as uint32_t,
    promiscuous: true_0 != 0,
    tx_sparse_rs: false_0 != 0,
};
pub const TOUCHED_BYTE: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn tuned_forward(
    mut lane: *mut tuned_lane,
    mut from: uint32_t,
    mut wanted: uint32_t,
) -> tuned_turn {
    let batch: *mut tuned_batch = &raw mut (*lane).batch;
    let touched: *mut uint8_t = (*lane).memory.offset(TOUCHED_BYTE as isize);
    let mut turn: tuned_turn = tuned_turn {
        received: tuned_rx_batch(
            (&raw mut (*lane).rx as *mut tuned_rx).offset(from as isize)
                as *mut tuned_rx,
            batch,
            wanted,
        ),
        sent: 0 as uint32_t,
    };
    if turn.received == 0 as uint32_t {
        return turn;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < turn.received {
        let ref mut fresh2 = *touched.offset((*batch).places[i as usize] as isize);
        *fresh2 = (*fresh2).wrapping_add(1);
        i = i.wrapping_add(1);
    }
    turn.sent = tuned_tx_batch(
        (&raw mut (*lane).tx as *mut tuned_tx)
            .offset((1 as uint32_t).wrapping_sub(from) as isize) as *mut tuned_tx,
        batch,
    );
    return turn;
}
pub const POOL_MIN_CAPACITY: ::core::ffi::c_int = 2048 as ::core::ffi::c_int;
pub const POOL_PACKETS_PER_DESCRIPTOR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const TUNED_RINGS: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const SENT_SIZE: ::core::ffi::c_int = 60 as ::core::ffi::c_int;
#[inline]
unsafe extern "C" fn batch_wanted(mut direction: *const direction) -> uint32_t {
    return if (*direction).packets_left < (*direction).batch as uint64_t {
        (*direction).packets_left as uint32_t
    } else {
        (*direction).batch
    };
}
#[inline]
unsafe extern "C" fn batch_count(
    mut direction: *mut direction,
    mut wanted: uint32_t,
    mut received: uint32_t,
    mut sent: uint32_t,
) {
    let mut counts: *mut forwarder_counts = &raw mut (*direction).counts;
    (*direction).packets_left = (*direction)
        .packets_left
        .wrapping_sub(received as uint64_t);
    (*counts).rx = (*counts).rx.wrapping_add(received as uint64_t);
    (*counts).tx = (*counts).tx.wrapping_add(sent as uint64_t);
    (*counts).dropped = (*counts)
        .dropped
        .wrapping_add(received.wrapping_sub(sent) as uint64_t);
    (*counts).full_batches = (*counts)
        .full_batches
        .wrapping_add((received == wanted) as ::core::ffi::c_int as uint64_t);
}
#[inline(always)]
unsafe extern "C" fn forward(mut lane: *mut lane, mut from: uint32_t) -> uint32_t {
    let mut direction: *mut direction = &raw mut (*lane).direction;
    let mut packets: *mut *mut packet = &raw mut (*direction).packets
        as *mut *mut packet;
    let mut wanted: uint32_t = batch_wanted(direction);
    let mut received: uint32_t = rx_batch((*lane).rx[from as usize], packets, wanted);
    (*direction).counts.rx_calls = (*direction).counts.rx_calls.wrapping_add(1);
    if received == 0 as uint32_t {
        return 0 as uint32_t;
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < received {
        let ref mut fresh0 = *(&raw mut (**packets.offset(i as isize)).data
            as *mut uint8_t)
            .offset(TOUCHED_BYTE as isize);
        *fresh0 = (*fresh0).wrapping_add(1);
        i = i.wrapping_add(1);
    }
    let mut sent: uint32_t = tx_batch(
        (*lane).tx[(1 as uint32_t).wrapping_sub(from) as usize],
        packets,
        received,
    );
    let mut i_0: uint32_t = sent;
    while i_0 < received {
        packet_free(*packets.offset(i_0 as isize));
        i_0 = i_0.wrapping_add(1);
    }
    batch_count(direction, wanted, received, sent);
    return received;
}
#[inline(always)]
unsafe extern "C" fn lane_turn(mut lane: *mut lane) -> uint32_t {
    return forward(lane, 0 as uint32_t).wrapping_add(forward(lane, 1 as uint32_t));
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_lane(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
) -> *mut lane {
    '_c2rust_label: {
        if queue < (*forwarder).queues {} else {
            __assert_fail(
                b"queue < forwarder->queues\0" as *const u8
                    as *const ::core::ffi::c_char,
                b"c/src/rooms/forwarder.c\0" as *const u8 as *const ::core::ffi::c_char,
                89 as ::core::ffi::c_uint,
                b"struct lane *forwarder_lane(struct forwarder *, uint32_t)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    return (&raw mut (*forwarder).lanes as *mut lane).offset(queue as isize)
        as *mut lane;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_turn(mut forwarder: *mut forwarder) -> uint32_t {
    return lane_turn(
        (&raw mut (*forwarder).lanes as *mut lane)
            .offset(0 as ::core::ffi::c_int as isize) as *mut lane,
    );
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_queue_turn(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
) -> uint32_t {
    return lane_turn(forwarder_lane(forwarder, queue));
}
#[inline(always)]
unsafe extern "C" fn forward_tuned(mut lane: *mut lane, mut from: uint32_t) -> uint32_t {
    let mut direction: *mut direction = &raw mut (*lane).direction;
    let mut wanted: uint32_t = batch_wanted(direction);
    let mut turn: tuned_turn = tuned_forward((*lane).tuned, from, wanted);
    (*direction).counts.rx_calls = (*direction).counts.rx_calls.wrapping_add(1);
    if turn.received > 0 as uint32_t {
        batch_count(direction, wanted, turn.received, turn.sent);
    }
    return turn.received;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_tuned_turn(
    mut forwarder: *mut forwarder,
) -> uint32_t {
    let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
        .offset(0 as ::core::ffi::c_int as isize) as *mut lane;
    return forward_tuned(lane, 0 as uint32_t)
        .wrapping_add(forward_tuned(lane, 1 as uint32_t));
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_tuned_queue_turn(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
) -> uint32_t {
    let mut lane: *mut lane = forwarder_lane(forwarder, queue);
    return forward_tuned(lane, 0 as uint32_t)
        .wrapping_add(forward_tuned(lane, 1 as uint32_t));
}
#[inline(always)]
unsafe extern "C" fn forward_by_agent(
    mut lane: *mut lane,
    mut from: uint32_t,
) -> uint32_t {
    let mut direction: *mut direction = &raw mut (*lane).direction;
    let mut wanted: uint32_t = batch_wanted(direction);
    let mut forwarded: uint32_t = agent_forward(
        (&raw mut (*lane).agents as *mut agent).offset(from as isize) as *mut agent,
        wanted,
    );
    (*direction).counts.rx_calls = (*direction).counts.rx_calls.wrapping_add(1);
    if forwarded > 0 as uint32_t {
        batch_count(direction, wanted, forwarded, forwarded);
    }
    return forwarded;
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_agent_turn(
    mut forwarder: *mut forwarder,
) -> uint32_t {
    let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
        .offset(0 as ::core::ffi::c_int as isize) as *mut lane;
    return forward_by_agent(lane, 0 as uint32_t)
        .wrapping_add(forward_by_agent(lane, 1 as uint32_t));
}
#[no_mangle]
#[inline(always)]
pub unsafe extern "C" fn forwarder_agent_queue_turn(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
) -> uint32_t {
    let mut lane: *mut lane = forwarder_lane(forwarder, queue);
    return forward_by_agent(lane, 0 as uint32_t)
        .wrapping_add(forward_by_agent(lane, 1 as uint32_t));
}
unsafe extern "C" fn alloc_batch(
    mut direction: *mut direction,
    mut pool: *mut mempool,
) -> uint32_t {
    let mut count: uint32_t = 0 as uint32_t;
    while count < (*direction).batch && (*pool).free_count > 0 as uint32_t {
        (*direction).packets[count as usize] = packet_alloc(pool);
        count = count.wrapping_add(1);
    }
    return count;
}
unsafe extern "C" fn free_batch(mut packets: *mut *mut packet, mut count: uint32_t) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        packet_free(*packets.offset(i as isize));
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_receive(mut forwarder: *mut forwarder) -> uint32_t {
    let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
        .offset(0 as ::core::ffi::c_int as isize) as *mut lane;
    let mut packets: *mut *mut packet = &raw mut (*lane).direction.packets
        as *mut *mut packet;
    let mut total: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut received: uint32_t = rx_batch(
            (*lane).rx[i as usize],
            packets,
            (*lane).direction.batch,
        );
        free_batch(packets, received);
        total = total.wrapping_add(received);
        i = i.wrapping_add(1);
    }
    return total;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_send(mut forwarder: *mut forwarder) -> uint32_t {
    let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
        .offset(0 as ::core::ffi::c_int as isize) as *mut lane;
    let mut packets: *mut *mut packet = &raw mut (*lane).direction.packets
        as *mut *mut packet;
    let mut total: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut count: uint32_t = alloc_batch(
            &raw mut (*lane).direction,
            (&raw mut *(&raw mut (*forwarder).pools as *mut [mempool; 16])
                .offset(i as isize) as *mut mempool)
                .offset(0 as ::core::ffi::c_int as isize) as *mut mempool,
        );
        let mut j: uint32_t = 0 as uint32_t;
        while j < count {
            (**packets.offset(j as isize)).size = SENT_SIZE as uint32_t;
            j = j.wrapping_add(1);
        }
        let mut sent: uint32_t = tx_batch((*lane).tx[i as usize], packets, count);
        free_batch(packets.offset(sent as isize), count.wrapping_sub(sent));
        total = total.wrapping_add(sent);
        i = i.wrapping_add(1);
    }
    return total;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_alloc(mut forwarder: *mut forwarder) -> uint32_t {
    let mut direction: *mut direction = &raw mut (*(&raw mut (*forwarder).lanes
        as *mut lane)
        .offset(0 as ::core::ffi::c_int as isize))
        .direction;
    let mut total: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut count: uint32_t = alloc_batch(
            direction,
            (&raw mut *(&raw mut (*forwarder).pools as *mut [mempool; 16])
                .offset(i as isize) as *mut mempool)
                .offset(0 as ::core::ffi::c_int as isize) as *mut mempool,
        );
        free_batch(&raw mut (*direction).packets as *mut *mut packet, count);
        total = total.wrapping_add(count);
        i = i.wrapping_add(1);
    }
    return total;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_on_ordinary_pages(
    mut forwarder: *const forwarder,
) -> bool {
    return (*forwarder).container.ordinary_pages;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_is_trapped(mut forwarder: *const forwarder) -> bool {
    return device_is_trapped(
        (&raw const (*forwarder).devices as *const device)
            .offset(0 as ::core::ffi::c_int as isize) as *const device,
    ) as ::core::ffi::c_int != 0
        || device_is_trapped(
            (&raw const (*forwarder).devices as *const device)
                .offset(1 as ::core::ffi::c_int as isize) as *const device,
        ) as ::core::ffi::c_int != 0;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_limit(
    mut forwarder: *mut forwarder,
    mut packets: uint64_t,
) {
    forwarder_queue_limit(forwarder, 0 as uint32_t, packets);
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_queue_limit(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
    mut packets: uint64_t,
) {
    (*forwarder_lane(forwarder, queue)).direction.packets_left = packets;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_read_counts(
    mut forwarder: *const forwarder,
    mut counts: *mut forwarder_counts,
) {
    *counts = forwarder_counts {
        rx: 0 as uint64_t,
        tx: 0,
        dropped: 0,
        rx_calls: 0,
        full_batches: 0,
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*forwarder).queues {
        let mut more: *const forwarder_counts = &raw const (*(&raw const (*forwarder)
            .lanes as *const lane)
            .offset(i as isize))
            .direction
            .counts;
        (*counts).rx = (*counts).rx.wrapping_add((*more).rx);
        (*counts).tx = (*counts).tx.wrapping_add((*more).tx);
        (*counts).dropped = (*counts).dropped.wrapping_add((*more).dropped);
        (*counts).rx_calls = (*counts).rx_calls.wrapping_add((*more).rx_calls);
        (*counts).full_batches = (*counts)
            .full_batches
            .wrapping_add((*more).full_batches);
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_read_queue_counts(
    mut forwarder: *const forwarder,
    mut queue: uint32_t,
    mut counts: *mut forwarder_counts,
) {
    '_c2rust_label: {
        if queue < (*forwarder).queues {} else {
            __assert_fail(
                b"queue < forwarder->queues\0" as *const u8
                    as *const ::core::ffi::c_char,
                b"c/src/rooms/forwarder.c\0" as *const u8 as *const ::core::ffi::c_char,
                265 as ::core::ffi::c_uint,
                b"void forwarder_read_queue_counts(const struct forwarder *, uint32_t, struct forwarder_counts *)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    *counts = (*forwarder).lanes[queue as usize].direction.counts;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_queues(mut forwarder: *const forwarder) -> uint32_t {
    return (*forwarder).queues;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_give_queues(
    mut forwarder: *mut forwarder,
    mut to_threads: bool,
) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        (*forwarder).devices[i as usize].queues_in_threads = to_threads;
        i = i.wrapping_add(1);
    }
}
unsafe extern "C" fn check_agent(
    mut forwarder: *const forwarder,
    mut queue: uint32_t,
    mut device: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    return if (*forwarder).path != FORWARDER_PATH_AGENT as ::core::ffi::c_int as uint32_t
    {
        0 as ::core::ffi::c_int
    } else {
        agent_check(
            (&raw const (*(&raw const (*forwarder).lanes as *const lane)
                .offset(queue as isize))
                .agents as *const agent)
                .offset(device as isize) as *const agent,
            error,
        )
    };
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_queue_check(
    mut forwarder: *mut forwarder,
    mut queue: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut lane: *mut lane = forwarder_lane(forwarder, queue);
    let mut reason: error = error { text: [0; 1024] };
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        if rx_check_stall((*lane).rx[i as usize], &raw mut reason)
            != 0 as ::core::ffi::c_int
            || check_agent(forwarder, queue, i, &raw mut reason)
                != 0 as ::core::ffi::c_int
        {
            return error_copy(
                -(1 as ::core::ffi::c_int),
                &raw mut reason,
                error,
                error_size,
            );
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_device_stats(
    mut forwarder: *mut forwarder,
    mut device: uint32_t,
    mut stats: *mut forwarder_device_stats,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut read: device_stats = device_stats {
        rx_packets: 0,
        rx_bytes: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut reason: error = error { text: [0; 1024] };
    '_c2rust_label: {
        if device < 2 as uint32_t {} else {
            __assert_fail(
                b"device < 2\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/rooms/forwarder.c\0" as *const u8 as *const ::core::ffi::c_char,
                310 as ::core::ffi::c_uint,
                b"int forwarder_device_stats(struct forwarder *, uint32_t, struct forwarder_device_stats *, char *, size_t)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    if stats_read(
        (&raw mut (*forwarder).devices as *mut device).offset(device as isize)
            as *mut device,
        &raw mut read,
        &raw mut reason,
    ) != 0 as ::core::ffi::c_int
    {
        return error_copy(
            -(1 as ::core::ffi::c_int),
            &raw mut reason,
            error,
            error_size,
        );
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*forwarder).queues
        && !(*forwarder).devices[device as usize].queues_in_threads
    {
        if check_agent(forwarder, i, device, &raw mut reason) != 0 as ::core::ffi::c_int
        {
            return error_copy(
                -(1 as ::core::ffi::c_int),
                &raw mut reason,
                error,
                error_size,
            );
        }
        i = i.wrapping_add(1);
    }
    *stats = forwarder_device_stats {
        rx_packets: read.rx_packets,
        rx_bytes: read.rx_bytes,
        tx_packets: read.tx_packets,
        tx_bytes: read.tx_bytes,
    };
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_queue_stats(
    mut forwarder: *mut forwarder,
    mut device: uint32_t,
    mut queue: uint32_t,
    mut stats: *mut forwarder_device_stats,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut read: queue_stats = queue_stats {
        rx_packets: 0,
        rx_bytes: 0,
        rx_dropped: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut reason: error = error { text: [0; 1024] };
    '_c2rust_label: {
        if device < 2 as uint32_t {} else {
            __assert_fail(
                b"device < 2\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/rooms/forwarder.c\0" as *const u8 as *const ::core::ffi::c_char,
                332 as ::core::ffi::c_uint,
                b"int forwarder_queue_stats(struct forwarder *, uint32_t, uint32_t, struct forwarder_device_stats *, char *, size_t)\0"
                    as *const u8 as *const ::core::ffi::c_char,
            );
        }
    };
    if queue_stats_read(
        (&raw mut (*forwarder).devices as *mut device).offset(device as isize)
            as *mut device,
        queue,
        &raw mut read,
        &raw mut reason,
    ) != 0 as ::core::ffi::c_int
    {
        return error_copy(
            -(1 as ::core::ffi::c_int),
            &raw mut reason,
            error,
            error_size,
        );
    }
    *stats = forwarder_device_stats {
        rx_packets: read.rx_packets,
        rx_bytes: read.rx_bytes,
        tx_packets: read.tx_packets,
        tx_bytes: read.tx_bytes,
    };
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_read_missed(
    mut forwarder: *mut forwarder,
    mut missed: *mut uint64_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut read: queue_stats = queue_stats {
        rx_packets: 0,
        rx_bytes: 0,
        rx_dropped: 0,
        tx_packets: 0,
        tx_bytes: 0,
    };
    let mut reason: error = error { text: [0; 1024] };
    *missed = 0 as uint64_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (2 as uint32_t).wrapping_mul((*forwarder).queues) {
        if queue_stats_read(
            (&raw mut (*forwarder).devices as *mut device)
                .offset(i.wrapping_rem(2 as uint32_t) as isize) as *mut device,
            i.wrapping_div(2 as uint32_t),
            &raw mut read,
            &raw mut reason,
        ) != 0 as ::core::ffi::c_int
        {
            return error_copy(
                -(1 as ::core::ffi::c_int),
                &raw mut reason,
                error,
                error_size,
            );
        }
        *missed = (*missed).wrapping_add(read.rx_dropped);
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn destroy(
    mut forwarder: *mut forwarder,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut later: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut device: *mut device = (&raw mut (*forwarder).devices as *mut device)
            .offset(i as isize) as *mut device;
        if (*device).running as ::core::ffi::c_int != 0
            && device_stop_queues(
                device,
                (if result == 0 as ::core::ffi::c_int { error } else { &raw mut later }),
            ) != 0 as ::core::ffi::c_int
        {
            result = -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < 2 as uint32_t {
        device_release(
            (&raw mut (*forwarder).devices as *mut device).offset(i_0 as isize)
                as *mut device,
        );
        i_0 = i_0.wrapping_add(1);
    }
    let mut i_1: uint32_t = 0 as uint32_t;
    while i_1 < (*forwarder).queues {
        tuned_lane_destroy((*forwarder).lanes[i_1 as usize].tuned);
        mempool_destroy(
            (&raw mut *(&raw mut (*forwarder).pools as *mut [mempool; 16])
                .offset(0 as ::core::ffi::c_int as isize) as *mut mempool)
                .offset(i_1 as isize) as *mut mempool,
        );
        mempool_destroy(
            (&raw mut *(&raw mut (*forwarder).pools as *mut [mempool; 16])
                .offset(1 as ::core::ffi::c_int as isize) as *mut mempool)
                .offset(i_1 as isize) as *mut mempool,
        );
        i_1 = i_1.wrapping_add(1);
    }
    vfio_container_close(&raw mut (*forwarder).container);
    free(forwarder as *mut ::core::ffi::c_void);
    return result;
}
unsafe extern "C" fn pool_capacity(mut options: *const forwarder_options) -> uint32_t {
    let mut ring_size: uint32_t = (*options).ring_size;
    if ring_size > DEVICE_MAX_RING_SIZE as uint32_t {
        ring_size = DEVICE_MAX_RING_SIZE as uint32_t;
    }
    if (*options).path == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t {
        return (TUNED_RINGS as uint32_t)
            .wrapping_mul(ring_size)
            .wrapping_add(FORWARDER_MAX_BATCH as uint32_t);
    }
    let mut capacity: uint32_t = ring_size
        .wrapping_mul(POOL_PACKETS_PER_DESCRIPTOR as uint32_t);
    return if capacity < POOL_MIN_CAPACITY as uint32_t {
        POOL_MIN_CAPACITY as uint32_t
    } else {
        capacity
    };
}
unsafe extern "C" fn open_ports(
    mut forwarder: *mut forwarder,
    mut addresses: *const *const ::core::ffi::c_char,
    mut options: *const forwarder_options,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut stride: uint32_t = (if (*options).path
        == FORWARDER_PATH_DEFAULT as ::core::ffi::c_int as uint32_t
    {
        PACKET_BUFFER_SIZE
    } else {
        PACKET_STRIDE_ODD
    }) as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        if device_open(
            (&raw mut (*forwarder).devices as *mut device).offset(i as isize)
                as *mut device,
            &raw mut (*forwarder).container,
            *addresses.offset(i as isize),
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < (2 as uint32_t).wrapping_mul((*forwarder).queues) {
        if !(i_0.wrapping_rem(2 as uint32_t) == 1 as uint32_t
            && (*options).path == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t)
        {
            if mempool_create_strided(
                (&raw mut *(&raw mut (*forwarder).pools as *mut [mempool; 16])
                    .offset(i_0.wrapping_rem(2 as uint32_t) as isize) as *mut mempool)
                    .offset(i_0.wrapping_div(2 as uint32_t) as isize) as *mut mempool,
                &raw mut (*forwarder).container,
                pool_capacity(options),
                stride,
                error,
            ) != 0 as ::core::ffi::c_int
            {
                return -(1 as ::core::ffi::c_int);
            }
        }
        i_0 = i_0.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn start(
    mut forwarder: *mut forwarder,
    mut options: *const forwarder_options,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut config: device_config = DEVICE_CONFIG_DEFAULT;
    config.rx_queues = (*forwarder).queues;
    config.tx_queues = (*forwarder).queues;
    config.rx_ring_size = (*options).ring_size;
    config.tx_ring_size = (*options).ring_size;
    config.tx_sparse_rs = (*options).path
        >= FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < 2 as uint32_t {
        let mut pools: *mut mempool = &raw mut *(&raw mut (*forwarder).pools
            as *mut [mempool; 16])
            .offset(
                (if (*options).path
                    == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t
                {
                    0 as uint32_t
                } else {
                    i
                }) as isize,
            ) as *mut mempool;
        if device_start_queues(
            (&raw mut (*forwarder).devices as *mut device).offset(i as isize)
                as *mut device,
            &raw mut config,
            pools,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < 2 as uint32_t {
        if device_wait_for_link(
            (&raw mut (*forwarder).devices as *mut device).offset(i_0 as isize)
                as *mut device,
            (*options).link_timeout_ms,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i_0 = i_0.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn init_path(
    mut forwarder: *mut forwarder,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*forwarder).queues {
        let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
            .offset(i as isize) as *mut lane;
        if (*forwarder).path == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t {
            (*lane).tuned = tuned_lane_create(
                &raw mut (*lane).rx as *mut *mut rx_queue as *const *mut rx_queue,
                &raw mut (*lane).tx as *mut *mut tx_queue as *const *mut tx_queue,
            );
            if (*lane).tuned.is_null() {
                snprintf(
                    &raw mut (*error).text as *mut ::core::ffi::c_char,
                    ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                    b"out of memory for the lane of queue %u\0" as *const u8
                        as *const ::core::ffi::c_char,
                    i,
                );
                return -(1 as ::core::ffi::c_int);
            }
        } else if (*forwarder).path
            == FORWARDER_PATH_AGENT as ::core::ffi::c_int as uint32_t
        {
            if agent_init(
                (&raw mut (*lane).agents as *mut agent)
                    .offset(0 as ::core::ffi::c_int as isize) as *mut agent,
                (*lane).rx[0 as ::core::ffi::c_int as usize],
                (*lane).tx[1 as ::core::ffi::c_int as usize],
                error,
            ) != 0 as ::core::ffi::c_int
                || agent_init(
                    (&raw mut (*lane).agents as *mut agent)
                        .offset(1 as ::core::ffi::c_int as isize) as *mut agent,
                    (*lane).rx[1 as ::core::ffi::c_int as usize],
                    (*lane).tx[0 as ::core::ffi::c_int as usize],
                    error,
                ) != 0 as ::core::ffi::c_int
            {
                return -(1 as ::core::ffi::c_int);
            }
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn init_lanes(mut forwarder: *mut forwarder, mut batch: uint32_t) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*forwarder).queues {
        let mut lane: *mut lane = (&raw mut (*forwarder).lanes as *mut lane)
            .offset(i as isize) as *mut lane;
        (*lane).direction.batch = batch;
        (*lane).direction.packets_left = UINT64_MAX as uint64_t;
        let mut j: uint32_t = 0 as uint32_t;
        while j < 2 as uint32_t {
            (*lane).rx[j as usize] = (&raw mut (*(&raw mut (*forwarder).devices
                as *mut device)
                .offset(j as isize))
                .rx as *mut rx_queue)
                .offset(i as isize) as *mut rx_queue;
            (*lane).tx[j as usize] = (&raw mut (*(&raw mut (*forwarder).devices
                as *mut device)
                .offset(j as isize))
                .tx as *mut tx_queue)
                .offset(i as isize) as *mut tx_queue;
            j = j.wrapping_add(1);
        }
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_open_with(
    mut device_a: *const ::core::ffi::c_char,
    mut device_b: *const ::core::ffi::c_char,
    mut options: *const forwarder_options,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut forwarder {
    let addresses: [*const ::core::ffi::c_char; 2] = [device_a, device_b];
    let mut reason: error = error { text: [0; 1024] };
    if (*options).batch < 1 as uint32_t
        || (*options).batch > FORWARDER_MAX_BATCH as uint32_t
    {
        snprintf(
            error,
            error_size,
            b"a batch has 1 to %d packets, not %u\0" as *const u8
                as *const ::core::ffi::c_char,
            FORWARDER_MAX_BATCH,
            (*options).batch,
        );
        return ::core::ptr::null_mut::<forwarder>();
    }
    if (*options).queues < 1 as uint32_t
        || (*options).queues > DEVICE_MAX_QUEUES as uint32_t
    {
        snprintf(
            error,
            error_size,
            b"a device has 1 to %d queue pairs, not %u\0" as *const u8
                as *const ::core::ffi::c_char,
            DEVICE_MAX_QUEUES,
            (*options).queues,
        );
        return ::core::ptr::null_mut::<forwarder>();
    }
    let mut forwarder: *mut forwarder = calloc(
        1 as size_t,
        ::core::mem::size_of::<forwarder>() as size_t,
    ) as *mut forwarder;
    if forwarder.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the forwarder\0" as *const u8
                as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<forwarder>();
    }
    (*forwarder).queues = (*options).queues;
    (*forwarder).path = (*options).path;
    init_lanes(forwarder, (*options).batch);
    vfio_container_init(&raw mut (*forwarder).container);
    (*forwarder).container.connect_timeout_ms = (*options).connect_timeout_ms;
    if open_ports(
        forwarder,
        &raw const addresses as *const *const ::core::ffi::c_char,
        options,
        &raw mut reason,
    ) != 0 as ::core::ffi::c_int
        || start(forwarder, options, &raw mut reason) != 0 as ::core::ffi::c_int
        || init_path(forwarder, &raw mut reason) != 0 as ::core::ffi::c_int
    {
        error_copy(-(1 as ::core::ffi::c_int), &raw mut reason, error, error_size);
        destroy(forwarder, &raw mut reason);
        return ::core::ptr::null_mut::<forwarder>();
    }
    return forwarder;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_open(
    mut device_a: *const ::core::ffi::c_char,
    mut device_b: *const ::core::ffi::c_char,
    mut batch: uint32_t,
    mut ring_size: uint32_t,
    mut connect_timeout_ms: uint32_t,
    mut link_timeout_ms: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut forwarder {
    let options: forwarder_options = forwarder_options {
        batch: batch,
        ring_size: ring_size,
        queues: 1 as uint32_t,
        path: FORWARDER_PATH_DEFAULT as ::core::ffi::c_int as uint32_t,
        connect_timeout_ms: connect_timeout_ms,
        link_timeout_ms: link_timeout_ms,
    };
    return forwarder_open_with(
        device_a,
        device_b,
        &raw const options,
        error,
        error_size,
    );
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_use_interrupts(
    mut forwarder: *mut forwarder,
    mut interval_us: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    if interrupts_start(
        (&raw mut (*forwarder).devices as *mut device)
            .offset(0 as ::core::ffi::c_int as isize) as *mut device,
        interval_us,
        &raw mut reason,
    ) != 0 as ::core::ffi::c_int
        || interrupts_start(
            (&raw mut (*forwarder).devices as *mut device)
                .offset(1 as ::core::ffi::c_int as isize) as *mut device,
            interval_us,
            &raw mut reason,
        ) != 0 as ::core::ffi::c_int
    {
        return error_copy(
            -(1 as ::core::ffi::c_int),
            &raw mut reason,
            error,
            error_size,
        );
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_wait(
    mut forwarder: *mut forwarder,
    mut timeout_ms: uint32_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = interrupts_wait(
        &raw mut (*forwarder).devices as *mut device,
        2 as uint32_t,
        timeout_ms,
        &raw mut (*forwarder).waits,
        &raw mut reason,
    );
    return error_copy(result, &raw mut reason, error, error_size);
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_read_waits(
    mut forwarder: *const forwarder,
    mut waits: *mut forwarder_waits,
) {
    (*waits).interrupts = (*forwarder).waits.interrupts;
    (*waits).sleeps = (*forwarder).waits.sleeps;
}
#[no_mangle]
pub unsafe extern "C" fn forwarder_close(
    mut forwarder: *mut forwarder,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut reason: error = error { text: [0; 1024] };
    return error_copy(
        destroy(forwarder, &raw mut reason),
        &raw mut reason,
        error,
        error_size,
    );
}
