import StrataModel

extension RequestGenerator {
    /// Keys that are mostly saved with values of one kind.
    private static let keys: [(name: String, kind: FieldKind)] = [
        ("title", .string), ("count", .int64), ("ratio", .double), ("day", .date), ("blob", .data),
        ("place", .location), ("link", .reference), ("owner", .reference), ("owner", .reference), ("file", .asset),
        ("tags", FieldKind.string.list), ("numbers", FieldKind.int64.list), ("marks", FieldKind.double.list),
        ("owners", FieldKind.reference.list), ("secret", .sealed),
    ]
    private static let illegalKeys = ["", "_key", "2nd", "na\u{EF}ve", String(repeating: "k", count: 256)]
    private static let kinds = keys.map(\.kind) + [.emptyList]

    mutating func drawFields(_ draft: inout Draft, _ record: RecordKey, _ zone: String) -> [FieldChange] {
        var fields: [FieldChange] = []
        for _ in 0..<dice.number(below: 5) {
            var (name, kind) = dice.pick(Self.keys)
            if kind == .sealed, draft.database.scope == .public, !dice.chance(10) { continue }
            if dice.chance(12) {
                name = "wild\(dice.number(below: 12))"
                kind = dice.pick(Self.kinds)
            }
            if dice.chance(2) { kind = dice.pick(Self.kinds) }
            if kind.isList, dice.chance(10) { kind = .emptyList }
            if dice.chance(1) { name = dice.pick(Self.illegalKeys) }
            let ordinal = draft.names.ordinal(ofKey: name)
            guard !fields.contains(where: { $0.field == ordinal }) || dice.chance(8) else { continue }
            let isRemoved = dice.chance(12)
            let value = drawValue(kind, &draft, record, zone)
            fields.append(FieldChange(ordinal, isRemoved ? nil : value))
        }
        return fields.sorted { $0.field < $1.field }
    }

    private mutating func drawValue(
        _ kind: FieldKind, _ draft: inout Draft, _ record: RecordKey, _ zone: String
    ) -> FieldValue {
        if kind.isList {
            guard kind != .emptyList else { return .list(.empty) }
            let element = drawScalar(kind.element, &draft, record, zone)
            let others = (0..<dice.number(below: 3)).map { _ in drawScalar(element.kind, &draft, record, zone) }
            let elements = [element] + others.filter { $0.kind == element.kind }
            return .list((try? FieldList(elements)) ?? .empty)
        }
        return drawScalar(kind, &draft, record, zone)
    }

    private mutating func drawScalar(
        _ kind: FieldKind, _ draft: inout Draft, _ record: RecordKey, _ zone: String
    ) -> FieldValue {
        let number = dice.number(below: 50)
        switch kind {
        case .string: return .string(dice.pick(["red", "green", "gr\u{FC}n", ""]))
        // Now and then the other kind of number, whole or not.
        case .int64:
            return dice.chance(85) ? .int64(Int64(number)) : .double(Double(number) + (dice.chance(50) ? 0.5 : 0))
        case .double: return dice.chance(85) ? .double(Double(number) / 4) : .int64(Int64(number))
        case .date: return .date(Double(number))
        case .data: return .data(Array(repeating: 7, count: number / 5))
        case .location: return .location(.init(latitude: Double(number), longitude: 8))
        case .asset: return .asset(.init(hash: ContentHash(first: UInt128(number), second: 1), size: 9))
        case .sealed: return Self.encrypted(number)
        default: return .reference(drawReference(&draft, record, zone))
        }
    }

    static func encrypted(_ number: Int) -> FieldValue {
        let bytes = Array(repeating: UInt8(number), count: 24)
        return .sealed(.init(keyID: 1, nonce: bytes, ciphertext: Array(bytes.prefix(17))))
    }

    private mutating func drawReference(
        _ draft: inout Draft, _ record: RecordKey, _ zone: String
    ) -> FieldValue.Reference {
        let stored = draft.storedNames(zone)
        var target = RecordKey(zone: record.zone, name: dice.pick(Self.recordNames))
        // Few targets, so that some have as many owned records as they may.
        if dice.chance(60) { target.name = dice.pick(["a", "b"]) }
        if dice.chance(20), !stored.isEmpty { target.name = dice.pick(stored) }
        if dice.chance(2) { target.zone = draft.names.ordinal(of: ZoneID(dice.pick(Self.zones))) }
        if dice.chance(1) { target.name = String(repeating: "t", count: 256) }
        return .init(target, action: dice.chance(60) ? .deleteSelf : .none)
    }

    // MARK: Sizes at the limits

    private func bytes(_ fields: [FieldChange], _ names: RequestNames) -> Int {
        fields.reduce(0) { $0 + (names.key($1.field)?.utf8.count ?? 0) + ($1.value?.countedBytes ?? 0) }
    }

    /// Gives the save a title with which the record is as large as it may be, or a byte larger.
    mutating func fillToRecordBytes(
        _ save: inout ModifyRecordsRequest.Save, _ stored: ReferenceRecord?, _ draft: inout Draft
    ) {
        // The model does not count the state of a share.
        guard stored?.sharing == nil, save.sharing == nil else { return }
        let title = draft.names.ordinal(ofKey: "title")
        save.fields.removeAll { $0.field == title }
        var sizes = (stored?.fields ?? [:]).mapValues(\.countedBytes)
        for change in save.fields {
            guard let key = draft.names.key(change.field) else { continue }
            sizes[ReferenceName(key)] = change.value?.countedBytes
        }
        sizes["title"] = 0
        let size = sizes.reduce(0) { $0 + $1.key.text.utf8.count + $1.value }
        let count = limits.recordBytes + dice.number(below: 2) - size
        guard count >= 0 else { return }
        save.fields.append(FieldChange(title, .string(String(repeating: "r", count: count))))
        save.fields.sort { $0.field < $1.field }
    }

    /// Gives the saves titles with which the request is as large as it may be, or a byte larger.
    mutating func fillToRequestBytes(_ draft: inout Draft) {
        let title = draft.names.ordinal(ofKey: "title")
        let count = draft.content.saves.count
        guard count > 0 else { return }
        for index in 0..<count { draft.content.saves[index].fields.removeAll { $0.field == title } }
        let names = draft.names
        let size = draft.content.saves.reduce(0) { $0 + bytes($1.fields, names) + 5 }
        var rest = limits.requestBytes + dice.number(below: 2) - size
        guard rest >= 0 else { return }
        for index in 0..<count {
            let share = index == count - 1 ? rest : rest / (count - index)
            rest -= share
            let change = FieldChange(title, .string(String(repeating: "q", count: share)))
            draft.content.saves[index].fields.append(change)
            draft.content.saves[index].fields.sort { $0.field < $1.field }
        }
    }
}
