//! The command lines of load generators.

use std::process::Command;

use super::config::{Config, Mode, Tool};
use crate::machine::host::system::parse_list;

/// The protocol, which both scripts begin with.
const PROTOCOL: &str = include_str!("../../../pktgen/protocol.lua");
const PKTGEN: &str = include_str!("../../../pktgen/pktgen.lua");
const MOONGEN: &str = include_str!("../../../pktgen/moongen.lua");

/// The command that runs the generator on its machine. The errors of SSH stand between the answers, too.
pub(super) fn command(config: &Config) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exec 2>&1; {}", command_line(config))]);
    command
}

/// The command line that starts the generator. SSH never asks for a password, and detects within 15 s that the machine
/// is gone.
pub(crate) fn command_line(config: &Config) -> String {
    let script = script(config);
    let Some(host) = &config.ssh else {
        return script;
    };
    let options = "-T -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3";
    let words = ["--", host, &script].map(str::to_owned);
    format!("exec ssh {options} {}", joined(&words))
}

/// The shell command that runs the generator. Its error messages stand between the answers.
fn script(config: &Config) -> String {
    let run = match config.tool {
        Tool::Testpmd => format!("exec {}", joined(&testpmd(config))),
        Tool::Pktgen => pktgen(config),
        Tool::Moongen => moongen(config),
        Tool::Command => {
            let words = [guarded(config, &[], ""), config.options.clone()].concat();
            format!("exec {}", joined(&words))
        }
    };
    format!("exec 2>&1; {run}")
}

/// testpmd buffers its output to a pipe by the page, so `stdbuf` makes it buffer by the line.
fn testpmd(config: &Config) -> Vec<String> {
    let mut words = guarded(config, &["stdbuf", "-oL"], "dpdk-testpmd");
    words.extend(eal(config));
    // Links come up only when the forwarder runs, which starts later.
    let before = ["--", "--disable-link-check", "-i", "--port-topology=paired"];
    words.extend(before.map(str::to_owned));
    let (mode, flows) = match config.mode {
        Mode::Txonly => ("txonly", "--txonly-multi-flow".to_owned()),
        Mode::Flowgen => ("flowgen", format!("--flowgen-flows={}", config.flows)),
    };
    words.extend([format!("--forward-mode={mode}"), flows]);
    // One core per port, because a core divides its flows among its ports.
    words.push(format!("--nb-cores={}", config.port_count()));
    words.extend(config.options.iter().cloned());
    words
}

/// dpdk-pktgen reads scripts only from files. It uses the first core of the list itself.
fn pktgen(config: &Config) -> String {
    let cores = parse_list(&config.lcores);
    let ports = (0..config.port_count()).map(|port| {
        let core = cores.get(port + 1).copied().unwrap_or(port as u32 + 1);
        format!("{core}.{port}")
    });
    let mapping = ports.collect::<Vec<_>>().join(",");
    let mut words = guarded(config, &[], "pktgen");
    words.extend(eal(config));
    words.extend(["--", "-P", "-m", &mapping].map(str::to_owned));
    words.extend(config.options.iter().cloned());
    let files = with_files(&[("pktgen.lua", &lua(config, PKTGEN))]);
    format!("{files}{} -f \"$d\"/pktgen.lua", joined(&words))
}

/// MoonGen runs in its own folder, and reads the options of DPDK from a file.
fn moongen(config: &Config) -> String {
    let program = config.program.clone().unwrap_or_default();
    let folder = program
        .rsplit_once("/build/")
        .map_or("/", |(folder, _)| folder);
    let list = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        words.join(", ")
    };
    let mut cli = vec!["--file-prefix".to_owned(), "triptych".to_owned()];
    cli.extend(config.eal.iter().cloned());
    let cores = parse_list(&config.lcores);
    let cores: Vec<String> = cores.iter().map(u32::to_string).collect();
    let (cores, ports, cli) = (cores.join(", "), list(&config.ports), list(&cli));
    let dpdk = format!(
        "DPDKConfig {{ cores = {{{cores}}}, pciWhitelist = {{{ports}}}, cli = {{{cli}}} }}\n"
    );
    let script = lua(config, MOONGEN);
    format!(
        "{}cd {} && {} \"$d\"/moongen.lua {} --dpdk-config=\"$d\"/dpdk-conf.lua",
        with_files(&[("moongen.lua", &script), ("dpdk-conf.lua", &dpdk)]),
        joined(&[folder.to_owned()]),
        joined(&guarded(config, &[], "")),
        joined(&config.options),
    )
}

/// The program with a `timeout`, which ends the program even if this process cannot.
fn guarded(config: &Config, wrapper: &[&str], default: &str) -> Vec<String> {
    let limit = config.time_limit_seconds.to_string();
    let program = config.program.as_deref().unwrap_or(default);
    let words = [&["timeout", "-k", "5", &limit], wrapper, &[program]].concat();
    words.into_iter().map(str::to_owned).collect()
}

/// The options of DPDK itself.
fn eal(config: &Config) -> Vec<String> {
    // A file prefix of its own keeps it apart from other DPDK programs.
    let mut words = vec!["--lcores", &config.lcores];
    words.extend("--file-prefix triptych --no-telemetry".split(' '));
    words.extend(config.ports.iter().flat_map(|port| ["-a", port]));
    words.extend(config.vdevs.iter().flat_map(|vdev| ["--vdev", vdev]));
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words.extend(config.eal.iter().cloned());
    words
}

/// A script for a program that runs Lua: the settings, the protocol, and the program's own commands.
fn lua(config: &Config, commands: &str) -> String {
    let (size, flows, ports) = (config.frame_size, config.flows, config.port_count());
    format!(
        "TRIPTYCH = {{ frame_size = {size}, flows = {flows}, ports = {ports} }}\n{PROTOCOL}{commands}"
    )
}

/// The beginning of a shell command that writes files to a new folder `$d`, and removes the folder at its end.
fn with_files(files: &[(&str, &str)]) -> String {
    let mut script =
        "d=$(mktemp -d /tmp/triptych-XXXXXX) && trap 'rm -rf \"$d\"' EXIT && ".to_owned();
    for (name, text) in files {
        let text = joined(&[(*text).to_owned()]);
        script += &format!("printf %s {text} >\"$d\"/{name} && ");
    }
    script
}

/// The words as a command line. A word with a zero byte, which no program can take, makes it empty.
fn joined(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
