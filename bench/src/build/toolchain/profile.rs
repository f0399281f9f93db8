//! What profile-guided optimisation needs besides the compiler.

use std::path::{Path, PathBuf};

use super::ask::{ask, exists};
use super::compiler::{Family, Invocation, SkippedCompiler, Toolchain};

/// The `llvm-profdata` that merges profiles for a compiler. It must belong to the compiler's LLVM
/// or a newer one. `None` for GCC, which merges profiles itself.
pub fn profdata(toolchain: &Toolchain) -> Result<Option<PathBuf>, SkippedCompiler> {
    let Some(llvm) = toolchain.llvm else {
        return Ok(None);
    };
    let skip = |why: String, fix: String| SkippedCompiler {
        name: format!("{} with PGO", toolchain.name()),
        why,
        fix: Some(fix),
    };
    let (program, before) = toolchain.invocation.rustc();
    if toolchain.family == Family::Rustc {
        let print = [&before[..], &["--print", "target-libdir"]].concat();
        let folder = ask(program, &print);
        let own = folder.map(|folder| Path::new(folder.trim()).with_file_name("bin/llvm-profdata"));
        if let Some(own) = own.filter(|own| own.is_file()) {
            return Ok(Some(own));
        }
    } else {
        // Clang prints the path of a file that it finds, and the bare name of a file that it does not find.
        let has = |library: String| {
            let found = ask(program, &[&format!("--print-file-name={library}")]);
            found.is_some_and(|path| path.contains('/'))
        };
        let library = format!("libclang_rt.profile-{}.a", std::env::consts::ARCH);
        if !has(library) && !has("libclang_rt.profile.a".to_owned()) {
            return Err(skip(
                "its profiling library, libclang_rt.profile, is not installed".to_owned(),
                format!("sudo apt-get install libclang-rt-{llvm}-dev"),
            ));
        }
    }
    let mut newer = (llvm..=llvm + 10).map(|major| format!("llvm-profdata-{major}"));
    if let Some(name) = newer.find(|name| exists(name)) {
        return Ok(Some(PathBuf::from(name)));
    }
    let fix = match &toolchain.invocation {
        Invocation::Rustup(name) => format!("rustup component add llvm-tools --toolchain {name}"),
        Invocation::Program(_) => format!("sudo apt-get install llvm-{llvm}"),
    };
    Err(skip(
        format!("there is no llvm-profdata of LLVM {llvm}"),
        fix,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::compiler::test_values::{stub, toolchain};
    use super::*;

    #[test]
    fn profiles_need_the_profdata_of_the_same_llvm() {
        let folder = tempfile::tempdir().unwrap();
        let lacks = |family, line| {
            let mut compiler = toolchain(family, "90.1", Some(90));
            compiler.invocation = Invocation::Program(stub(folder.path(), line));
            profdata(&compiler).unwrap_err().to_string()
        };
        let clang = lacks(Family::Clang, "clang 90.1");
        assert!(clang.contains("libclang-rt-90-dev"), "{clang}");
        let rustc = lacks(Family::Rustc, "rustc 1.90.1");
        assert!(rustc.contains("apt-get install llvm-90"), "{rustc}");
        assert_eq!(profdata(&toolchain(Family::Gcc, "12", None)), Ok(None));
    }
}
