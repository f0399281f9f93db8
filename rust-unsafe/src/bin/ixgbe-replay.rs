//! `ixgbe-replay`: the transpiled `main` of `c/src/apps/replay.c`.

fn main() {
    ixgbe_unsafe::gen::apps::replay::main();
}
