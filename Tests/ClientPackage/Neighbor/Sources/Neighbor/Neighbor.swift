#if canImport(os)
import os

/// A lock as packages have it that run on Apple's platforms too: it compiles only with Apple's `os`.
public struct UnfairLock {
    private var lock = os_unfair_lock()

    public init() {}

    public var kind: String { "os_unfair_lock" }
}
#else
/// A lock for other platforms.
public struct UnfairLock {
    public init() {}

    public var kind: String { "a lock without os" }
}
#endif
