//! `ixgbe-pktgen`: the transpiled `main` of `c/src/apps/pktgen.c`.

fn main() {
    ixgbe_unsafe::gen::apps::pktgen::main();
}
