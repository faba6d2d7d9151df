import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store whose log has a place that several processes share", .timeLimit(.minutes(2)))
struct SharedPlaceTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func open(_ name: String, _ change: (inout StoreOptions) -> Void = { _ in }) throws -> Client {
        var options = StoreOptions.service
        options.place = .directory(directory.path("sequence"))
        change(&options)
        return Client(of: try Store.open(at: directory.path(name), options: options))
    }

    @Test("A store can be closed and opened again with the same options, and says how it goes")
    func reopening() throws {
        for round in 1...3 as ClosedRange<Int64> {
            let client = try open("a")
            try client.save("note\(round)", ["number": .int64(round)])
            let status = try #require(client.store.replication)
            #expect(status.appendedBatches >= 1 && status.failure == nil && status.interruption == nil)
            #expect(status.end.offset == client.store.offset)
            try client.store.close()
        }
        let local = try Store.inMemory()
        #expect(local.replication == nil)
        try local.confirm()
    }

    @Test("A state that was just written can be read as of its offset")
    func past() throws {
        let client = try open("a")
        var version: Version?
        for number in 1...5 as ClosedRange<Int64> {
            version = try client.save("note", ["number": .int64(number)], base: version)
            let past = Client(of: try client.store.asOf(client.store.offset))
            #expect(try past.fields("note") == ["number": .int64(number)])
        }
    }

    @Test("A process that only reads a copy's directory sees what its writer shows, soon")
    func readers() throws {
        let client = try open("a")
        try client.save("first")
        try client.save("second")
        let (path, end) = (directory.path("a"), client.store.offset)
        #expect(
            eventually {
                let reader = try? LogReader.open(at: path, requiresWholeEnd: false, platform: Platform()) { _ in [] }
                return reader?.end.offset == end
            })
    }

    @Test("The options that a store's sequencer keeps are these, whatever the names in the source are")
    func terms() {
        var options = StoreOptions.embedded
        options.schema = .enforced
        #expect(
            StoreOptions.service.terms == """
                limits.itemsPerRequest 400
                limits.requestBytes 2000000
                limits.recordBytes 1000000
                limits.owningReferences 750
                limits.assetBytes 50000000
                touchesParents true
                unknownTypesAreErrors true
                predicates cloudKit
                schema open
                """)
        #expect(options.terms.hasSuffix("unknownTypesAreErrors false\npredicates extended\nschema enforced"))
    }

    @Test("A process with other rules cannot open the store")
    func rules() throws {
        let client = try open("a")
        try client.save("note")
        let error = try #require(throws: StrataError.self) { _ = try open("b") { $0.schema = .enforced } }
        #expect(error.code == .invalidArgument)
        #expect(error.context.expected == "schema open" && error.context.found == "schema enforced")
        // Options that decide nothing may differ.
        let other = try open("c") { $0.segmentBytes *= 2 }
        #expect(other.exists("note"))
    }

    @Test("Waiting for a change ends although only a lazy commit came second to another process's")
    func lazyBatch() async throws {
        let sequence = MemorySequencer.Sequence()
        func client(_ sequencer: any Sequencer, _ options: StoreOptions) throws -> Client {
            let log = try ReplicatedLog.open(
                at: "/Notes.strata", sequencer: sequencer, platform: Platform(files: SimulatedDisk()))
            return Client(of: try Store(on: log, options: options))
        }
        var options = StoreOptions.service
        options.recordsRefusals = true
        options.auditDelayMilliseconds = 200
        let writer = try client(MemorySequencer(sequence), .service)
        let lagging = try client(LaggingSequencer(sequence), options)
        let version = try writer.save("note")
        // The refusal is noted a moment later, after the writer's next commit.
        _ = try lagging.refusal(.init("note", base: Version(offset: 900, eventIndex: 0)))
        let offset = lagging.store.offset
        async let isChanged = lagging.store.waitForChange(past: offset)
        let later = try writer.save("note", ["number": .int64(2)], base: version)
        #expect(try await isChanged && later.offset > offset)
        #expect(try lagging.fields("note") == ["number": .int64(2)])
    }
}
