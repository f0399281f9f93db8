extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn fcntl(
        __fd: ::core::ffi::c_int,
        __cmd: ::core::ffi::c_int,
        ...
    ) -> ::core::ffi::c_int;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn memfd_create(
        __name: *const ::core::ffi::c_char,
        __flags: ::core::ffi::c_uint,
    ) -> ::core::ffi::c_int;
    fn mmap(
        __addr: *mut ::core::ffi::c_void,
        __len: size_t,
        __prot: ::core::ffi::c_int,
        __flags: ::core::ffi::c_int,
        __fd: ::core::ffi::c_int,
        __offset: __off_t,
    ) -> *mut ::core::ffi::c_void;
    fn madvise(
        __addr: *mut ::core::ffi::c_void,
        __len: size_t,
        __advice: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn ftruncate(__fd: ::core::ffi::c_int, __length: __off_t) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type off_t = __off_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint64_t = __uint64_t;
pub const EINVAL: ::core::ffi::c_int = 22 as ::core::ffi::c_int;
pub const F_ADD_SEALS: ::core::ffi::c_int = 1033 as ::core::ffi::c_int;
pub const F_SEAL_SEAL: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const F_SEAL_SHRINK: ::core::ffi::c_int = 0x2 as ::core::ffi::c_int;
pub const F_SEAL_GROW: ::core::ffi::c_int = 0x4 as ::core::ffi::c_int;
pub const F_SEAL_FUTURE_WRITE: ::core::ffi::c_int = 0x10 as ::core::ffi::c_int;
pub const MAP_POPULATE: ::core::ffi::c_int = 0x8000 as ::core::ffi::c_int;
pub const PROT_READ: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const PROT_WRITE: ::core::ffi::c_int = 0x2 as ::core::ffi::c_int;
pub const MAP_SHARED: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const MFD_CLOEXEC: ::core::ffi::c_uint = 1 as ::core::ffi::c_uint;
pub const MFD_ALLOW_SEALING: ::core::ffi::c_uint = 2 as ::core::ffi::c_uint;
pub const MFD_HUGETLB: ::core::ffi::c_uint = 4 as ::core::ffi::c_uint;
pub const MAP_FAILED: *mut ::core::ffi::c_void = -(1 as ::core::ffi::c_int)
    as *mut ::core::ffi::c_void;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const MEMFD_HUGE_2MB: ::core::ffi::c_uint = (21 as ::core::ffi::c_uint)
    << 26 as ::core::ffi::c_int;
pub const MADVISE_POPULATE_WRITE: ::core::ffi::c_int = 23 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn vfio_memory_map(
    mut size: size_t,
    mut huge: bool,
    mut fd: *mut ::core::ffi::c_int,
) -> *mut ::core::ffi::c_void {
    let mut flags: ::core::ffi::c_uint = if huge as ::core::ffi::c_int != 0 {
        MFD_HUGETLB | MEMFD_HUGE_2MB
    } else {
        0 as ::core::ffi::c_uint
    };
    *fd = memfd_create(
        b"ixgbe-dma\0" as *const u8 as *const ::core::ffi::c_char,
        MFD_CLOEXEC | MFD_ALLOW_SEALING | flags,
    );
    if *fd < 0 as ::core::ffi::c_int {
        return NULL;
    }
    if ftruncate(*fd, size as __off_t) == 0 as ::core::ffi::c_int
        && fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)
            == 0 as ::core::ffi::c_int
    {
        let mut memory: *mut ::core::ffi::c_void = mmap(
            NULL,
            size,
            PROT_READ | PROT_WRITE,
            MAP_SHARED | MAP_POPULATE,
            *fd,
            0 as __off_t,
        );
        if memory != MAP_FAILED {
            return memory;
        }
    }
    let mut cause: ::core::ffi::c_int = *__errno_location();
    close(*fd);
    *fd = -(1 as ::core::ffi::c_int);
    *__errno_location() = cause;
    return NULL;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_memory_keep(
    mut fd: ::core::ffi::c_int,
    mut memory: *mut ::core::ffi::c_void,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut sealed: ::core::ffi::c_int = fcntl(
        fd,
        F_ADD_SEALS,
        F_SEAL_FUTURE_WRITE | F_SEAL_SEAL,
    );
    if sealed != 0 as ::core::ffi::c_int && *__errno_location() == EINVAL {
        sealed = fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
    }
    if sealed == 0 as ::core::ffi::c_int {
        sealed = madvise(memory, size as size_t, MADVISE_POPULATE_WRITE);
        if sealed != 0 as ::core::ffi::c_int && *__errno_location() == EINVAL {
            sealed = 0 as ::core::ffi::c_int;
        }
    }
    if sealed != 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"cannot keep the pages of DMA memory: %s; did a vfio-user server seal or free them?\0"
                as *const u8 as *const ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
