/// The access mode of an opened store.
public enum AccessMode: Sendable, Hashable {
    /// By the one process that writes.
    case readWrite
    /// Beside a process that writes, or on a medium or a copy that is left as it is. The state is that of the newest
    /// checkpoint, and the log after it; see ``Store/refresh()``.
    case readOnly
}
