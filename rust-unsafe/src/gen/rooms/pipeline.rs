extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn rx_batch(
        queue: *mut rx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn tx_space(queue: *const tx_queue) -> uint32_t;
    fn tx_put(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn forwarder_lane(forwarder: *mut forwarder, queue: uint32_t) -> *mut lane;
    fn forwarder_queues(forwarder: *const forwarder) -> uint32_t;
    fn packet_ring_create(
        ring: *mut packet_ring,
        capacity: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn packet_ring_destroy(ring: *mut packet_ring);
    fn packet_ring_put(
        ring: *mut packet_ring,
        packets: *const *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn packet_ring_take(
        ring: *mut packet_ring,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn packet_ring_waits(ring: *const packet_ring) -> bool;
    fn tx_take(
        queue: *mut tx_queue,
        packets: *mut *mut packet,
        count: uint32_t,
    ) -> uint32_t;
    fn packets_return(packets: *const *mut packet, count: uint32_t);
    fn mempool_take_returned(pool: *mut mempool);
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
pub struct forwarder_counts {
    pub rx: uint64_t,
    pub tx: uint64_t,
    pub dropped: uint64_t,
    pub rx_calls: uint64_t,
    pub full_batches: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pipeline {
    pub forwarder: *mut forwarder,
    pub queues: uint32_t,
    pub batch: uint32_t,
    pub packets_left: uint64_t,
    pub apart: [uint8_t; 128],
    pub streams: [[stream; 2]; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct stream {
    pub rx: *mut rx_queue,
    pub tx: *mut tx_queue,
    pub to_worker: packet_ring,
    pub to_sender: packet_ring,
    pub received: uint64_t,
    pub rx_calls: uint64_t,
    pub full_batches: uint64_t,
    pub apart_rx: [uint8_t; 128],
    pub sent: uint64_t,
    pub apart_tx: [uint8_t; 128],
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
pub struct direction {
    pub batch: uint32_t,
    pub counts: forwarder_counts,
    pub packets_left: uint64_t,
    pub packets: [*mut packet; 512],
}
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
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_BATCH: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
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
pub const TOUCHED_BYTE: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const __ASSERT_FUNCTION: [::core::ffi::c_char; 55] = unsafe {
    ::core::mem::transmute::<
        [u8; 55],
        [::core::ffi::c_char; 55],
    >(*b"struct stream *streams_of(struct pipeline *, uint32_t)\0")
};
pub const TAKE_BATCH: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn pipeline_create(
    mut forwarder: *mut forwarder,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut pipeline {
    let mut pipeline: *mut pipeline = calloc(
        1 as size_t,
        ::core::mem::size_of::<pipeline>() as size_t,
    ) as *mut pipeline;
    let mut reason: error = error { text: [0; 1024] };
    if pipeline.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the pipeline\0" as *const u8
                as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<pipeline>();
    }
    (*pipeline).forwarder = forwarder;
    (*pipeline).queues = forwarder_queues(forwarder);
    (*pipeline).batch = (*forwarder_lane(forwarder, 0 as uint32_t)).direction.batch;
    (*pipeline).packets_left = UINT64_MAX as uint64_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (2 as uint32_t).wrapping_mul((*pipeline).queues) {
        let mut stream: *mut stream = (&raw mut *(&raw mut (*pipeline).streams
            as *mut [stream; 2])
            .offset(i.wrapping_div(2 as uint32_t) as isize) as *mut stream)
            .offset(i.wrapping_rem(2 as uint32_t) as isize) as *mut stream;
        let mut lane: *const lane = forwarder_lane(
            forwarder,
            i.wrapping_div(2 as uint32_t),
        );
        (*stream).rx = (*lane).rx[i.wrapping_rem(2 as uint32_t) as usize];
        (*stream).tx = (*lane)
            .tx[(1 as uint32_t).wrapping_sub(i.wrapping_rem(2 as uint32_t)) as usize];
        let mut capacity: uint32_t = (*(*(*stream).rx).pool).capacity;
        if packet_ring_create(&raw mut (*stream).to_worker, capacity, &raw mut reason)
            != 0 as ::core::ffi::c_int
            || packet_ring_create(
                &raw mut (*stream).to_sender,
                capacity,
                &raw mut reason,
            ) != 0 as ::core::ffi::c_int
        {
            error_copy(-(1 as ::core::ffi::c_int), &raw mut reason, error, error_size);
            pipeline_destroy(pipeline);
            return ::core::ptr::null_mut::<pipeline>();
        }
        i = i.wrapping_add(1);
    }
    return pipeline;
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_limit(
    mut pipeline: *mut pipeline,
    mut packets: uint64_t,
) {
    (*pipeline).packets_left = packets;
}
#[inline]
unsafe extern "C" fn stream_receive(
    mut pipeline: *mut pipeline,
    mut stream: *mut stream,
) -> uint32_t {
    let mut packets: [*mut packet; 512] = [::core::ptr::null_mut::<packet>(); 512];
    let mut wanted: uint32_t = (*pipeline).batch;
    if (*pipeline).packets_left < wanted as uint64_t {
        wanted = (*pipeline).packets_left as uint32_t;
    }
    mempool_take_returned((*(*stream).rx).pool);
    let mut received: uint32_t = rx_batch(
        (*stream).rx,
        &raw mut packets as *mut *mut packet,
        wanted,
    );
    (*stream).rx_calls = (*stream).rx_calls.wrapping_add(1);
    if received == 0 as uint32_t {
        return 0 as uint32_t;
    }
    packet_ring_put(
        &raw mut (*stream).to_worker,
        &raw mut packets as *mut *mut packet,
        received,
    );
    (*pipeline).packets_left = (*pipeline)
        .packets_left
        .wrapping_sub(received as uint64_t);
    (*stream).received = (*stream).received.wrapping_add(received as uint64_t);
    (*stream).full_batches = (*stream)
        .full_batches
        .wrapping_add((received == wanted) as ::core::ffi::c_int as uint64_t);
    return received;
}
#[inline]
unsafe extern "C" fn stream_work(
    mut stream: *mut stream,
    mut batch: uint32_t,
) -> uint32_t {
    let mut packets: [*mut packet; 512] = [::core::ptr::null_mut::<packet>(); 512];
    let mut count: uint32_t = packet_ring_take(
        &raw mut (*stream).to_worker,
        &raw mut packets as *mut *mut packet,
        batch,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        let ref mut fresh0 = *(&raw mut (**(&raw mut packets as *mut *mut packet)
            .offset(i as isize))
            .data as *mut uint8_t)
            .offset(TOUCHED_BYTE as isize);
        *fresh0 = (*fresh0).wrapping_add(1);
        i = i.wrapping_add(1);
    }
    packet_ring_put(
        &raw mut (*stream).to_sender,
        &raw mut packets as *mut *mut packet,
        count,
    );
    return count;
}
#[inline]
unsafe extern "C" fn stream_send(
    mut stream: *mut stream,
    mut batch: uint32_t,
) -> uint32_t {
    let mut packets: [*mut packet; 512] = [::core::ptr::null_mut::<packet>(); 512];
    let mut sent: [*mut packet; 32] = [::core::ptr::null_mut::<packet>(); 32];
    let mut tx: *mut tx_queue = (*stream).tx;
    while tx_take(tx, &raw mut sent as *mut *mut packet, TAKE_BATCH as uint32_t)
        > 0 as uint32_t
    {
        packets_return(&raw mut sent as *mut *mut packet, TAKE_BATCH as uint32_t);
    }
    let mut space: uint32_t = tx_space(tx);
    let mut count: uint32_t = packet_ring_take(
        &raw mut (*stream).to_sender,
        &raw mut packets as *mut *mut packet,
        if batch < space { batch } else { space },
    );
    tx_put(tx, &raw mut packets as *mut *mut packet, count);
    (*stream).sent = (*stream).sent.wrapping_add(count as uint64_t);
    return count;
}
unsafe extern "C" fn streams_of(
    mut pipeline: *mut pipeline,
    mut queue: uint32_t,
) -> *mut stream {
    '_c2rust_label: {
        if queue < (*pipeline).queues {} else {
            __assert_fail(
                b"queue < pipeline->queues\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/rooms/pipeline.c\0" as *const u8 as *const ::core::ffi::c_char,
                131 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    return &raw mut *(&raw mut (*pipeline).streams as *mut [stream; 2])
        .offset(queue as isize) as *mut stream;
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_receive(
    mut pipeline: *mut pipeline,
    mut queue: uint32_t,
) -> uint32_t {
    let mut streams: *mut stream = streams_of(pipeline, queue);
    return stream_receive(
            pipeline,
            streams.offset(0 as ::core::ffi::c_int as isize) as *mut stream,
        )
        .wrapping_add(
            stream_receive(
                pipeline,
                streams.offset(1 as ::core::ffi::c_int as isize) as *mut stream,
            ),
        );
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_work(
    mut pipeline: *mut pipeline,
    mut queue: uint32_t,
) -> uint32_t {
    let mut streams: *mut stream = streams_of(pipeline, queue);
    return stream_work(
            streams.offset(0 as ::core::ffi::c_int as isize) as *mut stream,
            (*pipeline).batch,
        )
        .wrapping_add(
            stream_work(
                streams.offset(1 as ::core::ffi::c_int as isize) as *mut stream,
                (*pipeline).batch,
            ),
        );
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_send(
    mut pipeline: *mut pipeline,
    mut queue: uint32_t,
) -> uint32_t {
    let mut streams: *mut stream = streams_of(pipeline, queue);
    return stream_send(
            streams.offset(0 as ::core::ffi::c_int as isize) as *mut stream,
            (*pipeline).batch,
        )
        .wrapping_add(
            stream_send(
                streams.offset(1 as ::core::ffi::c_int as isize) as *mut stream,
                (*pipeline).batch,
            ),
        );
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_send_waits(
    mut pipeline: *mut pipeline,
    mut queue: uint32_t,
) -> bool {
    let mut streams: *const stream = streams_of(pipeline, queue);
    return packet_ring_waits(
        &raw const (*streams.offset(0 as ::core::ffi::c_int as isize)).to_sender,
    ) as ::core::ffi::c_int != 0
        || packet_ring_waits(
            &raw const (*streams.offset(1 as ::core::ffi::c_int as isize)).to_sender,
        ) as ::core::ffi::c_int != 0;
}
unsafe extern "C" fn ring_empty(mut ring: *mut packet_ring) {
    let mut packets: [*mut packet; 512] = [::core::ptr::null_mut::<packet>(); 512];
    loop {
        let mut count: uint32_t = packet_ring_take(
            ring,
            &raw mut packets as *mut *mut packet,
            FORWARDER_MAX_BATCH as uint32_t,
        );
        if count == 0 as uint32_t {
            return;
        }
        packets_return(&raw mut packets as *mut *mut packet, count);
    };
}
unsafe extern "C" fn stream_destroy(mut stream: *mut stream) {
    if !(*stream).to_sender.slots.is_null() {
        ring_empty(&raw mut (*stream).to_worker);
        ring_empty(&raw mut (*stream).to_sender);
        mempool_take_returned((*(*stream).rx).pool);
    }
    packet_ring_destroy(&raw mut (*stream).to_worker);
    packet_ring_destroy(&raw mut (*stream).to_sender);
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_destroy(mut pipeline: *mut pipeline) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (2 as uint32_t).wrapping_mul((*pipeline).queues) {
        let mut stream: *mut stream = (&raw mut *(&raw mut (*pipeline).streams
            as *mut [stream; 2])
            .offset(i.wrapping_div(2 as uint32_t) as isize) as *mut stream)
            .offset(i.wrapping_rem(2 as uint32_t) as isize) as *mut stream;
        let mut lane: *mut lane = forwarder_lane(
            (*pipeline).forwarder,
            i.wrapping_div(2 as uint32_t),
        );
        let mut counts: *mut forwarder_counts = &raw mut (*lane).direction.counts;
        stream_destroy(stream);
        (*counts).rx = (*counts).rx.wrapping_add((*stream).received);
        (*counts).tx = (*counts).tx.wrapping_add((*stream).sent);
        (*counts).dropped = (*counts)
            .dropped
            .wrapping_add((*stream).received.wrapping_sub((*stream).sent));
        (*counts).rx_calls = (*counts).rx_calls.wrapping_add((*stream).rx_calls);
        (*counts).full_batches = (*counts)
            .full_batches
            .wrapping_add((*stream).full_batches);
        i = i.wrapping_add(1);
    }
    free(pipeline as *mut ::core::ffi::c_void);
}
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
