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
        work: Option<
            unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void,
        >,
        argument: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int;
    fn forwarder_give_queues(forwarder: *mut forwarder, to_threads: bool);
    fn forwarder_queue_check(
        forwarder: *mut forwarder,
        queue: uint32_t,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> ::core::ffi::c_int;
    fn now_ms() -> uint64_t;
    fn pipeline_create(
        forwarder: *mut forwarder,
        error: *mut ::core::ffi::c_char,
        error_size: size_t,
    ) -> *mut pipeline;
    fn pipeline_receive(pipeline: *mut pipeline, queue: uint32_t) -> uint32_t;
    fn pipeline_work(pipeline: *mut pipeline, queue: uint32_t) -> uint32_t;
    fn pipeline_send(pipeline: *mut pipeline, queue: uint32_t) -> uint32_t;
    fn pipeline_send_waits(pipeline: *mut pipeline, queue: uint32_t) -> bool;
    fn pipeline_limit(pipeline: *mut pipeline, packets: uint64_t);
    fn pipeline_destroy(pipeline: *mut pipeline);
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
pub struct pipeline_threads {
    pub shared: shared,
    pub pipeline: *mut pipeline,
    pub forwarder: *mut forwarder,
    pub count: uint32_t,
    pub stages: [stage; 18],
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct stage {
    pub shared: *mut shared,
    pub forwarder: *mut forwarder,
    pub pipeline: *mut pipeline,
    pub queue: uint32_t,
    pub queues: uint32_t,
    pub packets: uint64_t,
    pub thread: pthread_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct shared {
    pub lock: pthread_mutex_t,
    pub end: bool,
    pub receiving: uint32_t,
    pub working: uint32_t,
    pub sending: uint32_t,
    pub failed: bool,
    pub error: [::core::ffi::c_char; 1024],
}
pub type turn_function = Option<
    unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
>;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const EMPTY_TURNS: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const CHECK_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
pub const DRAIN_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
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
    let mut ended_0: bool = (*shared).end as ::core::ffi::c_int != 0
        || (*shared).failed as ::core::ffi::c_int != 0;
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return ended_0;
}
unsafe extern "C" fn running(
    mut shared: *mut shared,
    mut number: *const uint32_t,
) -> uint32_t {
    pthread_mutex_lock(&raw mut (*shared).lock);
    let mut count: uint32_t = *number;
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return count;
}
unsafe extern "C" fn ended(mut shared: *mut shared, mut number: *mut uint32_t) {
    pthread_mutex_lock(&raw mut (*shared).lock);
    *number = (*number).wrapping_sub(1);
    pthread_mutex_unlock(&raw mut (*shared).lock);
}
unsafe extern "C" fn round_of(
    mut pipeline: *mut pipeline,
    mut turn: turn_function,
    mut first: uint32_t,
    mut end: uint32_t,
) -> uint64_t {
    let mut total: uint64_t = 0 as uint64_t;
    let mut empty: uint32_t = 0 as uint32_t;
    let mut turns: uint32_t = TURNS_PER_LOOK as uint32_t;
    while turns > 0 as uint32_t && empty < EMPTY_TURNS as uint32_t {
        let mut count: uint32_t = 0 as uint32_t;
        let mut queue: uint32_t = first;
        while queue < end {
            count = count
                .wrapping_add(turn.expect("non-null function pointer")(pipeline, queue));
            queue = queue.wrapping_add(1);
        }
        total = total.wrapping_add(count as uint64_t);
        empty = if count > 0 as uint32_t {
            0 as uint32_t
        } else {
            empty.wrapping_add(1 as uint32_t)
        };
        turns = turns.wrapping_sub(1);
    }
    if empty == EMPTY_TURNS as uint32_t {
        sched_yield();
    }
    return total;
}
unsafe extern "C" fn check(mut stage: *mut stage) {
    let mut error: [::core::ffi::c_char; 1024] = [0; 1024];
    let mut queue: uint32_t = 0 as uint32_t;
    while queue < (*stage).queues {
        if forwarder_queue_check(
            (*stage).forwarder,
            queue,
            &raw mut error as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        ) != 0 as ::core::ffi::c_int
        {
            fail((*stage).shared, &raw mut error as *mut ::core::ffi::c_char);
        }
        queue = queue.wrapping_add(1);
    }
}
unsafe extern "C" fn receive_packets(
    mut argument: *mut ::core::ffi::c_void,
) -> *mut ::core::ffi::c_void {
    let mut stage: *mut stage = argument as *mut stage;
    let mut checked: uint64_t = now_ms();
    let mut received: uint64_t = 0 as uint64_t;
    pipeline_limit((*stage).pipeline, (*stage).packets);
    while received < (*stage).packets && !ends((*stage).shared) {
        received = received
            .wrapping_add(
                round_of(
                    (*stage).pipeline,
                    Some(
                        pipeline_receive
                            as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
                    ),
                    0 as uint32_t,
                    (*stage).queues,
                ),
            );
        let mut now: uint64_t = now_ms();
        if now.wrapping_sub(checked) >= CHECK_MS as uint64_t {
            check(stage);
            checked = now;
        }
    }
    ended((*stage).shared, &raw mut (*(*stage).shared).receiving);
    return NULL;
}
unsafe extern "C" fn work_packets(
    mut argument: *mut ::core::ffi::c_void,
) -> *mut ::core::ffi::c_void {
    let mut stage: *mut stage = argument as *mut stage;
    let mut shared: *mut shared = (*stage).shared;
    loop {
        let mut last: bool = running(shared, &raw mut (*shared).receiving)
            == 0 as uint32_t;
        if round_of(
            (*stage).pipeline,
            Some(
                pipeline_work
                    as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
            ),
            (*stage).queue,
            (*stage).queue.wrapping_add(1 as uint32_t),
        ) == 0 as uint64_t && last as ::core::ffi::c_int != 0
        {
            break;
        }
    }
    ended(shared, &raw mut (*shared).working);
    return NULL;
}
unsafe extern "C" fn send_waits(mut stage: *const stage) -> bool {
    let mut queue: uint32_t = 0 as uint32_t;
    while queue < (*stage).queues {
        if pipeline_send_waits((*stage).pipeline, queue) {
            return true_0 != 0;
        }
        queue = queue.wrapping_add(1);
    }
    return false_0 != 0;
}
unsafe extern "C" fn send_packets(
    mut argument: *mut ::core::ffi::c_void,
) -> *mut ::core::ffi::c_void {
    let mut stage: *mut stage = argument as *mut stage;
    let mut shared: *mut shared = (*stage).shared;
    let mut progress: uint64_t = now_ms();
    loop {
        let mut last: bool = running(shared, &raw mut (*shared).working)
            == 0 as uint32_t;
        let mut count: uint64_t = round_of(
            (*stage).pipeline,
            Some(
                pipeline_send
                    as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
            ),
            0 as uint32_t,
            (*stage).queues,
        );
        if count > 0 as uint64_t || !last {
            progress = now_ms();
        } else if !send_waits(stage)
            || now_ms().wrapping_sub(progress) >= DRAIN_MS as uint64_t
        {
            break;
        }
    }
    ended(shared, &raw mut (*shared).sending);
    return NULL;
}
unsafe extern "C" fn start(
    mut threads: *mut pipeline_threads,
    mut queues: uint32_t,
    mut cpus: *const cpu_list,
    mut packets: uint64_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> ::core::ffi::c_int {
    let mut i: uint32_t = 0 as uint32_t;
    while i < (2 as uint32_t).wrapping_add(queues) {
        let mut stage: *mut stage = (&raw mut (*threads).stages as *mut stage)
            .offset(i as isize) as *mut stage;
        let mut run: Option<
            unsafe extern "C" fn(*mut ::core::ffi::c_void) -> *mut ::core::ffi::c_void,
        > = Some(
            work_packets
                as unsafe extern "C" fn(
                    *mut ::core::ffi::c_void,
                ) -> *mut ::core::ffi::c_void,
        );
        if i < 2 as uint32_t {
            run = (if i == 0 as uint32_t {
                Some(
                    receive_packets
                        as unsafe extern "C" fn(
                            *mut ::core::ffi::c_void,
                        ) -> *mut ::core::ffi::c_void,
                )
            } else {
                Some(
                    send_packets
                        as unsafe extern "C" fn(
                            *mut ::core::ffi::c_void,
                        ) -> *mut ::core::ffi::c_void,
                )
            })
                as Option<
                    unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                    ) -> *mut ::core::ffi::c_void,
                >;
        }
        *stage = stage {
            shared: &raw mut (*threads).shared,
            forwarder: (*threads).forwarder,
            pipeline: (*threads).pipeline,
            queue: i.wrapping_sub(2 as uint32_t),
            queues: queues,
            packets: packets,
            thread: 0,
        };
        let mut result: ::core::ffi::c_int = thread_start(
            &raw mut (*stage).thread,
            cpu_list_get(cpus, i),
            run,
            stage as *mut ::core::ffi::c_void,
        );
        if result != 0 as ::core::ffi::c_int {
            snprintf(
                error,
                error_size,
                b"cannot start thread %u: %s\0" as *const u8
                    as *const ::core::ffi::c_char,
                i,
                strerror(result),
            );
            return -(1 as ::core::ffi::c_int);
        }
        (*threads).count = (*threads).count.wrapping_add(1);
        i = i.wrapping_add(1);
    }
    return 0 as ::core::ffi::c_int;
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_threads_start(
    mut forwarder: *mut forwarder,
    mut queues: uint32_t,
    mut cpus: *const cpu_list,
    mut packets: uint64_t,
    mut error: *mut ::core::ffi::c_char,
    mut error_size: size_t,
) -> *mut pipeline_threads {
    let mut threads: *mut pipeline_threads = calloc(
        1 as size_t,
        ::core::mem::size_of::<pipeline_threads>() as size_t,
    ) as *mut pipeline_threads;
    let mut ignored: [::core::ffi::c_char; 1024] = [0; 1024];
    if threads.is_null() {
        snprintf(
            error,
            error_size,
            b"out of memory for the threads\0" as *const u8 as *const ::core::ffi::c_char,
        );
        return ::core::ptr::null_mut::<pipeline_threads>();
    }
    (*threads).forwarder = forwarder;
    (*threads).pipeline = pipeline_create(forwarder, error, error_size);
    if (*threads).pipeline.is_null() {
        free(threads as *mut ::core::ffi::c_void);
        return ::core::ptr::null_mut::<pipeline_threads>();
    }
    pthread_mutex_init(
        &raw mut (*threads).shared.lock,
        ::core::ptr::null::<pthread_mutexattr_t>(),
    );
    (*threads).shared.receiving = 1 as uint32_t;
    (*threads).shared.working = queues;
    (*threads).shared.sending = 1 as uint32_t;
    forwarder_give_queues(forwarder, true_0 != 0);
    if start(threads, queues, cpus, packets, error, error_size)
        != 0 as ::core::ffi::c_int
    {
        let mut workers: uint32_t = if (*threads).count > 2 as uint32_t {
            (*threads).count.wrapping_sub(2 as uint32_t)
        } else {
            0 as uint32_t
        };
        pthread_mutex_lock(&raw mut (*threads).shared.lock);
        (*threads).shared.receiving = (*threads)
            .shared
            .receiving
            .wrapping_sub(
                ((*threads).count == 0 as uint32_t) as ::core::ffi::c_int as uint32_t,
            );
        (*threads).shared.working = (*threads)
            .shared
            .working
            .wrapping_sub(queues.wrapping_sub(workers));
        pthread_mutex_unlock(&raw mut (*threads).shared.lock);
        pipeline_threads_stop(
            threads,
            &raw mut ignored as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 1024]>() as size_t,
        );
        return ::core::ptr::null_mut::<pipeline_threads>();
    }
    return threads;
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_threads_ended(
    mut threads: *mut pipeline_threads,
) -> bool {
    let mut shared: *mut shared = &raw mut (*threads).shared;
    pthread_mutex_lock(&raw mut (*shared).lock);
    let mut all: bool = (*shared).sending == 0 as uint32_t
        || (*shared).failed as ::core::ffi::c_int != 0;
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return all;
}
#[no_mangle]
pub unsafe extern "C" fn pipeline_threads_stop(
    mut threads: *mut pipeline_threads,
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
            (*threads).stages[i as usize].thread,
            ::core::ptr::null_mut::<*mut ::core::ffi::c_void>(),
        );
        i = i.wrapping_add(1);
    }
    pipeline_destroy((*threads).pipeline);
    forwarder_give_queues((*threads).forwarder, false_0 != 0);
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
#[repr(C)]
pub struct pipeline {
    _opaque: [u8; 0],
}
