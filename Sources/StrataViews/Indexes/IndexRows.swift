import StrataModel
import StrataTree

/// Builds the rows that a record has in the indexes (docs/format-keys.md §6).
struct IndexRows {
    private(set) var keys: [[UInt8]] = []
    private var database: UInt64 = 0
    private var zone: UInt64 = 0
    private var name: [UInt8] = []

    /// - Parameter name: the name as the record's key holds it.
    mutating func start(database: UInt64, zone: UInt64, name: UnsafeRawBufferPointer) {
        keys.removeAll(keepingCapacity: true)
        self.database = database
        self.zone = zone
        self.name = [UInt8](name)
    }

    mutating func collect(_ index: IndexID, _ state: RecordStateView, _ bytes: UnsafeRawBufferPointer) throws {
        switch index.subject {
        case .membership: add(index, .none) { _ in }
        case .created: add(index, .number) { $0.append(int64: state.created) }
        case .modified:
            let modified = try state.header().modified
            add(index, .number) { $0.append(int64: modified) }
        case .createdBy:
            let user = try state.header().createdBy
            add(index, .number) { $0.append(int64: Int64(clamping: user)) }
        case .modifiedBy:
            let user = try state.header().modifiedBy
            add(index, .number) { $0.append(int64: Int64(clamping: user)) }
        case .parent:
            guard let parent = try state.links().parent else { return add(index, .none) { _ in } }
            let target = try state.key(parent)
            add(index, .reference) { $0.append(indexed: target) }
        default:
            guard let field = index.subject.field else { return }
            guard let range = try state.fields().range(of: field), !range.isEmpty else {
                // Records without a value are found too, and come first in an order.
                return index.form == .words ? () : add(index, .none) { _ in }
            }
            try add(index, FieldValue(decoding: bytes, in: range))
        }
    }

    private mutating func add(_ index: IndexID, _ value: FieldValue) throws {
        switch index.form {
        case .ordered: try addOrdered(index, value)
        case .words:
            for word in Self.words(value) { add(index, .text) { $0.append(indexedText: word.utf8) } }
        case .cells:
            guard case .location(let location) = value else { return }
            add(index, .place) { $0.append(latitude: location.latitude, longitude: location.longitude) }
        }
    }

    private mutating func addOrdered(_ index: IndexID, _ value: FieldValue) throws {
        switch value {
        case .int64(let number): add(index, .number) { $0.append(int64: number) }
        case .double(let number): add(index, .double) { $0.append(double: number) }
        case .date(let date): add(index, .date) { $0.append(double: date) }
        case .string(let text): add(index, .text) { $0.append(indexedText: text.utf8) }
        case .data(let data): add(index, .bytes) { $0.append(indexedText: data) }
        case .reference(let reference): add(index, .reference) { $0.append(indexed: reference.target) }
        case .list(let list): for element in list.elements { try addOrdered(index, element) }
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

    private mutating func add(_ index: IndexID, _ kind: IndexKey.Kind, _ value: (inout KeyWriter) -> Void) {
        var key = IndexKey.start(database, index)
        key.append(kind: kind)
        value(&key)
        name.withUnsafeBytes { key.append(recordZone: zone, keyName: $0) }
        keys.append(key.bytes)
    }
}
