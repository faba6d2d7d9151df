import StrataModel
import StrataTree

/// Builds the rows that one record has in the indexes (docs/format-keys.md §6).
struct IndexRows {
    let database: UInt64
    let zone: UInt64
    // Valid only as long as the record's key.
    /// The name, packed as the record's key holds it.
    let name: UnsafeRawBufferPointer

    func append(
        _ index: IndexID, _ state: IndexedState, isAddition: Bool, to changes: inout IndexRowChanges
    ) throws {
        func add(_ kind: IndexKey.Kind, _ value: (inout KeyWriter) -> Void) {
            append(index, kind, isAddition, &changes, value)
        }
        switch index.subject {
        case .membership: add(.none) { _ in }
        case .created: add(.number) { $0.append(int64: state.view.created) }
        case .modified: add(.number) { $0.append(int64: state.header.modified) }
        case .createdBy: add(.number) { $0.append(int64: Int64(clamping: state.header.createdBy)) }
        case .modifiedBy: add(.number) { $0.append(int64: Int64(clamping: state.header.modifiedBy)) }
        case .parent:
            guard let parent = try state.view.links().parent else { return add(.none) { _ in } }
            let target = try state.view.key(parent)
            add(.reference) { $0.append(indexed: target) }
        default:
            guard index.subject.field != nil else { return }
            guard let range = try state.range(of: index) else {
                // Records without a value are found too, and come first in an order.
                return index.form == .words ? () : add(.none) { _ in }
            }
            if index.form == .ordered, let text = state.text(in: range) {
                return add(.text) { $0.append(indexedText: text) }
            }
            try append(index, FieldValue(decoding: state.bytes, in: range), isAddition, &changes)
        }
    }

    private func append(
        _ index: IndexID, _ value: FieldValue, _ isAddition: Bool, _ changes: inout IndexRowChanges
    ) throws {
        switch index.form {
        case .ordered: try appendOrdered(index, value, isAddition, &changes)
        case .words:
            for word in Self.words(value) {
                append(index, .text, isAddition, &changes) { $0.append(indexedText: word.utf8) }
            }
        case .cells:
            guard case .location(let location) = value else { return }
            append(index, .place, isAddition, &changes) {
                $0.append(latitude: location.latitude, longitude: location.longitude)
            }
        }
    }

    private func appendOrdered(
        _ index: IndexID, _ value: FieldValue, _ isAddition: Bool, _ changes: inout IndexRowChanges
    ) throws {
        func add(_ kind: IndexKey.Kind, _ value: (inout KeyWriter) -> Void) {
            append(index, kind, isAddition, &changes, value)
        }
        switch value {
        case .int64(let number): add(.number) { $0.append(int64: number) }
        case .double(let number): add(.double) { $0.append(double: number) }
        case .date(let date): add(.date) { $0.append(double: date) }
        case .string(let text): add(.text) { $0.append(indexedText: text.utf8) }
        case .data(let data): add(.bytes) { $0.append(indexedText: data) }
        case .reference(let reference): add(.reference) { $0.append(indexed: reference.target) }
        case .list(let list):
            for element in list.elements { try appendOrdered(index, element, isAddition, &changes) }
        // Places are in cells. Assets and encrypted values are not indexed.
        case .location, .asset, .sealed: break
        }
    }

    private static func words(_ value: FieldValue) -> Set<String> {
        switch value {
        case .string(let text): SearchWords.words(in: text)
        case .list(let list): list.elements.reduce(into: []) { $0.formUnion(words($1)) }
        default: []
        }
    }

    private func append(
        _ index: IndexID, _ kind: IndexKey.Kind, _ isAddition: Bool, _ changes: inout IndexRowChanges,
        _ value: (inout KeyWriter) -> Void
    ) {
        changes.append(isAddition: isAddition) { key in
            key.append(start: index, in: database)
            key.append(number: zone)
            key.append(kind: kind)
            value(&key)
            key.append(lastText: name)
        }
    }
}

extension IndexedState {
    /// Returns a text without copying it; nil if the value is none, or no valid one.
    fileprivate func text(in range: Range<Int>) -> UnsafeRawBufferPointer? {
        guard FieldKind(rawValue: bytes[range.lowerBound]) == .string, range.count <= FieldValue.maximumBytes else {
            return nil
        }
        let text = UnsafeRawBufferPointer(rebasing: bytes[range.dropFirst()])
        return text.isUTF8 ? text : nil
    }
}
