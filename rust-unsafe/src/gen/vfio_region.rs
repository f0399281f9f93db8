extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn mmap(
        __addr: *mut ::core::ffi::c_void,
        __len: size_t,
        __prot: ::core::ffi::c_int,
        __flags: ::core::ffi::c_int,
        __fd: ::core::ffi::c_int,
        __offset: __off_t,
    ) -> *mut ::core::ffi::c_void;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type off_t = __off_t;
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
pub struct vfio_device {
    pub container: *mut vfio_container,
    pub address: [::core::ffi::c_char; 128],
    pub kind: vfio_kind,
    pub fd: ::core::ffi::c_int,
    pub request_fd: ::core::ffi::c_int,
    pub group: ::core::ffi::c_int,
    pub next_message: uint16_t,
    pub bar0_size: uint64_t,
    pub bar0_file_offset: uint64_t,
    pub config_file_offset: uint64_t,
    pub area_count: uint32_t,
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
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_group {
    pub number: ::core::ffi::c_int,
    pub fd: ::core::ffi::c_int,
    pub users: uint32_t,
}
pub type __u64 = ::core::ffi::c_ulonglong;
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
pub type __u32 = ::core::ffi::c_uint;
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
pub struct vfio_region_info_cap_sparse_mmap {
    pub header: vfio_info_cap_header,
    pub nr_areas: __u32,
    pub reserved: __u32,
    pub areas: [vfio_region_sparse_mmap_area; 0],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct vfio_region_sparse_mmap_area {
    pub offset: __u64,
    pub size: __u64,
}
pub const VFIO_MAX_AREAS: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const VFIO_REGION_INFO_FLAG_MMAP: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 2 as ::core::ffi::c_int;
pub const VFIO_REGION_INFO_FLAG_CAPS: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 3 as ::core::ffi::c_int;
pub const VFIO_REGION_INFO_CAP_SPARSE_MMAP: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const PROT_READ: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const PROT_WRITE: ::core::ffi::c_int = 0x2 as ::core::ffi::c_int;
pub const MAP_SHARED: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const MAP_FAILED: *mut ::core::ffi::c_void = -(1 as ::core::ffi::c_int)
    as *mut ::core::ffi::c_void;
#[no_mangle]
pub unsafe extern "C" fn vfio_map_area(
    mut device: *mut vfio_device,
    mut fd: ::core::ffi::c_int,
    mut bar0_file_offset: uint64_t,
    mut offset: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*device).area_count == VFIO_MAX_AREAS as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: BAR0 has more than %d mappable areas\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            8 as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if size == 0 as uint64_t || size > (*device).bar0_size
        || offset > (*device).bar0_size.wrapping_sub(size)
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: a mappable area lies outside BAR0\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut memory: *mut ::core::ffi::c_void = mmap(
        NULL,
        size as size_t,
        PROT_READ | PROT_WRITE,
        MAP_SHARED,
        fd,
        bar0_file_offset.wrapping_add(offset) as __off_t,
    );
    if memory == MAP_FAILED {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: mmap of BAR0 at 0x%llx: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            offset as ::core::ffi::c_ulonglong,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut area: *mut vfio_area = (&raw mut (*device).areas as *mut vfio_area)
        .offset((*device).area_count as isize) as *mut vfio_area;
    (*area).offset = offset;
    (*area).size = size;
    (*area).memory = memory as *mut uint8_t;
    (*device).area_count = (*device).area_count.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn chain_read(
    mut info: *const ::core::ffi::c_void,
    mut info_size: size_t,
    mut offset: size_t,
    mut out: *mut ::core::ffi::c_void,
    mut size: size_t,
) -> ::core::ffi::c_int {
    if offset > info_size || size > info_size.wrapping_sub(offset) {
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        out,
        (info as *const uint8_t).offset(offset as isize) as *const ::core::ffi::c_void,
        size,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_map_bar0(
    mut device: *mut vfio_device,
    mut fd: ::core::ffi::c_int,
    mut info: *const ::core::ffi::c_void,
    mut info_size: size_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut region: vfio_region_info = vfio_region_info {
        argsz: 0,
        flags: 0,
        index: 0,
        cap_offset: 0,
        size: 0,
        offset: 0,
    };
    if chain_read(
        info,
        info_size,
        0 as size_t,
        &raw mut region as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<vfio_region_info>() as size_t,
    ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the description of BAR0 is truncated\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if region.flags & VFIO_REGION_INFO_FLAG_MMAP as __u32 == 0 {
        return 0 as ::core::ffi::c_int;
    }
    let mut next: size_t = (if region.flags & VFIO_REGION_INFO_FLAG_CAPS as __u32 != 0 {
        region.cap_offset
    } else {
        0 as __u32
    }) as size_t;
    while next != 0 as size_t {
        let mut sparse: vfio_region_info_cap_sparse_mmap = vfio_region_info_cap_sparse_mmap {
            header: vfio_info_cap_header {
                id: 0,
                version: 0,
                next: 0,
            },
            nr_areas: 0,
            reserved: 0,
            areas: [],
        };
        if chain_read(
            info,
            info_size,
            next,
            &raw mut sparse as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<vfio_region_info_cap_sparse_mmap>() as size_t,
        ) != 0 as ::core::ffi::c_int
        {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: a capability of BAR0 is truncated\0" as *const u8
                    as *const ::core::ffi::c_char,
                &raw mut (*device).address as *mut ::core::ffi::c_char,
            );
            return -(1 as ::core::ffi::c_int);
        }
        if sparse.header.id as ::core::ffi::c_int == VFIO_REGION_INFO_CAP_SPARSE_MMAP {
            let mut i: uint32_t = 0 as uint32_t;
            while i < sparse.nr_areas as uint32_t {
                let mut area: vfio_region_sparse_mmap_area = vfio_region_sparse_mmap_area {
                    offset: 0,
                    size: 0,
                };
                let mut at: size_t = next
                    .wrapping_add(
                        ::core::mem::size_of::<vfio_region_info_cap_sparse_mmap>()
                            as size_t,
                    )
                    .wrapping_add(
                        (i as size_t)
                            .wrapping_mul(
                                ::core::mem::size_of::<vfio_region_sparse_mmap_area>()
                                    as size_t,
                            ),
                    );
                if chain_read(
                    info,
                    info_size,
                    at,
                    &raw mut area as *mut ::core::ffi::c_void,
                    ::core::mem::size_of::<vfio_region_sparse_mmap_area>() as size_t,
                ) != 0 as ::core::ffi::c_int
                {
                    snprintf(
                        &raw mut (*error).text as *mut ::core::ffi::c_char,
                        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                        b"%s: the list of mappable areas is truncated\0" as *const u8
                            as *const ::core::ffi::c_char,
                        &raw mut (*device).address as *mut ::core::ffi::c_char,
                    );
                    return -(1 as ::core::ffi::c_int);
                }
                if vfio_map_area(
                    device,
                    fd,
                    region.offset as uint64_t,
                    area.offset as uint64_t,
                    area.size as uint64_t,
                    error,
                ) != 0 as ::core::ffi::c_int
                {
                    return -(1 as ::core::ffi::c_int);
                }
                i = i.wrapping_add(1);
            }
            return 0 as ::core::ffi::c_int;
        }
        if sparse.header.next != 0 as __u32 && sparse.header.next as size_t <= next {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: the capabilities of BAR0 are looping\0" as *const u8
                    as *const ::core::ffi::c_char,
                &raw mut (*device).address as *mut ::core::ffi::c_char,
            );
            return -(1 as ::core::ffi::c_int);
        }
        next = sparse.header.next as size_t;
    }
    return vfio_map_area(
        device,
        fd,
        region.offset as uint64_t,
        0 as uint64_t,
        (*device).bar0_size,
        error,
    );
}
