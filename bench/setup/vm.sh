#!/usr/bin/env bash
# Fetches what `make vm-test` boots, and prints the folder it is in:
#
#   qemu          runs QEMU (>= 10.2: vfio-user-pci, and it ends with its parent)
#   vmlinuz       Debian 13's kernel
#   initramfs     busybox, that kernel's modules for VFIO, ixgbe and virtio, and guest-init.sh as /init
#   versions      the packages that all this is from, one a line
#
# They are Debian packages, and those of Debian 13 whatever this system is, so they are not installed here but
# unpacked into that folder, with folders of its own for everything that apt keeps: the system's packages, their lists
# and the sources that they are from stay as they are. 160 MB are downloaded, once; no root is needed.
# It needs apt, and Debian's keys, by which apt checks what it downloads: the package debian-archive-keyring.
# They come from the mirror of Debian's packages that TRIPTYCH_DEBIAN_MIRROR names, else, on a Debian, from the system's.
# Exit status 2 if it cannot be had here; the last line says why.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"

RELEASE=trixie
QEMU_AT_LEAST=1:10.2
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# The initramfs has them, and what they depend on, with their order in lib/modules/order.
MODULES=(vfio_pci vfio_iommu_type1 ixgbe virtio_pci virtio_console)
DIR="$CACHE/vm-$RELEASE"

[ "$(uname -m)" = x86_64 ] || fail "the guest is x86-64, and this machine is $(uname -m)"

# What the initramfs is made of is known by its sum, so that a change here makes it anew.
recipe="$(cat "$here/vm.sh" "$here/guest-init.sh" | sha256sum | cut -c 1-16)"
if [ "$(cat "$DIR/recipe" 2>/dev/null || true)" = "$recipe" ]; then
    echo "$DIR"
    exit 0
fi

missing=()
for command in apt-get dpkg-deb gzip xz flock; do
    command -v "$command" >/dev/null || missing+=("$command")
