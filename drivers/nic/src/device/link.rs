//! The link: the wire, what is at the end of it, and the registers that report it.

use crate::config::Module;
use crate::device::families::Medium;
use crate::device::phy::Phy;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::sfp::SfpBus;

/// What connects the port to its wire.
#[derive(Debug)]
enum Connector {
    Sfp(Box<SfpBus>),
    Copper(Phy),
}

/// The state of a port's link.
#[derive(Debug)]
pub(crate) struct Link {
    port: usize,
    connector: Connector,
    /// Whether the wire is plugged in.
    plugged: bool,
    /// Whether the other end of the wire sends light.
    partner_lit: bool,
    /// Whether a fault keeps the link down.
    broken: bool,
    /// Whether the link was up when the card last compared.
    was_up: bool,
}

impl Link {
    /// The link of a card with this medium. `module` is for cards with an SFP+ cage.
    pub(crate) fn new(medium: Medium, module: Module, port: usize) -> Self {
        let connector = match medium {
            Medium::SfpCage => Connector::Sfp(Box::new(SfpBus::new(module, port))),
            Medium::CopperPhy(id) => Connector::Copper(Phy::new(id)),
        };
        let mut link = Self {
            port,
            connector,
            plugged: true,
            partner_lit: true,
            broken: false,
            was_up: false,
        };
        link.was_up = link.is_up();
        link
    }

    /// Whether the port has a link.
    pub(crate) fn is_up(&self) -> bool {
        let connected = match &self.connector {
            Connector::Sfp(sfp) => sfp.module() != Module::None,
            Connector::Copper(_) => true,
        };
        !self.broken && self.plugged && self.partner_lit && connected
    }

    /// Whether the link has come or gone since the last call.
    pub(crate) fn has_changed(&mut self) -> bool {
        let is_up = self.is_up();
        std::mem::replace(&mut self.was_up, is_up) != is_up
    }

    /// Whether the other end of the wire sees light. A copper cable has no laser to switch off.
    pub(crate) fn sends_light(&self, registers: &RegisterFile) -> bool {
        let laser = registers.get(r::ESDP) & r::ESDP_SDP3 == 0;
        let lit = match &self.connector {
            Connector::Copper(_) => true,
            Connector::Sfp(sfp) => match sfp.module() {
                Module::None => false,
                Module::Dac => true,
                Module::Sr => laser,
            },
        };
        self.plugged && lit
    }

    /// Plugs the wire in or pulls it out.
    pub(crate) fn set_plugged(&mut self, plugged: bool) {
        self.plugged = plugged;
    }

    /// Light from the other end of the wire comes or goes. Returns whether that is a change.
    pub(crate) fn set_partner_lit(&mut self, lit: bool) -> bool {
        std::mem::replace(&mut self.partner_lit, lit) != lit
    }

    /// Keeps the link down, whatever the wire does.
    pub(crate) fn set_broken(&mut self, broken: bool) {
        self.broken = broken;
    }

    /// The module in the SFP+ cage; [`Module::None`] if the card has no cage.
    pub(crate) fn module(&self) -> Module {
        match &self.connector {
            Connector::Sfp(sfp) => sfp.module(),
            Connector::Copper(_) => Module::None,
        }
    }

    /// Puts another module into the SFP+ cage.
    pub(crate) fn set_module(&mut self, module: Module) {
        self.connector = Connector::Sfp(Box::new(SfpBus::new(module, self.port)));
    }

    /// Sets the ESDP pins that the card drives: pin 2 reports the module in the cage.
    pub(crate) fn drive_pins(&self, registers: &RegisterFile) {
        if let Connector::Sfp(sfp) = &self.connector {
            let present = sfp.module() != Module::None;
            registers.put(r::ESDP, r::ESDP_SDP2, present);
        }
    }

    /// The link starts again: LINKS stays 0 until a driver has read it once.
    pub(crate) fn restart(&self, registers: &RegisterFile) {
        registers.set(r::LINKS, 0);
        registers.change(r::STATUS, 0, r::STATUS_LINK_UP);
    }

    /// A driver has read LINKS: the next read shows a link that is up.
    pub(crate) fn links_read(&self, registers: &RegisterFile) {
        if self.is_up() {
            let up = r::LINKS_UP | r::LINKS_SPEED_10G | r::LINKS_LINK_STATUS;
            registers.change(r::LINKS, up, 0);
            registers.change(r::STATUS, r::STATUS_LINK_UP, 0);
        }
    }

    /// AUTOC.AN_RESTART applies the link mode.
    pub(crate) fn autoc_written(&self, registers: &RegisterFile, value: u32) {
        if value & r::AUTOC_AN_RESTART == 0 {
            return;
        }
        // Modes with negotiation leave the idle state; the serial mode does not negotiate.
        let mode = value & r::AUTOC_LMS;
        let negotiates = r::field_get(r::AUTOC_LMS, mode) & 4 != 0 || mode == r::AUTOC_LMS_1G_AN;
        let state = r::field(r::ANLP1_AN_STATE, u32::from(negotiates));
        registers.change(r::ANLP1, state, r::ANLP1_AN_STATE & !state);
        self.restart(registers);
    }

    /// I2CCTL drives the wires to the SFP+ module. On a card without a cage nothing answers.
    pub(crate) fn i2cctl_written(&mut self, registers: &RegisterFile, value: u32) {
        let clock = value & r::I2CCTL_CLK_OUT != 0;
        let data = value & r::I2CCTL_DATA_OUT != 0;
        let data = match &mut self.connector {
            Connector::Sfp(sfp) => sfp.drive(clock, data),
            Connector::Copper(_) => data,
        };
        registers.put(r::I2CCTL, r::I2CCTL_CLK_IN, clock);
        registers.put(r::I2CCTL, r::I2CCTL_DATA_IN, data);
    }

    /// MSCA starts an access to a PHY. Without a PHY the data wire stays high.
    pub(crate) fn msca_written(&mut self, registers: &RegisterFile, value: u32) {
        let link = self.is_up();
        match &mut self.connector {
            Connector::Copper(phy) => phy.msca_written(registers, value, link),
            Connector::Sfp(_) if value & r::MSCA_MDI_COMMAND != 0 => {
                registers.change(r::MSRWD, r::MSRWD_READ_DATA, 0);
            }
            Connector::Sfp(_) => {}
        }
    }
}
