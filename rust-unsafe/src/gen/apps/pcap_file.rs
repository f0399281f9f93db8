extern "C" {
    fn fclose(__stream: *mut FILE) -> ::core::ffi::c_int;
    fn fopen(
        __filename: *const ::core::ffi::c_char,
        __modes: *const ::core::ffi::c_char,
    ) -> *mut FILE;
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn fread(
        __ptr: *mut ::core::ffi::c_void,
        __size: size_t,
        __n: size_t,
        __stream: *mut FILE,
    ) -> ::core::ffi::c_ulong;
    fn ferror(__stream: *mut FILE) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn malloc(__size: size_t) -> *mut ::core::ffi::c_void;
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
    fn stat(__file: *const ::core::ffi::c_char, __buf: *mut stat) -> ::core::ffi::c_int;
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
pub type __off64_t = ::core::ffi::c_long;
pub type __time_t = ::core::ffi::c_long;
pub type __blksize_t = ::core::ffi::c_long;
pub type __blkcnt_t = ::core::ffi::c_long;
pub type __syscall_slong_t = ::core::ffi::c_long;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct _IO_FILE {
    pub _flags: ::core::ffi::c_int,
    pub _IO_read_ptr: *mut ::core::ffi::c_char,
    pub _IO_read_end: *mut ::core::ffi::c_char,
    pub _IO_read_base: *mut ::core::ffi::c_char,
    pub _IO_write_base: *mut ::core::ffi::c_char,
    pub _IO_write_ptr: *mut ::core::ffi::c_char,
    pub _IO_write_end: *mut ::core::ffi::c_char,
    pub _IO_buf_base: *mut ::core::ffi::c_char,
    pub _IO_buf_end: *mut ::core::ffi::c_char,
    pub _IO_save_base: *mut ::core::ffi::c_char,
    pub _IO_backup_base: *mut ::core::ffi::c_char,
    pub _IO_save_end: *mut ::core::ffi::c_char,
    pub _markers: *mut _IO_marker,
    pub _chain: *mut _IO_FILE,
    pub _fileno: ::core::ffi::c_int,
    pub _flags2: ::core::ffi::c_int,
    pub _old_offset: __off_t,
    pub _cur_column: ::core::ffi::c_ushort,
    pub _vtable_offset: ::core::ffi::c_schar,
    pub _shortbuf: [::core::ffi::c_char; 1],
    pub _lock: *mut ::core::ffi::c_void,
    pub _offset: __off64_t,
    pub _codecvt: *mut _IO_codecvt,
    pub _wide_data: *mut _IO_wide_data,
    pub _freeres_list: *mut _IO_FILE,
    pub _freeres_buf: *mut ::core::ffi::c_void,
    pub __pad5: size_t,
    pub _mode: ::core::ffi::c_int,
    pub _unused2: [::core::ffi::c_char; 20],
}
pub type _IO_lock_t = ();
pub type FILE = _IO_FILE;
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
pub struct pcap_file_header {
    pub magic: uint32_t,
    pub version: [uint16_t; 2],
    pub reserved: [uint32_t; 2],
    pub snap: uint32_t,
    pub link_type: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pcap_record_header {
    pub seconds: uint32_t,
    pub fraction: uint32_t,
    pub captured: uint32_t,
    pub size: uint32_t,
}
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
    pub frames: *mut pcap_frame,
    pub count: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct reader {
    pub path: *const ::core::ffi::c_char,
    pub bytes: *mut uint8_t,
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
pub const PCAP_MAGIC_MICROSECONDS: ::core::ffi::c_uint = 0xa1b2c3d4
    as ::core::ffi::c_uint;
pub const PCAP_MAGIC_NANOSECONDS: ::core::ffi::c_uint = 0xa1b23c4d
    as ::core::ffi::c_uint;
pub const PCAP_LINK_TYPE_ETHERNET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const __S_IFMT: ::core::ffi::c_int = 0o170000 as ::core::ffi::c_int;
pub const MAGIC_PCAPNG: ::core::ffi::c_uint = 0xa0d0d0a as ::core::ffi::c_uint;
pub const MIN_FRAME: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const MAX_FILE_SIZE: ::core::ffi::c_longlong = (2 as ::core::ffi::c_longlong)
    << 30 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
unsafe extern "C" fn take(
    mut reader: *mut reader,
    mut count: size_t,
    mut error: *mut error,
) -> *const uint8_t {
    let mut bytes: *const uint8_t = (*reader).bytes.offset((*reader).at as isize)
        as *mut uint8_t;
    if (*reader).size.wrapping_sub((*reader).at) < count {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the file is cut short, or has no frame: it ends in frame %lu; record it again\0"
                as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            (*reader).frames.wrapping_add(1 as uint64_t),
        );
        return ::core::ptr::null::<uint8_t>();
    }
    (*reader).at = (*reader).at.wrapping_add(count);
    return bytes;
}
unsafe extern "C" fn in_order(
    mut reader: *const reader,
    mut word: uint32_t,
) -> uint32_t {
    return if (*reader).swapped as ::core::ffi::c_int != 0 {
        word.swap_bytes()
    } else {
        word
    };
}
unsafe extern "C" fn read_header(
    mut reader: *mut reader,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut header: pcap_file_header = pcap_file_header {
        magic: 0,
        version: [0; 2],
        reserved: [0; 2],
        snap: 0,
        link_type: 0,
    };
    let mut bytes: *const uint8_t = take(
        reader,
        ::core::mem::size_of::<pcap_file_header>() as size_t,
        error,
    );
    if bytes.is_null() {
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        &raw mut header as *mut ::core::ffi::c_void,
        bytes as *const ::core::ffi::c_void,
        ::core::mem::size_of::<pcap_file_header>() as size_t,
    );
    (*reader).swapped = header.magic == PCAP_MAGIC_MICROSECONDS.swap_bytes()
        || header.magic == PCAP_MAGIC_NANOSECONDS.swap_bytes();
    let mut magic: uint32_t = in_order(reader, header.magic);
    let mut link_type: uint32_t = in_order(reader, header.link_type);
    (*reader).fraction = (if magic == PCAP_MAGIC_NANOSECONDS as uint32_t {
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
    if magic != PCAP_MAGIC_MICROSECONDS as uint32_t
        && magic != PCAP_MAGIC_NANOSECONDS as uint32_t
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
    if link_type != PCAP_LINK_TYPE_ETHERNET as uint32_t {
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
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_frame(
    mut reader: *mut reader,
    mut frame: *mut pcap_frame,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut header: pcap_record_header = pcap_record_header {
        seconds: 0,
        fraction: 0,
        captured: 0,
        size: 0,
    };
    let mut bytes: *const uint8_t = take(
        reader,
        ::core::mem::size_of::<pcap_record_header>() as size_t,
        error,
    );
    if bytes.is_null() {
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        &raw mut header as *mut ::core::ffi::c_void,
        bytes as *const ::core::ffi::c_void,
        ::core::mem::size_of::<pcap_record_header>() as size_t,
    );
    let mut captured: uint32_t = in_order(reader, header.captured);
    let mut original: uint32_t = in_order(reader, header.size);
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
    (*frame).time = (in_order(reader, header.seconds) as ::core::ffi::c_ulonglong)
        .wrapping_mul(NANOSECONDS)
        .wrapping_add(
            (in_order(reader, header.fraction) as uint64_t)
                .wrapping_mul((*reader).fraction) as ::core::ffi::c_ulonglong,
        ) as uint64_t;
    (*frame).size = captured;
    (*frame).data = take(reader, captured as size_t, error);
    (*reader).frames = (*reader)
        .frames
        .wrapping_add(
            ((*frame).data != NULL as *const uint8_t) as ::core::ffi::c_int as uint64_t,
        );
    return if !(*frame).data.is_null() {
        0 as ::core::ffi::c_int
    } else {
        -(1 as ::core::ffi::c_int)
    };
}
unsafe extern "C" fn read_file(
    mut reader: *mut reader,
    mut error: *mut error,
) -> ::core::ffi::c_int {
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
    if stat((*reader).path, &raw mut status) != 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if !(status.st_mode & __S_IFMT as __mode_t == 0o100000 as __mode_t) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: this is not a file; name a pcap file\0" as *const u8
                as *const ::core::ffi::c_char,
            (*reader).path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if status.st_size as ::core::ffi::c_longlong > MAX_FILE_SIZE {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the file has more than 2 GiB; divide it: editcap -c\0" as *const u8
                as *const ::core::ffi::c_char,
            (*reader).path,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut file: *mut FILE = fopen(
        (*reader).path,
        b"re\0" as *const u8 as *const ::core::ffi::c_char,
    ) as *mut FILE;
    if file.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    (*reader).bytes = malloc((status.st_size as size_t).wrapping_add(1 as size_t))
        as *mut uint8_t;
    if !(*reader).bytes.is_null() {
        (*reader).size = fread(
            (*reader).bytes as *mut ::core::ffi::c_void,
            1 as size_t,
            status.st_size as size_t,
            file,
        ) as size_t;
    }
    if (*reader).bytes.is_null() || ferror(file) != 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s\0" as *const u8 as *const ::core::ffi::c_char,
            (*reader).path,
            strerror(*__errno_location()),
        );
        result = -(1 as ::core::ffi::c_int);
    }
    fclose(file);
    return result;
}
unsafe extern "C" fn read_frames(
    mut reader: *mut reader,
    mut most: uint64_t,
    mut recording: *mut pcap_recording,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut fit: size_t = (*reader)
        .size
        .wrapping_div(
            (::core::mem::size_of::<pcap_record_header>() as size_t)
                .wrapping_add(MIN_FRAME as size_t),
        )
        .wrapping_add(1 as size_t);
    let mut first: uint64_t = 0 as uint64_t;
    let mut last: uint64_t = 0 as uint64_t;
    (*recording).frames = calloc(fit, ::core::mem::size_of::<pcap_frame>() as size_t)
        as *mut pcap_frame;
    if (*recording).frames.is_null() {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: out of memory for %zu frames\0" as *const u8
                as *const ::core::ffi::c_char,
            (*reader).path,
            fit,
        );
        return -(1 as ::core::ffi::c_int);
    }
    loop {
        let mut frame: *mut pcap_frame = (*recording)
            .frames
            .offset((*recording).count as isize) as *mut pcap_frame;
        if read_frame(reader, frame, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        first = if (*recording).count == 0 as uint64_t { (*frame).time } else { first };
        if (*frame).time >= first && (*frame).time.wrapping_sub(first) > last {
            last = (*frame).time.wrapping_sub(first);
        }
        (*frame).time = last;
        (*recording).count = (*recording).count.wrapping_add(1);
        if !((*reader).at < (*reader).size && (*recording).count < most) {
            break;
        }
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pcap_load(
    mut path: *const ::core::ffi::c_char,
    mut most: uint64_t,
    mut room: uint32_t,
    mut recording: *mut pcap_recording,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut reader: reader = reader {
        path: path,
        bytes: ::core::ptr::null_mut::<uint8_t>(),
        size: 0,
        at: 0,
        frames: 0,
        room: room,
        swapped: false,
        fraction: 0,
    };
    let mut result: ::core::ffi::c_int = read_file(&raw mut reader, error);
    *recording = pcap_recording {
        bytes: reader.bytes,
        frames: ::core::ptr::null_mut::<pcap_frame>(),
        count: 0,
    };
    if result == 0 as ::core::ffi::c_int {
        result = read_header(&raw mut reader, error);
    }
    if result == 0 as ::core::ffi::c_int {
        result = read_frames(&raw mut reader, most, recording, error);
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
        frames: ::core::ptr::null_mut::<pcap_frame>(),
        count: 0,
    };
}
#[repr(C)]
pub struct _IO_wide_data {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_codecvt {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct _IO_marker {
    _opaque: [u8; 0],
}
