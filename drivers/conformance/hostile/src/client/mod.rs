//! The hostile client: it attacks one port of the software card.
//!
//! During each attack and after it, an honest driver sends frames through another port. Afterwards
//! one does so through the same port. [`session`] speaks the protocol, [`payload`] builds messages,
//! [`honest`] is the honest driver, [`card`] watches the card's process, and the tables in [`rows`]
//! list the scenarios.

pub mod attack;
pub mod card;
pub mod honest;
pub mod payload;
pub mod rows;
pub mod run;
pub mod session;
