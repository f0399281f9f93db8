use ::libc;
extern "C" {
    fn forwarder_give_queues(forwarder: *mut forwarder, to_threads: bool);
    fn forwarder_queue_turn(forwarder: *mut forwarder, queue: uint32_t) -> uint32_t;
    fn forwarder_queue_limit(
        forwarder: *mut forwarder,
        queue: uint32_t,
        packets: uint64_t,
    );
    fn forwarder_queue_check(
        forwarder: *mut forwarder,
        queue: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn sched_yield() -> ::core::ffi::c_int;
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
    fn pthread_mutex_init(
        __mutex: *mut pthread_mutex_t,
        __mutexattr: *const pthread_mutexattr_t,
    ) -> ::core::ffi::c_int;
    fn pthread_mutex_destroy(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_lock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_unlock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
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
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type size_t = usize;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type __pid_t = ::core::ffi::c_int;
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_list {
    pub count: uint32_t,
    pub cpus: [uint32_t; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct cpu_set_t {
    pub __bits: [__cpu_mask; 16],
}
pub type __cpu_mask = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct queue_threads {
    pub shared: shared,
    pub count: uint32_t,
    pub workers: [worker; 16],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct worker {
    pub shared: *mut shared,
    pub forwarder: *mut forwarder,
    pub first: uint32_t,
    pub step: uint32_t,
    pub queues: uint32_t,
    pub thread: pthread_t,
}
pub type pthread_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct shared {
    pub lock: pthread_mutex_t,
    pub end: bool,
    pub left: uint64_t,
    pub claimed: uint64_t,
    pub failed: bool,
    pub error: [::core::ffi::c_char; 1024],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_mutex_t {
    pub __data: __pthread_mutex_s,
    pub __size: [::core::ffi::c_char; 40],
    pub __align: ::core::ffi::c_long,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __pthread_mutex_s {
    pub __lock: ::core::ffi::c_int,
    pub __count: ::core::ffi::c_uint,
    pub __owner: ::core::ffi::c_int,
    pub __nusers: ::core::ffi::c_uint,
    pub __kind: ::core::ffi::c_int,
    pub __spins: ::core::ffi::c_short,
    pub __elision: ::core::ffi::c_short,
    pub __list: __pthread_list_t,
}
pub type __pthread_list_t = __pthread_internal_list;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __pthread_internal_list {
    pub __prev: *mut __pthread_internal_list,
    pub __next: *mut __pthread_internal_list,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_attr_t {
    pub __size: [::core::ffi::c_char; 56],
    pub __align: ::core::ffi::c_long,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_mutexattr_t {
    pub __size: [::core::ffi::c_char; 4],
    pub __align: ::core::ffi::c_int,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_MAX_QUEUES: ::core::ffi::c_int = 16 as ::core::ffi::c_int;
pub const __CPU_SETSIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const __NCPUBITS: usize = (8 as usize)
    .wrapping_mul(::core::mem::size_of::<__cpu_mask>() as usize);
pub const CPU_SETSIZE: ::core::ffi::c_int = __CPU_SETSIZE;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const CLAIM: ::core::ffi::c_int = 16384 as ::core::ffi::c_int;
pub const CHECK_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const RETRY_US: ::core::ffi::c_int = 100 as ::core::ffi::c_int;
unsafe extern "C" fn claim(mut shared: *mut shared) -> uint64_t {
    let mut taken: uint64_t = UINT64_MAX as uint64_t;
    pthread_mutex_lock(&raw mut (*shared).lock);
    if (*shared).left != UINT64_MAX as uint64_t {
        taken = if (*shared).left < CLAIM as uint64_t {
            (*shared).left
        } else {
            CLAIM as uint64_t
        };
        (*shared).left = (*shared).left.wrapping_sub(taken);
        (*shared).claimed = (*shared).claimed.wrapping_add(taken);
    }
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return taken;
}
unsafe extern "C" fn settle(
    mut shared: *mut shared,
    mut taken: uint64_t,
    mut received: uint64_t,
) {
    if taken == UINT64_MAX as uint64_t {
        return;
    }
    pthread_mutex_lock(&raw mut (*shared).lock);
    (*shared).claimed = (*shared).claimed.wrapping_sub(taken);
    (*shared).left = (*shared).left.wrapping_add(taken.wrapping_sub(received));
    pthread_mutex_unlock(&raw mut (*shared).lock);
}
unsafe extern "C" fn fail(
    mut shared: *mut shared,
    mut error: *const ::core::ffi::c_char,
) {
    pthread_mutex_lock(&raw mut (*shared).lock);
    if !(*shared).failed {
        (*shared).failed = true_0 != 0;
        snprintf(
            &raw mut (*shared).error as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            error,
        );
    }
    pthread_mutex_unlock(&raw mut (*shared).lock);
}
unsafe extern "C" fn ends(mut shared: *mut shared) -> bool {
    pthread_mutex_lock(&raw mut (*shared).lock);
    let mut ended: bool = (*shared).end as ::core::ffi::c_int != 0
        || (*shared).failed as ::core::ffi::c_int != 0
        || (*shared).left == 0 as uint64_t && (*shared).claimed == 0 as uint64_t;
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return ended;
}
unsafe extern "C" fn forward_round(mut worker: *mut worker) -> uint64_t {
    let mut taken: [uint64_t; 16] = [
        0 as ::core::ffi::c_int as uint64_t,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let mut received: [uint64_t; 16] = [
        0 as ::core::ffi::c_int as uint64_t,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let mut left: uint64_t = 0 as uint64_t;
    let mut total: uint64_t = 0 as uint64_t;
    let mut queue: uint32_t = (*worker).first;
    while queue < (*worker).queues {
        taken[queue as usize] = claim((*worker).shared);
        left = if taken[queue as usize] > (UINT64_MAX as uint64_t).wrapping_sub(left) {
            UINT64_MAX as uint64_t
        } else {
            left.wrapping_add(taken[queue as usize])
        };
        forwarder_queue_limit((*worker).forwarder, queue, taken[queue as usize]);
        queue = queue.wrapping_add((*worker).step);
    }
    let mut turns: uint32_t = TURNS_PER_LOOK as uint32_t;
    while turns > 0 as uint32_t && total < left {
        let mut queue_0: uint32_t = (*worker).first;
        while queue_0 < (*worker).queues {
            let mut count: uint32_t = forwarder_queue_turn((*worker).forwarder, queue_0);
            received[queue_0 as usize] = received[queue_0 as usize]
                .wrapping_add(count as uint64_t);
            total = total.wrapping_add(count as uint64_t);
            queue_0 = queue_0.wrapping_add((*worker).step);
        }
        turns = turns.wrapping_sub(1);
    }
    let mut queue_1: uint32_t = (*worker).first;
    while queue_1 < (*worker).queues {
        settle((*worker).shared, taken[queue_1 as usize], received[queue_1 as usize]);
        queue_1 = queue_1.wrapping_add((*worker).step);
    }
    if left == 0 as uint64_t {
        sleep_us(RETRY_US as uint32_t);
    }
    return total;
}
unsafe extern "C" fn check(mut worker: *mut worker) {
    let mut error: [::core::ffi::c_char; 1024] = [0; 1024];
    let mut queue: uint32_t = (*worker).first;
    while queue < (*worker).queues {
        if forwarder_queue_check(
            (*worker).forwarder,
            queue,
            &raw mut error as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        ) != 0 as ::core::ffi::c_int
        {
            fail((*worker).shared, &raw mut error as *mut ::core::ffi::c_char);
        }
        queue = queue.wrapping_add((*worker).step);
    }
}
unsafe extern "C" fn work(
    mut argument: *mut ::core::ffi::c_void,
) -> *mut ::core::ffi::c_void {
    let mut worker: *mut worker = argument as *mut worker;
    let mut checked: uint64_t = now_ms();
    while !ends((*worker).shared) {
        if forward_round(worker) == 0 as uint64_t {
            sched_yield();
        }
        let mut now: uint64_t = now_ms();
        if now.wrapping_sub(checked) >= CHECK_MS as uint64_t {
            check(worker);
            checked = now;
        }
    }
    return NULL;
}
unsafe extern "C" fn start(
    mut worker: *mut worker,
    mut cpu: *const uint32_t,
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
        result = pthread_create(
            &raw mut (*worker).thread,
            &raw mut attributes,
            Some(
                work
                    as unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                    ) -> *mut ::core::ffi::c_void,
            ),
            worker as *mut ::core::ffi::c_void,
        );
    }
    pthread_attr_destroy(&raw mut attributes);
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn queue_threads_start(
    mut forwarder: *mut forwarder,
    mut queues: uint32_t,
    mut cpus: *const cpu_list,
    mut packets: uint64_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut queue_threads {
    let mut threads: *mut queue_threads = calloc(
        1 as size_t,
        ::core::mem::size_of::<queue_threads>() as size_t,
    ) as *mut queue_threads;
    let mut count: uint32_t = if (*cpus).count > 0 as uint32_t {
        (*cpus).count
    } else {
        queues
    };
    if threads.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the threads\0" as *const u8 as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<queue_threads>();
    }
    pthread_mutex_init(
        &raw mut (*threads).shared.lock,
        ::core::ptr::null::<pthread_mutexattr_t>(),
    );
    (*threads).shared.left = packets;
    forwarder_give_queues(forwarder, true_0 != 0);
    let mut i: uint32_t = 0 as uint32_t;
    while i < count && i < queues {
        let mut worker: *mut worker = (&raw mut (*threads).workers as *mut worker)
            .offset(i as isize) as *mut worker;
        (*worker).shared = &raw mut (*threads).shared;
        (*worker).forwarder = forwarder;
        (*worker).first = i;
        (*worker).step = count;
        (*worker).queues = queues;
        let mut result: ::core::ffi::c_int = start(
            worker,
            if (*cpus).count > 0 as uint32_t {
                (&raw const (*cpus).cpus as *const uint32_t).offset(i as isize)
                    as *const uint32_t
            } else {
                ::core::ptr::null::<uint32_t>()
            },
        );
        if result != 0 as ::core::ffi::c_int {
            let mut ignored: [::core::ffi::c_char; 1024] = [0; 1024];
            snprintf(
                error,
                error_size,
                b"cannot start thread %u: %s\0" as *const u8
                    as *const ::core::ffi::c_char,
                i,
                strerror(result),
            );
            queue_threads_stop(
                threads,
                &raw mut ignored as *mut ::core::ffi::c_char,
                ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
            );
            return ::core::ptr::null_mut::<queue_threads>();
        }
        (*threads).count = (*threads).count.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    return threads;
}
#[no_mangle]
pub unsafe extern "C" fn queue_threads_ended(mut threads: *mut queue_threads) -> bool {
    return ends(&raw mut (*threads).shared);
}
#[no_mangle]
pub unsafe extern "C" fn queue_threads_stop(
    mut threads: *mut queue_threads,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    pthread_mutex_lock(&raw mut (*threads).shared.lock);
    (*threads).shared.end = true_0 != 0;
    pthread_mutex_unlock(&raw mut (*threads).shared.lock);
    let mut i: uint32_t = 0 as uint32_t;
    while i < (*threads).count {
        pthread_join(
            (*threads).workers[i as usize].thread,
            ::core::ptr::null_mut::<*mut ::core::ffi::c_void>(),
        );
        i = i.wrapping_add(1);
    }
    forwarder_give_queues(
        (*threads).workers[0 as ::core::ffi::c_int as usize].forwarder,
        false_0 != 0,
    );
    if (*threads).shared.failed {
        snprintf(
            error,
            error_size,
            b"%s\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut (*threads).shared.error as *mut ::core::ffi::c_char,
        );
        result = -(1 as ::core::ffi::c_int);
    }
    pthread_mutex_destroy(&raw mut (*threads).shared.lock);
    free(threads as *mut ::core::ffi::c_void);
    return result;
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
    if (*list).count == FORWARDER_MAX_QUEUES as uint32_t {
        snprintf(
            error,
            error_size,
            b"the list has more than %d CPUs\0" as *const u8
                as *const ::core::ffi::c_char,
            FORWARDER_MAX_QUEUES,
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
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
