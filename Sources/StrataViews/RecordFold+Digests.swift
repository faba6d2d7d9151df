import StrataModel
import StrataTree

/// What a record contributes to the digests (docs/format-keys.md §5).
struct RecordDigest {
    let names: NameCache
    let fork: Fork

    init(_ names: NameCache, _ fork: Fork) {
        self.names = names
        self.fork = fork
    }

    /// - Parameter name: the record's.
    func digests(
        of state: RecordStateView, in bytes: UnsafeRawBufferPointer, zone: UInt64, name: UnsafeRawBufferPointer
    ) throws -> Digests {
        let header = try state.header()
        let record = DigestHash.hash(try names.hash(4, zone, in: fork), name)
        let links = try state.links()
        let type = try names.hash(5, header.type, in: fork)
        let (parent, share) = (try link(links.parent, state), try link(links.share, state))
        let fields = try fields(try state.fields(), bytes)
        let content = DigestHash.hash(
            record,
            words: [
                1, type.low, type.high, parent.low, parent.high, share.low, share.high, fields.low, fields.high,
            ])
        let (creator, modifier) = (
            try names.hash(1, header.createdBy, in: fork), try names.hash(1, header.modifiedBy, in: fork)
        )
        let state = DigestHash.hash(
            content,
            words: [
                header.version.packed, UInt64(bitPattern: header.created), UInt64(bitPattern: header.modified),
                creator.low, creator.high, modifier.low, modifier.high,
            ])
        return Digests(state: state, content: content)
    }

    private func link(_ range: Range<Int>?, _ state: RecordStateView) throws -> UInt128 {
        guard let range else { return 0 }
        return try hash(try state.key(range))
    }

    private func hash(_ key: RecordKey) throws -> UInt128 {
        DigestHash.hash(try names.hash(4, key.zone, in: fork), text: key.name)
    }

    private func fields(_ table: FieldTable, _ bytes: UnsafeRawBufferPointer) throws -> UInt128 {
        var sum: UInt128 = 0
        for index in 0..<table.count {
            let field = try names.hash(6, UInt64(table.ordinal(at: index)), in: fork)
            let range = try table.range(at: index)
            if try table.kind(at: index)?.element == .reference {
                sum &+= try references(FieldValue(decoding: bytes, in: range), field)
            } else {
                sum &+= DigestHash.hash(field, UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        return sum
    }

    /// By names: a zone has another ordinal in another store.
    private func references(_ value: FieldValue, _ field: UInt128) throws -> UInt128 {
        switch value {
        case .reference(let reference):
            let target = try hash(reference.target)
            return DigestHash.hash(
                field,
                words: [UInt64(value.kind.rawValue), UInt64(reference.action.rawValue), target.low, target.high])
        case .list(let list):
            var seed = DigestHash.hash(field, words: [UInt64(value.kind.rawValue)])
            for element in list.elements { seed = try references(element, seed) }
            return seed
        default: return 0
        }
    }
}
