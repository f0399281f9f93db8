extern "C" {
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
}
pub type __uint8_t = u8;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type uint8_t = __uint8_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type size_t = usize;
pub const FLOW_PACKET_SEQUENCE: ::core::ffi::c_int = 42 as ::core::ffi::c_int;
pub const ETHERNET_SIZE: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const IP_SIZE: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const IP_TOTAL_LENGTH: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const IP_CHECKSUM: ::core::ffi::c_int = 24 as ::core::ffi::c_int;
pub const UDP_SOURCE_PORT: ::core::ffi::c_int = 34 as ::core::ffi::c_int;
pub const UDP_LENGTH: ::core::ffi::c_int = 38 as ::core::ffi::c_int;
static mut headers: [uint8_t; 42] = [
    0x2 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    2 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0x8 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0x45 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    64 as ::core::ffi::c_int as uint8_t,
    17 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    198 as ::core::ffi::c_int as uint8_t,
    18 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    1 as ::core::ffi::c_int as uint8_t,
    198 as ::core::ffi::c_int as uint8_t,
    19 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    1 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    9 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
    0 as ::core::ffi::c_int as uint8_t,
];
unsafe extern "C" fn write16(mut bytes: *mut uint8_t, mut value: uint32_t) {
    *bytes.offset(0 as ::core::ffi::c_int as isize) = (value >> 8 as ::core::ffi::c_int)
        as uint8_t;
    *bytes.offset(1 as ::core::ffi::c_int as isize) = value as uint8_t;
}
unsafe extern "C" fn ip_checksum(mut ip: *const uint8_t) -> uint32_t {
    let mut sum: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < IP_SIZE as uint32_t {
        sum = sum
            .wrapping_add(
                (*ip.offset(i as isize) as uint32_t) << 8 as ::core::ffi::c_int
                    | *ip.offset(i.wrapping_add(1 as uint32_t) as isize) as uint32_t,
            );
        i = i.wrapping_add(2 as uint32_t);
    }
    sum = (sum & 0xffff as uint32_t).wrapping_add(sum >> 16 as ::core::ffi::c_int);
    sum = (sum & 0xffff as uint32_t).wrapping_add(sum >> 16 as ::core::ffi::c_int);
    return !sum;
}
#[no_mangle]
pub unsafe extern "C" fn flow_packet_fill(
    mut frame: *mut uint8_t,
    mut size: uint32_t,
    mut source: *const uint8_t,
) {
    memset(frame as *mut ::core::ffi::c_void, 0 as ::core::ffi::c_int, size as size_t);
    memcpy(
        frame as *mut ::core::ffi::c_void,
        &raw const headers as *const uint8_t as *const ::core::ffi::c_void,
        ::core::mem::size_of::<[uint8_t; 42]>() as size_t,
    );
    memcpy(
        frame.offset(6 as ::core::ffi::c_int as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        source as *const ::core::ffi::c_void,
        6 as size_t,
    );
    write16(
        frame.offset(IP_TOTAL_LENGTH as isize) as *mut uint8_t,
        size.wrapping_sub(ETHERNET_SIZE as uint32_t),
    );
    write16(
        frame.offset(IP_CHECKSUM as isize) as *mut uint8_t,
        ip_checksum(frame.offset(ETHERNET_SIZE as isize) as *mut uint8_t),
    );
    write16(
        frame.offset(UDP_LENGTH as isize) as *mut uint8_t,
        size.wrapping_sub(ETHERNET_SIZE as uint32_t).wrapping_sub(IP_SIZE as uint32_t),
    );
}
#[no_mangle]
pub unsafe extern "C" fn flow_packet_number(
    mut frame: *mut uint8_t,
    mut flow: uint32_t,
    mut sequence: uint64_t,
) {
    write16(
        frame.offset(UDP_SOURCE_PORT as isize) as *mut uint8_t,
        flow.wrapping_add(1 as uint32_t),
    );
    let mut i: uint32_t = 0 as uint32_t;
    while (i as usize) < ::core::mem::size_of::<uint64_t>() as usize {
        *frame.offset((FLOW_PACKET_SEQUENCE as uint32_t).wrapping_add(i) as isize) = (sequence
            >> (56 as uint32_t).wrapping_sub((8 as uint32_t).wrapping_mul(i)))
            as uint8_t;
        i = i.wrapping_add(1);
    }
}
