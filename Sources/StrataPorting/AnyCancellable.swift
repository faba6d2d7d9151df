import Synchronization

/// Ends a subscription when it is canceled or released.
// The lock gives the closure to one caller.
public final class AnyCancellable: Hashable, @unchecked Sendable {
    private let lock = Mutex<Void>(())
    private var end: (() -> Void)?

    public init(_ cancel: @escaping () -> Void) { end = cancel }

    deinit { cancel() }

    /// Ends the subscription; further calls have no effect.
    public func cancel() {
        let end = lock.withLock { _ in
            defer { self.end = nil }
            return self.end
        }
        end?()
    }

    /// Keeps the subscription for as long as the set has it.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    public static func == (one: AnyCancellable, other: AnyCancellable) -> Bool { one === other }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
