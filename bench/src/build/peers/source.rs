//! The sources of a peer: fetched once, and checked against the pinned hashes each time.

use std::fs;
use std::path::{absolute, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use perfcounters::Interrupt;

use super::manifest::Source;
use super::obstacle::{Obstacle, Outcome};
use super::record::Origin;
use super::tool;

/// Longest time for one contact with a public repository.
const NETWORK: Duration = Duration::from_secs(120);
/// Longest time for work of git on this machine.
const LOCAL: Duration = Duration::from_secs(60);

/// Files that have the pinned hashes.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The absolute path of the folder. Builds must not write to it.
    pub folder: PathBuf,
    /// How the files came here.
    pub origin: Origin,
}

/// Where the sources are kept, and where new ones come from.
#[derive(Debug)]
pub struct Store<'a> {
    /// The folder of all peers.
    pub folder: &'a Path,
    /// The folder with git bundles. Without it, the public repositories are asked.
    pub bundles: Option<&'a Path>,
    /// Stops waiting.
    pub interrupt: &'a Interrupt,
}

impl Store<'_> {
    /// Takes the files of a source at its pinned commit. Fetches only what is not there yet.
    ///
    /// # Errors
    /// [`Obstacle::Absent`] if the source cannot be had without network or bundle. Otherwise
    /// [`Obstacle::Failed`]: if the repository or bundle lacks the commit, or files differ from the pin.
    pub fn take(&self, source: &Source) -> Outcome<Sources> {
        let git = Git {
            folder: absolute(self.folder.join("git").join(&source.name))
                .context("cannot find the folder of the sources")?,
            interrupt: self.interrupt,
        };
        if !git.has(&source.commit) {
            self.fetch(&git, source)?;
        }
        let folder = absolute(self.folder.join("source").join(&source.name))
            .context("cannot find the folder of the sources")?;
        export(&git, source, &folder)
            .with_context(|| format!("cannot use the sources of {}", source.name))?;
        Ok(Sources {
            folder,
            origin: git.origin()?,
        })
    }

    fn fetch(&self, git: &Git<'_>, source: &Source) -> Outcome<()> {
        git.create()?;
        let origin = match self.bundles {
            Some(folder) => {
                let bundle =
                    absolute(folder.join(&source.bundle)).context("cannot find the bundle")?;
                if !bundle.is_file() {
                    return Err(Obstacle::Absent(format!(
                        "there is no {}: put the git bundle of {} there, or fetch from the network without \
                         PEERS_FROM",
                        bundle.display(),
                        source.url
                    )));
                }
                let from = bundle.to_string_lossy();
                git.fetch(&from, &["HEAD"], LOCAL).with_context(|| {
                    format!("cannot take the sources from {}", bundle.display())
                })?;
                Origin::Bundle
            }
            None => {
                self.fetch_from_network(git, source)?;
                Origin::Repository
            }
        };
        if !git.has(&source.commit) {
            let place = match origin {
                Origin::Bundle => source.bundle.as_str(),
                _ => source.url.as_str(),
            };
            return Err(anyhow!(
                "{place} does not have commit {} of {}, which bench/peers.toml pins",
                source.commit,
                source.name
            )
            .into());
        }
        git.note_origin(origin)?;
        Ok(())
    }

    /// Asks for the commit alone, which is little. Servers that do not offer single commits are asked for
    /// everything.
    fn fetch_from_network(&self, git: &Git<'_>, source: &Source) -> Outcome<()> {
        let mut wanted = vec!["--depth=1", source.commit.as_str()];
        wanted.extend(source.counted.as_deref());
        let one = git.fetch(&source.url, &wanted, NETWORK);
        let Err(error) = one else {
            return Ok(());
        };
        if self.interrupt.is_set() {
            return Err(error.into());
        }
        if let Err(error) = git.reach(&source.url) {
            return Err(Obstacle::Absent(format!(
                "cannot reach {} ({}); without network, name a folder with {}: make peers PEERS_FROM=FOLDER",
                source.url,
                first_line(&error),
                source.bundle
            )));
        }
        git.fetch(&source.url, &["+refs/heads/*:refs/peers/*"], NETWORK)
            .with_context(|| format!("cannot fetch {}", source.url))?;
        Ok(())
    }
}

/// The first line of an error, without the name of its process.
fn first_line(error: &anyhow::Error) -> String {
    let text = error.to_string();
    let line = text.lines().find(|line| line.contains("fatal:"));
    line.or(text.lines().next())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// A bare repository with the objects of one source.
#[derive(Debug)]
struct Git<'a> {
    folder: PathBuf,
    interrupt: &'a Interrupt,
}

