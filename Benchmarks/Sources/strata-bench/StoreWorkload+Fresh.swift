import CloudKit

extension StoreWorkload {
    /// What a test pays for a store of its own: opening it in memory, a container, a zone, and the first save.
    func fresh(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("store: fresh stores in memory")
        let count = size.isQuick ? 50 : 400
        var (whole, opening): ([Double], [Double]) = ([], [])
        for _ in 0..<max(3, size.rounds) {
            var openingSeconds = 0.0
            let start = secondsNow()
            for _ in 0..<count { openingSeconds += try Self.useFreshStore() }
            whole.append((secondsNow() - start) / Double(count) * 1e3)
            opening.append(openingSeconds / Double(count) * 1e3)
        }
        return [
            Measurement(
                workload: Self.name, metric: "fresh store in memory, container, zone and first save", unit: "ms",
                strata: whole, bar: .atMost(2)),
            Measurement(
                workload: Self.name, metric: "CloudStore.inMemory()", unit: "ms", strata: opening, bar: .atMost(1)),
        ]
    }

    /// Returns the seconds that opening took.
    private static func useFreshStore() throws -> Double {
        let start = secondsNow()
        let store = try CloudStore.inMemory()
        let seconds = secondsNow() - start
        let database = store.container(user: "anna", device: "phone").privateCloudDatabase
        try awaiting {
            let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
            let id = CKRecord.ID(recordName: "first", zoneID: zone.zoneID)
            let note = CKRecord(recordType: "Note", recordID: id)
            note["text"] = "Buy milk"
            try await database.save(note)
        }
        try store.close()
        return seconds
    }
}
