//! The functions that the program calls in the C library's place.

use libc::{c_char, c_ulong, c_void, mode_t, sighandler_t, sigset_t};

use crate::entry::next::{self, functions, Answer};
use crate::entry::{files, memory, signals};
use crate::requests;

macro_rules! interpose {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $([$call:ident])? = $ours:expr;)*) => {$(
        #[no_mangle]
        #[allow(unused_unsafe)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller vouches for the arguments.
            match unsafe { $ours } {
                Some(answer) => answer.into_c() as $result,
                // SAFETY: as above.
                None => unsafe { next::$name($($argument),*) },
            }
        }
    )*};
}

functions!(interpose);

#[no_mangle]
extern "C" fn closefrom(first: i32) {
    let _ = files::close_range(first.max(0) as u32, u32::MAX, 0);
}
