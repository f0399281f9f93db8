//! What a program did with a case.

use std::fmt;

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
    /// The outcome of a program that ended with this exit status. A signal is 128 and its number; 101
    /// is a panic of Rust.
    pub fn of_end(status: i32, last_line: String) -> Self {
        match status {
            101 | 129.. => Self::Crashes(status, last_line),
            _ => Self::Ends(status, last_line),
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

    /// More about the outcome, for the terminal; empty if there is nothing more to say.
    pub fn detail(&self) -> &str {
        match self {
            Self::Ends(_, text) | Self::Crashes(_, text) | Self::NotAtRest(text) => text,
            _ => "",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail() {
            "" => write!(f, "{}", self.cell()),
            detail => write!(f, "{}: {detail}", self.cell()),
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
    fn signals_and_panics_are_crashes_and_other_statuses_are_not() {
        let cell = |status| Outcome::of_end(status, String::new()).cell();
        assert_eq!(cell(0), "ends, status 0");
        assert_eq!(cell(1), "ends, status 1");
        assert_eq!(cell(101), "crashes, panic");
        assert_eq!(cell(134), "crashes, signal 6");
        assert_eq!(cell(139), "crashes, signal 11");
    }

    #[test]
    fn numbers_that_differ_from_run_to_run_are_rounded() {
        assert_eq!(Outcome::Lost(3).cell(), "lost 3");
        assert_eq!(Outcome::Lost(31).cell(), "lost about 30");
        assert_eq!(
            Outcome::WrongFrames(9_876).cell(),
            "wrong frames: about 10000"
        );
    }
}
