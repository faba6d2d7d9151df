import Foundation
import StrataSystem

/// The base class of all operations; use its subclasses.
///
/// An operation copies its properties when it starts; changing them afterward has no effect. Its blocks are called one
/// at a time on the operation's own queue, never on the main queue. The result block is always called, once, after all
/// others, followed by `completionBlock`. An operation can be added to a database, to a container, or to any
/// `OperationQueue`.
///
/// ```swift
/// let operation = CKFetchRecordsOperation(recordIDs: ids)
/// operation.configuration.qualityOfService = .userInitiated
/// operation.fetchRecordsResultBlock = { result in … }
/// container.privateCloudDatabase.add(operation)
/// ```
// @unchecked: locks protect mutable state; the caller sets the blocks and lists of subclasses before the operation
// starts, as with every `Operation`.
public class CKOperation: Operation, CVarArg, @unchecked Sendable {
    /// Identifies an operation.
    public typealias ID = String

    private struct Properties {
        var configuration = CKOperation.Configuration()
        var group: CKOperationGroup?
        /// The settings of `configuredWith` at the time the operation was added; they outlast that closure.
        var inherited = CallScope.Values()
        var container: CKContainer?
        var wasAdded = false
    }

    enum Phase {
        case ready, executing, finished
    }

    struct Progress {
        var phase = Phase.ready
        var deadline: OperationDeadline?
        /// True once the outcome is known; later results are dropped.
        var isSettled = false
    }

    private let properties = Lock(Properties())
    /// The containers of the task that created the operation, which runs in none.
    private let containersOfTask = NamedContainers.ofTask
    let progress = Lock(Progress())

    /// A unique identifier, which is recorded with the operation's commit.
    public let operationID: ID

    /// Called once the store has persisted a long-lived operation.
    public var longLivedOperationWasPersistedBlock: (() -> Void)?

    /// Creates an operation that does nothing: only subclasses can be executed.
    public override init() {
        operationID = UUID().uuidString
        super.init()
    }

    init(operationID: ID) {
        self.operationID = operationID
        super.init()
    }

    // MARK: How it runs

    /// The settings for running the operation. Setting it copies the value; nil resets it.
    public var configuration: CKOperation.Configuration! {  // It gives one always; the mark lets nil be set.
        get { properties.withLock { $0.configuration } }
        set {
            let copy = CKOperation.Configuration(newValue?.explicit ?? .init())
            properties.withLock { $0.configuration = copy }
        }
    }

    /// The group that the operation belongs to.
    public var group: CKOperationGroup? {
        get { properties.withLock { $0.group } }
        set { properties.withLock { $0.group = newValue } }
    }

    /// The quality of service of the configuration.
    public override var qualityOfService: QualityOfService {
        get { merged.qualityOfService ?? .default }
        set { configuration.qualityOfService = newValue }
    }

    /// The operation's configuration, merged over that of `configuredWith`, merged over that of its group.
    var merged: CKOperation.Configuration.Explicit {
        let (configuration, group, inherited) = properties.withLock { ($0.configuration, $0.group, $0.inherited) }
        let nearest = configuration.explicit.merged(over: inherited.explicit)
        return nearest.merged(over: (group ?? inherited.group)?.defaultConfiguration.explicit ?? .init())
    }

    /// The operation's own group, else that of `configuredWith`.
    var effectiveGroup: CKOperationGroup? { properties.withLock { $0.group ?? $0.inherited.group } }

    var settings: CallSettings {
        CallSettings(merged, group: effectiveGroup, id: operationID, quality: .default)
    }

    /// The container of the configuration, else the one that the operation was added to.
    var effectiveContainer: CKContainer {
        merged.container ?? properties.withLock { $0.container }
            ?? NamedContainers.shared.container(NamedContainers.defaultIdentifier, ofTask: containersOfTask)
    }

    /// Records the container that the operation was added to; returns false if it was added before.
    func markAdded(to container: CKContainer, _ scope: CallScope?) -> Bool {
        properties.withLock { properties in
            guard !properties.wasAdded else { return false }
            properties.wasAdded = true
            properties.container = container
            properties.inherited = scope?.values ?? .init()
            return true
        }
    }

    /// Reports an error to a caller that adds the operation again after it has ended, and would wait forever.
    func refuseSecondRun() {
        guard isFinished, let run = makeRun() else { return }
        let error = CKError(.invalidArguments, message: "An operation runs only once; create another one.")
        BlockQueue().async { run.fail(error) }
    }

    /// Returns the execution of the operation with its current properties; nil if the operation is abstract.
    func makeRun() -> (any OperationRun)? { nil }

    /// Returns a closure that persists the operation in its current state; nil if that is not wanted or already done.
    func makeKeeper() -> (@Sendable () throws -> Void)? { nil }

    /// Removes the persisted operation.
    func forget() {}

    // MARK: Its life

    /// True, since the operation has its own queue.
    public override var isAsynchronous: Bool { true }

    public override var isExecuting: Bool { progress.withLock { $0.phase == .executing } }

    public override var isFinished: Bool { progress.withLock { $0.phase == .finished } }

    /// Starts the operation. Starting it again does nothing.
    public override func start() {
        let startsNow = progress.withLock { progress in
            guard progress.phase == .ready else { return false }
            progress.phase = .executing
            return true
        }
        guard startsNow else { return }
        // Queues observe only the base class's key paths.
        willChangeValue(for: \Operation.isExecuting)
        didChangeValue(for: \Operation.isExecuting)
        execute()
    }

    /// Notifies observers of the end, after the last block has been called.
    func finish() {
        willChangeValue(for: \Operation.isExecuting)
        willChangeValue(for: \Operation.isFinished)
        progress.withLock { $0.phase = .finished }
        didChangeValue(for: \Operation.isExecuting)
        didChangeValue(for: \Operation.isFinished)
    }
}

extension CKOperation {
    // MARK: What was replaced by the configuration

    /// The container to work in if the operation has no database.
    @available(*, deprecated, message: "Use configuration.container.")
    public var container: CKContainer? {
        get { configuration.container }
        set { configuration.container = newValue }
    }

    /// True if the operation may use a cellular network.
    @available(*, deprecated, message: "Use configuration.allowsCellularAccess.")
    public var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    /// True if the operation outlives the process.
    @available(*, deprecated, message: "Use configuration.isLongLived.")
    public var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    /// The number of seconds within which the store must answer.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForRequest.")
    public var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    /// The number of seconds within which the whole operation must end.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForResource.")
    public var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }
}
