//! The link: the wire, what is at the end of it, and the registers that report it.

use std::time::{Duration, Instant};

use crate::config::{Hardware, LeftBehind, LinkSettings, LinkSpeed, Module};
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

/// The far end sends this long after the link came up, even if no driver has looked at the link. A
/// real link needs as long to come up after a reset.
const UNSEEN: Duration = Duration::from_secs(1);

/// A link that goes down once more comes up again after this time.
const FLAP: Duration = Duration::from_millis(15);

/// The ESDP bits of the pin that switches the laser.
const LASER_PIN: u32 = r::ESDP_SDP3 | r::ESDP_SDP3_DIR;

/// The state of a port's link.
#[derive(Debug)]
pub(crate) struct Link {
    port: usize,
    connector: Connector,
    settings: LinkSettings,
    hardware: Hardware,
    /// Starts of the port, by any driver.
    starts: u32,
    /// Whether the link goes down once more as soon as the driver has seen it.
    flaps: bool,
    /// Resets of the whole card by the present driver.
    resets: u32,
    /// The end of the training; `None` while nothing is trained.
    ready_at: Option<Instant>,
    /// Whether AUTOC2.LINK_DISABLE keeps the link down.
    disabled: bool,
    /// Whether ESDP.SDP3 switches the laser on.
    laser: bool,
    /// Whether nothing but training or resets kept the link down when the card last compared.
    was_connected: bool,
    /// Whether the wire is plugged in.
    pub(crate) plugged: bool,
    /// Whether the other end of the wire sends light.
    partner_lit: bool,
    /// Whether a fault keeps the link down, whatever the wire does.
    pub(crate) broken: bool,
    /// Whether the link was up when the card last compared.
    was_up: bool,
    /// Since when the driver has not seen the link up; `None` if it has.
    unseen_since: Option<Instant>,
}

impl Link {
    /// The link of a card with this medium. `module` is for cards with an SFP+ cage.
    pub(crate) fn new(
        medium: Medium,
        module: Module,
        port: usize,
        settings: LinkSettings,
        hardware: Hardware,
    ) -> Self {
        let connector = match medium {
            Medium::SfpCage => Connector::Sfp(Box::new(SfpBus::new(module, port))),
            Medium::CopperPhy(id) => Connector::Copper(Phy::new(id)),
        };
        let mut link = Self {
            port,
            connector,
            settings,
            hardware,
            starts: 0,
            flaps: false,
            resets: 0,
            ready_at: None,
            disabled: false,
            laser: true,
            was_connected: false,
            plugged: true,
            partner_lit: true,
            broken: false,
            was_up: false,
            unseen_since: Some(Instant::now()),
        };
        link.was_connected = link.is_connected();
        link.was_up = link.is_up();
        link
    }

    /// Whether the port has a link.
    pub(crate) fn is_up(&self) -> bool {
        let trained = self.ready_at.is_none_or(|end| Instant::now() >= end);
        self.is_connected() && self.resets >= self.settings.attempts && trained
    }

    /// Whether the port has a link that does not go down once more by itself.
    pub(crate) fn is_up_for_good(&self) -> bool {
        self.is_up() && !self.flaps
    }

    /// Whether the link may come up: now, after the training, or after more resets.
    fn is_connected(&self) -> bool {
        let connected = match &self.connector {
            Connector::Sfp(sfp) => sfp.module() != Module::None,
            Connector::Copper(phy) => phy.is_powered(),
        };
        !self.broken && !self.disabled && self.plugged && self.partner_lit && connected
    }

    /// Whether the link has come or gone since the last call. The training begins when nothing else
    /// keeps the link down any more.
    pub(crate) fn has_changed(&mut self) -> bool {
        let connected = self.is_connected();
        if !std::mem::replace(&mut self.was_connected, connected) && connected {
            self.train();
        }
        let is_up = self.is_up();
        if is_up {
            self.ready_at = None;
        }
        std::mem::replace(&mut self.was_up, is_up) != is_up
    }

    /// Starts the training of the link, which takes the set time.
    fn train(&mut self) {
        let delay = self.settings.delay;
        self.ready_at = (!delay.is_zero()).then(|| Instant::now() + delay);
    }

    /// Whether the link may come up by itself.
    #[inline(always)]
    pub(crate) fn is_training(&self) -> bool {
        self.ready_at.is_some()
    }

    /// The driver has reset the whole card.
    pub(crate) fn driver_has_reset(&mut self) {
        self.resets = self.resets.saturating_add(1);
        self.starts = self.starts.saturating_add(1);
        self.flaps = self.starts == self.hardware.flap_at_start;
        if let Connector::Copper(phy) = &mut self.connector {
            phy.restart(self.hardware.silent_phy());
        }
        self.train();
    }

    /// The next driver finds the card as it was before the first one: with the laser and the PHY as
    /// an earlier driver left them.
    pub(crate) fn begin_again(&mut self, registers: &RegisterFile, earlier: LeftBehind) {
        self.resets = 0;
        self.train();
        if earlier.laser_off {
            registers.change(r::ESDP, LASER_PIN, 0);
        }
        if let Connector::Copper(phy) = &mut self.connector {
            phy.set_powered(!earlier.phy_off);
        }
        self.drive_pins(registers);
    }

