//! Traffic: a bounded log of the frames between the host and its servers.

mod traffic_log;

pub use traffic_log::TrafficLog;
