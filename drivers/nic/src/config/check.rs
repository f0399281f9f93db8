//! Which settings fit together.

use std::fmt::Display;

use crate::config::link::Module;
use crate::config::nic::{NicConfig, PortConfig, MAX_FLOWS, MAX_PORTS, MAX_WINDOW};
use crate::config::settings::{Expected, MmioMode, Traffic, VerifyMode};
use crate::config::wires::WireTo;
use crate::device::families::{family_of, Medium};
use crate::error::{ensure, ConfigError};
use crate::traffic::frame::MIN_FRAME;

impl NicConfig {
    /// Checks that the settings fit together.
    pub fn check(&self) -> Result<(), ConfigError> {
        let count = self.ports.len();
        ensure! {
            (1..=MAX_PORTS).contains(&count) => "{count} ports: there must be 1 to {MAX_PORTS}";
        }
        for (index, port) in self.ports.iter().enumerate() {
            let checked = port.check().and_then(|()| self.check_port(index, port));
            checked.map_err(|error| ConfigError(format!("port {index}: {error}")))?;
        }
        self.check_latency()?;
        self.check_cables()?;
        self.check_bursts()?;
        let (planes, groups) = (self.data_plane_cpus.len(), self.groups().len());
        ensure! {
            planes <= groups =>
                "--data-plane-cpus names {planes} processors, but the ports form {groups} groups that \
                 exchange no frames with each other; raise --ports or name fewer processors";
        }
        Ok(())
    }

    /// Checks that there is a port of this number.
    pub(super) fn check_number(
        &self,
        what: &str,
        name: impl Display,
        port: usize,
    ) -> Result<(), ConfigError> {
        let last = self.ports.len().saturating_sub(1);
        ensure! { port <= last => "{what} {name}: ports are numbered 0 to {last}"; }
        Ok(())
    }

    /// Checks what a port needs of the others.
    fn check_port(&self, index: usize, port: &PortConfig) -> Result<(), ConfigError> {
        if let Some(peer) = port.peer {
            self.check_number("peer", peer, peer)?;
        }
        let cabled = |port: usize| self.cables.iter().any(|cable| cable.is_at(port));
        let window = matches!(port.traffic, Traffic::Window { .. });
        let returns = |(at, other): (usize, &PortConfig)| {
            other.peer == Some(index) && other.checks_frames() && !cabled(at)
        };
        ensure! {
            !window || self.ports.iter().enumerate().any(returns) =>
                "traffic with a window needs a port that checks the returning frames; use two ports, and \
                 verify full or sequence, without capture or cables";
        }
        let Some(wire) = &port.wire else {
            return Ok(());
        };
        let others = self.ports.iter().enumerate();
        let others = others.filter(|(other, _)| *other != index);
        let mut others = others.filter_map(|(_, other)| other.wire.as_ref());
        ensure! {
            port.traffic == Traffic::Off => "wire {wire}: its frames come from there; choose traffic off";
            !cabled(index) => "wire {wire}: the port has a cable; remove one of the two";
        }
        match wire {
            WireTo::Tap(_) => ensure! {
                !others.any(|other| other == wire) => "wire {wire}: another port has this interface";
            },
            WireTo::Pcap { output, .. } => ensure! {
                !others.any(|other| output.as_ref().is_some_and(|file| other.uses(file))) =>
                    "wire {wire}: another port has the file OUT too; choose another one";
            },
        }
        Ok(())
    }

    /// Checks that latency can be measured: frames need due times, and the NIC must recognize them
    /// when they come back.
    fn check_latency(&self) -> Result<(), ConfigError> {
        if self.latency.is_none() {
            return Ok(());
        }
        for (index, port) in self.ports.iter().enumerate() {
            ensure! {
                matches!(port.traffic, Traffic::Off | Traffic::Rate { .. }) =>
                    "port {index}: traffic without a rate has no due times to measure latency from; use rate=MPPS";
                port.checks_frames() =>
                    "port {index}: latency needs frames that are checked; use verify full or sequence, without capture";
            }
        }
        match self.cables.first() {
            None => Ok(()),
            Some(cable) => Err(ConfigError(format!(
                "cable {cable}: latency needs frames that are checked, and frames on a cable are not; remove the \
                 cable or the latency measurement"
            ))),
        }
    }

