//! Reads the list of rungs, `rungs.toml`.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure, Context, Result};
use record::Implementation;
use serde::{Deserialize, Serialize};

use crate::build::builds::variants::DEFAULT;

/// How the sources of a rung are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// The shipped transpiled driver.
    Transpiled,
    /// The safe driver after all patches have removed their features.
    Rest,
    /// A feature of the shipped safe driver. Its patch removes it, which gives the rung below.
    Remove,
    /// A feature that the shipped safe driver lacks. Its patch adds it to the rung below.
    Add,
    /// The rung below, built with overflow checks.
    OverflowChecks,
}

/// A rung: the rung below it and one more feature.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rung {
    /// Two digits for its place from the bottom, and its name.
    pub name: String,
    /// How its sources are made.
    pub change: Change,
    /// The feature that it adds, in a few words.
    pub title: String,
    /// The feature that it adds, as a sentence.
    pub adds: String,
    /// Whether it is also built as the only difference from the shipped safe driver, which shows its
    /// cost without the rungs below it. The structure of most lower rungs does not allow that.
    #[serde(default)]
    pub alone: bool,
}

impl Rung {
    /// The build in which it is the only difference from the shipped safe driver.
    pub fn apart(&self) -> Option<Self> {
        self.alone.then(|| Self {
            name: format!("{}-alone", self.name),
            ..self.clone()
        })
    }

    /// The driver of which it is a variant.
    pub fn implementation(&self) -> Implementation {
        match self.change {
            Change::Transpiled => Implementation::RustUnsafe,
            _ => Implementation::Rust,
        }
    }

    /// Its variant.
    pub fn variant(&self) -> String {
        match self.change {
            Change::Transpiled => DEFAULT.to_owned(),
            _ => format!("ladder-{}", self.name),
        }
    }

    /// The path of its patch in the ladder's folder.
    pub fn patch(&self) -> Option<PathBuf> {
        let folder = match self.change {
            Change::Remove => "remove",
            Change::Add => "add",
            _ => return None,
        };
        Some(Path::new(folder).join(format!("{}.patch", self.name)))
    }

    /// Cargo's name for its library.
    pub fn library(&self) -> String {
        format!("ladder_{}", self.name.replace('-', "_"))
    }

    /// The Cargo profile of its build.
    pub fn profile(&self) -> &'static str {
        match self.change {
            Change::OverflowChecks => "driver-overflow-checks",
            _ => "driver",
        }
    }
}

/// A variant of the shipped safe driver that is no rung, because it is a whole of its own. It is
/// measured beside the ladder, against the shipped driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// The name of the variant, which `make variants` builds.
    pub name: String,
    /// What it does differently, in a few words.
    pub title: String,
    /// What it does differently, as a sentence.
    pub adds: String,
}

/// All rungs, from the bottom to the top.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// The rungs.
    #[serde(rename = "rung")]
    pub rungs: Vec<Rung>,
    /// The variants beside them.
    #[serde(rename = "beside", default)]
    pub variants: Vec<Beside>,
}

