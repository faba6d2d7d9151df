import Foundation
import StrataStore
import StrataSystem
import Synchronization

/// The work of an engine. It refers to the engine weakly, which thus ends when the program releases it (B460).
final class SyncCore: Sendable {
    private struct Life {
        weak var engine: CKSyncEngine?
        var isStopped = false
        /// The runs that are under way or wait for their turn.
        var runs: [SyncRun] = []
        var listening: Task<Void, Never>?
        var accountObserver: AccountObserver?
        /// True until the engine first looked at the account.
        var isStarting = true
        /// True until the account was first compared.
        var isNew = true
    }

    /// The engines in whose callbacks the current task runs (B458).
    @TaskLocal private static var callbacks: [Int] = []
    private static let lastNumber = Atomic(0)

    private let number = SyncCore.lastNumber.add(1, ordering: .relaxed).newValue
    let database: CKDatabase
    let state: CKSyncEngine.State
    let scheduler: SyncScheduler
    let automaticallySync: Bool
    /// The ID of the subscription that the program chose.
    let chosenSubscription: CKSubscription.ID?
    /// A text about a state that was not used (B449); nil if there was none.
    let droppedStateNote: String?
    let hasState: Bool
    private weak let delegate: (any CKSyncEngineDelegate)?
    private let turn = SyncTurn()
    private let life = Lock(Life())

    var client: Client { database.client }

    init(_ configuration: CKSyncEngine.Configuration) {
        database = configuration.database
        let opened = try? database.client.opened()
        let options = opened?.options ?? .service
        automaticallySync = configuration.automaticallySync && database.databaseScope != .public
        chosenSubscription = configuration.subscriptionID
        delegate = configuration.delegate
        let isManual = options.clock is CloudStore.ManualClock
        let random = options.random
        scheduler = SyncScheduler(isAutomatic: automaticallySync, options.syncClock) {
            // A manual clock makes every pause exact; elsewhere devices must not come back all at once.
            isManual ? 0 : Double(random.next() >> 11) * 0x1p-53 / 10
        }
        var content = SyncContent(store: opened?.store.storeID, scope: database.databaseScope)
        let given = configuration.stateSerialization?.content
        if let given, given.store == content.store, given.scope == content.scope {
            content = given
            hasState = true
            droppedStateNote = nil
        } else {
            hasState = false
            droppedStateNote = given.map { _ in "without the given state, which is of another store or scope" }
        }
        state = CKSyncEngine.State(content, scheduler)
    }

    // MARK: Life

    func start(for engine: CKSyncEngine) {
        life.withLock { $0.engine = engine }
        scheduler.startTimer.onDue { [weak self] in await self?.reportState() }
        scheduler.stateTimer.onDue { [weak self] in await self?.reportStateAsScheduled() }
        scheduler.syncTimer.onDue { [weak self] in await self?.syncAsScheduled() }
        guard database.databaseScope != .public else { return }
        client.join(self)
        let observer = AccountObserver(client) { [weak self] in self?.accountChanged() }
        life.withLock { $0.accountObserver = observer }
        scheduler.start()
        if automaticallySync { listen() }
    }

    func stop() {
        let (_, listening) = life.withLock { life in
            life.isStopped = true
            for run in life.runs { run.cancel() }
            defer { life.accountObserver = nil }
            return (life.accountObserver, life.listening)
        }
        scheduler.stop()
        listening?.cancel()
        try? client.opened().faults.wakeAll()
    }

    private var isStopped: Bool { life.withLock { $0.isStopped } }

    /// Detached, as all tasks of the engine itself: they must not inherit the mark of a callback.
    private func accountChanged() {
        // The first event waits, since the program may still be creating the delegate's properties.
        if life.withLock({ $0.isStarting }) { return }
        Task.detached { [weak self] in await self?.reportState() }
    }

    /// Listens to the notifications of the device, whether or not the program does too (B467).
    private func listen() {
        let pushes = client.container.remoteNotifications
        let task = Task.detached { [weak self] in
            for await push in pushes {
                guard let self else { return }
                receive(push)
            }
        }
        life.withLock { $0.listening = task }
    }

