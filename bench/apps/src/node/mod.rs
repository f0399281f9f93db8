//! A node of ECHONET Lite: it is discovered by multicast, and its properties are read by UDP.

pub mod controller;
pub mod frame;
mod objects;
mod service;

pub use objects::{MANDATORY, NODE_PROFILE};
pub use service::{Node, NodeCounts, GROUP, PORT};
