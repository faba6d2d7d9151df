import Synchronization

/// The closures that receive a publisher's values, in the order in which they subscribed.
// The lock guards the list, and a closure runs on the thread that sends, as with Combine.
final class Subscribers<Value>: @unchecked Sendable {
    private struct Closures {
        var byNumber: [(number: Int, receive: (Value) -> Void)] = []
        var nextNumber = 0
    }

    private let lock = Mutex<Void>(())
    private var closures = Closures()

    func send(_ value: Value) {
        // Called without the lock, since a closure may subscribe and cancel.
        for closure in lock.withLock({ _ in closures.byNumber }) { closure.receive(value) }
    }

    func add(_ receive: @escaping (Value) -> Void) -> AnyCancellable {
        let number = lock.withLock { _ in
            defer { closures.nextNumber += 1 }
            closures.byNumber.append((closures.nextNumber, receive))
            return closures.nextNumber
        }
        return AnyCancellable { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        lock.withLock { _ in closures.byNumber.removeAll { $0.number == number } }
    }
}
