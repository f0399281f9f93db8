//! The cases.
#![allow(clippy::unwrap_used)]

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::FromRawFd;
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI32, Ordering};

#[path = "exactness.rs"]
mod exactness;

/// IOVA of the memory that cases map.
const IOVA: u64 = 0x10_0000;
const CTRL: usize = 0;
const STATUS: usize = 8;

/// Runs the case that the first argument names.
pub fn run() {
    let case = std::env::args().nth(1).unwrap_or_default();
    match case.as_str() {
        "rules" => rules(),
        "locked" => locked(),
        "iommufd" => iommufd(),
        "descriptors" => descriptors(),
        "fork" => fork(),
        "signals" => signals(),
        "segv" => segv(),
        "memory" => memory(),
        "huge" => huge(),
        "interrupts" => interrupts(),
        "reset" => reset(),
        "terabyte" => terabyte(),
        "exec" => exec(),
        "raw" => raw(),
        "flags" => flags(),
        "refused" => exactness::refused(),
        "fork-copies" => exactness::fork_copies(),
        "threads-after-fork" => exactness::threads_after_fork(),
        "killed-children" => exactness::killed_children(),
        "unmapped" => exactness::unmapped(),
        "plain-read" => exactness::plain_read(),
        "write-while-mapping" => exactness::write_while_mapping(),
        "read-while-mapping" => exactness::read_while_mapping(),
        "wait" => wait(),
        _ => panic!("no case {case:?}"),
    }
}

fn request(number: u64) -> u64 {
    u64::from(b';') << 8 | number
}

fn ioctl(fd: i32, number: u64, at: usize) -> Result<i32, i32> {
    // SAFETY: each case passes what the request takes.
    match unsafe { libc::ioctl(fd, request(number), at) } {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        value => Ok(value),
    }
}

/// Makes a request with words of 4 bytes, which the answer replaces.
fn words<const N: usize>(fd: i32, number: u64, mut words: [u32; N]) -> Result<[u32; N], i32> {
    ioctl(fd, number, words.as_mut_ptr() as usize).map(|_| words)
}

fn open(path: &CStr) -> Result<i32, i32> {
    // SAFETY: the path ends with NUL.
    match unsafe { libc::open(path.as_ptr(), libc::O_RDWR) } {
        -1 => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        fd => Ok(fd),
    }
}

