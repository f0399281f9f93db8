//! Two ports of a machine, and runs of a driver's forwarder between them.

use std::cell::RefCell;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, Implementation, Output, Totals};
use nic::{PortCounters, Traffic};
use rustix::process::Signal;

use crate::fixture::Ports;
use crate::vm::{Job, Vm};

/// No run here takes so long to end.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A machine with NICs of two ports.
pub(crate) struct Machine {
    pub(crate) vm: Vm,
    /// The ports of most tests.
    pub(crate) ports: Ports,
    /// NICs of single tests.
    pub(crate) others: RefCell<Vec<Ports>>,
}

impl Machine {
    pub(crate) fn new(vm: Vm, ports: Ports, others: Vec<Ports>) -> Self {
        let others = RefCell::new(others);
        Self { vm, ports, others }
    }
}

/// A driver's forwarder between two ports.
#[derive(Clone, Copy)]
pub(crate) struct Rig<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) ports: &'a Ports,
    pub(crate) driver: Implementation,
}

/// What ends a run under traffic: it gets the job, and the ports' counters before it.
type Meanwhile<'a, T> = &'a dyn Fn(&Job, &[PortCounters]) -> Result<T>;

impl Rig<'_> {
    /// Runs a script for the shell.
    pub(crate) fn shell(&self, script: String) -> Result<String> {
        self.machine.vm.shell(script)
    }

    /// The forwarder's command, to which a test can add arguments. The run may remove another user's totals, but not write
    /// to the file.
    pub(crate) fn forwarder(&self) -> String {
        let (driver, [a, b]) = (self.driver, &self.ports.addresses);
        let totals = "/out/totals.json";
        format!("rm -f {totals}; exec /drivers/{driver}/ixgbe-fwd --json {totals} {a} {b}")
    }

    /// The totals of the run that has ended, which keep the rules of every run.
    pub(crate) fn totals(&self) -> Result<Totals> {
        let text = self.shell("cat /out/totals.json; rm /out/totals.json".to_owned())?;
        let totals = Totals::parse(&(text + "\n"))?;
        totals.check(32)?;
        Ok(totals)
    }

    /// Checks that a run has ended without an error, and left the ports at rest.
    fn ended_well(&self, output: &Output) -> Result<Totals> {
        output.expect_silence()?;
        self.ports.at_rest().with_context(|| output.to_string())?;
        self.totals()
    }

    /// Runs a script under traffic until it ends, and `meanwhile` as soon as it has started.
    pub(crate) fn under_traffic<T>(
        &self,
        traffic: Traffic,
        script: String,
        meanwhile: Meanwhile<'_, T>,
    ) -> Result<(T, Output)> {
        let before = self.ports.settled()?;
        self.ports.set_traffic(traffic);
        let job = self.machine.vm.start(script)?;
        let done = meanwhile(&job, &before);
        if done.is_err() && job.is_running()? {
            job.signal(Signal::INT)?;
        }
        let output = job.wait(LIMIT);
        self.ports.set_traffic(Traffic::Off);
        let output = output?;
        let done = done.with_context(|| output.to_string())?;
        Ok((done, output))
    }

    /// Runs a forwarder under traffic, and checks the rules that hold for every run.
    pub(crate) fn forwards(
        &self,
        traffic: Traffic,
        script: String,
        meanwhile: Meanwhile<'_, ()>,
    ) -> Result<Totals> {
        let (before, output) = self.under_traffic(traffic, script, &|job, before| {
            meanwhile(job, before)?;
            Ok(before.to_vec())
        })?;
        let totals = self.ended_well(&output)?;
        expect::nothing_lost_since(&before, &self.ports.settled()?, &totals)?;
        Ok(totals)
    }

    /// Forwards so many frames, until SIGINT.
    pub(crate) fn forwards_frames(&self, script: String, frames: u64) -> Result<()> {
        let end = |job: &Job, before: &[PortCounters]| {
            self.ports.wait_for_traffic(before, frames)?;
            job.signal(Signal::INT)
        };
        self.forwards(Traffic::Saturate, script, &end).map(drop)
    }

    /// Runs a forwarder without traffic until SIGTERM, and `check` meanwhile. Both must succeed.
    pub(crate) fn check_meanwhile(&self, check: impl Fn() -> Result<()>) -> Result<()> {
        let (_, output) = self.under_traffic(Traffic::Off, self.forwarder(), &|job, _| {
            self.ports.wait_until_enabled()?;
            // After that the driver waits for the link, and then handles signals.
            std::thread::sleep(Duration::from_millis(700));
            check()?;
            job.signal(Signal::TERM)
        })?;
        let totals = self.ended_well(&output)?;
        ensure!(totals.rx_calls > 0, "{totals:?}");
        Ok(())
    }
}