    private func receive(_ push: RemoteNotification) {
        guard push.subscriptionID == state.content.withLock({ $0.subscriptionID }) else { return }
        state.change { content in
            content.lastPush = try? client.opened().options.clock.now
            return true
        }
        scheduler.pushed()
    }

    /// Ends the wait for the first look at the account: later changes of it are news.
    func endStart() {
        life.withLock { $0.isStarting = false }
        scheduler.startTimer.set(nil)
    }

    /// Returns true if the account was not compared before.
    func takeFirstComparison() -> Bool {
        life.withLock { life in
            defer { life.isNew = false }
            return life.isNew
        }
    }

    // MARK: Callbacks

    /// - Throws: `operationCancelled` if the engine or its delegate is gone.
    func calling<Value: Sendable>(
        _ body: (any CKSyncEngineDelegate, CKSyncEngine) async -> Value
    ) async throws(CKError) -> Value {
        guard let engine = life.withLock({ $0.engine }), let delegate else {
            throw CKError(.operationCancelled, message: "The engine or its delegate was released.")
        }
        return await Self.$callbacks.withValue(Self.callbacks + [number]) { await body(delegate, engine) }
    }

    func post(_ event: CKSyncEngine.Event) async throws(CKError) {
        try await calling { await $0.handleEvent(event, syncEngine: $1) }
    }

    /// Posts the state if it changed and is due.
    ///
    /// - Parameter isLast: True if it must not wait.
    func postState(isLast: Bool = false) async throws(CKError) {
        while scheduler.takeState(isLast: isLast) {
            let serialization = CKSyncEngine.State.Serialization(state.content.withLock { $0 })
            try await post(.stateUpdate(.init(stateSerialization: serialization)))
        }
    }

    private func reportStateAsScheduled() async {
        // The first sync compares the account before, which is the first event (B451).
        if automaticallySync, life.withLock({ $0.isStarting }) { return }
        await reportState()
    }

    /// Posts a change of the account, and then the state if it changed.
    func reportState() async {
        await turn.take {
            try? await compareAccount()
            try? await postState(isLast: true)
        }
    }

    private var isInCallback: Bool { Self.callbacks.contains(number) }

    private func requireOutsideCallback() throws(CKError) {
        guard isInCallback else { return }
        throw CKError(
            .invalidArguments,
            message: """
                Cannot await a call into CKSyncEngine from within a delegate callback. Let the callback return first, \
                or make the call in Task.detached.
                """)
    }

    // MARK: Runs

    /// The number of runs that are under way or wait for their turn.
    var runCount: Int { life.withLock { $0.runs.count } }

    func fetch(_ options: CKSyncEngine.FetchChangesOptions) async throws {
        try requireOutsideCallback()
        while let run = life.withLock({ $0.runs.first { $0.covers(options.scope) } }) {
            let result = await run.result
            // The call that began the fetch gave it up; this one did not.
            guard run.isAbandoned, case .failure(let error) = result, error.code == .operationCancelled else {
                return try result.get()
            }
        }
        try await perform(SyncRun(options.scope)) { run async throws(CKError) in
            try await self.fetchChanges(run, options, .manual)
        }
    }

    func send(_ options: CKSyncEngine.SendChangesOptions) async throws {
        try requireOutsideCallback()
        try await perform(SyncRun(nil)) { run async throws(CKError) in
            try await self.sendChanges(run, options, .manual)
        }
    }

    func cancelAll() async {
        let runs = life.withLock { $0.runs }
        for run in runs { run.cancel() }
        if isInCallback { return }
        for run in runs { await run.wait() }
    }

    /// Runs a call of the program. The work has a task of its own, since requests under way are not canceled (B461).
    private func perform(
        _ run: SyncRun, _ body: @escaping @Sendable (SyncRun) async throws(CKError) -> Void
    ) async throws {
        guard database.databaseScope != .public else {
            throw CKError(.badDatabase, message: "An engine cannot sync with the public database.")
        }
        life.withLock { $0.runs.append(run) }
        let task = Task {
            let result = await turn.take {
                scheduler.begin()
                let result = await outcome(of: run, body)
                end(result)
                return result
            }
            finish(run, result)
            return result
        }
        try await withTaskCancellationHandler {
            try await task.value.get()
        } onCancel: {
            run.abandon()
        }
    }