    /// Checks that the NIC can time bursts, and that this processor can place lines.
    fn check_bursts(&self) -> Result<(), ConfigError> {
        let Some(bursts) = &self.bursts else {
            return Ok(());
        };
        let each = |holds: fn(&PortConfig) -> bool| self.ports.iter().all(holds);
        ensure! {
            self.ports.len() == 2 && self.planes().len() == 1 =>
                "burst: bursts go to two ports of one data plane; choose --ports 2";
            self.cables.is_empty() && each(|port| port.wire.is_none()) =>
                "burst: the frames that are sent must leave the card; remove cables and wires";
            each(|port| port.traffic == Traffic::Off) =>
                "burst: the card makes its own frames; choose --traffic off";
            self.mmio == MmioMode::Shared =>
                "burst: the card reads tails from memory; choose --mmio shared";
        }
        for placement in &bursts.placements {
            let possible = placement.check();
            possible.map_err(|error| ConfigError(format!("placement {placement:?}: {error}")))?;
        }
        Ok(())
    }

    /// Checks that cables end at ports that exist, and at most one cable at each.
    fn check_cables(&self) -> Result<(), ConfigError> {
        for (nth, cable) in self.cables.iter().enumerate() {
            for end in [cable.a, cable.b] {
                self.check_number("cable", cable, end)?;
                ensure! {
                    !self.cables[..nth].iter().any(|other| other.is_at(end)) =>
                        "cable {cable}: port {end} has a cable already";
                }
            }
        }
        Ok(())
    }
}

impl PortConfig {
    /// Whether the NIC checks the frames that the driver sends here.
    pub(crate) fn checks_frames(&self) -> bool {
        self.verify != VerifyMode::Off && !self.capture
    }

    /// Checks that a card of the port's family can have these settings.
    fn check(&self) -> Result<(), ConfigError> {
        let family = family_of(self.device_id).map_err(|error| ConfigError(error.to_string()))?;
        let (name, cage) = (family.name, family.medium == Medium::SfpCage);
        let (mbit, flows, earlier) = (self.link.speed as u32, self.flows, self.left_behind);
        ensure! {
            cage || self.module == Module::default() => "the {name} has no SFP+ cage for a module";
            family.speeds.contains(&self.link.speed) => "the {name} has no links of {mbit} Mbit/s";
            cage || self.link.attempts <= 1 =>
                "link attempts: the link of the {name} does not depend on resets";
            !earlier.laser_off || self.module == Module::Sr =>
                "laser-off: only the optical module sr has a laser";
            !earlier.link_disabled || cage => "link-disabled: the {name} has no AUTOC2";
            !earlier.phy_off || !cage => "phy-off: the {name} has no copper PHY";
            (1..=MAX_FLOWS).contains(&flows) => "{flows} flows: there must be 1 to {MAX_FLOWS}";
        }
        if let Expected::Touch(byte) = self.expected {
            ensure! {
                usize::from(byte) < MIN_FRAME =>
                    "touched byte {byte}: must be 0 to 59, because the smallest frames have 60 bytes";
            }
        }
        match self.traffic {
            Traffic::Rate { mpps } => ensure! {
                mpps > 0.0 && mpps <= 1000.0 => "rate {mpps}: must be above 0 and at most 1000 Mpps";
            },
            Traffic::Window { frames } => ensure! {
                (1..=MAX_WINDOW).contains(&frames) => "a window has 1 to {MAX_WINDOW} frames, not {frames}";
            },
            Traffic::Off | Traffic::Saturate => {}
        }
        Ok(())
    }
}
