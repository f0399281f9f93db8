extern "C" {
    fn forwarder_give_queues(forwarder: *mut forwarder, to_threads: bool);
    fn sched_yield() -> ::core::ffi::c_int;
    fn crew_add(
        crew: *mut crew,
        stage: stage,
        work: Option<
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
    fn crew_stage_ended(crew: *const crew, stage: stage) -> bool;
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
}
pub type size_t = usize;
pub type __uint32_t = u32;
pub type __uint64_t = u64;
#[derive(Copy, Clone)]
#[repr(C)]
pub struct error {
    pub text: [::core::ffi::c_char; 1024],
}
pub type uint32_t = __uint32_t;
pub type uint64_t = __uint64_t;
pub type pthread_t = ::core::ffi::c_ulong;
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
pub struct part {
    pub crew: *const crew,
    pub forwarder: *mut forwarder,
    pub pipeline: *mut pipeline,
    pub queue: uint32_t,
    pub queues: uint32_t,
    pub packets: uint64_t,
}
pub type turn_function = Option<
    unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
>;
pub const ERROR_SIZE: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const EMPTY_TURNS: ::core::ffi::c_int = 64 as ::core::ffi::c_int;
pub const DRAIN_MS: ::core::ffi::c_int = 1000 as ::core::ffi::c_int;
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
unsafe extern "C" fn receive_packets(
    mut argument: *mut ::core::ffi::c_void,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut part: *mut part = argument as *mut part;
    let mut checked: uint64_t = now_ms();
    let mut received: uint64_t = 0 as uint64_t;
    let mut result: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    pipeline_limit((*part).pipeline, (*part).packets);
    while result == 0 as ::core::ffi::c_int && received < (*part).packets
        && !crew_ends((*part).crew)
    {
        received = received
            .wrapping_add(
                round_of(
                    (*part).pipeline,
                    Some(
                        pipeline_receive
                            as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
                    ),
                    0 as uint32_t,
                    (*part).queues,
                ),
            );
        result = check_queues(
            (*part).forwarder,
            0 as uint32_t,
            1 as uint32_t,
            (*part).queues,
            &raw mut checked,
            error,
        );
    }
    return result;
}
unsafe extern "C" fn work_packets(
    mut argument: *mut ::core::ffi::c_void,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut part: *mut part = argument as *mut part;
    let mut count: uint64_t = 0 as uint64_t;
    let mut last: bool = false_0 != 0;
    loop {
        last = crew_stage_ended((*part).crew, STAGE_RECEIVE);
        count = round_of(
            (*part).pipeline,
            Some(
                pipeline_work
                    as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
            ),
            (*part).queue,
            (*part).queue.wrapping_add(1 as uint32_t),
        );
        if !(count > 0 as uint64_t || !last) {
            break;
        }
    }
    return 0 as ::core::ffi::c_int;
}
unsafe extern "C" fn send_waits(mut part: *const part) -> bool {
    let mut queue: uint32_t = 0 as uint32_t;
    while queue < (*part).queues {
        if pipeline_send_waits((*part).pipeline, queue) {
            return true_0 != 0;
        }
        queue = queue.wrapping_add(1);
    }
    return false_0 != 0;
}
unsafe extern "C" fn send_packets(
    mut argument: *mut ::core::ffi::c_void,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut part: *mut part = argument as *mut part;
    let mut progress: uint64_t = now_ms();
    loop {
        let mut last: bool = crew_stage_ended((*part).crew, STAGE_WORK);
        let mut count: uint64_t = round_of(
            (*part).pipeline,
            Some(
                pipeline_send
                    as unsafe extern "C" fn(*mut pipeline, uint32_t) -> uint32_t,
            ),
            0 as uint32_t,
            (*part).queues,
        );
        if count > 0 as uint64_t || !last {
            progress = now_ms();
        } else if !send_waits(part)
            || now_ms().wrapping_sub(progress) >= DRAIN_MS as uint64_t
        {
            return 0 as ::core::ffi::c_int
        }
    };
}
#[no_mangle]
pub unsafe extern "C" fn forward_in_pipeline(
    mut forwarder: *mut forwarder,
    mut queues: uint32_t,
    mut cpus: *const cpu_list,
    mut packets: uint64_t,
    mut watch: *const watch,
    mut error: *mut error,
) -> ::core::ffi::c_int {
    let mut pipeline: *mut pipeline = pipeline_create(
        forwarder,
        &raw mut (*error).text as *mut ::core::ffi::c_char,
        ERROR_SIZE as size_t,
    );
    let mut parts: [part; 16] = [part {
        crew: ::core::ptr::null::<crew>(),
        forwarder: ::core::ptr::null_mut::<forwarder>(),
        pipeline: ::core::ptr::null_mut::<pipeline>(),
        queue: 0,
        queues: 0,
        packets: 0,
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
    if pipeline.is_null() {
        return -(1 as ::core::ffi::c_int);
    }
    crew_add(
        &raw mut crew,
        STAGE_RECEIVE,
        Some(
            receive_packets
                as unsafe extern "C" fn(
                    *mut ::core::ffi::c_void,
                    *mut error,
                ) -> ::core::ffi::c_int,
        ),
        (&raw mut parts as *mut part).offset(0 as ::core::ffi::c_int as isize)
            as *mut part as *mut ::core::ffi::c_void,
    );
    crew_add(
        &raw mut crew,
        STAGE_SEND,
        Some(
            send_packets
                as unsafe extern "C" fn(
                    *mut ::core::ffi::c_void,
                    *mut error,
                ) -> ::core::ffi::c_int,
        ),
        (&raw mut parts as *mut part).offset(0 as ::core::ffi::c_int as isize)
            as *mut part as *mut ::core::ffi::c_void,
    );
    let mut i: uint32_t = 0 as uint32_t;
    while i < queues {
        parts[i as usize] = part {
            crew: &raw mut crew,
            forwarder: forwarder,
            pipeline: pipeline,
            queue: i,
            queues: queues,
            packets: packets,
        };
        crew_add(
            &raw mut crew,
            STAGE_WORK,
            Some(
                work_packets
                    as unsafe extern "C" fn(
                        *mut ::core::ffi::c_void,
                        *mut error,
                    ) -> ::core::ffi::c_int,
            ),
            (&raw mut parts as *mut part).offset(i as isize) as *mut part
                as *mut ::core::ffi::c_void,
        );
        i = i.wrapping_add(1);
    }
    forwarder_give_queues(forwarder, true_0 != 0);
    let mut result: ::core::ffi::c_int = crew_run(&raw mut crew, cpus, watch, error);
    pipeline_destroy(pipeline);
    forwarder_give_queues(forwarder, false_0 != 0);
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
