//! The two protocols for tasks.

/// The protocol for tasks of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskProtocol {
    /// 2025-11-25: the caller asks for a task; poll `tasks/get`, then `tasks/result`.
    Core,
    /// The extension: poll `tasks/get`, which carries the result; answer inputs with `tasks/update`.
    Extension,
}
