//! `triptych`: the benchmark runner.

fn main() -> std::process::ExitCode {
    triptych::cli::main()
}
