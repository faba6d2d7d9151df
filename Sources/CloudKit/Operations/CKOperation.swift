import Foundation
import StrataSystem

/// What all operations have in common; programs use its subclasses.
///
/// An operation copies its properties when it starts; changing them afterwards has no effect. Its blocks are called one
/// after another on a queue of its own, never on the main one; the block with its result comes last, once, whatever
/// happens, and then `completionBlock`. It can be added to a database, to a container, or to any `OperationQueue`.
///
/// ```swift
/// let operation = CKFetchRecordsOperation(recordIDs: ids)
/// operation.configuration.qualityOfService = .userInitiated
/// operation.fetchRecordsResultBlock = { result in … }
/// container.privateCloudDatabase.add(operation)
/// ```
// @unchecked: what changes is behind locks; the blocks and lists of subclasses are the caller's to set before the
// operation starts, as with every `Operation`.
public class CKOperation: Operation, CVarArg, @unchecked Sendable {
    /// Identifies an operation.
    public typealias ID = String

    private struct Properties {
        var configuration = CKOperation.Configuration()
        var group: CKOperationGroup?
        /// What `configuredWith` gave it when it was added, for longer than that lasts.
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
        /// Whether what came of it is known; what comes later is dropped.
        var isSettled = false
    }

    private let properties = Lock(Properties())
    let progress = Lock(Progress())

    /// An identifier that no other operation has; the commit of the operation keeps it.
    public let operationID: ID

    /// Called once the store has written down that a long-lived operation is to be done.
    public var longLivedOperationWasPersistedBlock: (() -> Void)?

    /// Nothing runs: only subclasses can be executed.
    public override init() {
        operationID = UUID().uuidString
        super.init()
    }

    init(operationID: ID) {
        self.operationID = operationID
        super.init()
    }

    // MARK: How it runs

    /// How the operation runs. What is set is copied; nil makes it a fresh one.
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

    /// The same as that of the configuration.
    public override var qualityOfService: QualityOfService {
        get { merged.qualityOfService ?? .default }
        set { configuration.qualityOfService = newValue }
    }

    /// The configuration of the operation, over that of `configuredWith`, over that of its group.
    var merged: CKOperation.Configuration.Explicit {
        let (configuration, group, inherited) = properties.withLock { ($0.configuration, $0.group, $0.inherited) }
        let nearest = configuration.explicit.merged(over: inherited.explicit)
        return nearest.merged(over: (group ?? inherited.group)?.defaultConfiguration.explicit ?? .init())
    }

    /// Its own group, else that of `configuredWith`.
    var effectiveGroup: CKOperationGroup? { properties.withLock { $0.group ?? $0.inherited.group } }

    var settings: CallSettings {
        CallSettings(merged, group: effectiveGroup, id: operationID, quality: .default)
    }

    /// The container that its configuration names, or that it was added to.
    var effectiveContainer: CKContainer {
        merged.container ?? properties.withLock { $0.container } ?? CKContainer.default()
    }

    /// Notes where the operation was added; false if it was added before.
    func markAdded(to container: CKContainer, _ scope: CallScope?) -> Bool {
        properties.withLock { properties in
            guard !properties.wasAdded else { return false }
            properties.wasAdded = true
            properties.container = container
            properties.inherited = scope?.values ?? .init()
            return true
        }
    }

    /// Tells somebody who adds an operation again after it has ended: he would wait for ever.
    func refuseSecondRun() {
        guard isFinished, let run = makeRun() else { return }
        let error = CKError(.invalidArguments, message: "An operation runs once; make another one.")
        BlockQueue().async { run.fail(error) }
    }

    /// What the operation does with the properties that it has now; nil if it is abstract.
    func makeRun() -> (any OperationRun)? { nil }

    /// Keeps the operation as it is now beyond the process; nil if that is not wanted, or was done before.
    func makeKeeper() -> (@Sendable () throws -> Void)? { nil }

    /// Ends what a keeper began.
    func forget() {}

    // MARK: Its life

    /// True: it has a queue of its own.
    public override var isAsynchronous: Bool { true }

    public override var isExecuting: Bool { progress.withLock { $0.phase == .executing } }

    public override var isFinished: Bool { progress.withLock { $0.phase == .finished } }

    /// Starts the operation. What has been started does nothing.
    public override func start() {
        let startsNow = progress.withLock { progress in
            guard progress.phase == .ready else { return false }
            progress.phase = .executing
            return true
        }
        guard startsNow else { return }
        // Queues listen to the base class's key paths only.
        willChangeValue(for: \Operation.isExecuting)
        didChangeValue(for: \Operation.isExecuting)
        execute()
    }

    /// Tells whoever waits, after the last block was called.
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

    /// Whether the operation may use a network that is paid for.
    @available(*, deprecated, message: "Use configuration.allowsCellularAccess.")
    public var allowsCellularAccess: Bool {
        get { configuration.allowsCellularAccess }
        set { configuration.allowsCellularAccess = newValue }
    }

    /// Whether the operation outlives the process.
    @available(*, deprecated, message: "Use configuration.isLongLived.")
    public var isLongLived: Bool {
        get { configuration.isLongLived }
        set { configuration.isLongLived = newValue }
    }

    /// Seconds that the store has to answer.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForRequest.")
    public var timeoutIntervalForRequest: TimeInterval {
        get { configuration.timeoutIntervalForRequest }
        set { configuration.timeoutIntervalForRequest = newValue }
    }

    /// Seconds that the whole operation has.
    @available(*, deprecated, message: "Use configuration.timeoutIntervalForResource.")
    public var timeoutIntervalForResource: TimeInterval {
        get { configuration.timeoutIntervalForResource }
        set { configuration.timeoutIntervalForResource = newValue }
    }
}
