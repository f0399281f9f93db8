//! Tests what makes two compilers different: path and content, never the version alone. Most compilers here are
//! scripts; those that wrap the real gcc are not built with, only asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{script, stub_compiler, text, Build};
use perfcounters::process::find_program;
use perfcounters::Interrupt;
use record::Implementation;
use triptych::build::request::Builder;
use triptych::build::toolchain::compiler::Toolchain;
use triptych::build::toolchain::find::find;
use triptych::build::toolchain::identity::Identity;
use triptych::build::toolchain::recipe::{BuildRecipe, OptLevel, DEFAULT_CPU};

fn one(name: &str) -> Toolchain {
    let found = find(&[name.to_owned()]);
    assert!(found.skipped.is_empty(), "{:?}", found.skipped);
    found.toolchains.into_iter().next().unwrap()
}

fn identity(name: &str) -> Identity {
    one(name).identity
}

/// The path of an installed compiler. Without it, a test checks nothing.
fn installed(name: &str) -> Option<PathBuf> {
    let found = find_program(name);
    if found.is_none() {
        eprintln!("{name} is not installed: nothing is checked");
    }
    found
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn no_build_is_reused_for_another_compiler_of_the_same_version() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::new();
    let builder = Builder {
        sources: sources(),
        output: folder.path().join("build"),
        build: folder.path(),
        interrupt: &interrupt,
    };
    // The first line of the program that a compiler builds of the C driver.
    let built = |compiler: &str| {
        let recipe = BuildRecipe::new(one(compiler), OptLevel::Default, DEFAULT_CPU, true, false);
        builder.build(&recipe, Implementation::C).unwrap();
        let program = builder.folder(&recipe.variant).join("c/ixgbe-fwd");
        fs::read_to_string(program).unwrap().trim().to_owned()
    };
    let plain = stub_compiler(&folder.path().join("plain"), "plain");
    let patched = stub_compiler(&folder.path().join("patched"), "patched");
    assert_eq!(built(&plain), "plain");
    assert_eq!(built(&patched), "patched");
    // The same path with another content.
    stub_compiler(&folder.path().join("patched"), "patched again");
    assert_eq!(built(&patched), "patched again");
    assert_eq!(built(&plain), "plain");
}

#[test]
fn make_rebuilds_for_another_compiler_of_the_same_version() {
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().join("into");
    for code in ["plain", "patched"] {
        let compiler = stub_compiler(&folder.path().join(code), code);
        let mut make = Command::new("make");
        make.args(["into-c", &format!("CC={compiler}")])
            .arg(format!("INTO={}", into.display()))
            .current_dir(sources())
            .env_remove("MAKEFLAGS");
        let made = make.output().unwrap();
        assert!(made.status.success(), "{}", text(&made));
        let program = fs::read_to_string(into.join("c/ixgbe-fwd")).unwrap();
        assert_eq!(program.trim(), code);
    }
}

/// Runs `compare` on the quick file. Returns its status, its lines on standard output, and all that it said.
fn compared(build: &Build, arguments: &[&str]) -> (i32, Vec<String>, String) {
    let config = sources().join("bench/compilers-quick.toml");
    let first = ["compare", "--config", config.to_str().unwrap()];
    let output = build.run(&[&first[..], arguments].concat());
    let lines = String::from_utf8_lossy(&output.stdout);
    let lines = lines.lines().map(str::to_owned).collect();
    (output.status.code().unwrap(), lines, text(&output))
}

#[test]
fn the_drivers_of_the_paper_are_built_only_if_they_are_named() {
    let build = Build::new();
    let plain = stub_compiler(&build.path().join("plain"), "plain");
    let first = ["--list", "--toolchain", plain.as_str()];
    let list = |more: &[&str]| compared(&build, &[&first[..], more].concat());
    let (status, rows, said) = list(&[]);
    assert!(status == 0 && rows[0].starts_with("c "), "{said}");
    assert!(!said.contains("ixy"), "{said}");
    let (status, _, said) = list(&["--impl", "c,ixy"]);
    assert!(status == 0 && said.contains("ixy "), "{said}");
    let (status, _, said) = list(&["--impl", "ixy", "--pgo"]);
    assert_eq!(status, 2, "{said}");
    assert!(said.contains("ixy cannot be built with PGO"), "{said}");
}

