//! MoonGen, driven by a Lua script that it runs: `bench/pktgen/moongen.lua`.

use super::command::{guard, joined, with_files};
use super::config::Config;
use super::session::quote;

const SCRIPT: &str = include_str!("../../../pktgen/moongen.lua");

/// The shell command that runs MoonGen with the script, in MoonGen's own folder.
pub(super) fn script(config: &Config) -> String {
    let program = config.program.clone().unwrap_or_default();
    let folder = match program.rsplit_once("/build/") {
        Some((folder, _)) => folder.to_owned(),
        None => "/".to_owned(),
    };
    let mut words = guard(config);
    words.push(program);
    let settings = format!(
        "TRIPTYCH = {{ frame_size = {}, flows = {}, ports = {} }}\n",
        config.frame_size,
        config.flows,
        config.port_count()
    );
    let options = joined(&config.options);
    with_files(
        &[
            ("moongen.lua", settings + SCRIPT),
            ("dpdk-conf.lua", dpdk_configuration(config)),
        ],
        &format!(
            "cd {} && {} \"$d\"/moongen.lua {options} --dpdk-config=\"$d\"/dpdk-conf.lua",
            quote(&folder),
            joined(&words)
        ),
    )
}

/// The options of DPDK, as MoonGen reads them.
fn dpdk_configuration(config: &Config) -> String {
    let list = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        words.join(", ")
    };
    let cores: Vec<String> = crate::machine::host::system::parse_list(&config.lcores)
        .iter()
        .map(ToString::to_string)
        .collect();
    let mut eal = vec!["--file-prefix".to_owned(), "triptych".to_owned()];
    eal.extend(config.eal.iter().cloned());
    format!(
        "DPDKConfig {{ cores = {{{}}}, pciWhitelist = {{{}}}, cli = {{{}}} }}\n",
        cores.join(", "),
        list(&config.ports),
        list(&eal)
    )
}
