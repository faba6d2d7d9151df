/// The interned names that some payloads use or bring: what is needed to print them without those in front.
///
/// ```swift
/// var names = UsedNames()
/// names.add(payload)
/// for key in names.keys { print(key.namespace, key.ordinal) }
/// ```
public struct UsedNames {
    public struct Key: Hashable, Sendable {
        /// As on disk (docs/format.md §8).
        public var namespace: UInt8
        public var ordinal: UInt64

        public init(_ namespace: UInt8, _ ordinal: UInt64) {
            self.namespace = namespace
            self.ordinal = ordinal
        }
    }

    /// Ordinals are dense, so that most need no hashing; those beyond are rare.
    private static let directOrdinals: UInt64 = 1 << 16
    private static let namespaces = 6

    private var direct = Array(repeating: [Bool](), count: namespaces + 1)
    private var others: Set<Key> = []
    private var brought: [Key: InternedName] = [:]

    public init() {}

    /// Adds the names of a payload; what is no envelope, or of a later version, has none that could be told.
    public mutating func add(_ payload: UnsafeRawBufferPointer) { try? addAll(payload) }

    private mutating func addAll(_ payload: UnsafeRawBufferPointer) throws {
        var walker = try EventWalker(payload)
        let header = try walker.header()
        insert(1, header.user)
        insert(2, header.device)
        while let event = try walker.next() {
            // One event that cannot be read does not hide the others.
            try? add(event.kind, payload, event.body)
        }
    }

    private mutating func add(_ kind: EventKind, _ payload: UnsafeRawBufferPointer, _ body: Range<Int>) throws {
        var reader = ByteReader(payload, in: body)
        func next() throws -> UInt64 { try reader.readVarint("an ordinal") }
        switch kind {
        case .nameInterned: add(try InternedName(decoding: ArraySlice(UnsafeRawBufferPointer(rebasing: payload[body]))))
        case .recordSaved:
            let view = try RecordSavedView(payload, in: body)
            insert(4, view.zone)
            insert(5, view.type)
            let fields = try view.fields
            for index in 0..<fields.count { insert(6, UInt64(fields.ordinal(at: index))) }
        case .recordDeleted, .recordErased:
            insert(4, try next())
            insert(5, try next())
        case .zoneSaved, .zoneDeleted:
            insert(4, try next())
            insert(3, try next())
        case .subscriptionSaved, .subscriptionDeleted:
            insert(3, try next())
            insert(1, try next())
        case .schemaChanged:
            let change = try SchemaChangedEvent(from: &reader)
            insert(5, change.type)
            for field in change.fields { insert(6, UInt64(field.field)) }
        case .databaseCreated: insert(3, try next())
        case .userChanged: insert(1, try next())
        case .deviceSeen, .notificationDelivered: insert(2, try next())
        case .clientTokenKept:
            insert(4, try next())
            insert(2, try next())
        default: break
        }
    }

    private mutating func add(_ interned: InternedName) {
        let key = Key(interned.name.namespace, interned.ordinal)
        brought[key] = interned
        insert(key.namespace, key.ordinal)
    }

    private mutating func insert(_ namespace: UInt8, _ ordinal: UInt64) {
        guard ordinal > 0 else { return }
        guard ordinal < Self.directOrdinals else {
            others.insert(Key(namespace, ordinal))
            return
        }
        let (space, index) = (Int(namespace), Int(ordinal))
        if index >= direct[space].count {
            direct[space].append(contentsOf: repeatElement(false, count: index + 1 - direct[space].count))
        }
        direct[space][index] = true
    }

    /// In the order of namespaces and ordinals.
    public var keys: [Key] {
        var keys = Array(others)
        for namespace in direct.indices {
            for ordinal in direct[namespace].indices where direct[namespace][ordinal] {
                keys.append(Key(UInt8(namespace), UInt64(ordinal)))
            }
        }
        return keys.sorted { ($0.namespace, $0.ordinal) < ($1.namespace, $1.ordinal) }
    }

    /// The names behind the keys, in their order, with what those refer to: of a zone its database and owner.
    ///
    /// - Parameter name: looks up one that the payloads do not bring; nil for one that nobody knows.
    public mutating func resolved(_ name: (Key) throws -> InternedName?) rethrows -> [InternedName] {
        var found: [Key: InternedName] = [:]
        var waiting = keys
        while let key = waiting.popLast() {
            guard found[key] == nil, let interned = try brought[key] ?? name(key) else { continue }
            found[key] = interned
            switch interned.name {
            case .user, .recordType, .field: break
            case .device(let user, _): waiting.append(Key(1, user))
            case .database(_, let owner): waiting.append(Key(1, owner))
            case .zone(let database, let owner, _): waiting += [Key(1, owner), Key(3, database)]
            }
        }
        return found.sorted { ($0.key.namespace, $0.key.ordinal) < ($1.key.namespace, $1.key.ordinal) }.map(\.value)
    }
}
