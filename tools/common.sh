# Sourced by the other tools. Sets `root`, the repository's folder, and offers what they share.
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

# build_strictly: from here on a warning fails the build, except that something is deprecated, and except in
# Tests/SeedSamples: Package.swift asks for this. A build under the other setting compiles everything again.
build_strictly() { export STRATA_STRICT=1; }

# Swift's libraries linked into the program: it starts in half the time, and runs where there is no Swift.
# shellcheck disable=SC2034
release=(-c release --static-swift-stdlib -Xswiftc -use-ld=lld)
# A folder of its own lets release and other builds run side by side.
[[ -z ${STRATA_RELEASE_BUILD:-} ]] || release+=(--scratch-path "$STRATA_RELEASE_BUILD")

say() { printf '%s\n' "$*" >&2; }

# usage_error MESSAGE: ends with 2.
usage_error() {
    say "$(basename "$0"): $1 (see tools/$(basename "$0") --help)"
    exit 2
}

# seconds_since START: START as in $EPOCHREALTIME; in tenths.
seconds_since() {
    local start=${1/[.,]/} end=${EPOCHREALTIME/[.,]/}
    local tenths=$(((end - start) / 100000))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# step NAME COMMAND…: runs it and says how long it took. Its status is the command's.
step() {
    local name=$1 start=$EPOCHREALTIME status=0
    shift
    say "== $name"
    "$@" || status=$?
    if ((status == 0)); then
        say "-- $name: $(seconds_since "$start") s"
    else
        say "-- $name: failed with $status after $(seconds_since "$start") s"
    fi
    return "$status"
}

# quietly COMMAND…: shows its output only when it fails.
quietly() {
    local output status=0
    output=$(mktemp)
    "$@" >"$output" 2>&1 </dev/null || status=$?
    ((status == 0)) || cat "$output" >&2
    rm -f "$output"
    return "$status"
}

# need PACKAGE…: the Debian packages that must be there. Root gets what is missing; anybody else is told.
need() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: make sure that the equivalents of these are installed: $*"
        return 0
    fi
    for package; do
        # shellcheck disable=SC2016
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)); then
        say "missing: ${missing[*]}. Install with"
        say "    sudo apt-get install ${missing[*]}"
        exit 2
    fi
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    if ! { quietly apt-get update -qq && quietly apt-get install -y -qq --no-install-recommends "${missing[@]}"; }; then
        say "apt-get could not install them: ${missing[*]}"
        exit 2
    fi
}

# want PACKAGE…: like need, for tests that are skipped without them.
want() { (need "$@") || say "notice: tests that use them are skipped"; }

# need_swift: Swift 6.2 or newer on the PATH.
need_swift() {
    local version=()
    if ! command -v swift >/dev/null; then
        say "there is no swift on the PATH: install Swift 6.2 or newer, see https://www.swift.org/install/linux"
        exit 2
    fi
    read -ra version < <(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p') || true
    if ((${#version[@]} < 2 || version[0] * 100 + version[1] < 602)); then
        say "Swift 6.2 or newer is needed, and $(command -v swift) is ${version[*]:-of no known version}:" \
            "see https://www.swift.org/install/linux"
        exit 2
    fi
}

# need_for_build: what every build of the package takes.
need_for_build() {
    need_swift
    need liblz4-dev libsodium-dev pkg-config git
}

# find_imports OPTION…: sets `imports` to the compiler's options that find the modules of the last `swift build` with
# these options.
find_imports() {
    local products file
    products=$(swift build --package-path "$root" "$@" --show-bin-path) || return
    imports=(-I "$products/Modules")
    for file in "$root"/Sources/{CStrataLZ4,CStrataSodium}/module.modulemap "$products"/{CStrata,CCloudKit}.build/module.modulemap; do
        imports+=(-Xcc "-fmodule-map-file=$file")
    done
}

# objects_of MODULE FOLDER: the objects of a module in a build's folder, without those of sources that are gone.
objects_of() { find "$root/Sources/$1" \( -name '*.swift' -o -name '*.c' \) -printf "$2/$1.build/%f.o\n" | LC_ALL=C sort; }

# text_sizes FOLDER: the bytes of machine code of each Swift module of a build, before linking, largest first.
text_sizes() {
    local module objects
    for module in "$root"/Sources/*/; do
        module=$(basename "$module")
        compgen -G "$1/$module.build/*.swift.o" >/dev/null || continue
        mapfile -t objects < <(objects_of "$module" "$1")
        printf '%s\t%s\n' "$module" "$(size -A "${objects[@]}" | awk '/^\.text/ { sum += $2 } END { print sum }')"
    done | sort -t $'\t' -k 2nr
}

# Runs in a network of its own, whose only interface is down at first.
raise_loopback() {
    python3 -c '
import fcntl, socket, struct
up = struct.pack("16sh22x", b"lo", 1)
fcntl.ioctl(socket.socket(), 0x8914, up)'
}

# find_apart FUNCTION: sets `apart` to the words in front of a command that cut it off from the network and, after the
# function has changed what is mounted, run it as the user that called. Returns 4 where the system does not allow it.
find_apart() {
    local away=(unshare --mount --net) back=()
    if ((EUID != 0)); then
        away+=(--map-root-user)
        back=(unshare --user --map-user="$EUID" --map-group="$(id -g)")
    fi
    # shellcheck disable=SC2016
    apart=("${away[@]}" bash -c "set -euo pipefail; $(declare -f raise_loopback "$1"); "'raise_loopback; "$0"; exec "$@"' \
        "$1" "${back[@]}")
    "${apart[@]}" true && return
    say "not possible here: unshare cannot give a command a network and mounts of its own"
    return 4
}