    /// Whether the other end of the wire sees light. A copper cable has no laser to switch off.
    pub(crate) fn sends_light(&self) -> bool {
        let lit = match &self.connector {
            Connector::Copper(_) => true,
            Connector::Sfp(sfp) => match sfp.module() {
                Module::None => false,
                Module::Dac => true,
                Module::Sr => self.laser,
            },
        };
        self.plugged && lit
    }

    /// Sets whether AUTOC2.LINK_DISABLE keeps the link down.
    pub(crate) fn autoc2_changed(&mut self, registers: &RegisterFile) {
        let sfp = matches!(self.connector, Connector::Sfp(_));
        self.disabled = sfp && registers.get(r::AUTOC2) & r::AUTOC2_LINK_DISABLE != 0;
    }

    /// The laser's pin, for [`Link::put_laser_pin`].
    pub(crate) fn laser_pin(registers: &RegisterFile) -> u32 {
        registers.get(r::ESDP) & LASER_PIN
    }

    /// Makes the laser's pin an output at 0, which switches the laser on. The EEPROM of an SFP+ card
    /// does that after a reset.
    pub(crate) fn load_pins(&mut self, registers: &RegisterFile) {
        if let Connector::Sfp(_) = &self.connector {
            registers.change(r::ESDP, r::ESDP_SDP3_DIR, 0);
        }
        self.drive_pins(registers);
    }

    /// Sets the laser's pin as it was: a reset does not change it.
    pub(crate) fn put_laser_pin(registers: &RegisterFile, pin: u32) {
        registers.change(r::ESDP, pin, LASER_PIN & !pin);
    }

    /// Light from the other end of the wire comes or goes. Returns whether that is a change.
    pub(crate) fn set_partner_lit(&mut self, lit: bool) -> bool {
        std::mem::replace(&mut self.partner_lit, lit) != lit
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

    /// Sets the ESDP pins that the card drives: pin 2 reports the module in the cage. Then looks at
    /// pin 3, which switches the laser off while the driver or nothing drives it high: modules have
    /// a pull-up resistor.
    pub(crate) fn drive_pins(&mut self, registers: &RegisterFile) {
        if let Connector::Sfp(sfp) = &self.connector {
            let present = sfp.module() != Module::None;
            registers.put(r::ESDP, r::ESDP_SDP2, present);
            self.laser = registers.get(r::ESDP) & LASER_PIN == r::ESDP_SDP3_DIR;
        }
    }

    /// Whether the generator at the far end sends. It waits until the driver has seen the link up, so
    /// that no frame arrives before the driver has set up what it sets up before it looks.
    #[inline(always)]
    pub(crate) fn far_end_sends(&self) -> bool {
        self.unseen_since
            .is_none_or(|since| since.elapsed() >= UNSEEN)
    }

    /// The driver must look at the link again.
    pub(crate) fn forget_look(&mut self) {
        self.unseen_since = Some(Instant::now());
    }

    /// The link starts again: LINKS stays 0 until a driver has read it once.
    pub(crate) fn restart(&mut self, registers: &RegisterFile) {
        registers.set(r::LINKS, 0);
        registers.change(r::STATUS, 0, r::STATUS_LINK_UP);
        self.forget_look();
    }

    /// A driver has read `value` from LINKS: the next read shows a link that is up.
    pub(crate) fn links_read(&mut self, registers: &RegisterFile, value: u32) {
        if value & r::LINKS_UP != 0 {
            self.unseen_since = None;
            if std::mem::take(&mut self.flaps) {
                self.ready_at = Some(Instant::now() + FLAP);
            }
        }
        if self.is_up() {
            let speed = match self.settings.speed {
                LinkSpeed::Mbit100 => r::LINKS_SPEED_100M,
                LinkSpeed::Gbit1 => r::LINKS_SPEED_1G,
                LinkSpeed::Gbit2_5 => r::LINKS_SPEED_10G | r::LINKS_SPEED_NON_STD,
                LinkSpeed::Gbit5 => r::LINKS_SPEED_100M | r::LINKS_SPEED_NON_STD,
                LinkSpeed::Gbit10 => r::LINKS_SPEED_10G,
            };
            let up = r::LINKS_UP | speed | r::LINKS_LINK_STATUS;
            registers.change(r::LINKS, up, 0);
            registers.change(r::STATUS, r::STATUS_LINK_UP, 0);
        }
    }

    /// AUTOC.AN_RESTART applies the link mode.
    pub(crate) fn autoc_written(&mut self, registers: &RegisterFile, value: u32) {
        if value & r::AUTOC_AN_RESTART == 0 {
            return;
        }
        // Modes with negotiation leave the idle state; the serial mode does not negotiate.
        let mode = value & r::AUTOC_LMS;
        let negotiates = r::field_get(r::AUTOC_LMS, mode) & 4 != 0 || mode == r::AUTOC_LMS_1G_AN;
        let state = r::field(r::ANLP1_AN_STATE, u32::from(negotiates));
        registers.change(r::ANLP1, state, r::ANLP1_AN_STATE & !state);
        self.train();
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
