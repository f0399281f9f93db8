//! facts: prints what a run notes about this machine and about the sources in the working directory, as JSON.

use std::path::Path;

use record::{GitFacts, HostFacts};

fn main() {
    let (git, host) = (GitFacts::of(Path::new(".")), HostFacts::gather());
    println!("{}", serde_json::json!({ "git": git, "host": host }));
}
