//! The machine that has the compilers.

use std::path::Path;
use std::process::Command;

use perfcounters::process::{find_program, is_executable};

/// What is asked of the machine; a test gives other answers.
pub trait Machine {
    /// What a command writes to its standard output; `None` if it cannot be run or fails.
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String>;
    /// Whether there is such a program.
    fn has(&self, program: &str) -> bool;
}

/// The machine that this runs on.
#[derive(Debug, Clone, Copy)]
pub struct Here;

impl Machine for Here {
    fn output(&self, program: &str, arguments: &[&str]) -> Option<String> {
        // rustup would download what is missing, which is for the user to decide.
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
pub mod pretended {
    use std::collections::BTreeMap;

    use super::Machine;

    pub struct Pretended(pub BTreeMap<&'static str, &'static str>);

    impl Machine for Pretended {
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

    pub fn machine() -> Pretended {
        Pretended(BTreeMap::from([
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
