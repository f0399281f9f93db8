//! `rungs.toml`: the rungs of a ladder, and the builds that they are made of.

use std::path::{Path, PathBuf};

use anyhow::Result;
use record::Implementation;
use serde::{Deserialize, Serialize};

use crate::build::builds::variants::DEFAULT;
use crate::build::peers::manifest::read_toml;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Change {
    Transpiled,
    /// The safe driver after all patches have removed their features.
    Rest,
    /// A feature of the shipped safe driver. Its patch removes it, which gives the rung below.
    Remove,
    /// A feature that the shipped safe driver lacks. Its patch adds it to the rung below.
    Add,
    /// The rung below, built with overflow checks.
    OverflowChecks,
    /// A variant of the shipped drivers, with the patches that the rung names.
    #[default]
    Patches,
}

/// A rung: the rung below it and one more feature.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rung {
    pub name: String,
    #[serde(default)]
    pub change: Change,
    pub title: String,
    #[serde(default)]
    pub adds: String,
    /// Whether it is also built as the only difference from the shipped safe driver, which shows its
    /// cost without the rungs below it. The structure of most lower rungs does not allow that.
    #[serde(default)]
    pub alone: bool,
    /// What is done to the shipped sources. A rung without a change and patches is a shipped driver.
    #[serde(default)]
    patches: Vec<String>,
    #[serde(rename = "impl", default = "ours")]
    implementations: Vec<Implementation>,
}

fn ours() -> Vec<Implementation> {
    Implementation::OURS.to_vec()
}

/// A variant of the shipped safe driver that is no rung, because it is a whole of its own. It is
/// measured beside the ladder, against the shipped driver.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Beside {
    /// The name of the variant, which `make variants` builds.
    pub name: String,
    pub title: String,
    pub adds: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ladder {
    #[serde(rename = "rung")]
    pub rungs: Vec<Rung>,
    #[serde(default)]
    pub beside: Vec<Beside>,
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A build of its own: the shipped sources after some patches, in some languages.
#[derive(Debug, Clone)]
pub(super) struct Build {
    pub variant: String,
    pub patches: Vec<PathBuf>,
    pub implementations: Vec<Implementation>,
    pub profile: &'static str,
}

impl Rung {
    pub fn implementation(&self) -> Implementation {
        match self.change {
            Change::Transpiled => Implementation::RustUnsafe,
            _ => Implementation::Rust,
        }
    }

    pub fn variant(&self) -> String {
        match self.change {
            Change::Transpiled => DEFAULT.to_owned(),
            Change::Patches => self.name.clone(),
            _ => format!("ladder-{}", self.name),
        }
    }

    /// The variant in which it is the only difference from the shipped driver, if there is one.
    pub fn alone(&self) -> Option<String> {
        self.alone.then(|| self.variant() + "-alone")
    }

    fn patch(&self) -> Option<String> {
        match self.change {
            Change::Remove => Some(format!("remove/{}", self.name)),
            Change::Add => Some(format!("add/{}", self.name)),
            _ => None,
        }
    }

    fn build(&self, variant: String, patches: Vec<String>, folder: &Path) -> Build {
        let file = |name: String| folder.join(format!("{name}.patch"));
        Build {
            variant,
            patches: patches.into_iter().map(file).collect(),
            implementations: match self.change {
                Change::Patches => self.implementations.clone(),
                _ => vec![Implementation::Rust],
            },
            profile: match self.change {
                Change::OverflowChecks => "driver-overflow-checks",
                _ => "driver",
            },
        }
    }
}

impl Ladder {
    pub fn read(folder: &Path) -> Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            ..read_toml(&folder.join("rungs.toml"))?
        })
    }

    /// All builds: the rungs that are not shipped drivers, and those with one rung alone.
    pub fn builds(&self) -> Vec<Build> {
        let names = |range: &[Rung], change| -> Vec<_> {
            let of_kind = range.iter().filter(|rung| rung.change == change);
            of_kind.filter_map(Rung::patch).collect()
        };
        let rungs = self.rungs.iter().enumerate().filter_map(|(place, rung)| {
            let (below, above) = self.rungs.split_at(place + 1);
            let patches = match rung.change {
                Change::Transpiled => return None,
                Change::Patches if rung.patches.is_empty() => return None,
                Change::Patches => rung.patches.clone(),
                // Removing the features above leaves the rung.
                Change::Rest | Change::Remove => {
                    names(above, Change::Remove).into_iter().rev().collect()
                }
                Change::Add | Change::OverflowChecks => names(below, Change::Add),
            };
            Some(rung.build(rung.variant(), patches, &self.folder))
        });
        let alone = self.rungs.iter().filter_map(|rung| {
            let patches = rung.patch().into_iter().collect();
            Some(rung.build(rung.alone()?, patches, &self.folder))
        });
        rungs.chain(alone).collect()
    }

    /// The rung that equals the shipped safe driver.
    pub fn shipped(&self) -> Option<&Rung> {
        let mut removed = self.rungs.iter().rev();
        removed.find(|rung| rung.change == Change::Remove)
    }
}

