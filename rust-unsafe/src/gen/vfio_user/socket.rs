extern "C" {
    fn now_us() -> uint64_t;
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_patience(device: *mut vfio_device) -> uint64_t;
    fn vfio_patience_use(device: *mut vfio_device, waited_us: uint64_t);
    fn __errno_location() -> *mut ::core::ffi::c_int;
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
        __addr: __CONST_SOCKADDR_ARG,
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
    fn close(__fd: ::core::ffi::c_int) -> ::core::ffi::c_int;
}
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
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
pub type __u32 = ::core::ffi::c_uint;
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
pub type message_command = ::core::ffi::c_uint;
pub const COMMAND_REGION_WRITE: message_command = 10;
pub const COMMAND_REGION_READ: message_command = 9;
pub const COMMAND_SET_IRQS: message_command = 8;
pub const COMMAND_GET_REGION_INFO: message_command = 5;
pub const COMMAND_GET_INFO: message_command = 4;
pub const COMMAND_DMA_UNMAP: message_command = 3;
pub const COMMAND_DMA_MAP: message_command = 2;
pub const COMMAND_VERSION: message_command = 1;
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
pub struct version {
    pub major: uint16_t,
    pub minor: uint16_t,
    pub capabilities: [::core::ffi::c_char; 72],
}
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
pub struct dma_map {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub offset: uint64_t,
    pub address: uint64_t,
    pub size: uint64_t,
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
pub struct irq_set {
    pub argsz: uint32_t,
    pub flags: uint32_t,
    pub index: uint32_t,
    pub start: uint32_t,
    pub count: uint32_t,
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
pub struct sockaddr_un {
    pub sun_family: sa_family_t,
    pub sun_path: [::core::ffi::c_char; 108],
}
pub type sa_family_t = ::core::ffi::c_ushort;
pub type socklen_t = __socklen_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct sockaddr {
    pub sa_family: sa_family_t,
    pub sa_data: [::core::ffi::c_char; 14],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union __CONST_SOCKADDR_ARG {
    pub __sockaddr__: *const sockaddr,
    pub __sockaddr_at__: *const sockaddr_at,
    pub __sockaddr_ax25__: *const sockaddr_ax25,
    pub __sockaddr_dl__: *const sockaddr_dl,
    pub __sockaddr_eon__: *const sockaddr_eon,
    pub __sockaddr_in__: *const sockaddr_in,
    pub __sockaddr_in6__: *const sockaddr_in6,
    pub __sockaddr_inarp__: *const sockaddr_inarp,
    pub __sockaddr_ipx__: *const sockaddr_ipx,
    pub __sockaddr_iso__: *const sockaddr_iso,
    pub __sockaddr_ns__: *const sockaddr_ns,
    pub __sockaddr_un__: *const sockaddr_un,
    pub __sockaddr_x25__: *const sockaddr_x25,
}
pub const SOCK_NONBLOCK: __socket_type = 2048;
pub const SOCK_CLOEXEC: __socket_type = 524288;
pub const SOCK_STREAM: __socket_type = 1;
pub const MSG_CMSG_CLOEXEC: C2RustUnnamed = 1073741824;
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
pub const MSG_CTRUNC: C2RustUnnamed = 8;
pub const SCM_RIGHTS: C2RustUnnamed_0 = 1;
pub type nfds_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct pollfd {
    pub fd: ::core::ffi::c_int,
    pub events: ::core::ffi::c_short,
    pub revents: ::core::ffi::c_short,
}
pub const MSG_NOSIGNAL: C2RustUnnamed = 16384;
pub type __socket_type = ::core::ffi::c_uint;
pub const SOCK_PACKET: __socket_type = 10;
pub const SOCK_DCCP: __socket_type = 6;
pub const SOCK_SEQPACKET: __socket_type = 5;
pub const SOCK_RDM: __socket_type = 4;
pub const SOCK_RAW: __socket_type = 3;
pub const SOCK_DGRAM: __socket_type = 2;
pub type C2RustUnnamed = ::core::ffi::c_uint;
pub const MSG_FASTOPEN: C2RustUnnamed = 536870912;
pub const MSG_ZEROCOPY: C2RustUnnamed = 67108864;
pub const MSG_BATCH: C2RustUnnamed = 262144;
pub const MSG_WAITFORONE: C2RustUnnamed = 65536;
pub const MSG_MORE: C2RustUnnamed = 32768;
pub const MSG_ERRQUEUE: C2RustUnnamed = 8192;
pub const MSG_RST: C2RustUnnamed = 4096;
pub const MSG_CONFIRM: C2RustUnnamed = 2048;
pub const MSG_SYN: C2RustUnnamed = 1024;
pub const MSG_FIN: C2RustUnnamed = 512;
pub const MSG_WAITALL: C2RustUnnamed = 256;
pub const MSG_EOR: C2RustUnnamed = 128;
pub const MSG_DONTWAIT: C2RustUnnamed = 64;
pub const MSG_TRUNC: C2RustUnnamed = 32;
pub const MSG_PROXY: C2RustUnnamed = 16;
pub const MSG_TRYHARD: C2RustUnnamed = 4;
pub const MSG_DONTROUTE: C2RustUnnamed = 4;
pub const MSG_PEEK: C2RustUnnamed = 2;
pub const MSG_OOB: C2RustUnnamed = 1;
pub type C2RustUnnamed_0 = ::core::ffi::c_uint;
pub const SCM_CREDENTIALS: C2RustUnnamed_0 = 2;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const ENOENT: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const EINTR: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const EAGAIN: ::core::ffi::c_int = 11 as ::core::ffi::c_int;
pub const EBUSY: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const ECONNRESET: ::core::ffi::c_int = 104 as ::core::ffi::c_int;
pub const ECONNREFUSED: ::core::ffi::c_int = 111 as ::core::ffi::c_int;
pub const POLLIN: ::core::ffi::c_int = 0x1 as ::core::ffi::c_int;
pub const POLLOUT: ::core::ffi::c_int = 0x4 as ::core::ffi::c_int;
pub const PF_LOCAL: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const PF_UNIX: ::core::ffi::c_int = PF_LOCAL;
pub const AF_UNIX: ::core::ffi::c_int = PF_UNIX;
#[inline]
unsafe extern "C" fn __cmsg_nxthdr(
    mut __mhdr: *mut msghdr,
    mut __cmsg: *mut cmsghdr,
) -> *mut cmsghdr {
    let mut __msg_control_ptr: *mut ::core::ffi::c_uchar = (*__mhdr).msg_control
        as *mut ::core::ffi::c_uchar;
    let mut __cmsg_ptr: *mut ::core::ffi::c_uchar = __cmsg as *mut ::core::ffi::c_uchar;
    let mut __size_needed: size_t = (::core::mem::size_of::<cmsghdr>() as size_t)
        .wrapping_add(
            (::core::mem::size_of::<size_t>() as size_t)
                .wrapping_sub(
                    (*__cmsg).cmsg_len
                        & (::core::mem::size_of::<size_t>() as size_t)
                            .wrapping_sub(1 as size_t),
                )
                & (::core::mem::size_of::<size_t>() as size_t).wrapping_sub(1 as size_t),
        );
    if (*__cmsg).cmsg_len < ::core::mem::size_of::<cmsghdr>() as usize {
        return ::core::ptr::null_mut::<cmsghdr>();
    }
    if (__msg_control_ptr
        .offset((*__mhdr).msg_controllen as isize)
        .offset_from(__cmsg_ptr) as ::core::ffi::c_long as size_t) < __size_needed
        || (__msg_control_ptr
            .offset((*__mhdr).msg_controllen as isize)
            .offset_from(__cmsg_ptr) as ::core::ffi::c_long as size_t)
            .wrapping_sub(__size_needed) < (*__cmsg).cmsg_len
    {
        return ::core::ptr::null_mut::<cmsghdr>();
    }
    __cmsg = (__cmsg as *mut ::core::ffi::c_uchar)
        .offset(
            ((*__cmsg)
                .cmsg_len
                .wrapping_add(::core::mem::size_of::<size_t>() as size_t)
                .wrapping_sub(1 as size_t)
                & !(::core::mem::size_of::<size_t>() as usize).wrapping_sub(1 as usize))
                as isize,
        ) as *mut cmsghdr;
    return __cmsg;
}
pub const SOL_SOCKET: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const CONNECT_INTERVAL_US: ::core::ffi::c_int = 10000 as ::core::ffi::c_int;
pub const FLAGS_TYPE_MASK: ::core::ffi::c_uint = 0xf as ::core::ffi::c_uint;
pub const FLAGS_TYPE_REPLY: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const FLAGS_ERROR: ::core::ffi::c_uint = 0x20 as ::core::ffi::c_uint;
unsafe extern "C" fn connection_error(
    mut device: *const vfio_device,
    mut what: *const ::core::ffi::c_char,
    mut cause: ::core::ffi::c_int,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: %s: %s; the vfio-user server went away; start it again\0" as *const u8
            as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
        what,
        strerror(cause),
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn protocol_error(
    mut device: *const vfio_device,
    mut what: *const ::core::ffi::c_char,
    mut message: *const message,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: the vfio-user server broke the protocol: %s to command %d\0" as *const u8
            as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
        what,
        (*message).header.command as ::core::ffi::c_int,
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn wait_for_server(
    mut device: *const vfio_device,
    mut events: ::core::ffi::c_short,
    mut message: *const message,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut socket_0: pollfd = pollfd {
        fd: (*device).fd,
        events: events,
        revents: 0,
    };
    loop {
        let mut now: uint64_t = now_us();
        let mut left: uint64_t = if (*message).deadline_us > now {
            (*message).deadline_us.wrapping_sub(now)
        } else {
            0 as uint64_t
        };
        let mut ready: ::core::ffi::c_int = poll(
            &raw mut socket_0,
            1 as nfds_t,
            left.wrapping_add(999 as uint64_t).wrapping_div(1000 as uint64_t)
                as ::core::ffi::c_int,
        );
        if ready > 0 as ::core::ffi::c_int {
            return 0 as ::core::ffi::c_int;
        }
        if ready == 0 as ::core::ffi::c_int {
            break;
        }
        if *__errno_location() != EINTR {
            return connection_error(
                device,
                b"poll\0" as *const u8 as *const ::core::ffi::c_char,
                *__errno_location(),
                error,
            );
        }
    }
    snprintf(
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: no answer to vfio-user command %d for %llu ms; is the server stopped or stuck, or did it answer too slowly before? The driver waits %d ms in all; start the server again\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw const (*device).address as *const ::core::ffi::c_char,
        (*message).header.command as ::core::ffi::c_int,
        ((*message).deadline_us.wrapping_sub((*message).begun_us)
            as ::core::ffi::c_ulonglong)
            .wrapping_div(1000 as ::core::ffi::c_ulonglong),
        5000 as ::core::ffi::c_int + 500 as ::core::ffi::c_int,
    );
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn send_request(
    mut device: *const vfio_device,
    mut message: *mut message,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut part: iovec = iovec {
        iov_base: message as *mut ::core::ffi::c_void,
        iov_len: (*message).header.size as size_t,
    };
    let mut out: msghdr = msghdr {
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
    if (*message).fd >= 0 as ::core::ffi::c_int {
        memset(
            &raw mut control as *mut ::core::ffi::c_void,
            0 as ::core::ffi::c_int,
            ::core::mem::size_of::<fd_control>() as size_t,
        );
        out.msg_control = &raw mut control as *mut ::core::ffi::c_void;
        out.msg_controllen = ::core::mem::size_of::<[uint8_t; 24]>() as usize as size_t;
        let mut cmsg: *mut cmsghdr = if out.msg_controllen
            >= ::core::mem::size_of::<cmsghdr>() as usize
        {
            out.msg_control as *mut cmsghdr
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
            &raw mut (*message).fd as *const ::core::ffi::c_void,
            ::core::mem::size_of::<::core::ffi::c_int>() as size_t,
        );
    }
    while sendmsg((*device).fd, &raw mut out, MSG_NOSIGNAL as ::core::ffi::c_int)
        < 0 as ssize_t
    {
        if *__errno_location() == EAGAIN {
            if wait_for_server(device, POLLOUT as ::core::ffi::c_short, message, error)
                != 0 as ::core::ffi::c_int
            {
                return -(1 as ::core::ffi::c_int);
            }
        } else if *__errno_location() != EINTR {
            return connection_error(
                device,
                b"send\0" as *const u8 as *const ::core::ffi::c_char,
                *__errno_location(),
                error,
            )
        }
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn take_descriptors(
    mut in_0: *mut msghdr,
    mut message: *mut message,
) -> bool {
    let mut belong: bool = (*in_0).msg_flags & MSG_CTRUNC as ::core::ffi::c_int == 0;
    let mut cmsg: *mut cmsghdr = if (*in_0).msg_controllen
        >= ::core::mem::size_of::<cmsghdr>() as usize
    {
        (*in_0).msg_control as *mut cmsghdr
    } else {
        ::core::ptr::null_mut::<cmsghdr>()
    };
    while !cmsg.is_null() {
        if !((*cmsg).cmsg_level != SOL_SOCKET
            || (*cmsg).cmsg_type != SCM_RIGHTS as ::core::ffi::c_int)
        {
            let mut count: size_t = (*cmsg)
                .cmsg_len
                .wrapping_sub(
                    ((::core::mem::size_of::<cmsghdr>() as size_t)
                        .wrapping_add(::core::mem::size_of::<size_t>() as size_t)
                        .wrapping_sub(1 as size_t)
                        & !(::core::mem::size_of::<size_t>() as usize)
                            .wrapping_sub(1 as usize))
                        .wrapping_add(0 as size_t),
                )
                .wrapping_div(::core::mem::size_of::<::core::ffi::c_int>() as size_t);
            let mut i: size_t = 0 as size_t;
            while i < count {
                let mut passed: ::core::ffi::c_int = -(1 as ::core::ffi::c_int);
                memcpy(
                    &raw mut passed as *mut ::core::ffi::c_void,
                    (&raw mut (*cmsg).__cmsg_data as *mut ::core::ffi::c_uchar)
                        .offset(
                            i
                                .wrapping_mul(
                                    ::core::mem::size_of::<::core::ffi::c_int>() as size_t,
                                ) as isize,
                        ) as *const ::core::ffi::c_void,
                    ::core::mem::size_of::<::core::ffi::c_int>() as size_t,
                );
                if (*message).header.command as ::core::ffi::c_int
                    == COMMAND_GET_REGION_INFO as ::core::ffi::c_int
                    && (*message).fd < 0 as ::core::ffi::c_int
                {
                    (*message).fd = passed;
                } else {
                    close(passed);
                    belong = false_0 != 0;
                }
                i = i.wrapping_add(1);
            }
        }
        cmsg = __cmsg_nxthdr(in_0, cmsg);
    }
    return belong;
}
unsafe extern "C" fn receive_all(
    mut device: *const vfio_device,
    mut data: *mut ::core::ffi::c_void,
    mut size: size_t,
    mut message: *mut message,
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
        let mut in_0: msghdr = msghdr {
            msg_name: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            msg_namelen: 0,
            msg_iov: &raw mut part,
            msg_iovlen: 1 as size_t,
            msg_control: &raw mut control as *mut ::core::ffi::c_void,
            msg_controllen: ::core::mem::size_of::<[uint8_t; 24]>() as size_t,
            msg_flags: 0,
        };
        if wait_for_server(device, POLLIN as ::core::ffi::c_short, message, error)
            != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        let mut done: ssize_t = recvmsg(
            (*device).fd,
            &raw mut in_0,
            MSG_CMSG_CLOEXEC as ::core::ffi::c_int,
        );
        if done < 0 as ssize_t
            && (*__errno_location() == EINTR || *__errno_location() == EAGAIN)
        {
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
        if !take_descriptors(&raw mut in_0, message) {
            return protocol_error(
                device,
                b"file descriptors that do not belong to the reply\0" as *const u8
                    as *const ::core::ffi::c_char,
                message,
                error,
            );
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
unsafe extern "C" fn exchange_messages(
    mut device: *mut vfio_device,
    mut message: *mut message,
    mut least: size_t,
    mut answer: *mut message_header,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    (*message).header.id = (*device).next_message;
    (*device).next_message = (*device).next_message.wrapping_add(1);
    let mut sent: ::core::ffi::c_int = send_request(device, message, error);
    (*message).fd = -(1 as ::core::ffi::c_int);
    if sent != 0 as ::core::ffi::c_int
        || receive_all(
            device,
            answer as *mut ::core::ffi::c_void,
            ::core::mem::size_of::<message_header>() as size_t,
            message,
            error,
        ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if (*answer).id as ::core::ffi::c_int != (*message).header.id as ::core::ffi::c_int
        || (*answer).command as ::core::ffi::c_int
            != (*message).header.command as ::core::ffi::c_int
        || (*answer).flags & FLAGS_TYPE_MASK as uint32_t != FLAGS_TYPE_REPLY as uint32_t
    {
        return protocol_error(
            device,
            b"a reply that does not belong\0" as *const u8 as *const ::core::ffi::c_char,
            message,
            error,
        );
    }
    let mut size: size_t = ((*answer).size as size_t)
        .wrapping_sub(::core::mem::size_of::<message_header>() as size_t);
    if ((*answer).size as usize) < ::core::mem::size_of::<message_header>() as usize
        || size > ::core::mem::size_of::<payload>() as usize
        || size < least && (*answer).flags & FLAGS_ERROR as uint32_t == 0
    {
        return protocol_error(
            device,
            b"a reply of a wrong size\0" as *const u8 as *const ::core::ffi::c_char,
            message,
            error,
        );
    }
    if receive_all(
        device,
        &raw mut (*message).payload as *mut ::core::ffi::c_void,
        size,
        message,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return size as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_call(
    mut device: *mut vfio_device,
    mut message: *mut message,
    mut least: size_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut answer: message_header = message_header {
        id: 0 as uint16_t,
        command: 0,
        size: 0,
        flags: 0,
        error: 0,
    };
    (*message).begun_us = now_us();
    (*message).deadline_us = (*message)
        .begun_us
        .wrapping_add(vfio_patience(device))
        .wrapping_add((*message).free_us);
    let mut size: ::core::ffi::c_int = exchange_messages(
        device,
        message,
        least,
        &raw mut answer,
        error,
    );
    let mut waited: uint64_t = now_us().wrapping_sub((*message).begun_us);
    vfio_patience_use(
        device,
        if waited > (*message).free_us {
            waited.wrapping_sub((*message).free_us)
        } else {
            0 as uint64_t
        },
    );
    if size >= 0 as ::core::ffi::c_int && answer.flags & FLAGS_ERROR as uint32_t == 0 {
        return size;
    }
    if size < 0 as ::core::ffi::c_int {
        (*device).failed = true_0 != 0;
        if error != &raw mut (*device).failure {
            (*device).failure = *error;
        }
    } else if (*message).header.command as ::core::ffi::c_int
        == COMMAND_VERSION as ::core::ffi::c_int && answer.error == EBUSY as uint32_t
    {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the device is busy: another driver uses it; end that driver first\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
        );
    } else {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: the vfio-user server refused command %d: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            &raw mut (*device).address as *mut ::core::ffi::c_char,
            (*message).header.command as ::core::ffi::c_int,
            strerror(answer.error as ::core::ffi::c_int),
        );
    }
    if (*message).fd >= 0 as ::core::ffi::c_int {
        close((*message).fd);
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn no_server(mut cause: ::core::ffi::c_int) -> bool {
    return cause == ENOENT || cause == ECONNREFUSED;
}
unsafe extern "C" fn connect_in_time(
    mut container: *mut vfio_container,
    mut fd: ::core::ffi::c_int,
    mut address: *const sockaddr_un,
) -> ::core::ffi::c_int {
    if (*container).connect_by_ms == 0 as uint64_t {
        (*container).connect_by_ms = now_ms()
            .wrapping_add((*container).connect_timeout_ms as uint64_t);
    }
    loop {
        let mut late: bool = now_ms() >= (*container).connect_by_ms;
        let mut result: ::core::ffi::c_int = connect(
            fd,
            __CONST_SOCKADDR_ARG {
                __sockaddr__: address as *const sockaddr,
            },
            ::core::mem::size_of::<sockaddr_un>() as socklen_t,
        );
        if result == 0 as ::core::ffi::c_int
            || !(no_server(*__errno_location()) as ::core::ffi::c_int != 0
                || *__errno_location() == EAGAIN) || late as ::core::ffi::c_int != 0
        {
            return result;
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
    if !no_server(cause) {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: connect: %s; is the software NIC stuck, or of another user?\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw const (*device).address as *const ::core::ffi::c_char,
            strerror(cause),
        );
        return -(1 as ::core::ffi::c_int);
    }
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
    return -(1 as ::core::ffi::c_int);
}
#[no_mangle]
pub unsafe extern "C" fn vfio_user_connect(
    mut device: *mut vfio_device,
    mut path: *const ::core::ffi::c_char,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut address: sockaddr_un = sockaddr_un {
        sun_family: AF_UNIX as sa_family_t,
        sun_path: [0; 108],
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
        SOCK_STREAM as ::core::ffi::c_int | SOCK_CLOEXEC as ::core::ffi::c_int
            | SOCK_NONBLOCK as ::core::ffi::c_int,
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
    if connect_in_time(
        (*device).container as *mut vfio_container,
        (*device).fd,
        &raw mut address,
    ) != 0 as ::core::ffi::c_int
    {
        return connect_error(device, path, *__errno_location(), error);
    }
    return 0 as ::core::ffi::c_int;
}
#[repr(C)]
pub struct sockaddr_x25 {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_ns {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_iso {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_ipx {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_inarp {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_in6 {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_in {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_eon {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_dl {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_ax25 {
    _opaque: [u8; 0],
}
#[repr(C)]
pub struct sockaddr_at {
    _opaque: [u8; 0],
}
