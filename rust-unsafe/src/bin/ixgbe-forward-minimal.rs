//! `ixgbe-forward-minimal`: the transpiled `main` of `c/src/apps/forward_minimal.c`.

fn main() {
    ixgbe_unsafe::gen::apps::forward_minimal::main();
}
