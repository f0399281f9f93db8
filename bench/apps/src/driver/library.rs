//! The functions of `libports.so`, as `c/src/apps/stack_port.h` declares them.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use anyhow::{Context, Result};
use libloading::Library;

/// `struct stack_port`, of which only the library knows the contents.
#[repr(C)]
pub struct RawPort {
    _private: [u8; 0],
}

/// `struct stack_port_config`.
#[repr(C)]
pub struct RawConfig {
    pub device: *const c_char,
    pub queues: u32,
    pub ring_size: u32,
    pub connect_timeout_ms: u32,
    pub link_timeout_ms: u32,
    pub interrupts: u32,
}

/// `struct stack_packet`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawPacket {
    pub data: *mut u8,
    pub size: u32,
    pub slot: u32,
    pub owner: *mut c_void,
}

/// `struct stack_port_stats`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RawStats {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub interrupts: u64,
    pub sleeps: u64,
    pub ordinary_pages: u64,
}

type Open = unsafe extern "C" fn(*const RawConfig, *mut c_char, usize) -> *mut RawPort;
type Mac = unsafe extern "C" fn(*mut RawPort, *mut [u8; 6], *mut c_char, usize) -> c_int;
type Receive = unsafe extern "C" fn(*mut RawPort, u32, *mut RawPacket, u32) -> u32;
type Free = unsafe extern "C" fn(*mut RawPort, *const RawPacket, u32);
type Alloc = unsafe extern "C" fn(*mut RawPort, *mut RawPacket) -> bool;
type Send = unsafe extern "C" fn(*mut RawPort, u32, *const RawPacket, u32) -> u32;
type Wait = unsafe extern "C" fn(*mut RawPort, u32, *mut c_char, usize) -> c_int;
type Stats = unsafe extern "C" fn(*mut RawPort, *mut RawStats, *mut c_char, usize) -> c_int;
type Close = unsafe extern "C" fn(*mut RawPort, *mut c_char, usize) -> c_int;

/// The functions of a loaded library.
pub struct Functions {
    pub open: Open,
    pub mac: Mac,
    pub receive: Receive,
    pub free: Free,
    pub alloc: Alloc,
    pub send: Send,
    pub wait: Wait,
    pub stats: Stats,
    pub close: Close,
    // The functions are valid while the library is loaded.
    _library: Library,
}

impl Functions {
    /// Loads the library.
    pub fn load(path: &Path) -> Result<Self> {
        // SAFETY: the file is a driver's library by the user's choice. It runs nothing when it is loaded.
        let library = unsafe { Library::new(path) }
            .with_context(|| format!("{}: cannot load the driver", path.display()))?;
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of the declaration in `stack_port.h`.
                *unsafe { library.get(concat!($name, "\0").as_bytes()) }.with_context(|| {
                    format!("{}: no libports.so of this version", path.display())
                })?
            };
        }
        Ok(Self {
            open: function!("stack_port_open"),
            mac: function!("stack_port_mac"),
            receive: function!("stack_port_receive"),
            free: function!("stack_port_free"),
            alloc: function!("stack_port_alloc"),
            send: function!("stack_port_send"),
            wait: function!("stack_port_wait"),
            stats: function!("stack_port_stats"),
            close: function!("stack_port_close"),
            _library: library,
        })
    }
}
