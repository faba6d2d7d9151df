import StrataModel

/// The state of a record, of which rows are made.
struct IndexedState {
    // Valid only as long as the bytes that it was made from.
    let bytes: UnsafeRawBufferPointer
    let view: RecordStateView
    let header: RecordHeader
    let fields: FieldTable

    init(_ bytes: UnsafeRawBufferPointer) throws {
        self.bytes = bytes
        view = try RecordStateView(bytes, in: 0..<bytes.count)
        header = try view.header()
        fields = try view.fields()
    }

    /// Returns true if two states of a record certainly have the same rows in an index.
    func hasSameRows(as other: IndexedState, in index: IndexID) throws -> Bool {
        guard header.type == other.header.type else { return false }
        return switch index.subject {
        case .membership: true
        case .created: view.created == other.view.created
        case .modified: header.modified == other.header.modified
        case .createdBy: header.createdBy == other.header.createdBy
        case .modifiedBy: header.modifiedBy == other.header.modifiedBy
        case .parent: isSame(try view.links().parent, try other.view.links().parent, of: other)
        default: isSame(try range(of: index), try other.range(of: index), of: other)
        }
    }

    /// The range of the field's value that an index shows; nil if the record has none.
    func range(of index: IndexID) throws -> Range<Int>? {
        guard let field = index.subject.field, let range = try fields.range(of: field), !range.isEmpty else {
            return nil
        }
        return range
    }

    private func isSame(_ range: Range<Int>?, _ otherRange: Range<Int>?, of other: IndexedState) -> Bool {
        guard let range, let otherRange else { return range == nil && otherRange == nil }
        return RecordSlice.compare(
            UnsafeRawBufferPointer(rebasing: bytes[range]), UnsafeRawBufferPointer(rebasing: other.bytes[otherRange]))
            == 0
    }
}
