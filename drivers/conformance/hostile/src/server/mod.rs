//! The hostile server: it stands between a driver and an honest card, and lies about one thing.
//!
//! Because all else is true, the driver gets as far as the lie. [`lie`] says what a row consists
//! of, [`proxy`] tells the lie, [`tamper`] changes memory that both sides share, and the tables in
//! [`rows`] list the scenarios.

pub mod lie;
pub mod proxy;
pub mod rows;
pub mod run;
pub mod tamper;
