/// The threads of the process on which the steps of all ``BackgroundJob``s run, at low priority, in the order in which
/// they are due. A thread is started when more steps are due than threads are free, and stays.
final class BackgroundPool: Sendable {
    static let shared = BackgroundPool()
    /// Some more than there are steps that compute, because others wait for the disk.
    static let maximumThreads = 4

    private struct State {
        /// The jobs whose next step is due, in order.
        var due: [BackgroundJob] = []
        /// The times at which jobs that are asleep become due, the latest first.
        var deadlines: [(instant: ContinuousClock.Instant, job: BackgroundJob)] = []
        var threads = 0
        /// The threads that have no step.
        var freeThreads = 0

        mutating func makeDue(_ job: BackgroundJob) {
            removeDeadline(of: job)
            job.phase = .due
            due.append(job)
        }

        mutating func removeDeadline(of job: BackgroundJob) {
            guard job.hasDeadline, let place = deadlines.firstIndex(where: { $0.job === job }) else { return }
            deadlines.remove(at: place)
            job.hasDeadline = false
        }

        mutating func sleep(_ job: BackgroundJob, until instant: ContinuousClock.Instant) {
            let later = deadlines.lastIndex { $0.instant >= instant }
            deadlines.insert((instant, job), at: later.map { $0 + 1 } ?? 0)
            job.hasDeadline = true
        }
    }

    private let state = Monitor(State())

    func start(_ job: BackgroundJob, _ step: @escaping @Sendable () -> BackgroundJob.NextStep) throws {
        state.withLock { state in
            assert(job.step == nil, "a job is started once")
            job.step = step
            state.makeDue(job)
        }
        do { try addThread() } catch {
            stop(job)
            throw error
        }
    }

    func wake(_ job: BackgroundJob) {
        let isDue = state.withLock { state in
            guard job.step != nil, job.phase != .due else { return false }
            job.isWoken = job.phase == .running
            if job.phase == .asleep { state.makeDue(job) }
            return !job.isWoken
        }
        // Without another thread, those that there are do the step later.
        if isDue { try? addThread() }
    }

    func stop(_ job: BackgroundJob) {
        // Released without the lock, because it may own much.
        let step = state.withLock { state in
            defer { job.step = nil }
            state.removeDeadline(of: job)
            if job.phase == .due {
                state.due.removeAll { $0 === job }
                job.phase = .asleep
            }
            return job.step
        }
        withExtendedLifetime(step) {}
        // A step that ends its own job cannot wait for itself.
        state.wait { _ in job.phase != .running || job.thread == WorkerThread.currentID ? () : nil }
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
        while true { perform(next()) }
    }

    /// Waits for a job that is due.
    private func next() -> BackgroundJob {
        while true {
            let earliest = state.withLock { $0.deadlines.last?.instant }
            let milliseconds = earliest.map { Self.milliseconds(until: $0) } ?? 3_600_000
            let found = state.wait(milliseconds: milliseconds) { state -> BackgroundJob?? in
                while let last = state.deadlines.last, last.instant <= .now { state.makeDue(last.job) }
                guard let job = state.due.first else {
                    return state.deadlines.last?.instant == earliest ? nil : .some(nil)
                }
                state.due.removeFirst()
                (job.phase, job.thread) = (.running, WorkerThread.currentID)
                state.freeThreads -= 1
                return job
            }
            if let job = found ?? nil { return job }
        }
    }

    private func step(_ job: BackgroundJob) -> BackgroundJob.NextStep? {
        let (step, hasMore) = state.withLock { (job.step, !$0.due.isEmpty) }
        // No call of `wake` starts a thread for jobs that become due by their times.
        if hasMore { try? addThread() }
        return step?()
    }

    private func perform(_ job: BackgroundJob) {
        let next = step(job)
        state.withLock { state in
            state.freeThreads += 1
            let isWoken = job.isWoken
            (job.phase, job.isWoken) = (.asleep, false)
            guard let next, job.step != nil else { return }
            switch next {
            case _ where isWoken, .now: state.makeDue(job)
            case .at(let instant): state.sleep(job, until: instant)
            case .whenWoken: break
            }
        }
        state.notifyAll()
    }

    private static func milliseconds(until instant: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (instant - .now).components
        return max(0, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    }
}
