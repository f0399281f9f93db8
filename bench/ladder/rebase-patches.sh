#!/usr/bin/env bash
# Adapts the patches of both ladders to changed drivers, or stops at a rung that the user wants to change.
#
# The script applies each patch to the result of the patch before it. If a patch does not fit, the script stops and
# leaves the conflict in the file. The user resolves the conflict and runs the script again, which then continues.
# At the end the script writes all patches. An empty patch file starts a new rung.
set -euo pipefail

readonly USAGE="usage: ${0##*/} [RUNG | --abort]
  RUNG     stop at this rung (for example 13-pool-bounds), so that you can change it
  --abort  remove the unfinished work"

if (($# > 1)) || [[ ${1-} == -* && ${1-} != --abort ]]; then
    echo "$USAGE" >&2
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly PATCHES=bench/ladder WORK=build/ladder-patches
readonly STOPPED=$WORK/stopped

# Each kind is a chain of patches that starts at the shipped drivers: the halves of the ladder, and those of the ladder
# to the limit.
mapfile -t KINDS < <(cd "$PATCHES" && printf '%s\n' remove add limit/*/ | sed 's|/$||')

# git_in KIND ARGUMENTS...: runs git in the sources of one chain, independent of the user's settings.
git_in() {
    git -C "$WORK/$1" -c user.name=ladder -c user.email=ladder@localhost -c commit.gpgsign=false \
        -c core.hooksPath=/dev/null -c core.autocrlf=false "${@:2}"
}

# rungs KIND: prints the rungs of one chain, starting at the shipped driver.
rungs() {
    local order=()
    [[ $1 == remove ]] && order=(--reverse)
    find "$PATCHES/$1" -name '*.patch' -printf '%f\n' | sed 's/\.patch$//' | sort "${order[@]}"
}

begin() {
    local kind=$1
    mkdir -p "$WORK/$kind/c"
    cp -r rust "$WORK/$kind/"
    cp -r c/src "$WORK/$kind/c/"
    rm -rf "$WORK/$kind/rust/target"
    git_in "$kind" init --quiet
    git_in "$kind" add --all
    git_in "$kind" commit --quiet --message shipped
}

stop() {
    echo "$1" >"$STOPPED"
    echo "$1 $2: edit $WORK/${1%/*}, then run this again"
    exit 1
}

unsettled() {
    local tree=$WORK/$1
    grep -rnE --exclude-dir=.git '^(<<<<<<<|=======|>>>>>>>)$' "$tree" || [[ -n $(find "$tree" -name '*.rej' -print -quit) ]]
}

# take KIND RUNG WANTED: applies the patch of one rung, or commits the user's changes to it.
take() {
    local kind=$1 rung=$2 wanted=$3 fits=yes taken
    taken=$(git_in "$kind" log --format=%s)
    if grep -qxF "$rung" <<<"$taken"; then
        return
    fi
    if [[ -e $STOPPED && $(<"$STOPPED") == "$kind/$rung" ]]; then
        rm "$STOPPED"
    else
        if [[ -s $PATCHES/$kind/$rung.patch ]]; then
            patch --silent --merge --no-backup-if-mismatch -p1 -d "$WORK/$kind" <"$PATCHES/$kind/$rung.patch" || fits=no
        fi
        [[ $fits == yes ]] || stop "$kind/$rung" "no longer fits"
        [[ $rung != "$wanted" ]] || stop "$kind/$rung" "is applied"
    fi
    if unsettled "$kind"; then
        stop "$kind/$rung" "has conflicts"
    fi
    git_in "$kind" add --all
    git_in "$kind" diff --cached --quiet && stop "$kind/$rung" "changes nothing"
    git_in "$kind" commit --quiet --message "$rung"
}

write() {
    local kind=$1 commit rung
    git_in "$kind" log --format='%h %s' | while read -r commit rung; do
        [[ $rung == shipped ]] && continue
        # sed removes the lines that name blobs, because those exist only in the work folder.
        git_in "$kind" diff --no-color --no-ext-diff --src-prefix=a/ --dst-prefix=b/ "$commit~" "$commit" |
            sed '/^index [0-9a-f]*\.\./d' >"$PATCHES/$kind/$rung.patch"
    done
}

case ${1-} in
--abort)
    rm -rf "$WORK"
    exit
    ;;
?*)
    if [[ -z $(find "$PATCHES" -name "$1.patch") ]]; then
        echo "$PATCHES has no patch for a rung $1" >&2
        exit 2
    fi
    ;;
esac

for kind in "${KINDS[@]}"; do
    [[ -d $WORK/$kind ]] || begin "$kind"
    for rung in $(rungs "$kind"); do
        take "$kind" "$rung" "${1-}"
    done
done
for kind in "${KINDS[@]}"; do
    write "$kind"
done
rm -rf "$WORK"
echo "All patches are written. Run 'make test ONLY=test-ladder' to check that they compile."
