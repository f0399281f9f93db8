//! The sources of a Rust driver as a crate of its own.

use std::fs;
use std::path::Path;

use anyhow::{bail, Context, Result};
use record::Implementation;
use toml::{Table, Value};

use super::script::{default_compiler, Build, Commands};
use crate::build::sides::build::Built;
use crate::build::sides::side::DriverBuild;

/// Copies the crate. Its workspace has no other member, its lock file the versions of the repository's.
/// It needs no crates beside the driver's own.
///
/// # Errors
/// The file that cannot be read, understood or written.
pub fn write(
    driver: &DriverBuild,
    built: &Built,
    toolchain: &str,
    folder: &Path,
    functions: &[String],
) -> Result<Commands> {
    let (member, program) = match driver.implementation {
        Implementation::RustUnsafe => ("rust-unsafe", "ixgbe-fwd-unsafe"),
        _ => ("rust", "ixgbe-fwd"),
    };
    let top = &built.sources;
    copy(
        &top.join(member).join("src"),
        &folder.join(member).join("src"),
    )?;
    let mut manifest = read(&top.join(member).join("Cargo.toml"))?;
    manifest.remove("dev-dependencies");
    put(&folder.join(member).join("Cargo.toml"), &manifest)?;
    let workspace = workspace(read(&top.join("Cargo.toml"))?, &manifest, member)?;
    put(&folder.join("Cargo.toml"), &workspace)?;
    let lock = lock(read(&top.join("Cargo.lock"))?, &manifest)?;
    put(&folder.join("Cargo.lock"), &lock)?;
    let (environment, flags) = settings(toolchain);
    Ok(Commands {
        label: driver.label(),
        compiler: default_compiler(driver),
        functions: functions.to_vec(),
        build: Build::Rust {
            flags,
            environment,
            program: program.to_owned(),
        },
    })
}

/// The repository's workspace with one member and only that member's dependencies.
fn workspace(mut manifest: Table, member: &Table, name: &str) -> Result<Table> {
    let Some(Value::Table(workspace)) = manifest.get_mut("workspace") else {
        bail!("Cargo.toml has no [workspace]");
    };
    workspace.insert(
        "members".to_owned(),
        Value::Array(vec![Value::String(name.to_owned())]),
    );
    workspace.remove("exclude");
    workspace.remove("default-members");
    let needed = names(member);
    if let Some(Value::Table(dependencies)) = workspace.get_mut("dependencies") {
        dependencies.retain(|name, _| needed.iter().any(|known| known == name));
    }
    Ok(manifest)
}

/// The names of a crate's dependencies.
fn names(member: &Table) -> Vec<String> {
    match member.get("dependencies") {
        Some(Value::Table(dependencies)) => dependencies.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The lock file with only what a crate needs, directly or indirectly. Cargo refuses a locked build
/// with other entries.
fn lock(mut lock: Table, member: &Table) -> Result<Table> {
    let own = member
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .context("the crate has no name")?
        .to_owned();
    let Some(Value::Array(packages)) = lock.get_mut("package") else {
        bail!("Cargo.lock has no packages");
    };
    let direct = names(member);
    // The repository's entry also has dependencies of the tests.
    for package in packages
        .iter_mut()
        .filter(|package| is_named(package, &own))
    {
        if let Some(Value::Array(dependencies)) = package.get_mut("dependencies") {
            dependencies.retain(|there| {
                let name = there.as_str().and_then(|text| text.split(' ').next());
                name.is_some_and(|name| direct.iter().any(|known| known == name))
            });
        }
    }
    let mut needed: Vec<usize> = Vec::new();
    let mut open = vec![own];
    while let Some(wanted) = open.pop() {
        // `name`, or `name version` if there are several versions.
        let mut words = wanted.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next());
        for (place, package) in packages.iter().enumerate() {
            let fits = version.is_none_or(|version| {
                package.get("version").and_then(Value::as_str) == Some(version)
            });
            if !is_named(package, name) || !fits || needed.contains(&place) {
                continue;
            }
            needed.push(place);
            if let Some(Value::Array(dependencies)) = package.get("dependencies") {
                open.extend(
                    dependencies
                        .iter()
                        .filter_map(Value::as_str)
                        .map(str::to_owned),
                );
            }
        }
    }
    let mut place = 0;
    packages.retain(|_| {
        place += 1;
        needed.contains(&(place - 1))
    });
    Ok(lock)
}

fn is_named(package: &Value, name: &str) -> bool {
    package.get("name").and_then(Value::as_str) == Some(name)
}

/// The variables that change the profile, and `RUSTFLAGS`, from `toolchain.txt`. Line tables do not
/// decide the code.
fn settings(toolchain: &str) -> (Vec<String>, String) {
    let rest = toolchain
        .split_once("--profile driver")
        .map_or("", |(_, rest)| rest);
    let mut environment = Vec::new();
    let mut flags = Vec::new();
    for word in rest.split_whitespace() {
        let variable = word
            .split_once('=')
            .filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'));
        match variable {
            Some(("DEBUG", _)) => {}
            Some(_) => environment.push(format!("CARGO_PROFILE_DRIVER_{word}")),
            None => flags.push(word),
        }
    }
    (environment, flags.join(" "))
}

fn read(path: &Path) -> Result<Table> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))
}

fn put(path: &Path, table: &Table) -> Result<()> {
    fs::write(path, toml::to_string(table)?)
        .with_context(|| format!("cannot write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to)?,
            false => {
                fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_and_the_flags_are_read() {
        let line =
            "rustc 1.95.0 (596 2026-04-14) --profile driver DEBUG=line-tables-only OPT_LEVEL=2 -C \
                    target-cpu=haswell";
        assert_eq!(
            settings(line),
            (
                vec!["CARGO_PROFILE_DRIVER_OPT_LEVEL=2".to_owned()],
                "-C target-cpu=haswell".to_owned()
            )
        );
    }

    #[test]
    fn the_lock_file_has_only_what_the_crate_needs() {
        let all: Table = toml::from_str(
            "version = 4\n\
             [[package]]\nname = 'own'\nversion = '1'\ndependencies = ['a', 'test-only']\n\
             [[package]]\nname = 'a'\nversion = '1'\ndependencies = ['b 2']\n\
             [[package]]\nname = 'b'\nversion = '1'\n\
             [[package]]\nname = 'b'\nversion = '2'\n\
             [[package]]\nname = 'test-only'\nversion = '1'\n",
        )
        .unwrap();
        let member: Table =
            toml::from_str("[package]\nname = 'own'\n[dependencies]\na = '1'\n").unwrap();
        let text = toml::to_string(&lock(all, &member).unwrap()).unwrap();
        assert_eq!(text.matches("[[package]]").count(), 3, "{text}");
        assert!(!text.contains("test-only"), "{text}");
    }
}
