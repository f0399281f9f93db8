extern "C" {
    fn forwarder_give_queues(forwarder: *mut forwarder, to_threads: bool);
    fn forwarder_queue_turn(forwarder: *mut forwarder, queue: uint32_t) -> uint32_t;
    fn forwarder_tuned_queue_turn(
        forwarder: *mut forwarder,
        queue: uint32_t,
    ) -> uint32_t;
    fn forwarder_agent_queue_turn(
        forwarder: *mut forwarder,
        queue: uint32_t,
    ) -> uint32_t;
    fn forwarder_queue_limit(
        forwarder: *mut forwarder,
        queue: uint32_t,
        packets: uint64_t,
    );
    fn sched_yield() -> ::core::ffi::c_int;
    fn pthread_mutex_init(
        __mutex: *mut pthread_mutex_t,
        __mutexattr: *const pthread_mutexattr_t,
    ) -> ::core::ffi::c_int;
    fn pthread_mutex_destroy(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_lock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn pthread_mutex_unlock(__mutex: *mut pthread_mutex_t) -> ::core::ffi::c_int;
    fn crew_add(
        crew: *mut crew,
        stage: stage,
        work_0: Option<
            unsafe extern "C" fn(
                *mut ::core::ffi::c_void,
                *mut error,
            ) -> ::core::ffi::c_int,
        >,
        part: *mut ::core::ffi::c_void,
    );
    fn crew_run(
        crew: *mut crew,
        cpus: *const cpu_list,
        watch: *const watch,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn check_queues(
        forwarder: *mut forwarder,
        first: uint32_t,
        step: uint32_t,
        queues: uint32_t,
        checked: *mut uint64_t,
        error: *mut error,
    ) -> ::core::ffi::c_int;
    fn crew_ends(crew: *const crew) -> bool;
    fn now_ms() -> uint64_t;
    fn sleep_us(microseconds: uint32_t);
}
pub type __uint32_t = u32;
pub type __uint64_t = u64;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type forwarder_path = ::core::ffi::c_uint;
pub const FORWARDER_PATH_AGENT: forwarder_path = 3;
pub const FORWARDER_PATH_TUNED: forwarder_path = 2;
pub const FORWARDER_PATH_STRIDE: forwarder_path = 1;
pub const FORWARDER_PATH_DEFAULT: forwarder_path = 0;
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct shared {
    pub lock: pthread_mutex_t,
    pub left: uint64_t,
    pub claimed: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct worker {
    pub crew: *const crew,
    pub shared: *mut shared,
    pub forwarder: *mut forwarder,
    pub turn: Option<unsafe extern "C" fn(*mut forwarder, uint32_t) -> uint32_t>,
    pub first: uint32_t,
    pub step: uint32_t,
    pub queues: uint32_t,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const CLAIM: ::core::ffi::c_int = 16384 as ::core::ffi::c_int;
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
unsafe extern "C" fn is_used_up(mut shared: *mut shared) -> bool {
    pthread_mutex_lock(&raw mut (*shared).lock);
    let mut used_up: bool = (*shared).left == 0 as uint64_t
        && (*shared).claimed == 0 as uint64_t;
    pthread_mutex_unlock(&raw mut (*shared).lock);
    return used_up;
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
            let mut count: uint32_t = (*worker)
                .turn
                .expect("non-null function pointer")((*worker).forwarder, queue_0);
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
unsafe extern "C" fn work(
    mut part: *mut ::core::ffi::c_void,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut worker: *mut worker = part as *mut worker;
    let mut checked: uint64_t = now_ms();
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    while result == 0 as ::core::ffi::c_int && !crew_ends((*worker).crew)
        && !is_used_up((*worker).shared)
    {
        if forward_round(worker) == 0 as uint64_t {
            sched_yield();
        }
        result = check_queues(
            (*worker).forwarder,
            (*worker).first,
            (*worker).step,
            (*worker).queues,
            &raw mut checked,
            error,
        );
    }
    return result;
}
#[no_mangle]
pub unsafe extern "C" fn forward_in_threads(
    mut forwarder: *mut forwarder,
    mut path: uint32_t,
    mut queues: uint32_t,
    mut cpus: *const cpu_list,
    mut packets: uint64_t,
    mut watch: *const watch,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut shared: shared = shared {
        lock: pthread_mutex_t {
            __data: __pthread_mutex_s {
                __lock: 0,
                __count: 0,
                __owner: 0,
                __nusers: 0,
                __kind: 0,
                __spins: 0,
                __elision: 0,
                __list: __pthread_internal_list {
                    __prev: ::core::ptr::null_mut::<__pthread_internal_list>(),
                    __next: ::core::ptr::null_mut::<__pthread_internal_list>(),
                },
            },
        },
        left: packets,
        claimed: 0,
    };
    let mut workers: [worker; 16] = [worker {
        crew: ::core::ptr::null::<crew>(),
        shared: ::core::ptr::null_mut::<shared>(),
        forwarder: ::core::ptr::null_mut::<forwarder>(),
        turn: None,
        first: 0,
        step: 0,
        queues: 0,
    }; 16];
    let mut crew: crew = crew {
        count: 0 as uint32_t,
        end: 0,
        threads: [crew_thread {
            crew: ::core::ptr::null_mut::<crew>(),
            stage: STAGE_RECEIVE,
            work: None,
            part: ::core::ptr::null_mut::<::core::ffi::c_void>(),
            thread: 0,
            result: 0,
            error: error { text: [0; 1024] },
            ended: 0,
        }; 18],
    };
    let mut count: uint32_t = if (*cpus).count > 0 as uint32_t {
        (*cpus).count
    } else {
        queues
    };
    let mut i: uint32_t = 0 as uint32_t;
    while i < count {
        workers[i as usize] = worker {
            crew: &raw mut crew,
            shared: &raw mut shared,
            forwarder: forwarder,
            turn: if path == FORWARDER_PATH_TUNED as ::core::ffi::c_int as uint32_t {
                Some(
                    forwarder_tuned_queue_turn
                        as unsafe extern "C" fn(*mut forwarder, uint32_t) -> uint32_t,
                )
            } else if path == FORWARDER_PATH_AGENT as ::core::ffi::c_int as uint32_t {
                Some(
                    forwarder_agent_queue_turn
                        as unsafe extern "C" fn(*mut forwarder, uint32_t) -> uint32_t,
                )
            } else {
                Some(
                    forwarder_queue_turn
                        as unsafe extern "C" fn(*mut forwarder, uint32_t) -> uint32_t,
                )
            },
            first: i,
            step: count,
            queues: queues,
        };
        crew_add(
            &raw mut crew,
            STAGE_RECEIVE,
            Some(
                work
                    as unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                        *mut error,
                    ) -> ::core::ffi::c_int,
            ),
            (&raw mut workers as *mut worker).offset(i as isize) as *mut worker
                as *mut ::core::ffi::c_void,
        );
        i = i.wrapping_add(1);
    }
    pthread_mutex_init(&raw mut shared.lock, ::core::ptr::null::<pthread_mutexattr_t>());
    forwarder_give_queues(forwarder, true_0 != 0);
    let mut result: ::core::ffi::c_int = crew_run(&raw mut crew, cpus, watch, error);
    forwarder_give_queues(forwarder, false_0 != 0);
    pthread_mutex_destroy(&raw mut shared.lock);
    return result;
}
#[repr(C)]
pub struct forwarder {
    _opaque: [u8; 0],
}
