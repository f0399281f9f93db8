//! Compiles the C driver and `client.c` with coverage for libFuzzer, AddressSanitizer and UBSan, for the
//! feature `c-client`.

fn main() {
    #[cfg(feature = "c-client")]
    compile();
}

#[cfg(feature = "c-client")]
fn compile() {
    let driver = std::path::Path::new("../../../c/src");
    // All but the programs.
    let rooms = ["", "driver", "vfio", "vfio_user", "rooms"].map(|room| driver.join(room));
    let sources: Vec<_> = rooms
        .iter()
        .flat_map(|room| std::fs::read_dir(room).expect("the C driver's sources"))
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    println!("cargo::rerun-if-changed={}", driver.display());
    println!("cargo::rerun-if-changed=client.c");
    cc::Build::new()
        .files(&sources)
        .file("client.c")
        .include(driver)
        .std("gnu11")
        .opt_level(1)
        .flag("-g")
        .flag("-fsanitize=address,undefined")
        // A finding ends the program with SIGILL, so that no second run-time library is needed.
        .flag("-fsanitize-trap=undefined")
        .flag("-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp")
        .compile("ixgbe_c");
}
