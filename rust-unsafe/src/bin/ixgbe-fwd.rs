//! `ixgbe-fwd`: the transpiled `main` of `c/src/apps/fwd.c`.

fn main() {
    ixgbe_unsafe::gen::apps::fwd::main();
}
