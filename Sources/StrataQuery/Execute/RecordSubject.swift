import StrataModel
import StrataTree
import StrataViews

/// An encoded record as the subject of a predicate.
struct RecordSubject: PredicateSubject {
    private static let maximumKeyPathLength = 8

    let scene: QueryContext
    let key: UnsafeRawBufferPointer
    let view: RecordStateView
    let bytes: UnsafeRawBufferPointer
    let failure: PredicateFailure

    func predicateValue(forKey key: String) -> PredicateValue? {
        failure.answering { try value(at: key.split(separator: ".").map(String.init)[...]) }
    }

    var searchedTexts: [String] {
        scene.searchedFields.compactMap { field in failure.answering { try value(of: field)?.text } }
    }

    /// Returns the value at a key path. Keys after the first belong to the records referred to.
    private func value(at path: ArraySlice<String>) throws -> PredicateValue? {
        guard let first = path.first, let subject = try scene.subject(of: first) else { return nil }
        let rest = path.dropFirst()
        if rest.isEmpty { return try value(of: subject) }
        guard path.count <= Self.maximumKeyPathLength else { return nil }
        // A missing list is not an empty one: no condition holds for all of its elements (B129).
        if case .field(let field) = subject, try view.fields().value(of: field.field) == nil { return nil }
        let values = try targets(of: subject).compactMap { try value(at: rest, ofTarget: $0) }
        return subject.kind.isList ? .list(values) : values.first
    }

    private func value(at path: ArraySlice<String>, ofTarget target: RecordKey) throws -> PredicateValue? {
        if let visible = scene.visible, !(try visible.includes(target, in: scene.trees)) { return nil }
        var key = KeyWriter()
        key.append(number: target.zone)
        key.append(lastRecordName: target.name)
        return try key.bytes.withUnsafeBytes { key in
            try scene.trees.get(ViewTree.records, key) { state in
                let view = try RecordStateView(state, in: 0..<state.count)
                try view.require(name: target.name)
                if let mayRead = scene.mayRead, !(try mayRead(view.header())) { return nil }
                // Its type may declare the fields differently, so their stored kinds are used.
                return try RecordSubject(scene: scene, key: key, view: view, bytes: state, failure: failure)
                    .foreignValue(at: path)
            }
        } ?? nil
    }

    private func foreignValue(at path: ArraySlice<String>) throws -> PredicateValue? {
        guard let name = path.first else { return nil }
        let rest = path.dropFirst()
        if let system = SystemField(name) {
            if rest.isEmpty { return try value(of: .system(system)) }
            return try targets(of: .system(system)).first.flatMap { try value(at: rest, ofTarget: $0) }
        }
        guard let field = try scene.names.fieldOrdinal(name) else { return nil }
        if rest.isEmpty { return try value(of: field) }
        guard let value = try view.fields().value(of: field) else { return nil }
        let values = try Self.targets(of: value).compactMap { try self.value(at: rest, ofTarget: $0) }
        return value.kind.isList ? .list(values) : values.first
    }

    private func targets(of subject: QuerySubject) throws -> [RecordKey] {
        switch subject {
        case .field(let field): try view.fields().value(of: field.field).map(Self.targets) ?? []
        case .system(.parent): try view.links().parent.map { [try view.key($0)] } ?? []
        case .system: []
        }
    }

    private static func targets(of value: FieldValue) -> [RecordKey] {
        switch value {
        case .reference(let reference): [reference.target]
        case .list(let list): list.elements.flatMap(targets)
        default: []
        }
    }

    private func value(of field: UInt32) throws -> PredicateValue? {
        try view.fields().value(of: field).map { try PredicateValue($0, scene.names) }
    }

    func value(of subject: QuerySubject) throws -> PredicateValue? {
        switch subject {
        case .field(let field): return try value(of: field.field)
        case .system(.creationDate): return .date(EngineDate.seconds(view.created))
        case .system(.modificationDate): return .date(EngineDate.seconds(try view.header().modified))
        case .system(.creatorUserRecordID): return try user(try view.header().createdBy)
        case .system(.lastModifiedUserRecordID): return try user(try view.header().modifiedBy)
        case .system(.parent): return try link(try view.links().parent)
        case .system(.share): return try link(try view.links().share)
        case .system(.recordID):
            var reader = KeyReader(key)
            let zone = try reader.readNumber()
            let name = try view.name(keyName: try reader.readLastText())
            return .reference(.init(RecordKey(zone: zone, name: name), zoneName: try scene.names.zoneName(zone)))
        }
    }

    private func user(_ ordinal: UInt64) throws -> PredicateValue? {
        guard ordinal != 0 else { return nil }
        let name = try scene.names.userRecordName(ordinal)
        return .reference(.init(recordName: name, zoneName: ZoneID.defaultName, ownerName: ""))
    }

    private func link(_ range: Range<Int>?) throws -> PredicateValue? {
        guard let range else { return nil }
        let target = try view.key(range)
        return .reference(.init(target, zoneName: try scene.names.zoneName(target.zone)))
    }
}

extension PredicateValue.Target {
    /// Creates a target without an owner, as for all zones of the queried database.
    init(_ key: RecordKey, zoneName: String) {
        self.init(recordName: key.name, zoneName: zoneName, ownerName: "")
    }
}

extension PredicateValue {
    init(_ value: FieldValue, _ names: any QueryNames) throws {
        switch value {
        case .string(let text): self = .string(text)
        case .int64(let number): self = .int64(number)
        case .double(let number): self = .double(number)
        case .date(let seconds): self = .date(seconds)
        case .data(let bytes): self = .data(bytes)
        case .location(let place): self = .location(latitude: place.latitude, longitude: place.longitude)
        case .reference(let reference):
            self = .reference(.init(reference.target, zoneName: try names.zoneName(reference.target.zone)))
        case .list(let list): self = .list(try list.elements.map { try PredicateValue($0, names) })
        case .asset, .sealed: self = .opaque
        }
    }
}
