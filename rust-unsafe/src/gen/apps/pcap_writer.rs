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
    fn memset(
        __s: *mut ::core::ffi::c_void,
        __c: ::core::ffi::c_int,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strrchr(
        __s: *const ::core::ffi::c_char,
        __c: ::core::ffi::c_int,
    ) -> *mut ::core::ffi::c_char;
    fn strlen(__s: *const ::core::ffi::c_char) -> size_t;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
    fn write(
        __fd: ::core::ffi::c_int,
        __buf: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> ssize_t;
    fn unlink(__name: *const ::core::ffi::c_char) -> ::core::ffi::c_int;
    fn ftruncate(__fd: ::core::ffi::c_int, __length: __off_t) -> ::core::ffi::c_int;
}
pub type size_t = usize;
pub type __uint8_t = u8;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __ssize_t = ::core::ffi::c_long;
pub type off_t = __off_t;
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
pub struct pcap_writer {
    pub path: *const ::core::ffi::c_char,
    pub snap: uint32_t,
    pub rotate_size: uint64_t,
    pub files: uint32_t,
    pub number: uint32_t,
    pub fd: ::core::ffi::c_int,
    pub name: [::core::ffi::c_char; 4096],
    pub written: uint64_t,
    pub frames: uint64_t,
    pub used: size_t,
    pub buffer: [uint8_t; 262144],
}
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const O_WRONLY: ::core::ffi::c_int = 0o1 as ::core::ffi::c_int;
pub const O_CREAT: ::core::ffi::c_int = 0o100 as ::core::ffi::c_int;
pub const O_TRUNC: ::core::ffi::c_int = 0o1000 as ::core::ffi::c_int;
pub const __O_CLOEXEC: ::core::ffi::c_int = 0o2000000 as ::core::ffi::c_int;
pub const O_CLOEXEC: ::core::ffi::c_int = __O_CLOEXEC;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const MAGIC_NANOSECONDS: ::core::ffi::c_uint = 0xa1b23c4d as ::core::ffi::c_uint;
pub const VERSION_2_4: ::core::ffi::c_uint = (4 as ::core::ffi::c_uint)
    << 16 as ::core::ffi::c_int | 2 as ::core::ffi::c_uint;
pub const LINK_TYPE_ETHERNET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const FILE_HEADER_SIZE: ::core::ffi::c_int = 24 as ::core::ffi::c_int;
pub const VERSION: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const SNAP_LENGTH: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const LINK_TYPE: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const RECORD_HEADER_SIZE: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const SECONDS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const CAPTURED_LENGTH: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const ORIGINAL_LENGTH: ::core::ffi::c_int = 12 as ::core::ffi::c_int;
pub const NANOSECONDS_PER_SECOND: ::core::ffi::c_ulonglong = 1000000000
    as ::core::ffi::c_ulonglong;
unsafe extern "C" fn read32(mut bytes: *const uint8_t) -> uint32_t {
    let mut value: uint32_t = 0 as uint32_t;
    memcpy(
        &raw mut value as *mut ::core::ffi::c_void,
        bytes as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    return value;
}
unsafe extern "C" fn name_file(
    mut writer: *const pcap_writer,
    mut number: uint32_t,
    mut name: *mut ::core::ffi::c_char,
    mut size: size_t,
) -> bool {
    let mut ending: *const ::core::ffi::c_char = strrchr((*writer).path, '.' as i32);
    let mut folder: *const ::core::ffi::c_char = strrchr((*writer).path, '/' as i32);
    let mut length: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    if (*writer).rotate_size == 0 as uint64_t {
        length = snprintf(
            name,
            size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            (*writer).path,
        );
    } else {
        if ending.is_null() || !folder.is_null() && ending < folder {
            ending = (*writer).path.offset(strlen((*writer).path) as isize);
        }
        length = snprintf(
            name,
            size,
            b"%.*s-%05u%s\0" as *const u8 as *const ::core::ffi::c_char,
            ending.offset_from((*writer).path) as ::core::ffi::c_long
                as ::core::ffi::c_int,
            (*writer).path,
            number,
            ending,
        );
    }
    return length >= 0 as ::core::ffi::c_int && (length as size_t) < size;
}
unsafe extern "C" fn put_header(mut writer: *mut pcap_writer) {
    let magic: uint32_t = MAGIC_NANOSECONDS as uint32_t;
    let version: uint32_t = VERSION_2_4 as uint32_t;
    let link_type: uint32_t = LINK_TYPE_ETHERNET as uint32_t;
    memset(
        &raw mut (*writer).buffer as *mut uint8_t as *mut ::core::ffi::c_void,
        0 as ::core::ffi::c_int,
        FILE_HEADER_SIZE as size_t,
    );
    memcpy(
        &raw mut (*writer).buffer as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw const magic as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        (&raw mut (*writer).buffer as *mut uint8_t).offset(VERSION as isize)
            as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw const version as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        (&raw mut (*writer).buffer as *mut uint8_t).offset(SNAP_LENGTH as isize)
            as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw mut (*writer).snap as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        (&raw mut (*writer).buffer as *mut uint8_t).offset(LINK_TYPE as isize)
            as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw const link_type as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    (*writer).used = FILE_HEADER_SIZE as size_t;
}
unsafe extern "C" fn open_next(
    mut writer: *mut pcap_writer,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut oldest: [::core::ffi::c_char; 4096] = [0; 4096];
    (*writer).number = (*writer).number.wrapping_add(1);
    if !name_file(
        writer,
        (*writer).number,
        &raw mut (*writer).name as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 4096]>() as size_t,
    ) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%.900s: the name is too long\0" as *const u8 as *const ::core::ffi::c_char,
            (*writer).path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*writer).fd = open(
        &raw mut (*writer).name as *mut ::core::ffi::c_char,
        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
        0o644 as ::core::ffi::c_int,
    );
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
    if (*writer).files != 0 as uint32_t && (*writer).number > (*writer).files
        && name_file(
            writer,
            (*writer).number.wrapping_sub((*writer).files),
            &raw mut oldest as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 4096]>() as size_t,
        ) as ::core::ffi::c_int != 0
    {
        unlink(&raw mut oldest as *mut ::core::ffi::c_char);
    }
    (*writer).written = 0 as uint64_t;
    put_header(writer);
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_open(
    mut writer: *mut pcap_writer,
    mut path: *const ::core::ffi::c_char,
    mut snap: uint32_t,
    mut rotate_size: uint64_t,
    mut files: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    (*writer).path = path;
    (*writer).snap = snap;
    (*writer).rotate_size = rotate_size;
    (*writer).files = files;
    (*writer).number = 0 as uint32_t;
    (*writer).fd = -(1 as ::core::ffi::c_int);
    (*writer).frames = 0 as uint64_t;
    return open_next(writer, error);
}
unsafe extern "C" fn whole_records(
    mut writer: *const pcap_writer,
    mut size: size_t,
    mut frames: *mut uint64_t,
) -> size_t {
    let mut end: size_t = (if (*writer).written == 0 as uint64_t {
        FILE_HEADER_SIZE
    } else {
        0 as ::core::ffi::c_int
    }) as size_t;
    if end > size {
        return 0 as size_t;
    }
    *frames = 0 as uint64_t;
    loop {
        if end.wrapping_add(RECORD_HEADER_SIZE as size_t) > size {
            return end;
        }
        let mut next: size_t = end
            .wrapping_add(RECORD_HEADER_SIZE as size_t)
            .wrapping_add(
                read32(
                    (&raw const (*writer).buffer as *const uint8_t)
                        .offset(end.wrapping_add(CAPTURED_LENGTH as size_t) as isize)
                        as *const uint8_t,
                ) as size_t,
            );
        if next > size {
            return end;
        }
        end = next;
        *frames = (*frames).wrapping_add(1);
    };
}
unsafe extern "C" fn keep_whole_records(mut writer: *mut pcap_writer, mut done: size_t) {
    let mut frames: uint64_t = 0 as uint64_t;
    (*writer).written = ((*writer).written as ::core::ffi::c_ulong)
        .wrapping_add(
            whole_records(writer, done, &raw mut frames) as ::core::ffi::c_ulong,
        ) as uint64_t as uint64_t;
    (*writer).frames = (*writer).frames.wrapping_add(frames);
    (*writer).used = 0 as size_t;
    (ftruncate((*writer).fd, (*writer).written as __off_t) == 0) as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_writer_flush(
    mut writer: *mut pcap_writer,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut done: size_t = 0 as size_t;
    let mut frames: uint64_t = 0 as uint64_t;
    while done < (*writer).used {
        let mut count: ssize_t = write(
            (*writer).fd,
            (&raw mut (*writer).buffer as *mut uint8_t).offset(done as isize)
                as *mut uint8_t as *const ::core::ffi::c_void,
            (*writer).used.wrapping_sub(done),
        );
        if count < 0 as ssize_t && *__errno_location() == EINTR {
            continue;
        }
        if count < 0 as ssize_t {
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
            return -(1 as ::core::ffi::c_int);
        }
        done = done.wrapping_add(count as size_t);
    }
    whole_records(writer, done, &raw mut frames);
    (*writer).frames = (*writer).frames.wrapping_add(frames);
    (*writer).written = ((*writer).written as ::core::ffi::c_ulong)
        .wrapping_add(done as ::core::ffi::c_ulong) as uint64_t as uint64_t;
    (*writer).used = 0 as size_t;
    return 0 as ::core::ffi::c_int;
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
    let mut captured: uint32_t = if size < (*writer).snap {
        size
    } else {
        (*writer).snap
    };
    let mut record: size_t = (RECORD_HEADER_SIZE as uint32_t).wrapping_add(captured)
        as size_t;
    let mut file: uint64_t = (*writer).written.wrapping_add((*writer).used as uint64_t);
    if (*writer).rotate_size != 0 as uint64_t && file > FILE_HEADER_SIZE as uint64_t
        && file.wrapping_add(record as uint64_t) > (*writer).rotate_size
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
    let mut at: *mut uint8_t = (&raw mut (*writer).buffer as *mut uint8_t)
        .offset((*writer).used as isize) as *mut uint8_t;
    let seconds: uint32_t = (time as ::core::ffi::c_ulonglong)
        .wrapping_div(NANOSECONDS_PER_SECOND) as uint32_t;
    let nanoseconds: uint32_t = (time as ::core::ffi::c_ulonglong)
        .wrapping_rem(NANOSECONDS_PER_SECOND) as uint32_t;
    memcpy(
        at.offset(SECONDS as isize) as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw const seconds as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        at.offset(NANOSECONDS as isize) as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw const nanoseconds as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        at.offset(CAPTURED_LENGTH as isize) as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw mut captured as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        at.offset(ORIGINAL_LENGTH as isize) as *mut uint8_t as *mut ::core::ffi::c_void,
        &raw mut size as *const ::core::ffi::c_void,
        ::core::mem::size_of::<uint32_t>() as size_t,
    );
    memcpy(
        at.offset(RECORD_HEADER_SIZE as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        frame as *const ::core::ffi::c_void,
        captured as size_t,
    );
    (*writer).used = (*writer).used.wrapping_add(record);
    return 0 as ::core::ffi::c_int;
}
