//! `grade`: grades a student's driver.

fn main() -> std::process::ExitCode {
    exercises::main()
}
