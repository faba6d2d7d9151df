import StrataModel

/// Counts refusals and conflicts, with what `strata stats` prints of them.
struct RefusalCounts {
    /// The number of requests refused as a whole, by error code.
    private(set) var requests: [UInt64: UInt64] = [:]
    /// The number of refused items by error code, including those of partly accepted requests.
    private(set) var items: [UInt64: UInt64] = [:]
    /// Items that would have overwritten changes that the client had not seen.
    private(set) var conflicts: UInt64 = 0

    mutating func add(_ event: RequestRefusedEvent) {
        requests[event.code, default: 0] += 1
        for culprit in event.culprits { addItem(culprit.code) }
        if event.culprits.isEmpty, event.code == Refusal.Code.serverRecordChanged.rawValue { conflicts += 1 }
    }

    /// Counts the refused items of a request that was accepted in part.
    mutating func add(_ shape: RequestShape) {
        for item in shape.leftOut {
            if let code = item.refusal?.code { addItem(code.rawValue) }
        }
    }

    private mutating func addItem(_ code: UInt64) {
        items[code, default: 0] += 1
        if code == Refusal.Code.serverRecordChanged.rawValue { conflicts += 1 }
    }

    static let shape = Shape<Self>("Refusals that are counted") {
        Key("refusedRequests", "errors of requests that were refused completely", each: error) {
            $0.requests.sorted { $0.key < $1.key }
        }
        Key("refusedItems", "the same for items, also of requests that were accepted in part", each: error) {
            $0.items.sorted { $0.key < $1.key }
        }
        Key("conflicts", "items that would have overwritten an unseen version") { $0.conflicts }
    }

    private static let error = Shape<(key: UInt64, value: UInt64)>("An error that is counted") {
        Key("code", "its number, as `CKError` has it") { $0.key }
        Key("name", "in words") { "\(Refusal.Code(rawValue: $0.key))" }
        Key("count", "how often") { $0.value }
    }

    func write(to output: Output) throws {
        if requests.isEmpty, items.isEmpty { return }
        output.write("\n")
        try output.writeLine("refused", .heading)
        func rows(_ what: String, _ counts: [UInt64: UInt64]) -> [[String]] {
            counts.sorted { $0.key < $1.key }.map { [what, "\($0.value)", RequestRefusedEvent.text(ofCode: $0.key)] }
        }
        try Columns.write(rows("requests", requests) + rows("items", items), indentation: 2, to: output)
        try output.writeLine("  \(conflicts.counted("conflict"))")
    }
}
