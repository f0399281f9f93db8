//! `ixgbe-capture`: the transpiled `main` of `c/src/apps/capture.c`.

fn main() {
    ixgbe_unsafe::gen::apps::capture::main();
}
