import Synchronization

/// The numbers of the states of all stores of the process, so that a state never has the number of another.
enum Epochs {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
