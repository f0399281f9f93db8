extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_patience_init(container: *mut vfio_container);
    fn vfio_memory_keep(
        fd: ::core::ffi::c_int,
        memory: *mut ::core::ffi::c_void,
        size: uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_open(
        device: *mut vfio_device,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_close(device: *mut vfio_device);
    fn vfio_kernel_check_request(
        device: *const vfio_device,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_access(
        device: *mut vfio_device,
        access: *const vfio_access,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_signal_msix(
        device: *mut vfio_device,
        eventfds: *const ::core::ffi::c_int,
        count: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_dma_map(
        container: *mut vfio_container,
        memory: *mut ::core::ffi::c_void,
        iova: uint64_t,
        size: uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_kernel_dma_unmap(
        container: *mut vfio_container,
        iova: uint64_t,
        size: uint64_t,
    );
    fn vfio_user_open(
        device: *mut vfio_device,
        path: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_user_close(device: *mut vfio_device);
    fn vfio_user_access(
        device: *mut vfio_device,
        access: *const vfio_access,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_user_signal_msix(
        device: *mut vfio_device,
        eventfds: *const ::core::ffi::c_int,
        count: uint32_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_user_dma_map(
        device: *mut vfio_device,
        fd: ::core::ffi::c_int,
        iova: uint64_t,
        size: uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn vfio_user_dma_unmap(
        device: *mut vfio_device,
        iova: uint64_t,
        size: uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn mmio_load32(address: *const uint32_t) -> uint32_t;
    fn mmio_store32(address: *mut uint32_t, value: uint32_t);
    fn __assert_fail(
        __assertion: *const ::core::ffi::c_char,
        __file: *const ::core::ffi::c_char,
        __line: ::core::ffi::c_uint,
        __function: *const ::core::ffi::c_char,
    ) -> !;
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strncmp(
        __s1: *const ::core::ffi::c_char,
        __s2: *const ::core::ffi::c_char,
        __n: size_t,
    ) -> ::core::ffi::c_int;
    fn strlen(__s: *const ::core::ffi::c_char) -> size_t;
    fn munmap(__addr: *mut ::core::ffi::c_void, __len: size_t) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
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
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const VFIO_REGION_BAR0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VFIO_REGION_CONFIG: ::core::ffi::c_int = 7 as ::core::ffi::c_int;
pub const VFIO_RESERVE_MS: ::core::ffi::c_int = 500 as ::core::ffi::c_int;
pub const VFIO_DOORBELL_MS: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
pub const IXGBE_PCI_COMMAND: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_PCI_COMMAND_MEMORY: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const __ASSERT_FUNCTION: [::core::ffi::c_char; 91] = unsafe {
    ::core::mem::transmute::<
        [u8; 91],
        [::core::ffi::c_char; 91],
    >(
        *b"int vfio_open(struct vfio_container *, const char *, struct vfio_device *, struct error *)\0",
    )
};
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const USER_PREFIX: [::core::ffi::c_char; 11] = unsafe {
    ::core::mem::transmute::<[u8; 11], [::core::ffi::c_char; 11]>(*b"vfio-user:\0")
};
pub const IOVA_FIRST: ::core::ffi::c_ulonglong = 0x200000 as ::core::ffi::c_ulonglong;
pub const IOVA_LAST: ::core::ffi::c_ulonglong = 0x7fffffffff as ::core::ffi::c_ulonglong;
#[no_mangle]
pub unsafe extern "C" fn vfio_container_init(mut container: *mut vfio_container) {
    memset(
        container as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<vfio_container>() as size_t,
    );
    vfio_patience_init(container);
    (*container).fd = -(1 as ::core::ffi::c_int);
    (*container).range_count = 1 as uint32_t;
    (*container).ranges[0 as ::core::ffi::c_int as usize].first = IOVA_FIRST as uint64_t;
    (*container).ranges[0 as ::core::ffi::c_int as usize].last = IOVA_LAST as uint64_t;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_container_close(mut container: *mut vfio_container) {
    while (*container).device_count > 0 as uint32_t {
        vfio_close(
            (*container)
                .devices[(*container).device_count.wrapping_sub(1 as uint32_t) as usize],
        );
    }
    if (*container).fd >= 0 as ::core::ffi::c_int {
        close((*container).fd);
        (*container).fd = -(1 as ::core::ffi::c_int);
    }
}
unsafe extern "C" fn unmap_areas(mut device: *mut vfio_device) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).area_count {
        munmap(
            (*device).areas[i as usize].memory as *mut ::core::ffi::c_void,
            (*device).areas[i as usize].size as size_t,
        );
        i = i.wrapping_add(1);
    }
    (*device).area_count = 0 as uint32_t;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_open(
    mut container: *mut vfio_container,
    mut address: *const ::core::ffi::c_char,
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    memset(
        device as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        ::core::mem::size_of::<vfio_device>() as size_t,
    );
    (*device).container = container as *mut vfio_container;
    (*device).fd = -(1 as ::core::ffi::c_int);
    (*device).request_fd = -(1 as ::core::ffi::c_int);
    (*device).reserve_us = (VFIO_RESERVE_MS as ::core::ffi::c_ulonglong)
        .wrapping_mul(1000 as ::core::ffi::c_ulonglong) as uint64_t;
    if strlen(address) >= ::core::mem::size_of::<[::core::ffi::c_char; 128]>() as usize {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"the device address is longer than %d characters: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            128 as ::core::ffi::c_int - 1 as ::core::ffi::c_int,
            address,
        );
        return -(1 as ::core::ffi::c_int);
    }
    snprintf(
        &raw mut (*device).address as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 128]>() as size_t,
        b"%s\0" as *const u8 as *const ::core::ffi::c_char,
        address,
    );
    '_c2rust_label: {
        if (*container).device_count < 8 as uint32_t {} else {
            __assert_fail(
                b"container->device_count < VFIO_MAX_DEVICES\0" as *const u8
                    as *const ::core::ffi::c_char,
                b"c/src/vfio/vfio.c\0" as *const u8 as *const ::core::ffi::c_char,
                61 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    '_c2rust_label_0: {
        if (*container).map_count == 0 as uint32_t {} else {
            __assert_fail(
                b"container->map_count == 0\0" as *const u8
                    as *const ::core::ffi::c_char,
                b"c/src/vfio/vfio.c\0" as *const u8 as *const ::core::ffi::c_char,
                63 as ::core::ffi::c_uint,
                __ASSERT_FUNCTION.as_ptr(),
            );
        }
    };
    let mut prefix: size_t = strlen(USER_PREFIX.as_ptr());
    let mut user: bool = strncmp(address, USER_PREFIX.as_ptr(), prefix)
        == 0 as ::core::ffi::c_int;
    (*device).kind = (if user as ::core::ffi::c_int != 0 {
        VFIO_KIND_USER as ::core::ffi::c_int
    } else {
        VFIO_KIND_KERNEL as ::core::ffi::c_int
    }) as vfio_kind;
    if (if user as ::core::ffi::c_int != 0 {
        vfio_user_open(device, address.offset(prefix as isize), error)
    } else {
        vfio_kernel_open(device, error)
    }) != 0 as ::core::ffi::c_int
    {
        unmap_areas(device);
        return -(1 as ::core::ffi::c_int);
    }
    (*container).devices[(*container).device_count as usize] = device;
    (*container).device_count = (*container).device_count.wrapping_add(1);
    let mut command: uint16_t = vfio_config_read16(
        device,
        IXGBE_PCI_COMMAND as uint32_t,
    );
    vfio_config_write16(
        device,
        IXGBE_PCI_COMMAND as uint32_t,
        (command as ::core::ffi::c_uint | IXGBE_PCI_COMMAND_MEMORY) as uint16_t,
    );
    if vfio_check(device, error) != 0 as ::core::ffi::c_int {
        vfio_close(device);
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_close(mut device: *mut vfio_device) {
    let mut container: *mut vfio_container = (*device).container as *mut vfio_container;
    let mut left: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*container).device_count {
        if (*container).devices[i as usize] != device {
            (*container).devices[left as usize] = (*container).devices[i as usize];
            left = left.wrapping_add(1);
        }
        i = i.wrapping_add(1);
    }
    (*container).device_count = left;
    unmap_areas(device);
    if (*device).kind as ::core::ffi::c_uint
        == VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        vfio_user_close(device);
    } else {
        vfio_kernel_close(device);
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_register(
    mut device: *const vfio_device,
    mut offset: uint32_t,
) -> *mut uint32_t {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*device).area_count {
        let mut area: *const vfio_area = (&raw const (*device).areas as *const vfio_area)
            .offset(i as isize) as *const vfio_area;
        if (offset as usize).wrapping_rem(::core::mem::size_of::<uint32_t>() as usize)
            == 0 as usize && offset as uint64_t >= (*area).offset
            && (offset as uint64_t).wrapping_sub((*area).offset)
                <= (*area)
                    .size
                    .wrapping_sub(::core::mem::size_of::<uint32_t>() as uint64_t)
        {
            return (*area)
                .memory
                .offset((offset as uint64_t).wrapping_sub((*area).offset) as isize)
                as *mut uint32_t;
        }
        i = i.wrapping_add(1);
    }
    return ::core::ptr::null_mut::<uint32_t>();
}
unsafe extern "C" fn region_access(
    mut device: *mut vfio_device,
    mut access: *const vfio_access,
) {
    if !(*device).failed {
        let mut result: ::core::ffi::c_int = if (*device).kind as ::core::ffi::c_uint
            == VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
        {
            vfio_user_access(device, access, &raw mut (*device).failure)
        } else {
            vfio_kernel_access(device, access, &raw mut (*device).failure)
        };
        (*device).failed = result != 0 as ::core::ffi::c_int;
    }
    if (*device).failed as ::core::ffi::c_int != 0 && !(*access).write {
        memset((*access).data, 0xff as ::core::ffi::c_int, (*access).size as size_t);
    }
}
#[no_mangle]
pub unsafe extern "C" fn vfio_read32(
    mut device: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    let mut address: *mut uint32_t = vfio_register(device, offset);
    let mut value: uint32_t = 0 as uint32_t;
    if !address.is_null() {
        return mmio_load32(address);
    }
    let access: vfio_access = vfio_access {
        region: VFIO_REGION_BAR0 as uint32_t,
        offset: offset,
        data: &raw mut value as *mut ::core::ffi::c_void,
        size: ::core::mem::size_of::<uint32_t>() as uint32_t,
        write: false_0 != 0,
        free_us: 0 as uint64_t,
    };
    region_access(device, &raw const access);
    return value;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_write32(
    mut device: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    let mut address: *mut uint32_t = vfio_register(device, offset);
    if !address.is_null() {
        mmio_store32(address, value);
        return;
    }
    let access: vfio_access = vfio_access {
        region: VFIO_REGION_BAR0 as uint32_t,
        offset: offset,
        data: &raw mut value as *mut ::core::ffi::c_void,
        size: ::core::mem::size_of::<uint32_t>() as uint32_t,
        write: true_0 != 0,
        free_us: 0 as uint64_t,
    };
    region_access(device, &raw const access);
}
#[no_mangle]
#[cold]
#[inline(never)]
pub unsafe extern "C" fn vfio_ring(
    mut device: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    let access: vfio_access = vfio_access {
        region: VFIO_REGION_BAR0 as uint32_t,
        offset: offset,
        data: &raw mut value as *mut ::core::ffi::c_void,
        size: ::core::mem::size_of::<uint32_t>() as uint32_t,
        write: true_0 != 0,
        free_us: (VFIO_DOORBELL_MS as ::core::ffi::c_ulonglong)
            .wrapping_mul(1000 as ::core::ffi::c_ulonglong) as uint64_t,
    };
    region_access(device, &raw const access);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_config_read16(
    mut device: *mut vfio_device,
    mut offset: uint32_t,
) -> uint16_t {
    let mut value: uint16_t = 0 as uint16_t;
    let access: vfio_access = vfio_access {
        region: VFIO_REGION_CONFIG as uint32_t,
        offset: offset,
        data: &raw mut value as *mut ::core::ffi::c_void,
        size: ::core::mem::size_of::<uint16_t>() as uint32_t,
        write: false_0 != 0,
        free_us: 0 as uint64_t,
    };
    region_access(device, &raw const access);
    return value;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_config_write16(
    mut device: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint16_t,
) {
    let access: vfio_access = vfio_access {
        region: VFIO_REGION_CONFIG as uint32_t,
        offset: offset,
        data: &raw mut value as *mut ::core::ffi::c_void,
        size: ::core::mem::size_of::<uint16_t>() as uint32_t,
        write: true_0 != 0,
        free_us: 0 as uint64_t,
    };
    region_access(device, &raw const access);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_signal_msix(
    mut device: *mut vfio_device,
    mut eventfds: *const ::core::ffi::c_int,
    mut count: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if vfio_check(device, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    return if (*device).kind as ::core::ffi::c_uint
        == VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        vfio_user_signal_msix(device, eventfds, count, error)
    } else {
        vfio_kernel_signal_msix(device, eventfds, count, error)
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_check(
    mut device: *const vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if !(*device).failed {
        return 0 as ::core::ffi::c_int;
    }
    *error = (*device).failure;
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_check_request(
    mut device: *const vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    return if (*device).kind as ::core::ffi::c_uint
        == VFIO_KIND_KERNEL as ::core::ffi::c_int as ::core::ffi::c_uint
    {
        vfio_kernel_check_request(device, error)
    } else {
        0 as ::core::ffi::c_int
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_iova_alloc(
    mut container: *mut vfio_container,
    mut size: uint64_t,
    mut alignment: uint64_t,
    mut iova: *mut uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*container).range_count {
        let mut range: *const iova_range = (&raw mut (*container).ranges
            as *mut iova_range)
            .offset(i as isize) as *mut iova_range;
        let mut start: uint64_t = if (*range).first > (*container).next_iova {
            (*range).first
        } else {
            (*container).next_iova
        };
        if start
            > (UINT64_MAX as uint64_t)
                .wrapping_sub(alignment.wrapping_sub(1 as uint64_t))
        {
            break;
        }
        start = start.wrapping_add(alignment).wrapping_sub(1 as uint64_t)
            & !alignment.wrapping_sub(1 as uint64_t);
        if start <= (*range).last
            && size.wrapping_sub(1 as uint64_t) <= (*range).last.wrapping_sub(start)
        {
            *iova = start;
            (*container).next_iova = start.wrapping_add(size);
            return 0 as ::core::ffi::c_int;
        }
        i = i.wrapping_add(1);
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"no %llu bytes of I/O address space left in what the IOMMU permits; use fewer or smaller pools and rings\0"
            as *const u8 as *const ::core::ffi::c_char,
        size as ::core::ffi::c_ulonglong,
    );
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_dma_map(
    mut container: *mut vfio_container,
    mut fd: ::core::ffi::c_int,
    mut memory: *mut ::core::ffi::c_void,
    mut iova: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*container).fd >= 0 as ::core::ffi::c_int
        && vfio_kernel_dma_map(container, memory, iova, size, error)
            != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    (*container).map_count = (*container).map_count.wrapping_add(1);
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*container).device_count && result == 0 as ::core::ffi::c_int {
        let mut device: *mut vfio_device = (*container).devices[i as usize];
        if (*device).kind as ::core::ffi::c_uint
            == VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
        {
            result = if vfio_check(device, error) != 0 as ::core::ffi::c_int {
                -(1 as ::core::ffi::c_int)
            } else {
                vfio_user_dma_map(device, fd, iova, size, error)
            };
        }
        i = i.wrapping_add(1);
    }
    if result == 0 as ::core::ffi::c_int {
        result = vfio_memory_keep(fd, memory, size, error);
    }
    if result != 0 as ::core::ffi::c_int {
        vfio_dma_unmap(container, iova, size);
    }
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_dma_unmap(
    mut container: *mut vfio_container,
    mut iova: uint64_t,
    mut size: uint64_t,
) {
    if (*container).fd >= 0 as ::core::ffi::c_int {
        vfio_kernel_dma_unmap(container, iova, size);
    }
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*container).device_count {
        let mut device: *mut vfio_device = (*container).devices[i as usize];
        let mut ignored: error = error { text: [0; 1024] };
        if (*device).kind as ::core::ffi::c_uint
            == VFIO_KIND_USER as ::core::ffi::c_int as ::core::ffi::c_uint
            && !(*device).failed
        {
            vfio_user_dma_unmap(device, iova, size, &raw mut ignored);
        }
        i = i.wrapping_add(1);
    }
    (*container).map_count = (*container).map_count.wrapping_sub(1);
}
