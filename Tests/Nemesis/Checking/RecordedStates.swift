import StrataModel
import StrataStore

/// The versions of every record, as the log and the history give them.
struct RecordedStates {
    private struct Change {
        var offset: UInt64
        /// The operation that saved it; nil if it was deleted.
        var operation: Int?
    }

    private let history: RecordedOperations
    /// The changes of each key, in order.
    private var changes: [[Change]]
    /// The changes of each zone's records, by the key.
    private var zones: [String: [(offset: UInt64, key: Int)]] = [:]
    private let numbers: [Int]

    init(_ history: RecordedOperations, _ numbers: [Int]) {
        (self.history, self.numbers) = (history, numbers)
        changes = Array(repeating: [], count: history.keys.count)
        for (index, number) in numbers.enumerated() {
            guard let place = history.index(of: number) else { continue }
            let operation = history.operations[place]
            let offset = UInt64(index) + 1
            changes[operation.key].append(
                Change(offset: offset, operation: operation.kind == .delete ? nil : place))
            zones[zone(of: operation.key), default: []].append((offset, operation.key))
        }
    }

    private func zone(of key: Int) -> String { String(history.keys[key].prefix { $0 != "/" }) }

    /// Returns the index of the last change up to an offset; nil if there is none.
    private func last(_ key: Int, through offset: UInt64) -> Int? {
        let list = changes[key]
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].offset <= offset { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }

    /// Checks that each save is based on the version before it, and that each counter counts.
    func checkExpectations(_ tally: Tally) {
        for (key, list) in changes.enumerated() {
            var before: Change?
            for change in list {
                defer { before = change }
                guard let place = change.operation else { continue }
                let operation = history.operations[place]
                let expected = before?.operation == nil ? 0 : before?.offset ?? 0
                if Version(packed: operation.base).offset != expected {
                    tally.violation(
                        "commit \(change.offset) saves \(history.keys[key]) over \(expected), not over the version "
                            + "\(Version(packed: operation.base).offset) that it asked for")
                }
                let count = before?.operation.map { history.operations[$0].count } ?? 0
                if operation.kind == .count, operation.count != count + 1 {
                    tally.violation("commit \(change.offset) counts from \(count) to \(operation.count)")
                }
            }
        }
    }

    /// Checks what was read, and the reasons of refusals.
    func checkReads(_ tally: Tally) {
        for operation in history.operations {
            let name = "\(operation.kind) \(operation.number) of \(history.keys[operation.key])"
            switch operation.status {
            case .found: checkRead(operation, name, tally)
            case .changes: checkFeed(operation, name, tally)
            case .changed:
                let version = Version(packed: operation.version).offset
                guard let last = last(operation.key, through: version), changes[operation.key][last].offset == version,
                    version != Version(packed: operation.base).offset
                else {
                    tally.violation("\(name) was refused because of \(version), which is no other version")
                    continue
                }
                checkIsRecent(last, operation, name, tally)
            case .missing, .none: checkIsMissing(operation, name, tally)
            default: break
            }
        }
    }

    private func checkRead(_ operation: RecordedOperations.Operation, _ name: String, _ tally: Tally) {
        let change = last(operation.key, through: operation.offset).map { changes[operation.key][$0] }
        let saved = change?.operation.map { history.operations[$0] }
        let expected = saved == nil ? 0 : change?.offset ?? 0
        let version = Version(packed: operation.version).offset
        guard version == expected, operation.value == Int64(saved?.number ?? -1),
            operation.readCount == saved?.count ?? 0
        else {
            return tally.violation(
                "\(name) at \(operation.offset) found version \(version) with \(operation.value), not \(expected)")
        }
    }

    /// Checks that a version was not replaced by a commit that was acknowledged before the request.
    private func checkIsRecent(
        _ index: Int, _ operation: RecordedOperations.Operation, _ name: String, _ tally: Tally
    ) {
        let list = changes[operation.key]
        if index + 1 < list.count, list[index + 1].offset <= operation.bound {
            tally.violation("\(name) was refused on a state before \(operation.bound), which was acknowledged")
        }
    }

    private func checkIsMissing(_ operation: RecordedOperations.Operation, _ name: String, _ tally: Tally) {
        let list = changes[operation.key]
        let first = last(operation.key, through: operation.bound)
        let wasMissing = first.map { list[$0].operation == nil } ?? true
        let isDeletedLater = list[(first.map { $0 + 1 } ?? 0)...].contains { $0.operation == nil }
        if !wasMissing, !isDeletedLater { tally.violation("\(name) was answered as if there were no such record") }
    }

    private func checkFeed(_ operation: RecordedOperations.Operation, _ name: String, _ tally: Tally) {
        let list = zones[history.keys[operation.key]] ?? []
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle].offset <= operation.base { low = middle + 1 } else { high = middle }
        }
        var newest: Set<Int> = []
        var end = low
        while end < list.count, list[end].offset <= operation.offset {
            newest.insert(list[end].key)
            end += 1
        }
        var (count, sum) = (0, 0 as UInt64)
        for key in newest {
            guard let index = last(key, through: operation.offset), changes[key][index].operation != nil else {
                continue
            }
            (count, sum) = (count + 1, sum &+ changes[key][index].offset)
        }
        if operation.value != Int64(count) || operation.version != sum {
            tally.violation(
                "\(name) found \(operation.value) changes after \(operation.base) up to \(operation.offset), "
                    + "not \(count)"
            )
        }
    }

    /// Checks that a store has the last version of every record, with its photo.
    func checkRecords(of store: Store, _ tally: Tally) throws {
        let (snapshot, actor) = (store.snapshot(), Actor(user: "anna"))
        for (key, list) in changes.enumerated() {
            guard let last = list.last else { continue }
            let parts = history.keys[key].split(separator: "/")
            let id = RecordID(String(parts[1]), zone: ZoneID(String(parts[0])))
            let record = try? snapshot.record(id, in: StoreWorker.database, as: actor)
            let number = last.operation.map { history.operations[$0].number }
            let found = try record.flatMap { try StoreWorker.number("n", of: $0) }
            if found != number.map(Int64.init) || record.map({ $0.version.offset != last.offset }) ?? false {
                tally.violation("\(history.keys[key]) is of \(found ?? -1) at the end, not of \(number ?? -1)")
            }
            let copy = (store.path ?? "") + ".photo"
            if let record, try StoreWorker.photoState(of: record, in: store, copy: copy) == "bad" {
                tally.violation("the photo of \(history.keys[key]) is lost")
            }
        }
    }
}
