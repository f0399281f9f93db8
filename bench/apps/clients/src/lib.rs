//! The applications under the clients that everybody uses, in name spaces of their own.
//!
//! A [`server::Server`] serves an application over a driver, over the kernel's sockets, or is a peer such as
//! redis-server. [`clients`] has the clients, and what they print. Nothing leaves the machine: all of it runs in the
//! name spaces that [`name_space::run_inside`] makes, and ends with the process.

pub mod attack;
pub mod backends;
pub mod clients;
pub mod kernel;
pub mod layers;
pub mod median;
pub mod name_space;
pub mod path;
pub mod process;
pub mod processors;
pub mod rows;
pub mod server;
