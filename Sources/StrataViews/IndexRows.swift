import StrataModel
import StrataTree

/// Makes the rows that a record has in the indexes (docs/format-keys.md §6).
struct IndexRows {
    /// Longer texts are cut: rows that share so much are told apart by the record itself.
    static let maximumTextBytes = 200

    /// Kinds of values in the order of their rows.
    private enum Kind: UInt8 {
        case none = 1, number, double, date, text, reference, bytes
    }

    private(set) var keys: [[UInt8]] = []
    private var database: UInt64 = 0
    private var zone: UInt64 = 0
    private var name: [UInt8] = []

    mutating func start(database: UInt64, zone: UInt64, name: UnsafeRawBufferPointer) {
        keys.removeAll(keepingCapacity: true)
        self.database = database
        self.zone = zone
        self.name = [UInt8](name)
    }

    mutating func collect(_ index: IndexID, _ state: RecordStateView, _ bytes: UnsafeRawBufferPointer) throws {
        switch index.subject {
        case .membership: add(index) { $0.append(byte: Kind.none.rawValue) }
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
        case .parent: if let parent = try state.links().parent { addReference(index, try state.key(parent)) }
        default:
            guard let field = index.subject.field, let range = try state.fields().range(of: field), !range.isEmpty
            else { return }
            try add(index, FieldValue(decoding: bytes, in: range))
        }
    }

    private mutating func add(_ index: IndexID, _ value: FieldValue) throws {
        if index.form == .words {
            for word in Self.words(value) { add(index, .text) { $0.append(text: word.prefix(Self.maximumTextBytes)) } }
            return
        }
        switch value {
        case .int64(let number): add(index, .number) { $0.append(int64: number) }
        case .double(let number): add(index, .double) { $0.append(double: number) }
        case .date(let date): add(index, .date) { $0.append(double: date) }
        case .string(let text): add(index, .text) { $0.append(text: text.utf8.prefix(Self.maximumTextBytes)) }
        case .data(let data): add(index, .bytes) { $0.append(text: data.prefix(Self.maximumTextBytes)) }
        case .reference(let reference): addReference(index, reference.target)
        case .list(let list): for element in list.elements { try add(index, element) }
        // Places are found by other means; assets and encrypted values are not found by what they hold.
        case .location, .asset, .sealed: break
        }
    }

    /// Runs of letters and digits, in lower case.
    static func words(_ value: FieldValue) -> Set<[UInt8]> {
        switch value {
        case .string(let text):
            Set(text.lowercased().split { !$0.isLetter && !$0.isNumber }.map { [UInt8]($0.utf8) })
        case .list(let list): list.elements.reduce(into: []) { $0.formUnion(words($1)) }
        default: []
        }
    }

    private mutating func addReference(_ index: IndexID, _ target: RecordKey) {
        add(index, .reference) { key in
            key.append(number: target.zone)
            key.append(text: target.name.utf8.prefix(Self.maximumTextBytes))
        }
    }

    private mutating func add(_ index: IndexID, _ kind: Kind, _ value: (inout KeyWriter) -> Void) {
        add(index) { key in
            key.append(byte: kind.rawValue)
            value(&key)
        }
    }

    private mutating func add(_ index: IndexID, _ value: (inout KeyWriter) -> Void) {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: index.type)
        key.append(number: index.subject.rawValue)
        key.append(byte: index.form.rawValue)
        value(&key)
        key.append(number: zone)
        key.append(lastText: name)
        keys.append(key.bytes)
    }
}
