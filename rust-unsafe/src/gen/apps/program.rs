extern "C" {
    fn snprintf(
        __s: *mut ::core::ffi::c_char,
        __maxlen: size_t,
        __format: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    fn dprintf(
        __fd: ::core::ffi::c_int,
        __fmt: *const ::core::ffi::c_char,
        ...
    ) -> ::core::ffi::c_int;
    static mut optarg: *mut ::core::ffi::c_char;
    static mut optind: ::core::ffi::c_int;
    static mut opterr: ::core::ffi::c_int;
    fn __errno_location() -> *mut ::core::ffi::c_int;
    fn getopt_long(
        ___argc: ::core::ffi::c_int,
        ___argv: *const *mut ::core::ffi::c_char,
        __shortopts: *const ::core::ffi::c_char,
        __longopts: *const option,
        __longind: *mut ::core::ffi::c_int,
    ) -> ::core::ffi::c_int;
    fn strtod(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
    ) -> ::core::ffi::c_double;
    fn strtoull(
        __nptr: *const ::core::ffi::c_char,
        __endptr: *mut *mut ::core::ffi::c_char,
        __base: ::core::ffi::c_int,
    ) -> ::core::ffi::c_ulonglong;
    fn strcspn(
        __s: *const ::core::ffi::c_char,
        __reject: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_ulong;
    fn strspn(
        __s: *const ::core::ffi::c_char,
        __accept: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_ulong;
    fn project_version() -> *const ::core::ffi::c_char;
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
#[derive(Copy, Clone)]
#[repr(C)]
pub struct program {
    pub name: *const ::core::ffi::c_char,
    pub usage: *const ::core::ffi::c_char,
    pub arguments: ::core::ffi::c_int,
    pub needs: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct common_options {
    pub batch: uint32_t,
    pub ring_size: uint32_t,
    pub packets: uint64_t,
    pub duration: uint64_t,
    pub connect_timeout_ms: uint32_t,
    pub link_timeout_ms: uint32_t,
    pub json: *const ::core::ffi::c_char,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct option_row {
    pub name: *const ::core::ffi::c_char,
    pub value: *const ::core::ffi::c_char,
    pub help: *const ::core::ffi::c_char,
    pub set: Option<
        unsafe extern "C" fn(*const option_row, *const ::core::ffi::c_char) -> bool,
    >,
    pub place: *mut ::core::ffi::c_void,
    pub must_be: *const ::core::ffi::c_char,
    pub low: uint64_t,
    pub high: uint64_t,
}
#[derive(Copy, Clone)]
#[repr(C)]
pub struct option {
    pub name: *const ::core::ffi::c_char,
    pub has_arg: ::core::ffi::c_int,
    pub flag: *mut ::core::ffi::c_int,
    pub val: ::core::ffi::c_int,
}
pub const true_0: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const false_0: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const UINT64_MAX: ::core::ffi::c_ulong = 18446744073709551615
    as ::core::ffi::c_ulong;
pub const FORWARDER_DEFAULT_BATCH: ::core::ffi::c_int = 32 as ::core::ffi::c_int;
pub const FORWARDER_DEFAULT_RING_SIZE: ::core::ffi::c_int = 512 as ::core::ffi::c_int;
pub const FORWARDER_DEFAULT_CONNECT_TIMEOUT_MS: ::core::ffi::c_int = 5000
    as ::core::ffi::c_int;
pub const FORWARDER_DEFAULT_LINK_TIMEOUT_MS: ::core::ffi::c_int = 30000
    as ::core::ffi::c_int;
pub const STDOUT_FILENO: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const STDERR_FILENO: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const EXIT_RUN_TIME: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const EXIT_USAGE: ::core::ffi::c_int = 2 as ::core::ffi::c_int;
pub const NANOSECONDS: ::core::ffi::c_ulonglong = 1000000000 as ::core::ffi::c_ulonglong;
pub const TURNS_PER_LOOK: ::core::ffi::c_int = 1024 as ::core::ffi::c_int;
pub const MAX_OPTIONS: ::core::ffi::c_int = 24 as ::core::ffi::c_int;
pub const no_argument: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const required_argument: ::core::ffi::c_int = 1 as ::core::ffi::c_int;
pub const NULL: *mut ::core::ffi::c_void = ::core::ptr::null_mut::<
    ::core::ffi::c_void,
>();
pub const EXIT_SUCCESS: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
pub const HELP_COLUMN: ::core::ffi::c_int = 23 as ::core::ffi::c_int;
pub const MAX_TIMEOUT: ::core::ffi::c_int = 3600 as ::core::ffi::c_int;
#[no_mangle]
pub unsafe extern "C" fn common_options_default() -> common_options {
    return common_options {
        batch: FORWARDER_DEFAULT_BATCH as uint32_t,
        ring_size: FORWARDER_DEFAULT_RING_SIZE as uint32_t,
        packets: UINT64_MAX as uint64_t,
        duration: UINT64_MAX as uint64_t,
        connect_timeout_ms: FORWARDER_DEFAULT_CONNECT_TIMEOUT_MS as uint32_t,
        link_timeout_ms: FORWARDER_DEFAULT_LINK_TIMEOUT_MS as uint32_t,
        json: ::core::ptr::null::<::core::ffi::c_char>(),
    };
}
unsafe extern "C" fn parse_number(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
    mut number: *mut uint64_t,
) -> bool {
    let mut end: *mut ::core::ffi::c_char = ::core::ptr::null_mut::<
        ::core::ffi::c_char,
    >();
    if (*text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int)
        < '0' as i32
        || *text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            > '9' as i32
    {
        return false_0 != 0;
    }
    *__errno_location() = 0 as ::core::ffi::c_int;
    *number = strtoull(text, &raw mut end, 10 as ::core::ffi::c_int) as uint64_t;
    return *__errno_location() == 0 as ::core::ffi::c_int
        && *end as ::core::ffi::c_int == '\0' as i32 && *number >= (*row).low
        && *number <= (*row).high;
}
#[no_mangle]
pub unsafe extern "C" fn parse_decimal(
    mut text: *const ::core::ffi::c_char,
    mut number: *mut ::core::ffi::c_double,
    mut end: *mut *const ::core::ffi::c_char,
) -> bool {
    let mut stop: *mut ::core::ffi::c_char = ::core::ptr::null_mut::<
        ::core::ffi::c_char,
    >();
    if (*text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int)
        < '0' as i32
        || *text.offset(0 as ::core::ffi::c_int as isize) as ::core::ffi::c_int
            > '9' as i32
    {
        return false_0 != 0;
    }
    *__errno_location() = 0 as ::core::ffi::c_int;
    *number = strtod(text, &raw mut stop);
    *end = stop;
    return *__errno_location() == 0 as ::core::ffi::c_int
        && strspn(text, b"0123456789.\0" as *const u8 as *const ::core::ffi::c_char)
            as size_t == stop.offset_from(text) as ::core::ffi::c_long as size_t;
}
#[no_mangle]
pub unsafe extern "C" fn set_number(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut number: uint64_t = 0 as uint64_t;
    if !parse_number(row, text, &raw mut number) {
        return false_0 != 0;
    }
    *((*row).place as *mut uint32_t) = number as uint32_t;
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn set_power_of_two(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut number: uint64_t = 0 as uint64_t;
    return parse_number(row, text, &raw mut number) as ::core::ffi::c_int != 0
        && number & number.wrapping_sub(1 as uint64_t) == 0 as uint64_t
        && set_number(row, text) as ::core::ffi::c_int != 0;
}
#[no_mangle]
pub unsafe extern "C" fn set_large_number(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    return parse_number(row, text, (*row).place as *mut uint64_t);
}
#[no_mangle]
pub unsafe extern "C" fn set_text(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let ref mut fresh0 = *((*row).place as *mut *const ::core::ffi::c_char);
    *fresh0 = text;
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn set_flag(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    *((*row).place as *mut bool) = true_0 != 0;
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn set_duration(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let most: ::core::ffi::c_double = 1e9f64;
    let mut end: *const ::core::ffi::c_char = ::core::ptr::null::<::core::ffi::c_char>();
    let mut seconds: ::core::ffi::c_double = 0 as ::core::ffi::c_int
        as ::core::ffi::c_double;
    if !parse_decimal(text, &raw mut seconds, &raw mut end)
        || *end as ::core::ffi::c_int != '\0' as i32
        || seconds <= 0 as ::core::ffi::c_int as ::core::ffi::c_double || seconds > most
    {
        return false_0 != 0;
    }
    *((*row).place as *mut uint64_t) = (seconds * NANOSECONDS as ::core::ffi::c_double)
        as uint64_t;
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn set_timeout(
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> bool {
    let mut nanoseconds: uint64_t = 0 as uint64_t;
    let duration: option_row = option_row {
        name: ::core::ptr::null::<::core::ffi::c_char>(),
        value: ::core::ptr::null::<::core::ffi::c_char>(),
        help: ::core::ptr::null::<::core::ffi::c_char>(),
        set: None,
        place: &raw mut nanoseconds as *mut ::core::ffi::c_void,
        must_be: ::core::ptr::null::<::core::ffi::c_char>(),
        low: 0,
        high: 0,
    };
    if !set_duration(&raw const duration, text)
        || nanoseconds as ::core::ffi::c_ulonglong
            > (MAX_TIMEOUT as ::core::ffi::c_ulonglong).wrapping_mul(NANOSECONDS)
    {
        return false_0 != 0;
    }
    *((*row).place as *mut uint32_t) = (nanoseconds as ::core::ffi::c_ulonglong)
        .wrapping_add(NANOSECONDS.wrapping_div(1000 as ::core::ffi::c_ulonglong))
        .wrapping_sub(1 as ::core::ffi::c_ulonglong)
        .wrapping_div(NANOSECONDS.wrapping_div(1000 as ::core::ffi::c_ulonglong))
        as uint32_t;
    return true_0 != 0;
}
#[no_mangle]
pub unsafe extern "C" fn usage_error(
    mut program: *const program,
    mut what: *const ::core::ffi::c_char,
    mut value: *const ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    dprintf(
        STDERR_FILENO,
        b"%s: %s%s%s\n\nFor more information, try '--help'.\n\0" as *const u8
            as *const ::core::ffi::c_char,
        (*program).name,
        what,
        if !value.is_null() {
            b": \0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"\0" as *const u8 as *const ::core::ffi::c_char
        },
        if !value.is_null() {
            value
        } else {
            b"\0" as *const u8 as *const ::core::ffi::c_char
        },
    );
    return EXIT_USAGE;
}
unsafe extern "C" fn wrong_value(
    mut program: *const program,
    mut row: *const option_row,
    mut text: *const ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut bounds: [::core::ffi::c_char; 64] = ::core::mem::transmute::<
        [u8; 64],
        [::core::ffi::c_char; 64],
    >(
        *b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    );
    let mut what: [::core::ffi::c_char; 256] = [0; 256];
    if (*row).high == (UINT64_MAX as uint64_t).wrapping_sub(1 as uint64_t) {
        snprintf(
            &raw mut bounds as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 64]>() as size_t,
            b" from %lu\0" as *const u8 as *const ::core::ffi::c_char,
            (*row).low,
        );
    } else if (*row).high != 0 as uint64_t {
        snprintf(
            &raw mut bounds as *mut ::core::ffi::c_char,
            ::core::mem::size_of::<[::core::ffi::c_char; 64]>() as size_t,
            b" from %lu to %lu\0" as *const u8 as *const ::core::ffi::c_char,
            (*row).low,
            (*row).high,
        );
    }
    snprintf(
        &raw mut what as *mut ::core::ffi::c_char,
        ::core::mem::size_of::<[::core::ffi::c_char; 256]>() as size_t,
        b"--%s must be %s%s, not\0" as *const u8 as *const ::core::ffi::c_char,
        (*row).name,
        (*row).must_be,
        &raw mut bounds as *mut ::core::ffi::c_char,
    );
    return usage_error(program, &raw mut what as *mut ::core::ffi::c_char, text);
}
unsafe extern "C" fn print_row(mut row: *const option_row) {
    let mut line: *const ::core::ffi::c_char = (*row).help;
    let mut column: ::core::ffi::c_int = dprintf(
        STDOUT_FILENO,
        b"  --%s%s%s\0" as *const u8 as *const ::core::ffi::c_char,
        (*row).name,
        if !(*row).value.is_null() {
            b" \0" as *const u8 as *const ::core::ffi::c_char
        } else {
            b"\0" as *const u8 as *const ::core::ffi::c_char
        },
        if !(*row).value.is_null() {
            (*row).value
        } else {
            b"\0" as *const u8 as *const ::core::ffi::c_char
        },
    );
    if column >= HELP_COLUMN {
        dprintf(STDOUT_FILENO, b"\n\0" as *const u8 as *const ::core::ffi::c_char);
        column = 0 as ::core::ffi::c_int;
    }
    while *line as ::core::ffi::c_int != '\0' as i32 {
        let mut length: ::core::ffi::c_int = strcspn(
            line,
            b"\n\0" as *const u8 as *const ::core::ffi::c_char,
        ) as ::core::ffi::c_int;
        dprintf(
            STDOUT_FILENO,
            b"%*s%.*s\n\0" as *const u8 as *const ::core::ffi::c_char,
            HELP_COLUMN - column,
            b"\0" as *const u8 as *const ::core::ffi::c_char,
            length,
            line,
        );
        line = line.offset(length as isize);
        line = line
            .offset(
                (*line as ::core::ffi::c_int == '\n' as i32) as ::core::ffi::c_int
                    as isize,
            );
        column = 0 as ::core::ffi::c_int;
    }
}
unsafe extern "C" fn print_help(
    mut program: *const program,
    mut rows: *const option_row,
) -> ::core::ffi::c_int {
    dprintf(
        STDOUT_FILENO,
        b"%s\0" as *const u8 as *const ::core::ffi::c_char,
        (*program).usage,
    );
    while !(*rows).name.is_null() {
        print_row(rows);
        rows = rows.offset(1);
    }
    dprintf(
        STDOUT_FILENO,
        b"  --help               print this text\n  --version            print the version\n\0"
            as *const u8 as *const ::core::ffi::c_char,
    );
    return EXIT_SUCCESS;
}
#[no_mangle]
pub unsafe extern "C" fn parse_rows(
    mut program: *const program,
    mut rows: *const option_row,
    mut argc: ::core::ffi::c_int,
    mut argv: *mut *mut ::core::ffi::c_char,
) -> ::core::ffi::c_int {
    let mut known: [option; 27] = [
        option {
            name: b"help\0" as *const u8 as *const ::core::ffi::c_char,
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 'h' as i32,
        },
        option {
            name: b"version\0" as *const u8 as *const ::core::ffi::c_char,
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 'V' as i32,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
        option {
            name: ::core::ptr::null::<::core::ffi::c_char>(),
            has_arg: 0,
            flag: ::core::ptr::null_mut::<::core::ffi::c_int>(),
            val: 0,
        },
    ];
    let mut option: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    let mut index: ::core::ffi::c_int = 0 as ::core::ffi::c_int;
    let mut i: uint32_t = 0 as uint32_t;
    while i < MAX_OPTIONS as uint32_t && !(*rows.offset(i as isize)).name.is_null() {
        known[i.wrapping_add(2 as uint32_t) as usize].name = (*rows.offset(i as isize))
            .name;
        known[i.wrapping_add(2 as uint32_t) as usize].has_arg = if !(*rows
            .offset(i as isize))
            .value
            .is_null()
        {
            required_argument
        } else {
            no_argument
        };
        i = i.wrapping_add(1);
    }
    opterr = 0 as ::core::ffi::c_int;
    loop {
        option = getopt_long(
            argc,
            argv,
            b":hV\0" as *const u8 as *const ::core::ffi::c_char,
            &raw mut known as *mut option,
            &raw mut index,
        );
        if !(option != -(1 as ::core::ffi::c_int)) {
            break;
        }
        match option {
            104 => return print_help(program, rows),
            86 => {
                dprintf(
                    STDOUT_FILENO,
                    b"%s %s\n\0" as *const u8 as *const ::core::ffi::c_char,
                    (*program).name,
                    project_version(),
                );
                return EXIT_SUCCESS;
            }
            58 => {
                return usage_error(
                    program,
                    b"an option has no value\0" as *const u8
                        as *const ::core::ffi::c_char,
                    *argv.offset((optind - 1 as ::core::ffi::c_int) as isize),
                );
            }
            63 => {
                return usage_error(
                    program,
                    b"unknown option\0" as *const u8 as *const ::core::ffi::c_char,
                    *argv.offset((optind - 1 as ::core::ffi::c_int) as isize),
                );
            }
            _ => {
                if !(*rows.offset((index - 2 as ::core::ffi::c_int) as isize))
                    .set
                    .expect(
                        "non-null function pointer",
                    )(
                    rows.offset((index - 2 as ::core::ffi::c_int) as isize)
                        as *const option_row,
                    optarg,
                )
                {
                    return wrong_value(
                        program,
                        rows.offset((index - 2 as ::core::ffi::c_int) as isize)
                            as *const option_row,
                        optarg,
                    );
                }
            }
        }
    }
    return if argc - optind == (*program).arguments {
        -(1 as ::core::ffi::c_int)
    } else {
        usage_error(
            program,
            (*program).needs,
            ::core::ptr::null::<::core::ffi::c_char>(),
        )
    };
}
#[no_mangle]
pub unsafe extern "C" fn exit_status(
    mut program: *const program,
    mut result: ::core::ffi::c_int,
    mut error: *const error,
) -> ::core::ffi::c_int {
    if result == 0 as ::core::ffi::c_int {
        return EXIT_SUCCESS;
    }
    dprintf(
        STDERR_FILENO,
        b"%s: %s\n\0" as *const u8 as *const ::core::ffi::c_char,
        (*program).name,
        &raw const (*error).text as *const ::core::ffi::c_char,
    );
    return EXIT_RUN_TIME;
}
#[no_mangle]
pub unsafe extern "C" fn turns_per_look(mut is_trapped: bool) -> uint32_t {
    return (if is_trapped as ::core::ffi::c_int != 0 {
        8 as ::core::ffi::c_int
    } else {
        TURNS_PER_LOOK
    }) as uint32_t;
}
#[no_mangle]
pub unsafe extern "C" fn warn_of_ordinary_pages(mut program: *const program) {
    dprintf(
        STDERR_FILENO,
        b"%s: warning: too few huge pages of 2 MiB are free, using ordinary pages, which are slower; `make hugepages` reserves some\n\0"
            as *const u8 as *const ::core::ffi::c_char,
        (*program).name,
    );
}
