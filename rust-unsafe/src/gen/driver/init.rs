extern "C" {
    fn sleep_us(microseconds: uint32_t);
    static mut stderr: *mut FILE;
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_register(device: *const vfio_device, offset: uint32_t) -> *mut uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_ring(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn dma_alloc(
        container: *mut vfio_container,
        size: size_t,
        dma: *mut dma_memory,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn mmio_store32_relaxed(address: *mut uint32_t, value: uint32_t);
    fn dma_store64(address: *mut uint64_t, value: uint64_t);
    fn dma_write_barrier();
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_write_field(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
    );
    fn reg_wait(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
        name: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn reg_wait_setting(
        vfio: *mut vfio_device,
        request: uint32_t,
        bits: uint32_t,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
        name: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn enable_rx(
        vfio: *mut vfio_device,
        on: bool,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn tx_reclaim(queue: *mut tx_queue);
    fn device_release(device: *mut device);
    fn link_init(vfio: *mut vfio_device);
    fn disable_interrupts(vfio: *mut vfio_device);
    fn disable_master(vfio: *mut vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn set_bus_master(vfio: *mut vfio_device, on: bool);
    fn reset_device(device: *mut device, error: *mut error) -> ::core::ffi::c_int;
    fn wait_until_ready(vfio: *mut vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
}
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type size_t = usize;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct descriptor {
    pub lower: uint64_t,
    pub upper: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct _IO_FILE {
    pub _flags: ::core::ffi::c_int,
    pub _IO_read_ptr: *mut ::core::ffi::c_char,
    pub _IO_read_end: *mut ::core::ffi::c_char,
    pub _IO_read_base: *mut ::core::ffi::c_char,
    pub _IO_write_base: *mut ::core::ffi::c_char,
    pub _IO_write_ptr: *mut ::core::ffi::c_char,
    pub _IO_write_end: *mut ::core::ffi::c_char,
    pub _IO_buf_base: *mut ::core::ffi::c_char,
    pub _IO_buf_end: *mut ::core::ffi::c_char,
    pub _IO_save_base: *mut ::core::ffi::c_char,
    pub _IO_backup_base: *mut ::core::ffi::c_char,
    pub _IO_save_end: *mut ::core::ffi::c_char,
    pub _markers: *mut _IO_marker,
    pub _chain: *mut _IO_FILE,
    pub _fileno: ::core::ffi::c_int,
    pub _flags2: ::core::ffi::c_int,
    pub _old_offset: __off_t,
    pub _cur_column: ::core::ffi::c_ushort,
    pub _vtable_offset: ::core::ffi::c_schar,
    pub _shortbuf: [::core::ffi::c_char; 1],
    pub _lock: *mut ::core::ffi::c_void,
    pub _offset: __off64_t,
    pub _codecvt: *mut _IO_codecvt,
    pub _wide_data: *mut _IO_wide_data,
    pub _freeres_list: *mut _IO_FILE,
    pub _freeres_buf: *mut ::core::ffi::c_void,
    pub __pad5: size_t,
    pub _mode: ::core::ffi::c_int,
    pub _unused2: [::core::ffi::c_char; 20],
}
pub type _IO_lock_t = ();
pub type FILE = _IO_FILE;
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
pub type device_family = ::core::ffi::c_uint;
pub const DEVICE_FAMILY_X550: device_family = 2;
pub const DEVICE_FAMILY_X540: device_family = 1;
pub const DEVICE_FAMILY_82599: device_family = 0;
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
pub struct queue_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub rx_dropped: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
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
pub const UINT32_MAX: ::core::ffi::c_uint = 4294967295 as ::core::ffi::c_uint;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn error_warn(mut error: *const error) {
    fprintf(
        stderr,
        b"warning: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
        &raw const (*error).text as *const ::core::ffi::c_char,
    );
}
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
pub const IXGBE_CTRL_EXT: ::core::ffi::c_uint = 0x18 as ::core::ffi::c_uint;
pub const IXGBE_CTRL_EXT_NS_DIS: ::core::ffi::c_uint = 0x10000 as ::core::ffi::c_uint;
pub const IXGBE_CTRL_EXT_DRV_LOAD: ::core::ffi::c_uint = 0x10000000
    as ::core::ffi::c_uint;
pub const IXGBE_FCCFG: ::core::ffi::c_uint = 0x3d00 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL: ::core::ffi::c_uint = 0x5080 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL_MPE: ::core::ffi::c_uint = 0x100 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL_UPE: ::core::ffi::c_uint = 0x200 as ::core::ffi::c_uint;
pub const IXGBE_FCTRL_BAM: ::core::ffi::c_uint = 0x400 as ::core::ffi::c_uint;
pub const IXGBE_RXDCTL_ENABLE: ::core::ffi::c_uint = 0x2000000 as ::core::ffi::c_uint;
pub const IXGBE_SRRCTL_BSIZEPACKET: ::core::ffi::c_uint = 0x1f as ::core::ffi::c_uint;
pub const IXGBE_SRRCTL_DESCTYPE: ::core::ffi::c_uint = 0xe000000 as ::core::ffi::c_uint;
pub const IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER: ::core::ffi::c_uint = 0x2000000
    as ::core::ffi::c_uint;
pub const IXGBE_SRRCTL_DROP_EN: ::core::ffi::c_uint = 0x10000000 as ::core::ffi::c_uint;
pub const IXGBE_DCA_RXCTRL_RESERVED_12: ::core::ffi::c_uint = 0x1000
    as ::core::ffi::c_uint;
pub const IXGBE_DCA_RXCTRL_DATA_WRO_EN: ::core::ffi::c_uint = 0x2000
    as ::core::ffi::c_uint;
pub const IXGBE_DCA_RXCTRL_HEAD_WRO_EN: ::core::ffi::c_uint = 0x8000
    as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL: ::core::ffi::c_uint = 0x2f00 as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL_CRCSTRIP: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL_RSCFRSTSIZE: ::core::ffi::c_uint = 0x3e0000
    as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL_RSCACKC: ::core::ffi::c_uint = 0x2000000 as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL_FCOE_WRFIX: ::core::ffi::c_uint = 0x4000000
    as ::core::ffi::c_uint;
pub const IXGBE_RXPBSIZE_COUNT: ::core::ffi::c_uint = 8 as ::core::ffi::c_uint;
pub const IXGBE_DTXMXSZRQ: ::core::ffi::c_uint = 0x8100 as ::core::ffi::c_uint;
pub const IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ: ::core::ffi::c_uint = 0xfff
    as ::core::ffi::c_uint;
pub const IXGBE_DMATXCTL: ::core::ffi::c_uint = 0x4a80 as ::core::ffi::c_uint;
pub const IXGBE_DMATXCTL_TE: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_DCA_TXCTRL_DESC_WRO_EN: ::core::ffi::c_uint = 0x800
    as ::core::ffi::c_uint;
pub const IXGBE_TDH_TDH: ::core::ffi::c_uint = 0xffff as ::core::ffi::c_uint;
pub const IXGBE_TXDCTL_PTHRESH: ::core::ffi::c_uint = 0x7f as ::core::ffi::c_uint;
pub const IXGBE_TXDCTL_HTHRESH: ::core::ffi::c_uint = 0x7f00 as ::core::ffi::c_uint;
pub const IXGBE_TXDCTL_WTHRESH: ::core::ffi::c_uint = 0x7f0000 as ::core::ffi::c_uint;
pub const IXGBE_TXDCTL_ENABLE: ::core::ffi::c_uint = 0x2000000 as ::core::ffi::c_uint;
pub const IXGBE_TXDCTL_SWFLSH: ::core::ffi::c_uint = 0x4000000 as ::core::ffi::c_uint;
pub const IXGBE_TXPBSIZE_COUNT: ::core::ffi::c_uint = 8 as ::core::ffi::c_uint;
pub const IXGBE_MTQC: ::core::ffi::c_uint = 0x8120 as ::core::ffi::c_uint;
pub const IXGBE_RTTDCS: ::core::ffi::c_uint = 0x4900 as ::core::ffi::c_uint;
pub const IXGBE_RTTDCS_ARBDIS: ::core::ffi::c_uint = 0x40 as ::core::ffi::c_uint;
pub const IXGBE_HLREG0: ::core::ffi::c_uint = 0x4240 as ::core::ffi::c_uint;
pub const IXGBE_HLREG0_TXCRCEN: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_HLREG0_RXCRCSTRP: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const IXGBE_HLREG0_JUMBOEN: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_HLREG0_TXPADEN: ::core::ffi::c_uint = 0x400 as ::core::ffi::c_uint;
pub const IXGBE_MFLCN: ::core::ffi::c_uint = 0x4294 as ::core::ffi::c_uint;
pub const IXGBE_MFLCN_RPFCE: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_MFLCN_RFCE: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
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
pub const RX_NO_SUSPECT: ::core::ffi::c_uint = UINT32_MAX;
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const DEVICE_MIN_RING_SIZE: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const DEVICE_MAX_RING_SIZE: ::core::ffi::c_int = 4096 as ::core::ffi::c_int;
pub const RX_DISABLE_SETTLE_US: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const RX_PACKET_BUFFER_KB_82599: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const RX_PACKET_BUFFER_KB_X540: ::core::ffi::c_int = 384 as ::core::ffi::c_int;
pub const TX_PACKET_BUFFER_KB: ::core::ffi::c_int = 160 as ::core::ffi::c_int;
pub const TX_MAX_PACKET_KB: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const FLOW_CONTROL_RESERVE_KB: ::core::ffi::c_int = 24 as ::core::ffi::c_int;
pub const TX_WRITE_BACK_THRESHOLD: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
unsafe extern "C" fn rx_packet_buffer_kb(mut device: *const device) -> uint32_t {
    return (if (*device).family as ::core::ffi::c_uint
        == DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        RX_PACKET_BUFFER_KB_82599
    } else {
        RX_PACKET_BUFFER_KB_X540
    }) as uint32_t;
}
unsafe extern "C" fn init_general(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    reg_write(vfio, IXGBE_FCCFG as uint32_t, 0 as uint32_t);
    reg_clear(
        vfio,
        IXGBE_MFLCN as uint32_t,
        IXGBE_MFLCN_RFCE as uint32_t | IXGBE_MFLCN_RPFCE as uint32_t,
    );
    reg_write(
        vfio,
        (0x3220 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        0 as uint32_t,
    );
    reg_write(
        vfio,
        (0x3260 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        rx_packet_buffer_kb(device)
            .wrapping_sub(FLOW_CONTROL_RESERVE_KB as uint32_t)
            .wrapping_mul(1024 as uint32_t),
    );
    reg_set(
        vfio,
        IXGBE_CTRL_EXT as uint32_t,
        IXGBE_CTRL_EXT_NS_DIS as uint32_t | IXGBE_CTRL_EXT_DRV_LOAD as uint32_t,
    );
    return vfio_check(vfio, error);
}
unsafe extern "C" fn init_filters(mut device: *mut device) {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    reg_set(vfio, IXGBE_FCTRL as uint32_t, IXGBE_FCTRL_BAM as uint32_t);
    if (*device).config.promiscuous {
        reg_set(
            vfio,
            IXGBE_FCTRL as uint32_t,
            IXGBE_FCTRL_MPE as uint32_t | IXGBE_FCTRL_UPE as uint32_t,
        );
    }
}
unsafe extern "C" fn ring_alloc(
    mut vfio: *const vfio_device,
    mut size: uint32_t,
    mut packets: *mut *mut *mut packet,
    mut dma: *mut dma_memory,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    *packets = calloc(size as size_t, ::core::mem::size_of::<*mut packet>() as size_t)
        as *mut *mut packet;
    if (*packets).is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: out of memory for a ring\0" as *const u8 as *const ::core::ffi::c_char,
            &raw const (*vfio).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return dma_alloc(
        (*vfio).container as *mut vfio_container,
        (size as size_t).wrapping_mul(::core::mem::size_of::<descriptor>() as size_t),
        dma,
        error,
    );
}
unsafe extern "C" fn init_rx_queue(
    mut device: *mut device,
    mut id: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut queue: *mut rx_queue = (&raw mut (*device).rx as *mut rx_queue)
        .offset(id as isize) as *mut rx_queue;
    let mut size: uint32_t = (*device).config.rx_ring_size;
    (*queue).vfio = vfio;
    (*queue).id = id;
    (*queue).pool = (*device).pools.offset(id as isize) as *mut mempool;
    (*queue).mask = size.wrapping_sub(1 as uint32_t);
    (*queue).suspect = RX_NO_SUSPECT as uint32_t;
    (*queue).tail_offset = if id < 64 as uint32_t {
        (0x1018 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
    } else {
        (0xd018 as uint32_t)
            .wrapping_add(
                (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
            )
    };
    (*queue).tail = vfio_register(vfio, (*queue).tail_offset);
    if ring_alloc(vfio, size, &raw mut (*queue).packets, &raw mut (*queue).dma, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*queue).ring = (*queue).dma.memory as *mut descriptor;
    let mut i: uint32_t = 0 as uint32_t;
    while i < size {
        let mut packet: *mut packet = packet_alloc((*queue).pool);
        if packet.is_null() {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: the pool has too few packets to fill RX queue %u\0" as *const u8
                    as *const ::core::ffi::c_char,
                &raw mut (*vfio).address as *mut ::core::ffi::c_char,
                id,
            );
            return -(1 as ::core::ffi::c_int);
        }
        let ref mut fresh0 = *(*queue).packets.offset(i as isize);
        *fresh0 = packet;
        dma_store64(&raw mut (*(*queue).ring.offset(i as isize)).lower, (*packet).iova);
        dma_store64(&raw mut (*(*queue).ring.offset(i as isize)).upper, 0 as uint64_t);
        i = i.wrapping_add(1);
    }
    reg_write(
        vfio,
        if id < 64 as uint32_t {
            (0x1000 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd000 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        (*queue).dma.iova as uint32_t,
    );
    reg_write(
        vfio,
        if id < 64 as uint32_t {
            (0x1004 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd004 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        ((*queue).dma.iova >> 32 as ::core::ffi::c_int) as uint32_t,
    );
    reg_write(
        vfio,
        if id < 64 as uint32_t {
            (0x1008 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd008 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        size.wrapping_mul(::core::mem::size_of::<descriptor>() as uint32_t),
    );
    reg_write(
        vfio,
        if id < 64 as uint32_t {
            (0x1010 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd010 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        0 as uint32_t,
    );
    reg_write(
        vfio,
        if id < 64 as uint32_t {
            (0x1018 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd018 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        0 as uint32_t,
    );
    reg_write_field(
        vfio,
        if id < 64 as uint32_t {
            (0x1014 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd014 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        IXGBE_SRRCTL_BSIZEPACKET as uint32_t | IXGBE_SRRCTL_DESCTYPE as uint32_t
            | IXGBE_SRRCTL_DROP_EN as uint32_t,
        ((2048 as ::core::ffi::c_int / 1024 as ::core::ffi::c_int) as uint32_t)
            .wrapping_mul(
                0x1f as uint32_t & (!(0x1f as uint32_t)).wrapping_add(1 as uint32_t),
            ) | IXGBE_SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER as uint32_t
            | IXGBE_SRRCTL_DROP_EN as uint32_t,
    );
    reg_clear(
        vfio,
        if id < 64 as uint32_t {
            (0x100c as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd00c as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        IXGBE_DCA_RXCTRL_RESERVED_12 as uint32_t
            | IXGBE_DCA_RXCTRL_DATA_WRO_EN as uint32_t
            | IXGBE_DCA_RXCTRL_HEAD_WRO_EN as uint32_t,
    );
    reg_set(
        vfio,
        if id < 64 as uint32_t {
            (0x1028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd028 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        IXGBE_RXDCTL_ENABLE as uint32_t,
    );
    if reg_wait(
        vfio,
        (if id < 64 as uint32_t {
            (0x1028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd028 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        }),
        IXGBE_RXDCTL_ENABLE as uint32_t,
        IXGBE_RXDCTL_ENABLE as uint32_t,
        b"RXDCTL.ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    dma_write_barrier();
    tail_write(
        vfio,
        (*queue).tail,
        if id < 64 as uint32_t {
            (0x1018 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd018 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        size.wrapping_sub(1 as uint32_t),
    );
    return vfio_check(vfio, error);
}
unsafe extern "C" fn init_receive(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    init_filters(device);
    reg_write(
        vfio,
        (0x3c00 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        rx_packet_buffer_kb(device)
            .wrapping_mul(
                0xffc00 as uint32_t
                    & (!(0xffc00 as uint32_t)).wrapping_add(1 as uint32_t),
            ),
    );
    let mut i: uint32_t = 1 as uint32_t;
    while i < IXGBE_RXPBSIZE_COUNT as uint32_t {
        reg_write(
            vfio,
            (0x3c00 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
            0 as uint32_t,
        );
        i = i.wrapping_add(1);
    }
    reg_write_field(
        vfio,
        IXGBE_HLREG0 as uint32_t,
        IXGBE_HLREG0_RXCRCSTRP as uint32_t | IXGBE_HLREG0_JUMBOEN as uint32_t,
        IXGBE_HLREG0_RXCRCSTRP as uint32_t,
    );
    reg_write_field(
        vfio,
        IXGBE_RDRXCTL as uint32_t,
        IXGBE_RDRXCTL_CRCSTRIP as uint32_t | IXGBE_RDRXCTL_RSCFRSTSIZE as uint32_t
            | IXGBE_RDRXCTL_RSCACKC as uint32_t | IXGBE_RDRXCTL_FCOE_WRFIX as uint32_t,
        IXGBE_RDRXCTL_CRCSTRIP as uint32_t | IXGBE_RDRXCTL_RSCACKC as uint32_t
            | IXGBE_RDRXCTL_FCOE_WRFIX as uint32_t,
    );
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < (*device).config.rx_queues {
        if init_rx_queue(device, i_0, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        i_0 = i_0.wrapping_add(1);
    }
    return enable_rx(vfio, true_0 != 0, error);
}
unsafe extern "C" fn init_tx_queue(
    mut device: *mut device,
    mut id: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut queue: *mut tx_queue = (&raw mut (*device).tx as *mut tx_queue)
        .offset(id as isize) as *mut tx_queue;
    let mut size: uint32_t = (*device).config.tx_ring_size;
    let mut threshold: uint32_t = (if (*device).config.tx_sparse_rs as ::core::ffi::c_int
        != 0
    {
        0 as ::core::ffi::c_int
    } else {
        TX_WRITE_BACK_THRESHOLD
    }) as uint32_t;
    (*queue).vfio = vfio;
    (*queue).id = id;
    (*queue).mask = size.wrapping_sub(1 as uint32_t);
    (*queue).tail_offset = (0x6018 as uint32_t)
        .wrapping_add((0x40 as uint32_t).wrapping_mul(id));
    (*queue).tail = vfio_register(vfio, (*queue).tail_offset);
    if ring_alloc(vfio, size, &raw mut (*queue).packets, &raw mut (*queue).dma, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*queue).ring = (*queue).dma.memory as *mut descriptor;
    reg_clear(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t,
    );
    if reg_wait(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t,
        0 as uint32_t,
        b"TXDCTL.ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    reg_write(
        vfio,
        (0x6000 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        (*queue).dma.iova as uint32_t,
    );
    reg_write(
        vfio,
        (0x6004 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        ((*queue).dma.iova >> 32 as ::core::ffi::c_int) as uint32_t,
    );
    reg_write(
        vfio,
        (0x6008 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        size.wrapping_mul(::core::mem::size_of::<descriptor>() as uint32_t),
    );
    reg_write(
        vfio,
        (0x6010 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        0 as uint32_t,
    );
    reg_write(
        vfio,
        (0x6018 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        0 as uint32_t,
    );
    reg_write_field(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_PTHRESH as uint32_t | IXGBE_TXDCTL_HTHRESH as uint32_t
            | IXGBE_TXDCTL_WTHRESH as uint32_t,
        (36 as uint32_t)
            .wrapping_mul(
                0x7f as uint32_t & (!(0x7f as uint32_t)).wrapping_add(1 as uint32_t),
            )
            | (8 as uint32_t)
                .wrapping_mul(
                    0x7f00 as uint32_t
                        & (!(0x7f00 as uint32_t)).wrapping_add(1 as uint32_t),
                )
            | threshold
                .wrapping_mul(
                    0x7f0000 as uint32_t
                        & (!(0x7f0000 as uint32_t)).wrapping_add(1 as uint32_t),
                ),
    );
    reg_clear(
        vfio,
        (0x600c as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_DCA_TXCTRL_DESC_WRO_EN as uint32_t,
    );
    reg_set(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t,
    );
    return reg_wait(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t,
        IXGBE_TXDCTL_ENABLE as uint32_t,
        b"TXDCTL.ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    );
}
unsafe extern "C" fn init_transmit(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    reg_set(
        vfio,
        IXGBE_HLREG0 as uint32_t,
        IXGBE_HLREG0_TXCRCEN as uint32_t | IXGBE_HLREG0_TXPADEN as uint32_t,
    );
    reg_set(vfio, IXGBE_RTTDCS as uint32_t, IXGBE_RTTDCS_ARBDIS as uint32_t);
    reg_write(
        vfio,
        IXGBE_DTXMXSZRQ as uint32_t,
        IXGBE_DTXMXSZRQ_MAX_BYTES_NUM_REQ as uint32_t,
    );
    reg_write(
        vfio,
        (0xcc00 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        (160 as uint32_t)
            .wrapping_mul(
                0xffc00 as uint32_t
                    & (!(0xffc00 as uint32_t)).wrapping_add(1 as uint32_t),
            ),
    );
    reg_write(
        vfio,
        (0x4950 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(0 as uint32_t)),
        (TX_PACKET_BUFFER_KB - TX_MAX_PACKET_KB) as uint32_t,
    );
    let mut i: uint32_t = 1 as uint32_t;
    while i < IXGBE_TXPBSIZE_COUNT as uint32_t {
        reg_write(
            vfio,
            (0xcc00 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
            0 as uint32_t,
        );
        reg_write(
            vfio,
            (0x4950 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
            0 as uint32_t,
        );
        i = i.wrapping_add(1);
    }
    reg_write(vfio, IXGBE_MTQC as uint32_t, 0 as uint32_t);
    reg_clear(vfio, IXGBE_RTTDCS as uint32_t, IXGBE_RTTDCS_ARBDIS as uint32_t);
    reg_set(vfio, IXGBE_DMATXCTL as uint32_t, IXGBE_DMATXCTL_TE as uint32_t);
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < (*device).config.tx_queues {
        if init_tx_queue(device, i_0, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        i_0 = i_0.wrapping_add(1);
    }
    return vfio_check(vfio, error);
}
unsafe extern "C" fn is_ring_size(mut size: uint32_t) -> bool {
    return size >= DEVICE_MIN_RING_SIZE as uint32_t
        && size <= DEVICE_MAX_RING_SIZE as uint32_t
        && size & size.wrapping_sub(1 as uint32_t) == 0 as uint32_t;
}
unsafe extern "C" fn check_config(
    mut device: *const device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut config: *const device_config = &raw const (*device).config;
    if (*config).rx_queues < 1 as uint32_t
        || (*config).rx_queues > DEVICE_MAX_QUEUES as uint32_t
        || (*config).tx_queues < 1 as uint32_t
        || (*config).tx_queues > DEVICE_MAX_QUEUES as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %u RX and %u TX queues are out of range, 1 to %d each\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw const (*device).vfio.address as *const ::core::ffi::c_char,
            (*config).rx_queues,
            (*config).tx_queues,
            16 as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut size: uint32_t = if is_ring_size((*config).rx_ring_size)
        as ::core::ffi::c_int != 0
    {
        (*config).tx_ring_size
    } else {
        (*config).rx_ring_size
    };
    if !is_ring_size(size) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the number of descriptors is a power of two, %d to %d, not %u\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).vfio.address as *const ::core::ffi::c_char,
            64 as ::core::ffi::c_int,
            4096 as ::core::ffi::c_int,
            size,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn device_reset(
    mut device: *mut device,
    mut config: *const device_config,
    mut pools: *mut mempool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*device).running {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the device is running already\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).vfio.address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    device_release(device);
    (*device).config = *config;
    (*device).pools = pools;
    if check_config(device, error) != 0 as ::core::ffi::c_int
        || reset_device(device, error) != 0 as ::core::ffi::c_int
        || init_general(device, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return wait_until_ready(&raw mut (*device).vfio, error);
}
#[no_mangle]
pub unsafe extern "C" fn device_init(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*device).family as ::core::ffi::c_uint
        == DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        link_init(&raw mut (*device).vfio);
    }
    set_bus_master(&raw mut (*device).vfio, true_0 != 0);
    if init_receive(device, error) != 0 as ::core::ffi::c_int
        || init_transmit(device, error) != 0 as ::core::ffi::c_int
    {
        set_bus_master(&raw mut (*device).vfio, false_0 != 0);
        return -(1 as ::core::ffi::c_int);
    }
    (*device).running = true_0 != 0;
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn device_start(
    mut device: *mut device,
    mut config: *const device_config,
    mut pools: *mut mempool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if device_reset(device, config, pools, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    return device_init(device, error);
}
unsafe extern "C" fn stop_tx_queue(
    mut device: *mut device,
    mut id: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut queue: *mut tx_queue = (&raw mut (*device).tx as *mut tx_queue)
        .offset(id as isize) as *mut tx_queue;
    let mut result: ::core::ffi::c_int = reg_wait_setting(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_SWFLSH as uint32_t,
        (0x6010 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TDH_TDH as uint32_t,
        (*queue).index,
        b"TDH (the packets left in the TX ring were not sent)\0" as *const u8
            as *const ::core::ffi::c_char,
        error,
    );
    let mut later: error = error { text: [0; 1024] };
    reg_write_field(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t | IXGBE_TXDCTL_SWFLSH as uint32_t,
        IXGBE_TXDCTL_SWFLSH as uint32_t,
    );
    if reg_wait(
        vfio,
        (0x6028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id)),
        IXGBE_TXDCTL_ENABLE as uint32_t,
        0 as uint32_t,
        b"TXDCTL.ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        (if result == 0 as ::core::ffi::c_int { error } else { &raw mut later }),
    ) != 0 as ::core::ffi::c_int
    {
        result = -(1 as ::core::ffi::c_int);
    }
    if !(*device).config.tx_sparse_rs {
        tx_reclaim(queue);
        return result;
    }
    if result == 0 as ::core::ffi::c_int {
        (*queue).done = (*queue)
            .done
            .wrapping_add(
                ((*queue).index.wrapping_sub((*queue).clean_index) & (*queue).mask)
                    as uint64_t,
            );
    }
    (*queue).clean_index = (*queue).index;
    return result;
}
unsafe extern "C" fn stop_rx_queue(
    mut device: *mut device,
    mut id: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    reg_clear(
        &raw mut (*device).vfio,
        if id < 64 as uint32_t {
            (0x1028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd028 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        IXGBE_RXDCTL_ENABLE as uint32_t,
    );
    let mut result: ::core::ffi::c_int = reg_wait(
        &raw mut (*device).vfio,
        if id < 64 as uint32_t {
            (0x1028 as uint32_t).wrapping_add((0x40 as uint32_t).wrapping_mul(id))
        } else {
            (0xd028 as uint32_t)
                .wrapping_add(
                    (0x40 as uint32_t).wrapping_mul(id.wrapping_sub(64 as uint32_t)),
                )
        },
        IXGBE_RXDCTL_ENABLE as uint32_t,
        0 as uint32_t,
        b"RXDCTL.ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    );
    sleep_us(RX_DISABLE_SETTLE_US as uint32_t);
    return result;
}
unsafe extern "C" fn keep_first(
    mut result: *mut ::core::ffi::c_int,
    mut first: *mut error,
    mut step: ::core::ffi::c_int,
    mut next: *const error,
) {
    if step != 0 as ::core::ffi::c_int && *result == 0 as ::core::ffi::c_int {
        *first = *next;
        *result = -(1 as ::core::ffi::c_int);
    }
}
#[no_mangle]
pub unsafe extern "C" fn device_stop(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut next: error = error { text: [0; 1024] };
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    (*device).running = false_0 != 0;
    keep_first(
        &raw mut result,
        error,
        enable_rx(vfio, false_0 != 0, &raw mut next),
        &raw mut next,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).config.tx_queues {
        keep_first(
            &raw mut result,
            error,
            stop_tx_queue(device, i, &raw mut next),
            &raw mut next,
        );
        i = i.wrapping_add(1);
    }
    reg_clear(vfio, IXGBE_DMATXCTL as uint32_t, IXGBE_DMATXCTL_TE as uint32_t);
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < (*device).config.rx_queues {
        keep_first(
            &raw mut result,
            error,
            stop_rx_queue(device, i_0, &raw mut next),
            &raw mut next,
        );
        i_0 = i_0.wrapping_add(1);
    }
    disable_interrupts(vfio);
    reg_clear(vfio, IXGBE_CTRL_EXT as uint32_t, IXGBE_CTRL_EXT_DRV_LOAD as uint32_t);
    if disable_master(vfio, &raw mut next) != 0 as ::core::ffi::c_int && !(*vfio).failed
    {
        error_warn(&raw mut next);
    }
    set_bus_master(vfio, false_0 != 0);
    keep_first(&raw mut result, error, vfio_check(vfio, &raw mut next), &raw mut next);
    return result;
}
#[repr(C)]
pub struct _IO_wide_data {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_codecvt {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_marker {
    _opaque: [u8; 0],
}
