#!/usr/bin/env bash
# Takes the patches of the ladder along when the safe driver has changed, or a rung is to be changed.
#
# Each patch is applied to what the one before it left, and where the two no longer fit together, this stops: the
# conflict stands in the file, to be settled in an editor. Called again, it goes on. In the end all patches are written
# anew. A rung that is named is stopped at in any case, to be changed. An empty patch makes a new rung.
set -euo pipefail

readonly USAGE="usage: ${0##*/} [RUNG | --abort]
  RUNG     stop at this one, such as 11-pool-bounds, to change it
  --abort  forget what was begun"

if (($# > 1)) || [[ ${1-} == -* && ${1-} != --abort ]]; then
    echo "$USAGE" >&2
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly PATCHES=bench/ladder WORK=build/ladder-mend
readonly STOPPED=$WORK/stopped

# git_in KIND ARGUMENTS...: git in the sources of one half of the ladder, whatever the user has configured.
git_in() {
    git -C "$WORK/$1" -c user.name=ladder -c user.email=ladder@localhost -c commit.gpgsign=false \
        -c core.hooksPath=/dev/null -c core.autocrlf=false "${@:2}"
}

# The rungs of one half, from the shipped driver on.
rungs() {
    local order=()
    [[ $1 == remove ]] && order=(--reverse)
    find "$PATCHES/$1" -name '*.patch' -printf '%f\n' | sed 's/\.patch$//' | sort "${order[@]}"
}

begin() {
    local kind=$1
    mkdir -p "$WORK/$kind"
    cp -r rust "$WORK/$kind/"
    rm -rf "$WORK/$kind/rust/target"
    git_in "$kind" init --quiet
    git_in "$kind" add --all
    git_in "$kind" commit --quiet --message shipped
}

stop() {
    echo "$1" >"$STOPPED"
    echo "$1 $2: edit $WORK/${1%%/*}/rust/src, and call this again"
    exit 1
}

unsettled() {
    local tree=$WORK/$1/rust
    grep -rnE '^(<<<<<<<|=======|>>>>>>>)$' "$tree" || [[ -n $(find "$tree" -name '*.rej' -print -quit) ]]
}

# take KIND RUNG WANTED: applies the patch of one rung, or takes what the user made of it.
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
        # Without the lines that name blobs: these exist in the work folder only.
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
    if [[ ! -e $PATCHES/remove/$1.patch && ! -e $PATCHES/add/$1.patch ]]; then
        echo "there is no rung $1 with a patch in $PATCHES" >&2
        exit 2
    fi
    ;;
esac

for kind in remove add; do
    [[ -d $WORK/$kind ]] || begin "$kind"
    for rung in $(rungs "$kind"); do
        take "$kind" "$rung" "${1-}"
    done
done
for kind in remove add; do
    write "$kind"
done
rm -rf "$WORK"
echo "all patches are written; do they compile? make test-ladder"
