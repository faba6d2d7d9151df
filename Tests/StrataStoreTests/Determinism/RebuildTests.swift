import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("The requests of a log can be made again and judged again")
struct RebuildTests {
    private static let stepCount = 80

    /// A log of generated requests.
    private func history(_ seed: UInt64, _ stepCount: Int = stepCount) throws -> (log: any EventLog, store: Store) {
        var twin = try TwinStore(.memory, seed: seed, recordsRefusals: false)
        for _ in 0..<stepCount { try twin.step() }
        return (twin.log, twin.store)
    }

    @Test("Judged again on an empty store they give the same log, byte by byte")
    func sameLog() throws {
        try withSeeds(40) { seed in
            let (log, first) = try history(seed)
            defer { try? first.close() }
            let requests = try RequestRebuilder.requests(of: log)
            #expect(requests.count == log.end.offset)
            let second = try SecondLife(TwinStore.options(recordsRefusals: false), secret: first.engine.secret())
            defer { try? second.store.close() }
            try second.live(requests)
            let difference = try SecondLife.difference(log, second.store.log)
            #expect(difference == nil, "seed \(seed)")
            #expect(try second.store.snapshot().digests() == first.snapshot().digests())
        }
    }

    @Test("Canary: one changed byte of a request is noticed")
    func changedByte() throws {
        let (log, first) = try history(9, 2 * Self.stepCount)
        defer { try? first.close() }
        let requests = try RequestRebuilder.requests(of: log)
        var changedCount = 0
        for index in requests.indices {
            guard let changed = Self.changed(requests[index].request) else { continue }
            changedCount += 1
            var others = requests
            others[index].request = changed
            let second = try SecondLife(TwinStore.options(recordsRefusals: false), secret: first.engine.secret())
            defer { try? second.store.close() }
            // What was judged behind it may fail as a whole now.
            do { try second.live(others) } catch is Refusal {}
            #expect(try SecondLife.difference(log, second.store.log) != nil, "request \(index)")
        }
        #expect(changedCount > 10)
    }

    /// The request with another byte in the first string that it saves; nil if it saves none.
    private static func changed(_ request: Request) -> Request? {
        guard case .modifyRecords(var body) = request.content else { return nil }
        for save in body.saves.indices {
            for field in body.saves[save].fields.indices {
                guard case .string(let text)? = body.saves[save].fields[field].value, !text.isEmpty else { continue }
                body.saves[save].fields[field].value = .string("#" + text.dropFirst())
                var request = request
                request.content = .modifyRecords(body)
                return request
            }
        }
        return nil
    }

    @Test("Keys that were only removed, operations and quality come back")
    func details() throws {
        let first = try SecondLife(.service)
        defer { try? first.store.close() }
        let (store, anna) = (first.store, Actor(user: "anna", device: "phone"))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        let operation = OperationInfo(
            id: "op", qualityOfService: .userInitiated, groupID: "group", groupName: "a group")
        var request = NoteRequest.saving(["a"], [("first", .int64(1))])
        guard case .modifyRecords(var body) = request.content else { return }
        body.saves[0].fields.append(FieldChange(request.names.ordinal(ofKey: "never"), nil))
        body.saves[0].fields.append(FieldChange(request.names.ordinal(ofKey: "last"), .string("x")))
        request.content = .modifyRecords(body)
        _ = try store.modify(request, as: anna, operation: operation)
        let rebuilt = try RequestRebuilder.requests(of: store.log)
        #expect(rebuilt[1].operation == operation && rebuilt[1].actor == anna && rebuilt[1].request == request)
        let second = try SecondLife(.service)
        defer { try? second.store.close() }
        try second.live(rebuilt)
        #expect(try SecondLife.difference(store.log, second.store.log) == nil)
    }

    @Test("Full events give what was asked, not what the record became")
    func fullEvents() throws {
        let first = try SecondLife(.service)
        defer { try? first.store.close() }
        let anna = Actor(user: "anna", device: "phone")
        _ = try first.store.modify(NoteRequest.makingZones(), as: anna)
        for number in 0..<40 {
            let fields: [(String, FieldValue)] = [("title", .int64(Int64(number))), ("k\(number % 3)", .string("x"))]
            var request = NoteRequest.saving(["a"], fields, policy: .changedKeys)
            if number % 4 == 3, case .modifyRecords(var body) = request.content {
                body.saves[0].fields[1].value = nil
                request.content = .modifyRecords(body)
            }
            _ = try first.store.modify(request, as: anna)
        }
        let rebuilt = try RequestRebuilder.requests(of: first.store.log)
        let second = try SecondLife(.service)
        defer { try? second.store.close() }
        try second.live(rebuilt)
        #expect(try SecondLife.difference(first.store.log, second.store.log) == nil)
        for asked in rebuilt {
            if case .modifyRecords(let body) = asked.request.content { #expect(body.saves[0].fields.count <= 2) }
        }
    }
}

@Suite("The same requests, clock and randomness give the same files")
struct SameBytesTests {
    @Test("Segment by segment")
    func sameFiles() throws {
        var twin = try TwinStore(.memory, seed: 11, recordsRefusals: false)
        for _ in 0..<200 { try twin.step() }
        let requests = try RequestRebuilder.requests(of: twin.log)
        try twin.store.close()
        var contents: [[String: [UInt8]]] = []
        for _ in 0..<2 {
            let disk = SimulatedDisk()
            let life = try SecondLife(TwinStore.options(recordsRefusals: false), files: disk)
            try life.live(requests)
            try life.store.close()
            var files: [String: [UInt8]] = ["STORE": try disk.content(of: "/Second.strata/STORE")]
            for name in try disk.list("/Second.strata/log") where name.hasSuffix(".seg") {
                files[name] = try disk.content(of: "/Second.strata/log/" + name)
            }
            contents.append(files)
        }
        #expect(contents[0] == contents[1])
        #expect(contents[0].values.reduce(0) { $0 + $1.count } > 20_000)
    }
}