fn close(fd: i32) {
    // SAFETY: the case owns the descriptor.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

/// An open container, group and device.
struct Opened {
    container: i32,
    group: i32,
    device: i32,
}

fn open_port() -> Opened {
    open_group(c"/dev/vfio/23", c"0000:03:00.0")
}

fn open_group(node: &CStr, address: &CStr) -> Opened {
    let container = open(c"/dev/vfio/vfio").unwrap();
    let group = open(node).unwrap();
    ioctl(group, 104, &raw const container as usize).unwrap();
    ioctl(container, 102, 3).unwrap();
    let device = ioctl(group, 106, address.as_ptr() as usize).unwrap();
    Opened {
        container,
        group,
        device,
    }
}

/// Maps BAR 0, as a driver does.
fn map_registers(device: i32) -> *mut u32 {
    let info = words(device, 108, [32, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(info[1] & 7, 7, "BAR 0 is readable, writable and mappable");
    let len = info[4] as usize;
    let offset = u64::from(info[6]) | u64::from(info[7]) << 32;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new range.
    let at = unsafe {
        libc::mmap(
            null_mut(),
            len,
            protection,
            libc::MAP_SHARED,
            device,
            offset as i64,
        )
    };
    assert_ne!(at, libc::MAP_FAILED);
    at.cast()
}

fn read_register(registers: *mut u32, offset: usize) -> u32 {
    // SAFETY: the registers are mapped.
    unsafe { registers.byte_add(offset).read_volatile() }
}

fn anonymous(len: usize, flags: i32) -> u64 {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = flags | libc::MAP_ANONYMOUS;
    // SAFETY: a new range.
    let at = unsafe { libc::mmap(null_mut(), len, protection, flags, -1, 0) };
    assert_ne!(at, libc::MAP_FAILED);
    at as u64
}

fn low(value: u64) -> u32 {
    value as u32
}

fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

fn map(container: i32, memory: u64, iova: u64, size: u64) -> Result<(), i32> {
    let [m, i, s] = [memory, iova, size];
    let request = [32, 3, low(m), high(m), low(i), high(i), low(s), high(s)];
    words(container, 113, request).map(drop)
}

fn unmap(container: i32, flags: u32, iova: u64, size: u64) -> Result<u64, i32> {
    let request = [24, flags, low(iova), high(iova), low(size), high(size)];
    words(container, 114, request).map(|r| u64::from(r[4]) | u64::from(r[5]) << 32)
}

fn rules() {
    let container = open(c"/dev/vfio/vfio").unwrap();
    let group = open(c"/dev/vfio/23").unwrap();
    assert_eq!(ioctl(container, 100, 0), Ok(0));
    assert_eq!(ioctl(container, 101, 1), Ok(1));
    assert_eq!(ioctl(container, 101, 8), Ok(0));
    assert_eq!(ioctl(container, 102, 1), Err(libc::EINVAL), "no group");
    assert_eq!(open(c"/dev/vfio/23"), Err(libc::EBUSY));
    assert_eq!(words(group, 103, [4, 0]), Err(libc::EINVAL));
    assert_eq!(words(group, 103, [8, 0]), Ok([8, 1]));
    let name = c"0000:03:00.0".as_ptr() as usize;
    assert_eq!(ioctl(group, 106, name), Err(libc::EINVAL), "no container");
    assert_eq!(
        ioctl(group, 104, &raw const group as usize),
        Err(libc::EINVAL)
    );
    ioctl(group, 104, &raw const container as usize).unwrap();
    assert_eq!(words(group, 103, [8, 0]), Ok([8, 3]));
    assert_eq!(ioctl(container, 102, 2), Err(libc::ENODEV));
    assert_eq!(map(container, 0, 0, 4096), Err(libc::EINVAL), "no IOMMU");
    ioctl(container, 102, 3).unwrap();
    assert_eq!(
        ioctl(group, 106, c"0000:04:00.0".as_ptr() as usize),
        Err(libc::ENODEV)
    );
    assert_eq!(ioctl(group, 106, 16), Err(libc::EFAULT));
    let device = ioctl(group, 106, name).unwrap();
    assert_eq!(ioctl(group, 105, 0), Err(libc::EBUSY));
    let info = words(container, 112, [16, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!((info[0], info[1], info[4]), (24 + 48 + 16, 3, 0));
    let long = words(container, 112, [128; 32]).unwrap();
    assert_eq!((long[0], long[4]), (128, 24));
    assert_eq!(long[6..10], [1 | 1 << 16, 24 + 48, 2, 0]);
    assert_eq!(long[18..21], [3 | 1 << 16, 0, 65535]);
    assert_eq!(words(device, 107, [16, 0, 0, 0]), Ok([16, 3, 9, 5]));
    assert_eq!(
        words(device, 108, [32, 0, 8, 0, 0, 0, 0, 0]),
        Err(libc::EINVAL)
    );
    assert_eq!(words(device, 109, [16, 0, 4, 0]), Ok([16, 9, 4, 1]));
    let msix = words(
        device,
        108,
        [64, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    )
    .unwrap();
    assert_eq!((msix[1] & 8, msix[3], msix[8]), (8, 32, 3 | 1 << 16));
    assert_eq!(words(device, 112, [12, 0, 0]), Err(libc::ENOSPC));
    assert_eq!(
        words(device, 112, [20, 0, 0, 0, 0]),
        Ok([20, 0, 1, 23, 3 << 16])
    );
    assert_eq!(ioctl(device, 117, 0), Err(libc::ENOTTY));
    dma_rules(container);
    close(device);
    ioctl(group, 105, 0).unwrap();
    close(group);
    close(container);
    open_port();
}

fn dma_rules(container: i32) {
    let memory = anonymous(0x10000, libc::MAP_PRIVATE);
    assert_eq!(map(container, memory, IOVA, 0x4000), Ok(()));
    assert_eq!(
        map(container, memory, IOVA + 0x3000, 0x1000),
        Err(libc::EEXIST)
    );
    assert_eq!(
        map(container, memory, IOVA + 0x800, 0x1000),
        Err(libc::EINVAL)
    );
    assert_eq!(
        map(container, memory + 1, IOVA << 1, 0x1000),
        Err(libc::EINVAL)
    );
    assert_eq!(
        map(container, memory, 0xfee0_0000, 0x1000),
        Err(libc::EINVAL)
    );
    assert_eq!(map(container, 0x1000, IOVA << 1, 0x1000), Err(libc::EFAULT));
    assert_eq!(
        unmap(container, 0, IOVA, 0x1000),
        Err(libc::EINVAL),
        "a part"
    );
    assert_eq!(unmap(container, 0, IOVA << 4, 0x1000), Ok(0));
    assert_eq!(unmap(container, 0, IOVA, 0x4000), Ok(0x4000));
    for page in 0..4 {
        map(container, memory, IOVA + page * 0x1000, 0x1000).unwrap();
    }
    assert_eq!(unmap(container, 2, 0, 0), Ok(0x4000));
}

fn locked() {
    let port = open_port();
    let memory = anonymous(0x10000, libc::MAP_PRIVATE);
    assert_eq!(map(port.container, memory, IOVA, 0x8000), Ok(()));
    assert_eq!(
        map(port.container, memory, IOVA << 1, 0x9000),
        Err(libc::ENOMEM)
    );
    assert_eq!(map(port.container, memory, IOVA << 1, 0x8000), Ok(()));
}

fn iommufd() {
    let iommu = open(c"/dev/iommu").unwrap();
    let device = open(c"/dev/vfio/devices/vfio0").unwrap();
    assert_eq!(
        words(device, 107, [16, 0, 0, 0]),
        Err(libc::EINVAL),
        "not bound"
    );
    assert_eq!(
        words(device, 118, [16, 0, device as u32, 0]),
        Err(libc::EBADF)
    );
    words(device, 118, [16, 0, iommu as u32, 0]).unwrap();
    assert_eq!(words(device, 107, [16, 0, 0, 0]), Ok([16, 3, 9, 5]));
    let ioas = words(iommu, 129, [12, 0, 0]).unwrap()[2];
    let mut ranges = [0_u64; 4];
    let at = ranges.as_mut_ptr() as u64;
    let answer = words(iommu, 132, [32, ioas, 2, 0, low(at), high(at), 0, 0]).unwrap();
    assert_eq!((answer[2], answer[6]), (2, 4096));
    assert_eq!(ranges, [0, 0xfedf_ffff, 0xfef0_0000, (1 << 48) - 1]);
    words(device, 119, [12, 0, ioas]).unwrap();
    assert_eq!(words(iommu, 128, [8, ioas]), Err(libc::EBUSY));
    let memory = anonymous(0x4000, libc::MAP_PRIVATE);
    let request = |flags, iova: u64| {
        let [m, s] = [memory, 0x4000];
        [
            40,
            flags,
            ioas,
            0,
            low(m),
            high(m),
            low(s),
            high(s),
            low(iova),
            high(iova),
        ]
    };
    let mapped = words(iommu, 133, request(6, 0)).unwrap();
    assert_eq!(
        (mapped[8], mapped[9]),
        (4096, 0),
        "the lowest free IOVA but 0"
    );
    words(iommu, 133, request(7, IOVA)).unwrap();
    assert_eq!(words(iommu, 133, request(7, IOVA)), Err(libc::EEXIST));
    let unmap = |iova: u64, size: u64| {
        words(
            iommu,
            134,
            [24, ioas, low(iova), high(iova), low(size), high(size)],
        )
    };
    assert_eq!(unmap(IOVA, 0x1000), Err(libc::ENOENT));
    assert_eq!(unmap(IOVA, 0x4000).unwrap()[4], 0x4000);
    assert_eq!(unmap(IOVA, 0x4000), Err(libc::ENOENT));
    assert_ne!(read_register(map_registers(device), STATUS), u32::MAX);
    words(device, 120, [8, 0]).unwrap();
    words(iommu, 128, [8, ioas]).unwrap();
    assert_eq!(words(iommu, 128, [8, ioas]), Err(libc::ENOENT));
}

fn descriptors() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: the case owns the descriptors.
    let copy = unsafe { libc::dup(port.device) };
    close(port.device);
    assert_eq!(words(copy, 107, [16, 0, 0, 0]), Ok([16, 3, 9, 5]));
    // A program that closes everything keeps its mapped registers.
    (3..1024).for_each(|fd| {
        // SAFETY: nothing below uses a descriptor.
        unsafe { libc::close(fd) };
    });
    // SAFETY: as above.
    assert_eq!(unsafe { libc::close_range(3, u32::MAX, 0) }, 0);
    assert_ne!(read_register(registers, STATUS), u32::MAX);
    // SAFETY: the registers are not used after this.
    assert_eq!(unsafe { libc::munmap(registers.cast(), 512 << 10) }, 0);
    let again = open_port();
    assert_ne!(read_register(map_registers(again.device), STATUS), u32::MAX);
}

fn wait_for_child(child: i32) {
    let mut status = 0;
    // SAFETY: `status` is an int.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "the child failed");
}

fn fork() {
    let port = open_port();
    let registers = map_registers(port.device);
    let memory = anonymous(0x1000, libc::MAP_PRIVATE);
    map(port.container, memory, IOVA, 0x1000).unwrap();
    let byte = memory as *mut u8;
    // SAFETY: the memory is mapped, and the child calls only what a fork allows.
    unsafe {
        byte.write_volatile(1);
        let child = libc::fork();
        if child == 0 {
            let before = byte.read_volatile();
            byte.write_volatile(2);
            for _ in 0..200 {
                assert_ne!(read_register(registers, STATUS), u32::MAX);
            }
            libc::_exit(i32::from(before != 1));
        }
        for _ in 0..200 {
            assert_ne!(read_register(registers, STATUS), u32::MAX);
        }
        wait_for_child(child);
        assert_eq!(byte.read_volatile(), 1, "the child wrote to its own copy");
    }
    assert_ne!(read_register(registers, STATUS), u32::MAX);
}

static SEEN: AtomicI32 = AtomicI32::new(0);

extern "C" fn note(signal: i32) {
    SEEN.store(signal, Ordering::SeqCst);
}

fn signals() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: all arguments are valid, and `note` only stores a number.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, null_mut());
        assert_ne!(read_register(registers, STATUS), u32::MAX);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const all, null_mut());
        let before = libc::signal(libc::SIGSEGV, note as *const () as usize);
        assert_ne!(before, libc::SIG_ERR);
        assert_ne!(read_register(registers, STATUS), u32::MAX);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0);
        libc::kill(libc::getpid(), libc::SIGSEGV);
        assert_eq!(SEEN.load(Ordering::SeqCst), libc::SIGSEGV);
        assert_eq!(
            libc::signal(libc::SIGSEGV, libc::SIG_DFL),
            note as *const () as usize
        );
        assert_ne!(read_register(registers, STATUS), u32::MAX);
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = touch as *const () as usize;
        action.sa_mask = all;
        libc::sigaction(libc::SIGUSR1, &raw const action, null_mut());
        REGISTERS.store(registers, Ordering::SeqCst);
        libc::raise(libc::SIGUSR1);
        assert_eq!(SEEN.load(Ordering::SeqCst), libc::SIGUSR1);
    }
}

