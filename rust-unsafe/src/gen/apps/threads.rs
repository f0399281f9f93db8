use ::libc;
extern "C" {
    fn sched_getaffinity(
        __pid: __pid_t,
        __cpusetsize: size_t,
        __cpuset: *mut cpu_set_t,
    ) -> ::core::ffi::c_int;
    fn pthread_create(
        __newthread: *mut pthread_t,
        __attr: *const pthread_attr_t,
        __start_routine: Option<
            unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void,
        >,
        __arg: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    fn pthread_attr_init(__attr: *mut pthread_attr_t) -> ::core::ffi::c_int;
    fn pthread_attr_destroy(__attr: *mut pthread_attr_t) -> ::core::ffi::c_int;
    fn pthread_attr_setaffinity_np(
        __attr: *mut pthread_attr_t,
        __cpusetsize: size_t,
        __cpuset: *const cpu_set_t,
    ) -> ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn strtoul(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
        __base: ::core::ffi::c_int,
    ) -> ::core::ffi::c_ulong;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type __uint32_t = u32;
pub type __pid_t = ::core::ffi::c_int;
pub type size_t = usize;
pub type __cpu_mask = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_set_t {
    pub __bits: [__cpu_mask; 16],
}
pub type pthread_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_attr_t {
    pub __size: [::core::ffi::c_char; 56],
    pub __align: ::core::ffi::c_long,
}
pub type uint32_t = __uint32_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_list {
    pub count: uint32_t,
    pub cpus: [uint32_t; 16],
}
pub const __CPU_SETSIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const __NCPUBITS: usize = (8 as usize)
    .wrapping_mul(::core::mem::size_of::<__cpu_mask>() as usize);
pub const CPU_SETSIZE: ::core::ffi::c_int = __CPU_SETSIZE;
pub const CPU_LIST_MAX: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
#[no_mangle]
pub unsafe extern "C" fn thread_start(
    mut thread: *mut pthread_t,
    mut cpu: *const uint32_t,
    mut work: Option<
        unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void,
    >,
    mut argument: *mut ::core::ffi::c_void,
) -> ::core::ffi::c_int {
    let mut attributes: pthread_attr_t = pthread_attr_t { __size: [0; 56] };
    let mut result: ::core::ffi::c_int = pthread_attr_init(&raw mut attributes);
    if result != 0 as ::core::ffi::c_int {
        return result;
    }
    if !cpu.is_null() {
        let mut set: cpu_set_t = cpu_set_t { __bits: [0; 16] };
        ::libc::memset(
            &raw mut set as *mut ::core::ffi::c_void,
            '\0' as i32,
            ::core::mem::size_of::<cpu_set_t>() as ::libc::size_t,
        );
        let mut __cpu: size_t = *cpu as size_t;
        if __cpu.wrapping_div(8 as size_t) < ::core::mem::size_of::<cpu_set_t>() as usize
        {
            *(&raw mut set.__bits as *mut __cpu_mask)
                .offset(__cpu.wrapping_div(__NCPUBITS) as isize)
                |= (1 as ::core::ffi::c_int as __cpu_mask)
                    << __cpu.wrapping_rem(__NCPUBITS);
        } else {};
        result = pthread_attr_setaffinity_np(
            &raw mut attributes,
            ::core::mem::size_of::<cpu_set_t>() as size_t,
            &raw mut set,
        );
    }
    if result == 0 as ::core::ffi::c_int {
        result = pthread_create(thread, &raw mut attributes, work, argument);
    }
    pthread_attr_destroy(&raw mut attributes);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn cpu_list_get(
    mut list: *const cpu_list,
    mut nth: uint32_t,
) -> *const uint32_t {
    return if (*list).count > 0 as uint32_t {
        (&raw const (*list).cpus as *const uint32_t)
            .offset(nth.wrapping_rem((*list).count) as isize) as *const uint32_t
    } else {
        ::core::ptr::null::<uint32_t>()
    };
}
unsafe extern "C" fn allowed_text(
    mut allowed: *const cpu_set_t,
    mut text: *mut ::core::ffi::c_char,
    mut size: size_t,
) {
    let mut used: size_t = 0 as size_t;
    *text.offset(0 as ::core::ffi::c_int as isize) = '\0' as i32 as ::core::ffi::c_char;
    let mut cpu: uint32_t = 0 as uint32_t;
    while cpu < CPU_SETSIZE as uint32_t {
        if !(({
            let mut __cpu: size_t = cpu as size_t;
            if __cpu.wrapping_div(8 as size_t)
                < ::core::mem::size_of::<cpu_set_t>() as usize
            {
                (*(&raw const (*allowed).__bits as *const __cpu_mask)
                    .offset(__cpu.wrapping_div(__NCPUBITS) as isize)
                    & (1 as ::core::ffi::c_int as __cpu_mask)
                        << __cpu.wrapping_rem(__NCPUBITS) != 0 as __cpu_mask)
                    as ::core::ffi::c_int
            } else {
                0 as ::core::ffi::c_int
            }
        }) == 0)
        {
            let mut written: ::core::ffi::c_int = snprintf(
                text.offset(used as isize),
                size.wrapping_sub(used),
                b"%s%u\0" as *const u8 as *const ::core::ffi::c_char,
                if used > 0 as size_t {
                    b",\0" as *const u8 as *const ::core::ffi::c_char
                } else {
                    b"\0" as *const u8 as *const ::core::ffi::c_char
                },
                cpu,
            );
            if written < 0 as ::core::ffi::c_int
                || written as size_t >= size.wrapping_sub(used)
            {
                return;
            }
            used = used.wrapping_add(written as size_t);
        }
        cpu = cpu.wrapping_add(1);
    }
}
unsafe extern "C" fn add_cpu(
    mut cpu: ::core::ffi::c_ulong,
    mut list: *mut cpu_list,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut allowed: cpu_set_t = cpu_set_t { __bits: [0; 16] };
    let mut text: [::core::ffi::c_char; 512] = [0; 512];
    if sched_getaffinity(
        0 as __pid_t,
        ::core::mem::size_of::<cpu_set_t>() as size_t,
        &raw mut allowed,
    ) != 0 as ::core::ffi::c_int
    {
        snprintf(
            error,
            error_size,
            b"cannot read the CPUs of this process: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if cpu >= CPU_SETSIZE as ::core::ffi::c_ulong
        || ({
            let mut __cpu: size_t = cpu as size_t;
            (if __cpu.wrapping_div(8 as size_t)
                < ::core::mem::size_of::<cpu_set_t>() as usize
            {
                (*(&raw mut allowed.__bits as *mut __cpu_mask as *const __cpu_mask)
                    .offset(__cpu.wrapping_div(__NCPUBITS) as isize)
                    & (1 as ::core::ffi::c_int as __cpu_mask)
                        << __cpu.wrapping_rem(__NCPUBITS) != 0 as __cpu_mask)
                    as ::core::ffi::c_int
            } else {
                0 as ::core::ffi::c_int
            })
        }) == 0
    {
        allowed_text(
            &raw mut allowed,
            &raw mut text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 512]>() as size_t,
        );
        snprintf(
            error,
            error_size,
            b"CPU %lu does not exist, is offline, or is not for this process, which may use %s\0"
                as *const u8 as *const ::core::ffi::c_char,
            cpu,
            &raw mut text as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if (*list).count == CPU_LIST_MAX as uint32_t {
        snprintf(
            error,
            error_size,
            b"the list has more than %d CPUs\0" as *const u8
                as *const ::core::ffi::c_char,
            CPU_LIST_MAX,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*list).cpus[(*list).count as usize] = cpu as uint32_t;
    (*list).count = (*list).count.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_cpu(
    mut text: *mut *const ::core::ffi::c_char,
    mut cpu: *mut ::core::ffi::c_ulong,
) -> bool {
    let mut end: *mut ::core::ffi::c_char = ::core::ptr::null_mut::<
        ::core::ffi::c_char,
    >();
    if (**text as ::core::ffi::c_int) < '0' as i32
        || **text as ::core::ffi::c_int > '9' as i32
    {
        return false_0 != 0;
    }
    *cpu = strtoul(*text, &raw mut end, 10 as ::core::ffi::c_int);
    *text = end;
    return *cpu < CPU_SETSIZE as ::core::ffi::c_ulong;
}
#[no_mangle]
pub unsafe extern "C" fn cpu_list_parse(
    mut text: *const ::core::ffi::c_char,
    mut list: *mut cpu_list,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut at: *const ::core::ffi::c_char = text;
    (*list).count = 0 as uint32_t;
    loop {
        let mut first: ::core::ffi::c_ulong = 0 as ::core::ffi::c_ulong;
        if !read_cpu(&raw mut at, &raw mut first) {
            break;
        }
        let mut last: ::core::ffi::c_ulong = first;
        if *at as ::core::ffi::c_int == '-' as i32 {
            at = at.offset(1);
            if !read_cpu(&raw mut at, &raw mut last) || last < first {
                break;
            }
        }
        let mut cpu: ::core::ffi::c_ulong = first;
        while cpu <= last {
            if add_cpu(cpu, list, error, error_size) != 0 as ::core::ffi::c_int {
                return -(1 as ::core::ffi::c_int);
            }
            cpu = cpu.wrapping_add(1);
        }
        if *at as ::core::ffi::c_int == '\0' as i32 {
            return 0 as ::core::ffi::c_int;
        }
        if *at as ::core::ffi::c_int != ',' as i32 {
            break;
        }
        at = at.offset(1);
    }
    snprintf(
        error,
        error_size,
        b"a list of CPUs looks like 1,3 or 0-3, not %s\0" as *const u8
            as *const ::core::ffi::c_char,
        text,
    );
    return -(1 as ::core::ffi::c_int);
}