impl Ladder {
    /// Reads and checks `rungs.toml` of a folder.
    ///
    /// # Errors
    /// Names the file and the mistake.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("rungs.toml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read the rungs, {}", path.display()))?;
        let ladder =
            Self::parse(&text).with_context(|| format!("{} is not a ladder", path.display()))?;
        for patch in ladder.rungs.iter().filter_map(Rung::patch) {
            let patch = folder.join(patch);
            ensure!(patch.is_file(), "there is no {}", patch.display());
        }
        Ok(ladder)
    }

    fn parse(text: &str) -> Result<Self> {
        let ladder: Self = toml::from_str(text)?;
        for (place, rung) in ladder.rungs.iter().enumerate() {
            let usable = |name: &str| {
                let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                !name.is_empty() && name.chars().all(allowed)
            };
            match rung.name.strip_prefix(&format!("{place:02}-")) {
                Some(name) if usable(name) => {}
                _ => bail!(
                    "rung {:?} is at place {place}: name it {place:02}-NAME, with only a to z, \
                     0 to 9 and -",
                    rung.name
                ),
            }
        }
        ensure!(
            ladder.rungs.is_sorted_by_key(|rung| rung.change),
            "the rungs are not in the order transpiled, rest, remove, add, overflow-checks"
        );
        for (change, least, most) in [
            (Change::Transpiled, 1, 1),
            (Change::Rest, 1, 1),
            (Change::Remove, 1, usize::MAX),
            (Change::OverflowChecks, 0, 1),
        ] {
            let count = ladder.of(change).count();
            ensure!(
                (least..=most).contains(&count),
                "there are {count} rungs of the kind {change:?}"
            );
        }
        for beside in &ladder.variants {
            ensure!(
                !beside.name.starts_with("ladder-") && beside.name != DEFAULT,
                "{:?} cannot be beside the ladder: name a variant that `make variants` builds",
                beside.name
            );
        }
        let shipped = ladder.shipped().map(|rung| rung.name.as_str());
        for rung in ladder.rungs.iter().filter(|rung| rung.alone) {
            ensure!(
                !matches!(rung.change, Change::Transpiled | Change::Rest)
                    && shipped != Some(&rung.name),
                "rung {} cannot be alone: it must be a feature that a patch removes from the shipped \
                 driver or adds to it",
                rung.name
            );
        }
        Ok(ladder)
    }

    /// The rungs of one kind, from the bottom.
    pub fn of(&self, change: Change) -> impl DoubleEndedIterator<Item = &Rung> {
        self.rungs.iter().filter(move |rung| rung.change == change)
    }

    /// All builds: the rungs that are not shipped drivers, and the builds with one rung alone.
    pub fn builds(&self) -> Vec<Rung> {
        let rungs = self.rungs.iter();
        let made = rungs.filter(|rung| rung.change != Change::Transpiled);
        let alone = self.rungs.iter().filter_map(Rung::apart);
        made.cloned().chain(alone).collect()
    }

    /// The rung that equals the shipped safe driver.
    pub fn shipped(&self) -> Option<&Rung> {
        self.of(Change::Remove).next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("ladder")
    }

    fn text(rungs: &[(&str, &str)]) -> String {
        rungs
            .iter()
            .map(|(name, change)| {
                format!(
                    "[[rung]]\nname = \"{name}\"\nchange = \"{change}\"\ntitle = \"t\"\nadds = \
                     \"a\"\n"
                )
            })
            .collect()
    }

    const GOOD: [(&str, &str); 5] = [
        ("00-t", "transpiled"),
        ("01-rest", "rest"),
        ("02-x", "remove"),
        ("03-y", "add"),
        ("04-z", "overflow-checks"),
    ];

    #[test]
    fn the_last_removable_rung_is_the_shipped_driver() {
        let ladder = Ladder::parse(&text(&GOOD)).unwrap();
        let shipped = ladder.shipped().unwrap();
        assert_eq!(shipped.name, "02-x");
        assert_eq!(shipped.variant(), "ladder-02-x");
        assert_eq!(shipped.patch().unwrap(), Path::new("remove/02-x.patch"));
        let bottom = &ladder.rungs[0];
        assert_eq!(bottom.implementation(), Implementation::RustUnsafe);
        assert_eq!((bottom.variant().as_str(), bottom.patch()), (DEFAULT, None));
        assert_eq!(ladder.rungs[4].profile(), "driver-overflow-checks");
    }

    #[test]
    fn malformed_ladders_are_refused() {
        for (place, rung, why) in [
            (2, ("03-x", "remove"), "02-NAME"),
            (2, ("02-../x", "remove"), "02-NAME"),
            (2, ("02-x", "add"), "0 rungs of the kind Remove"),
            (3, ("03-y", "rest"), "order"),
            (
                1,
                ("01-rest", "transpiled"),
                "2 rungs of the kind Transpiled",
            ),
            (3, ("03-y", "magic"), "magic"),
        ] {
            let mut rungs = GOOD;
            rungs[place] = rung;
            let error = format!("{:#}", Ladder::parse(&text(&rungs)).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_variant_beside_the_ladder_is_no_rung() {
        let beside = |name: &str| {
            let variant = format!("[[beside]]\nname = \"{name}\"\ntitle = \"t\"\nadds = \"a\"\n");
            Ladder::parse(&(text(&GOOD) + &variant))
        };
        let ladder = beside("trusted-device").unwrap();
        assert_eq!(ladder.variants[0].name, "trusted-device");
        assert_eq!(ladder.rungs.len(), GOOD.len());
        for name in [DEFAULT, "ladder-02-x"] {
            let error = format!("{:#}", beside(name).unwrap_err());
            assert!(error.contains("cannot be beside the ladder"), "{error}");
        }
    }

    #[test]
    fn a_rung_alone_is_a_separate_build() {
        let alone = |place: usize| {
            let mut rungs: Vec<_> = GOOD.iter().map(|rung| text(&[*rung])).collect();
            rungs[place].push_str("alone = true\n");
            Ladder::parse(&rungs.concat())
        };
        let ladder = alone(3).unwrap();
        let names: Vec<_> = ladder.builds().into_iter().map(|rung| rung.name).collect();
        assert_eq!(names, ["01-rest", "02-x", "03-y", "04-z", "03-y-alone"]);
        let apart = alone(4).unwrap().rungs[4].apart().unwrap();
        assert_eq!(apart.variant(), "ladder-04-z-alone");
        assert_eq!(apart.profile(), "driver-overflow-checks");
        for place in [0, 1, 2] {
            let error = format!("{:#}", alone(place).unwrap_err());
            assert!(error.contains("cannot be alone"), "{error}");
        }
    }

    #[test]
    fn rungs_patches_and_readme_of_this_repository_agree() {
        let ladder = Ladder::read(&folder()).unwrap();
        let mut patches = Vec::new();
        for kind in ["remove", "add"] {
            for entry in std::fs::read_dir(folder().join(kind)).unwrap() {
                patches.push(Path::new(kind).join(entry.unwrap().file_name()));
            }
        }
        let mut named: Vec<_> = ladder.rungs.iter().filter_map(Rung::patch).collect();
        patches.sort();
        named.sort();
        assert_eq!(patches, named);

        let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
        let listed: Vec<_> = readme
            .lines()
            .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
            .map(|(name, _)| name)
            .filter(|name| name.as_bytes()[0].is_ascii_digit())
            .collect();
        let names: Vec<_> = ladder.rungs.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(listed, names);
    }
}
