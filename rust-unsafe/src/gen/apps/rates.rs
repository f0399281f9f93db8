extern "C" {
    fn dprintf(
        __fd: ::core::ffi::c_int,
        __fmt: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
}
pub type __uint64_t = u64;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct device_stats {
    pub rx_packets: uint64_t,
    pub rx_bytes: uint64_t,
    pub tx_packets: uint64_t,
    pub tx_bytes: uint64_t,
}
pub const STDOUT_FILENO: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const WIRE_OVERHEAD_BYTES: ::core::ffi::c_int = 20 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn rates_print(
    mut device: *const ::core::ffi::c_char,
    mut before: *const device_stats,
    mut now: *const device_stats,
    mut seconds: ::core::ffi::c_double,
) {
    let mut rx: ::core::ffi::c_double = (*now)
        .rx_packets
        .wrapping_sub((*before).rx_packets) as ::core::ffi::c_double;
    let mut tx: ::core::ffi::c_double = (*now)
        .tx_packets
        .wrapping_sub((*before).tx_packets) as ::core::ffi::c_double;
    let mut rx_bits: ::core::ffi::c_double = ((*now)
        .rx_bytes
        .wrapping_sub((*before).rx_bytes) as ::core::ffi::c_double
        + rx * WIRE_OVERHEAD_BYTES as ::core::ffi::c_double)
        * 8 as ::core::ffi::c_int as ::core::ffi::c_double;
    let mut tx_bits: ::core::ffi::c_double = ((*now)
        .tx_bytes
        .wrapping_sub((*before).tx_bytes) as ::core::ffi::c_double
        + tx * WIRE_OVERHEAD_BYTES as ::core::ffi::c_double)
        * 8 as ::core::ffi::c_int as ::core::ffi::c_double;
    dprintf(
        STDOUT_FILENO,
        b"%s: RX %.2f Mpps %.2f Gbit/s, TX %.2f Mpps %.2f Gbit/s\n\0" as *const u8
            as *const ::core::ffi::c_char,
        device,
        rx / seconds / 1e6f64,
        rx_bits / seconds / 1e9f64,
        tx / seconds / 1e6f64,
        tx_bits / seconds / 1e9f64,
    );
}
