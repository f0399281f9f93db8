#!/usr/bin/env bash
# Fetches the virtual machine of `make test ONLY=vm-test`, and prints its folder. The folder contains:
#
#   qemu          a script that runs QEMU (>= 10.2, which has vfio-user-pci and ends with its parent)
#   vmlinuz       the kernel of Debian 13
#   initramfs     busybox, the kernel's modules for VFIO, ixgbe and virtio, and guest-init.sh as /init
#   versions      the packages that the folder comes from, one a line
#
# The script downloads 160 MB of Debian 13's packages once and unpacks them into that folder. apt keeps its state there
# too, so the system's packages, package lists and sources do not change. The script needs no root.
# It needs apt, and the package debian-archive-keyring, whose keys let apt verify the downloads.
# The packages come from the mirror in TRIPTYCH_DEBIAN_MIRROR. Without that variable, a Debian system uses its mirror.
# The exit status is 2 if the script cannot fetch the packages. The last line gives the reason.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"
# shellcheck source=bench/setup/debian.sh
. "$here/debian.sh"

GOAL="make test ONLY=vm-test"
RELEASE="$GUEST_RELEASE"
ARCHITECTURES=amd64
# The initramfs contains these modules and their dependencies. lib/modules/order lists all in the order of loading.
MODULES=(vfio_pci vfio_iommu_type1 ixgbe virtio_pci virtio_console)
DIR="$CACHE/vm-$RELEASE"

[ "$(uname -m)" = x86_64 ] || fail "the guest runs only on x86-64, and this machine is $(uname -m)"

open_cache
RECIPE="$(cat "$here/vm.sh" "$here/debian.sh" "$here/guest-init.sh" | sha256sum | cut -c 1-16)"
is_fetched || open_work gzip xz
if is_fetched; then
    echo "$DIR"
    exit 0
fi

say "fetching QEMU and a kernel for $GOAL (160 MB, once)"
fetch_lists
# Download busybox and the kernel alone. The kernel's dependencies serve only its installation.
kernel="$(dependency linux-image-amd64)"
download busybox-static "$kernel"
download_qemu qemu-system-x86
unpack
write_qemu qemu-system-x86 qemu-system-x86_64
devices="$("$work/qemu" -device help 2>"$work/apt/errors")" || true
grep -q '"vfio-user-pci"' <<<"$devices" || {
    cat "$work/apt/errors" >&2
    fail "QEMU does not run here, or has no vfio-user-pci"
}
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

# add_module NAME: adds a module after its dependencies, which the section .modinfo lists as `depends=a,b`.
add_module() {
    local name="$1" file dependency
    [ ! -e "$initramfs/lib/modules/$name.ko" ] || return 0
    file="$(find "$modules/kernel" -name "$name.ko*" -o -name "${name//_/-}.ko*" | head -n 1)"
    # A driver that is built into the kernel has no module.
    [ -n "$file" ] || {
        grep -qE "/(${name}|${name//_/-})\.ko$" "$modules/modules.builtin" && return 0
        fail "the guest's kernel has no module $name"
    }
    case "$file" in
        *.xz) xz -dc "$file" >"$initramfs/lib/modules/$name.ko" ;;
        *.zst) zstd -qdc "$file" >"$initramfs/lib/modules/$name.ko" ;;
        *) cp "$file" "$initramfs/lib/modules/$name.ko" ;;
    esac
    for dependency in $(tr '\0' '\n' <"$initramfs/lib/modules/$name.ko" |
        grep -a '^depends=' | cut -d = -f 2 | tr ',' ' '); do
        add_module "${dependency//-/_}"
    done
    echo "$name" >>"$initramfs/lib/modules/order"
}
for module in "${MODULES[@]}"; do add_module "$module"; done

(cd "$initramfs" && find . | "$work/root/usr/bin/busybox" cpio -o -H newc 2>/dev/null) | gzip -1 >"$work/initramfs"

# Remove the files that the tests do not use: the kernel's other modules are 100 MB, and so are the packages.
rm -rf "$work/apt" "$initramfs" "$work/root/usr/lib/modules" "$work/root/boot"
finish
echo "$DIR"
