//! A layer-4 load balancer for TCP.
//!
//! It has one address, and translates both addresses of each segment (full NAT), so that the answers of a backend
//! come back to it. A segment is changed in the packet that the driver lends, and sent on without a copy. The stack
//! gets all other frames: ARP, ping, the checks of the backends, and `/stats`.

mod config;
mod connections;
mod counts;
mod forwarder;
mod health;
mod maglev;
mod neighbour;
mod port_resets;
mod segment;
mod service;

pub use config::{BackendConfig, Config, FrontendConfig, HealthConfig, TableConfig};
pub use counts::Counts;
pub use forwarder::Forwarder;
pub use health::Health;
pub use maglev::Maglev;
pub use segment::{parse, Parsed};
pub use service::Stats;
