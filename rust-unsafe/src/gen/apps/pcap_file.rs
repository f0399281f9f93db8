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
    fn malloc(__size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn reallocarray(
        __ptr: *mut ::core::ffi::c_void,
        __nmemb: size_t,
        __size: size_t,
    ) -> *mut ::core::ffi::c_void;
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
pub type __uint64_t = u64;
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
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_frame {
    pub data: *const uint8_t,
    pub size: uint32_t,
    pub time: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_recording {
    pub bytes: *mut uint8_t,
    pub size: size_t,
    pub frames: *mut pcap_frame,
    pub count: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct reader {
    pub path: *const ::core::ffi::c_char,
    pub bytes: *const uint8_t,
    pub size: size_t,
    pub at: size_t,
    pub frames: uint64_t,
    pub room: uint32_t,
    pub swapped: bool,
    pub fraction: uint64_t,
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
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const O_RDONLY: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const O_NONBLOCK: ::core::ffi::c_int = 0o4000 as ::core::ffi::c_int;
pub const __O_CLOEXEC: ::core::ffi::c_int = 0o2000000 as ::core::ffi::c_int;
pub const O_CLOEXEC: ::core::ffi::c_int = __O_CLOEXEC;
pub const __S_IFMT: ::core::ffi::c_int = 0o170000 as ::core::ffi::c_int;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const MAGIC_MICROSECONDS: ::core::ffi::c_uint = 0xa1b2c3d4 as ::core::ffi::c_uint;
pub const MAGIC_NANOSECONDS: ::core::ffi::c_uint = 0xa1b23c4d as ::core::ffi::c_uint;
pub const MAGIC_PCAPNG: ::core::ffi::c_uint = 0xa0d0d0a as ::core::ffi::c_uint;
pub const FILE_HEADER_SIZE: ::core::ffi::c_int = 24 as ::core::ffi::c_int;
pub const LINK_TYPE: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const RECORD_HEADER_SIZE: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const SECONDS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const FRACTION: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const CAPTURED_LENGTH: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const ORIGINAL_LENGTH: ::core::ffi::c_int = 12 as ::core::ffi::c_int;
pub const LINK_TYPE_ETHERNET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const MIN_FRAME: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const MAX_FILE_SIZE: ::core::ffi::c_ulonglong = (2 as ::core::ffi::c_ulonglong)
    << 30 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
unsafe extern "C" fn read32(mut reader: *const reader, mut at: size_t) -> uint32_t {
    let mut value: uint32_t = 0 as uint32_t;
    memcpy(
        &raw mut value as *mut ::core::ffi::c_void,
        (*reader).bytes.offset(at as isize) as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    return if (*reader).swapped as ::core::ffi::c_int != 0 {
        value.swap_bytes()
    } else {
        value
    };
}
unsafe extern "C" fn has(
    mut reader: *const reader,
    mut count: size_t,
    mut error: *mut error,
) -> bool {
    if (*reader).size.wrapping_sub((*reader).at) >= count {
        return true_0 != 0;
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: the file is cut short, or has no frame: it ends in frame %lu; record it again\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*reader).path,
        (*reader).frames.wrapping_add(1 as uint64_t),
    );
    return false_0 != 0;
}
unsafe extern "C" fn read_header(
    mut reader: *mut reader,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if !has(reader, FILE_HEADER_SIZE as size_t, error) {
        return -(1 as ::core::ffi::c_int);
    }
    let mut magic: uint32_t = read32(reader, 0 as size_t);
    (*reader).swapped = magic == MAGIC_MICROSECONDS.swap_bytes()
        || magic == MAGIC_NANOSECONDS.swap_bytes();
    (*reader).fraction = (if read32(reader, 0 as size_t) == MAGIC_NANOSECONDS as uint32_t
    {
        1 as ::core::ffi::c_int
    } else {
        1000 as ::core::ffi::c_int
    }) as uint64_t;
    if magic == MAGIC_PCAPNG as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is pcapng, and only classic pcap is read; convert it: editcap -F pcap\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if !(*reader).swapped && magic != MAGIC_MICROSECONDS as uint32_t
        && magic != MAGIC_NANOSECONDS as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is not a pcap file: it begins with %08x\0" as *const u8
                as *const ::core::ffi::c_char,
            (*reader).path,
            magic,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut link_type: uint32_t = read32(reader, LINK_TYPE as size_t);
    if link_type != LINK_TYPE_ETHERNET as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the link type is %u, not 1 (Ethernet); record on an Ethernet interface\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            link_type,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*reader).at = FILE_HEADER_SIZE as size_t;
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_frame(
    mut reader: *mut reader,
    mut frame: *mut pcap_frame,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if !has(reader, RECORD_HEADER_SIZE as size_t, error) {
        return -(1 as ::core::ffi::c_int);
    }
    let mut captured: uint32_t = read32(
        reader,
        (*reader).at.wrapping_add(CAPTURED_LENGTH as size_t),
    );
    let mut original: uint32_t = read32(
        reader,
        (*reader).at.wrapping_add(ORIGINAL_LENGTH as size_t),
    );
    if captured != original {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: frame %lu has %u bytes, and %u of them are recorded; record whole frames\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            (*reader).frames.wrapping_add(1 as uint64_t),
            original,
            captured,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if captured < MIN_FRAME as uint32_t || captured > (*reader).room {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: frame %lu has %u bytes, and a frame has %u to %u\0" as *const u8
                as *const ::core::ffi::c_char,
            (*reader).path,
            (*reader).frames.wrapping_add(1 as uint64_t),
            captured,
            14 as ::core::ffi::c_int,
            (*reader).room,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if !has(
        reader,
        (RECORD_HEADER_SIZE as size_t).wrapping_add(captured as size_t),
        error,
    ) {
        return -(1 as ::core::ffi::c_int);
    }
    (*frame).time = (read32(reader, (*reader).at.wrapping_add(SECONDS as size_t))
        as ::core::ffi::c_ulonglong)
        .wrapping_mul(NANOSECONDS)
        .wrapping_add(
            (read32(reader, (*reader).at.wrapping_add(FRACTION as size_t)) as uint64_t)
                .wrapping_mul((*reader).fraction) as ::core::ffi::c_ulonglong,
        ) as uint64_t;
    (*frame).data = (*reader)
        .bytes
        .offset((*reader).at as isize)
        .offset(RECORD_HEADER_SIZE as isize);
    (*frame).size = captured;
    (*reader).at = (*reader)
        .at
        .wrapping_add((RECORD_HEADER_SIZE as size_t).wrapping_add(captured as size_t));
    (*reader).frames = (*reader).frames.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_all(
    mut fd: ::core::ffi::c_int,
    mut bytes: *mut uint8_t,
    mut size: size_t,
) -> ssize_t {
    let mut done: size_t = 0 as size_t;
    while done < size {
        let mut count: ssize_t = read(
            fd,
            bytes.offset(done as isize) as *mut ::core::ffi::c_void,
            size.wrapping_sub(done),
        );
        if count < 0 as ssize_t && *__errno_location() == EINTR {
            continue;
        }
        if count < 0 as ssize_t {
            return -(1 as ::core::ffi::c_int) as ssize_t;
        }
        if count == 0 as ssize_t {
            break;
        }
        done = done.wrapping_add(count as size_t);
    }
    return done as ssize_t;
}
unsafe extern "C" fn read_file(
    mut path: *const ::core::ffi::c_char,
    mut most: size_t,
    mut size: *mut size_t,
    mut error: *mut error,
) -> *mut uint8_t {
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
    let mut bytes: *mut uint8_t = ::core::ptr::null_mut::<uint8_t>();
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
        let mut wanted: size_t = if (status.st_size as size_t) < most {
            status.st_size as size_t
        } else {
            most
        };
        bytes = malloc(wanted.wrapping_add(1 as size_t)) as *mut uint8_t;
        let mut count: ssize_t = if bytes.is_null() {
            -(1 as ::core::ffi::c_int) as ssize_t
        } else {
            read_all(fd, bytes, wanted)
        };
        if count < 0 as ssize_t {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
                path,
                strerror(*__errno_location()),
            );
            free(bytes as *mut ::core::ffi::c_void);
            bytes = ::core::ptr::null_mut::<uint8_t>();
        }
        *size = count as size_t;
    }
    if fd >= 0 as ::core::ffi::c_int {
        close(fd);
    }
    return bytes;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_read_first(
    mut path: *const ::core::ffi::c_char,
    mut frame: *mut uint8_t,
    mut room: uint32_t,
    mut size: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut reader: reader = reader {
        path: path,
        bytes: ::core::ptr::null::<uint8_t>(),
        size: 0,
        at: 0,
        frames: 0,
        room: room,
        swapped: false,
        fraction: 0,
    };
    let mut first: pcap_frame = pcap_frame {
        data: ::core::ptr::null::<uint8_t>(),
        size: 0,
        time: 0,
    };
    let mut most: size_t = ((FILE_HEADER_SIZE + RECORD_HEADER_SIZE) as size_t)
        .wrapping_add(room as size_t);
    let mut bytes: *mut uint8_t = read_file(path, most, &raw mut reader.size, error);
    if bytes.is_null() {
        return -(1 as ::core::ffi::c_int);
    }
    reader.bytes = bytes;
    let mut result: ::core::ffi::c_int = read_header(&raw mut reader, error);
    if result == 0 as ::core::ffi::c_int {
        result = read_frame(&raw mut reader, &raw mut first, error);
    }
    if result == 0 as ::core::ffi::c_int {
        memcpy(
            frame as *mut ::core::ffi::c_void,
            first.data as *const ::core::ffi::c_void,
            first.size as size_t,
        );
        *size = first.size;
    }
    free(bytes as *mut ::core::ffi::c_void);
    return result;
}
unsafe extern "C" fn add_frame(
    mut recording: *mut pcap_recording,
    mut room: *mut uint64_t,
    mut frame: pcap_frame,
) -> ::core::ffi::c_int {
    if (*recording).count == *room {
        let mut more: uint64_t = if *room == 0 as uint64_t {
            1024 as uint64_t
        } else {
            (2 as uint64_t).wrapping_mul(*room)
        };
        let mut frames: *mut pcap_frame = reallocarray(
            (*recording).frames as *mut ::core::ffi::c_void,
            more as size_t,
            ::core::mem::size_of::<pcap_frame>() as size_t,
        ) as *mut pcap_frame;
        if frames.is_null() {
            return -(1 as ::core::ffi::c_int);
        }
        (*recording).frames = frames;
        *room = more;
    }
    *(*recording).frames.offset((*recording).count as isize) = frame;
    (*recording).count = (*recording).count.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn load(
    mut reader: *mut reader,
    mut recording: *mut pcap_recording,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut room: uint64_t = 0 as uint64_t;
    let mut first: uint64_t = 0 as uint64_t;
    let mut last: uint64_t = 0 as uint64_t;
    if read_header(reader, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    loop {
        let mut frame: pcap_frame = pcap_frame {
            data: ::core::ptr::null::<uint8_t>(),
            size: 0,
            time: 0,
        };
        if read_frame(reader, &raw mut frame, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        first = if (*recording).count == 0 as uint64_t { frame.time } else { first };
        if frame.time >= first && frame.time.wrapping_sub(first) > last {
            last = frame.time.wrapping_sub(first);
        }
        frame.time = last;
        if add_frame(recording, &raw mut room, frame) != 0 as ::core::ffi::c_int {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"%s: out of memory for %lu frames\0" as *const u8
                    as *const ::core::ffi::c_char,
                (*reader).path,
                (*recording).count,
            );
            return -(1 as ::core::ffi::c_int);
        }
        if !((*reader).at < (*reader).size) {
            break;
        }
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_load(
    mut path: *const ::core::ffi::c_char,
    mut room: uint32_t,
    mut recording: *mut pcap_recording,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut reader: reader = reader {
        path: path,
        bytes: ::core::ptr::null::<uint8_t>(),
        size: 0,
        at: 0,
        frames: 0,
        room: room,
        swapped: false,
        fraction: 0,
    };
    *recording = pcap_recording {
        bytes: ::core::ptr::null_mut::<uint8_t>(),
        size: 0,
        frames: ::core::ptr::null_mut::<pcap_frame>(),
        count: 0,
    };
    (*recording).bytes = read_file(
        path,
        MAX_FILE_SIZE.wrapping_add(1 as ::core::ffi::c_ulonglong) as size_t,
        &raw mut (*recording).size,
        error,
    );
    if (*recording).bytes.is_null() {
        return -(1 as ::core::ffi::c_int);
    }
    reader.bytes = (*recording).bytes;
    reader.size = (*recording).size;
    let mut result: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
    if (*recording).size as ::core::ffi::c_ulonglong > MAX_FILE_SIZE {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the file has more than 2 GiB; divide it: editcap -c\0" as *const u8
                as *const ::core::ffi::c_char,
            path,
        );
    } else {
        result = load(&raw mut reader, recording, error);
    }
    if result != 0 as ::core::ffi::c_int {
        pcap_unload(recording);
    }
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_unload(mut recording: *mut pcap_recording) {
    free((*recording).frames as *mut ::core::ffi::c_void);
    free((*recording).bytes as *mut ::core::ffi::c_void);
    *recording = pcap_recording {
        bytes: ::core::ptr::null_mut::<uint8_t>(),
        size: 0,
        frames: ::core::ptr::null_mut::<pcap_frame>(),
        count: 0,
    };
}