    private func syncAsScheduled() async {
        // A change of the account is an event, even if nothing can be synced.
        if life.withLock({ $0.isStarting }), let opened = try? client.opened(), !canReach(opened) {
            await reportState()
        }
        guard await isReachable() else { return }
        // No call joins the first before it is known to fetch.
        let (fetching, sending) = (SyncRun(nil), SyncRun(nil))
        life.withLock { $0.runs += [fetching, sending] }
        await turn.take {
            var result = Result<Void, CKError>.success(())
            guard let causes = scheduler.beginScheduled() else {
                for run in [fetching, sending] { finish(run, result) }
                return
            }
            if causes.fetches {
                fetching.setScope(.all)
                result = await outcome(of: fetching) { run async throws(CKError) in
                    try await self.fetchChanges(run, .init(), .scheduled)
                }
            }
            finish(fetching, result)
            if result.retryError == nil, causes.sends, state.content.withLock({ $0.hasChangesToSend }) {
                result = await outcome(of: sending) { run async throws(CKError) in
                    try await self.sendChanges(run, .init(), .scheduled)
                }
            }
            end(result)
            finish(sending, result)
        }
    }

    /// Compares the account, runs a body, and posts the state.
    private func outcome(
        of run: SyncRun, _ body: @Sendable (SyncRun) async throws(CKError) -> Void
    ) async -> Result<Void, CKError> {
        do throws(CKError) {
            try run.requireNotCancelled()
            try await compareAccount()
            try client.requireAccount()
            var failure: CKError?
            do throws(CKError) { try await body(run) } catch { failure = error }
            try await postState(isLast: true)
            if let failure { throw failure }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func finish(_ run: SyncRun, _ result: Result<Void, CKError>) {
        life.withLock { life in life.runs.removeAll { $0 === run } }
        run.end(result)
    }

    private func end(_ result: Result<Void, CKError>) {
        let retry = result.retryError
        let isSuccess = if case .success = result { true } else { false }
        scheduler.end(retry: retry, isSuccess: isSuccess)
        guard automaticallySync, retry != nil, let opened = try? client.opened(), !canReach(opened) else { return }
        Task.detached { [weak self] in
            guard let self, await isReachable() else { return }
            scheduler.networkReturned()
        }
    }

    // MARK: The network

    private func canReach(_ opened: CloudStore) -> Bool {
        client.accountStatus == .available && !opened.faults.isCut(from: client.actor)
    }

    /// Returns true once the device has a network and a usable account; false if the engine ends before.
    private func isReachable() async -> Bool {
        guard let opened = try? client.opened() else { return false }
        await opened.faults.awaitNetwork(of: client.actor) { [client] in
            client.accountStatus == .available
        } unless: {
            isStopped
        }
        return !isStopped
    }
}

extension Result where Success == Void, Failure == CKError {
    /// The error after which the engine tries again; nil if there is none.
    fileprivate var retryError: CKError? {
        guard case .failure(let error) = self else { return nil }
        if error.isRetriedBySyncEngine { return error.code == .operationCancelled ? nil : error }
        let parts = error.partialErrorsByItemID?.values.compactMap { $0 as? CKError } ?? []
        let retried = parts.filter { $0.isRetriedBySyncEngine && $0.code != .operationCancelled }
        return retried.max { $0.retryAfterSeconds ?? 0 < $1.retryAfterSeconds ?? 0 }
    }
}

extension CKError {
    /// True if the engine keeps the change and tries again by itself (B235, the table of docs/sync-engine.md).
    var isRetriedBySyncEngine: Bool {
        switch code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
            .notAuthenticated, .accountTemporarilyUnavailable, .operationCancelled, .serverResponseLost:
            true
        default: false
        }
    }
}
