//! The load for a real card: a generator on another machine, or on another card of this machine.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::backend::MeasureError;
use crate::device;
use crate::process::Process;

/// Time within which a generator must end after SIGTERM.
const STOP: Duration = Duration::from_secs(30);

/// The frames that a generator sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Million frames per second, both directions together; `None` for as many as the wires carry.
    pub mpps: Option<f64>,
    /// Bytes of a frame without its CRC.
    pub frame_size: u32,
}

/// A program that sends frames to both ports of the forwarder.
pub trait LoadGenerator: std::fmt::Debug {
    /// Description for `run.json`.
    fn describe(&self) -> String;

    /// Begins to send, and returns.
    ///
    /// # Errors
    /// If the generator cannot be reached or does not start.
    fn start(&mut self, load: Load) -> Result<(), MeasureError>;

    /// Stops sending.
    ///
    /// # Errors
    /// If the generator has failed; the values measured under its load are then invalid.
    fn stop(&mut self) -> Result<(), MeasureError>;
}

/// A generator that is a command: it sends from its start until SIGTERM. Two environment variables
/// describe the load: `TRIPTYCH_MPPS` (million frames per second, both directions together; empty for
/// as many as the wires carry) and `TRIPTYCH_FRAME_SIZE` (bytes without CRC).
#[derive(Debug)]
pub struct CommandGenerator {
    words: Vec<String>,
    running: Option<(Process, tempfile::TempDir)>,
}

impl CommandGenerator {
    /// The command, word by word; at least one word.
    pub fn new(words: Vec<String>) -> Self {
        Self {
            words,
            running: None,
        }
    }
}

impl LoadGenerator for CommandGenerator {
    fn describe(&self) -> String {
        self.words.join(" ")
    }

    fn start(&mut self, load: Load) -> Result<(), MeasureError> {
        self.stop()?;
        let Some((program, arguments)) = self.words.split_first() else {
            return Err(MeasureError::Other(
                "the generator's command is empty".to_owned(),
            ));
        };
        let folder = device::temporary_folder()?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env(
                "TRIPTYCH_MPPS",
                load.mpps.map_or_else(String::new, |mpps| mpps.to_string()),
            )
            .env("TRIPTYCH_FRAME_SIZE", load.frame_size.to_string());
        let process = Process::start("generator", command, None, folder.path(), Stdio::null())?;
        self.running = Some((process, folder));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), MeasureError> {
        match self.running.take() {
            Some((process, _folder)) => Ok(process.stop(STOP)?),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shell(script: &str) -> CommandGenerator {
        CommandGenerator::new(["sh", "-c", script].map(str::to_owned).to_vec())
    }

    fn wait_for(path: &Path) -> String {
        for _ in 0..1000 {
            match std::fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text,
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        panic!("{} was not written", path.display());
    }

    #[test]
    fn a_command_gets_the_load_and_sigterm() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let script = format!(
            "trap 'echo end >> {0}; exit 0' TERM; echo \"$TRIPTYCH_MPPS/$TRIPTYCH_FRAME_SIZE\" > {0}; \
             while :; do sleep 0.01; done",
            output.display()
        );
        let mut generator = shell(&script);
        for (mpps, first) in [(Some(2.5), "2.5/124\n"), (None, "/124\n")] {
            let _ = std::fs::remove_file(&output);
            generator
                .start(Load {
                    mpps,
                    frame_size: 124,
                })
                .unwrap();
            assert_eq!(wait_for(&output), first);
            generator.stop().unwrap();
            assert_eq!(wait_for(&output), format!("{first}end\n"));
        }
        generator.stop().unwrap();
    }

    #[test]
    fn a_generator_that_failed_is_an_error() {
        let mut generator = shell("echo no such host >&2; exit 255");
        let load = Load {
            mpps: None,
            frame_size: 60,
        };
        generator.start(load).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let error = generator.stop().unwrap_err().to_string();
        assert!(error.contains("no such host"), "{error}");
        assert!(CommandGenerator::new(Vec::new()).start(load).is_err());
    }
}
