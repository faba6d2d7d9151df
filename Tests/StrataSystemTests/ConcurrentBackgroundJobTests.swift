import Foundation
import StrataSystem
import Synchronization
import TestSupport
import Testing

@Suite("Jobs in the background")
struct ConcurrentBackgroundJobTests {
    /// The steps of a job, and the most that were done at one time.
    private final class Counts: Sendable {
        private let state = Lock((steps: 0, inside: 0, mostAtOnce: 0))

        func enter() {
            state.withLock { state in
                state.inside += 1
                state.mostAtOnce = max(state.mostAtOnce, state.inside)
            }
        }

        /// Returns the number of steps.
        func leave() -> Int {
            state.withLock { state in
                (state.inside, state.steps) = (state.inside - 1, state.steps + 1)
                return state.steps
            }
        }

        var steps: Int { state.withLock { $0.steps } }
        var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
    }

    @Test("Many jobs share a few threads, and no job does two steps at a time")
    func shared() throws {
        let counts = (0..<100).map { _ in Counts() }
        let jobs = try counts.map { counts in
            let job = BackgroundJob()
            try job.start {
                counts.enter()
                ThreadPause.brief()
                return counts.leave() < 50 ? .now : .whenWoken
            }
            return job
        }
        #expect(eventually { counts.allSatisfy { $0.steps == 50 } })
        let names = try threadNames()
        #expect((1...4).contains(names.count { $0 == "strata-work" }), "\(names)")
        for job in jobs { job.wake() }
        #expect(eventually { counts.allSatisfy { $0.steps == 51 } })
        #expect(counts.allSatisfy { $0.mostAtOnce == 1 })
        for job in jobs { job.stop() }
    }

    @Test("A job that is woken during a step does another one, and one that sleeps does it at its time or earlier")
    func due() throws {
        let job = BackgroundJob()
        defer { job.stop() }
        let (inside, goesOn) = (Gate(), Gate())
        let steps = Lock<[ContinuousClock.Instant]>([])
        let pause = Duration.milliseconds(30)
        try job.start {
            let count = steps.withLock { steps in
                steps.append(.now)
                return steps.count
            }
            if count == 1 {
                inside.open()
                goesOn.wait()
                return .whenWoken
            }
            return .at(.now + (count == 2 ? pause : .seconds(3_600)))
        }
        inside.wait()
        job.wake()
        goesOn.open()
        #expect(eventually { steps.withLock { $0.count == 3 } })
        #expect(steps.withLock { $0[2] - $0[1] } >= pause)
        job.wake()
        #expect(eventually { steps.withLock { $0.count == 4 } })
    }

    @Test("Of jobs that sleep, those are called first whose time comes first")
    func order() throws {
        let calls = Lock<[Int]>([])
        let start = ContinuousClock.now
        let jobs = try [3, 1, 2].map { number in
            let job = BackgroundJob()
            let hasSlept = Atomic(false)
            try job.start {
                if !hasSlept.exchange(true, ordering: .relaxed) { return .at(start + .milliseconds(100 * number)) }
                calls.withLock { $0.append(number) }
                return .whenWoken
            }
            return job
        }
        #expect(eventually { calls.withLock { $0.count == 3 } })
        #expect(calls.withLock { $0 } == [1, 2, 3])
        for job in jobs { job.stop() }
    }

    @Test("A job that is stopped has ended its step, does no other one, and keeps nothing")
    func stopped() throws {
        let steps = Lock(0)
        var owner: Counts? = Counts()
        weak let released = owner
        let job = BackgroundJob()
        try job.start { [owner] in
            owner?.enter()
            ThreadPause.rest(microseconds: 2_000)
            steps.withLock { $0 += 1 }
            _ = owner?.leave()
            return .now
        }
        owner = nil
        #expect(eventually { steps.withLock { $0 > 2 } })
        #expect(released != nil)
        job.stop()
        let count = steps.withLock { $0 }
        #expect(eventually { released == nil })
        job.wake()
        job.stop()
        #expect(steps.withLock { $0 } == count)
    }

    @Test("A step that ends its own job does not wait for itself")
    func stopsItself() throws {
        let job = BackgroundJob()
        let steps = Lock(0)
        try job.start {
            job.stop()
            steps.withLock { $0 += 1 }
            return .now
        }
        #expect(eventually { steps.withLock { $0 == 1 } })
        job.stop()
        // It may be started again.
        try job.start {
            steps.withLock { $0 += 1 }
            return .whenWoken
        }
        #expect(eventually { steps.withLock { $0 == 2 } })
        job.stop()
    }

    @Test("Jobs whose time comes together are done side by side")
    func together() throws {
        let instant = ContinuousClock.now + .milliseconds(50)
        let inside = Lock(0)
        let jobs = try (0..<3).map { _ in
            let job = BackgroundJob()
            let hasSlept = Atomic(false)
            try job.start {
                if !hasSlept.exchange(true, ordering: .relaxed) { return .at(instant) }
                inside.withLock { $0 += 1 }
                _ = eventually { inside.withLock { $0 == 3 } }
                return .whenWoken
            }
            return job
        }
        #expect(eventually { inside.withLock { $0 == 3 } })
        for job in jobs { job.stop() }
    }

    private func threadNames() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { id in
            // A thread may have ended.
            let name = try? String(contentsOfFile: "/proc/self/task/\(id)/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .newlines)
        }
    }
}
