import Foundation

/// The values of a record in an archive from Apple's platforms: one store has the plain values, one the encrypted
/// ones.
///
/// They are read from the archive's property list, since Foundation's dictionaries trap on a damaged archive with a
/// value that cannot be decoded.
struct ArchivedValueStore {
    private let graph: ArchiveGraph
    private let values: [String: FieldContent]
    private let originals: [String: FieldContent]
    private let changedKeys: Set<String>

    /// Reads the store under a key; returns nil if the object being decoded has none.
    init?(_ graph: ArchiveGraph, _ key: String) {
        guard let store = graph.object(forKey: key) as? [String: Any] else { return nil }
        self.graph = graph
        values = Self.contents(graph, store["RecordValues"])
        originals = Self.contents(graph, store["OriginalValues"])
        let keys = graph.object(store["ChangedKeys"]) as? [String: Any]
        changedKeys = Set((keys?["NS.objects"] as? [Any] ?? []).compactMap { graph.text($0) })
    }

    /// - Parameter isNew: True if the record was never saved, so that all values are edits.
    func add(to fields: inout ArchivedFields, isNew: Bool, isEncrypted: Bool) {
        let changed = isNew ? Set(values.keys) : changedKeys
        for (key, value) in values where !changed.contains(key) { fields.original[key] = value }
        if !isNew { fields.original.merge(originals) { first, _ in first } }
        for key in changed { fields.edits.updateValue(values[key], forKey: key) }
        if isEncrypted { fields.encryptedKeys.formUnion(changed.union(values.keys).union(originals.keys)) }
    }

    // MARK: Values

    private static func contents(_ graph: ArchiveGraph, _ reference: Any?) -> [String: FieldContent] {
        guard let dictionary = graph.object(reference) as? [String: Any],
            let keys = dictionary["NS.keys"] as? [Any], let values = dictionary["NS.objects"] as? [Any]
        else { return [:] }
        var contents: [String: FieldContent] = [:]
        for (key, value) in zip(keys, values) {
            guard let key = graph.text(key), let content = content(graph, value) else { continue }
            contents[key] = content
        }
        return contents
    }

    /// Returns the content of a value; nil for kinds that no record has, such as a sealed value.
    private static func content(_ graph: ArchiveGraph, _ reference: Any?, isElement: Bool = false) -> FieldContent? {
        guard let found = graph.object(reference) else { return nil }
        guard let object = found as? [String: Any] else { return (found as? any RecordValue)?.ownContent }
        switch graph.className(of: object) {
        case "NSString", "NSMutableString": return (object["NS.string"] as? String)?.ownContent
        case "NSDate": return (object["NS.time"] as? Double).map { Date(timeIntervalSinceReferenceDate: $0).ownContent }
        case "NSData", "NSMutableData": return (object["NS.data"] as? Data)?.ownContent
        case "NSArray", "NSMutableArray":
            guard !isElement, let elements = object["NS.objects"] as? [Any] else { return nil }
            let contents = elements.compactMap { content(graph, $0, isElement: true) }
            return contents.count == elements.count ? .list(contents) : nil
        case "CKReference": return self.reference(graph, object).map { .reference($0) }
        case "CKAsset":
            guard let url = graph.url(object["AssetFileURL"]), url.isFileURL else { return nil }
            return .asset(CKAsset(fileURL: url))
        case "CLLocation": return CLLocation(archivedFields: object)?.ownContent
        default: return nil
        }
    }

    private static func reference(_ graph: ArchiveGraph, _ object: [String: Any]) -> CKReference? {
        guard let id = graph.object(object["RecordID"]) as? [String: Any], let name = graph.text(id["RecordName"]),
            let zone = graph.object(id["ZoneID"]) as? [String: Any], let zoneName = graph.text(zone["ZoneName"]),
            let owner = graph.text(zone["ownerName"])
        else { return nil }
        let number = (object["ReferenceAction"] as? Int).flatMap { UInt(exactly: $0) }
        let action = number.flatMap { CKRecord.ReferenceAction(rawValue: $0) }
        let zoneID = CKRecordZoneID(zoneName: zoneName, ownerName: owner)
        return CKReference(recordID: CKRecordID(recordName: name, zoneID: zoneID), action: action ?? .none)
    }
}

extension CKRecordValueProtocol {
    fileprivate var ownContent: FieldContent { _fieldContent.content }
}

extension ArchivedFields {
    /// Reads the fields in an archive from Apple's platforms; returns nil if it has only metadata.
    init?(_ graph: ArchiveGraph?, isNew: Bool) {
        guard let graph else { return nil }
        let plain = ArchivedValueStore(graph, "ValueStore")
        let encrypted = ArchivedValueStore(graph, "EncryptedValueStore")
        guard plain != nil || encrypted != nil else { return nil }
        // Values that cannot be read here, such as sealed ones, may be missing.
        isPartial = !isNew
        plain?.add(to: &self, isNew: isNew, isEncrypted: false)
        encrypted?.add(to: &self, isNew: isNew, isEncrypted: true)
    }
}
