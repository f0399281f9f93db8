#!/usr/bin/env bash
# Fetches the virtual machine of `make vm-test`, and prints its folder. The folder contains:
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

RELEASE=trixie
QEMU_AT_LEAST=1:10.2
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# The initramfs contains these modules and their dependencies. lib/modules/order lists all in the order of loading.
MODULES=(vfio_pci vfio_iommu_type1 ixgbe virtio_pci virtio_console)
DIR="$CACHE/vm-$RELEASE"

[ "$(uname -m)" = x86_64 ] || fail "the guest runs only on x86-64, and this machine is $(uname -m)"

# A checksum identifies the scripts that build the initramfs, so that a change of them builds it again.
recipe="$(cat "$here/vm.sh" "$here/guest-init.sh" | sha256sum | cut -c 1-16)"
if [ "$(cat "$DIR/recipe" 2>/dev/null || true)" = "$recipe" ]; then
    echo "$DIR"
    exit 0
fi

missing=()
for command in apt-get dpkg-deb gzip xz flock; do
    command -v "$command" >/dev/null || missing+=("$command")
done
[ ${#missing[@]} -eq 0 ] ||
    fail "missing for make vm-test: ${missing[*]}. The script needs them to unpack Debian packages"
[ -e "$KEYRING" ] || apt_install "make vm-test (Debian's keys)" debian-archive-keyring

mkdir -p "$CACHE"
# Only one process fetches at a time. A second one waits, then finds the finished folder.
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

# Separate all of apt's state from the system's, except the configuration, which names proxies.
apt_options=(-qq
    -o "APT::Architecture=amd64" -o "APT::Architectures=amd64" -o "APT::Sandbox::User="
    -o "Dir::State=$work/apt" -o "Dir::State::status=$work/apt/status" -o "Dir::State::lists=$work/apt/lists"
    -o "Dir::Cache=$work/apt" -o "Dir::Cache::archives=$work/apt/archives"
    -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
    -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/sources"
    -o "Dir::Etc::Preferences=/dev/null" -o "Dir::Etc::PreferencesParts=$work/apt/preferences"
    -o "Dir::Etc::Trusted=/dev/null" -o "Dir::Etc::TrustedParts=$work/apt/preferences"
    -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30" -o "Acquire::https::Timeout=30"
    # Without this option, apt only warns of a failed fetch and continues with an old list.
    -o "APT::Update::Error-Mode=any")

# Prints the mirrors to try: first the user's choice, then, on a Debian system, the mirror of its own packages.
mirrors() {
    [ -z "${TRIPTYCH_DEBIAN_MIRROR:-}" ] || echo "$TRIPTYCH_DEBIAN_MIRROR"
    # shellcheck disable=SC2016  # apt expands $(...)
    [ "$(. /etc/os-release && echo "$ID")" != debian ] ||
        apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
        sed -nE 's|^(.*/debian)/? main$|\1|p' | head -n 1
}

# update MIRROR: fetches the package lists. apt verifies their signature.
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
        fail "this system is not Debian: set TRIPTYCH_DEBIAN_MIRROR=URL to a mirror of Debian's packages"
    cat "$work/apt/errors" >&2
    ! grep -q NO_PUBKEY "$work/apt/errors" ||
        fail "$KEYRING has no key for Debian's $RELEASE: upgrade the package debian-archive-keyring"
    fail "cannot fetch the lists of Debian's packages: is there a network?"
fi

# Download busybox and the kernel alone. The kernel's dependencies serve only its installation.
kernel="$(apt-cache "${apt_options[@]}" depends linux-image-amd64 | sed -n 's/^ *Depends: //p' | head -n 1)"
(cd "$work/apt/archives" && apt-get "${apt_options[@]}" download busybox-static "$kernel" </dev/null)
apt-get "${apt_options[@]}" -y --download-only --no-install-recommends --target-release "$RELEASE-backports" \
    install qemu-system-x86 </dev/null >/dev/null

# The links of a merged /usr put files of lib/x and of usr/lib/x into one folder.
for link in bin sbin lib lib64; do
    mkdir -p "$work/root/usr/$link"
    ln -s "usr/$link" "$work/root/$link"
done
for package in "$work"/apt/archives/*.deb; do
    # tar can keep these links. dpkg-deb would replace them by folders.
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$work/root"
    # shellcheck disable=SC2016  # dpkg expands ${...}
    dpkg-deb --showformat '${Package} ${Version}\n' --show "$package"
done >"$work/versions"
qemu_version="$(sed -n 's/^qemu-system-x86 //p' "$work/versions")"
dpkg --compare-versions "$qemu_version" ge "$QEMU_AT_LEAST" ||
    fail "$mirror has QEMU $qemu_version for $RELEASE, but the tests need $QEMU_AT_LEAST"

# QEMU runs with its own libraries instead of the system's. The script finds them by its own path, so the folder may
# move.
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
echo "$recipe" >"$work/recipe"
rm -rf "$DIR"
mv "$work" "$DIR"
trap - EXIT
echo "$DIR"
