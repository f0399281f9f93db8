//! Holds programs of other projects against the conformance cases that need only forwarding.
//!
//! A program drives the software card with `triptych with-card`, which runs it unmodified. The card is in this
//! process, so a case can change the traffic, the link and the card's faults at any time.

pub mod cases;
pub mod outcome;
pub mod subject;
pub mod table;
pub mod testbed;