done
[ ${#missing[@]} -eq 0 ] || fail "missing for make vm-test: ${missing[*]}. It unpacks Debian packages, and this is how"
[ -e "$KEYRING" ] || apt_install "make vm-test (Debian's keys)" debian-archive-keyring

mkdir -p "$CACHE"
# Two that fetch at once would be in each other's way; the second finds it done.
exec 9>"$DIR.lock"
flock 9
if [ "$(cat "$DIR/recipe" 2>/dev/null || true)" = "$recipe" ]; then
    echo "$DIR"
    exit 0
fi

work="$DIR.new"
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/apt/{lists/partial,archives/partial,sources,preferences} "$work/root"
touch "$work/apt/status"

# Everything of apt's that would be the system's, except its configuration, which knows of proxies.
apt_options=(-qq
    -o "APT::Architecture=amd64" -o "APT::Architectures=amd64" -o "APT::Sandbox::User="
    -o "Dir::State=$work/apt" -o "Dir::State::status=$work/apt/status" -o "Dir::State::lists=$work/apt/lists"
    -o "Dir::Cache=$work/apt" -o "Dir::Cache::archives=$work/apt/archives"
    -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/sources"
    -o "Dir::Etc::Preferences=/dev/null" -o "Dir::Etc::PreferencesParts=$work/apt/preferences"
    -o "Dir::Etc::Trusted=/dev/null" -o "Dir::Etc::TrustedParts=$work/apt/preferences"
    -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30" -o "Acquire::https::Timeout=30"
    # A failed fetch is an error, not a warning and yesterday's list.
    -o "APT::Update::Error-Mode=any")

# Prints the mirrors to try: the one the user names, and the one this system has its own packages from, if it is a Debian.
mirrors() {
    [ -z "${TRIPTYCH_DEBIAN_MIRROR:-}" ] || echo "$TRIPTYCH_DEBIAN_MIRROR"
    # shellcheck disable=SC2016  # $(...) is apt's
    [ "$(. /etc/os-release && echo "$ID")" != debian ] ||
        apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        sed -nE 's|^(.*/debian)/? main$|\1|p' | head -n 1
}

# update MIRROR: fetches the lists of packages, whose signature apt checks.
update() {
    cat >"$work/apt/sources/debian.sources" <<SOURCES
Types: deb
URIs: $1
Suites: $RELEASE $RELEASE-backports
Components: main
Signed-By: $KEYRING
SOURCES
    apt-get "${apt_options[@]}" update </dev/null 2>"$work/apt/errors"
}

say "fetching QEMU and a kernel for make vm-test (160 MB, once)"
mirror=''
while read -r candidate; do
    if update "$candidate"; then
        mirror="$candidate"
        break
    fi
done < <(mirrors | uniq)
if [ -z "$mirror" ]; then
    [ -e "$work/apt/errors" ] ||
        fail "this system's packages are not Debian's: TRIPTYCH_DEBIAN_MIRROR=URL names a mirror that has them"
    cat "$work/apt/errors" >&2
    ! grep -q NO_PUBKEY "$work/apt/errors" ||
        fail "$KEYRING is too old to know Debian's $RELEASE: upgrade the package debian-archive-keyring"
    fail "no lists of Debian's packages to be had: is there a network?"
fi

# busybox and the kernel alone: what else the kernel's package asks for is for installing it.
kernel="$(apt-cache "${apt_options[@]}" depends linux-image-amd64 | sed -n 's/^ *Depends: //p' | head -n 1)"
(cd "$work/apt/archives" && apt-get "${apt_options[@]}" download busybox-static "$kernel" </dev/null)
apt-get "${apt_options[@]}" -y --download-only --no-install-recommends --target-release "$RELEASE-backports" \
    install qemu-system-x86 </dev/null >/dev/null

# Where a merged /usr has links, so that what is packed as lib/x and as usr/lib/x is one folder.
for link in bin sbin lib lib64; do
    mkdir -p "$work/root/usr/$link"
    ln -s "usr/$link" "$work/root/$link"
done
for package in "$work"/apt/archives/*.deb; do
    # A directory in place of the link would part them again: so tar, which can keep the links.
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$work/root"
    # shellcheck disable=SC2016  # ${...} is dpkg's
    dpkg-deb --showformat '${Package} ${Version}\n' --show "$package"
done >"$work/versions"
qemu_version="$(sed -n 's/^qemu-system-x86 //p' "$work/versions")"
dpkg --compare-versions "$qemu_version" ge "$QEMU_AT_LEAST" ||
    fail "$mirror has QEMU $qemu_version for $RELEASE, and $QEMU_AT_LEAST is needed"

# QEMU runs with its own libraries, not this system's. It is told where it lies by a script, so that the folder can move.
cat >"$work/qemu" <<'SCRIPT'
#!/bin/sh
# Runs this folder's QEMU with this folder's libraries.
here="$(dirname "$(readlink -f "$0")")/root"
libraries="$here/usr/lib/x86_64-linux-gnu"
exec "$here/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libraries:$libraries/pulseaudio" \
    "$here/usr/bin/qemu-system-x86_64" \
    -L "$here/usr/share/qemu" -L "$here/usr/share/seabios" -L "$here/usr/lib/ipxe/qemu" "$@"
SCRIPT
chmod +x "$work/qemu"
devices="$("$work/qemu" -device help 2>"$work/apt/errors")" || true
grep -q '"vfio-user-pci"' <<<"$devices" || {
    cat "$work/apt/errors" >&2
    fail "QEMU $qemu_version does not run here, or has no vfio-user-pci"
}
cp "$work/root/boot/vmlinuz-${kernel#linux-image-}" "$work/vmlinuz"

# The initramfs: busybox, its names for everything, and the modules in the order in which they are to be loaded.
initramfs="$work/initramfs.d"
modules="$work/root/usr/lib/modules/${kernel#linux-image-}"
mkdir -p "$initramfs"/{bin,dev,etc,lib/modules,proc,root,run,sys,tmp}
cp "$work/root/usr/bin/busybox" "$initramfs/bin/busybox"
ln -s busybox "$initramfs/bin/sh"
cp "$here/guest-init.sh" "$initramfs/init"
chmod +x "$initramfs/init"
printf 'root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n' >"$initramfs/etc/passwd"
printf 'root:x:0:\nuser:x:1000:\n' >"$initramfs/etc/group"

# add_module NAME: adds a module after those it depends on, which are in its section .modinfo as `depends=a,b`.
add_module() {
    local name="$1" file dependency
    [ ! -e "$initramfs/lib/modules/$name.ko" ] || return 0
    file="$(find "$modules/kernel" -name "$name.ko*" -o -name "${name//_/-}.ko*" | head -n 1)"
    # What the kernel has built in needs no module.
    [ -n "$file" ] || {
        grep -qE "/(${name}|${name//_/-})\.ko$" "$modules/modules.builtin" && return 0
        fail "this kernel has no module $name"
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

# Only what is used: the kernel's other modules are 100 MB, the packages as many.
rm -rf "$work/apt" "$initramfs" "$work/root/usr/lib/modules" "$work/root/boot"
echo "$recipe" >"$work/recipe"
rm -rf "$DIR"
mv "$work" "$DIR"
trap - EXIT
echo "$DIR"
