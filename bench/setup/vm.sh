#!/usr/bin/env bash
# Fetches the virtual machine of `make test ONLY=vm-test`, and prints its folder; see debian.sh. The folder contains:
#
#   qemu          a script that runs QEMU (>= 10.2, which has vfio-user-pci and ends with its parent)
#   vmlinuz       the kernel of Debian 13
#   initramfs     busybox, the kernel's modules for VFIO and ixgbe, and guest-init.sh as /init
#   versions      the packages that the folder comes from, one a line
set -euo pipefail
# shellcheck source=bench/setup/debian.sh
. "$(dirname "${BASH_SOURCE[0]}")/debian.sh"

GOAL="make test ONLY=vm-test" GUEST=vm ARCHITECTURES=amd64
META_KERNEL=linux-image-amd64 BUSYBOX=busybox-static QEMU=qemu-system-x86 PROGRAM=qemu-system-x86_64
# The initramfs contains these modules and their dependencies; virtio is in the kernel itself. lib/modules/order lists
# all in the order of loading.
MODULES=(vfio_pci vfio_iommu_type1 ixgbe)

# add_module NAME: adds a module after its dependencies, which the section .modinfo lists as `depends=a,b`.
add_module() {
    local name="$1" file dependency
    [ ! -e "$initramfs/lib/modules/$name.ko" ] || return 0
    # The name of a file may have - for _.
    file="$(find "$modules/kernel" -name "${name//_/?}.ko.xz")"
    [ -n "$file" ] || fail "the guest's kernel has no module $name"
    xz -dc "$file" >"$initramfs/lib/modules/$name.ko"
    for dependency in $(tr '\0' '\n' <"$initramfs/lib/modules/$name.ko" |
        grep -a '^depends=' | cut -d = -f 2 | tr ',' ' '); do
        add_module "${dependency//-/_}"
    done
    echo "$name" >>"$initramfs/lib/modules/order"
}

assemble() {
    local initramfs modules module
    cp "$work/root/boot/vmlinuz-${kernel#linux-image-}" "$work/vmlinuz"
    # The initramfs contains busybox, user names, and the modules with the order of loading.
    initramfs="$work/initramfs.d"
    modules="$work/root/usr/lib/modules/${kernel#linux-image-}"
    mkdir -p "$initramfs"/{bin,dev,etc,lib/modules,proc,root,run,sys,tmp}
    cp "$work/root/usr/bin/busybox" "$initramfs/bin/busybox"
    ln -s busybox "$initramfs/bin/sh"
    cp "$here/guest-init.sh" "$initramfs/init"
    chmod +x "$initramfs/init"
    printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >"$initramfs/etc/passwd"
    printf 'root:x:0:\nuser:x:1000:\n' >"$initramfs/etc/group"
    for module in "${MODULES[@]}"; do add_module "$module"; done
    (cd "$initramfs" && find . | "$work/root/usr/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs"
    rm -rf "$initramfs"
}

fetch_guest