impl Git<'_> {
    /// Git on this repository, without the user's settings where these could change files.
    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(&self.folder)
            .args(["-c", "core.autocrlf=false", "-c", "core.fileMode=true"])
            .args(["-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null"])
            // A fetch that stalls ends earlier than its time limit.
            .args(["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"])
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        command
    }

    fn run(&self, arguments: &[&str], limit: Duration) -> Result<String> {
        let mut command = self.command();
        command.args(arguments);
        tool::run("git", command, limit, self.interrupt)
    }

    fn create(&self) -> Result<()> {
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create {}", self.folder.display()))?;
        self.run(&["init", "--quiet", "--bare"], LOCAL).map(drop)
    }

    fn has(&self, commit: &str) -> bool {
        let commit = format!("{commit}^{{commit}}");
        self.folder.is_dir() && self.run(&["cat-file", "-e", &commit], LOCAL).is_ok()
    }

    fn fetch(&self, from: &str, what: &[&str], limit: Duration) -> Result<()> {
        let (options, refs): (Vec<&str>, Vec<&str>) =
            what.iter().partition(|word| word.starts_with("--"));
        let mut words = vec!["fetch", "--quiet", "--no-tags"];
        words.extend(options);
        words.extend(["--", from]);
        words.extend(refs);
        self.run(&words, limit).map(drop)
    }

    /// Whether a repository answers at all.
    fn reach(&self, url: &str) -> Result<()> {
        self.run(&["ls-remote", "--quiet", "--", url, "HEAD"], NETWORK)
            .map(drop)
    }

    fn tree_of(&self, commit: &str) -> Result<String> {
        let name = format!("{commit}^{{tree}}");
        Ok(self
            .run(&["rev-parse", "--verify", &name], LOCAL)?
            .trim()
            .to_owned())
    }

    fn note_origin(&self, origin: Origin) -> Result<()> {
        let path = self.folder.join("triptych-origin");
        fs::write(&path, origin.to_string())
            .with_context(|| format!("cannot write {}", path.display()))
    }

    fn origin(&self) -> Result<Origin> {
        let path = self.folder.join("triptych-origin");
        let fail = || {
            format!(
                "cannot read {}: remove its folder, then run this again",
                path.display()
            )
        };
        fs::read_to_string(&path)
            .with_context(fail)?
            .parse()
            .with_context(fail)
    }

    /// Runs git with `folder` as the files, and with an index of its own.
    fn on_files(&self, folder: &Path, arguments: &[&str]) -> Result<String> {
        let mut command = self.command();
        command
            .arg("--work-tree")
            .arg(folder)
            .args(arguments)
            .current_dir(folder)
            .env("GIT_INDEX_FILE", self.folder.join("index"));
        tool::run("git", command, LOCAL, self.interrupt)
    }
}

