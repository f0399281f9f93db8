extern "C" {
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_map_bar0(
        device: *mut vfio_device,
        fd: ::core::ffi::c_int,
        info: *const ::core::ffi::c_void,
        info_size: size_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
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
    fn socket(
        __domain: ::core::ffi::c_int,
        __type: ::core::ffi::c_int,
        __protocol: ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn connect(
        __fd: ::core::ffi::c_int,
        __addr: *const sockaddr,
        __len: socklen_t,
    ) -> ::core::ffi::c_int;
    fn sendmsg(
        __fd: ::core::ffi::c_int,
        __message: *const msghdr,
        __flags: ::core::ffi::c_int,
    ) -> ssize_t;
    fn recvmsg(
        __fd: ::core::ffi::c_int,
        __message: *mut msghdr,
        __flags: ::core::ffi::c_int,
    ) -> ssize_t;
    fn setsockopt(
        __fd: ::core::ffi::c_int,
        __level: ::core::ffi::c_int,
        __optname: ::core::ffi::c_int,
        __optval: *const ::core::ffi::c_void,
        __optlen: socklen_t,
    ) -> ::core::ffi::c_int;
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
}
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __time_t = ::core::ffi::c_long;
pub type __suseconds_t = ::core::ffi::c_long;
pub type __ssize_t = ::core::ffi::c_long;
pub type __socklen_t = ::core::ffi::c_uint;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type size_t = usize;
pub type ssize_t = __ssize_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed {
    pub header: message_header,
    pub info: vfio_region_info,
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
pub struct message_header {
    pub id: uint16_t,
    pub command: uint16_t,
    pub size: uint32_t,
    pub flags: uint32_t,
    pub error: uint32_t,
}
pub type message_command = ::core::ffi::c_uint;
pub const COMMAND_REGION_WRITE: message_command = 10;
pub const COMMAND_REGION_READ: message_command = 9;
pub const COMMAND_GET_REGION_INFO: message_command = 5;
pub const COMMAND_GET_INFO: message_command = 4;
pub const COMMAND_DMA_UNMAP: message_command = 3;
pub const COMMAND_DMA_MAP: message_command = 2;
pub const COMMAND_VERSION: message_command = 1;
pub const MSG_CMSG_CLOEXEC: C2RustUnnamed_6 = 1073741824;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct msghdr {
    pub msg_name: *mut ::core::ffi::c_void,
    pub msg_namelen: socklen_t,
    pub msg_iov: *mut iovec,
    pub msg_iovlen: size_t,
    pub msg_control: *mut ::core::ffi::c_void,
    pub msg_controllen: size_t,
    pub msg_flags: ::core::ffi::c_int,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct iovec {
    pub iov_base: *mut ::core::ffi::c_void,
    pub iov_len: size_t,
}
pub type socklen_t = __socklen_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub union fd_control {
    pub header: cmsghdr,
    pub bytes: [uint8_t; 24],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cmsghdr {
    pub cmsg_len: size_t,
    pub cmsg_level: ::core::ffi::c_int,
    pub cmsg_type: ::core::ffi::c_int,
    pub __cmsg_data: [::core::ffi::c_uchar; 0],
}
pub const SCM_RIGHTS: C2RustUnnamed_7 = 1;
pub const MSG_NOSIGNAL: C2RustUnnamed_6 = 16384;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_0 {
    pub header: message_header,
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
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_1 {
    pub header: message_header,
    pub version: version,
    pub capabilities: [::core::ffi::c_char; 61],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct sockaddr_un {
    pub sun_family: sa_family_t,
    pub sun_path: [::core::ffi::c_char; 108],
}
pub type sa_family_t = ::core::ffi::c_ushort;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct sockaddr {
    pub sa_family: sa_family_t,
    pub sa_data: [::core::ffi::c_char; 14],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct timeval {
    pub tv_sec: __time_t,
    pub tv_usec: __suseconds_t,
}
pub const SOCK_CLOEXEC: __socket_type = 524288;
pub const SOCK_STREAM: __socket_type = 1;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct region_access {
    pub offset: uint64_t,
    pub region: uint32_t,
    pub count: uint32_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_2 {
    pub header: message_header,
    pub access: region_access,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct C2RustUnnamed_3 {
    pub header: message_header,
    pub access: region_access,
    pub data: [uint8_t; 8],
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
pub struct C2RustUnnamed_4 {
    pub header: message_header,
    pub map: dma_map,
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
pub struct C2RustUnnamed_5 {
    pub header: message_header,
    pub unmap: dma_unmap,
}
pub type __socket_type = ::core::ffi::c_uint;
pub const SOCK_NONBLOCK: __socket_type = 2048;
pub const SOCK_PACKET: __socket_type = 10;
pub const SOCK_DCCP: __socket_type = 6;
pub const SOCK_SEQPACKET: __socket_type = 5;
pub const SOCK_RDM: __socket_type = 4;
pub const SOCK_RAW: __socket_type = 3;
pub const SOCK_DGRAM: __socket_type = 2;
pub type C2RustUnnamed_6 = ::core::ffi::c_uint;
pub const MSG_FASTOPEN: C2RustUnnamed_6 = 536870912;
pub const MSG_ZEROCOPY: C2RustUnnamed_6 = 67108864;
pub const MSG_BATCH: C2RustUnnamed_6 = 262144;
pub const MSG_WAITFORONE: C2RustUnnamed_6 = 65536;
pub const MSG_MORE: C2RustUnnamed_6 = 32768;
pub const MSG_ERRQUEUE: C2RustUnnamed_6 = 8192;
pub const MSG_RST: C2RustUnnamed_6 = 4096;
pub const MSG_CONFIRM: C2RustUnnamed_6 = 2048;
pub const MSG_SYN: C2RustUnnamed_6 = 1024;
pub const MSG_FIN: C2RustUnnamed_6 = 512;
pub const MSG_WAITALL: C2RustUnnamed_6 = 256;
pub const MSG_EOR: C2RustUnnamed_6 = 128;
pub const MSG_DONTWAIT: C2RustUnnamed_6 = 64;
pub const MSG_TRUNC: C2RustUnnamed_6 = 32;
pub const MSG_PROXY: C2RustUnnamed_6 = 16;
pub const MSG_CTRUNC: C2RustUnnamed_6 = 8;
pub const MSG_DONTROUTE: C2RustUnnamed_6 = 4;
pub const MSG_PEEK: C2RustUnnamed_6 = 2;
pub const MSG_OOB: C2RustUnnamed_6 = 1;
pub type C2RustUnnamed_7 = ::core::ffi::c_uint;
pub const VFIO_REGION_BAR0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VFIO_REGION_CONFIG: ::core::ffi::c_int = 7 as ::core::ffi::c_int;
pub const ENOENT: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const EAGAIN: ::core::ffi::c_int = 11 as ::core::ffi::c_int;
pub const EACCES: ::core::ffi::c_int = 13 as ::core::ffi::c_int;
pub const EBUSY: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const EWOULDBLOCK: ::core::ffi::c_int = EAGAIN;
pub const ECONNRESET: ::core::ffi::c_int = 104 as ::core::ffi::c_int;
pub const ECONNREFUSED: ::core::ffi::c_int = 111 as ::core::ffi::c_int;
pub const VFIO_DEVICE_FLAGS_PCI: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const VFIO_DMA_MAP_FLAG_READ: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 0 as ::core::ffi::c_int;
pub const VFIO_DMA_MAP_FLAG_WRITE: ::core::ffi::c_int = (1 as ::core::ffi::c_int)
    << 1 as ::core::ffi::c_int;
pub const PF_LOCAL: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const PF_UNIX: ::core::ffi::c_int = PF_LOCAL;
pub const AF_UNIX: ::core::ffi::c_int = PF_UNIX;
pub const SOL_SOCKET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const SO_RCVTIMEO_OLD: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const SO_SNDTIMEO_OLD: ::core::ffi::c_int = 21 as ::core::ffi::c_int;
pub const SO_RCVTIMEO: ::core::ffi::c_int = SO_RCVTIMEO_OLD;
pub const SO_SNDTIMEO: ::core::ffi::c_int = SO_SNDTIMEO_OLD;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TIMEOUT_SECONDS: ::core::ffi::c_int = 5 as ::core::ffi::c_int;
pub const CONNECT_INTERVAL_US: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const MAX_PAYLOAD: ::core::ffi::c_int = 4096 as ::core::ffi::c_int;
pub const FLAGS_TYPE_MASK: ::core::ffi::c_uint = 0xf as ::core::ffi::c_uint;
pub const FLAGS_TYPE_REPLY: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const FLAGS_ERROR: ::core::ffi::c_uint = 0x20 as ::core::ffi::c_uint;
pub const VERSION_MAJOR: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const VERSION_MINOR: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const VERSION_CAPABILITIES: [::core::ffi::c_char; 61] = unsafe {
    ::core::mem::transmute::<
        [u8; 61],
        [::core::ffi::c_char; 61],
    >(*b"{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}\0")
};
unsafe extern "C" fn connection_error(
    mut device: *const vfio_device,
    mut what: *const ::core::ffi::c_char,
    mut cause: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if cause == EAGAIN || cause == EWOULDBLOCK {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s: no answer for %d s; is the vfio-user server stopped or stuck?\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            what,
            5 as ::core::ffi::c_int,
        );
    } else {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: %s: %s; the vfio-user server went away; start it again\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            what,
            strerror(cause),
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn send_all(
    mut device: *const vfio_device,
    mut data: *const ::core::ffi::c_void,
    mut size: size_t,
    mut fd: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut sent: size_t = 0 as size_t;
    while sent < size {
        let mut part: iovec = iovec {
            iov_base: (data as *mut uint8_t).offset(sent as isize)
                as *mut ::core::ffi::c_void,
            iov_len: size.wrapping_sub(sent),
        };
        let mut message: msghdr = msghdr {
            msg_name: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            msg_namelen: 0,
            msg_iov: &raw mut part,
            msg_iovlen: 1 as size_t,
            msg_control: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            msg_controllen: 0,
            msg_flags: 0,
        };
        let mut control: fd_control = fd_control {
            header: cmsghdr {
                cmsg_len: 0,
                cmsg_level: 0,
                cmsg_type: 0,
                __cmsg_data: [],
            },
        };
        if fd >= 0 as ::core::ffi::c_int && sent == 0 as size_t {
            memset(
                &raw mut control as *mut ::core::ffi::c_void,
                0 as ::core::ffi::c_int,
                ::core::mem::size_of::<fd_control>() as size_t,
            );
            message.msg_control = &raw mut control as *mut ::core::ffi::c_void;
            message.msg_controllen = ::core::mem::size_of::<[uint8_t; 24]>() as usize
                as size_t;
            let mut cmsg: *mut cmsghdr = if message.msg_controllen
                >= ::core::mem::size_of::<cmsghdr>() as usize
            {
                message.msg_control as *mut cmsghdr
            } else {
                ::core::ptr::null_mut::<cmsghdr>()
            };
            (*cmsg).cmsg_level = SOL_SOCKET;
            (*cmsg).cmsg_type = SCM_RIGHTS as ::core::ffi::c_int;
            (*cmsg).cmsg_len = ((::core::mem::size_of::<cmsghdr>() as usize)
                .wrapping_add(::core::mem::size_of::<size_t>() as usize)
                .wrapping_sub(1 as usize)
                & !(::core::mem::size_of::<size_t>() as usize).wrapping_sub(1 as usize))
                .wrapping_add(::core::mem::size_of::<::core::ffi::c_int>() as usize)
                as size_t;
            memcpy(
                &raw mut (*cmsg).__cmsg_data as *mut ::core::ffi::c_uchar
                    as *mut ::core::ffi::c_void,
                &raw mut fd as *const ::core::ffi::c_void,
                ::core::mem::size_of::<::core::ffi::c_int>() as size_t,
            );
        }
        let mut done: ssize_t = sendmsg(
            (*device).fd,
            &raw mut message,
            MSG_NOSIGNAL as ::core::ffi::c_int,
        );
        if done < 0 as ssize_t && *__errno_location() == EINTR {
            continue;
        }
        if done < 0 as ssize_t {
            return connection_error(
                device,
                b"send\0" as *const u8 as *const ::core::ffi::c_char,
                *__errno_location(),
                error,
            );
        }
        sent = sent.wrapping_add(done as size_t);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn receive_all(
    mut device: *const vfio_device,
    mut data: *mut ::core::ffi::c_void,
    mut size: size_t,
    mut fd: *mut ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut received: size_t = 0 as size_t;
    while received < size {
        let mut part: iovec = iovec {
            iov_base: (data as *mut uint8_t).offset(received as isize)
                as *mut ::core::ffi::c_void,
            iov_len: size.wrapping_sub(received),
        };
        let mut control: fd_control = fd_control {
            header: cmsghdr {
                cmsg_len: 0,
                cmsg_level: 0,
                cmsg_type: 0,
                __cmsg_data: [],
            },
        };
        let mut message: msghdr = msghdr {
            msg_name: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            msg_namelen: 0,
            msg_iov: &raw mut part,
            msg_iovlen: 1 as size_t,
            msg_control: &raw mut control as *mut ::core::ffi::c_void,
            msg_controllen: ::core::mem::size_of::<[uint8_t; 24]>() as size_t,
            msg_flags: 0,
        };
        let mut done: ssize_t = recvmsg(
            (*device).fd,
            &raw mut message,
            MSG_CMSG_CLOEXEC as ::core::ffi::c_int,
        );
        if done < 0 as ssize_t && *__errno_location() == EINTR {
            continue;
        }
        if done < 0 as ssize_t {
            return connection_error(
                device,
                b"receive\0" as *const u8 as *const ::core::ffi::c_char,
                *__errno_location(),
                error,
            );
        }
        let mut cmsg: *mut cmsghdr = if message.msg_controllen
            >= ::core::mem::size_of::<cmsghdr>() as usize
        {
            message.msg_control as *mut cmsghdr
        } else {
            ::core::ptr::null_mut::<cmsghdr>()
        };
        if !cmsg.is_null() && (*cmsg).cmsg_level == SOL_SOCKET
            && (*cmsg).cmsg_type == SCM_RIGHTS as ::core::ffi::c_int
            && (*cmsg).cmsg_len
                >= ((::core::mem::size_of::<cmsghdr>() as usize)
                    .wrapping_add(::core::mem::size_of::<size_t>() as usize)
                    .wrapping_sub(1 as usize)
                    & !(::core::mem::size_of::<size_t>() as usize)
                        .wrapping_sub(1 as usize))
                    .wrapping_add(::core::mem::size_of::<::core::ffi::c_int>() as usize)
        {
            let mut passed: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
            memcpy(
                &raw mut passed as *mut ::core::ffi::c_void,
                &raw mut (*cmsg).__cmsg_data as *mut ::core::ffi::c_uchar
                    as *const ::core::ffi::c_void,
                ::core::mem::size_of::<::core::ffi::c_int>() as size_t,
            );
            if !fd.is_null() && *fd < 0 as ::core::ffi::c_int {
                *fd = passed;
            } else {
                close(passed);
            }
        }
        if done == 0 as ssize_t {
            return connection_error(
                device,
                b"receive\0" as *const u8 as *const ::core::ffi::c_char,
                ECONNRESET,
                error,
            );
        }
        received = received.wrapping_add(done as size_t);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn call(
    mut device: *mut vfio_device,
    mut command: message_command,
    mut request: *mut ::core::ffi::c_void,
    mut request_size: size_t,
    mut fd: ::core::ffi::c_int,
    mut reply: *mut ::core::ffi::c_void,
    mut reply_size: size_t,
    mut reply_fd: *mut ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut header: message_header = message_header {
        id: (*device).next_message,
        command: command as uint16_t,
        size: request_size as uint32_t,
        flags: 0,
        error: 0,
    };
    (*device).next_message = (*device).next_message.wrapping_add(1);
    memcpy(
        request,
        &raw mut header as *const ::core::ffi::c_void,
        ::core::mem::size_of::<message_header>() as size_t,
    );
    if send_all(device, request, request_size, fd, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    let mut answer: message_header = message_header {
        id: 0,
        command: 0,
        size: 0,
        flags: 0,
        error: 0,
    };
    if receive_all(
        device,
        &raw mut answer as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<message_header>() as size_t,
        reply_fd,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if answer.id as ::core::ffi::c_int != header.id as ::core::ffi::c_int
        || answer.command as ::core::ffi::c_int != header.command as ::core::ffi::c_int
        || answer.flags & FLAGS_TYPE_MASK as uint32_t != FLAGS_TYPE_REPLY as uint32_t
        || (answer.size as usize) < ::core::mem::size_of::<message_header>() as usize
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the vfio-user server broke the protocol: reply %u does not answer message %u\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            answer.command as ::core::ffi::c_int,
            header.id as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    let mut size: size_t = (answer.size as size_t)
        .wrapping_sub(::core::mem::size_of::<message_header>() as size_t);
    if size > reply_size {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: reply to vfio-user command %d is too large: %zu bytes\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            command as ::core::ffi::c_int,
            size,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if receive_all(device, reply, size, reply_fd, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if answer.flags & FLAGS_ERROR as uint32_t != 0
        && command as ::core::ffi::c_uint
            == COMMAND_VERSION as ::core::ffi::c_int as ::core::ffi::c_uint
        && answer.error == EBUSY as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the device is busy: another driver uses it; end that driver first\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if answer.flags & FLAGS_ERROR as uint32_t != 0 {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the vfio-user server refused command %d: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            command as ::core::ffi::c_int,
            strerror(answer.error as ::core::ffi::c_int),
        );
        return -(1 as ::core::ffi::c_int);
    }
    return size as ::core::ffi::c_int;
}
unsafe extern "C" fn short_reply(
    mut device: *const vfio_device,
    mut command: message_command,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: reply to vfio-user command %d is too short\0" as *const u8
            as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
        command as ::core::ffi::c_int,
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn no_server(mut cause: ::core::ffi::c_int) -> bool {
    return cause == ENOENT || cause == ECONNREFUSED;
}
unsafe extern "C" fn connect_in_time(
    mut fd: ::core::ffi::c_int,
    mut address: *const sockaddr_un,
    mut timeout_ms: uint32_t,
) -> ::core::ffi::c_int {
    let mut deadline: uint64_t = now_ms().wrapping_add(timeout_ms as uint64_t);
    loop {
        let mut late: bool = now_ms() >= deadline;
        if connect(
            fd,
            address as *const sockaddr,
            ::core::mem::size_of::<sockaddr_un>() as socklen_t,
        ) == 0 as ::core::ffi::c_int
        {
            return 0 as ::core::ffi::c_int;
        }
        if !no_server(*__errno_location()) || late as ::core::ffi::c_int != 0 {
            return -(1 as ::core::ffi::c_int);
        }
        sleep_us(CONNECT_INTERVAL_US as uint32_t);
    };
}
unsafe extern "C" fn connect_error(
    mut device: *const vfio_device,
    mut path: *const ::core::ffi::c_char,
    mut cause: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut slash: *const ::core::ffi::c_char = strrchr(path, '/' as i32);
    let mut folder: *const ::core::ffi::c_char = if !slash.is_null() {
        path
    } else {
        b".\0" as *const u8 as *const ::core::ffi::c_char
    };
    let mut length: ::core::ffi::c_int = if !slash.is_null() && slash != path {
        slash.offset_from(path) as ::core::ffi::c_long as ::core::ffi::c_int
    } else {
        1 as ::core::ffi::c_int
    };
    if no_server(cause) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: connect: %s after %u ms; no software NIC listens on this socket; start one with `build/bin/nic --socket-dir %.*s`\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            strerror(cause),
            (*(*device).container).connect_timeout_ms,
            length,
            folder,
        );
    } else if cause == EACCES {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: connect: %s; the socket belongs to another user; start a software NIC with a folder of your own\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            strerror(cause),
        );
    } else {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: connect: %s; is the software NIC stuck?\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            strerror(cause),
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn connect_socket(
    mut device: *mut vfio_device,
    mut path: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut address: sockaddr_un = sockaddr_un {
        sun_family: AF_UNIX as sa_family_t,
        sun_path: [0; 108],
    };
    let mut timeout: timeval = timeval {
        tv_sec: TIMEOUT_SECONDS as __time_t,
        tv_usec: 0,
    };
    if *path.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
        == '\0' as i32
        || strlen(path) >= ::core::mem::size_of::<[::core::ffi::c_char; 108]>() as usize
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: a socket path has 1 to %zu characters\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            (::core::mem::size_of::<[::core::ffi::c_char; 108]>() as usize)
                .wrapping_sub(1 as usize),
        );
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        &raw mut address.sun_path as *mut ::core::ffi::c_char
            as *mut ::core::ffi::c_void,
        path as *const ::core::ffi::c_void,
        strlen(path).wrapping_add(1 as size_t),
    );
    (*device).fd = socket(
        AF_UNIX,
        SOCK_STREAM as ::core::ffi::c_int | SOCK_CLOEXEC as ::core::ffi::c_int,
        0 as ::core::ffi::c_int,
    );
    if (*device).fd < 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: socket: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if setsockopt(
        (*device).fd,
        SOL_SOCKET,
        SO_SNDTIMEO,
        &raw mut timeout as *const ::core::ffi::c_void,
        ::core::mem::size_of::<timeval>() as socklen_t,
    ) != 0 as ::core::ffi::c_int
        || setsockopt(
            (*device).fd,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &raw mut timeout as *const ::core::ffi::c_void,
            ::core::mem::size_of::<timeval>() as socklen_t,
        ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: socket time-out: %s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if connect_in_time(
        (*device).fd,
        &raw mut address,
        (*(*device).container).connect_timeout_ms,
    ) != 0 as ::core::ffi::c_int
    {
        return connect_error(device, path, *__errno_location(), error);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn negotiate_version(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed_1 = C2RustUnnamed_1 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        version: version {
            major: VERSION_MAJOR as uint16_t,
            minor: VERSION_MINOR as uint16_t,
        },
        capabilities: VERSION_CAPABILITIES,
    };
    let mut reply: [uint8_t; 4096] = [0; 4096];
    let mut version: version = version { major: 0, minor: 0 };
    let mut size: size_t = (::core::mem::size_of::<message_header>() as size_t)
        .wrapping_add(::core::mem::size_of::<version>() as size_t)
        .wrapping_add(::core::mem::size_of::<[::core::ffi::c_char; 61]>() as size_t);
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_VERSION,
        &raw mut request as *mut ::core::ffi::c_void,
        size,
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut uint8_t as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 4096]>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    if received < 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if (received as size_t) < ::core::mem::size_of::<version>() as usize {
        return short_reply(device, COMMAND_VERSION, error);
    }
    memcpy(
        &raw mut version as *mut ::core::ffi::c_void,
        &raw mut reply as *mut uint8_t as *const ::core::ffi::c_void,
        ::core::mem::size_of::<version>() as size_t,
    );
    if version.major as ::core::ffi::c_int != VERSION_MAJOR {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the server speaks vfio-user %u.%u, this driver %d.%d\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            version.major as ::core::ffi::c_int,
            version.minor as ::core::ffi::c_int,
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
    let mut request: C2RustUnnamed_0 = C2RustUnnamed_0 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        argsz: 16 as uint32_t,
        flags: 0,
        num_regions: 0,
        num_irqs: 0,
    };
    let mut reply: [uint32_t; 1024] = [0; 1024];
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_GET_INFO,
        &raw mut request as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed_0>() as size_t,
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut uint32_t as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<[uint32_t; 1024]>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    if received < 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if received < 16 as ::core::ffi::c_int {
        return short_reply(device, COMMAND_GET_INFO, error);
    }
    if reply[1 as ::core::ffi::c_int as usize] & VFIO_DEVICE_FLAGS_PCI as uint32_t == 0
        || reply[2 as ::core::ffi::c_int as usize] <= VFIO_REGION_CONFIG as uint32_t
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
unsafe extern "C" fn map_bar0(
    mut device: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed = C2RustUnnamed {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        info: vfio_region_info {
            argsz: MAX_PAYLOAD as __u32,
            flags: 0,
            index: VFIO_REGION_BAR0 as __u32,
            cap_offset: 0,
            size: 0,
            offset: 0,
        },
    };
    let mut reply: [uint8_t; 4096] = [0; 4096];
    let mut info: vfio_region_info = vfio_region_info {
        argsz: 0,
        flags: 0,
        index: 0,
        cap_offset: 0,
        size: 0,
        offset: 0,
    };
    let mut fd: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_GET_REGION_INFO,
        &raw mut request as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed>() as size_t,
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut uint8_t as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 4096]>() as size_t,
        &raw mut fd,
        error,
    );
    let mut result: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
    if received >= 0 as ::core::ffi::c_int
        && (received as size_t) < ::core::mem::size_of::<vfio_region_info>() as usize
    {
        short_reply(device, COMMAND_GET_REGION_INFO, error);
    } else if received >= 0 as ::core::ffi::c_int {
        memcpy(
            &raw mut info as *mut ::core::ffi::c_void,
            &raw mut reply as *mut uint8_t as *const ::core::ffi::c_void,
            ::core::mem::size_of::<vfio_region_info>() as size_t,
        );
        (*device).bar0_size = info.size as uint64_t;
        result = if fd < 0 as ::core::ffi::c_int {
            0 as ::core::ffi::c_int
        } else {
            vfio_map_bar0(
                device,
                fd,
                &raw mut reply as *mut uint8_t as *const ::core::ffi::c_void,
                received as size_t,
                error,
            )
        };
    }
    if fd >= 0 as ::core::ffi::c_int {
        close(fd);
    }
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_open(
    mut device: *mut vfio_device,
    mut path: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if connect_socket(device, path, error) != 0 as ::core::ffi::c_int
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
pub const MAX_ACCESS: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn vfio_user_read(
    mut device: *mut vfio_device,
    mut region: uint32_t,
    mut offset: uint64_t,
    mut data: *mut ::core::ffi::c_void,
    mut size: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed_2 = C2RustUnnamed_2 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        access: region_access {
            offset: offset,
            region: region,
            count: size,
        },
    };
    let mut reply: [uint8_t; 24] = [0; 24];
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_REGION_READ,
        &raw mut request as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed_2>() as size_t,
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut uint8_t as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 24]>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    if received < 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if received as size_t
        != (::core::mem::size_of::<region_access>() as usize).wrapping_add(size as usize)
    {
        return short_reply(device, COMMAND_REGION_READ, error);
    }
    memcpy(
        data,
        (&raw mut reply as *mut uint8_t)
            .offset(::core::mem::size_of::<region_access>() as usize as isize)
            as *const ::core::ffi::c_void,
        size as size_t,
    );
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_write(
    mut device: *mut vfio_device,
    mut region: uint32_t,
    mut offset: uint64_t,
    mut data: *const ::core::ffi::c_void,
    mut size: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed_3 = C2RustUnnamed_3 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        access: region_access {
            offset: offset,
            region: region,
            count: size,
        },
        data: [0; 8],
    };
    let mut reply: region_access = region_access {
        offset: 0,
        region: 0,
        count: 0,
    };
    if size > MAX_ACCESS as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: register access of %u bytes\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            size,
        );
        return -(1 as ::core::ffi::c_int);
    }
    memcpy(
        &raw mut request.data as *mut uint8_t as *mut ::core::ffi::c_void,
        data,
        size as size_t,
    );
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_REGION_WRITE,
        &raw mut request as *mut ::core::ffi::c_void,
        (::core::mem::size_of::<message_header>() as size_t)
            .wrapping_add(::core::mem::size_of::<region_access>() as size_t)
            .wrapping_add(size as size_t),
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<region_access>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    return if received < 0 as ::core::ffi::c_int {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_dma_map(
    mut device: *mut vfio_device,
    mut fd: ::core::ffi::c_int,
    mut iova: uint64_t,
    mut size: uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut request: C2RustUnnamed_4 = C2RustUnnamed_4 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        map: dma_map {
            argsz: ::core::mem::size_of::<dma_map>() as uint32_t,
            flags: (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE) as uint32_t,
            offset: 0,
            address: iova,
            size: size,
        },
    };
    let mut reply: dma_map = dma_map {
        argsz: 0,
        flags: 0,
        offset: 0,
        address: 0,
        size: 0,
    };
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_DMA_MAP,
        &raw mut request as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed_4>() as size_t,
        fd,
        &raw mut reply as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<dma_map>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    return if received < 0 as ::core::ffi::c_int {
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
    let mut request: C2RustUnnamed_5 = C2RustUnnamed_5 {
        header: message_header {
            id: 0,
            command: 0,
            size: 0,
            flags: 0,
            error: 0,
        },
        unmap: dma_unmap {
            argsz: ::core::mem::size_of::<dma_unmap>() as uint32_t,
            flags: 0,
            address: iova,
            size: size,
        },
    };
    let mut reply: dma_unmap = dma_unmap {
        argsz: 0,
        flags: 0,
        address: 0,
        size: 0,
    };
    let mut received: ::core::ffi::c_int = call(
        device,
        COMMAND_DMA_UNMAP,
        &raw mut request as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<C2RustUnnamed_5>() as size_t,
        -(1 as ::core::ffi::c_int),
        &raw mut reply as *mut ::core::ffi::c_void,
        ::core::mem::size_of::<dma_unmap>() as size_t,
        ::core::ptr::null_mut::<::core::ffi::c_int>(),
        error,
    );
    return if received < 0 as ::core::ffi::c_int {
        -(1 as ::core::ffi::c_int)
    } else {
        0 as ::core::ffi::c_int
    };
}
