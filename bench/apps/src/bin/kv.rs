//! kv: a key-value store that speaks the Redis protocol, over a driver.

use std::process::ExitCode;

use apps::kv::Kv;
use apps::options::{run_program, run_service, TcpServerOptions};
use clap::Parser;

/// A key-value store that speaks the Redis protocol (RESP2, pipelining): SET, GET, DEL, EXISTS, INCR, EXPIRE,
/// TTL, PING and others. Its clients are redis-cli, redis-benchmark and all libraries for Redis. Ends on
/// SIGINT or SIGTERM, or after S seconds.
#[derive(Debug, Parser)]
#[command(name = "kv", version, max_term_width = 100)]
struct Options {
    /// TCP port
    #[arg(long, value_name = "PORT", default_value_t = 6379,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    /// Memory for keys, values and their tables in MiB; beyond, SET answers with an error
    #[arg(long, value_name = "MIB", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    memory: u32,

    #[command(flatten)]
    server: TcpServerOptions,
}

fn main() -> ExitCode {
    run_program(
        |options: &Options| options.server.common.check(),
        |options| {
            let kv = Kv::new((options.memory as usize) << 20);
            run_service(&options.server, options.listen, kv, Kv::counts)
        },
    )
}
