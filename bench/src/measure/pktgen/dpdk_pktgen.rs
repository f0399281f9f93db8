//! dpdk-pktgen, driven by a Lua script that it runs: `bench/pktgen/generator.lua`.

use super::command::{eal, guard, joined, with_files};
use super::config::Config;

const SCRIPT: &str = include_str!("../../../pktgen/generator.lua");

/// The shell command that runs dpdk-pktgen with the script. It reads scripts only from files.
pub(super) fn script(config: &Config) -> String {
    let mut words = guard(config);
    words.push(config.program.clone().unwrap_or("pktgen".into()));
    words.extend(eal(config));
    words.extend(["--".into(), "-P".into(), "-m".into(), mapping(config)]);
    words.extend(config.options.iter().cloned());
    let settings = format!(
        "TRIPTYCH = {{ frame_size = {}, flows = {}, ports = {} }}\n",
        config.frame_size,
        config.flows,
        config.port_count()
    );
    with_files(
        &[("generator.lua", settings + SCRIPT)],
        &format!("{} -f \"$d\"/generator.lua", joined(&words)),
    )
}

/// The core of each port. The program itself uses the first core of the list.
fn mapping(config: &Config) -> String {
    let cores = crate::machine::host::system::parse_list(&config.lcores);
    let parts: Vec<String> = (0..config.port_count())
        .map(|port| {
            let core = cores.get(port + 1).copied().unwrap_or(port as u32 + 1);
            format!("{core}.{port}")
        })
        .collect();
    parts.join(",")
}