static REGISTERS: std::sync::atomic::AtomicPtr<u32> = std::sync::atomic::AtomicPtr::new(null_mut());

extern "C" fn touch(signal: i32) {
    let status = read_register(REGISTERS.load(Ordering::SeqCst), STATUS);
    SEEN.store(
        if status == u32::MAX { -1 } else { signal },
        Ordering::SeqCst,
    );
}

fn segv() {
    let port = open_port();
    map_registers(port.device);
    // SAFETY: the access is meant to fault.
    unsafe { (16 as *mut u32).write_volatile(1) };
}

fn memory() {
    let port = open_port();
    let len = 0x4000;
    // SAFETY: the memory below is mapped before it is used.
    unsafe {
        let private = anonymous(len, libc::MAP_PRIVATE);
        (private as *mut u64).add(100).write_volatile(0x1234);
        map(port.container, private, IOVA, len as u64).unwrap();
        assert_eq!((private as *mut u64).add(100).read_volatile(), 0x1234);
        map(
            port.container,
            anonymous(len, libc::MAP_SHARED),
            IOVA << 1,
            len as u64,
        )
        .unwrap();
        let mut heap: *mut libc::c_void = null_mut();
        assert_eq!(libc::posix_memalign(&raw mut heap, 4096, len), 0);
        heap.cast::<u8>().write_bytes(7, len);
        map(port.container, heap as u64, IOVA << 2, len as u64).unwrap();
        assert!((0..len).all(|at| heap.cast::<u8>().add(at).read_volatile() == 7));
        // Unmapping memory in mid-DMA is the program's right; the map goes on until it ends.
        libc::munmap(private as *mut libc::c_void, len);
        assert_eq!(unmap(port.container, 0, IOVA, len as u64), Ok(len as u64));
        libc::free(heap);
    }
}

