import Glibc
import ModelComparison
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Processes that write one store are killed and paused", .timeLimit(.minutes(5)))
struct SharedKillTests {
    private static let roundCount = 12

    @Test("All that any of them acknowledged is in every copy, nothing is half there, and all copies are equal")
    func rounds() throws {
        let directory = try TestDirectory()
        let processes = SharedProcesses(in: directory)
        for _ in 0..<Self.roundCount { try processes.runRound() }
        try processes.killAll()
        #expect(processes.acknowledged.count > Self.roundCount)
        // The fourth was never there.
        let stores = try (0..<4).map { try processes.open($0) }
        defer { for store in stores { try? store.close() } }
        for store in stores { try store.confirm() }
        let digests = try stores[0].snapshot().digests()
        for store in stores {
            #expect(try store.snapshot().digests() == digests)
            try processes.check(store.snapshot())
            try processes.checkAssets(store)
        }
        #expect(LogVerifier.verify(at: processes.path(0)).damage == nil)
    }

    @Test("Canary: an asset whose file is gone is noticed")
    func lostAsset() throws {
        let directory = try TestDirectory()
        let processes = SharedProcesses(in: directory)
        try processes.runRound()
        try processes.killAll()
        let store = try processes.open(0)
        defer { try? store.close() }
        try processes.checkAssets(store)
        let assets = processes.sequence + "/files/assets"
        for folder in try RealFileSystem().list(assets) where folder.utf8.count == 2 {
            for name in try RealFileSystem().list(assets + "/" + folder) {
                try RealFileSystem().remove("\(assets)/\(folder)/\(name)")
            }
        }
        #expect(throws: (any Error).self) { try processes.checkAssets(store) }
    }

    @Test("Canary: processes that acknowledge too early are noticed")
    func early() throws {
        let directory = try TestDirectory()
        let processes = SharedProcesses(in: directory, areEarly: true)
        for _ in 0..<3 * Self.roundCount { try processes.runRound() }
        try processes.killAll()
        let store = try processes.open(3)
        defer { try? store.close() }
        #expect(throws: Divergence.self) { try processes.check(store.snapshot()) }
    }
}

/// Three processes that write one store through a sequencer in a directory, each with a copy of its own.
private final class SharedProcesses {
    private let directory: TestDirectory
    private let areEarly: Bool
    private var children: [ChildProcess?] = [nil, nil, nil]
    private var generator = SeededGenerator(seed: 3)
    /// Every process has numbers of its own.
    private var nextNumber: UInt64 = 0
    private(set) var acknowledged: [(number: UInt64, user: UInt64)] = []

    private static let numbersPerProcess: UInt64 = 1_000_000

    init(in directory: TestDirectory, areEarly: Bool = false) {
        self.directory = directory
        self.areEarly = areEarly
    }

    func path(_ number: Int) -> String { directory.path("\(number).strata") }
    var sequence: String { directory.path("Shared.sequence") }

    func open(_ number: Int) throws -> Store {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        options.trees.generationBytes = 128 << 10
        options.place = .directory(sequence)
        return try Store.open(at: path(number), options: options)
    }

    /// Starts the processes that do not run. Some time after all have written something, pauses one and kills another.
    func runRound() throws {
        for index in children.indices where children[index] == nil {
            nextNumber += Self.numbersPerProcess
            children[index] = try ChildProcess(
                ChildProcess.product("store-child"),
                [path(index), "\(nextNumber)", "shared", sequence] + (areEarly ? ["early"] : []))
        }
        for child in children {
            guard child?.waitForLine() == true else { throw Divergence(description: "a process ended by itself") }
        }
        let victim = generator.next(below: children.count)
        let paused = children[(victim + 1) % children.count]?.identifier
        if let paused { _ = Glibc.kill(paused, SIGSTOP) }
        usleep(UInt32(5_000 + generator.next(below: 115_000)))
        try kill(victim)
        if let paused { _ = Glibc.kill(paused, SIGCONT) }
        for child in children { child?.readWhatIsThere() }
    }

    func killAll() throws {
        for index in children.indices { try kill(index) }
    }

    private func kill(_ index: Int) throws {
        guard let child = children[index] else { return }
        // A process that ended by itself had an error, which it printed.
        guard child.kill() & 0x7F == SIGKILL else { throw Divergence(description: "a process ended by itself") }
        for line in child.lines() {
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 2 else { throw Divergence(description: "a process printed \(line)") }
            acknowledged.append((numbers[0], numbers[1]))
        }
        children[index] = nil
    }

    /// Finds the bytes of the asset of every acknowledged request, and no file of assets in a copy.
    func checkAssets(_ store: Store) throws {
        let files = RealFileSystem()
        for (number, user) in acknowledged {
            let record = try store.snapshot().record(
                NoteRequest.id("\(number)-0"), in: NoteRequest.database, as: Actor(user: "user-\(user)"))
            guard let asset = try record.assets.first else {
                throw Divergence(description: "request \(number) was acknowledged and has no asset")
            }
            let copy = directory.path("photo")
            try store.copyAsset(asset, to: copy)
            let text = String(decoding: try files.readAll(copy, atMost: 1_000), as: UTF8.self)
            try files.remove(copy)
            guard text == "photo \(number % 10 == 0 ? 0 : number)" else {
                throw Divergence(description: "the asset of request \(number) is '\(text)'")
            }
        }
        for number in 0..<4 where try files.exists(path(number) + "/assets") {
            throw Divergence(description: "copy \(number) keeps assets")
        }
    }

    /// Finds every acknowledged request in a state, as a whole.
    func check(_ snapshot: StoreSnapshot) throws {
        for (number, user) in acknowledged {
            let ids = (0..<4).map { NoteRequest.id("\(number)-\($0)") }
            let found = try snapshot.records(ids, in: NoteRequest.database, as: Actor(user: "user-\(user)"))
            guard found.allSatisfy({ (try? $0.get()["number"]) == .int64(Int64(number)) }) else {
                throw Divergence(description: "request \(number) was acknowledged and has another number")
            }
        }
    }
}
