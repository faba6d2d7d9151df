/// The threads of the process on which the steps of all ``BackgroundJob``s run, at low priority, in the order in which
/// they are due. A thread is started when more steps are due than threads are free, and stays.
final class BackgroundPool: Sendable {
    typealias Step = @Sendable () -> BackgroundJob.NextStep

    static let shared = BackgroundPool()
    /// Some more than there are steps that compute, because others wait for the disk.
    static let maximumThreads = 4

    private struct Job {
        enum Phase { case asleep, due, running }

        // Its address is the identifier, and is not used again meanwhile.
        let owner: BackgroundJob
        let step: Step
        var phase = Phase.due
        /// True if another step is due after the running one.
        var isWoken = false
        var isEnding = false
        /// The thread of the running step.
        var thread: UInt = 0
        /// True if a time at which it becomes due is known.
        var hasDeadline = false
    }

    private struct State {
        var jobs: [ObjectIdentifier: Job] = [:]
        var due: [ObjectIdentifier] = []
        /// The times at which jobs that are asleep become due, the latest first.
        var deadlines: [(instant: ContinuousClock.Instant, id: ObjectIdentifier)] = []
        var threads = 0
        /// The threads that have no step.
        var freeThreads = 0

        mutating func makeDue(_ id: ObjectIdentifier) {
            if jobs[id]?.hasDeadline == true { deadlines.removeAll { $0.id == id } }
            jobs[id]?.phase = .due
            jobs[id]?.hasDeadline = false
            due.append(id)
        }

        mutating func sleep(_ id: ObjectIdentifier, until instant: ContinuousClock.Instant) {
            jobs[id]?.hasDeadline = true
            let later = deadlines.lastIndex { $0.instant >= instant }
            deadlines.insert((instant, id), at: later.map { $0 + 1 } ?? 0)
        }

        mutating func takeDeadlines(through now: ContinuousClock.Instant) {
            while let last = deadlines.last, last.instant <= now { makeDue(last.id) }
        }
    }

    private let state = Monitor(State())

    func add(_ owner: BackgroundJob, _ step: @escaping Step) throws {
        let id = ObjectIdentifier(owner)
        state.withLock { state in
            assert(state.jobs[id] == nil, "a job is started once")
            state.jobs[id] = Job(owner: owner, step: step)
            state.due.append(id)
        }
        do { try addThread() } catch {
            remove(id)
            throw error
        }
    }

    func wake(_ id: ObjectIdentifier) {
        let isDue = state.withLock { state in
            switch state.jobs[id]?.phase {
            case .asleep?: state.makeDue(id)
            case .running?: state.jobs[id]?.isWoken = true
            case .due?, nil: return false
            }
            return state.jobs[id]?.phase == .due
        }
        // Without another thread, those that there are do the step later.
        if isDue { try? addThread() }
    }

    func remove(_ id: ObjectIdentifier) {
        // Released without the lock, because it may own much.
        let removed = state.wait { state -> Job?? in
            if let job = state.jobs[id], job.phase == .running {
                state.jobs[id]?.isEnding = true
                // A step that releases the job's owner cannot wait for itself.
                return job.thread == WorkerThread.currentID ? .some(nil) : nil
            }
            state.due.removeAll { $0 == id }
            state.deadlines.removeAll { $0.id == id }
            return .some(state.jobs.removeValue(forKey: id))
        }
        _ = removed
    }

    /// Wakes a free thread for a job that is due, or starts one.
    private func addThread() throws {
        let starts = state.withLock { state in
            guard state.freeThreads < state.due.count, state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            state.freeThreads += 1
            return true
        }
        state.notifyAll()
        guard starts else { return }
        do { try WorkerThread(name: "strata-work") { [self] in run() }.detach() } catch {
            let isAlone = state.withLock { state in
                state.threads -= 1
                state.freeThreads -= 1
                return state.threads == 0
            }
            if isAlone { throw error }
        }
    }

    private func run() {
        WorkerThread.lowerPriority()
        while true {
            let (id, hasMore) = next()
            // No call of `wake` starts a thread for jobs that become due by their times.
            if hasMore { try? addThread() }
            finish(id, perform(id))
        }
    }

    /// Waits for a job that is due, and says whether there are more.
    private func next() -> (id: ObjectIdentifier, hasMore: Bool) {
        while true {
            let earliest = state.withLock { $0.deadlines.last?.instant }
            let milliseconds = earliest.map { Self.milliseconds(until: $0) } ?? 3_600_000
            let found = state.wait(milliseconds: milliseconds) { state -> (id: ObjectIdentifier, hasMore: Bool)?? in
                state.takeDeadlines(through: .now)
                guard let id = state.due.first else {
                    return state.deadlines.last?.instant == earliest ? nil : .some(nil)
                }
                state.due.removeFirst()
                state.jobs[id]?.phase = .running
                state.jobs[id]?.thread = WorkerThread.currentID
                state.freeThreads -= 1
                return (id, !state.due.isEmpty)
            }
            if let found = found ?? nil { return found }
        }
    }

    private func perform(_ id: ObjectIdentifier) -> BackgroundJob.NextStep {
        // The step's owner is released here, not after the next step.
        guard let step = state.withLock({ $0.jobs[id]?.step }) else { return .whenWoken }
        return step()
    }

    private func finish(_ id: ObjectIdentifier, _ next: BackgroundJob.NextStep) {
        let ended = state.withLock { state -> Job? in
            state.freeThreads += 1
            if state.jobs[id]?.isEnding == true { return state.jobs.removeValue(forKey: id) }
            let isWoken = state.jobs[id]?.isWoken == true
            state.jobs[id]?.phase = .asleep
            state.jobs[id]?.isWoken = false
            switch next {
            case _ where isWoken, .now: state.makeDue(id)
            case .at(let instant): state.sleep(id, until: instant)
            case .whenWoken: break
            }
            return nil
        }
        _ = ended
        state.notifyAll()
    }

    private static func milliseconds(until instant: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (instant - .now).components
        return max(0, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    }
}