#[test]
fn each_compiler_has_a_row_and_a_label() {
    let build = Build::new();
    let plain = stub_compiler(&build.path().join("plain"), "plain");
    let patched = stub_compiler(&build.path().join("patched"), "patched");
    let link = build.path().join("link");
    std::os::unix::fs::symlink(&plain, &link).unwrap();
    let listed = |compilers: &str| {
        let arguments = ["--list", "--impl", "c", "--toolchain", compilers];
        let (status, rows, said) = compared(&build, &arguments);
        assert_eq!(status, 0, "{said}");
        (rows, said)
    };
    let (rows, said) = listed(&format!("{plain},{patched}"));
    assert_eq!(rows.len(), 2, "{said}");
    let name = format!("gcc 12.2.0 at {plain}");
    assert!(rows[0].contains(&name), "{said}");
    let (rows, said) = listed(&format!("before={plain},after={patched}"));
    assert!(rows[1].contains(" after "), "{said}");
    let (rows, said) = listed(&format!("{plain},{}", link.display()));
    assert!(rows.len() == 1 && said.contains("a second time"), "{said}");
    let (rows, said) = listed(&format!("{plain},label={plain}"));
    assert!(rows.len() == 1 && rows[0].contains(" label "), "{said}");
    for (compilers, why) in [
        (format!("x={plain},x={patched}"), "the label \"x\""),
        (format!("a b={plain}"), "is not a label"),
    ] {
        let (status, _, said) = compared(&build, &["--toolchain", &compilers]);
        assert!(status == 2 && said.contains(why), "{said}");
    }
}

#[test]
fn a_wrapper_is_not_the_compiler_that_it_runs() {
    if installed("gcc").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let gcc = identity("gcc");
    let wrapper = folder.path().join("wrapper");
    let name = script(&wrapper, "exec gcc \"$@\"");
    let plain = identity(&name);
    assert_ne!(plain, gcc);
    assert_eq!(identity(&name), plain);
    script(&wrapper, "exec gcc -fno-inline \"$@\"");
    let patched = identity(&name);
    assert_eq!(patched.path, plain.path);
    assert_ne!(patched.sha256, plain.sha256);
    // A wrapper of the wrapper stays the same file, but its flags change.
    let outer = folder.path().join("outer");
    let outer = script(&outer, &format!("exec {name} \"$@\""));
    let before = identity(&outer);
    script(&wrapper, "exec gcc -fno-tree-vrp \"$@\"");
    assert_ne!(identity(&outer), before);
}

#[test]
fn a_changed_cc1_behind_an_unchanged_driver_is_another_compiler() {
    let Some(gcc) = installed("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    fs::create_dir(&parts).unwrap();
    let print = Command::new(gcc).arg("-print-prog-name=cc1").output();
    let print = print.unwrap();
    let cc1 = String::from_utf8(print.stdout).unwrap();
    let lines = format!("exec {} \"$@\"", cc1.trim());
    script(&parts.join("cc1"), &lines);
    let driver = format!("exec gcc -B {} \"$@\"", parts.display());
    let driver = script(&folder.path().join("driver"), &driver);
    let before = identity(&driver);
    let has = |name: &str| before.parts.keys().any(|path| path.ends_with(name));
    for part in "parts/cc1 as /collect2 /lto1 liblto_plugin.so /libgcc.a".split(' ') {
        assert!(has(part), "{part}: {before:?}");
    }
    script(&parts.join("cc1"), &format!("# patched\n{lines}"));
    let after = identity(&driver);
    assert_eq!(after.path, before.path);
    assert_ne!(after.key(), before.key());
}

#[test]
fn a_rust_compiler_consists_of_its_sysroot() {
    if installed("rustc").is_none() {
        return;
    }
    let rustc = identity("rustc");
    let has = |name: &str| rustc.parts.keys().any(|path| path.contains(name));
    assert!(has("librustc_driver") && has("libcore-"), "{rustc:?}");
    // A proxy of rustup is not the compiler.
    assert!(rustc.path.ends_with("/bin/rustc"), "{rustc:?}");
    let folder = tempfile::tempdir().unwrap();
    let wrapper = folder.path().join("rustc");
    let name = script(&wrapper, "exec rustc \"$@\"");
    let wrapped = identity(&name);
    assert_eq!(Path::new(&wrapped.path), fs::canonicalize(&name).unwrap());
    assert_ne!(wrapped.sha256, rustc.sha256);
}
