import CloudKit
import Foundation
import StrataSystem
import TestSupport
import Testing

@Suite("Progress of assets", .timeLimit(.minutes(2)))
struct AssetProgressTests {
    /// The reports for each record, in order: fractions, and nil for the result.
    private final class Reports: Sendable {
        private let state = Lock<[String: [Double?]]>([:])

        func add(_ id: CKRecord.ID, _ fraction: Double?) {
            state.withLock { $0[id.recordName, default: []].append(fraction) }
        }

        subscript(name: String) -> [Double?] { state.withLock { $0[name, default: []] } }

        /// Returns the fractions below 1 before the result, which must come last and once.
        func steps(_ name: String, endingWith end: [Double?]) -> [Double] {
            let all = self[name]
            #expect(Array(all.suffix(end.count)) == end)
            return all.dropLast(end.count).map { $0 ?? -1 }
        }
    }

    private static let bytes = Data((0..<6_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    private func modify(_ records: [CKRecord], _ reports: Reports) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(recordsToSave: records)
        operation.isAtomic = false
        operation.perRecordProgressBlock = { reports.add($0.recordID, $1) }
        operation.perRecordSaveBlock = { id, _ in reports.add(id, nil) }
        return operation
    }

    private func expectSteps(_ steps: [Double]) {
        #expect(Set(steps).count > 1)
        #expect(steps == steps.sorted() && steps.allSatisfy { $0 > 0 && $0 < 1 })
    }

    @Test("Saving reports how much of a record's files is copied, then 1, then the result", arguments: [false, true])
    func saving(inMemory: Bool) async throws {
        let place = try await AssetTests.Place(inMemory: inMemory)
        let reports = Reports()
        let file = try place.file("photo", Self.bytes)
        let both = place.note("both", file)
        both["other"] = CKAsset(fileURL: try place.file("other", Self.bytes.dropFirst()))
        let plain = CKRecord(recordType: "Note", recordID: place.id("plain"))
        let empty = place.note("empty", try place.file("empty", Data()))
        let operation = modify([place.note("one", file), both, plain, empty], reports)
        await operation.finish { place.database.add($0) }
        expectSteps(reports.steps("one", endingWith: [1, nil]))
        expectSteps(reports.steps("both", endingWith: [1, nil]))
        #expect(reports["plain"] == [1, nil] && reports["empty"] == [1, nil])
    }

    @Test("A record that fails reports no 1, and no 0 after other numbers")
    func failing() async throws {
        var options = CloudStore.Options.service
        options.limits.assetBytes = 10_000_000
        let place = try await AssetTests.Place(options)
        let reports = Reports()
        let half = place.note("half", try place.file("photo", Self.bytes))
        half["other"] = CKAsset(fileURL: place.directory.appendingPathComponent("nothing"))
        let large = place.note("large", try place.file("large", Self.bytes + Self.bytes))
        let operation = modify([half, large], reports)
        await operation.finish { place.database.add($0) }
        expectSteps(reports.steps("half", endingWith: [nil]))
        #expect(reports["large"] == [0, nil])
    }

    @Test("A cancelled operation reports no more steps")
    func cancelled() async throws {
        let place = try await AssetTests.Place()
        let reports = Reports()
        let operation = modify([place.note("a", try place.file("photo", Self.bytes))], reports)
        operation.perRecordProgressBlock = { [unowned operation] in
            reports.add($0.recordID, $1)
            operation.cancel()
        }
        await operation.finish { place.database.add($0) }
        let between = reports["a"].compactMap(\.self).filter { $0 > 0 && $0 < 1 }
        #expect(between.count == 1)
    }

    @Test("Fetching reports how much of a record's files is read, which happens once; then 1, then the result")
    func fetching() async throws {
        let place = try await AssetTests.Place()
        try await place.database.save(place.note("a", try place.file("photo", Self.bytes)))
        try await place.database.save(CKRecord(recordType: "Note", recordID: place.id("plain")))
        try place.store.close()
        let store = try CloudStore(at: place.directory.appendingPathComponent("Notes.strata"))
        defer { try? store.close() }
        for isRead in [true, false] {
            let reports = Reports()
            let operation = CKFetchRecordsOperation(recordIDs: [place.id("a"), place.id("plain")])
            operation.perRecordProgressBlock = { reports.add($0, $1) }
            operation.perRecordResultBlock = { id, _ in reports.add(id, nil) }
            await operation.finish { store.container(user: "anna").privateCloudDatabase.add($0) }
            let steps = reports.steps("a", endingWith: [1, nil])
            if isRead { expectSteps(steps) } else { #expect(steps == []) }
            #expect(reports["plain"] == [1, nil])
        }
    }
}
