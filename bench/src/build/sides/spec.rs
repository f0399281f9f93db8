//! A side as the user writes it: `DRIVER@PART:PART:...`.

use std::path::PathBuf;
use std::str::FromStr;

use record::Implementation;

use crate::build::toolchain::recipe::OptLevel;

/// What the user wants to see on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideSpec {
    /// As the user wrote it.
    pub text: String,
    /// The driver, if it is named.
    pub driver: Option<Implementation>,
    /// The compiler, if it is named: a name, a path or `NAME=PATH`.
    pub toolchain: Option<String>,
    /// The level of optimisation.
    pub opt: OptLevel,
    /// Whether link-time optimisation is on.
    pub lto: bool,
    /// Further flags for the compiler.
    pub flags: Vec<String>,
    /// A commit, as git names it.
    pub commit: Option<String>,
    /// An existing program.
    pub program: Option<PathBuf>,
}

impl FromStr for SideSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut spec = Self {
            text: text.to_owned(),
            driver: None,
            toolchain: None,
            opt: OptLevel::Default,
            lto: true,
            flags: Vec::new(),
            commit: None,
            program: None,
        };
        let rest = match text.split_once('@') {
            // An @ may also be a part of a commit's name, such as HEAD@{1}.
            Some((driver, rest)) if !driver.contains([':', '/', '=']) => {
                spec.driver = Some(known_driver(driver)?);
                rest
            }
            _ => text,
        };
        if spec.driver.is_none() {
            if let Ok(driver) = text.parse() {
                spec.driver = Some(driver);
                return Ok(spec);
            }
        }
        let mut parts = rest.split(':');
        while let Some(part) = parts.next() {
            spec.take(part, &mut parts)?;
        }
        spec.check()?;
        Ok(spec)
    }
}

impl SideSpec {
    fn take<'t>(
        &mut self,
        part: &'t str,
        more: &mut impl Iterator<Item = &'t str>,
    ) -> Result<(), String> {
        let mut value = |key: &str| match more.next() {
            Some(value) if !value.is_empty() => Ok(value.to_owned()),
            _ => Err(format!(
                "`{key}:` needs a value, as in `{key}:{}`",
                match key {
                    "commit" => "HEAD~1",
                    _ => "build/bin/c/ixgbe-fwd",
                }
            )),
        };
        match part {
            "" => Err(format!("{:?} has an empty part", self.text)),
            "commit" => only_one(&mut self.commit, value("commit")?, "commits"),
            "program" => only_one(
                &mut self.program,
                PathBuf::from(value("program")?),
                "programs",
            ),
            "no-lto" | "-fno-lto" => {
                self.lto = false;
                Ok(())
            }
            flag if flag.starts_with('-') => {
                self.take_flag(flag);
                Ok(())
            }
            name => only_one(&mut self.toolchain, name.to_owned(), "compilers"),
        }
    }

    fn take_flag(&mut self, flag: &str) {
        let level = flag.strip_prefix("-O").filter(|level| *level != "default");
        match level.and_then(|level| level.parse().ok()) {
            Some(level) => self.opt = level,
            None => self.flags.push(flag.to_owned()),
        }
    }

    fn check(&self) -> Result<(), String> {
        let builds = self.toolchain.is_some()
            || self.commit.is_some()
            || self.opt != OptLevel::Default
            || !self.lto
            || !self.flags.is_empty();
        match self.program.is_some() && builds {
            true => Err(
                "`program:` names a finished program, so it takes no compiler, flag or commit"
                    .to_owned(),
            ),
            false => Ok(()),
        }
    }
}

fn only_one<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("it names two {what}; a side has one of them")),
    }
}

fn known_driver(name: &str) -> Result<Implementation, String> {
    let ours = Implementation::OURS;
    let driver = ours.into_iter().find(|driver| driver.to_string() == name);
    driver.ok_or_else(|| {
        format!(
            "{name:?} is not a driver; before the @ stands one of {}",
            ours.map(<&str>::from).join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> SideSpec {
        text.parse().unwrap()
    }

    #[test]
    fn a_side_has_a_driver_or_parts_or_both() {
        assert_eq!(spec("rust-unsafe").driver, Some(Implementation::RustUnsafe));
        assert_eq!(spec("gcc-12").toolchain.as_deref(), Some("gcc-12"));
        assert_eq!(spec("-O3").opt, OptLevel::Three);
        let all = spec("c@mine=/opt/gcc/bin/gcc:-O3:-fno-inline:no-lto:commit:HEAD~1");
        assert_eq!(all.driver, Some(Implementation::C));
        assert_eq!(all.toolchain.as_deref(), Some("mine=/opt/gcc/bin/gcc"));
        assert_eq!((all.opt, all.lto), (OptLevel::Three, false));
        assert_eq!(all.flags, ["-fno-inline"]);
        assert_eq!(all.commit.as_deref(), Some("HEAD~1"));
        assert_eq!(spec("commit:HEAD@{1}").commit.as_deref(), Some("HEAD@{1}"));
        assert_eq!(spec("-O0").flags, ["-O0"]);
        assert_eq!(spec("program:a/b").program, Some(PathBuf::from("a/b")));
    }

    #[test]
    fn a_mistake_is_named() {
        for (text, why) in [
            ("d@gcc-12", "c, rust, rust-unsafe"),
            ("c@gcc-12:gcc-11", "two compilers"),
            ("c@commit:", "HEAD~1"),
            ("commit", "HEAD~1"),
            ("c@", "empty part"),
            ("c@gcc-12::-O3", "empty part"),
            ("program:x:-O3", "finished program"),
        ] {
            let error = text.parse::<SideSpec>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
