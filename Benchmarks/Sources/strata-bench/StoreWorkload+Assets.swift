import CloudKit
import Glibc
import StrataSystem

/// Records with files of 5 MB.
extension StoreWorkload {
    private static let assetBytes = 5_000_000
    private static let fetchedCount = 400

    private var assetCount: Int { size.isQuick ? 20 : 100 }

    func assets(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("store: \(assetCount) assets of 5 MB, saved")
        let saved = try savedAssets()
        progress("store: \(Self.fetchedCount) records with assets, fetched without them")
        return [saved, try fetchedWithoutAssets()]
    }

    /// Each round has bytes of its own, or nothing would be written.
    private func savedAssets() throws -> Measurement {
        let sources = (0..<assetCount).map { "\(folder)/source-\($0)" }
        defer { for source in sources { unlink(source) } }
        var bytes = SeededRandom(seed: 8).bytes(Self.assetBytes)
        var round: UInt8 = 0
        func prepare() throws {
            round += 1
            for (number, source) in sources.enumerated() {
                (bytes[0], bytes[1]) = (round, UInt8(number))
                try RealFileSystem().write(bytes, to: source, isSynced: false)
            }
            Glibc.sync()
        }
        let figures = try alternating(
            rounds: rounds,
            [
                {
                    try prepare()
                    return try saveRate(sources)
                },
                {
                    try prepare()
                    let start = secondsNow()
                    for number in sources.indices {
                        (bytes[0], bytes[1]) = (round, UInt8(number))
                        var hasher = ContentHasher()
                        bytes.withUnsafeBytes { hasher.update($0) }
                        guard hasher.finish().count == ContentHasher.byteCount else {
                            throw BenchError(message: "no hash")
                        }
                        try RealFileSystem().write(bytes, to: "\(folder)/plain-\(number)", isSynced: true)
                    }
                    let seconds = secondsNow() - start
                    for number in sources.indices { unlink("\(folder)/plain-\(number)") }
                    return Double(assetCount) / seconds
                },
            ]
        ) { Glibc.sync() }
        return measurement(
            "saving \(assetCount) assets of 5 MB in one request, durable", "assets/s", figures[0],
            "the same bytes hashed, written and synced", figures[1], .ratioAtLeast(0.8))
    }

    private func saveRate(_ sources: [String]) throws -> Double {
        let path = "\(folder)/assets.strata"
        defer { removeTree(path) }
        let cloud = try CloudStore(at: URL(fileURLWithPath: path))
        defer { try? cloud.close() }
        let database = cloud.container(user: "bench").privateCloudDatabase
        let zone = CKRecordZone.ID(zoneName: "Photos")
        try awaiting { try await database.save(CKRecordZone(zoneID: zone)) }
        let start = secondsNow()
        try awaiting {
            let records = sources.enumerated().map { number, source in
                let record = CKRecord(
                    recordType: "Photo", recordID: CKRecord.ID(recordName: "\(number)", zoneID: zone))
                record["file"] = CKAsset(fileURL: URL(fileURLWithPath: source))
                return record
            }
            let results = try await database.modifyRecords(saving: records, deleting: []).saveResults
            for result in results.values { _ = try result.get() }
        }
        return Double(sources.count) / (secondsNow() - start)
    }

    private func fetchedWithoutAssets() throws -> Measurement {
        let path = "\(folder)/fetched.strata"
        defer { removeTree(path) }
        let source = "\(folder)/source"
        defer { unlink(source) }
        try RealFileSystem().write(SeededRandom(seed: 8).bytes(Self.assetBytes), to: source, isSynced: false)
        let cloud = try CloudStore(at: URL(fileURLWithPath: path))
        defer { try? cloud.close() }
        let database = cloud.container(user: "bench").privateCloudDatabase
        let zone = CKRecordZone.ID(zoneName: "Photos")
        let sets = ["with", "without"].map { name in
            (0..<Self.fetchedCount).map { CKRecord.ID(recordName: "\(name)-\($0)", zoneID: zone) }
        }
        let isAsset = [true, false]
        try awaiting {
            try await database.save(CKRecordZone(zoneID: zone))
            for (ids, hasAsset) in zip(sets, isAsset) {
                let records = ids.map { id in
                    let record = CKRecord(recordType: "Photo", recordID: id)
                    record["title"] = "The photo of \(id.recordName)"
                    record["place"] = 7
                    if hasAsset { record["file"] = CKAsset(fileURL: URL(fileURLWithPath: source)) }
                    return record
                }
                _ = try await database.modifyRecords(saving: records, deleting: [])
            }
        }
        func microseconds(_ ids: [CKRecord.ID]) throws -> Double {
            let start = secondsNow()
            var count = 0
            while secondsNow() - start < seconds / 8 {
                try awaiting {
                    let results = try await database.records(for: ids, desiredKeys: ["title", "place"])
                    for result in results.values { _ = try result.get() }
                }
                count += 1
            }
            return (secondsNow() - start) / Double(count) * 1e6
        }
        let figures = try alternating(rounds: rounds * 2, sets.map { ids in { try microseconds(ids) } })
        return measurement(
            "fetch of \(Self.fetchedCount) records, their 5 MB assets left out by desired keys", "µs", figures[0],
            "records without assets", figures[1], .ratioAtMost(1.1))
    }
}

extension SeededRandom {
    fileprivate func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            for place in 0..<count { buffer.initializeElement(at: place, to: UInt8(truncatingIfNeeded: next())) }
            initializedCount = count
        }
    }
}

extension RealFileSystem {
    fileprivate func write(_ bytes: [UInt8], to path: String, isSynced: Bool) throws {
        let file = try open(path, .writeOrCreate)
        defer { file.close() }
        try file.write(bytes, at: 0)
        if isSynced { try file.sync() }
    }
}
