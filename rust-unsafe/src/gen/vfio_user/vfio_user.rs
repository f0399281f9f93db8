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
    fn vfio_user_connect(
        device: *mut vfio_device,
        path: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_user_call(
        device: *mut vfio_device,
        message: *mut message,
        least: size_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn fcntl(
        __fd: ::core::ffi::c_int,
        __cmd: ::core::ffi::c_int,
        ...
    ) -> ::core::ffi::c_int;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn fstat(__fd: ::core::ffi::c_int, __buf: *mut stat) -> ::core::ffi::c_int;
    fn fstatfs(__fildes: ::core::ffi::c_int, __buf: *mut statfs) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __dev_t = ::core::ffi::c_ulong;
pub type __uid_t = ::core::ffi::c_uint;
pub type __gid_t = ::core::ffi::c_uint;
pub type __ino_t = ::core::ffi::c_ulong;
pub type __mode_t = ::core::ffi::c_uint;
pub type __nlink_t = ::core::ffi::c_ulong;
pub type __off_t = ::core::ffi::c_long;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __fsid_t {
    pub __val: [::core::ffi::c_int; 2],
}
pub type __time_t = ::core::ffi::c_long;
pub type __blksize_t = ::core::ffi::c_long;
pub type __blkcnt_t = ::core::ffi::c_long;
pub type __fsblkcnt_t = ::core::ffi::c_ulong;
pub type __fsfilcnt_t = ::core::ffi::c_ulong;
pub type __fsword_t = ::core::ffi::c_long;
pub type __syscall_slong_t = ::core::ffi::c_long;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct message {
    pub header: message_header,
    pub payload: payload,
    pub fd: ::core::ffi::c_int,
    pub free_us: uint64_t,
    pub begun_us: uint64_t,
    pub deadline_us: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union payload {
    pub version: version,
    pub device: device_info,
    pub region: vfio_region_info,
    pub map: dma_map,
    pub unmap: dma_unmap,
    pub irqs: irq_set,
    pub access: region_access,
    pub bytes: [uint8_t; 4096],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct region_access {
    pub offset: uint64_t,
    pub region: uint32_t,
    pub count: uint32_t,
    pub data: [uint8_t; 8],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct irq_set {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub index: uint32_t,
    pub start: uint32_t,
    pub count: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct dma_unmap {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub address: uint64_t,
    pub size: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct dma_map {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub offset: uint64_t,
    pub address: uint64_t,
    pub size: uint64_t,
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
pub type __u32 = ::core::ffi::c_uint;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_info {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub num_regions: uint32_t,
    pub num_irqs: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct version {
    pub major: uint16_t,
    pub minor: uint16_t,
    pub capabilities: [::core::ffi::c_char; 72],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct message_header {
    pub id: uint16_t,
    pub command: uint16_t,
    pub size: uint32_t,
    pub flags: uint32_t,
    pub error: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct stat {
    pub st_dev: __dev_t,
    pub st_ino: __ino_t,
    pub st_nlink: __nlink_t,
    pub st_mode: __mode_t,
    pub st_uid: __uid_t,
    pub st_gid: __gid_t,
    pub __pad0: ::core::ffi::c_int,
    pub st_rdev: __dev_t,
    pub st_size: __off_t,
    pub st_blksize: __blksize_t,
    pub st_blocks: __blkcnt_t,
    pub st_atim: timespec,
    pub st_mtim: timespec,
    pub st_ctim: timespec,
    pub __glibc_reserved: [__syscall_slong_t; 3],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct timespec {
    pub tv_sec: __time_t,
    pub tv_nsec: __syscall_slong_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct statfs {
    pub f_type: __fsword_t,
    pub f_bsize: __fsword_t,
    pub f_blocks: __fsblkcnt_t,
    pub f_bfree: __fsblkcnt_t,
    pub f_bavail: __fsblkcnt_t,
    pub f_files: __fsfilcnt_t,
    pub f_ffree: __fsfilcnt_t,
    pub f_fsid: __fsid_t,
    pub f_namelen: __fsword_t,
    pub f_frsize: __fsword_t,
    pub f_flags: __fsword_t,
    pub f_spare: [__fsword_t; 4],
}
pub type message_command = ::core::ffi::c_uint;
pub const COMMAND_REGION_WRITE: message_command = 10;
pub const COMMAND_REGION_READ: message_command = 9;
pub const COMMAND_SET_IRQS: message_command = 8;
pub const COMMAND_GET_REGION_INFO: message_command = 5;
pub const COMMAND_GET_INFO: message_command = 4;
pub const COMMAND_DMA_UNMAP: message_command = 3;
pub const COMMAND_DMA_MAP: message_command = 2;
pub const COMMAND_VERSION: message_command = 1;
pub const VFIO_PCI_MSIX_IRQ_INDEX: C2RustUnnamed = 2;
pub type C2RustUnnamed = ::core::ffi::c_uint;
pub const VFIO_PCI_NUM_IRQS: C2RustUnnamed = 5;
pub const VFIO_PCI_REQ_IRQ_INDEX: C2RustUnnamed = 4;
pub const VFIO_PCI_ERR_IRQ_INDEX: C2RustUnnamed = 3;
pub const VFIO_PCI_MSI_IRQ_INDEX: C2RustUnnamed = 1;
pub const VFIO_PCI_INTX_IRQ_INDEX: C2RustUnnamed = 0;
pub const VFIO_REGION_BAR0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VFIO_REGION_CONFIG: ::core::ffi::c_int = 7 as ::core::ffi::c_int;
pub const VFIO_DEVICE_FLAGS_PCI: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const VFIO_IRQ_SET_DATA_NONE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_IRQ_SET_DATA_EVENTFD: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 2 as ::core::ffi::c_int;
pub const VFIO_IRQ_SET_ACTION_TRIGGER: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 5 as ::core::ffi::c_int;
pub const VFIO_DMA_MAP_FLAG_READ: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_DMA_MAP_FLAG_WRITE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const MAX_PAYLOAD: ::core::ffi::c_int = 4096 as ::core::ffi::c_int;
pub const F_GET_SEALS: ::core::ffi::c_int = 1034 as ::core::ffi::c_int;
pub const F_SEAL_SHRINK: ::core::ffi::c_int = 0x2 as ::core::ffi::c_int;
pub const TMPFS_MAGIC: ::core::ffi::c_int = 0x1021994 as ::core::ffi::c_int;
pub const VERSION_MAJOR: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VERSION_MINOR: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const ACCESS_HEADER: ::core::ffi::c_ulong = 16 as ::core::ffi::c_ulong;
unsafe extern "C" fn message_begin(
    mut message: *mut message,
    mut command: message_command,
    mut size: size_t,
) {
    (*message).header = message_header {
        id: 0,
        command: command as uint16_t,
        size: (::core::mem::size_of::<message_header>() as usize)
            .wrapping_add(size as usize) as uint32_t,
        flags: 0,
        error: 0,
    };
    (*message).fd = -(1 as ::core::ffi::c_int);
    (*message).free_us = 0 as uint64_t;
}
unsafe extern "C" fn negotiate_version(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    let mut version: *mut version = &raw mut message.payload.version;
    message_begin(
        &raw mut message,
        COMMAND_VERSION,
        (4 as size_t)
            .wrapping_add(::core::mem::size_of::<[::core::ffi::c_char; 61]>() as size_t),
    );
    *version = version {
        major: VERSION_MAJOR as uint16_t,
        minor: VERSION_MINOR as uint16_t,
        capabilities: ::core::mem::transmute::<
            [u8; 72],
            [::core::ffi::c_char; 72],
        >(
            *b"{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}\0\0\0\0\0\0\0\0\0\0\0\0",
        ),
    };
    if vfio_user_call(device, &raw mut message, 4 as size_t, error)
        < 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if (*version).major as ::core::ffi::c_int != VERSION_MAJOR {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the server speaks vfio-user %u.%u, this driver %d.%d\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            (*version).major as ::core::ffi::c_int,
            (*version).minor as ::core::ffi::c_int,
            0 as ::core::ffi::c_int,
            1 as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn check_is_pci(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    let mut info: *mut device_info = &raw mut message.payload.device;
    message_begin(
        &raw mut message,
        COMMAND_GET_INFO,
        ::core::mem::size_of::<device_info>() as size_t,
    );
    *info = device_info {
        argsz: ::core::mem::size_of::<device_info>() as uint32_t,
        flags: 0,
        num_regions: 0,
        num_irqs: 0,
    };
    if vfio_user_call(
        device,
        &raw mut message,
        ::core::mem::size_of::<device_info>() as size_t,
        error,
    ) < 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if (*info).flags & VFIO_DEVICE_FLAGS_PCI as uint32_t == 0
        || (*info).num_regions <= VFIO_REGION_CONFIG as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: not a PCI device\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn check_file(
    mut device: *const vfio_device,
    mut fd: ::core::ffi::c_int,
    mut size: *mut uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut seals: ::core::ffi::c_int = fcntl(fd, F_GET_SEALS);
    let mut system: statfs = statfs {
        f_type: 0,
        f_bsize: 0,
        f_blocks: 0,
        f_bfree: 0,
        f_bavail: 0,
        f_files: 0,
        f_ffree: 0,
        f_fsid: __fsid_t { __val: [0; 2] },
        f_namelen: 0,
        f_frsize: 0,
        f_flags: 0,
        f_spare: [0; 4],
    };
    let mut file: stat = stat {
        st_dev: 0,
        st_ino: 0,
        st_nlink: 0,
        st_mode: 0,
        st_uid: 0,
        st_gid: 0,
        __pad0: 0,
        st_rdev: 0,
        st_size: 0,
        st_blksize: 0,
        st_blocks: 0,
        st_atim: timespec { tv_sec: 0, tv_nsec: 0 },
        st_mtim: timespec { tv_sec: 0, tv_nsec: 0 },
        st_ctim: timespec { tv_sec: 0, tv_nsec: 0 },
        __glibc_reserved: [0; 3],
    };
    if seals < 0 as ::core::ffi::c_int || seals & F_SEAL_SHRINK == 0
        || fstatfs(fd, &raw mut system) != 0 as ::core::ffi::c_int
        || system.f_type != TMPFS_MAGIC as __fsword_t
        || fstat(fd, &raw mut file) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the file of BAR0 is not a memfd of ordinary pages with the seal F_SEAL_SHRINK, so the server could end this driver by a signal; seal it, or pass no file\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    *size = file.st_size as uint64_t;
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn map_bar0(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    let mut info: *mut vfio_region_info = &raw mut message.payload.region;
    let mut file_size: uint64_t = 0 as uint64_t;
    message_begin(
        &raw mut message,
        COMMAND_GET_REGION_INFO,
        ::core::mem::size_of::<vfio_region_info>() as size_t,
    );
    *info = vfio_region_info {
        argsz: MAX_PAYLOAD as __u32,
        flags: 0,
        index: VFIO_REGION_BAR0 as __u32,
        cap_offset: 0,
        size: 0,
        offset: 0,
    };
    let mut received: ::core::ffi::c_int = vfio_user_call(
        device,
        &raw mut message,
        ::core::mem::size_of::<vfio_region_info>() as size_t,
        error,
    );
    if received < 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if message.fd < 0 as ::core::ffi::c_int {
        return 0 as ::core::ffi::c_int;
    }
    let mut result: ::core::ffi::c_int = check_file(
        device,
        message.fd,
        &raw mut file_size,
        error,
    );
    if result == 0 as ::core::ffi::c_int {
        (*device).bar0_size = (*info).size as uint64_t;
        result = vfio_map_bar0(
            device,
            message.fd,
            file_size,
            info as *const ::core::ffi::c_void,
            received as size_t,
            error,
        );
    }
    close(message.fd);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_open(
    mut device: *mut vfio_device,
    mut path: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if vfio_user_connect(device, path, error) != 0 as ::core::ffi::c_int
        || negotiate_version(device, error) != 0 as ::core::ffi::c_int
        || check_is_pci(device, error) != 0 as ::core::ffi::c_int
        || map_bar0(device, error) != 0 as ::core::ffi::c_int
    {
        vfio_user_close(device);
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_close(mut device: *mut vfio_device) {
    if (*device).fd >= 0 as ::core::ffi::c_int {
        close((*device).fd);
        (*device).fd = -(1 as ::core::ffi::c_int);
    }
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_access(
    mut device: *mut vfio_device,
    mut access: *const vfio_access,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    let mut request: *mut region_access = &raw mut message.payload.access;
    let mut written: size_t = (if (*access).write as ::core::ffi::c_int != 0 {
        (*access).size
    } else {
        0 as uint32_t
    }) as size_t;
    let mut read: size_t = if (*access).write as ::core::ffi::c_int != 0 {
        0 as size_t
    } else {
        (ACCESS_HEADER as size_t).wrapping_add((*access).size as size_t)
    };
    message_begin(
        &raw mut message,
        (if (*access).write as ::core::ffi::c_int != 0 {
            COMMAND_REGION_WRITE as ::core::ffi::c_int
        } else {
            COMMAND_REGION_READ as ::core::ffi::c_int
        }) as message_command,
        (ACCESS_HEADER as size_t).wrapping_add(written),
    );
    message.free_us = (*access).free_us;
    (*request).offset = (*access).offset as uint64_t;
    (*request).region = (*access).region;
    (*request).count = (*access).size;
    memcpy(
        &raw mut (*request).data as *mut uint8_t as *mut ::core::ffi::c_void,
        (*access).data,
        written,
    );
    let mut received: ::core::ffi::c_int = vfio_user_call(
        device,
        &raw mut message,
        read,
        error,
    );
    if received < 0 as ::core::ffi::c_int || (*access).write as ::core::ffi::c_int != 0 {
        return if received < 0 as ::core::ffi::c_int {
            -(1 as ::core::ffi::c_int)
        } else {
            0 as ::core::ffi::c_int
        };
    }
    if received as size_t != read {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the reply to a read of %u bytes has more\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            (*access).size,
        );
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        (*access).data,
        &raw mut (*request).data as *mut uint8_t as *const ::core::ffi::c_void,
        (*access).size as size_t,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_dma_map(
    mut device: *mut vfio_device,
    mut fd: ::core::ffi::c_int,
    mut iova: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    message_begin(
        &raw mut message,
        COMMAND_DMA_MAP,
        ::core::mem::size_of::<dma_map>() as size_t,
    );
    message.fd = fd;
    message.payload.map = dma_map {
        argsz: ::core::mem::size_of::<dma_map>() as uint32_t,
        flags: (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE) as uint32_t,
        offset: 0,
        address: iova,
        size: size,
    };
    return if vfio_user_call(device, &raw mut message, 0 as size_t, error)
        < 0 as ::core::ffi::c_int
    {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_dma_unmap(
    mut device: *mut vfio_device,
    mut iova: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    message_begin(
        &raw mut message,
        COMMAND_DMA_UNMAP,
        ::core::mem::size_of::<dma_unmap>() as size_t,
    );
    message.payload.unmap = dma_unmap {
        argsz: ::core::mem::size_of::<dma_unmap>() as uint32_t,
        flags: 0,
        address: iova,
        size: size,
    };
    return if vfio_user_call(device, &raw mut message, 0 as size_t, error)
        < 0 as ::core::ffi::c_int
    {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
unsafe extern "C" fn set_irq(
    mut device: *mut vfio_device,
    mut vector: uint32_t,
    mut eventfd: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut message: message = message {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        payload: payload {
            version: version {
                major: 0,
                minor: 0,
                capabilities: [0; 72],
            },
        },
        fd: 0,
        free_us: 0,
        begun_us: 0,
        deadline_us: 0,
    };
    message_begin(
        &raw mut message,
        COMMAND_SET_IRQS,
        ::core::mem::size_of::<irq_set>() as size_t,
    );
    message.fd = eventfd;
    message.payload.irqs = irq_set {
        argsz: ::core::mem::size_of::<irq_set>() as uint32_t,
        flags: (VFIO_IRQ_SET_ACTION_TRIGGER
            | (if eventfd >= 0 as ::core::ffi::c_int {
                VFIO_IRQ_SET_DATA_EVENTFD
            } else {
                VFIO_IRQ_SET_DATA_NONE
            })) as uint32_t,
        index: VFIO_PCI_MSIX_IRQ_INDEX as ::core::ffi::c_int as uint32_t,
        start: vector,
        count: (if eventfd >= 0 as ::core::ffi::c_int {
            1 as ::core::ffi::c_int
        } else {
            0 as ::core::ffi::c_int
        }) as uint32_t,
    };
    return if vfio_user_call(device, &raw mut message, 0 as size_t, error)
        < 0 as ::core::ffi::c_int
    {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_signal_msix(
    mut device: *mut vfio_device,
    mut eventfds: *const ::core::ffi::c_int,
    mut count: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if count == 0 as uint32_t {
        return set_irq(device, 0 as uint32_t, -(1 as ::core::ffi::c_int), error);
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        if set_irq(device, i, *eventfds.offset(i as isize), error)
            != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
