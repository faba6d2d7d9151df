import StrataModel
import StrataTree

extension RecordFold {
    /// Returns a record's contribution to the digests (docs/format-keys.md §5) and to the other totals of its zone.
    /// Also collects its references.
    mutating func takeDigests(
        of state: [UInt8], _ zone: UInt64, _ name: UnsafeRawBufferPointer, in fork: Fork
    ) throws -> Totals {
        try state.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let header = try view.header()
            let links = try view.links()
            let name = links.longName.map { UnsafeRawBufferPointer(rebasing: bytes[$0]) } ?? name
            let record = DigestHash.hash(try names.hash(.zone, zone, in: fork), name)
            let type = try names.hash(.recordType, header.type, in: fork)
            let parentKey = try links.parent.map { try view.key($0) }
            let parent = try parentKey.map { try hash($0, in: fork) } ?? 0
            let share = try links.share.map { try hash(try view.key($0), in: fork) } ?? 0
            let parentKind: ReferenceKind = links.isParentLoose ? .looseParent : .parent
            var isOutward = parentKey.map { references.collectNew($0, parentKind) } ?? false
            var usedBytes = 0
            var loose = links.isParentLoose ? parent : 0
            let fields = try sum(
                of: try view.fields(), bytes, isOutward: &isOutward, usedBytes: &usedBytes, loose: &loose, in: fork)
            let content = DigestHash.hash(
                record,
                words: [
                    1, type.low, type.high, parent.low, parent.high, share.low, share.high, fields.low, fields.high,
                ])
            let state = try stateDigest(content, header, loose: loose, in: fork)
            return Totals(
                digests: Digests(state: state, content: content), isOutward: isOutward,
                usedBytes: min(usedBytes, FieldValue.maximumUsedBytes))
        }
    }

    /// Returns a record's contribution to the digest of the state, which the state itself does not hold.
    ///
    /// - Parameters:
    ///   - content: its contribution to the digest of the content.
    ///   - loose: the sum of its loose links.
    mutating func stateDigest(
        _ content: UInt128, _ header: RecordHeader, loose: UInt128, in fork: Fork
    ) throws -> UInt128 {
        let creator = try names.hash(.user, header.createdBy, in: fork)
        let modifier = try names.hash(.user, header.modifiedBy, in: fork)
        let device = try names.hash(.device, header.modifiedWith, in: fork)
        let state = DigestHash.hash(
            content,
            words: [
                header.version.packed, UInt64(bitPattern: header.created), UInt64(bitPattern: header.modified),
                creator.low, creator.high, modifier.low, modifier.high, device.low, device.high,
            ])
        return loose == 0 ? state : DigestHash.hash(state, words: [loose.low, loose.high])
    }

    /// Returns the sum of a record's loose links.
    mutating func looseSum(
        of view: RecordStateView, _ bytes: UnsafeRawBufferPointer, in fork: Fork
    ) throws -> UInt128 {
        let links = try view.links()
        var loose: UInt128 = 0
        if links.isParentLoose, let parent = links.parent { loose = try hash(try view.key(parent), in: fork) }
        let table = try view.fields()
        for index in 0..<table.count where try table.kind(at: index)?.element == .reference {
            let field = try names.hash(.field, UInt64(table.ordinal(at: index)), in: fork)
            _ = try hash(FieldValue(decoding: bytes, in: try table.range(at: index)), field, &loose, in: fork)
        }
        return loose
    }

    private mutating func hash(_ key: RecordKey, in fork: Fork) throws -> UInt128 {
        DigestHash.hash(try names.hash(.zone, key.zone, in: fork), text: key.name)
    }

    private mutating func sum(
        of table: FieldTable, _ bytes: UnsafeRawBufferPointer, isOutward: inout Bool, usedBytes: inout Int,
        loose: inout UInt128, in fork: Fork
    ) throws -> UInt128 {
        var sum: UInt128 = 0
        for index in 0..<table.count {
            let field = try names.hash(.field, UInt64(table.ordinal(at: index)), in: fork)
            let range = try table.range(at: index)
            usedBytes += try names.keyBytes(table.ordinal(at: index), in: fork)
            usedBytes += try FieldValue.usedBytes(of: bytes, in: range)
            if !range.isEmpty, FieldKind(rawValue: bytes[range.lowerBound]).element == .reference {
                let value = try FieldValue(decoding: bytes, in: range)
                if references.collectNew(value) { isOutward = true }
                sum &+= try hash(value, field, &loose, in: fork)
            } else {
                sum &+= DigestHash.hash(field, UnsafeRawBufferPointer(rebasing: bytes[range]))
            }
        }
        return sum
    }

    /// Returns the hash of a reference by names, since ordinals differ between stores. Adds loose ones to `loose`.
    private mutating func hash(
        _ value: FieldValue, _ field: UInt128, _ loose: inout UInt128, in fork: Fork
    ) throws -> UInt128 {
        switch value {
        case .reference(let reference):
            let target = try hash(reference.target, in: fork)
            if reference.isLoose { loose &+= DigestHash.hash(field, words: [target.low, target.high]) }
            return DigestHash.hash(
                field,
                words: [UInt64(value.kind.rawValue), UInt64(reference.action.rawValue), target.low, target.high])
        case .list(let list):
            var seed = DigestHash.hash(field, words: [UInt64(value.kind.rawValue)])
            for element in list.elements { seed = try hash(element, seed, &loose, in: fork) }
            return seed
        default: return 0
        }
    }

    /// Returns the bytes that a record counts for its user's quota (docs/rules.md §6).
    mutating func usedBytes(
        of view: RecordStateView, _ bytes: UnsafeRawBufferPointer, in fork: Fork
    ) throws -> Int {
        let table = try view.fields()
        var sum = 0
        for index in 0..<table.count {
            sum += try names.keyBytes(table.ordinal(at: index), in: fork)
            sum += try FieldValue.usedBytes(of: bytes, in: try table.range(at: index))
        }
        return min(sum, FieldValue.maximumUsedBytes)
    }
}