fn huge() {
    let port = open_port();
    let memory = anonymous(4 << 20, libc::MAP_PRIVATE | libc::MAP_HUGETLB);
    assert_eq!(memory % (2 << 20), 0);
    map(port.container, memory, 0x20_0000, 4 << 20).unwrap();
}

fn interrupts() {
    let port = open_port();
    // SAFETY: a new eventfd.
    let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
    let set = |flags, index, start, count, fds: [i32; 2]| {
        let [a, b] = fds.map(|fd| fd as u32);
        words(port.device, 110, [28, flags, index, start, count, a, b]).map(drop)
    };
    let fired = || {
        let mut value = 0_u64;
        let mut entry = libc::pollfd {
            fd: event,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry, and a buffer of 8 bytes. The card signals soon, not at once.
        unsafe {
            libc::poll(&raw mut entry, 1, 300);
            libc::read(event, (&raw mut value).cast(), 8) == 8 && value == 1
        }
    };
    let (connect, trigger) = (4 | 32, 1 | 32);
    set(connect, 2, 0, 2, [event, -1]).unwrap();
    assert_eq!(
        set(connect, 1, 0, 1, [event, -1]),
        Err(libc::EINVAL),
        "MSI beside MSI-X"
    );
    assert!(!fired());
    set(trigger, 2, 0, 1, [0, 0]).unwrap();
    assert!(fired());
    set(trigger, 2, 1, 1, [0, 0]).unwrap();
    assert!(!fired());
    assert_eq!(
        set(1 | 8, 2, 0, 1, [0, 0]),
        Err(libc::ENOTTY),
        "MSI-X has no mask"
    );
    assert_eq!(set(connect, 2, 0, 65, [0, 0]), Err(libc::EINVAL));
    set(trigger, 2, 0, 0, [0, 0]).unwrap();
    for index in [3, 4] {
        set(connect, index, 0, 1, [event, -1]).unwrap();
        set(trigger, index, 0, 1, [0, 0]).unwrap();
        assert!(fired());
        set(connect, index, 0, 1, [-1, -1]).unwrap();
        set(trigger, index, 0, 1, [0, 0]).unwrap();
        assert!(!fired());
    }
}

fn config_offset(device: i32) -> u64 {
    let info = words(device, 108, [32, 0, 7, 0, 0, 0, 0, 0]).unwrap();
    u64::from(info[6]) | u64::from(info[7]) << 32
}

fn reset() {
    let port = open_port();
    let offset = config_offset(port.device);
    // SAFETY: the descriptor is the device's; the case never closes it by itself.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(port.device) });
    file.write_all_at(&[6, 0], offset + 4).unwrap();
    ioctl(port.device, 111, 0).unwrap();
    let mut command = [0; 2];
    file.read_exact_at(&mut command, offset + 4).unwrap();
    assert_eq!(command, [6, 0], "bus mastering stays on");
    let group = port.group as u32;
    words(port.device, 113, [16, 0, 1, group]).unwrap();
    assert_eq!(
        words(port.device, 113, [16, 0, 0, group]),
        Err(libc::EINVAL)
    );
    // DPDK computes the kernel's offset.
    file.read_exact_at(&mut command, 7 << 40).unwrap();
    assert_eq!(command, [0x86, 0x80]);
}

fn terabyte() {
    let port = open_port();
    let memory = anonymous(1 << 40, libc::MAP_PRIVATE | libc::MAP_NORESERVE);
    // SAFETY: the memory is mapped.
    unsafe { ((memory + (500 << 30)) as *mut u8).write_volatile(9) };
    map(port.container, memory + (500 << 30), IOVA, 0x1000).unwrap();
    // SAFETY: as above.
    let byte = unsafe { ((memory + (500 << 30)) as *mut u8).read_volatile() };
    assert_eq!(byte, 9);
}

fn exec() {
    let port = open_port();
    map_registers(port.device);
    let status = std::process::Command::new("/bin/true").status().unwrap();
    assert!(status.success());
    let status = std::process::Command::new("/bin/true")
        .env_remove("LD_PRELOAD")
        .status();
    assert!(status.unwrap().success());
    let own = std::env::current_exe().unwrap();
    let output = std::process::Command::new(own).arg("raw").output().unwrap();
    // The device is busy, but the new program has a bridge of its own that says so.
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("EBUSY"), "{text}");
}

