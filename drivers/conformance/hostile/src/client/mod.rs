//! The hostile client.
