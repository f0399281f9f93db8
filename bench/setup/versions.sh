# The versions of the tools that the project pins. The set-up scripts and the Containerfile read them here.
# shellcheck shell=bash disable=SC2034  # the scripts that read this file use the variables

# Rust in the Containerfile and in the hosted CI. Elsewhere the project builds with any Rust since `rust-version` in Cargo.toml.
RUST=1.95.0

# clang-format and clang-tidy. The output of clang-format changes between major versions. Debian 12 and 13 and
# Ubuntu 24.04 have version 19.
CLANG=19

# cargo-machete, which finds the dependencies that no source uses.
MACHETE=0.9.2

# uv, which finds the Python packages and their hashes in `bench/setup/python-lock.sh`.
UV_VERSION=0.13.9

# C2Rust, and LLVM's major version. Both decide which Rust the transpiler emits.
C2RUST=0.22.1
C2RUST_LLVM=19

# The compilers that `make compilers` compares.
C_COMPILERS=(gcc-11 gcc-12 gcc-13 gcc-14 clang-13 clang-14 clang-15 clang-16 clang-19 clang-22)
RUST_TOOLCHAINS=(1.85.1 1.90.0 "$RUST" 1.96.0)

# Debian's release for the guests of `make test ONLY=vm-test` and `make test ONLY=pmu-test`: its kernel, busybox and QEMU.
GUEST_RELEASE=trixie
# Rust's name of the guest's processor and C library in `make test ONLY=pmu-test`.
PMU_GUEST_TARGET=aarch64-unknown-linux-musl

# Rust's name of the machine for which `make test ONLY=arm-test` builds, and the folder of its C library from Debian's packages.
ARM_TARGET=aarch64-unknown-linux-gnu
ARM_LIBRARIES=/usr/aarch64-linux-gnu
