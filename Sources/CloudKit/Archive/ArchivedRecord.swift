import Foundation
import StrataModel

/// A record from an archive.
struct ArchivedRecord: Sendable {
    var changeTag: String?
    var created: Date?
    var modified: Date?
    var createdBy: CKRecordID?
    var modifiedBy: CKRecordID?
    var parent: CKReference?
    var share: CKReference?
    var fields: [String: FieldContent] = [:]
    var encryptedKeys: Set<String> = []

    /// Copies the metadata of a record.
    init(systemFieldsOf record: CKRecord) {
        changeTag = record.recordChangeTag
        created = record.creationDate
        modified = record.modificationDate
        createdBy = record.creatorUserRecordID
        modifiedBy = record.lastModifiedUserRecordID
        parent = record.parent
        share = record.share
    }

    // MARK: Our own archives

    func append(to writer: inout ByteWriter) {
        writer.append(optional: changeTag) { $1.appendString($0) }
        for date in [created, modified] {
            writer.append(optional: date) { $1.append($0.timeIntervalSinceReferenceDate.bitPattern) }
        }
        for user in [createdBy, modifiedBy] { writer.append(optional: user) { $1.append($0) } }
        for link in [parent, share] { writer.append(optional: link) { $1.append($0) } }
    }

    init(from reader: inout ByteReader) throws {
        changeTag = try reader.readOptional { try $0.readText("a change tag") }
        created = try reader.readOptional { try $0.readDate() }
        modified = try reader.readOptional { try $0.readDate() }
        createdBy = try reader.readOptional { try $0.readRecordID() }
        modifiedBy = try reader.readOptional { try $0.readRecordID() }
        parent = try reader.readOptional { try $0.readReference() }
        share = try reader.readOptional { try $0.readReference() }
    }

    // MARK: Apple's

    init(_ archive: ArchiveReader) {
        changeTag = archive.string("ETag")
        created = archive.date("RecordCtime")
        modified = archive.date("RecordMtime")
        createdBy = archive.object(CKRecordID.self, "CreatorUserRecordID")
        modifiedBy = archive.object(CKRecordID.self, "LastModifiedUserRecordID")
        parent = archive.object(CKReference.self, "ParentReference")
        share = archive.object(CKReference.self, "ShareReference")
    }
}

extension CKRecord {
    private static let block = "CKRecord"

    /// - Parameter fields: Nil to encode the metadata only.
    func encode(_ fields: ArchivedFields?, with coder: NSCoder) throws {
        try ArchiveBlock.write(Self.block, to: coder) { writer in
            writer.appendString(recordType)
            writer.append(recordID)
            ArchivedRecord(systemFieldsOf: self).append(to: &writer)
            if let fields { writer.append(bytes: try fields.encoded()) }
        }
    }

    /// Returns the content of an archive; nil if it is damaged or does not contain a record.
    static func fields(from coder: NSCoder) -> (type: String, id: CKRecordID, fields: RecordFields)? {
        let kept = ArchiveBlock.read(block, from: coder) { reader in
            let type = try reader.readText("a record type")
            let id = try reader.readRecordID()
            let record = try ArchivedRecord(from: &reader)
            guard reader.remaining > 0 else { return (type, id, systemFields(record, of: id)) }
            let fields = try ArchivedFields(decoding: Array(reader.readRemainingBytes()))
            return (type, id, allFields(record, fields, of: id))
        }
        if let kept { return kept }
        let archive = ArchiveReader(coder)
        guard let type = archive.string("RecordType"), let id = archive.object(CKRecordID.self, "RecordID") else {
            return nil
        }
        let record = ArchivedRecord(archive)
        guard let fields = ArchivedFields(ArchiveGraph(coder), isNew: record.changeTag == nil) else {
            return archive.isIntact ? (type, id, systemFields(record, of: id)) : nil
        }
        return archive.isIntact ? (type, id, allFields(record, fields, of: id)) : nil
    }

    private static func systemFields(_ record: ArchivedRecord, of id: CKRecordID) -> RecordFields {
        guard record.changeTag == nil else { return RecordFields(.archived(record), in: id.zoneID, isPartial: true) }
        var fields = RecordFields(.new, in: id.zoneID, isPartial: false)
        fields.parent = record.parent.map { .set($0) }
        return fields
    }

    private static func allFields(
        _ record: ArchivedRecord, _ kept: ArchivedFields, of id: CKRecordID
    ) -> RecordFields {
        var record = record
        record.fields = kept.original
        record.encryptedKeys = kept.encryptedKeys
        var fields = RecordFields(
            record.changeTag == nil ? .new : .archived(record), in: id.zoneID, isPartial: kept.isPartial)
        for (key, content) in kept.edits.sorted(by: { $0.key < $1.key }) {
            fields.edits.set(content, forKey: key, isEncrypted: kept.encryptedKeys.contains(key))
        }
        if kept.changesParent { fields.parent = record.parent.map { .set($0) } ?? .removed }
        return fields
    }
}
