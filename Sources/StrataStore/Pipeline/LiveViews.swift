import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import Synchronization

/// Owns the trees that a store works with, and decides what damage to them leads to (docs/architecture.md §5).
///
/// An error of reading them is passed to ``note(_:in:)``. If a frame is damaged, the thread with the turn to append
/// folds the log into new views, and readers wait. That is done once while a store is open: if it fails, or is needed
/// again, the views are *lost* until the store is opened again.
final class LiveViews: Sendable {
    private enum Condition {
        case sound, damaged
        case lost(StrataError)
    }

    private struct State {
        var condition = Condition.sound
        var rebuilds: (count: Int, lastReason: StrataError?) = (0, nil)
        var progress: Replay.Progress?
        var isClosing = false
    }

    /// The number of times that damaged views are folded again. After that, the disk cannot be trusted.
    static let maximumRebuilds = 1
    /// The patience of a process that only reads the store: the next process would have to fold the log, too.
    private static let dayMilliseconds = 86_400_000

    /// Nil if the views are in memory.
    let rebuilder: ViewsRebuilder?
    /// The maximum time that a request or a reader waits for new views.
    let patienceMilliseconds: Int
    /// Held while a store that is only read folds what another process wrote, and while damaged views are replaced;
    /// counts the former.
    let refreshes = Lock(0)
    private let log: any EventLog
    // Replaced under the lock of `state`.
    private let current: Lock<WorkingViews>
    private let state = Monitor(State())
    /// True while the condition is `damaged`.
    private let damaged = Atomic(false)
    private let wake: Lock<(@Sendable () -> Void)?> = Lock(nil)

    init(_ working: WorkingViews, of log: any EventLog, rebuilder: ViewsRebuilder?, patienceMilliseconds: Int) {
        current = Lock(working)
        self.log = log
        self.rebuilder = rebuilder
        self.patienceMilliseconds = rebuilder?.isWriter != true ? Self.dayMilliseconds : patienceMilliseconds
    }

    var working: WorkingViews { current.withLock { $0 } }
    var views: Views { current.withLock { $0.views } }
    var flusher: Flusher? { current.withLock { $0.flusher } }
    /// The number of times that damaged views were folded again, and the last reason.
    var rebuilds: (count: Int, lastReason: StrataError?) { state.withLock { $0.rebuilds } }
    var isDamaged: Bool { damaged.load(ordering: .acquiring) }

    /// Sets the action that wakes a thread to fold damaged views again.
    func onDamage(_ wake: @escaping @Sendable () -> Void) { self.wake.withLock { $0 = wake } }

    // MARK: Damage

    /// Notes an error of reading views; returns true if it means a damaged frame, so that other views replace them or
    /// have done so.
    @discardableResult
    func note(_ error: any Error, in views: Views?) -> Bool {
        guard rebuilder != nil, let error = error as? StrataError, Views.isDamage(error) else { return false }
        let isFirst = state.withLock { state -> Bool? in
            guard case .sound = state.condition, views === self.views else { return false }
            // A row that is malformed again after it was folded again is a defect, and not one of the disk.
            guard error.context.page != nil || state.rebuilds.count < Self.maximumRebuilds else { return nil }
            state.rebuilds.lastReason = error
            set(.damaged, &state)
            return true
        }
        if isFirst == true { wake.withLock { $0 }?() }
        return isFirst != nil
    }

    private func set(_ condition: Condition, _ state: inout State) {
        let isDamaged = if case .damaged = condition { true } else { false }
        (state.condition, state.progress) = (condition, nil)
        damaged.store(isDamaged, ordering: .releasing)
        self.state.notifyAll()
    }

    /// Returns sound views after an error of reading a state, once there are any.
    ///
    /// - Throws: the error if it does not mean a damaged frame; ``error`` if it takes too long; the reason if there
    ///   will be none.
    func sound(after error: any Error, reading trees: Snapshot) throws -> Views {
        let views = views
        guard note(error, in: views.trees.isSource(of: trees) ? views : nil) else { throw error }
        return try awaitSound()
    }

