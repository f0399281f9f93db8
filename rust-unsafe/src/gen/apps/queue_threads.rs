extern "C" {
    fn sched_yield() -> ::core::ffi::c_int;
    fn pthread_join(
        __th: pthread_t,
        __thread_return: *mut *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    fn pthread_mutex_init(
        __mutex: *mut pthread_mutex_t,
        __mutexattr: *const pthread_mutexattr_t,
    ) -> ::core::ffi::c_int;
    fn pthread_mutex_destroy(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_lock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_unlock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn cpu_list_get(list: *const cpu_list, nth: uint32_t) -> *const uint32_t;
    fn thread_start(
        thread: *mut pthread_t,
        cpu: *const uint32_t,
        work_0: Option<
            unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void,
        >,
        argument: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
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
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn calloc(__nmemb: size_t, __size: size_t) -> *mut ::core::ffi::c_void;
    fn free(__ptr: *mut ::core::ffi::c_void);
    fn strerror(__errnum: ::core::ffi::c_int) -> *mut ::core::ffi::c_char;
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
pub type size_t = usize;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct __pthread_internal_list {
    pub __prev: *mut __pthread_internal_list,
    pub __next: *mut __pthread_internal_list,
}
pub type __pthread_list_t = __pthread_internal_list;
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
pub type pthread_t = ::core::ffi::c_ulong;
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_mutexattr_t {
    pub __size: [::core::ffi::c_char; 4],
    pub __align: ::core::ffi::c_int,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub union pthread_mutex_t {
    pub __data: __pthread_mutex_s,
    pub __size: [::core::ffi::c_char; 40],
    pub __align: ::core::ffi::c_long,
}
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
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
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
        let mut result: ::core::ffi::c_int = thread_start(
            &raw mut (*worker).thread,
            cpu_list_get(cpus, i),
            Some(
                work
                    as unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                    ) -> *mut ::core::ffi::c_void,
            ),
            worker as *mut ::core::ffi::c_void,
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
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
