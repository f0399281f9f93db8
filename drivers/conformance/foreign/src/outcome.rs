//! What a program did with a case.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What a program did with a case. The first of these that holds, from the bottom up, is the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// What the case asks for.
    Pass,
    /// It ended where it should have gone on, but of itself and with an exit status of its own. The
    /// status, and its last line.
    Ends(i32, String),
    /// It lost so many frames that the card gave it.
    Lost(u64),
    /// It neither forwards nor ends.
    Hangs,
    /// It sent so many frames that are altered, repeated, out of order, or none of the card's.
    WrongFrames(u64),
    /// A signal or a panic ended it. The exit status, and its last line.
    Crashes(i32, String),
    /// It left the card running when it ended. What was running.
    NotAtRest(String),
}

impl Outcome {
    /// The outcome of a program that has ended. A signal is 128 and its number; 101 is a panic of Rust.
    pub fn of_end(status: ExitStatus, last_line: String) -> Self {
        let signal = status.signal().map(|signal| 128 + signal);
        match status.code().or(signal).unwrap_or(1) {
            status @ (101 | 129..) => Self::Crashes(status, last_line),
            status => Self::Ends(status, last_line),
        }
    }

    /// The outcome in a cell of the table.
    pub fn cell(&self) -> String {
        match self {
            Self::Pass => "pass".to_owned(),
            Self::Ends(status, _) => format!("ends, status {status}"),
            Self::Lost(frames) => format!("lost {}", rounded(*frames)),
            Self::Hangs => "hangs".to_owned(),
            Self::WrongFrames(frames) => format!("wrong frames: {}", rounded(*frames)),
            Self::Crashes(101, _) => "crashes, panic".to_owned(),
            Self::Crashes(status, _) => format!("crashes, signal {}", status - 128),
            Self::NotAtRest(_) => "card not at rest".to_owned(),
        }
    }
}

/// The outcome for the terminal, with what there is more to say.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cell())?;
        match self {
            Self::Ends(_, text) | Self::Crashes(_, text) | Self::NotAtRest(text)
                if !text.is_empty() =>
            {
                write!(f, ": {text}")
            }
            _ => Ok(()),
        }
    }
}

/// A number of frames with one digit, because it differs from run to run. Small numbers stay exact.
fn rounded(frames: u64) -> String {
    if frames < 10 {
        return frames.to_string();
    }
    let unit = 10_u64.pow(frames.ilog10());
    format!("about {}", (frames + unit / 2) / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_the_table() {
        let ended = |raw| Outcome::of_end(ExitStatus::from_raw(raw), String::new());
        for (outcome, cell) in [
            (ended(0), "ends, status 0"),
            (ended(1 << 8), "ends, status 1"),
            (ended(101 << 8), "crashes, panic"),
            (ended(134 << 8), "crashes, signal 6"),
            (ended(11), "crashes, signal 11"),
            (Outcome::Lost(3), "lost 3"),
            (Outcome::Lost(31), "lost about 30"),
            (Outcome::WrongFrames(9_876), "wrong frames: about 10000"),
        ] {
            assert_eq!(outcome.cell(), cell);
        }
    }
}
