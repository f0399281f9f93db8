extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_map_bar0(
        device: *mut vfio_device,
        fd: ::core::ffi::c_int,
        file_size: uint64_t,
        info: *const ::core::ffi::c_void,
        info_size: size_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_info_read(
        info: *const ::core::ffi::c_void,
        info_size: size_t,
        offset: size_t,
        out: *mut ::core::ffi::c_void,
        size: size_t,
    ) -> ::core::ffi::c_int;
    fn vfio_info_find(
        info: *const ::core::ffi::c_void,
        info_size: size_t,
        least: size_t,
        id: uint16_t,
        at: *mut size_t,
    ) -> ::core::ffi::c_int;
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn open(
        __file: *const ::core::ffi::c_char,
        __oflag: ::core::ffi::c_int,
        ...
    ) -> ::core::ffi::c_int;
    fn poll(
        __fds: *mut pollfd,
        __nfds: nfds_t,
        __timeout: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn strtol(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
        __base: ::core::ffi::c_int,
    ) -> ::core::ffi::c_long;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strcmp(
        __s1: *const ::core::ffi::c_char,
        __s2: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int;
    fn strrchr(
        __s: *const ::core::ffi::c_char,
        __c: ::core::ffi::c_int,
    ) -> *mut ::core::ffi::c_char;
    fn strspn(
        __s: *const ::core::ffi::c_char,
        __accept: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_ulong;
    fn strlen(__s: *const ::core::ffi::c_char) -> size_t;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn eventfd(
        __count: ::core::ffi::c_uint,
        __flags: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn ioctl(
        __fd: ::core::ffi::c_int,
        __request: ::core::ffi::c_ulong,
        ...
    ) -> ::core::ffi::c_int;
    fn access(
        __name: *const ::core::ffi::c_char,
        __type: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn pread(
        __fd: ::core::ffi::c_int,
        __buf: *mut ::core::ffi::c_void,
        __nbytes: size_t,
        __offset: __off_t,
    ) -> ssize_t;
    fn pwrite(
        __fd: ::core::ffi::c_int,
        __buf: *const ::core::ffi::c_void,
        __n: size_t,
        __offset: __off_t,
    ) -> ssize_t;
    fn getuid() -> __uid_t;
    fn readlink(
        __path: *const ::core::ffi::c_char,
        __buf: *mut ::core::ffi::c_char,
        __len: size_t,
    ) -> ssize_t;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __int32_t = i32;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __uid_t = ::core::ffi::c_uint;
pub type __off_t = ::core::ffi::c_long;
pub type __ssize_t = ::core::ffi::c_long;
pub type off_t = __off_t;
pub type ssize_t = __ssize_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type int32_t = __int32_t;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type uintptr_t = usize;
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
pub struct vfio_access {
    pub region: uint32_t,
    pub offset: uint32_t,
    pub data: *mut ::core::ffi::c_void,
    pub size: uint32_t,
    pub write: bool,
    pub free_us: uint64_t,
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
pub const EFD_NONBLOCK: C2RustUnnamed_2 = 2048;
pub const EFD_CLOEXEC: C2RustUnnamed_2 = 524288;
pub const VFIO_PCI_REQ_IRQ_INDEX: C2RustUnnamed_1 = 4;
#[derive(Copy, Clone)]
#[repr(C)]
pub union C2RustUnnamed {
    pub set: vfio_irq_set,
    pub bytes: [uint8_t; 84],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_irq_set {
    pub argsz: __u32,
    pub flags: __u32,
    pub index: __u32,
    pub start: __u32,
    pub count: __u32,
    pub data: [__u8; 0],
}
pub type __u8 = ::core::ffi::c_uchar;
pub type __u32 = ::core::ffi::c_uint;
#[derive(Copy, Clone)]
#[repr(C)]
pub union region_info {
    pub info: vfio_region_info,
    pub bytes: [uint8_t; 4096],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_region_info {
    pub argsz: __u32,
    pub flags: __u32,
    pub index: __u32,
    pub cap_offset: __u32,
    pub size: __u64,
    pub offset: __u64,
}
pub type __u64 = ::core::ffi::c_ulonglong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_iova_range {
    pub start: __u64,
    pub end: __u64,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_iommu_type1_info {
    pub argsz: __u32,
    pub flags: __u32,
    pub iova_pgsizes: __u64,
    pub cap_offset: __u32,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union C2RustUnnamed_0 {
    pub info: vfio_iommu_type1_info,
    pub bytes: [uint8_t; 4096],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_iommu_type1_info_cap_iova_range {
    pub header: vfio_info_cap_header,
    pub nr_iovas: __u32,
    pub reserved: __u32,
    pub iova_ranges: [vfio_iova_range; 0],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_info_cap_header {
    pub id: __u16,
    pub version: __u16,
    pub next: __u32,
}
pub type __u16 = ::core::ffi::c_ushort;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_group_status {
    pub argsz: __u32,
    pub flags: __u32,
}
pub type nfds_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pollfd {
    pub fd: ::core::ffi::c_int,
    pub events: ::core::ffi::c_short,
    pub revents: ::core::ffi::c_short,
}
pub const VFIO_PCI_MSIX_IRQ_INDEX: C2RustUnnamed_1 = 2;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_iommu_type1_dma_map {
    pub argsz: __u32,
    pub flags: __u32,
    pub vaddr: __u64,
    pub iova: __u64,
    pub size: __u64,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_iommu_type1_dma_unmap {
    pub argsz: __u32,
    pub flags: __u32,
    pub iova: __u64,
    pub size: __u64,
    pub data: [__u8; 0],
}
pub type C2RustUnnamed_1 = ::core::ffi::c_uint;
pub const VFIO_PCI_NUM_IRQS: C2RustUnnamed_1 = 5;
pub const VFIO_PCI_ERR_IRQ_INDEX: C2RustUnnamed_1 = 3;
pub const VFIO_PCI_MSI_IRQ_INDEX: C2RustUnnamed_1 = 1;
pub const VFIO_PCI_INTX_IRQ_INDEX: C2RustUnnamed_1 = 0;
pub type C2RustUnnamed_2 = ::core::ffi::c_uint;
pub const EFD_SEMAPHORE: C2RustUnnamed_2 = 1;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const VFIO_MAX_DEVICES: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const VFIO_MAX_RANGES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const VFIO_MAX_VECTORS: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const VFIO_REGION_BAR0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VFIO_REGION_CONFIG: ::core::ffi::c_int = 7 as ::core::ffi::c_int;
pub const __ASSERT_FUNCTION: [::core::ffi::c_char; 58] = unsafe {
    ::core::mem::transmute::<
        [u8; 58],
        [::core::ffi::c_char; 58],
    >(*b"int join_group(struct vfio_device *, int, struct error *)\0")
};
pub const EBUSY: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const O_RDWR: ::core::ffi::c_int = 0o2 as ::core::ffi::c_int;
pub const __O_CLOEXEC: ::core::ffi::c_int = 0o2000000 as ::core::ffi::c_int;
pub const O_CLOEXEC: ::core::ffi::c_int = __O_CLOEXEC;
pub const _IOC_NRBITS: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const _IOC_TYPEBITS: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const _IOC_SIZEBITS: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const _IOC_NRSHIFT: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const _IOC_TYPESHIFT: ::core::ffi::c_int = _IOC_NRSHIFT + _IOC_NRBITS;
pub const _IOC_SIZESHIFT: ::core::ffi::c_int = _IOC_TYPESHIFT + _IOC_TYPEBITS;
pub const _IOC_DIRSHIFT: ::core::ffi::c_int = _IOC_SIZESHIFT + _IOC_SIZEBITS;
pub const VFIO_TYPE1v2_IOMMU: ::core::ffi::c_int = 3 as ::core::ffi::c_int;
pub const VFIO_SET_IOMMU: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 2 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_GROUP_FLAGS_VIABLE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_GROUP_GET_STATUS: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 3 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_GROUP_SET_CONTAINER: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 4 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_GROUP_GET_DEVICE_FD: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 6 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_DEVICE_GET_REGION_INFO: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 8 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_IRQ_SET_DATA_NONE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_IRQ_SET_DATA_EVENTFD: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 2 as ::core::ffi::c_int;
pub const VFIO_IRQ_SET_ACTION_TRIGGER: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 5 as ::core::ffi::c_int;
pub const VFIO_DEVICE_SET_IRQS: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 10 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_IOMMU_INFO_CAPS: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE: ::core::ffi::c_int = 1
    as ::core::ffi::c_int;
pub const VFIO_IOMMU_GET_INFO: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 12 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_DMA_MAP_FLAG_READ: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_DMA_MAP_FLAG_WRITE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const VFIO_IOMMU_MAP_DMA: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 13 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const VFIO_IOMMU_UNMAP_DMA: ::core::ffi::c_uint = (0 as ::core::ffi::c_uint)
    << _IOC_DIRSHIFT | ((';' as i32) << _IOC_TYPESHIFT) as ::core::ffi::c_uint
    | ((100 as ::core::ffi::c_int + 14 as ::core::ffi::c_int) << _IOC_NRSHIFT)
        as ::core::ffi::c_uint
    | ((0 as ::core::ffi::c_int) << _IOC_SIZESHIFT) as ::core::ffi::c_uint;
pub const POLLIN: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const F_OK: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const PATH_SIZE: ::core::ffi::c_int = 256 as ::core::ffi::c_int;
unsafe extern "C" fn is_pci_address(mut address: *const ::core::ffi::c_char) -> bool {
    return strlen(address) == 12 as size_t
        && strspn(
            address,
            b"0123456789abcdefABCDEF:.\0" as *const u8 as *const ::core::ffi::c_char,
        ) == 12 as ::core::ffi::c_ulong
        && *address.offset(4 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            == ':' as i32
        && *address.offset(7 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            == ':' as i32
        && *address.offset(10 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            == '.' as i32;
}
unsafe extern "C" fn sysfs_link(
    mut address: *const ::core::ffi::c_char,
    mut name: *const ::core::ffi::c_char,
    mut target: *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut path: [::core::ffi::c_char; 512] = [0; 512];
    let mut link: [::core::ffi::c_char; 256] = [0; 256];
    snprintf(
        &raw mut path as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 512]>() as size_t,
        b"/sys/bus/pci/devices/%s/%s\0" as *const u8 as *const ::core::ffi::c_char,
        address,
        name,
    );
    let mut length: ssize_t = readlink(
        &raw mut path as *mut ::core::ffi::c_char,
        &raw mut link as *mut ::core::ffi::c_char,
        (::core::mem::size_of::<[::core::ffi::c_char; 256]>() as size_t)
            .wrapping_sub(1 as size_t),
    );
    if length < 0 as ssize_t {
        return -(1 as ::core::ffi::c_int);
    }
    link[length as usize] = '\0' as i32 as ::core::ffi::c_char;
    let mut slash: *const ::core::ffi::c_char = strrchr(
        &raw mut link as *mut ::core::ffi::c_char,
        '/' as i32,
    );
    snprintf(
        target as *mut ::core::ffi::c_char,
        PATH_SIZE as size_t,
        b"%s\0" as *const u8 as *const ::core::ffi::c_char,
        if !slash.is_null() {
            slash.offset(1 as ::core::ffi::c_int as isize)
        } else {
            &raw mut link as *mut ::core::ffi::c_char as *const ::core::ffi::c_char
        },
    );
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn find_group(
    mut device: *const vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut path: [::core::ffi::c_char; 512] = [0; 512];
    let mut driver: [::core::ffi::c_char; 256] = ::core::mem::transmute::<
        [u8; 256],
        [::core::ffi::c_char; 256],
    >(
        *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    let mut group: [::core::ffi::c_char; 256] = ::core::mem::transmute::<
        [u8; 256],
        [::core::ffi::c_char; 256],
    >(
        *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    if !is_pci_address(&raw const (*device).address as *const ::core::ffi::c_char) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: not a device; give a PCI address such as 0000:03:00.0 or vfio-user:PATH\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    snprintf(
        &raw mut path as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 512]>() as size_t,
        b"/sys/bus/pci/devices/%s\0" as *const u8 as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
    );
    if access(&raw mut path as *mut ::core::ffi::c_char, F_OK) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: no such PCI device; `lspci -D` lists them\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if sysfs_link(
        &raw const (*device).address as *const ::core::ffi::c_char,
        b"iommu_group\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut group as *mut ::core::ffi::c_char,
    ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the device has no IOMMU group; switch the IOMMU on in the firmware and boot with intel_iommu=on\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if sysfs_link(
        &raw const (*device).address as *const ::core::ffi::c_char,
        b"driver\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut driver as *mut ::core::ffi::c_char,
    ) != 0 as ::core::ffi::c_int
        || strcmp(
            &raw mut driver as *mut ::core::ffi::c_char,
            b"vfio-pci\0" as *const u8 as *const ::core::ffi::c_char,
        ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the device is bound to %s, not to vfio-pci; as root, `triptych bind %s` gives it to this driver\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            (if driver[0 as ::core::ffi::c_int as usize] as ::core::ffi::c_int
                != '\0' as i32
            {
                &raw mut driver as *mut ::core::ffi::c_char as *const ::core::ffi::c_char
            } else {
                b"no driver\0" as *const u8 as *const ::core::ffi::c_char
            }),
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    snprintf(
        &raw mut path as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 512]>() as size_t,
        b"/dev/vfio/noiommu-%s\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut group as *mut ::core::ffi::c_char,
    );
    if access(&raw mut path as *mut ::core::ffi::c_char, F_OK) == 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: VFIO has this device in no-IOMMU mode, which this driver refuses; switch the IOMMU on in the firmware and boot with intel_iommu=on\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return strtol(
        &raw mut group as *mut ::core::ffi::c_char,
        ::core::ptr::null_mut::<*mut ::core::ffi::c_char>(),
        10 as ::core::ffi::c_int,
    ) as ::core::ffi::c_int;
}
unsafe extern "C" fn open_container(
    mut container: *mut vfio_container,
    mut address: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*container).fd >= 0 as ::core::ffi::c_int {
        return 0 as ::core::ffi::c_int;
    }
    (*container).fd = open(
        b"/dev/vfio/vfio\0" as *const u8 as *const ::core::ffi::c_char,
        O_RDWR | O_CLOEXEC,
    );
    if (*container).fd < 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: /dev/vfio/vfio: %s; as root, modprobe vfio-pci\0" as *const u8
                as *const ::core::ffi::c_char,
            address,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_iova_ranges(
    mut container: *mut vfio_container,
    mut address: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut reply: C2RustUnnamed_0 = C2RustUnnamed_0 {
        info: vfio_iommu_type1_info {
            argsz: 0,
            flags: 0,
            iova_pgsizes: 0,
            cap_offset: 0,
        },
    };
    let mut capability: vfio_iommu_type1_info_cap_iova_range = vfio_iommu_type1_info_cap_iova_range {
        header: vfio_info_cap_header {
            id: 0,
            version: 0,
            next: 0,
        },
        nr_iovas: 0,
        reserved: 0,
        iova_ranges: [],
    };
    let mut allowed: vfio_iova_range = vfio_iova_range {
        start: 0,
        end: 0,
    };
    let mut narrowed: [iova_range; 16] = [iova_range { first: 0, last: 0 }; 16];
    let mut narrowed_count: uint32_t = 0 as uint32_t;
    memset(
        &raw mut reply as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<C2RustUnnamed_0>() as size_t,
    );
    reply.info.argsz = ::core::mem::size_of::<C2RustUnnamed_0>() as __u32;
    if ioctl(
        (*container).fd,
        VFIO_IOMMU_GET_INFO as ::core::ffi::c_ulong,
        &raw mut reply,
    ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: VFIO_IOMMU_GET_INFO: %s\0" as *const u8 as *const ::core::ffi::c_char,
            address,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut at: size_t = (if reply.info.flags & VFIO_IOMMU_INFO_CAPS as __u32 != 0 {
        reply.info.cap_offset
    } else {
        0 as __u32
    }) as size_t;
    if vfio_info_find(
        &raw mut reply as *const ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed_0>() as size_t,
        ::core::mem::size_of::<vfio_iommu_type1_info>() as size_t,
        VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE as uint16_t,
        &raw mut at,
    ) != 0 as ::core::ffi::c_int || at == 0 as size_t
        || vfio_info_read(
            &raw mut reply as *const ::core::ffi::c_void,
            ::core::mem::size_of::<C2RustUnnamed_0>() as size_t,
            at,
            &raw mut capability as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<vfio_iommu_type1_info_cap_iova_range>() as size_t,
        ) != 0
    {
        return 0 as ::core::ffi::c_int;
    }
    at = (at as ::core::ffi::c_ulong)
        .wrapping_add(
            ::core::mem::size_of::<vfio_iommu_type1_info_cap_iova_range>() as usize
                as ::core::ffi::c_ulong,
        ) as size_t as size_t;
    while capability.nr_iovas > 0 as __u32 {
        if vfio_info_read(
            &raw mut reply as *const ::core::ffi::c_void,
            ::core::mem::size_of::<C2RustUnnamed_0>() as size_t,
            at,
            &raw mut allowed as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<vfio_iova_range>() as size_t,
        ) != 0 as ::core::ffi::c_int
        {
            break;
        }
        at = (at as ::core::ffi::c_ulong)
            .wrapping_add(
                ::core::mem::size_of::<vfio_iova_range>() as usize
                    as ::core::ffi::c_ulong,
            ) as size_t as size_t;
        let mut i: uint32_t = 0 as uint32_t;
        while i < (*container).range_count {
            let mut both: iova_range = (*container).ranges[i as usize];
            both.first = (if both.first as __u64 > allowed.start {
                both.first as __u64
            } else {
                allowed.start
            }) as uint64_t;
            both.last = (if (both.last as __u64) < allowed.end {
                both.last as __u64
            } else {
                allowed.end
            }) as uint64_t;
            if both.first <= both.last && narrowed_count < VFIO_MAX_RANGES as uint32_t {
                narrowed[narrowed_count as usize] = both;
                narrowed_count = narrowed_count.wrapping_add(1);
            }
            i = i.wrapping_add(1);
        }
        capability.nr_iovas = capability.nr_iovas.wrapping_sub(1);
    }
    memcpy(
        &raw mut (*container).ranges as *mut iova_range as *mut ::core::ffi::c_void,
        &raw mut narrowed as *mut iova_range as *const ::core::ffi::c_void,
        ::core::mem::size_of::<[iova_range; 16]>() as size_t,
    );
    (*container).range_count = narrowed_count;
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn join_group(
    mut device: *mut vfio_device,
    mut number: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    let mut status: vfio_group_status = vfio_group_status {
        argsz: ::core::mem::size_of::<vfio_group_status>() as __u32,
        flags: 0,
    };
    let mut path: [::core::ffi::c_char; 256] = [0; 256];
    let mut free_entry: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
    let mut first: bool = true_0 != 0;
    let mut i: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    while i < VFIO_MAX_DEVICES {
        let mut group: *mut vfio_group = (&raw mut (*container).groups
            as *mut vfio_group)
            .offset(i as isize) as *mut vfio_group;
        if (*group).users == 0 as uint32_t {
            free_entry = i;
        } else if (*group).number == number {
            (*device).group = i;
            (*group).users = (*group).users.wrapping_add(1);
            return 0 as ::core::ffi::c_int;
        } else {
            first = false_0 != 0;
        }
        i += 1;
    }
    '_c2rust_label: {
        if free_entry >= 0 as ::core::ffi::c_int {} else {
            __assert_fail(
                b"free_entry >= 0\0" as *const u8 as *const ::core::ffi::c_char,
                b"c/src/vfio/kernel.c\0" as *const u8 as *const ::core::ffi::c_char,
                178 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    snprintf(
        &raw mut path as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 256]>() as size_t,
        b"/dev/vfio/%d\0" as *const u8 as *const ::core::ffi::c_char,
        number,
    );
    let mut fd: ::core::ffi::c_int = open(
        &raw mut path as *mut ::core::ffi::c_char,
        O_RDWR | O_CLOEXEC,
    );
    if fd < 0 as ::core::ffi::c_int {
        let mut cause: ::core::ffi::c_int = *__errno_location();
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s: %s; as root, `chown %u %s` gives it to this user\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            &raw mut path as *mut ::core::ffi::c_char,
            strerror(cause),
            getuid(),
            &raw mut path as *mut ::core::ffi::c_char,
        );
        if cause == EBUSY {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: %s: %s; another process drives it\0" as *const u8
                    as *const ::core::ffi::c_char,
                &raw mut (*device).address as *mut ::core::ffi::c_char,
                &raw mut path as *mut ::core::ffi::c_char,
                strerror(cause),
            );
        }
        return -(1 as ::core::ffi::c_int);
    }
    if ioctl(fd, VFIO_GROUP_GET_STATUS as ::core::ffi::c_ulong, &raw mut status)
        != 0 as ::core::ffi::c_int
        || status.flags & VFIO_GROUP_FLAGS_VIABLE as __u32 == 0
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: IOMMU group %d is not viable: another driver has a device in it; `triptych doctor %s` names it\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            number,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
        close(fd);
        return -(1 as ::core::ffi::c_int);
    }
    if ioctl(
        fd,
        VFIO_GROUP_SET_CONTAINER as ::core::ffi::c_ulong,
        &raw mut (*container).fd,
    ) != 0 as ::core::ffi::c_int
        || first as ::core::ffi::c_int != 0
            && ioctl(
                (*container).fd,
                VFIO_SET_IOMMU as ::core::ffi::c_ulong,
                VFIO_TYPE1v2_IOMMU as ::core::ffi::c_ulong,
            ) != 0
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: VFIO_GROUP_SET_CONTAINER or VFIO_SET_IOMMU: %s; as root, modprobe vfio_iommu_type1\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        close(fd);
        return -(1 as ::core::ffi::c_int);
    }
    (*container).groups[free_entry as usize] = vfio_group {
        number: number,
        fd: fd,
        users: 1 as uint32_t,
    };
    (*device).group = free_entry;
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_region(
    mut device: *const vfio_device,
    mut index: uint32_t,
    mut reply: *mut region_info,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    memset(
        reply as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<region_info>() as size_t,
    );
    (*reply).info.argsz = ::core::mem::size_of::<region_info>() as __u32;
    (*reply).info.index = index as __u32;
    if ioctl((*device).fd, VFIO_DEVICE_GET_REGION_INFO as ::core::ffi::c_ulong, reply)
        != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: region %u: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            index,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn map_regions(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut reply: region_info = region_info {
        info: vfio_region_info {
            argsz: 0,
            flags: 0,
            index: 0,
            cap_offset: 0,
            size: 0,
            offset: 0,
        },
    };
    if read_region(device, VFIO_REGION_CONFIG as uint32_t, &raw mut reply, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*device).config_file_offset = reply.info.offset as uint64_t;
    if read_region(device, VFIO_REGION_BAR0 as uint32_t, &raw mut reply, error)
        != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*device).bar0_size = reply.info.size as uint64_t;
    (*device).bar0_file_offset = reply.info.offset as uint64_t;
    return vfio_map_bar0(
        device,
        (*device).fd,
        UINT64_MAX as uint64_t,
        &raw mut reply as *const ::core::ffi::c_void,
        ::core::mem::size_of::<region_info>() as size_t,
        error,
    );
}
unsafe extern "C" fn set_irqs(
    mut device: *const vfio_device,
    mut index: uint32_t,
    mut eventfds: *const ::core::ffi::c_int,
    mut count: uint32_t,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed = C2RustUnnamed {
        set: vfio_irq_set {
            argsz: 0,
            flags: 0,
            index: 0,
            start: 0,
            count: 0,
            data: [],
        },
    };
    memset(
        &raw mut request as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<C2RustUnnamed>() as size_t,
    );
    request.set.argsz = (::core::mem::size_of::<vfio_irq_set>() as usize)
        .wrapping_add(
            (count as usize).wrapping_mul(::core::mem::size_of::<int32_t>() as usize),
        ) as uint32_t as __u32;
    request.set.flags = (VFIO_IRQ_SET_ACTION_TRIGGER
        | (if count > 0 as uint32_t {
            VFIO_IRQ_SET_DATA_EVENTFD
        } else {
            VFIO_IRQ_SET_DATA_NONE
        })) as __u32;
    request.set.index = index as __u32;
    request.set.count = count as __u32;
    if count > 0 as uint32_t {
        memcpy(
            (&raw mut request.bytes as *mut uint8_t)
                .offset(::core::mem::size_of::<vfio_irq_set>() as usize as isize)
                as *mut ::core::ffi::c_void,
            eventfds as *const ::core::ffi::c_void,
            (count as size_t).wrapping_mul(::core::mem::size_of::<int32_t>() as size_t),
        );
    }
    return ioctl(
        (*device).fd,
        VFIO_DEVICE_SET_IRQS as ::core::ffi::c_ulong,
        &raw mut request,
    );
}
unsafe extern "C" fn listen_for_request(mut device: *mut vfio_device) {
    let mut fd: ::core::ffi::c_int = eventfd(
        0 as ::core::ffi::c_uint,
        EFD_CLOEXEC as ::core::ffi::c_int | EFD_NONBLOCK as ::core::ffi::c_int,
    );
    if fd >= 0 as ::core::ffi::c_int
        && set_irqs(
            device,
            VFIO_PCI_REQ_IRQ_INDEX as ::core::ffi::c_int as uint32_t,
            &raw mut fd,
            1 as uint32_t,
        ) != 0 as ::core::ffi::c_int
    {
        close(fd);
        fd = -(1 as ::core::ffi::c_int);
    }
    (*device).request_fd = fd;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_signal_msix(
    mut device: *mut vfio_device,
    mut eventfds: *const ::core::ffi::c_int,
    mut count: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if count > VFIO_MAX_VECTORS as uint32_t
        || set_irqs(
            device,
            VFIO_PCI_MSIX_IRQ_INDEX as ::core::ffi::c_int as uint32_t,
            eventfds,
            count,
        ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: VFIO_DEVICE_SET_IRQS for %u vectors of MSI-X: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            count,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_check_request(
    mut device: *const vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: pollfd = pollfd {
        fd: (*device).request_fd,
        events: POLLIN as ::core::ffi::c_short,
        revents: 0,
    };
    if poll(&raw mut request, 1 as nfds_t, 0 as ::core::ffi::c_int)
        != 1 as ::core::ffi::c_int
    {
        return 0 as ::core::ffi::c_int;
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: the device is being unbound or removed; as root, `triptych bind %s` gives it back to this driver\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn open_device(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    if read_iova_ranges(
        container,
        &raw mut (*device).address as *mut ::core::ffi::c_char,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    (*device).fd = ioctl(
        (*container).groups[(*device).group as usize].fd,
        VFIO_GROUP_GET_DEVICE_FD as ::core::ffi::c_ulong,
        &raw mut (*device).address as *mut ::core::ffi::c_char,
    );
    if (*device).fd < 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: VFIO_GROUP_GET_DEVICE_FD: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return map_regions(device, error);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_open(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    (*device).group = -(1 as ::core::ffi::c_int);
    let mut number: ::core::ffi::c_int = find_group(device, error);
    if number < 0 as ::core::ffi::c_int
        || open_container(
            (*device).container as *mut vfio_container,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            error,
        ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if join_group(device, number, error) != 0 as ::core::ffi::c_int
        || open_device(device, error) != 0 as ::core::ffi::c_int
    {
        vfio_kernel_close(device);
        return -(1 as ::core::ffi::c_int);
    }
    listen_for_request(device);
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_close(mut device: *mut vfio_device) {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    if (*device).fd >= 0 as ::core::ffi::c_int {
        close((*device).fd);
        (*device).fd = -(1 as ::core::ffi::c_int);
    }
    if (*device).request_fd >= 0 as ::core::ffi::c_int {
        close((*device).request_fd);
        (*device).request_fd = -(1 as ::core::ffi::c_int);
    }
    if (*device).group < 0 as ::core::ffi::c_int {
        return;
    }
    let mut group: *mut vfio_group = (&raw mut (*container).groups as *mut vfio_group)
        .offset((*device).group as isize) as *mut vfio_group;
    (*group).users = (*group).users.wrapping_sub(1);
    if (*group).users == 0 as uint32_t {
        close((*group).fd);
    }
    (*device).group = -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_access(
    mut device: *mut vfio_device,
    mut access_0: *const vfio_access,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut offset: off_t = ((*access_0).offset as uint64_t)
        .wrapping_add(
            (if (*access_0).region == VFIO_REGION_CONFIG as uint32_t {
                (*device).config_file_offset
            } else {
                (*device).bar0_file_offset
            }),
        ) as off_t;
    let mut done: ssize_t = if (*access_0).write as ::core::ffi::c_int != 0 {
        pwrite(
            (*device).fd,
            (*access_0).data,
            (*access_0).size as size_t,
            offset as __off_t,
        )
    } else {
        pread(
            (*device).fd,
            (*access_0).data,
            (*access_0).size as size_t,
            offset as __off_t,
        )
    };
    if done == (*access_0).size as ssize_t {
        return 0 as ::core::ffi::c_int;
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: %s at 0x%x: %s; was the device removed or unbound?\0" as *const u8
            as *const ::core::ffi::c_char,
        &raw mut (*device).address as *mut ::core::ffi::c_char,
        (if (*access_0).write as ::core::ffi::c_int != 0 {
            b"write\0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"read\0" as *const u8 as *const ::core::ffi::c_char
        }),
        (*access_0).offset,
        (if done < 0 as ssize_t {
            strerror(*__errno_location()) as *const ::core::ffi::c_char
        } else {
            b"short access\0" as *const u8 as *const ::core::ffi::c_char
        }),
    );
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_dma_map(
    mut container: *mut vfio_container,
    mut memory: *mut ::core::ffi::c_void,
    mut iova: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut map: vfio_iommu_type1_dma_map = vfio_iommu_type1_dma_map {
        argsz: ::core::mem::size_of::<vfio_iommu_type1_dma_map>() as __u32,
        flags: (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE) as __u32,
        vaddr: memory as uintptr_t as uint64_t as __u64,
        iova: iova as __u64,
        size: size as __u64,
    };
    if ioctl((*container).fd, VFIO_IOMMU_MAP_DMA as ::core::ffi::c_ulong, &raw mut map)
        != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"VFIO_IOMMU_MAP_DMA of %llu bytes at 0x%llx: %s%s\0" as *const u8
                as *const ::core::ffi::c_char,
            size as ::core::ffi::c_ulonglong,
            iova as ::core::ffi::c_ulonglong,
            strerror(*__errno_location()),
            (if *__errno_location() == 12 as ::core::ffi::c_int {
                b"; raise the limit of locked memory (ulimit -l), as `triptych doctor` describes\0"
                    as *const u8 as *const ::core::ffi::c_char
            } else {
                b"\0" as *const u8 as *const ::core::ffi::c_char
            }),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_kernel_dma_unmap(
    mut container: *mut vfio_container,
    mut iova: uint64_t,
    mut size: uint64_t,
) {
    let mut unmap: vfio_iommu_type1_dma_unmap = vfio_iommu_type1_dma_unmap {
        argsz: ::core::mem::size_of::<vfio_iommu_type1_dma_unmap>() as __u32,
        flags: 0,
        iova: iova as __u64,
        size: size as __u64,
        data: [],
    };
    ioctl((*container).fd, VFIO_IOMMU_UNMAP_DMA as ::core::ffi::c_ulong, &raw mut unmap);
}
