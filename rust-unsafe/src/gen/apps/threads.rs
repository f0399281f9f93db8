use ::libc;
extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn forwarder_queue_check(
        forwarder: *mut forwarder,
        queue: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
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
    fn pthread_join(
        __th: pthread_t,
        __thread_return: *mut *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    fn pthread_attr_init(__attr: *mut pthread_attr_t) -> ::core::ffi::c_int;
    fn pthread_attr_destroy(__attr: *mut pthread_attr_t) -> ::core::ffi::c_int;
    fn pthread_attr_setaffinity_np(
        __attr: *mut pthread_attr_t,
        __cpusetsize: size_t,
        __cpuset: *const cpu_set_t,
    ) -> ::core::ffi::c_int;
    fn now_ms() -> uint64_t;
    fn atomic_load32_acquire(address: *const uint32_t) -> uint32_t;
    fn atomic_store32_release(address: *mut uint32_t, value: uint32_t);
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn strtoul(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
        __base: ::core::ffi::c_int,
    ) -> ::core::ffi::c_ulong;
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type size_t = usize;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __pid_t = ::core::ffi::c_int;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_list {
    pub count: uint32_t,
    pub cpus: [uint32_t; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct watch {
    pub goes_on: Option<unsafe extern "C" fn(*mut ::core::ffi::c_void) -> bool>,
    pub state: *mut ::core::ffi::c_void,
}
pub type stage = ::core::ffi::c_uint;
pub const STAGE_SEND: stage = 2;
pub const STAGE_WORK: stage = 1;
pub const STAGE_RECEIVE: stage = 0;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct crew {
    pub count: uint32_t,
    pub end: uint32_t,
    pub threads: [crew_thread; 18],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct crew_thread {
    pub crew: *mut crew,
    pub stage: stage,
    pub work: Option<
        unsafe extern "C" fn(*mut ::core::ffi::c_void, *mut error) -> ::core::ffi::c_int,
    >,
    pub part: *mut ::core::ffi::c_void,
    pub thread: pthread_t,
    pub result: ::core::ffi::c_int,
    pub error: error,
    pub ended: uint32_t,
}
pub const ERROR_SIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const __CPU_SETSIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const __NCPUBITS: usize = (8 as usize)
    .wrapping_mul(::core::mem::size_of::<__cpu_mask>() as usize);
pub const CPU_SETSIZE: ::core::ffi::c_int = __CPU_SETSIZE;
pub const CPU_LIST_MAX: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const CHECK_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
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
    mut error: *mut error,
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
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"cannot read the CPUs of this process: %s\0" as *const u8
                as *const ::core::ffi::c_char,
            strerror(*__errno_location()),
        );
        return -(1 as ::core::ffi::c_int);
    }
    if ({
        let mut __cpu: size_t = cpu as size_t;
        if __cpu.wrapping_div(8 as size_t) < ::core::mem::size_of::<cpu_set_t>() as usize
        {
            (*(&raw mut allowed.__bits as *mut __cpu_mask as *const __cpu_mask)
                .offset(__cpu.wrapping_div(__NCPUBITS) as isize)
                & (1 as ::core::ffi::c_int as __cpu_mask)
                    << __cpu.wrapping_rem(__NCPUBITS) != 0 as __cpu_mask)
                as ::core::ffi::c_int
        } else {
            0 as ::core::ffi::c_int
        }
    }) == 0
    {
        allowed_text(
            &raw mut allowed,
            &raw mut text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 512]>() as size_t,
        );
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"CPU %lu does not exist, is offline, or is not for this process, which may use %s\0"
                as *const u8 as *const ::core::ffi::c_char,
            cpu,
            &raw mut text as *mut ::core::ffi::c_char,
        );
        return -(1 as ::core::ffi::c_int);
    }
    if (*list).count == CPU_LIST_MAX as uint32_t {
        snprintf(
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"the list has more than %d CPUs\0" as *const u8
                as *const ::core::ffi::c_char,
            16 as ::core::ffi::c_int,
        );
        return -(1 as ::core::ffi::c_int);
    }
    (*list).cpus[(*list).count as usize] = cpu as uint32_t;
    (*list).count = (*list).count.wrapping_add(1);
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn read_cpu(
    mut text: *const ::core::ffi::c_char,
    mut cpu: *mut ::core::ffi::c_ulong,
) -> *const ::core::ffi::c_char {
    let mut end: *mut ::core::ffi::c_char = ::core::ptr::null_mut::<
        ::core::ffi::c_char,
    >();
    if (*text as ::core::ffi::c_int) < '0' as i32
        || *text as ::core::ffi::c_int > '9' as i32
    {
        return ::core::ptr::null::<::core::ffi::c_char>();
    }
    *cpu = strtoul(text, &raw mut end, 10 as ::core::ffi::c_int);
    return if *cpu < CPU_SETSIZE as ::core::ffi::c_ulong {
        end
    } else {
        ::core::ptr::null_mut::<::core::ffi::c_char>()
    };
}
unsafe extern "C" fn read_range(
    mut text: *const ::core::ffi::c_char,
    mut first: *mut ::core::ffi::c_ulong,
    mut last: *mut ::core::ffi::c_ulong,
) -> *const ::core::ffi::c_char {
    let mut end: *const ::core::ffi::c_char = read_cpu(text, first);
    *last = *first;
    if !end.is_null() && *end as ::core::ffi::c_int == '-' as i32 {
        end = read_cpu(end.offset(1 as ::core::ffi::c_int as isize), last);
    }
    return if !end.is_null() && *last >= *first
        && (*end as ::core::ffi::c_int == '\0' as i32
            || *end as ::core::ffi::c_int == ',' as i32)
    {
        end
    } else {
        ::core::ptr::null::<::core::ffi::c_char>()
    };
}
#[no_mangle]
pub unsafe extern "C" fn cpu_list_parse(
    mut text: *const ::core::ffi::c_char,
    mut list: *mut cpu_list,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut at: *const ::core::ffi::c_char = text;
    (*list).count = 0 as uint32_t;
    loop {
        let mut first: ::core::ffi::c_ulong = 0 as ::core::ffi::c_ulong;
        let mut last: ::core::ffi::c_ulong = 0 as ::core::ffi::c_ulong;
        at = read_range(at, &raw mut first, &raw mut last);
        if at.is_null() {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"a list of CPUs looks like 1,3 or 0-3, not %.900s\0" as *const u8
                    as *const ::core::ffi::c_char,
                text,
            );
            return -(1 as ::core::ffi::c_int);
        }
        let mut cpu: ::core::ffi::c_ulong = first;
        while cpu <= last {
            if add_cpu(cpu, list, error) != 0 as ::core::ffi::c_int {
                return -(1 as ::core::ffi::c_int);
            }
            cpu = cpu.wrapping_add(1);
        }
        let fresh0 = at;
        at = at.offset(1);
        if !(*fresh0 as ::core::ffi::c_int == ',' as i32) {
            break;
        }
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn run_thread(
    mut argument: *mut ::core::ffi::c_void,
) -> *mut ::core::ffi::c_void {
    let mut thread: *mut crew_thread = argument as *mut crew_thread;
    (*thread).result = (*thread)
        .work
        .expect("non-null function pointer")((*thread).part, &raw mut (*thread).error);
    if (*thread).result != 0 as ::core::ffi::c_int {
        atomic_store32_release(&raw mut (*(*thread).crew).end, 1 as uint32_t);
    }
    atomic_store32_release(&raw mut (*thread).ended, 1 as uint32_t);
    return NULL;
}
unsafe extern "C" fn start_thread(
    mut thread: *mut crew_thread,
    mut cpus: *const cpu_list,
    mut nth: uint32_t,
) -> ::core::ffi::c_int {
    let mut attributes: pthread_attr_t = pthread_attr_t { __size: [0; 56] };
    let mut result: ::core::ffi::c_int = pthread_attr_init(&raw mut attributes);
    if result != 0 as ::core::ffi::c_int {
        return result;
    }
    if (*cpus).count > 0 as uint32_t {
        let mut set: cpu_set_t = cpu_set_t { __bits: [0; 16] };
        ::libc::memset(
            &raw mut set as *mut ::core::ffi::c_void,
            '\0' as i32,
            ::core::mem::size_of::<cpu_set_t>() as ::libc::size_t,
        );
        let mut __cpu: size_t = (*cpus).cpus[nth.wrapping_rem((*cpus).count) as usize]
            as size_t;
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
        result = pthread_create(
            &raw mut (*thread).thread,
            &raw mut attributes,
            Some(
                run_thread
                    as unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                    ) -> *mut ::core::ffi::c_void,
            ),
            thread as *mut ::core::ffi::c_void,
        );
    }
    pthread_attr_destroy(&raw mut attributes);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn crew_add(
    mut crew: *mut crew,
    mut stage: stage,
    mut work: Option<
        unsafe extern "C" fn(*mut ::core::ffi::c_void, *mut error) -> ::core::ffi::c_int,
    >,
    mut part: *mut ::core::ffi::c_void,
) {
    (*crew).threads[(*crew).count as usize] = crew_thread {
        crew: crew,
        stage: stage,
        work: work,
        part: part,
        thread: 0,
        result: 0,
        error: error { text: [0; 1024] },
        ended: 0,
    };
    (*crew).count = (*crew).count.wrapping_add(1);
}
unsafe extern "C" fn start_all(
    mut crew: *mut crew,
    mut cpus: *const cpu_list,
    mut error: *mut error,
) -> uint32_t {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*crew).count {
        let mut result: ::core::ffi::c_int = start_thread(
            (&raw mut (*crew).threads as *mut crew_thread).offset(i as isize)
                as *mut crew_thread,
            cpus,
            i,
        );
        if result != 0 as ::core::ffi::c_int {
            snprintf(
                &raw mut (*error).text as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
                b"cannot start thread %u: %s\0" as *const u8
                    as *const ::core::ffi::c_char,
                i,
                strerror(result),
            );
            return i;
        }
        i = i.wrapping_add(1);
    }
    return (*crew).count;
}
unsafe extern "C" fn all_ended(mut crew: *const crew) -> bool {
    return crew_stage_ended(crew, STAGE_RECEIVE) as ::core::ffi::c_int != 0
        && crew_stage_ended(crew, STAGE_WORK) as ::core::ffi::c_int != 0
        && crew_stage_ended(crew, STAGE_SEND) as ::core::ffi::c_int != 0;
}
#[no_mangle]
pub unsafe extern "C" fn crew_run(
    mut crew: *mut crew,
    mut cpus: *const cpu_list,
    mut watch: *const watch,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut started: uint32_t = start_all(crew, cpus, error);
    let mut result: ::core::ffi::c_int = if started == (*crew).count {
        0 as ::core::ffi::c_int
    } else {
        -(1 as ::core::ffi::c_int)
    };
    let mut i: uint32_t = started;
    while i < (*crew).count {
        atomic_store32_release(
            &raw mut (*(&raw mut (*crew).threads as *mut crew_thread).offset(i as isize))
                .ended,
            1 as uint32_t,
        );
        i = i.wrapping_add(1);
    }
    while result == 0 as ::core::ffi::c_int && !crew_ends(crew) && !all_ended(crew)
        && (*watch).goes_on.expect("non-null function pointer")((*watch).state)
            as ::core::ffi::c_int != 0
    {}
    atomic_store32_release(&raw mut (*crew).end, 1 as uint32_t);
    let mut i_0: uint32_t = 0 as uint32_t;
    while i_0 < started {
        let mut thread: *const crew_thread = (&raw mut (*crew).threads
            as *mut crew_thread)
            .offset(i_0 as isize) as *mut crew_thread;
        pthread_join(
            (*thread).thread,
            ::core::ptr::null_mut::<*mut ::core::ffi::c_void>(),
        );
        if (*thread).result != 0 as ::core::ffi::c_int
            && result == 0 as ::core::ffi::c_int
        {
            result = -(1 as ::core::ffi::c_int);
            *error = (*thread).error;
        }
        i_0 = i_0.wrapping_add(1);
    }
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn check_queues(
    mut forwarder: *mut forwarder,
    mut first: uint32_t,
    mut step: uint32_t,
    mut queues: uint32_t,
    mut checked: *mut uint64_t,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut now: uint64_t = now_ms();
    if now.wrapping_sub(*checked) < CHECK_MS as uint64_t {
        return 0 as ::core::ffi::c_int;
    }
    *checked = now;
    let mut queue: uint32_t = first;
    while queue < queues {
        if forwarder_queue_check(
            forwarder,
            queue,
            &raw mut (*error).text as *mut ::core::ffi::c_char,
            ERROR_SIZE as size_t,
        ) != 0 as ::core::ffi::c_int
        {
            return -(1 as ::core::ffi::c_int);
        }
        queue = queue.wrapping_add(step);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn crew_ends(mut crew: *const crew) -> bool {
    return atomic_load32_acquire(&raw const (*crew).end) != 0 as uint32_t;
}
#[no_mangle]
pub unsafe extern "C" fn crew_stage_ended(
    mut crew: *const crew,
    mut stage: stage,
) -> bool {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*crew).count {
        let mut thread: *const crew_thread = (&raw const (*crew).threads
            as *const crew_thread)
            .offset(i as isize) as *const crew_thread;
        if (*thread).stage as ::core::ffi::c_uint == stage as ::core::ffi::c_uint
            && atomic_load32_acquire(&raw const (*thread).ended) == 0 as uint32_t
        {
            return false_0 != 0;
        }
        i = i.wrapping_add(1);
    }
    return true_0 != 0;
}
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
