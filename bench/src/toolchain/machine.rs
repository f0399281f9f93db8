//! Which programs a machine has, and what they print.

use std::path::Path;
use std::process::Command;

use perfcounters::process::{find_program, is_executable};

/// A machine with compilers. Tests replace it.
pub trait Machine {
    /// The standard output of a command; `None` if the command cannot start or fails.
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String>;
    /// Whether a program, given by name or path, exists.
    fn has(&self, program: &str) -> bool;
}

/// The machine that this process runs on.
#[derive(Debug, Clone, Copy)]
pub struct ThisMachine;

impl Machine for ThisMachine {
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        // Without this, rustup would download missing toolchains unasked.
        let output = Command::new(program)
            .args(arguments)
            .env("RUSTUP_AUTO_INSTALL", "0")
            .output()
            .ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then_some(text)
    }

    fn has(&self, program: &str) -> bool {
        match program.contains('/') {
            true => is_executable(Path::new(program)),
            false => find_program(program).is_some(),
        }
    }
}

/// A machine for tests: the output of each command that it knows.
#[cfg(test)]
pub mod simulated {
    use std::collections::BTreeMap;

    use super::Machine;

    /// Standard output by command line.
    pub struct SimulatedMachine(pub BTreeMap<&'static str, &'static str>);

    impl Machine for SimulatedMachine {
        fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
            let line = format!("{program} {}", arguments.join(" "));
            self.0.get(line.as_str()).map(|text| (*text).to_owned())
        }
        fn has(&self, program: &str) -> bool {
            self.0
                .keys()
                .any(|line| line.split(' ').next() == Some(program))
        }
    }

    /// A machine with two GCCs, a clang and four toolchains of rustup.
    pub fn machine() -> SimulatedMachine {
        SimulatedMachine(BTreeMap::from([
            ("gcc-12 --version", "gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"),
            ("gcc --version", "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright"),
            ("clang-19 --version", "Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"),
            ("/opt/cc --version", "tcc version 0.9.27"),
            ("/opt/gcc-4 --version", "gcc (GCC) 4.4.7"),
            (
                "rustup toolchain list",
                "stable-x86_64-unknown-linux-gnu (active, default)\n1.85.0-x86_64-unknown-linux-gnu\n\
                 nightly-x86_64-unknown-linux-gnu\n1.70.0-x86_64-unknown-linux-gnu\n",
            ),
            (
                "rustup run stable-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.95.0 (abc)\nrelease: 1.95.0\nLLVM version: 22.1.2\n",
            ),
            (
                "rustup run 1.85.0-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.85.0 (abc)\nrelease: 1.85.0\nLLVM version: 19.1.7\n",
            ),
            (
                "rustup run 1.70.0-x86_64-unknown-linux-gnu rustc -vV",
                "rustc 1.70.0 (abc)\nrelease: 1.70.0\nLLVM version: 16.0.2\n",
            ),
        ]))
    }
}
