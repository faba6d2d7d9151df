import StrataModel
import StrataStore

extension StoreWorkload {
    private static let branches = 10

    /// Deleting the root of a tree whose records are deleted with what they refer to.
    func cascades(_ progress: (String) -> Void) throws -> [Measurement] {
        let count = 10_000
        progress("store: cascades of \(count) records")
        let path = "\(folder)/cascade.strata"
        defer { removeTree(path) }
        let store = try Store.open(at: path, options: .embedded)
        defer { try? store.close() }
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        var figures: [Double] = []
        for round in 0..<(size.isQuick ? 3 : 7) {
            let first = round * count
            _ = try store.modify(tree(first, count), as: TaskRecords.actor).result.saves.map { try $0.get() }
            var body = ModifyRecordsRequest()
            body.deletes = [RecordKey(zone: 1, name: TaskRecords.name(first))]
            var names = RequestNames()
            _ = names.ordinal(of: TaskRecords.zone)
            let request = Request(database: TaskRecords.database, names: names, .modifyRecords(body))
            let start = secondsNow()
            let answer = try store.modify(request, as: TaskRecords.actor)
            figures.append((secondsNow() - start) * 1e3)
            guard answer.result.deletes == [nil],
                try answer.snapshot.zone(TaskRecords.zone, in: TaskRecords.database, as: TaskRecords.actor).recordCount
                    == 0
            else { throw BenchError(message: "the cascade left something") }
        }
        return [
            Measurement(
                workload: Self.name, metric: "cascade deleting \(count) records", unit: "ms", strata: figures,
                bar: .atMost(100))
        ]
    }

    private func tree(_ first: Int, _ count: Int) -> Request {
        var request = records.saving(first..<first + count)
        guard case .modifyRecords(var body) = request.content else { return request }
        let owner = request.names.ordinal(ofKey: "owner")
        for place in 1..<count {
            let target = RecordKey(zone: 1, name: TaskRecords.name(first + (place - 1) / Self.branches))
            body.saves[place].fields.append(
                FieldChange(owner, .reference(.init(target, action: .deleteSelf))))
        }
        request.content = .modifyRecords(body)
        return request
    }
}
