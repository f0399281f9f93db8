//! The functions of the C library that the bridge stands before, each declared once, and those that come after it.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{c_char, c_ulong, c_void, mode_t, sighandler_t, sigset_t};

use crate::sys::{self, Errno};

/// The functions: name, arguments, result, and what the bridge answers. `None` passes a call on to the next function of
/// that name. While the program is still being loaded, the system call in brackets takes its place. A function without
/// one is looked up then: a sanitizer sets its handlers before the bridge begins.
macro_rules! functions {
    ($with:ident) => { $with! {
        open(path: *const c_char, flags: i32, mode: mode_t) -> i32 [SYS_open] = files::open(path, flags, mode);
        open64(path: *const c_char, flags: i32, mode: mode_t) -> i32 [SYS_open] = files::open(path, flags, mode);
        openat(at: i32, path: *const c_char, flags: i32, mode: mode_t) -> i32 [SYS_openat] = files::open(path, flags, mode);
        openat64(at: i32, path: *const c_char, flags: i32, mode: mode_t) -> i32 [SYS_openat] = files::open(path, flags, mode);
        // What the C library's checked headers call instead.
        __open_2(path: *const c_char, flags: i32) -> i32 [SYS_open] = files::open(path, flags, 0);
        __open64_2(path: *const c_char, flags: i32) -> i32 [SYS_open] = files::open(path, flags, 0);
        __openat_2(at: i32, path: *const c_char, flags: i32) -> i32 [SYS_openat] = files::open(path, flags, 0);
        __openat64_2(at: i32, path: *const c_char, flags: i32) -> i32 [SYS_openat] = files::open(path, flags, 0);
        close(fd: i32) -> i32 [SYS_close] = Some(files::close(fd));
        close_range(first: u32, last: u32, flags: i32) -> i32 [SYS_close_range] = Some(files::close_range(first, last, flags as u64));
        ioctl(fd: i32, request: c_ulong, at: usize) -> i32 [SYS_ioctl] = Some(files::ioctl(fd, request, at as u64));
        pread(fd: i32, to: *mut c_void, len: usize, offset: i64) -> isize [SYS_pread64] = requests::pread(fd, to as u64, len, offset as u64);
        pread64(fd: i32, to: *mut c_void, len: usize, offset: i64) -> isize [SYS_pread64] = requests::pread(fd, to as u64, len, offset as u64);
        __pread_chk(fd: i32, to: *mut c_void, len: usize, offset: i64, room: usize) -> isize [SYS_pread64] =
            files::checked_pread(fd, to as u64, len, offset as u64, room);
        __pread64_chk(fd: i32, to: *mut c_void, len: usize, offset: i64, room: usize) -> isize [SYS_pread64] =
            files::checked_pread(fd, to as u64, len, offset as u64, room);
        pwrite(fd: i32, from: *const c_void, len: usize, offset: i64) -> isize [SYS_pwrite64] = requests::pwrite(fd, from as u64, len, offset as u64);
        pwrite64(fd: i32, from: *const c_void, len: usize, offset: i64) -> isize [SYS_pwrite64] = requests::pwrite(fd, from as u64, len, offset as u64);
        mmap(at: *mut c_void, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void [SYS_mmap] =
            Some(memory::map([at as u64, len as u64, protection as u64, flags as u64, fd as u64, offset as u64]));
        mmap64(at: *mut c_void, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void [SYS_mmap] =
            Some(memory::map([at as u64, len as u64, protection as u64, flags as u64, fd as u64, offset as u64]));
        munmap(at: *mut c_void, len: usize) -> i32 [SYS_munmap] = Some(memory::unmap(at as usize, len));
        sigaction(number: i32, new: *const libc::sigaction, old: *mut libc::sigaction) -> i32 = signals::action(number, new, old);
        signal(number: i32, handler: sighandler_t) -> sighandler_t = signals::handler(number, handler);
        sigprocmask(how: i32, new: *const sigset_t, old: *mut sigset_t) -> i32 =
            signals::allowed_mask(how, new).map(|new| next::sigprocmask(how, &raw const new, old));
        pthread_sigmask(how: i32, new: *const sigset_t, old: *mut sigset_t) -> i32 =
            signals::allowed_mask(how, new).map(|new| next::pthread_sigmask(how, &raw const new, old));
    } };
}
pub(super) use functions;

/// What an interposed function returns.
pub(super) trait Answer {
    /// The value for the program. An error sets the C library's errno.
    fn into_c(self) -> i64;
}

impl Answer for Result<u64, Errno> {
    fn into_c(self) -> i64 {
        self.map_or_else(
            |Errno(error)| {
                // SAFETY: errno is a variable of this thread.
                unsafe { *libc::__errno_location() = error };
                -1
            },
            |value| value as i64,
        )
    }
}

/// What a next function returned. It has set errno.
impl Answer for i32 {
    fn into_c(self) -> i64 {
        i64::from(self)
    }
}

/// A handler of a signal.
impl Answer for sighandler_t {
    fn into_c(self) -> i64 {
        self as i64
    }
}

/// Looks up the function that a sanitizer or the C library has. 0 if neither has it.
fn find(address: &AtomicUsize, name: &str) -> usize {
    let name = CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default();
    // SAFETY: the name ends with NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    address.store(found, Ordering::Release);
    found
}

macro_rules! next_functions {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $([$call:ident])? = $ours:expr;)*) => {
        $(
            #[allow(unreachable_code, unused_mut, unused_variables)]
            pub(super) unsafe fn $name($($argument: $type),*) -> $result {
                let mut address = addresses::$name.load(Ordering::Acquire);
                if address == 0 {
                    let arguments = [$($argument as u64),*];
                    // SAFETY: the caller vouches for the arguments.
                    $(return unsafe { sys::call(libc::$call, arguments) }.into_c() as $result;)?
                    address = find(&addresses::$name, concat!(stringify!($name), "\0"));
                }
                if address == 0 {
                    return Err::<u64, _>(Errno(libc::ENOSYS)).into_c() as $result;
                }
                // SAFETY: the C library declares the function with this type.
                let next = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($type),*) -> $result>(address) };
                // SAFETY: the caller vouches for the arguments.
                unsafe { next($($argument),*) }
            }
        )*

        #[allow(non_upper_case_globals)]
        mod addresses {
            use std::sync::atomic::AtomicUsize;
            $(pub(super) static $name: AtomicUsize = AtomicUsize::new(0);)*
        }

        /// Looks the functions up.
        pub(super) fn find_all() {
            $(find(&addresses::$name, concat!(stringify!($name), "\0"));)*
        }
    };
}

functions!(next_functions);
