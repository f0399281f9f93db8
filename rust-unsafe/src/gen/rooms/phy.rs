extern "C" {
    static mut stderr: *mut FILE;
    fn fprintf(
        __stream: *mut FILE,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn vfio_read32(device: *mut vfio_device, offset: uint32_t) -> uint32_t;
    fn vfio_write32(device: *mut vfio_device, offset: uint32_t, value: uint32_t);
    fn vfio_check(device: *const vfio_device, error: *mut error) -> ::core::ffi::c_int;
    fn vfio_patience(device: *mut vfio_device) -> uint64_t;
    fn vfio_sleep(device: *mut vfio_device, microseconds: uint32_t);
    fn reg_set(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_clear(vfio: *mut vfio_device, offset: uint32_t, bits: uint32_t);
    fn reg_wait(
        vfio: *mut vfio_device,
        offset: uint32_t,
        mask: uint32_t,
        value: uint32_t,
        name: *const ::core::ffi::c_char,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
}
pub type __uint8_t = u8;
pub type __uint16_t = u16;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __off_t = ::core::ffi::c_long;
pub type __off64_t = ::core::ffi::c_long;
pub type uint8_t = __uint8_t;
pub type uint16_t = __uint16_t;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type size_t = usize;
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
pub const IXGBE_SWSM: ::core::ffi::c_uint = 0x10140 as ::core::ffi::c_uint;
pub const IXGBE_SWSM_SMBI: ::core::ffi::c_uint = 0x1 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC: ::core::ffi::c_uint = 0x10160 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC_SW_PHY0: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC_SW_PHY1: ::core::ffi::c_uint = 0x4 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC_FW_PHY0: ::core::ffi::c_uint = 0x40 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC_FW_PHY1: ::core::ffi::c_uint = 0x80 as ::core::ffi::c_uint;
pub const IXGBE_SW_FW_SYNC_REGSMP: ::core::ffi::c_uint = 0x80000000
    as ::core::ffi::c_uint;
pub const IXGBE_MSCA: ::core::ffi::c_uint = 0x425c as ::core::ffi::c_uint;
pub const IXGBE_MSCA_OP_CODE_ADDRESS: ::core::ffi::c_uint = 0 as ::core::ffi::c_uint;
pub const IXGBE_MSCA_OP_CODE_WRITE: ::core::ffi::c_uint = 0x4000000
    as ::core::ffi::c_uint;
pub const IXGBE_MSCA_OP_CODE_READ: ::core::ffi::c_uint = 0xc000000
    as ::core::ffi::c_uint;
pub const IXGBE_MSCA_MDI_COMMAND: ::core::ffi::c_uint = 0x40000000
    as ::core::ffi::c_uint;
pub const IXGBE_MSRWD: ::core::ffi::c_uint = 0x4260 as ::core::ffi::c_uint;
pub const IXGBE_PHY_ID_HIGH_DEVICE: ::core::ffi::c_uint = 1 as ::core::ffi::c_uint;
pub const IXGBE_PHY_ID_HIGH: ::core::ffi::c_uint = 0x2 as ::core::ffi::c_uint;
pub const IXGBE_PHY_VENDOR_CONTROL_DEVICE: ::core::ffi::c_uint = 30
    as ::core::ffi::c_uint;
pub const IXGBE_PHY_VENDOR_CONTROL: ::core::ffi::c_uint = 0 as ::core::ffi::c_uint;
pub const IXGBE_PHY_VENDOR_CONTROL_LOW_POWER: ::core::ffi::c_uint = 0x800
    as ::core::ffi::c_uint;
#[inline]
unsafe extern "C" fn error_warn(mut error: *const error) {
    fprintf(
        stderr,
        b"warning: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
        &raw const (*error).text as *const ::core::ffi::c_char,
    );
}
#[inline]
unsafe extern "C" fn reg_read(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
) -> uint32_t {
    return vfio_read32(vfio, offset);
}
#[inline]
unsafe extern "C" fn reg_write(
    mut vfio: *mut vfio_device,
    mut offset: uint32_t,
    mut value: uint32_t,
) {
    vfio_write32(vfio, offset, value);
}
pub const TIMEOUT_BUS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const BUS_INTERVAL_US: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const TIMEOUT_PHY: ::core::ffi::c_int = 3000 as ::core::ffi::c_int;
pub const PHY_INTERVAL_US: ::core::ffi::c_int = 100000 as ::core::ffi::c_int;
pub const MDIO_ADDRESSES: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
pub const MDIO_NO_ANSWER: ::core::ffi::c_uint = 0xffff as ::core::ffi::c_uint;
unsafe extern "C" fn take_semaphores(mut vfio: *mut vfio_device) {
    let mut late: error = error { text: [0; 1024] };
    reg_wait(
        vfio,
        IXGBE_SWSM as uint32_t,
        IXGBE_SWSM_SMBI as uint32_t,
        0 as uint32_t,
        b"SWSM.SMBI\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut late,
    );
    reg_wait(
        vfio,
        IXGBE_SW_FW_SYNC as uint32_t,
        IXGBE_SW_FW_SYNC_REGSMP as uint32_t,
        0 as uint32_t,
        b"SW_FW_SYNC.REGSMP\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut late,
    );
}
unsafe extern "C" fn release_semaphores(mut vfio: *mut vfio_device) {
    reg_clear(vfio, IXGBE_SW_FW_SYNC as uint32_t, IXGBE_SW_FW_SYNC_REGSMP as uint32_t);
    reg_clear(vfio, IXGBE_SWSM as uint32_t, IXGBE_SWSM_SMBI as uint32_t);
}
unsafe extern "C" fn is_first(mut vfio: *mut vfio_device) -> bool {
    return (reg_read(vfio, 0x8 as uint32_t) & 0xc as uint32_t)
        .wrapping_div(0xc as uint32_t & (!(0xc as uint32_t)).wrapping_add(1 as uint32_t))
        == 0 as uint32_t;
}
#[no_mangle]
pub unsafe extern "C" fn phy_take(
    mut vfio: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut first: bool = is_first(vfio);
    let mut software: uint32_t = if first as ::core::ffi::c_int != 0 {
        IXGBE_SW_FW_SYNC_SW_PHY0 as uint32_t
    } else {
        IXGBE_SW_FW_SYNC_SW_PHY1 as uint32_t
    };
    let mut firmware: uint32_t = if first as ::core::ffi::c_int != 0 {
        IXGBE_SW_FW_SYNC_FW_PHY0 as uint32_t
    } else {
        IXGBE_SW_FW_SYNC_FW_PHY1 as uint32_t
    };
    let mut deadline: uint64_t = now_ms().wrapping_add(TIMEOUT_BUS as uint64_t);
    loop {
        let mut late: bool = now_ms() >= deadline
            || vfio_patience(vfio) < BUS_INTERVAL_US as uint64_t;
        take_semaphores(vfio);
        let mut take: bool = late as ::core::ffi::c_int != 0
            || reg_read(vfio, IXGBE_SW_FW_SYNC as uint32_t) & firmware == 0;
        if take {
            reg_set(vfio, IXGBE_SW_FW_SYNC as uint32_t, software);
        }
        release_semaphores(vfio);
        if take as ::core::ffi::c_int != 0 || (*vfio).failed as ::core::ffi::c_int != 0 {
            return vfio_check(vfio, error);
        }
        vfio_sleep(vfio, BUS_INTERVAL_US as uint32_t);
    };
}
#[no_mangle]
pub unsafe extern "C" fn phy_release(mut vfio: *mut vfio_device) {
    let mut software: uint32_t = if is_first(vfio) as ::core::ffi::c_int != 0 {
        IXGBE_SW_FW_SYNC_SW_PHY0 as uint32_t
    } else {
        IXGBE_SW_FW_SYNC_SW_PHY1 as uint32_t
    };
    take_semaphores(vfio);
    reg_clear(vfio, IXGBE_SW_FW_SYNC as uint32_t, software);
    release_semaphores(vfio);
}
unsafe extern "C" fn mdio_cycle(
    mut vfio: *mut vfio_device,
    mut operation: uint32_t,
    mut phy: uint32_t,
    mut device: uint32_t,
    mut offset: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    reg_write(
        vfio,
        IXGBE_MSCA as uint32_t,
        operation
            | offset
                .wrapping_mul(
                    0xffff as uint32_t
                        & (!(0xffff as uint32_t)).wrapping_add(1 as uint32_t),
                )
            | device
                .wrapping_mul(
                    0x1f0000 as uint32_t
                        & (!(0x1f0000 as uint32_t)).wrapping_add(1 as uint32_t),
                )
            | phy
                .wrapping_mul(
                    0x3e00000 as uint32_t
                        & (!(0x3e00000 as uint32_t)).wrapping_add(1 as uint32_t),
                ) | IXGBE_MSCA_MDI_COMMAND as uint32_t,
    );
    let mut late: error = error { text: [0; 1024] };
    if reg_wait(
        vfio,
        IXGBE_MSCA as uint32_t,
        IXGBE_MSCA_MDI_COMMAND as uint32_t,
        0 as uint32_t,
        b"MSCA.MDI_COMMAND\0" as *const u8 as *const ::core::ffi::c_char,
        &raw mut late,
    ) == 0 as ::core::ffi::c_int
    {
        return 0 as ::core::ffi::c_int;
    }
    if vfio_check(vfio, error) == 0 as ::core::ffi::c_int {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s: a cycle on the MDIO bus does not end (MSCA.MDI_COMMAND); %s\0"
                as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*vfio).address as *mut ::core::ffi::c_char,
            b"switch the machine off and on, to restart the card's firmware\0"
                as *const u8 as *const ::core::ffi::c_char,
        );
    }
    return -(1 as ::core::ffi::c_int);
}
unsafe extern "C" fn phy_read(
    mut vfio: *mut vfio_device,
    mut phy: uint32_t,
    mut device: uint32_t,
    mut offset: uint32_t,
    mut value: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    if mdio_cycle(
        vfio,
        IXGBE_MSCA_OP_CODE_ADDRESS as uint32_t,
        phy,
        device,
        offset,
        error,
    ) != 0 as ::core::ffi::c_int
        || mdio_cycle(
            vfio,
            IXGBE_MSCA_OP_CODE_READ as uint32_t,
            phy,
            device,
            offset,
            error,
        ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    *value = (reg_read(vfio, 0x4260 as uint32_t) & 0xffff0000 as uint32_t)
        .wrapping_div(
            0xffff0000 as uint32_t
                & (!(0xffff0000 as uint32_t)).wrapping_add(1 as uint32_t),
        );
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn phy_write(
    mut vfio: *mut vfio_device,
    mut phy: uint32_t,
    mut device: uint32_t,
    mut offset: uint32_t,
    mut value: uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    reg_write(
        vfio,
        IXGBE_MSRWD as uint32_t,
        value
            .wrapping_mul(
                0xffff as uint32_t & (!(0xffff as uint32_t)).wrapping_add(1 as uint32_t),
            ),
    );
    if mdio_cycle(
        vfio,
        IXGBE_MSCA_OP_CODE_ADDRESS as uint32_t,
        phy,
        device,
        offset,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    return mdio_cycle(
        vfio,
        IXGBE_MSCA_OP_CODE_WRITE as uint32_t,
        phy,
        device,
        offset,
        error,
    );
}
unsafe extern "C" fn find_phy(
    mut vfio: *mut vfio_device,
    mut phy: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    *phy = 0 as uint32_t;
    while *phy < MDIO_ADDRESSES as uint32_t {
        let mut id: uint32_t = 0 as uint32_t;
        if phy_read(
            vfio,
            *phy,
            IXGBE_PHY_ID_HIGH_DEVICE as uint32_t,
            IXGBE_PHY_ID_HIGH as uint32_t,
            &raw mut id,
            error,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        if id != 0 as uint32_t && id != MDIO_NO_ANSWER as uint32_t {
            break;
        }
        *phy = (*phy).wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn wait_for_phy(
    mut vfio: *mut vfio_device,
    mut phy: *mut uint32_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut deadline: uint64_t = now_ms().wrapping_add(TIMEOUT_PHY as uint64_t);
    let mut none: error = error { text: [0; 1024] };
    loop {
        let mut late: bool = now_ms() >= deadline;
        if find_phy(vfio, phy, error) != 0 as ::core::ffi::c_int {
            return -(1 as ::core::ffi::c_int);
        }
        if *phy < MDIO_ADDRESSES as uint32_t {
            return 0 as ::core::ffi::c_int;
        }
        if late {
            break;
        }
        sleep_us(PHY_INTERVAL_US as uint32_t);
    }
    snprintf(
        &raw mut none.text as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        b"%s: no PHY answers on the MDIO bus after %d ms; if there is no link, switch the machine off and on, to restart the card's firmware\0"
            as *const u8 as *const ::core::ffi::c_char,
        &raw mut (*vfio).address as *mut ::core::ffi::c_char,
        3000 as ::core::ffi::c_int,
    );
    error_warn(&raw mut none);
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn phy_power_up(
    mut vfio: *mut vfio_device,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut phy: uint32_t = 0 as uint32_t;
    let mut control: uint32_t = 0 as uint32_t;
    if wait_for_phy(vfio, &raw mut phy, error) != 0 as ::core::ffi::c_int {
        return -(1 as ::core::ffi::c_int);
    }
    if phy == MDIO_ADDRESSES as uint32_t {
        return 0 as ::core::ffi::c_int;
    }
    if phy_read(
        vfio,
        phy,
        IXGBE_PHY_VENDOR_CONTROL_DEVICE as uint32_t,
        IXGBE_PHY_VENDOR_CONTROL as uint32_t,
        &raw mut control,
        error,
    ) != 0 as ::core::ffi::c_int
    {
        return -(1 as ::core::ffi::c_int);
    }
    if control & IXGBE_PHY_VENDOR_CONTROL_LOW_POWER as uint32_t == 0 {
        return 0 as ::core::ffi::c_int;
    }
    return phy_write(
        vfio,
        phy,
        IXGBE_PHY_VENDOR_CONTROL_DEVICE as uint32_t,
        IXGBE_PHY_VENDOR_CONTROL as uint32_t,
        control & !(IXGBE_PHY_VENDOR_CONTROL_LOW_POWER as uint32_t),
        error,
    );
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
