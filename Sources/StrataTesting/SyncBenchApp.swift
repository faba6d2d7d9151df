import CloudKit

/// An app's sync layer as ``SyncBench`` runs it: the delegate of an engine, with a disk that survives the process.
///
/// Changes that a callback made must be on the disk when it returns, or be lost with the process.
public protocol SyncBenchApp: CKSyncEngineDelegate {
    /// Launches the app.
    ///
    /// - Parameter disk: What ``disk`` was when the process ended; nil for the first launch.
    init(disk: Data?)

    /// Everything that the app has written to its disk.
    var disk: Data { get }

    /// The state of the engine on the disk; nil if there is none.
    var engineState: CKSyncEngine.State.Serialization? { get }

    /// Takes over the engine of this launch. An app adds the changes here that it has on its disk and has not sent.
    func use(_ engine: CKSyncEngine)

    /// Makes a change as a user would, chosen by the generator alone.
    func edit(using random: inout SyncBenchRandom)

    /// The items that a user sees, which must be the same on all devices once everything is sent and fetched.
    var contents: [String: String] { get }
}

/// A generator that gives the same numbers for the same seed.
public struct SyncBenchRandom: RandomNumberGenerator, Sendable {
    private let numbers: CloudStore.SeededRandomNumbers

    /// Creates a generator from a seed.
    public init(seed: UInt64) { numbers = CloudStore.SeededRandomNumbers(seed: seed) }

    public mutating func next() -> UInt64 { numbers.next() }
}
