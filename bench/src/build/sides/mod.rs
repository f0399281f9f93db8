//! The two sides of a comparison of machine code: what the user names, and how it is built.
//!
//! [`spec`] reads a side as the user writes it, such as `c@gcc-12:-O3`. [`side`] finds its compiler and
//! its driver, [`crate::build::checkout`] takes the sources of a commit, and [`build`] builds the driver.

pub mod build;
pub mod side;
pub mod spec;

/// How to write a side, for the help of commands.
pub const SYNTAX: &str = "\
A side is a driver, or parts separated by colons, or both: DRIVER@PART:PART:...
  DRIVER        c, rust or rust-unsafe; without it, the driver that the other side or the compiler has
  gcc-12        a compiler: gcc-N, clang-N, rustc-N.N, a path, or NAME=PATH
  -O3           a flag: -O1, -O2, -O3 and -Os replace the level, all others are added at the end
  no-lto        without link-time optimisation
  commit:REF    the sources of a commit, taken below the build folder for the time of the build
  program:FILE  an existing program, not stripped; nothing is built

Examples:
  c@gcc-11 c@gcc-12                 two versions of a compiler
  c@gcc-12 c@gcc-12:-O3             two levels of optimisation
  c rust                            two drivers, as `make build` builds them
  rust rust@commit:HEAD~1           the driver of today and that of the commit before
  c@-fno-inline c@patched=/opt/gcc/bin/gcc:-fno-inline";
