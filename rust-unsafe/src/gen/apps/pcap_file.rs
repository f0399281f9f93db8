extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn open(
        __file: *const ::core::ffi::c_char,
        __oflag: ::core::ffi::c_int,
        ...
    ) -> ::core::ffi::c_int;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn fstat(__fd: ::core::ffi::c_int, __buf: *mut stat) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn read(
        __fd: ::core::ffi::c_int,
        __buf: *mut ::core::ffi::c_void,
        __nbytes: size_t,
    ) -> ssize_t;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint32_t = u32;
pub type __dev_t = ::core::ffi::c_ulong;
pub type __uid_t = ::core::ffi::c_uint;
pub type __gid_t = ::core::ffi::c_uint;
pub type __ino_t = ::core::ffi::c_ulong;
pub type __mode_t = ::core::ffi::c_uint;
pub type __nlink_t = ::core::ffi::c_ulong;
pub type __off_t = ::core::ffi::c_long;
pub type __time_t = ::core::ffi::c_long;
pub type __blksize_t = ::core::ffi::c_long;
pub type __blkcnt_t = ::core::ffi::c_long;
pub type __ssize_t = ::core::ffi::c_long;
pub type __syscall_slong_t = ::core::ffi::c_long;
pub type ssize_t = __ssize_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint8_t = __uint8_t;
pub type uint32_t = __uint32_t;
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
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const O_RDONLY: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const O_NONBLOCK: ::core::ffi::c_int = 0o4000 as ::core::ffi::c_int;
pub const __O_CLOEXEC: ::core::ffi::c_int = 0o2000000 as ::core::ffi::c_int;
pub const O_CLOEXEC: ::core::ffi::c_int = __O_CLOEXEC;
pub const __S_IFMT: ::core::ffi::c_int = 0o170000 as ::core::ffi::c_int;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const MAGIC_MICROSECONDS: ::core::ffi::c_uint = 0xa1b2c3d4 as ::core::ffi::c_uint;
pub const MAGIC_NANOSECONDS: ::core::ffi::c_uint = 0xa1b23c4d as ::core::ffi::c_uint;
pub const MAGIC_PCAPNG: ::core::ffi::c_uint = 0xa0d0d0a as ::core::ffi::c_uint;
pub const LINK_TYPE: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const CAPTURED_LENGTH: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const ORIGINAL_LENGTH: ::core::ffi::c_int = 12 as ::core::ffi::c_int;
pub const LINK_TYPE_ETHERNET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const MIN_FRAME: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
unsafe extern "C" fn read32(mut bytes: *const uint8_t, mut swapped: bool) -> uint32_t {
    let mut value: uint32_t = 0 as uint32_t;
    memcpy(
        &raw mut value as *mut ::core::ffi::c_void,
        bytes as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    return if swapped as ::core::ffi::c_int != 0 { value.swap_bytes() } else { value };
}
unsafe extern "C" fn read_all(
    mut fd: ::core::ffi::c_int,
    mut path: *const ::core::ffi::c_char,
    mut bytes: *mut ::core::ffi::c_void,
    mut size: size_t,
    mut error: *mut error,
) -> bool {
    let mut done: size_t = 0 as size_t;
    while done < size {
        let mut count: ssize_t = read(
            fd,
            (bytes as *mut uint8_t).offset(done as isize) as *mut ::core::ffi::c_void,
            size.wrapping_sub(done),
        );
        if count < 0 as ssize_t && *__errno_location() == EINTR {
            continue;
        }
        if count < 0 as ssize_t {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
                path,
                strerror(*__errno_location()),
            );
            return false_0 != 0;
        }
        if count == 0 as ssize_t {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: the file is cut short, or has no frame; record it again\0"
                    as *const u8 as *const ::core::ffi::c_char,
                path,
            );
            return false_0 != 0;
        }
        done = done.wrapping_add(count as size_t);
    }
    return true_0 != 0;
}
unsafe extern "C" fn read_header(
    mut fd: ::core::ffi::c_int,
    mut path: *const ::core::ffi::c_char,
    mut swapped: *mut bool,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut header: [uint8_t; 24] = [0; 24];
    if !read_all(
        fd,
        path,
        &raw mut header as *mut uint8_t as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 24]>() as size_t,
        error,
    ) {
        return -(1 as ::core::ffi::c_int);
    }
    let mut magic: uint32_t = read32(&raw mut header as *mut uint8_t, false_0 != 0);
    *swapped = magic == MAGIC_MICROSECONDS.swap_bytes()
        || magic == MAGIC_NANOSECONDS.swap_bytes();
    if magic == MAGIC_PCAPNG as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is pcapng, and only classic pcap is read; convert it: editcap -F pcap\0"
                as *const u8 as *const ::core::ffi::c_char,
            path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if !*swapped && magic != MAGIC_MICROSECONDS as uint32_t
        && magic != MAGIC_NANOSECONDS as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is not a pcap file: it begins with %08x\0" as *const u8
                as *const ::core::ffi::c_char,
            path,
            magic,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut link_type: uint32_t = read32(
        (&raw mut header as *mut uint8_t).offset(LINK_TYPE as isize) as *mut uint8_t,
        *swapped,
    );
    if link_type != LINK_TYPE_ETHERNET as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the link type is %u, not 1 (Ethernet); record on an Ethernet interface\0"
                as *const u8 as *const ::core::ffi::c_char,
            path,
            link_type,
        );
        return -(1 as ::core::ffi::c_int);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_first(
    mut fd: ::core::ffi::c_int,
    mut path: *const ::core::ffi::c_char,
    mut frame: *mut uint8_t,
    mut room: uint32_t,
    mut size: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut record: [uint8_t; 16] = [0; 16];
    let mut swapped: bool = false_0 != 0;
    if read_header(fd, path, &raw mut swapped, error) != 0 as ::core::ffi::c_int
        || !read_all(
            fd,
            path,
            &raw mut record as *mut uint8_t as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<[uint8_t; 16]>() as size_t,
            error,
        )
    {
        return -(1 as ::core::ffi::c_int);
    }
    let mut captured: uint32_t = read32(
        (&raw mut record as *mut uint8_t).offset(CAPTURED_LENGTH as isize)
            as *mut uint8_t,
        swapped,
    );
    let mut original: uint32_t = read32(
        (&raw mut record as *mut uint8_t).offset(ORIGINAL_LENGTH as isize)
            as *mut uint8_t,
        swapped,
    );
    if captured != original {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: frame 1 has %u bytes, and %u of them are recorded; record whole frames\0"
                as *const u8 as *const ::core::ffi::c_char,
            path,
            original,
            captured,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if captured < MIN_FRAME as uint32_t || captured > room {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: frame 1 has %u bytes, and a frame has %u to %u\0" as *const u8
                as *const ::core::ffi::c_char,
            path,
            captured,
            14 as ::core::ffi::c_int,
            room,
        );
        return -(1 as ::core::ffi::c_int);
    }
    *size = captured;
    return if read_all(
        fd,
        path,
        frame as *mut ::core::ffi::c_void,
        captured as size_t,
        error,
    ) as ::core::ffi::c_int != 0
    {
        0 as ::core::ffi::c_int
    } else {
        -(1 as ::core::ffi::c_int)
    };
}
#[no_mangle]
pub unsafe extern "C" fn pcap_read_first(
    mut path: *const ::core::ffi::c_char,
    mut frame: *mut uint8_t,
    mut room: uint32_t,
    mut size: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut fd: ::core::ffi::c_int = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    let mut status: stat = stat {
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
    let mut result: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
    if fd < 0 as ::core::ffi::c_int
        || fstat(fd, &raw mut status) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            path,
            strerror(*__errno_location()),
        );
    } else if !(status.st_mode & __S_IFMT as __mode_t == 0o100000 as __mode_t) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is not a file; name a pcap file\0" as *const u8
                as *const ::core::ffi::c_char,
            path,
        );
    } else {
        result = read_first(fd, path, frame, room, size, error);
    }
    if fd < 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    close(fd);
    return result;
}
