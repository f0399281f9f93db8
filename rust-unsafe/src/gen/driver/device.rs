extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_open(
        container: *mut vfio_container,
        address: *const ::core::ffi::c_char,
        device: *mut vfio_device,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_close(device: *mut vfio_device);
    fn vfio_config_read16(device: *mut vfio_device, offset: uint32_t) -> uint16_t;
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn dma_free(dma: *mut dma_memory);
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct ixgbe_device_id {
    pub id: uint16_t,
    pub family: device_family,
    pub name: *const ::core::ffi::c_char,
    pub refused: *const ::core::ffi::c_char,
}
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NULL_0: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[inline]
unsafe extern "C" fn packet_free(mut packet: *mut packet) {
    let mut pool: *mut mempool = (*packet).pool as *mut mempool;
    let ref mut fresh0 = *(*pool).free.offset((*pool).free_count as isize);
    *fresh0 = packet;
    (*pool).free_count = (*pool).free_count.wrapping_add(1);
}
pub const IXGBE_PCI_VENDOR_ID: ::core::ffi::c_uint = 0 as ::core::ffi::c_uint;
pub const IXGBE_PCI_VENDOR_ID_INTEL: ::core::ffi::c_uint = 0x8086 as ::core::ffi::c_uint;
pub const IXGBE_PCI_DEVICE_ID: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const DEVICE_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const IXGBE_DEVICE_ID_COUNT: ::core::ffi::c_uint = 35 as ::core::ffi::c_uint;
static mut ixgbe_device_ids: [ixgbe_device_id; 35] = [
    ixgbe_device_id {
        id: 0x10f7 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 backplane KX4\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports go to a backplane, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x10f8 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 backplane, combined\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports go to a backplane, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x10f9 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 CX4\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports are CX4, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x10fb as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599ES SFI/SFP+ (X520)\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x10fc as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 XAUI/BX4\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports are XAUI or BX4, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x1507 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 SFP+, extended module support\0" as *const u8
            as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x1514 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 backplane KX4 mezzanine (X520)\0" as *const u8
            as *const ::core::ffi::c_char,
        refused: b"its ports go to a backplane, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x1517 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 backplane KR\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports go to a backplane, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x151c as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports are 10GBASE-T, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x1529 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 SFP+ with FCoE\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x152a as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 backplane with FCoE\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its ports go to a backplane, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x154a as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"X520-4, four SFP+ ports\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x154d as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"X520 SFP+\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x154f as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599 LS\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its fiber module is fixed, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x1557 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"82599EN SFI\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x1558 as uint16_t,
        family: DEVICE_FAMILY_82599,
        name: b"X520-Q1, QSFP+\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its port is QSFP+, and the driver sets up SFP+ ports only\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x1528 as uint16_t,
        family: DEVICE_FAMILY_X540,
        name: b"X540-AT2 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x1560 as uint16_t,
        family: DEVICE_FAMILY_X540,
        name: b"X540-T1 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x1563 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X550-T 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x15d1 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X550-T1 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: ::core::ptr::null::<::core::ffi::c_char>(),
    },
    ixgbe_device_id {
        id: 0x15aa as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552 backplane KX4\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15ab as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552 backplane KR\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15ac as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552 SFP+\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15ad as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552/X557-AT 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15ae as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552 1000BASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15b0 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X552 XFI\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c2 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 backplane KR\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c3 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 backplane KR, low power\0" as *const u8
            as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c4 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 SFP+, native\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c6 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 SGMII\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c7 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 SGMII, low power\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15c8 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553/X557-AT 10GBASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15ce as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 SFP+\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15e4 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 1000BASE-T\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
    ixgbe_device_id {
        id: 0x15e5 as uint16_t,
        family: DEVICE_FAMILY_X550,
        name: b"X553 1000BASE-T, low power\0" as *const u8 as *const ::core::ffi::c_char,
        refused: b"its EEC is at another address, and its PHY needs a set-up that the driver lacks\0"
            as *const u8 as *const ::core::ffi::c_char,
    },
];
unsafe extern "C" fn identify(
    mut device: *mut device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut vfio: *mut vfio_device = &raw mut (*device).vfio;
    let mut vendor: uint16_t = vfio_config_read16(vfio, IXGBE_PCI_VENDOR_ID as uint32_t);
    let mut id: uint16_t = vfio_config_read16(vfio, IXGBE_PCI_DEVICE_ID as uint32_t);
    let mut known: *const ixgbe_device_id = ::core::ptr::null::<ixgbe_device_id>();
    let mut i: size_t = 0 as size_t;
    while i < IXGBE_DEVICE_ID_COUNT as size_t {
        if ixgbe_device_ids[i as usize].id as ::core::ffi::c_int
            == id as ::core::ffi::c_int
        {
            known = (&raw const ixgbe_device_ids as *const ixgbe_device_id)
                .offset(i as isize) as *const ixgbe_device_id;
        }
        i = i.wrapping_add(1);
    }
    if vfio_check(vfio, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if vendor as ::core::ffi::c_uint != IXGBE_PCI_VENDOR_ID_INTEL || known.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: device %04x:%04x is not an Intel 82599, X540 or X550; this driver supports no other\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*vfio).address as *mut ::core::ffi::c_char,
            vendor as ::core::ffi::c_int,
            id as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if !(*known).refused.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: device %04x:%04x, %s, is not supported, because %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*vfio).address as *mut ::core::ffi::c_char,
            vendor as ::core::ffi::c_int,
            id as ::core::ffi::c_int,
            (*known).name,
            (*known).refused,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*device).family = (*known).family;
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn device_open(
    mut device: *mut device,
    mut container: *mut vfio_container,
    mut address: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    memset(
        device as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<device>() as size_t,
    );
    if vfio_open(container, address, &raw mut (*device).vfio, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if identify(device, error) != 0 as ::core::ffi::c_int {
        vfio_close(&raw mut (*device).vfio);
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn device_release(mut device: *mut device) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < DEVICE_MAX_QUEUES as uint32_t {
        let mut rx: *mut rx_queue = (&raw mut (*device).rx as *mut rx_queue)
            .offset(i as isize) as *mut rx_queue;
        let mut tx: *mut tx_queue = (&raw mut (*device).tx as *mut tx_queue)
            .offset(i as isize) as *mut tx_queue;
        let mut j: uint32_t = (*rx).mask.wrapping_add(1 as uint32_t);
        while !(*rx).packets.is_null() && j > 0 as uint32_t {
            if !(*(*rx).packets.offset(j.wrapping_sub(1 as uint32_t) as isize)).is_null()
            {
                packet_free(
                    *(*rx).packets.offset(j.wrapping_sub(1 as uint32_t) as isize),
                );
            }
            j = j.wrapping_sub(1);
        }
        let mut j_0: uint32_t = (*tx).clean_index;
        while !(*tx).packets.is_null() && j_0 != (*tx).index {
            packet_free(*(*tx).packets.offset(j_0 as isize));
            j_0 = j_0.wrapping_add(1 as uint32_t) & (*tx).mask;
        }
        free((*rx).packets as *mut ::core::ffi::c_void);
        free((*tx).packets as *mut ::core::ffi::c_void);
        dma_free(&raw mut (*rx).dma);
        dma_free(&raw mut (*tx).dma);
        memset(
            rx as *mut ::core::ffi::c_void,
            0 as ::core::ffi::c_int,
            ::core::mem::size_of::<rx_queue>() as size_t,
        );
        memset(
            tx as *mut ::core::ffi::c_void,
            0 as ::core::ffi::c_int,
            ::core::mem::size_of::<tx_queue>() as size_t,
        );
        i = i.wrapping_add(1);
    }
}
#[no_mangle]
pub unsafe extern "C" fn device_close(mut device: *mut device) {
    vfio_close(&raw mut (*device).vfio);
}
