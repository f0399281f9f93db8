# Fetches a guest of the tests: Debian's packages of QEMU, kernel and busybox, unpacked without installing them. vm.sh and
# pmu-guest.sh source this file, set these variables and call fetch_guest, which prints the guest's folder:
#
#   GOAL           the make goal that needs the guest, for messages
#   GUEST          the name of the folder and of the script
#   ARCHITECTURES  Debian's names of the architectures, separated by spaces; the first is this machine's
#   META_KERNEL, BUSYBOX, QEMU, PROGRAM  the packages, and QEMU's program
#
# Their function `assemble` makes the folder's other files from $work/root and the package $kernel.
#
# apt keeps its state in the folder, so the system's packages, package lists and sources do not change. The script needs
# no root. It needs apt, and the package debian-archive-keyring, whose keys let apt verify the downloads. The packages come
# from the mirror in TRIPTYCH_DEBIAN_MIRROR, or on a Debian system from that system's mirror. The exit status is 2 if
# something cannot be had. The last line gives the reason.
# shellcheck shell=bash disable=SC2154  # the caller sets the variables
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=bench/setup/common.sh
. "$here/common.sh"

# This version ends with the program that started it, and has vfio-user-pci.
QEMU_AT_LEAST=1:10.2
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Succeeds if the folder is complete and current.
is_fetched() { [ "$(cat "$DIR/recipe" 2>/dev/null || true)" = "$RECIPE" ]; }

# Makes the folder $work and the options $apt_options, and waits for another process that fetches the same. The caller then
# looks again whether the folder is fetched.
open_work() {
    command -v apt-get >/dev/null || fail "missing for $GOAL: apt-get, which unpacks Debian's packages"
    [ -e "$KEYRING" ] || apt_install "$GOAL (Debian's keys)" debian-archive-keyring

    # A link would lead to another file, which the script would empty.
    [ ! -L "$DIR.lock" ] || fail "$DIR.lock is a link. Remove it, then run this again"
    exec 9>"$DIR.lock"
    flock 9
    work="$DIR.new"
    ! is_fetched || return 0
    rm -rf "$work"
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work"/apt/{lists/partial,archives/partial,sources,preferences} "$work/root"
    touch "$work/apt/status"
    # Separate all of apt's state from the system's, except the configuration, which names proxies.
    apt_options=(-qq
        -o "APT::Architecture=${ARCHITECTURES%% *}" -o "APT::Architectures=${ARCHITECTURES// /,}" -o "APT::Sandbox::User="
        -o "Dir::State=$work/apt" -o "Dir::State::status=$work/apt/status" -o "Dir::Cache=$work/apt"
        -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/sources"
        -o "Dir::Etc::Preferences=/dev/null" -o "Dir::Etc::PreferencesParts=$work/apt/preferences"
        -o "Dir::Etc::Trusted=/dev/null" -o "Dir::Etc::TrustedParts=$work/apt/preferences"
        -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30" -o "Acquire::https::Timeout=30"
        # Without this option, apt only warns of a failed fetch and continues with an old list.
        -o "APT::Update::Error-Mode=any")
}

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
Architectures: $ARCHITECTURES
Signed-By: $KEYRING
SOURCES
    apt-get "${apt_options[@]}" update </dev/null 2>"$work/apt/errors"
}

# Fetches the package lists from the first mirror that answers, and names it in $mirror.
fetch_lists() {
    while read -r mirror; do
        ! update "$mirror" || return 0
    done < <(mirrors | uniq)
    [ -e "$work/apt/errors" ] ||
        fail "this system is not Debian: set TRIPTYCH_DEBIAN_MIRROR=URL to a mirror of Debian's packages"
    cat "$work/apt/errors" >&2
    ! grep -q NO_PUBKEY "$work/apt/errors" ||
        fail "$KEYRING has no key for Debian's $RELEASE: upgrade the package debian-archive-keyring"
    fail "cannot fetch the lists of Debian's packages: is there a network?"
}

# Writes the script $work/qemu, which runs QEMU with its own libraries instead of the system's. The script finds them by its
# own path, so the folder may move.
write_qemu() {
    local version
    version="$(sed -n "s/^$QEMU //p" "$work/versions")"
    dpkg --compare-versions "$version" ge "$QEMU_AT_LEAST" ||
        fail "$mirror has QEMU $version for $RELEASE, but the tests need $QEMU_AT_LEAST"
    cat >"$work/qemu" <<SCRIPT
#!/bin/sh
# Runs this folder's QEMU with this folder's libraries.
here="\$(dirname "\$(readlink -f "\$0")")/root"
libraries="\$here/usr/lib/x86_64-linux-gnu"
exec "\$here/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$libraries:\$libraries/pulseaudio" \\
    "\$here/usr/bin/$PROGRAM" \\
    -L "\$here/usr/share/qemu" -L "\$here/usr/share/seabios" -L "\$here/usr/lib/ipxe/qemu" "\$@"
SCRIPT
    chmod +x "$work/qemu"
}

# Fetches the guest unless it is there, and prints its folder.
fetch_guest() {
    [ "$(uname -m)" = x86_64 ] || fail "the guest needs packages for x86-64, and this machine is $(uname -m)"
    RELEASE="$GUEST_RELEASE" DIR="$CACHE/$GUEST-$GUEST_RELEASE"
    RECIPE="$(cat "$here/$GUEST.sh" "$here/debian.sh" "$here/guest-init.sh" | sha256sum | cut -c 1-16)"
    open_cache
    is_fetched || open_work
    if ! is_fetched; then
        say "fetching QEMU and a kernel for $GOAL (160 MB, once)"
        fetch_lists
        # $META_KERNEL stands for the current kernel. It and busybox come alone: other packages serve only installation.
        kernel="$(apt-cache "${apt_options[@]}" depends "$META_KERNEL" | sed -n 's/^ *Depends: //p' | head -n 1)"
        (cd "$work/apt/archives" && apt-get "${apt_options[@]}" download "$BUSYBOX" "$kernel" </dev/null)
        apt-get "${apt_options[@]}" -y --download-only --no-install-recommends --target-release "$RELEASE-backports" \
            install "$QEMU" </dev/null >/dev/null
        unpack_debs "$work/apt/archives" "$work/root"
        # shellcheck disable=SC2016  # dpkg expands ${...}
        find "$work/apt/archives" -name '*.deb' -exec dpkg-deb --showformat '${Package} ${Version}\n' --show {} ';' |
            sort >"$work/versions"
        write_qemu
        "$work/qemu" --version >/dev/null || fail "QEMU does not run here"
        assemble
        # The tests do not use the rest: the kernel's other modules are 100 MB, and so are the packages.
        rm -rf "$work/apt" "$work/root/boot" "$work"/root/usr/lib/{modules,linux-image-*}
        echo "$RECIPE" >"$work/recipe"
        rm -rf "$DIR"
        mv "$work" "$DIR"
        trap - EXIT
    fi
    echo "$DIR"
}
