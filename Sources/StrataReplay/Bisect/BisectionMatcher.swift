import StrataModel
import StrataQuery
import StrataViews

/// Tests encoded records of one type against a predicate.
struct BisectionMatcher {
    let context: QueryContext
    /// The fields that decide the result, in ascending order.
    let fields: [UInt32]
    private let matcher: RecordMatcher

    /// - Throws: ``StrataError`` for a predicate that cannot be tested on one record at a time.
    init(_ predicate: PredicateTree, _ context: QueryContext) throws {
        self.context = context
        matcher = try RecordMatcher(predicate, context)
        guard !matcher.asksOtherRecords else {
            throw StrataError(
                .invalidArgument, "A predicate that reads other records cannot be bisected.",
                .init(expected: "keys without dots"))
        }
        fields = try matcher.fields()
    }

    /// - Parameter state: nil if there is no record.
    func holds(zone: UInt64, name: [UInt8], _ state: [UInt8]?) throws -> Bool {
        guard let state else { return false }
        return try state.withUnsafeBytes { try holds(zone: zone, name: name, $0) }
    }

    func holds(zone: UInt64, name: [UInt8], _ state: UnsafeRawBufferPointer) throws -> Bool {
        guard try RecordStateView(state, in: 0..<state.count).type() == context.type else { return false }
        return try RecordKey.viewKey(zone: zone, name: name).withUnsafeBytes {
            try matcher.holds(key: $0, state: state)
        }
    }
}