    /// Calls `body`, and calls it again with new views if a frame of the current ones is damaged.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        while true {
            let views = views
            do { return try body() } catch {
                guard note(error, in: views) else { throw error }
                _ = try awaitSound()
            }
        }
    }

    private func awaitSound() throws -> Views {
        let sound = try state.wait(milliseconds: patienceMilliseconds) { state -> Views? in
            switch state.condition {
            case .sound: return views
            case .lost(let failure): throw failure
            case .damaged where state.isClosing: throw StoreGate.error
            case .damaged: return nil
            }
        }
        guard let sound else { throw error }
        return sound
    }

    /// The error of a state whose frame is damaged, and of what has waited too long for new views.
    var error: StrataError {
        let (cause, progress) = state.withLock { ($0.rebuilds.lastReason, $0.progress) }
        return StrataError(
            .viewsDamaged, "The views were damaged and are being folded again: try again.",
            .init(found: progress.map { "\($0.offset) of \($0.end) commits are folded" }), cause: cause)
    }

    // MARK: New views

    /// Returns new views if the current ones are damaged. The caller has the turn to append.
    ///
    /// - Parameter pulse: called repeatedly.
    /// - Throws: ``StrataError`` if the views are lost.
    func rebuiltIfDamaged(_ pulse: () -> Void) throws -> WorkingViews? {
        let rebuilds = try state.withLock { state in
            if case .lost(let failure) = state.condition { throw failure }
            return state.rebuilds
        }
        guard isDamaged else { return nil }
        if rebuilds.count == Self.maximumRebuilds {
            flusher?.abandon()
            // If removing fails, the next opening finds the damage again.
            try? rebuilder?.discard()
            throw lost("The views were damaged again: check the disk and open the store again.", rebuilds.lastReason)
        }
        state.withLock { $0.rebuilds.count += 1 }
        do {
            return try rebuilt { progress in
                state.withLock { $0.progress = progress }
                pulse()
            }
        } catch { throw lost("The views are damaged and could not be rebuilt.", error) }
    }

    private func lost(_ message: StaticString, _ error: (any Error)?) -> StrataError {
        let cause = error as? StrataError
        let failure = StrataError(cause?.code ?? .inputOutput, message, cause?.context ?? .init(), cause: error)
        state.withLock { set(.lost(failure), &$0) }
        return failure
    }

    /// Replaces the views, which are sound from then on.
    func replace(with new: WorkingViews) {
        state.withLock { state in
            current.withLock { $0 = new }
            set(.sound, &state)
        }
    }

    /// Folds the log into new views. No more states of the current ones are written.
    ///
    /// - Parameter options: the options of views in memory.
    func rebuilt(
        inMemory options: TreeStoreOptions = TreeStoreOptions(), progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> WorkingViews {
        guard let rebuilder else {
            return WorkingViews(views: try Views.inMemory(log, options: options), flusher: nil)
        }
        // Before the states are removed: a flush writes another one.
        flusher?.abandon()
        while true {
            let floor = log.floor.offset
            do {
                let views = try rebuilder.rebuilt(progress).views
                return WorkingViews(views: views, flusher: rebuilder.isWriter ? try Flusher(views) : nil)
            } catch let error as StrataError where error.code == .outOfRange && log.floor.offset > floor {
                // A compaction removed commits that were still to be folded: its base has them now.
                continue
            }
        }
    }

    // MARK: The end

    /// Ends the waits for new views, since no thread will fold them.
    func stopWaiting() {
        state.withLock { $0.isClosing = true }
        state.notifyAll()
    }

    /// Writes the last changes, or removes damaged states. No thread uses the views any more.
    func close() throws {
        do {
            if !isDamaged { try flusher?.stop() }
        } catch { guard note(error, in: views) else { throw error } }
        if isDamaged {
            flusher?.abandon()
            try rebuilder?.discard()
        }
    }
}
