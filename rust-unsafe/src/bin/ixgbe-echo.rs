//! `ixgbe-echo`: the transpiled `main` of `c/src/apps/echo.c`.

fn main() {
    ixgbe_unsafe::gen::apps::echo::main();
}