/// Writes the files of the pinned commit unless they are there. Checks the hashes of commit and files.
fn export(git: &Git<'_>, source: &Source, folder: &Path) -> Result<()> {
    let tree = git.tree_of(&source.commit)?;
    if tree != source.tree {
        return Err(anyhow!(
            "commit {} has the tree {tree}, and bench/peers.toml pins {}",
            source.commit,
            source.tree
        ));
    }
    if !folder.exists() {
        let new = folder.with_extension("new");
        if new.exists() {
            fs::remove_dir_all(&new).with_context(|| format!("cannot remove {}", new.display()))?;
        }
        fs::create_dir_all(&new).with_context(|| format!("cannot create {}", new.display()))?;
        git.on_files(&new, &["read-tree", "--reset", &source.commit])?;
        git.on_files(&new, &["checkout-index", "--all", "--force"])?;
        fs::rename(&new, folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    // Files that somebody changed have another hash.
    git.on_files(folder, &["read-tree", "--reset", &source.commit])?;
    git.on_files(folder, &["add", "--all", "--force", "--", "."])?;
    let found = git.on_files(folder, &["write-tree"])?.trim().to_owned();
    if found != source.tree {
        let changed = git.on_files(
            folder,
            &["diff-tree", "-r", "--name-only", &source.tree, &found],
        )?;
        let files: Vec<_> = changed.lines().take(5).collect();
        return Err(anyhow!(
            "files in {} differ from the pinned commit ({}): remove that folder, then run this again",
            folder.display(),
            files.join(", ")
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A repository with two commits, and its last commit as a source.
    struct Fake {
        place: tempfile::TempDir,
        source: Source,
    }

    impl Fake {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let origin = place.path().join("origin");
            fs::create_dir(&origin).unwrap();
            git(&origin, &["init", "--quiet"]);
            for content in ["old\n", "new\r\n"] {
                fs::write(origin.join("main.c"), content).unwrap();
                fs::write(origin.join(".gitignore"), "*.o\n").unwrap();
                git(&origin, &["add", "."]);
                git(&origin, &["commit", "--quiet", "-m", "c"]);
            }
            fs::create_dir(place.path().join("bundles")).unwrap();
            git(
                &origin,
                &[
                    "bundle",
                    "create",
                    "--quiet",
                    "../bundles/fake.bundle",
                    "HEAD",
                ],
            );
            let source = Source {
                name: "fake".to_owned(),
                url: format!("file://{}", origin.display()),
                bundle: "fake.bundle".to_owned(),
                commit: git(&origin, &["rev-parse", "HEAD"]),
                tree: git(&origin, &["rev-parse", "HEAD^{tree}"]),
                licence: "MIT".to_owned(),
                counted: None,
            };
            Self { place, source }
        }

        fn take(&self, bundles: Option<&Path>) -> Outcome<Sources> {
            let folder = self.place.path().join("peers");
            let store = Store {
                folder: &folder,
                bundles,
                interrupt: &Interrupt::new(),
            };
            store.take(&self.source)
        }

        fn bundles(&self) -> PathBuf {
            self.place.path().join("bundles")
        }
    }

    fn failure(outcome: Outcome<Sources>) -> String {
        match outcome {
            Err(Obstacle::Failed(error)) => format!("{error:#}"),
            other => panic!("{other:?}"),
        }
    }

    fn absence(outcome: Outcome<Sources>) -> String {
        match outcome {
            Err(Obstacle::Absent(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_repository_and_a_bundle_give_the_same_files() {
        for bundle in [false, true] {
            let fake = Fake::new();
            let bundles = fake.bundles();
            let taken = fake.take(bundle.then_some(bundles.as_path())).unwrap();
            assert_eq!(fs::read(taken.folder.join("main.c")).unwrap(), b"new\r\n");
            let origin = [Origin::Repository, Origin::Bundle][usize::from(bundle)];
            assert_eq!(taken.origin, origin);
            // What is there is not fetched again, and the origin stays.
            fs::remove_dir_all(fake.place.path().join("origin")).unwrap();
            assert_eq!(fake.take(None).unwrap().origin, origin);
        }
    }

    #[test]
    fn without_network_or_bundle_the_source_is_absent() {
        let mut fake = Fake::new();
        let empty = fake.place.path().join("empty");
        fs::create_dir(&empty).unwrap();
        let reason = absence(fake.take(Some(&empty)));
        assert!(reason.contains("fake.bundle"), "{reason}");
        fake.source.url = "https://127.0.0.1:1/none".to_owned();
        let reason = absence(fake.take(None));
        assert!(
            reason.contains("127.0.0.1") && reason.contains("PEERS_FROM"),
            "{reason}"
        );
        // A later run with the bundle succeeds.
        fake.take(Some(&fake.bundles())).unwrap();
    }

    #[test]
    fn a_commit_that_is_not_there_is_a_failure() {
        let mut fake = Fake::new();
        fake.source.commit = "0123456789012345678901234567890123456789".to_owned();
        for bundles in [None, Some(fake.bundles())] {
            let error = failure(fake.take(bundles.as_deref()));
            assert!(error.contains("does not have commit 01234567"), "{error}");
        }
    }

    #[test]
    fn a_damaged_bundle_is_a_failure() {
        let fake = Fake::new();
        fs::write(fake.bundles().join("fake.bundle"), "no bundle").unwrap();
        let error = failure(fake.take(Some(&fake.bundles())));
        assert!(error.contains("fake.bundle"), "{error}");
    }

    #[test]
    fn another_tree_than_the_pinned_one_is_refused() {
        let mut fake = Fake::new();
        fake.source.tree = "0123456789012345678901234567890123456789".to_owned();
        let error = failure(fake.take(None));
        assert!(error.contains("pins 01234567"), "{error}");
    }

    #[test]
    fn changed_added_and_removed_files_are_refused() {
        type Change = (&'static str, fn(&Path));
        let changes: [Change; 4] = [
            ("main.c", |folder| {
                fs::write(folder.join("main.c"), "new\n").unwrap()
            }),
            ("more.c", |folder| {
                fs::write(folder.join("more.c"), "").unwrap()
            }),
            ("main.o", |folder| {
                fs::write(folder.join("main.o"), "").unwrap()
            }),
            ("main.c", |folder| {
                fs::remove_file(folder.join("main.c")).unwrap()
            }),
        ];
        for (name, change) in changes {
            let fake = Fake::new();
            let taken = fake.take(None).unwrap();
            change(&taken.folder);
            let error = failure(fake.take(None));
            assert!(
                error.contains("remove that folder") && error.contains(name),
                "{error}"
            );
            fs::remove_dir_all(&taken.folder).unwrap();
            fake.take(None).unwrap();
        }
    }

    #[test]
    fn an_interrupt_stops_the_fetch() {
        let fake = Fake::new();
        let interrupt = Interrupt::new();
        interrupt.set();
        let folder = fake.place.path().join("peers");
        let store = Store {
            folder: &folder,
            bundles: None,
            interrupt: &interrupt,
        };
        store.take(&fake.source).unwrap_err();
    }
}