#[cfg(test)]
pub(super) fn both() -> [Ladder; 2] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ladder");
    [folder.clone(), folder.join("limit")].map(|folder| Ladder::read(&folder).unwrap())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_rungs_patches_and_readme_of_this_repository_agree() {
        let [safety, limit] = both();
        let readme = std::fs::read_to_string(safety.folder.join("README.md")).unwrap();
        for (place, rung) in safety.rungs.iter().enumerate() {
            assert!(rung.name.starts_with(&format!("{place:02}-")), "{rung:?}");
            let line = format!("\n| `{}` |", rung.name);
            assert!(readme.contains(&line), "{rung:?}");
            assert!(!rung.alone || rung.change > Change::Rest, "{rung:?}");
        }
        assert!(safety.rungs.is_sorted_by_key(|rung| rung.change));
        assert!(!safety.shipped().unwrap().alone);
        for rung in &limit.rungs {
            assert_ne!(rung.patches.is_empty(), rung.name.starts_with("limit-"));
            let line = format!("\n| {} |", rung.title);
            assert!(readme.contains(&line), "{rung:?}");
        }
        let builds = [safety.builds(), limit.builds()].concat();
        let variants: BTreeSet<_> = builds.iter().map(|build| &build.variant).collect();
        assert_eq!(variants.len(), builds.len());
        let named: BTreeSet<_> = builds.iter().flat_map(|build| &build.patches).collect();
        let mut find = std::process::Command::new("find");
        find.arg(&safety.folder).args(["-name", "*.patch"]);
        let files = String::from_utf8(find.output().unwrap().stdout).unwrap();
        assert_eq!(files.lines().count(), named.len());
        assert!(named.iter().all(|file| file.is_file()));
    }

    #[test]
    fn the_patches_of_a_build_lead_to_it_from_the_shipped_driver() {
        let builds = both()[0].builds();
        for (variant, patches) in [
            ("ladder-11-prefetch", ""),
            ("ladder-09-data-bounds", "11-prefetch 10-length-check"),
            ("ladder-13-pool-bounds", "12-ring-bounds 13-pool-bounds"),
            ("ladder-13-pool-bounds-alone", "13-pool-bounds"),
            ("ladder-19-overflow-checks-alone", ""),
        ] {
            let mut all = builds.iter();
            let build = all.find(|build| build.variant == variant).unwrap();
            let name = |file: &PathBuf| file.file_stem().unwrap().to_string_lossy().into_owned();
            let names: Vec<_> = build.patches.iter().map(name).collect();
            assert_eq!(names.join(" "), patches, "{variant}");
            assert_eq!(build.profile != "driver", variant.contains("overflow"));
        }
    }
}
