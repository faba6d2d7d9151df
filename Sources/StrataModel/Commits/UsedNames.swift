/// The interned names that some payloads use or define, which are needed to print them without the earlier payloads.
///
/// ```swift
/// var names = UsedNames()
/// names.add(payload)
/// for key in names.keys { print(key.namespace, key.ordinal) }
/// ```
package struct UsedNames {
    package struct Key: Hashable, Comparable, Sendable {
        package var namespace: Namespace
        package var ordinal: UInt64

        package init(_ namespace: Namespace, _ ordinal: UInt64) {
            self.namespace = namespace
            self.ordinal = ordinal
        }

        package static func < (left: Self, right: Self) -> Bool {
            (left.namespace.rawValue, left.ordinal) < (right.namespace.rawValue, right.ordinal)
        }
    }

    /// The limit below which ordinals are looked up without hashing. Ordinals are dense, so larger ones are rare.
    private static let directOrdinals: UInt64 = 1 << 16

    private var direct = Array(repeating: [Bool](), count: Namespace.count)
    private var others: Set<Key> = []
    private var brought: [Key: InternedName] = [:]

    package init() {}

    /// Adds the names of a payload, as far as it can be read.
    package mutating func add(_ payload: UnsafeRawBufferPointer) { try? addAll(payload) }

    private mutating func addAll(_ payload: UnsafeRawBufferPointer) throws {
        var walker = try EventWalker(payload)
        let header = try walker.header()
        insert(.user, header.user)
        insert(.device, header.device)
        while let event = try walker.next() {
            // An unreadable event does not hide the others.
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
            insert(.zone, view.zone)
            insert(.recordType, view.type)
            let fields = try view.fields
            for index in 0..<fields.count { insert(.field, UInt64(fields.ordinal(at: index))) }
        case .recordDeleted, .recordErased, .sharedRecord:
            insert(.zone, try next())
            insert(.recordType, try next())
        case .zoneSaved, .zoneDeleted:
            insert(.zone, try next())
            insert(.database, try next())
        case .subscriptionSaved, .subscriptionDeleted:
            insert(.database, try next())
            insert(.user, try next())
        case .schemaChanged:
            let change = try SchemaChangedEvent(from: &reader)
            insert(.recordType, change.type)
            for field in change.fields { insert(.field, UInt64(field.field)) }
        case .shareSaved:
            _ = try next()
            insert(.zone, try next())
        case .memberChanged:
            insert(.user, try next())
            _ = try next()
            insert(.zone, try next())
        case .databaseCreated: insert(.database, try next())
        case .userChanged, .userRecordNamed: insert(.user, try next())
        case .deviceSeen, .notificationDelivered: insert(.device, try next())
        case .clientTokenKept:
            insert(.zone, try next())
            insert(.device, try next())
        default: break
        }
    }

    private mutating func add(_ interned: InternedName) {
        let key = Key(interned.name.namespace, interned.ordinal)
        brought[key] = interned
        insert(key.namespace, key.ordinal)
    }

    private mutating func insert(_ namespace: Namespace, _ ordinal: UInt64) {
        guard ordinal > 0 else { return }
        guard ordinal < Self.directOrdinals else {
            others.insert(Key(namespace, ordinal))
            return
        }
        let (space, index) = (namespace.index, Int(ordinal))
        if index >= direct[space].count {
            direct[space].append(contentsOf: repeatElement(false, count: index + 1 - direct[space].count))
        }
        direct[space][index] = true
    }

    /// The keys in use, sorted by namespace and ordinal.
    package var keys: [Key] {
        var keys = Array(others)
        for namespace in Namespace.allCases {
            let used = direct[namespace.index]
            for ordinal in used.indices where used[ordinal] {
                keys.append(Key(namespace, UInt64(ordinal)))
            }
        }
        return keys.sorted()
    }

    /// Returns the names of the keys, in their order, with the names that they refer to: for a zone, its database and
    /// its owner.
    ///
    /// - Parameter name: Looks up a name that the payloads do not define; returns nil for an unknown one.
    package mutating func resolved(_ name: (Key) throws -> InternedName?) rethrows -> [InternedName] {
        var found: [Key: InternedName] = [:]
        var waiting = keys
        while let key = waiting.popLast() {
            guard found[key] == nil, let interned = try brought[key] ?? name(key) else { continue }
            found[key] = interned
            switch interned.name {
            case .user, .recordType, .field: break
            case .device(let user, _): waiting.append(Key(.user, user))
            case .database(_, let owner): waiting.append(Key(.user, owner))
            case .zone(let database, let owner, _): waiting += [Key(.user, owner), Key(.database, database)]
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }
}
