//! What tests of card and drivers share.
//!
//! [`codec`] has the messages of vfio-user, [`client`] a client's connection, and [`memory`] what a
//! client shares with the card. None of it shares code with card or drivers, so it repeats no mistake
//! of theirs.

pub mod client;
pub mod codec;
pub mod memory;
