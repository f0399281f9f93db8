//! http: records of a database over HTTP, over a driver.

use std::path::PathBuf;
use std::process::ExitCode;

use apps::http::{Http, RecordSite, Records, MAX_RECORDS};
use apps::options::{run_program, run_service, TcpServerOptions};
use clap::Parser;

/// Records of an SQLite database over HTTP/1.1 (keep-alive, pipelining): GET /records/ID returns one as JSON,
/// POST /records stores one, GET /health says that the service runs. GET /bytes/N sends N bytes, and POST /discard
/// takes a body of any length. Ends on SIGINT or SIGTERM, or after S seconds.
#[derive(Debug, Parser)]
#[command(name = "http", version, max_term_width = 100)]
struct Options {
    /// TCP port
    #[arg(long, value_name = "PORT", default_value_t = 80,
          value_parser = clap::value_parser!(u16).range(1..))]
    listen: u16,

    /// The database's file, made if it does not exist; without it, the database is in memory
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,

    /// Records that a new database gets
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u64).range(0..=MAX_RECORDS))]
    records: u64,

    #[command(flatten)]
    server: TcpServerOptions,
}

fn main() -> ExitCode {
    run_program(
        |options: &Options| options.server.common.check(),
        |options| {
            let records = Records::open(options.database.as_deref(), options.records)?;
            let http = Http::new(RecordSite::new(records));
            run_service(&options.server, options.listen, http, RecordSite::counts)
        },
    )
}
