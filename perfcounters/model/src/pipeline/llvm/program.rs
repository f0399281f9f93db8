//! Finds LLVM's programs and runs them with a limit on the time.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// LLVM's major version. Its tables give the costs of instructions, so another version gives other cycles.
pub const LLVM_VERSION: u32 = 22;

/// The environment variable that names the folder of the programs.
pub const LLVM_FOLDER: &str = "TRIPTYCH_LLVM";

/// The longest time that one run of a program may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// How often the end of a program is looked for.
const POLL: Duration = Duration::from_millis(1);

/// Bytes of a program's error message that an error repeats.
const LONGEST_MESSAGE: usize = 600;

/// Why LLVM gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum LlvmError {
    /// No folder has the programs in the right version.
    #[error(
        "there is no llvm-mca of LLVM {LLVM_VERSION} in {looked}: run bench/setup/llvm-mca.sh, or set \
         {LLVM_FOLDER}=FOLDER to the folder with llvm-mca and llvm-mc"
    )]
    Missing {
        /// The folders that were searched.
        looked: String,
    },
    /// A program could not be started, or its files could not be used.
    #[error("cannot run {program}: {source}")]
    Io {
        /// The program.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A program took too long and was killed.
    #[error("{program} did not end within {seconds} s and was killed: the machine is overloaded, or the code too long")]
    TimeOut {
        /// The program.
        program: String,
        /// The limit.
        seconds: u64,
    },
    /// A program ended with an error.
    #[error("{program} failed: {message}")]
    Failed {
        /// The program and its arguments.
        program: String,
        /// The start of its error message.
        message: String,
    },
    /// The output is not what this version prints.
    #[error(
        "{program} printed something unexpected: {problem}; the model needs LLVM {LLVM_VERSION}"
    )]
    Malformed {
        /// The program.
        program: String,
        /// What is wrong.
        problem: String,
    },
}

/// The programs `llvm-mca` and `llvm-mc` of LLVM 22.
#[derive(Clone, Debug)]
pub struct Llvm {
    folder: PathBuf,
    version: String,
    time_limit: Duration,
}

impl Llvm {
    /// Finds the programs: in the folder that `TRIPTYCH_LLVM` names, or in Debian's folder of LLVM 22, or in `PATH`.
    ///
    /// # Errors
    /// The programs are missing or of another version.
    pub fn find() -> Result<Self, LlvmError> {
        let folders: Vec<PathBuf> = match std::env::var_os(LLVM_FOLDER) {
            Some(folder) => vec![folder.into()],
            None => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                std::iter::once(format!("/usr/lib/llvm-{LLVM_VERSION}/bin").into())
                    .chain(std::env::split_paths(&path))
                    .collect()
            }
        };
        folders
            .iter()
            .find_map(|folder| Self::at(folder).ok())
            .ok_or_else(|| LlvmError::Missing {
                looked: folders
                    .iter()
                    .map(|folder| folder.display().to_string())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }

    /// Takes the programs in `folder`.
    ///
    /// # Errors
    /// The folder lacks one of them, or they are of another version.
    pub fn at(folder: &Path) -> Result<Self, LlvmError> {
        let missing = || LlvmError::Missing {
            looked: folder.display().to_string(),
        };
        let mut llvm = Self {
            folder: folder.to_owned(),
            version: String::new(),
            time_limit: TIME_LIMIT,
        };
        for program in ["llvm-mc", "llvm-mca"] {
            if !folder.join(program).is_file() {
                return Err(missing());
            }
            let text = llvm.run(program, &["--version"], "")?;
            let version = text
                .lines()
                .find_map(|line| line.split_once("LLVM version ").map(|(_, version)| version))
                .ok_or_else(missing)?;
            if version.split('.').next() != Some(&LLVM_VERSION.to_string()) {
                return Err(missing());
            }
            llvm.version = version.trim().to_owned();
        }
        Ok(llvm)
    }

    /// The same programs with another limit on the time of one run.
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// The whole version, for records: `22.1.8`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Runs a program with `input` on its standard input and returns its standard output.
    ///
    /// Input and output are unnamed files, so that neither side ever waits for the other.
    pub(super) fn run(
        &self,
        program: &str,
        arguments: &[&str],
        input: &str,
    ) -> Result<String, LlvmError> {
        let io_error = |source| LlvmError::Io {
            program: program.to_owned(),
            source,
        };
        let (mut output, mut errors) = (
            tempfile::tempfile().map_err(io_error)?,
            tempfile::tempfile().map_err(io_error)?,
        );
        let child = Command::new(self.folder.join(program))
            .args(arguments)
            .stdin(file_with(input).map_err(io_error)?)
            .stdout(output.try_clone().map_err(io_error)?)
            .stderr(errors.try_clone().map_err(io_error)?)
            .spawn()
            .map_err(io_error)?;
        let succeeded = wait(child, self.time_limit)
            .map_err(io_error)?
            .ok_or_else(|| LlvmError::TimeOut {
                program: program.to_owned(),
                seconds: self.time_limit.as_secs(),
            })?;
        if !succeeded {
            let message = contents(&mut errors).map_err(io_error)?;
            return Err(LlvmError::Failed {
                program: format!("{program} {}", arguments.join(" ")),
                message: shortened(message.trim()),
            });
        }
        contents(&mut output).map_err(io_error)
    }
}

/// The start of a message.
fn shortened(message: &str) -> String {
    message.chars().take(LONGEST_MESSAGE).collect()
}

/// An unnamed file that contains `text`, at its beginning.
fn file_with(text: &str) -> io::Result<Stdio> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file.into())
}

/// The whole text of a file.
fn contents(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for the end of `child`: whether it succeeded, or `None` after the limit. The child is gone afterwards.
fn wait(mut child: Child, limit: Duration) -> io::Result<Option<bool>> {
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status.success())),
            Ok(None) if Instant::now() < end => thread::sleep(POLL),
            unfinished => {
                let _ = child.kill();
                child.wait()?;
                return unfinished.map(|_| None);
            }
        }
    }
}
