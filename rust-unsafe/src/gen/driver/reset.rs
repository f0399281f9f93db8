extern "C" {
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_config_read16(device: *mut vfio_device, offset: uint32_t) -> uint16_t;
    fn vfio_config_write16(device: *mut vfio_device, offset: uint32_t, value: uint16_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_wait(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
        name: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn sleep_us(microseconds: uint32_t);
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
pub const IXGBE_CTRL: ::core::ffi::c_uint = 0 as ::core::ffi::c_uint;
pub const IXGBE_CTRL_MASTER_DISABLE: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_CTRL_LNK_RST: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_CTRL_RST: ::core::ffi::c_uint = 0x4000000 as ::core::ffi::c_uint;
pub const IXGBE_STATUS: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_STATUS_MASTER_ENABLE: ::core::ffi::c_uint = 0x80000
    as ::core::ffi::c_uint;
pub const IXGBE_EEC: ::core::ffi::c_uint = 0x10010 as ::core::ffi::c_uint;
pub const IXGBE_EEC_ARD: ::core::ffi::c_uint = 0x200 as ::core::ffi::c_uint;
pub const IXGBE_EICR: ::core::ffi::c_uint = 0x800 as ::core::ffi::c_uint;
pub const IXGBE_EIMC: ::core::ffi::c_uint = 0x888 as ::core::ffi::c_uint;
pub const IXGBE_EIMC_EX_COUNT: ::core::ffi::c_uint = 2 as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL: ::core::ffi::c_uint = 0x2f00 as ::core::ffi::c_uint;
pub const IXGBE_RDRXCTL_DMAIDONE: ::core::ffi::c_uint = 0x8 as ::core::ffi::c_uint;
pub const IXGBE_PCI_COMMAND: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_PCI_COMMAND_BUS_MASTER: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
pub const RESET_QUIET_US: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const RESET_SETTLE_US: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const RESET_SETTLE_PHY_US: ::core::ffi::c_int = 100000 as ::core::ffi::c_int;
pub const ALL_INTERRUPT_CAUSES: ::core::ffi::c_uint = 0x7fffffff as ::core::ffi::c_uint;
#[no_mangle]
pub unsafe extern "C" fn disable_interrupts(mut vfio: *mut vfio_device) {
    reg_write(vfio, IXGBE_EIMC as uint32_t, ALL_INTERRUPT_CAUSES as uint32_t);
    let mut i: uint32_t = 0 as uint32_t;
    while i < IXGBE_EIMC_EX_COUNT as uint32_t {
        reg_write(
            vfio,
            (0xab0 as uint32_t).wrapping_add((0x4 as uint32_t).wrapping_mul(i)),
            UINT32_MAX as uint32_t,
        );
        i = i.wrapping_add(1);
    }
    reg_read(vfio, IXGBE_EICR as uint32_t);
}
#[no_mangle]
pub unsafe extern "C" fn disable_master(
    mut vfio: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    reg_set(vfio, IXGBE_CTRL as uint32_t, IXGBE_CTRL_MASTER_DISABLE as uint32_t);
    return reg_wait(
        vfio,
        IXGBE_STATUS as uint32_t,
        IXGBE_STATUS_MASTER_ENABLE as uint32_t,
        0 as uint32_t,
        b"STATUS.MASTER_ENABLE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    );
}
#[no_mangle]
pub unsafe extern "C" fn set_bus_master(mut vfio: *mut vfio_device, mut on: bool) {
    let mut command: uint16_t = vfio_config_read16(vfio, IXGBE_PCI_COMMAND as uint32_t);
    command = (command as ::core::ffi::c_int
        & !IXGBE_PCI_COMMAND_BUS_MASTER as uint16_t as ::core::ffi::c_int) as uint16_t;
    vfio_config_write16(
        vfio,
        IXGBE_PCI_COMMAND as uint32_t,
        (if on as ::core::ffi::c_int != 0 {
            command as ::core::ffi::c_uint | IXGBE_PCI_COMMAND_BUS_MASTER
        } else {
            command as ::core::ffi::c_uint
        }) as uint16_t,
    );
}
#[no_mangle]
pub unsafe extern "C" fn reset_device(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let has_phy: bool = (*device).family as ::core::ffi::c_uint
        != DEVICE_FAMILY_82599 as ::core::ffi::c_int as ::core::ffi::c_uint;
    let resets: uint32_t = if has_phy as ::core::ffi::c_int != 0 {
        IXGBE_CTRL_RST as uint32_t
    } else {
        IXGBE_CTRL_RST as uint32_t | IXGBE_CTRL_LNK_RST as uint32_t
    };
    disable_interrupts(vfio);
    reg_set(vfio, IXGBE_CTRL as uint32_t, resets);
    sleep_us(RESET_QUIET_US as uint32_t);
    if reg_wait(
        vfio,
        IXGBE_CTRL as uint32_t,
        resets,
        0 as uint32_t,
        b"CTRL.RST\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    sleep_us(
        (if has_phy as ::core::ffi::c_int != 0 {
            RESET_SETTLE_PHY_US
        } else {
            RESET_SETTLE_US
        }) as uint32_t,
    );
    disable_interrupts(vfio);
    return vfio_check(vfio, error);
}
#[no_mangle]
pub unsafe extern "C" fn wait_until_ready(
    mut vfio: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if reg_wait(
        vfio,
        IXGBE_EEC as uint32_t,
        IXGBE_EEC_ARD as uint32_t,
        IXGBE_EEC_ARD as uint32_t,
        b"EEC.ARD\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return reg_wait(
        vfio,
        IXGBE_RDRXCTL as uint32_t,
        IXGBE_RDRXCTL_DMAIDONE as uint32_t,
        IXGBE_RDRXCTL_DMAIDONE as uint32_t,
        b"RDRXCTL.DMAIDONE\0" as *const u8 as *const ::core::ffi::c_char,
        error,
    );
}
