//! The functions that the interposed ones stand before: those of the C library or of a sanitizer.

use std::ffi::CStr;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sys::Errno;

/// A function that is looked up once.
pub(super) struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    pub(super) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicUsize::new(0),
        }
    }

    /// The function's address, or `None` while the program is still being loaded.
    pub(super) fn address(&self) -> Option<usize> {
        let known = self.address.load(Ordering::Acquire);
        (known != 0).then_some(known)
    }

    /// Looks the function up.
    pub(super) fn find(&self) {
        // SAFETY: the name ends with NUL.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address as usize, Ordering::Release);
    }
}

/// Declares functions of the C library, each with its type, and `find_all`.
macro_rules! functions {
    ($($name:ident, $static:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        $(
            static $static: Next = Next::new({
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                }
            });

            /// The function, or `None` while the program is still being loaded.
            pub(super) fn $name() -> Option<unsafe extern "C" fn($($argument),*) -> $result> {
                let address = $static.address()?;
                // SAFETY: the C library declares the function with this type.
                Some(unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($argument),*) -> $result>(address) })
            }
        )*

        /// Looks all functions up.
        pub(super) fn find_all() {
            $($static.find();)*
        }
    };
}

functions! {
    openat, OPENAT: fn(i32, *const libc::c_char, i32, libc::mode_t) -> i32;
    close, CLOSE: fn(i32) -> i32;
    pread, PREAD: fn(i32, *mut libc::c_void, usize, i64) -> isize;
    pwrite, PWRITE: fn(i32, *const libc::c_void, usize, i64) -> isize;
    sigaction, SIGACTION: fn(i32, *const libc::sigaction, *mut libc::sigaction) -> i32;
    signal, SIGNAL: fn(i32, libc::sighandler_t) -> libc::sighandler_t;
    sigprocmask, SIGPROCMASK: fn(i32, *const libc::sigset_t, *mut libc::sigset_t) -> i32;
    pthread_sigmask, PTHREAD_SIGMASK: fn(i32, *const libc::sigset_t, *mut libc::sigset_t) -> i32;
}

/// Defines functions of the C library that do what another function of the bridge does.
macro_rules! aliases {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $call:expr;)*) => {$(
        #[no_mangle]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller vouches for the arguments.
            unsafe { $call }
        }
    )*};
}
pub(super) use aliases;

/// Looks the functions for signals up if nothing has done so. A sanitizer sets its handlers before
/// the bridge begins.
pub(super) fn find_signals() {
    for function in [&SIGACTION, &SIGNAL, &SIGPROCMASK, &PTHREAD_SIGMASK] {
        if function.address().is_none() {
            function.find();
        }
    }
}

/// Sets the C library's errno and returns -1, or returns the value.
pub(super) fn to_c(result: Result<u64, Errno>) -> i64 {
    match result {
        Ok(value) => value as i64,
        Err(error) => {
            // SAFETY: errno is a variable of this thread.
            unsafe { *libc::__errno_location() = error.0 };
            -1
        }
    }
}
