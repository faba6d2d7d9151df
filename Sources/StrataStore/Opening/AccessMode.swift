/// How a store is opened.
public enum AccessMode: Sendable, Hashable {
    /// By the one process that writes.
    case readWrite
    /// Beside a process that writes, or on a medium or a copy that is left as it is. The state is that of the newest
    /// checkpoint, and what the log has behind it; see ``Store/refresh()``.
    case readOnly
}
