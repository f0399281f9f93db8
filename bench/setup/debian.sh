# Functions that fetch Debian's packages and unpack them, without installing them. vm.sh and pmu-guest.sh source this file.
# They first source common.sh, then set these variables:
#
#   GOAL           the make goal that needs the packages, for messages
#   DIR            the folder for the result
#   RECIPE         the checksum of the scripts that build the folder, so that a change of them builds it again
#   RELEASE        Debian's release; QEMU comes from its backports
#   ARCHITECTURES  Debian's names of the architectures, separated by spaces; the first is this machine's
#
# apt keeps its state in the folder, too. The system's packages, package lists and sources do not change.
# shellcheck shell=bash disable=SC2154  # the caller sets the variables

# This version ends with the program that started it, and has vfio-user-pci.
QEMU_AT_LEAST=1:10.2
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# Succeeds if the folder is complete and current.
is_fetched() { [ "$(cat "$DIR/recipe" 2>/dev/null || true)" = "$RECIPE" ]; }

# open_work COMMAND...: makes the folder $work and the options $apt_options. It also checks that the commands exist.
# It waits for another process that fetches the same; the caller then looks again whether the folder is fetched.
open_work() {
    local command missing=() architecture
    for command in apt-get dpkg-deb flock "$@"; do
        command -v "$command" >/dev/null || missing+=("$command")
    done
    [ ${#missing[@]} -eq 0 ] ||
        fail "missing for $GOAL: ${missing[*]}. The script needs them to unpack Debian packages"
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
        -o "APT::Architecture=${ARCHITECTURES%% *}" -o "APT::Sandbox::User="
        -o "Dir::State=$work/apt" -o "Dir::State::status=$work/apt/status" -o "Dir::State::lists=$work/apt/lists"
        -o "Dir::Cache=$work/apt" -o "Dir::Cache::archives=$work/apt/archives"
        -o "Dir::Cache::pkgcache=" -o "Dir::Cache::srcpkgcache="
        -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$work/apt/sources"
        -o "Dir::Etc::Preferences=/dev/null" -o "Dir::Etc::PreferencesParts=$work/apt/preferences"
        -o "Dir::Etc::Trusted=/dev/null" -o "Dir::Etc::TrustedParts=$work/apt/preferences"
        -o "Acquire::Retries=2" -o "Acquire::http::Timeout=30" -o "Acquire::https::Timeout=30"
        # Without this option, apt only warns of a failed fetch and continues with an old list.
        -o "APT::Update::Error-Mode=any")
    for architecture in $ARCHITECTURES; do apt_options+=(-o "APT::Architectures::=$architecture"); done
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
    local candidate
    mirror=''
    while read -r candidate; do
        if update "$candidate"; then
            mirror="$candidate"
            break
        fi
    done < <(mirrors | uniq)
    [ -z "$mirror" ] || return 0
    [ -e "$work/apt/errors" ] ||
        fail "this system is not Debian: set TRIPTYCH_DEBIAN_MIRROR=URL to a mirror of Debian's packages"
    cat "$work/apt/errors" >&2
    ! grep -q NO_PUBKEY "$work/apt/errors" ||
        fail "$KEYRING has no key for Debian's $RELEASE: upgrade the package debian-archive-keyring"
    fail "cannot fetch the lists of Debian's packages: is there a network?"
}

# dependency PACKAGE: prints the package that a metapackage stands for, such as the current kernel.
dependency() { apt-cache "${apt_options[@]}" depends "$1" | sed -n 's/^ *Depends: //p' | head -n 1; }

# download PACKAGE...: downloads these packages alone.
download() { (cd "$work/apt/archives" && apt-get "${apt_options[@]}" download "$@" </dev/null); }

# download_qemu PACKAGE: downloads this package of QEMU and all that it needs.
download_qemu() {
    apt-get "${apt_options[@]}" -y --download-only --no-install-recommends --target-release "$RELEASE-backports" \
        install "$1" </dev/null >/dev/null
}

# Unpacks all downloaded packages into $work/root, and lists their versions in $work/versions.
unpack() {
    local link package
    # The links of a merged /usr put files of lib/x and of usr/lib/x into one folder.
    for link in bin sbin lib lib64; do
        mkdir -p "$work/root/usr/$link"
        ln -s "usr/$link" "$work/root/$link"
    done
    unpack_debs "$work/apt/archives" "$work/root"
    for package in "$work"/apt/archives/*.deb; do
        # shellcheck disable=SC2016  # dpkg expands ${...}
        dpkg-deb --showformat '${Package} ${Version}\n' --show "$package"
    done >"$work/versions"
}

# write_qemu PACKAGE PROGRAM: writes the script $work/qemu, which runs QEMU with its own libraries instead of the
# system's. The script finds them by its own path, so the folder may move.
write_qemu() {
    local version
    version="$(sed -n "s/^$1 //p" "$work/versions")"
    dpkg --compare-versions "$version" ge "$QEMU_AT_LEAST" ||
        fail "$mirror has QEMU $version for $RELEASE, but the tests need $QEMU_AT_LEAST"
    cat >"$work/qemu" <<SCRIPT
#!/bin/sh
# Runs this folder's QEMU with this folder's libraries.
here="\$(dirname "\$(readlink -f "\$0")")/root"
libraries="\$here/usr/lib/x86_64-linux-gnu"
exec "\$here/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$libraries:\$libraries/pulseaudio" \\
    "\$here/usr/bin/$2" \\
    -L "\$here/usr/share/qemu" -L "\$here/usr/share/seabios" -L "\$here/usr/lib/ipxe/qemu" "\$@"
SCRIPT
    chmod +x "$work/qemu"
}

# Moves the work folder to its place.
finish() {
    echo "$RECIPE" >"$work/recipe"
    rm -rf "$DIR"
    mv "$work" "$DIR"
    trap - EXIT
}
