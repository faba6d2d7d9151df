import StrataModel
import StrataTree

/// The ways in which one record refers to another. The numbers are in keys.
package enum ReferenceKind: UInt8, Sendable, CaseIterable {
    case parent = 1
    /// The record is deleted with its target.
    case deleting
    case other
    /// The loose forms of ``deleting`` and ``parent``: the record does not hold its target (docs/rules.md §5.12).
    case looseDeleting, looseParent
}

/// The rows that one record has in the tree of references, before and after a change.
struct ReferenceKeys {
    private var source: [UInt8] = []
    private var zone: UInt64 = 0
    private var old: Set<[UInt8]> = []
    private var new: Set<[UInt8]> = []

    /// - Parameters:
    ///   - source: the record's key in the records' tree.
    ///   - zone: the record's zone.
    mutating func start(source: UnsafeRawBufferPointer, zone: UInt64) {
        if !old.isEmpty { old.removeAll(keepingCapacity: true) }
        if !new.isEmpty { new.removeAll(keepingCapacity: true) }
        self.source.removeAll(keepingCapacity: true)
        self.source.append(contentsOf: source)
        self.zone = zone
    }

    /// Collects the references before the change.
    ///
    /// - Returns: true if one leads to another zone, and true if one is loose.
    mutating func collectOld(
        _ view: RecordStateView, _ bytes: UnsafeRawBufferPointer
    ) throws -> (isOutward: Bool, isLoose: Bool) {
        let links = try view.links()
        var (isOutward, isLoose) = (false, links.isParentLoose)
        if let parent = links.parent {
            let key = try view.key(parent)
            isOutward = key.zone != zone
            old.insert(row(key, links.isParentLoose ? .looseParent : .parent))
        }
        let table = try view.fields()
        for index in 0..<table.count where try table.kind(at: index)?.element == .reference {
            let value = try FieldValue(decoding: bytes, in: try table.range(at: index))
            for reference in Self.references(value) {
                isOutward = isOutward || reference.target.zone != zone
                isLoose = isLoose || reference.isLoose
                old.insert(row(reference.target, Self.kind(of: reference)))
            }
        }
        return (isOutward, isLoose)
    }

    /// Collects a reference after the change; returns true if it leads to another zone.
    mutating func collectNew(_ target: RecordKey, _ kind: ReferenceKind) -> Bool {
        new.insert(row(target, kind))
        return target.zone != zone
    }

    /// Collects all references of a value after the change; returns true if one leads to another zone.
    mutating func collectNew(_ value: FieldValue) -> Bool {
        var isOutward = false
        for reference in Self.references(value) where collectNew(reference.target, Self.kind(of: reference)) {
            isOutward = true
        }
        return isOutward
    }

    private static func kind(of reference: FieldValue.Reference) -> ReferenceKind {
        if reference.action == .none { return .other }
        return reference.isLoose ? .looseDeleting : .deleting
    }

    private static func references(_ value: FieldValue) -> [FieldValue.Reference] {
        switch value {
        case .reference(let reference): [reference]
        case .list(let list): list.elements.flatMap { references($0) }
        default: []
        }
    }

    private func row(_ target: RecordKey, _ kind: ReferenceKind) -> [UInt8] {
        var key = ViewKeys.reference(target, kind)
        key.append(lastText: source)
        return key.bytes
    }

    /// Writes the differences.
    func apply(to fork: Fork) throws {
        if old.isEmpty, new.isEmpty { return }
        for key in old.subtracting(new).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try key.withUnsafeBytes { try fork.deleteKnown(ViewTree.references, $0) }
        }
        for key in new.subtracting(old).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try fork.put(ViewTree.references, key: key)
        }
    }
}
