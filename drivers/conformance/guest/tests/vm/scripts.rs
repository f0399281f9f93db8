//! Tests that are scripts, from `scripts.toml`, and the machines of `triptych doctor`, `bind` and `selftest`.

use std::collections::HashMap;

use anyhow::Result;
use libtest_mimic::Trial;
use serde::Deserialize;

use crate::environment::{Environment, Prepared};
use crate::fixture::{on_machine, test, Ports};
use crate::rig::Machine;
use crate::vm::Vm;

/// A test that is a script. `scripts.toml` describes the parts.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    pub(crate) name: String,
    #[serde(default)]
    before: String,
    run: String,
    #[serde(default)]
    status: i32,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    after: String,
    #[serde(default)]
    at_rest: bool,
}

/// The tests of each machine.
pub(crate) type Scripts = HashMap<String, Vec<Script>>;

/// Reads the tests.
pub(crate) fn scripts() -> Result<Scripts> {
    Ok(toml::from_str(include_str!("scripts.toml"))?)
}

impl Script {
    /// Runs the test with a driver's forwarder.
    pub(crate) fn run(&self, machine: &Machine, forwarder: &str) -> Result<()> {
        let (vm, ports) = (&machine.vm, &machine.ports);
        let [a, b] = &ports.addresses;
        let group = vm.shell(format!("group {a}"))?;
        let others = machine.others.borrow();
        let other = others.first().map_or("", |ports| &ports.addresses[0]);
        let fill = |text: &String| {
            let text = text.replace("{a}", a).replace("{b}", b);
            let text = text.replace("{group}", &group).replace("{other}", other);
            text.replace("{forwarder}", forwarder)
        };
        let says: Vec<_> = self.says.iter().map(fill).collect();
        let says: Vec<_> = says.iter().map(String::as_str).collect();
        vm.shell(format!("set -e; {}", fill(&self.before)))?;
        let output = vm.run(fill(&self.run));
        vm.shell(format!("set -e; {}", fill(&self.after)))?;
        match self.status {
            0 => output?.expect_stdout(&says)?,
            _ => output?.expect_failure(&says)?,
        };
        if self.at_rest {
            ports.at_rest()?;
        }
        Ok(())
    }
}

/// A machine whose kernel drives the ports.
fn boot(environment: &Environment, name: &str, bits: Option<u8>) -> Result<Machine> {
    let mut devices = Vec::new();
    let ports = Ports::new(&mut devices, 0, 3, |config| config.with_cable(0, 1))?;
    let vm = Vm::boot(environment, name, bits, &devices)?;
    vm.shell("load_ixgbe")?;
    Ok(Machine::new(vm, ports, Vec::new()))
}

pub(crate) fn tests(environment: &Prepared, scripts: &Scripts) -> Vec<Trial> {
    let of = |machine, bits| {
        let scripts = scripts.get(machine).cloned().unwrap_or_default();
        let tests = scripts.into_iter().map(|script| {
            test(script.name.clone(), move |machine: &Machine| {
                script.run(machine, "")
            })
        });
        on_machine(
            environment,
            machine,
            move |environment, name| boot(environment, name, bits),
            tests,
        )
    };
    let with_iommu = of("tools", Some(48));
    with_iommu
        .into_iter()
        .chain(of("tools-no-iommu", None))
        .collect()
}