fn raw() {
    let port = open_port();
    let mut info = [16_u32, 0, 0, 0];
    let at = info.as_mut_ptr();
    let fd = i64::from(port.device);
    // SAFETY: the arguments are those of the calls.
    unsafe {
        let result: i64;
        std::arch::asm!("syscall", inlateout("rax") libc::SYS_ioctl => result, in("rdi") fd,
            in("rsi") request(107), in("rdx") at, out("rcx") _, out("r11") _);
        assert_eq!((result, info), (0, [16, 3, 9, 5]));
        let mut word = 0_u16;
        let result: i64;
        std::arch::asm!("syscall", inlateout("rax") libc::SYS_pread64 => result, in("rdi") fd,
            in("rsi") &raw mut word, in("rdx") 2_i64, in("r10") config_offset(port.device),
            out("rcx") _, out("r11") _);
        assert_eq!((result, word), (2, 0x8086));
        let result: i64;
        std::arch::asm!("syscall", inlateout("rax") libc::SYS_ioctl => result, in("rdi") 0_i64,
            in("rsi") request(107), in("rdx") at, out("rcx") _, out("r11") _);
        assert!(result == -i64::from(libc::ENOTTY) || result == -i64::from(libc::EBADF));
    }
}

/// Tests bits of a register in memory: the program must see the flags.
fn flags() {
    let port = open_port();
    let registers = map_registers(port.device);
    let value = read_register(registers, STATUS);
    assert_ne!(value, 0);
    for (bits, wanted) in [(value, 0_u8), (!value, 1)] {
        let zero: u8;
        // SAFETY: the registers are mapped, and the instruction only reads.
        unsafe {
            std::arch::asm!(
                "test dword ptr [{register}], {bits:e}",
                "setz {zero}",
                register = in(reg) registers.byte_add(STATUS),
                bits = in(reg) bits,
                zero = out(reg_byte) zero,
            );
        }
        assert_eq!(zero, wanted, "{value:#x} and {bits:#x}");
    }
}

/// Reads registers until the card is gone, then checks what remains.
fn wait() {
    let port = open_port();
    let registers = map_registers(port.device);
    // SAFETY: a new eventfd, and a request that names it.
    let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
    words(port.device, 110, [24, 36, 3, 0, 1, event as u32]).unwrap();
    println!("ready");
    while read_register(registers, CTRL) != u32::MAX {}
    assert_eq!(words(port.device, 107, [16, 0, 0, 0]), Err(libc::EIO));
    let mut count = 0_u64;
    // SAFETY: the buffer has 8 bytes.
    assert_eq!(unsafe { libc::read(event, (&raw mut count).cast(), 8) }, 8);
}
