//! What profile-guided optimisation needs besides the compiler.

use std::path::{Path, PathBuf};

use super::compiler::{Family, Invocation, SkippedCompiler, Toolchain};
use super::machine::Machine;

/// The `llvm-profdata` that merges profiles for a compiler. It must belong to the compiler's LLVM
/// or a newer one. `None` for GCC, which merges profiles itself.
///
/// # Errors
/// Names the missing tool and the command that installs it.
pub fn profdata(
    machine: &dyn Machine,
    toolchain: &Toolchain,
) -> Result<Option<PathBuf>, SkippedCompiler> {
    let Some(llvm) = toolchain.llvm else {
        return Ok(None);
    };
    let skip = |why: String, fix: String| SkippedCompiler {
        name: format!("{} with PGO", toolchain.name()),
        why,
        fix: Some(fix),
    };
    if toolchain.family == Family::Rustc {
        let print = ["--print", "target-libdir"];
        let folder = match &toolchain.invocation {
            Invocation::Program(program) => machine.output(program, &print),
            Invocation::Rustup(name) => {
                machine.output("rustup", &[&["run", name, "rustc"][..], &print].concat())
            }
        };
        let own = folder.map(|folder| Path::new(folder.trim()).with_file_name("bin/llvm-profdata"));
        if let Some(own) = own.filter(|own| machine.has(&own.to_string_lossy())) {
            return Ok(Some(own));
        }
    }
    if let (Family::Clang, Invocation::Program(program)) = (toolchain.family, &toolchain.invocation)
    {
        if !has_profile_runtime(machine, program) {
            return Err(skip(
                "its profiling library, libclang_rt.profile, is not installed".to_owned(),
                format!("sudo apt-get install libclang-rt-{llvm}-dev"),
            ));
        }
    }
    let newer = (llvm..=llvm + 10).map(|major| format!("llvm-profdata-{major}"));
    if let Some(name) = newer.into_iter().find(|name| machine.has(name)) {
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

/// Whether clang finds the library that instrumented programs are linked with. Clang prints the
/// path of a file that it finds, and the bare name of a file that it does not find.
fn has_profile_runtime(machine: &dyn Machine, clang: &str) -> bool {
    let names = [
        format!("libclang_rt.profile-{}.a", std::env::consts::ARCH),
        "libclang_rt.profile.a".to_owned(),
    ];
    names.iter().any(|name| {
        let found = machine.output(clang, &[&format!("--print-file-name={name}")]);
        found.is_some_and(|path| path.contains('/'))
    })
}

#[cfg(test)]
mod tests {
    use super::super::find::find;
    use super::super::machine::simulated::machine;
    use super::*;

    #[test]
    fn profiles_need_the_profdata_of_the_same_llvm() {
        let all = find(&machine(), &["gcc-12".to_owned(), "clang-19".to_owned()]).toolchains;
        assert_eq!(profdata(&machine(), &all[0]), Ok(None));
        let lacks = || profdata(&machine(), &all[1]).unwrap_err().to_string();
        assert!(lacks().contains("libclang-rt-19-dev"), "{}", lacks());
        let name = format!(
            "--print-file-name=libclang_rt.profile-{}.a",
            std::env::consts::ARCH
        );
        let with = |answer: &'static str| {
            let mut machine = machine();
            let line = format!("clang-19 {name}");
            machine.0.insert(Box::leak(line.into_boxed_str()), answer);
            profdata(&machine, &all[1])
        };
        // Clang prints only the name of a file that it does not find.
        let bare = with("libclang_rt.profile-x.a\n").unwrap_err().to_string();
        assert!(bare.contains("libclang-rt-19-dev"), "{bare}");
        let found = with("/usr/lib/libclang_rt.profile-x.a\n")
            .unwrap_err()
            .to_string();
        assert!(found.contains("apt-get install llvm-19"), "{found}");
    }
}
