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
    fn poll(
        __fds: *mut pollfd,
        __nfds: nfds_t,
        __timeout: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strrchr(
        __s: *const ::core::ffi::c_char,
        __c: ::core::ffi::c_int,
    ) -> *mut ::core::ffi::c_char;
    fn strlen(__s: *const ::core::ffi::c_char) -> size_t;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn lstat(__file: *const ::core::ffi::c_char, __buf: *mut stat) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn write(
        __fd: ::core::ffi::c_int,
        __buf: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> ssize_t;
    fn geteuid() -> __uid_t;
    fn unlink(__name: *const ::core::ffi::c_char) -> ::core::ffi::c_int;
    fn ftruncate(__fd: ::core::ffi::c_int, __length: __off_t) -> ::core::ffi::c_int;
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
pub type __time_t = ::core::ffi::c_long;
pub type __blksize_t = ::core::ffi::c_long;
pub type __blkcnt_t = ::core::ffi::c_long;
pub type __ssize_t = ::core::ffi::c_long;
pub type __syscall_slong_t = ::core::ffi::c_long;
pub type off_t = __off_t;
pub type ssize_t = __ssize_t;
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
pub struct pcap_options {
    pub path: *const ::core::ffi::c_char,
    pub snap: uint32_t,
    pub rotate_size: uint64_t,
    pub files: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_writer {
    pub options: *const pcap_options,
    pub number: uint32_t,
    pub fd: ::core::ffi::c_int,
    pub name: [::core::ffi::c_char; 4096],
    pub written: uint64_t,
    pub frames: uint64_t,
    pub used: size_t,
    pub buffered: uint32_t,
    pub buffer: [uint8_t; 262144],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_file_header {
    pub magic: uint32_t,
    pub version: [uint16_t; 2],
    pub reserved: [uint32_t; 2],
    pub snap: uint32_t,
    pub link_type: uint32_t,
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
pub struct pcap_record_header {
    pub seconds: uint32_t,
    pub fraction: uint32_t,
    pub captured: uint32_t,
    pub size: uint32_t,
}
pub type nfds_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pollfd {
    pub fd: ::core::ffi::c_int,
    pub events: ::core::ffi::c_short,
    pub revents: ::core::ffi::c_short,
}
pub const PCAP_MAGIC_NANOSECONDS: ::core::ffi::c_uint = 0xa1b23c4d
    as ::core::ffi::c_uint;
pub const PCAP_LINK_TYPE_ETHERNET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const EAGAIN: ::core::ffi::c_int = 11 as ::core::ffi::c_int;
pub const EEXIST: ::core::ffi::c_int = 17 as ::core::ffi::c_int;
pub const O_WRONLY: ::core::ffi::c_int = 0o1 as ::core::ffi::c_int;
pub const O_CREAT: ::core::ffi::c_int = 0o100 as ::core::ffi::c_int;
pub const O_EXCL: ::core::ffi::c_int = 0o200 as ::core::ffi::c_int;
pub const O_TRUNC: ::core::ffi::c_int = 0o1000 as ::core::ffi::c_int;
pub const O_NONBLOCK: ::core::ffi::c_int = 0o4000 as ::core::ffi::c_int;
pub const __O_NOFOLLOW: ::core::ffi::c_int = 0o400000 as ::core::ffi::c_int;
pub const __O_CLOEXEC: ::core::ffi::c_int = 0o2000000 as ::core::ffi::c_int;
pub const O_NOFOLLOW: ::core::ffi::c_int = __O_NOFOLLOW;
pub const O_CLOEXEC: ::core::ffi::c_int = __O_CLOEXEC;
pub const __S_IFMT: ::core::ffi::c_int = 0o170000 as ::core::ffi::c_int;
pub const POLLOUT: ::core::ffi::c_int = 0x4 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const PIPE_TIMEOUT_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
unsafe extern "C" fn name_file(
    mut options: *const pcap_options,
    mut number: uint32_t,
    mut name: *mut ::core::ffi::c_char,
    mut size: size_t,
) -> bool {
    let mut ending: *const ::core::ffi::c_char = strrchr((*options).path, '.' as i32);
    let mut folder: *const ::core::ffi::c_char = strrchr((*options).path, '/' as i32);
    let mut length: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    if (*options).rotate_size == 0 as uint64_t {
        length = snprintf(
            name,
            size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            (*options).path,
        );
    } else {
        if ending.is_null() || !folder.is_null() && ending < folder {
            ending = (*options).path.offset(strlen((*options).path) as isize);
        }
        length = snprintf(
            name,
            size,
            b"%.*s-%05u%s\0" as *const u8 as *const ::core::ffi::c_char,
            ending.offset_from((*options).path) as ::core::ffi::c_long
                as ::core::ffi::c_int,
            (*options).path,
            number,
            ending,
        );
    }
    return length >= 0 as ::core::ffi::c_int && (length as size_t) < size;
}
unsafe extern "C" fn put(
    mut writer: *mut pcap_writer,
    mut bytes: *const ::core::ffi::c_void,
    mut size: size_t,
) {
    memcpy(
        (&raw mut (*writer).buffer as *mut uint8_t).offset((*writer).used as isize)
            as *mut uint8_t as *mut ::core::ffi::c_void,
        bytes,
        size,
    );
    (*writer).used = (*writer).used.wrapping_add(size);
}
unsafe extern "C" fn open_named(
    mut name: *const ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    return open(
        name,
        O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC,
        0o644 as ::core::ffi::c_int,
    );
}
unsafe extern "C" fn create_in_row(
    mut name: *const ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let flags: ::core::ffi::c_int = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    let mut old: stat = stat {
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
    let mut fd: ::core::ffi::c_int = open(name, flags, 0o644 as ::core::ffi::c_int);
    if fd < 0 as ::core::ffi::c_int && *__errno_location() == EEXIST
        && lstat(name, &raw mut old) == 0 as ::core::ffi::c_int
        && old.st_mode & __S_IFMT as __mode_t == 0o100000 as __mode_t
        && old.st_uid == geteuid() && unlink(name) == 0 as ::core::ffi::c_int
    {
        fd = open(name, flags, 0o644 as ::core::ffi::c_int);
    }
    return fd;
}
unsafe extern "C" fn open_next(
    mut writer: *mut pcap_writer,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut options: *const pcap_options = (*writer).options;
    let header: pcap_file_header = pcap_file_header {
        magic: PCAP_MAGIC_NANOSECONDS as uint32_t,
        version: [
            2 as ::core::ffi::c_int as uint16_t,
            4 as ::core::ffi::c_int as uint16_t,
        ],
        reserved: [0; 2],
        snap: (*options).snap,
        link_type: PCAP_LINK_TYPE_ETHERNET as uint32_t,
    };
    let mut oldest: [::core::ffi::c_char; 4096] = [0; 4096];
    (*writer).number = (*writer).number.wrapping_add(1);
    if !name_file(
        options,
        (*writer).number,
        &raw mut (*writer).name as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 4096]>() as size_t,
    ) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s: the name is too long\0" as *const u8 as *const ::core::ffi::c_char,
            (*options).path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*writer).fd = if (*options).rotate_size == 0 as uint64_t {
        open_named(&raw mut (*writer).name as *mut ::core::ffi::c_char)
    } else {
        create_in_row(&raw mut (*writer).name as *mut ::core::ffi::c_char)
    };
    if (*writer).fd < 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*writer).name as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if (*options).files != 0 as uint32_t && (*writer).number > (*options).files
        && name_file(
            options,
            (*writer).number.wrapping_sub((*options).files),
            &raw mut oldest as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 4096]>() as size_t,
        ) as ::core::ffi::c_int != 0
    {
        unlink(&raw mut oldest as *mut ::core::ffi::c_char);
    }
    (*writer).written = 0 as uint64_t;
    put(
        writer,
        &raw const header as *const ::core::ffi::c_void,
        ::core::mem::size_of::<pcap_file_header>() as size_t,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_open(
    mut writer: *mut pcap_writer,
    mut options: *const pcap_options,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    (*writer).options = options;
    (*writer).number = 0 as uint32_t;
    (*writer).fd = -(1 as ::core::ffi::c_int);
    (*writer).frames = 0 as uint64_t;
    (*writer).used = 0 as size_t;
    (*writer).buffered = 0 as uint32_t;
    return if !(*options).path.is_null() {
        open_next(writer, error)
    } else {
        0 as ::core::ffi::c_int
    };
}
unsafe extern "C" fn record_end(
    mut writer: *const pcap_writer,
    mut start: size_t,
) -> size_t {
    let mut header: pcap_record_header = pcap_record_header {
        seconds: 0,
        fraction: 0,
        captured: 0,
        size: 0,
    };
    memcpy(
        &raw mut header as *mut ::core::ffi::c_void,
        (&raw const (*writer).buffer as *const uint8_t).offset(start as isize)
            as *const uint8_t as *const ::core::ffi::c_void,
        ::core::mem::size_of::<pcap_record_header>() as size_t,
    );
    return start
        .wrapping_add(::core::mem::size_of::<pcap_record_header>() as size_t)
        .wrapping_add(header.captured as size_t);
}
unsafe extern "C" fn keep_whole_records(mut writer: *mut pcap_writer, mut done: size_t) {
    let mut end: size_t = if (*writer).written == 0 as uint64_t {
        ::core::mem::size_of::<pcap_file_header>() as size_t
    } else {
        0 as size_t
    };
    if done < end {
        end = 0 as size_t;
    } else {
        while record_end(writer, end) <= done {
            end = record_end(writer, end);
            (*writer).frames = (*writer).frames.wrapping_add(1);
        }
    }
    (*writer).written = ((*writer).written as ::core::ffi::c_ulong)
        .wrapping_add(end as ::core::ffi::c_ulong) as uint64_t as uint64_t;
    (ftruncate((*writer).fd, (*writer).written as __off_t) == 0) as ::core::ffi::c_int;
}
unsafe extern "C" fn write_buffer(mut writer: *mut pcap_writer) -> size_t {
    let mut pipe: pollfd = pollfd {
        fd: (*writer).fd,
        events: POLLOUT as ::core::ffi::c_short,
        revents: 0,
    };
    let mut done: size_t = 0 as size_t;
    while done < (*writer).used {
        let mut count: ssize_t = write(
            (*writer).fd,
            (&raw mut (*writer).buffer as *mut uint8_t).offset(done as isize)
                as *mut uint8_t as *const ::core::ffi::c_void,
            (*writer).used.wrapping_sub(done),
        );
        if count >= 0 as ssize_t {
            done = done.wrapping_add(count as size_t);
        } else if *__errno_location() != EINTR
            && (*__errno_location() != EAGAIN
                || poll(&raw mut pipe, 1 as nfds_t, PIPE_TIMEOUT_MS)
                    == 0 as ::core::ffi::c_int)
        {
            break;
        }
    }
    return done;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_flush(
    mut writer: *mut pcap_writer,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut done: size_t = write_buffer(writer);
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    if done < (*writer).used {
        let mut cause: ::core::ffi::c_int = *__errno_location();
        keep_whole_records(writer, done);
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.800s: %s; %lu frames are written and stay; make room, or limit the files with --rotate-size and --files\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*writer).name as *mut ::core::ffi::c_char,
            strerror(cause),
            (*writer).frames,
        );
        result = -(1 as ::core::ffi::c_int);
    } else {
        (*writer).written = ((*writer).written as ::core::ffi::c_ulong)
            .wrapping_add(done as ::core::ffi::c_ulong) as uint64_t as uint64_t;
        (*writer).frames = (*writer).frames.wrapping_add((*writer).buffered as uint64_t);
    }
    (*writer).used = 0 as size_t;
    (*writer).buffered = 0 as uint32_t;
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_close(
    mut writer: *mut pcap_writer,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if (*writer).fd < 0 as ::core::ffi::c_int {
        return 0 as ::core::ffi::c_int;
    }
    let mut result: ::core::ffi::c_int = pcap_writer_flush(writer, error);
    if close((*writer).fd) != 0 as ::core::ffi::c_int
        && result == 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*writer).name as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        result = -(1 as ::core::ffi::c_int);
    }
    (*writer).fd = -(1 as ::core::ffi::c_int);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_put(
    mut writer: *mut pcap_writer,
    mut frame: *const uint8_t,
    mut size: uint32_t,
    mut time: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut options: *const pcap_options = (*writer).options;
    let header: pcap_record_header = pcap_record_header {
        seconds: (time as ::core::ffi::c_ulonglong).wrapping_div(NANOSECONDS)
            as uint32_t,
        fraction: (time as ::core::ffi::c_ulonglong).wrapping_rem(NANOSECONDS)
            as uint32_t,
        captured: if size < (*options).snap { size } else { (*options).snap },
        size: size,
    };
    let mut record: size_t = (::core::mem::size_of::<pcap_record_header>() as size_t)
        .wrapping_add(header.captured as size_t);
    let mut file: uint64_t = (*writer).written.wrapping_add((*writer).used as uint64_t);
    if (*options).rotate_size != 0 as uint64_t
        && file > ::core::mem::size_of::<pcap_file_header>() as uint64_t
        && file.wrapping_add(record as uint64_t) > (*options).rotate_size
    {
        if pcap_writer_close(writer, error) != 0 as ::core::ffi::c_int
            || open_next(writer, error) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
    }
    if (*writer).used.wrapping_add(record)
        > ::core::mem::size_of::<[uint8_t; 262144]>() as usize
        && pcap_writer_flush(writer, error) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    put(
        writer,
        &raw const header as *const ::core::ffi::c_void,
        ::core::mem::size_of::<pcap_record_header>() as size_t,
    );
    put(writer, frame as *const ::core::ffi::c_void, header.captured as size_t);
    (*writer).buffered = (*writer).buffered.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
