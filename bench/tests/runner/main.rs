//! Tests of `triptych`, the benchmark runner, from outside.

#![allow(clippy::unwrap_used)]

mod asm;
mod card;
mod cli;
mod compare;
mod host;
mod load;
mod matrix;
#[cfg(target_arch = "x86_64")]
mod peer_run;
mod peers;
mod perf;
mod pktgen;
mod support;
mod toolchains;
mod variants;
#[cfg(target_arch = "x86_64")]
mod with_card;
