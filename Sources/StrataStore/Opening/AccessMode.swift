/// The access mode of an opened store.
public enum AccessMode: Sendable, Hashable {
    /// Access by the one process that writes.
    case readWrite
    /// Access alongside a process that writes, or to a medium or a copy that must stay unchanged. The state is that of
    /// the newest durable state and the log after it; see ``Store/refresh()``.
    case readOnly
}
