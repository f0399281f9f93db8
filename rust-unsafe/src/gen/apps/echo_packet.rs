extern "C" {
    fn memcpy(
        __dest: *mut ::core::ffi::c_void,
        __src: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> *mut ::core::ffi::c_void;
    fn memcmp(
        __s1: *const ::core::ffi::c_void,
        __s2: *const ::core::ffi::c_void,
        __n: size_t,
    ) -> ::core::ffi::c_int;
}
pub type __uint8_t = u8;
pub type __uint32_t = u32;
pub type uint8_t = __uint8_t;
pub type uint32_t = __uint32_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct echo_address {
    pub mac: [uint8_t; 6],
    pub has_ip: bool,
    pub ip: [uint8_t; 4],
}
pub type echo_answer = ::core::ffi::c_uint;
pub const ECHO_ICMP: echo_answer = 3;
pub const ECHO_ARP: echo_answer = 2;
pub const ECHO_MAC: echo_answer = 1;
pub const ECHO_NONE: echo_answer = 0;
pub type size_t = usize;
pub const MAC_SIZE: ::core::ffi::c_int = 6 as ::core::ffi::c_int;
pub const ETHERNET_SOURCE: ::core::ffi::c_int = 6 as ::core::ffi::c_int;
pub const ETHERNET_TYPE: ::core::ffi::c_int = 12 as ::core::ffi::c_int;
pub const ETHERNET_SIZE: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const TYPE_IPV4: ::core::ffi::c_int = 0x800 as ::core::ffi::c_int;
pub const TYPE_ARP: ::core::ffi::c_int = 0x806 as ::core::ffi::c_int;
pub const ARP_FORMAT: ::core::ffi::c_int = 14 as ::core::ffi::c_int;
pub const ARP_OPERATION: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const ARP_SENDER_MAC: ::core::ffi::c_int = 22 as ::core::ffi::c_int;
pub const ARP_SENDER_IP: ::core::ffi::c_int = 28 as ::core::ffi::c_int;
pub const ARP_TARGET_MAC: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
pub const ARP_TARGET_IP: ::core::ffi::c_int = 38 as ::core::ffi::c_int;
pub const ARP_END: ::core::ffi::c_int = 42 as ::core::ffi::c_int;
pub const ARP_REQUEST: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const ARP_REPLY: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const IP_SIZE: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
pub const IP_TOTAL_LENGTH: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const IP_FRAGMENT: ::core::ffi::c_int = 6 as ::core::ffi::c_int;
pub const IP_FRAGMENT_MASK: ::core::ffi::c_int = 0x3fff as ::core::ffi::c_int;
pub const IP_TTL: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const IP_PROTOCOL: ::core::ffi::c_int = 9 as ::core::ffi::c_int;
pub const IP_CHECKSUM: ::core::ffi::c_int = 10 as ::core::ffi::c_int;
pub const IP_SOURCE: ::core::ffi::c_int = 12 as ::core::ffi::c_int;
pub const IP_DESTINATION: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const IP_ADDRESS_SIZE: ::core::ffi::c_int = 4 as ::core::ffi::c_int;
pub const PROTOCOL_ICMP: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const ANSWER_TTL: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const ICMP_SIZE: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const ICMP_CHECKSUM: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const ICMP_ECHO_REQUEST: ::core::ffi::c_int = 8 as ::core::ffi::c_int;
pub const ICMP_ECHO_REPLY: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
static mut arp_format: [uint8_t; 6] = [
    0 as ::core::ffi::c_int as uint8_t,
    1 as ::core::ffi::c_int as uint8_t,
    (TYPE_IPV4 >> 8 as ::core::ffi::c_int) as uint8_t,
    (TYPE_IPV4 & 0xff as ::core::ffi::c_int) as uint8_t,
    MAC_SIZE as uint8_t,
    IP_ADDRESS_SIZE as uint8_t,
];
unsafe extern "C" fn read16(mut bytes: *const uint8_t) -> uint32_t {
    return (*bytes.offset(0 as ::core::ffi::c_int as isize) as uint32_t)
        << 8 as ::core::ffi::c_int
        | *bytes.offset(1 as ::core::ffi::c_int as isize) as uint32_t;
}
unsafe extern "C" fn write16(mut bytes: *mut uint8_t, mut value: uint32_t) {
    *bytes.offset(0 as ::core::ffi::c_int as isize) = (value >> 8 as ::core::ffi::c_int)
        as uint8_t;
    *bytes.offset(1 as ::core::ffi::c_int as isize) = value as uint8_t;
}
unsafe extern "C" fn fold(mut sum: uint32_t) -> uint32_t {
    while sum > 0xffff as uint32_t {
        sum = (sum & 0xffff as uint32_t).wrapping_add(sum >> 16 as ::core::ffi::c_int);
    }
    return sum;
}
unsafe extern "C" fn sum_words(
    mut bytes: *const uint8_t,
    mut size: uint32_t,
) -> uint32_t {
    let mut sum: uint32_t = 0 as uint32_t;
    let mut i: uint32_t = 0 as uint32_t;
    while i < size {
        sum = sum.wrapping_add(read16(bytes.offset(i as isize) as *const uint8_t));
        i = i.wrapping_add(2 as uint32_t);
    }
    return fold(sum);
}
unsafe extern "C" fn swap(mut a: *mut uint8_t, mut b: *mut uint8_t, mut size: uint32_t) {
    let mut i: uint32_t = 0 as uint32_t;
    while i < size {
        let mut kept: uint8_t = *a.offset(i as isize);
        *a.offset(i as isize) = *b.offset(i as isize);
        *b.offset(i as isize) = kept;
        i = i.wrapping_add(1);
    }
}
unsafe extern "C" fn answer_arp(
    mut headers: *mut uint8_t,
    mut size: uint32_t,
    mut own: *const echo_address,
) -> echo_answer {
    if size < ARP_END as uint32_t
        || memcmp(
            headers.offset(ARP_FORMAT as isize) as *mut uint8_t
                as *const ::core::ffi::c_void,
            &raw const arp_format as *const uint8_t as *const ::core::ffi::c_void,
            ::core::mem::size_of::<[uint8_t; 6]>() as size_t,
        ) != 0 as ::core::ffi::c_int
        || read16(headers.offset(ARP_OPERATION as isize) as *mut uint8_t)
            != ARP_REQUEST as uint32_t
        || memcmp(
            headers.offset(ARP_TARGET_IP as isize) as *mut uint8_t
                as *const ::core::ffi::c_void,
            &raw const (*own).ip as *const uint8_t as *const ::core::ffi::c_void,
            IP_ADDRESS_SIZE as size_t,
        ) != 0 as ::core::ffi::c_int
    {
        return ECHO_NONE;
    }
    memcpy(
        headers as *mut ::core::ffi::c_void,
        headers.offset(ETHERNET_SOURCE as isize) as *mut uint8_t
            as *const ::core::ffi::c_void,
        MAC_SIZE as size_t,
    );
    memcpy(
        headers.offset(ETHERNET_SOURCE as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        &raw const (*own).mac as *const uint8_t as *const ::core::ffi::c_void,
        MAC_SIZE as size_t,
    );
    write16(
        headers.offset(ARP_OPERATION as isize) as *mut uint8_t,
        ARP_REPLY as uint32_t,
    );
    memcpy(
        headers.offset(ARP_TARGET_MAC as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        headers.offset(ARP_SENDER_MAC as isize) as *mut uint8_t
            as *const ::core::ffi::c_void,
        (MAC_SIZE + IP_ADDRESS_SIZE) as size_t,
    );
    memcpy(
        headers.offset(ARP_SENDER_MAC as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        &raw const (*own).mac as *const uint8_t as *const ::core::ffi::c_void,
        MAC_SIZE as size_t,
    );
    memcpy(
        headers.offset(ARP_SENDER_IP as isize) as *mut uint8_t
            as *mut ::core::ffi::c_void,
        &raw const (*own).ip as *const uint8_t as *const ::core::ffi::c_void,
        IP_ADDRESS_SIZE as size_t,
    );
    return ECHO_ARP;
}
unsafe extern "C" fn answer_icmp(
    mut headers: *mut uint8_t,
    mut size: uint32_t,
    mut own: *const echo_address,
) -> echo_answer {
    if size < (ETHERNET_SIZE + IP_SIZE + ICMP_SIZE) as uint32_t {
        return ECHO_NONE;
    }
    let mut ip: *mut uint8_t = headers.offset(ETHERNET_SIZE as isize) as *mut uint8_t;
    let mut ip_size: uint32_t = (*ip.offset(0 as ::core::ffi::c_int as isize) as uint32_t
        & 0xf as uint32_t)
        .wrapping_mul(4 as uint32_t);
    let mut total: uint32_t = read16(
        ip.offset(IP_TOTAL_LENGTH as isize) as *mut uint8_t,
    );
    if *ip.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
        >> 4 as ::core::ffi::c_int != 4 as ::core::ffi::c_int
        || ip_size < IP_SIZE as uint32_t
        || total < ip_size.wrapping_add(ICMP_SIZE as uint32_t)
        || total > size.wrapping_sub(ETHERNET_SIZE as uint32_t)
        || sum_words(ip, ip_size) != 0xffff as uint32_t
        || read16(ip.offset(IP_FRAGMENT as isize) as *mut uint8_t)
            & IP_FRAGMENT_MASK as uint32_t != 0 as uint32_t
        || *ip.offset(IP_PROTOCOL as isize) as ::core::ffi::c_int != PROTOCOL_ICMP
        || memcmp(
            ip.offset(IP_DESTINATION as isize) as *mut uint8_t
                as *const ::core::ffi::c_void,
            &raw const (*own).ip as *const uint8_t as *const ::core::ffi::c_void,
            IP_ADDRESS_SIZE as size_t,
        ) != 0 as ::core::ffi::c_int
    {
        return ECHO_NONE;
    }
    let mut icmp: *mut uint8_t = ip.offset(ip_size as isize) as *mut uint8_t;
    if *icmp.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
        != ICMP_ECHO_REQUEST
        || *icmp.offset(1 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            != 0 as ::core::ffi::c_int
    {
        return ECHO_NONE;
    }
    swap(
        headers,
        headers.offset(ETHERNET_SOURCE as isize) as *mut uint8_t,
        MAC_SIZE as uint32_t,
    );
    swap(
        ip.offset(IP_SOURCE as isize) as *mut uint8_t,
        ip.offset(IP_DESTINATION as isize) as *mut uint8_t,
        IP_ADDRESS_SIZE as uint32_t,
    );
    *ip.offset(IP_TTL as isize) = ANSWER_TTL as uint8_t;
    write16(ip.offset(IP_CHECKSUM as isize) as *mut uint8_t, 0 as uint32_t);
    write16(ip.offset(IP_CHECKSUM as isize) as *mut uint8_t, !sum_words(ip, ip_size));
    *icmp.offset(0 as ::core::ffi::c_int as isize) = ICMP_ECHO_REPLY as uint8_t;
    write16(
        icmp.offset(ICMP_CHECKSUM as isize) as *mut uint8_t,
        fold(
            read16(icmp.offset(ICMP_CHECKSUM as isize) as *mut uint8_t)
                .wrapping_add(
                    (ICMP_ECHO_REQUEST - ICMP_ECHO_REPLY << 8 as ::core::ffi::c_int)
                        as uint32_t,
                ),
        ),
    );
    return ECHO_ICMP;
}
#[no_mangle]
pub unsafe extern "C" fn echo_packet(
    mut headers: *mut uint8_t,
    mut size: uint32_t,
    mut own: *const echo_address,
) -> echo_answer {
    if size < ETHERNET_SIZE as uint32_t {
        return ECHO_NONE;
    }
    let mut to_us: bool = memcmp(
        headers as *const ::core::ffi::c_void,
        &raw const (*own).mac as *const uint8_t as *const ::core::ffi::c_void,
        MAC_SIZE as size_t,
    ) == 0 as ::core::ffi::c_int;
    let mut to_all: bool = memcmp(
        headers as *const ::core::ffi::c_void,
        b"\xFF\xFF\xFF\xFF\xFF\xFF\0" as *const u8 as *const ::core::ffi::c_char
            as *const ::core::ffi::c_void,
        MAC_SIZE as size_t,
    ) == 0 as ::core::ffi::c_int;
    let mut from_one: bool = *headers.offset(ETHERNET_SOURCE as isize)
        as ::core::ffi::c_int & 1 as ::core::ffi::c_int == 0 as ::core::ffi::c_int;
    let mut type_0: uint32_t = read16(
        headers.offset(ETHERNET_TYPE as isize) as *mut uint8_t,
    );
    if !from_one || !to_us && !to_all {
        return ECHO_NONE;
    }
    if (*own).has_ip as ::core::ffi::c_int != 0 && type_0 == TYPE_ARP as uint32_t {
        return answer_arp(headers, size, own);
    }
    if (*own).has_ip as ::core::ffi::c_int != 0 && type_0 == TYPE_IPV4 as uint32_t
        && to_us as ::core::ffi::c_int != 0
    {
        return answer_icmp(headers, size, own);
    }
    if !(*own).has_ip && to_us as ::core::ffi::c_int != 0 {
        swap(
            headers,
            headers.offset(ETHERNET_SOURCE as isize) as *mut uint8_t,
            MAC_SIZE as uint32_t,
        );
        return ECHO_MAC;
    }
    return ECHO_NONE;
}
