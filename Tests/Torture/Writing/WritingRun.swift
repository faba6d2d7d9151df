import CloudKit
import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport

/// What a writing child does until it is killed, or all its writers have failed.
struct WritingRun {
    static let writerCount = 5
    /// The writer that maintains the store.
    static let maintainer = 4

    var settings: ChildSettings

    // Stays on the main thread. A main thread that ends takes a descriptor, and libdispatch ends a process that has no
    // descriptor left.
    @MainActor func run() async throws {
        if let bytes = settings.fileBytes { Limits.set(RLIMIT_FSIZE, to: bytes) }
        if let count = settings.descriptors { Limits.set(RLIMIT_NOFILE, to: count) }
        if let bytes = settings.addressSpace { Limits.set(RLIMIT_AS, to: bytes) }
        signal(SIGXFSZ, SIG_IGN)
        let acknowledgements = try Acknowledgements(at: settings.acknowledgements)
        do {
            if settings.usesCloudKit {
                try await runCloudKit(acknowledgements)
            } else {
                try runEngine(acknowledgements)
            }
        } catch {
            Telling.say("failed \(error)")
        }
        Telling.say("done")
    }

    /// The plan of a writer, continued behind what it did in earlier runs.
    private func plan(_ writer: Int) -> WriterPlan {
        var plan = WriterPlan(seed: settings.seed, writer: writer, maintains: writer == Self.maintainer)
        plan.advance(to: settings.numbers[writer])
        return plan
    }

    private func runEngine(_ acknowledgements: Acknowledgements) throws {
        let store = try Store.open(
            at: settings.store, options: settings.storeOptions,
            platform: Platform(time: settings.isClockWild ? WildTime(seed: settings.seed) : SystemTime()))
        Telling.say("opened")
        let threads = try (0..<Self.writerCount).map { writer in
            let start = plan(writer)
            return try WorkerThread(name: "writer-\(writer)") { [settings] in
                var plan = start
                let hands = EngineWriter(store: store, content: plan.content, folder: settings.folder)
                while true {
                    let step = plan.next()
                    acknowledgements.begin(writer, plan.number)
                    if settings.isEarly { acknowledgements.acknowledge(writer, plan.number, nil) }
                    do {
                        let offset = try persistently(step, plan.number, hands)
                        if !settings.isEarly { acknowledgements.acknowledge(writer, plan.number, offset) }
                    } catch {
                        return acknowledgements.fail(writer, plan.number, error)
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        try store.close()
    }

    /// Where the disk is full, asks the store what became of the request, and makes it again until there is room.
    private func persistently(_ step: WriterPlan.Step, _ number: Int, _ hands: EngineWriter) throws -> UInt64? {
        for _ in 0..<100 {
            do { return try hands.perform(step, number: number) } catch {
                guard settings.awaitsRoom, "\(error)".contains("noSpace"), let isThere = hands.has(step, number: number)
                else { throw error }
                if isThere { return nil }
                Telling.say("full")
                usleep(20_000)
            }
        }
        throw StrataError(.noSpace, "There was no room for too long.")
    }

    private func runCloudKit(_ acknowledgements: Acknowledgements) async throws {
        var options = CloudStore.Options.service
        options.durability = settings.durability
        let store = try CloudStore(at: URL(fileURLWithPath: settings.store), options: options)
        Telling.say("opened")
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<Self.writerCount {
                let start = plan(writer)
                group.addTask { [settings] in
                    var plan = start
                    let hands = CloudWriter(store: store, content: plan.content, folder: settings.folder)
                    while true {
                        let step = plan.next()
                        acknowledgements.begin(writer, plan.number)
                        do {
                            try await hands.perform(step, number: plan.number)
                            acknowledgements.acknowledge(writer, plan.number, nil)
                        } catch {
                            return acknowledgements.fail(writer, plan.number, error)
                        }
                    }
                }
            }
        }
        try store.close()
    }
}

/// A clock that jumps by years, forward and back, before 1970 and beyond the year 9999.
struct WildTime: TimeSource {
    let seed: UInt64

    func nowMicroseconds() -> Int64 {
        let now = SystemTime().nowMicroseconds()
        // Another jump each tenth of a second.
        var generator = SeededGenerator(seed: seed ^ UInt64(bitPattern: now / 100_000))
        let year: Int64 = 31_557_600_000_000
        return switch generator.next(below: 12) {
        case 0: -3 * year
        case 1: 8_030 * year
        case 2: 0
        default: now + Int64(generator.next(below: 21) - 10) * year
        }
    }
}

/// Limits of this process.
enum Limits {
    static func set(_ kind: __rlimit_resource, to value: UInt64) {
        var limit = rlimit(rlim_cur: rlim_t(value), rlim_max: rlim_t(value))
        setrlimit(__rlimit_resource_t(kind.rawValue), &limit)
    }
}
