//! The kernel's rules for requests, as rows: descriptor, request, words, and the words or the error of the answer.

use libc::{EBADF, EBUSY, EEXIST, EFAULT, EINVAL, ENODEV, ENOENT, ENOMEM, ENOSPC, ENOTTY};

use super::*;

type Row<'a> = (i32, u64, &'a [u32], Result<&'a [u32], i32>);

/// Makes the request of each row. An answer replaces its words.
fn check(rows: &[Row<'_>]) {
    for (fd, number, request, expected) in rows {
        let mut words = request.to_vec();
        let answer = ioctl(*fd, *number, words.as_mut_ptr() as usize).map(|_| words.as_slice());
        assert_eq!(answer, *expected, "{number} {request:?}");
    }
}

/// Makes requests whose argument is a number.
fn check_numbers(rows: &[(i32, u64, usize, Result<i32, i32>)]) {
    for (fd, number, argument, expected) in rows {
        assert_eq!(
            ioctl(*fd, *number, *argument),
            *expected,
            "{number} {argument}"
        );
    }
}

pub fn rules() {
    let container = open(c"/dev/vfio/vfio").unwrap();
    let group = open(c"/dev/vfio/23").unwrap();
    let [to_container, to_group] = [&container, &group].map(|fd| &raw const *fd as usize);
    let [name, other] = [c"0000:03:00.0", c"0000:04:00.0"].map(|name| name.as_ptr() as usize);
    assert_eq!(open(c"/dev/vfio/23"), Err(EBUSY));
    check(&[
        (group, 103, &[4, 0], Err(EINVAL)),
        (group, 103, &[8, 0], Ok(&[8, 1])),
    ]);
    check_numbers(&[
        (container, 100, 0, Ok(0)),
        (container, 101, 1, Ok(1)),
        (container, 101, 8, Ok(0)),
        (container, 102, 1, Err(EINVAL)), // There is no group,
        (group, 106, name, Err(EINVAL)),  // and no container.
        (group, 104, to_group, Err(EINVAL)),
        (group, 104, to_container, Ok(0)),
        (container, 102, 2, Err(ENODEV)),
    ]);
    assert_eq!(map(container, 0, 0, 4096), Err(EINVAL), "no IOMMU");
    check_numbers(&[
        (container, 102, 3, Ok(0)),
        (group, 106, other, Err(ENODEV)),
        (group, 106, 16, Err(EFAULT)),
    ]);
    let device = ioctl(group, 106, name).unwrap();
    check(&[
        (group, 103, &[8, 0], Ok(&[8, 3])),
        (
            container,
            112,
            &[16, 0, 0, 0, 0],
            Ok(&[24 + 48 + 16, 3, 0x4020_1000, 0, 0]),
        ),
        (device, 107, &[16, 0, 0, 0], Ok(&[16, 3, 9, 5])),
        (device, 108, &[32, 0, 8, 0, 0, 0, 0, 0], Err(EINVAL)),
        (device, 109, &[16, 0, 4, 0], Ok(&[16, 9, 4, 1])),
        (device, 112, &[12, 0, 0], Err(ENOSPC)),
        (device, 112, &[20, 0, 0, 0, 0], Ok(&[20, 0, 1, 23, 3 << 16])),
        (device, 117, &[], Err(ENOTTY)),
    ]);
    check_numbers(&[(group, 105, 0, Err(EBUSY))]);
    let long = words(container, 112, [128; 32]).unwrap();
    assert_eq!((long[0], long[4]), (128, 24));
    assert_eq!(long[6..10], [1 | 1 << 16, 24 + 48, 2, 0]);
    assert_eq!(long[18..21], [3 | 1 << 16, 0, 65535]);
    let mut msix = [0; 16];
    msix[..3].copy_from_slice(&[64, 0, 4]);
    let msix = words(device, 108, msix).unwrap();
    assert_eq!((msix[1] & 8, msix[3], msix[8]), (8, 32, 3 | 1 << 16));
    dma_rules(container);
    close(device);
    ioctl(group, 105, 0).unwrap();
    close(group);
    close(container);
    open_port();
}

fn dma_rules(container: i32) {
    let memory = anonymous(0x10000, libc::MAP_PRIVATE);
    // A page that may only be read, then a page, then a hole.
    let before_hole = anonymous(0x3000, libc::MAP_PRIVATE);
    // SAFETY: the pages belong to this function.
    unsafe {
        libc::munmap((before_hole + 0x2000) as *mut libc::c_void, 0x1000);
        libc::mprotect(before_hole as *mut libc::c_void, 0x1000, libc::PROT_READ);
    }
    for (memory, iova, size, expected) in [
        (before_hole, IOVA << 1, 0x1000, Err(EFAULT)),
        (before_hole + 0x1000, IOVA << 1, 0x2000, Err(EFAULT)),
        (memory, IOVA, 0x4000, Ok(())),
        (memory, IOVA + 0x4000, 0x1000, Ok(())), // Neighbours touch.
        (memory, IOVA - 0x1000, 0x1000, Ok(())),
        (memory, IOVA + 0x3000, 0x1000, Err(EEXIST)),
        (memory, IOVA - 0x2000, 0x8000, Err(EEXIST)),
        (memory, IOVA << 1, 0, Err(EINVAL)),
        (memory, IOVA << 1, 0x1800, Err(EINVAL)),
        (memory, u64::MAX - 0xfff, 0x2000, Err(EINVAL)),
        (memory, 1 << 48, 0x1000, Err(EINVAL)),
        (memory, (1 << 48) - 0x1000, 0x1000, Ok(())),
        (memory, IOVA + 0x800, 0x1000, Err(EINVAL)),
        (memory + 1, IOVA << 1, 0x1000, Err(EINVAL)),
        (memory, 0xfee0_0000, 0x1000, Err(EINVAL)),
        (0x1000, IOVA << 1, 0x1000, Err(EFAULT)),
    ] {
        assert_eq!(map(container, memory, iova, size), expected, "{iova:#x}");
    }
    for (flags, iova, size, expected) in [
        (0, IOVA, 0x1000, Err(EINVAL)), // A part of a map.
        (0, IOVA + 0x1000, 0x4000, Err(EINVAL)),
        (0, IOVA - 0x1000, 0x2000, Err(EINVAL)),
        (0, IOVA - 0x1000, 0x1000, Ok(0x1000)),
        (0, IOVA << 4, 0x1000, Ok(0)),
        (0, IOVA, 0x5000, Ok(0x5000)), // Both maps of the range.
        (2, 0, 0, Ok(0x1000)),
        (2, 0, 0, Ok(0)),
    ] {
        assert_eq!(unmap(container, flags, iova, size), expected, "{iova:#x}");
    }
    for page in 0..4 {
        map(container, memory, IOVA + page * 0x1000, 0x1000).unwrap();
    }
    assert_eq!(unmap(container, 2, 0, 0), Ok(0x4000));
}

pub fn locked() {
    let container = open_port().container;
    let memory = anonymous(0x10000, libc::MAP_PRIVATE);
    assert_eq!(map(container, memory, IOVA, 0x8000), Ok(()));
    assert_eq!(map(container, memory, IOVA << 1, 0x9000), Err(ENOMEM));
    assert_eq!(map(container, memory, IOVA << 1, 0x8000), Ok(()));
}

pub fn iommufd() {
    let iommu = open(c"/dev/iommu").unwrap();
    let device = open(c"/dev/vfio/devices/vfio0").unwrap();
    check(&[
        (device, 107, &[16, 0, 0, 0], Err(EINVAL)), // It is not bound.
        (device, 118, &[16, 0, device as u32, 0], Err(EBADF)),
    ]);
    words(device, 118, [16, 0, iommu as u32, 0]).unwrap();
    let ioas = words(iommu, 129, [12, 0, 0]).unwrap()[2];
    let mut ranges = [0_u64; 4];
    let [to, beyond] = halves(ranges.as_mut_ptr() as u64);
    let [m, n] = halves(anonymous(0x4000, libc::MAP_PRIVATE));
    let iova = IOVA as u32;
    let find = [32, ioas, 2, 0, to, beyond, 0, 0];
    let found = [32, ioas, 2, 0, to, beyond, 4096, 0];
    let map_anywhere = [40, 6, ioas, 0, m, n, 0x4000, 0, 0, 0];
    // The lowest free IOVA but 0.
    let mapped = [40, 6, ioas, 0, m, n, 0x4000, 0, 4096, 0];
    let map = [40, 7, ioas, 0, m, n, 0x4000, 0, iova, 0];
    let unmap = [24, ioas, iova, 0, 0x4000, 0];
    check(&[
        (device, 107, &[16, 0, 0, 0], Ok(&[16, 3, 9, 5])),
        (iommu, 132, &find, Ok(&found)),
        (device, 119, &[12, 0, ioas], Ok(&[12, 0, ioas])),
        (iommu, 128, &[8, ioas], Err(EBUSY)),
        (iommu, 133, &map_anywhere, Ok(&mapped)),
        (iommu, 133, &map, Ok(&map)),
        (iommu, 133, &map, Err(EEXIST)),
        (iommu, 134, &[24, ioas, iova, 0, 0x1000, 0], Err(ENOENT)),
        (iommu, 134, &unmap, Ok(&unmap)),
        (iommu, 134, &unmap, Err(ENOENT)),
    ]);
    assert_eq!(ranges, [0, 0xfedf_ffff, 0xfef0_0000, (1 << 48) - 1]);
    assert_answers(map_registers(device));
    check(&[
        (device, 120, &[8, 0], Ok(&[8, 0])),
        (iommu, 128, &[8, ioas], Ok(&[8, ioas])),
        (iommu, 128, &[8, ioas], Err(ENOENT)),
    ]);
}

#[rustfmt::skip] // a request a line
pub fn interrupts() {
    const CONNECT: u32 = 4 | 32;
    const TRIGGER: u32 = 1 | 32;
    const MASK: u32 = 1 | 8;
    let port = open_port();
    // SAFETY: a new eventfd.
    let event = unsafe { libc::eventfd(0, libc::EFD_NONBLOCK) };
    let fired = || {
        let (mut value, events, revents) = (0_u64, libc::POLLIN, 0);
        let mut entry = libc::pollfd {
            fd: event,
            events,
            revents,
        };
        // SAFETY: one entry, and a buffer of 8 bytes. The card signals soon, not at once.
        unsafe {
            libc::poll(&raw mut entry, 1, 300);
            libc::read(event, (&raw mut value).cast(), 8) == 8 && value == 1
        }
    };
    let none = u32::MAX;
    let device = port.device;
    check(&[
        (device, 110, &[36, CONNECT, 2, 0, 4, none, none, none, none], Ok(&[36, CONNECT, 2, 0, 4, none, none, none, none])),
        (device, 110, &[35, CONNECT, 2, 0, 4, none, none, none, none], Err(EINVAL)),
        (device, 110, &[36, CONNECT, 2, 0, 5, none, none, none, none], Err(EINVAL)),
        (device, 110, &[40, CONNECT, 5, 0, 1, none], Err(EINVAL)),
        (device, 110, &[40, CONNECT | 64, 2, 0, 1, none], Err(EINVAL)),
        (device, 110, &[40, CONNECT | 1, 2, 0, 1, none], Err(EINVAL)),
        (device, 110, &[20, TRIGGER, 2, u32::MAX, 2], Err(EINVAL)),
    ]);
    // More eventfds than one message takes, with a hole.
    let mut many = vec![20 + 4 * 20, CONNECT, 2, 0, 20];
    many.extend([event as u32; 20]);
    many[5 + 3] = none;
    check(&[(device, 110, &many, Ok(&many))]);
    for (vector, fires) in [(3, false), (4, true), (15, true), (16, true), (19, true)] {
        let trigger = [20, TRIGGER, 2, vector, 1];
        check(&[(device, 110, &trigger, Ok(&trigger))]);
        assert_eq!(fired(), fires, "vector {vector}");
    }
    // Flags, index, start, count, the first eventfd; the result, and whether the eventfd fires then.
    let mut rows = vec![
        (CONNECT, 2, 0, 2, event, Ok(()), false),
        (CONNECT, 1, 0, 1, event, Err(EINVAL), false), // MSI beside MSI-X.
        (TRIGGER, 2, 0, 1, 0, Ok(()), true),
        (TRIGGER, 2, 1, 1, 0, Ok(()), false),
        (MASK, 2, 0, 1, 0, Err(ENOTTY), false),
        (CONNECT, 2, 0, 65, 0, Err(EINVAL), false),
        (TRIGGER, 2, 0, 65, 0, Err(EINVAL), false),
        (TRIGGER, 2, 63, 2, 0, Err(EINVAL), false),
        (TRIGGER, 2, 0, 0, 0, Ok(()), false),
    ];
    for index in [3, 4] {
        rows.extend([
            (CONNECT, index, 0, 1, event, Ok(()), false),
            (TRIGGER, index, 0, 1, 0, Ok(()), true),
            (TRIGGER, index, 0, 2, 0, Err(EINVAL), false), // Only the bridge knows this one.
            (CONNECT, index, 0, 1, -1, Ok(()), false),
            (TRIGGER, index, 0, 1, 0, Ok(()), false),
        ]);
    }
    for (flags, index, start, count, fd, expected, fires) in rows {
        let request = [28, flags, index, start, count, fd as u32, u32::MAX];
        let result = words(port.device, 110, request).map(drop);
        assert_eq!((result, fired()), (expected, fires), "{request:?}");
    }
}
