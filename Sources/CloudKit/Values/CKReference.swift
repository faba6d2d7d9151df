import Foundation
import StrataModel

/// A link to another record: `CKRecord.Reference`.
///
/// ```swift
/// line["invoice"] = CKRecord.Reference(recordID: invoice.recordID, action: .deleteSelf)
/// ```
///
/// Two references are equal if their record IDs and actions are.
// @unchecked: its properties are constants.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The ID of the target record.
    public let recordID: CKRecordID
    /// The effect on the record that holds the reference when the target is deleted.
    public let action: CKRecord.ReferenceAction

    /// The effect on the record that holds a reference when the target is deleted.
    @available(*, deprecated, message: "Write CKRecord.ReferenceAction.")
    public typealias Action = CKRecord.ReferenceAction

    /// Creates a link to the record with an ID.
    public init(recordID: CKRecordID, action: CKRecord.ReferenceAction) {
        self.recordID = recordID
        self.action = action
        super.init()
    }

    /// Creates a link to a record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKReference else { return false }
        return other.recordID.isEqual(recordID) && other.action == action
    }

    public override var hash: Int { recordID.hash ^ Int(action.rawValue) }
    public override var description: String {
        "<CKReference: \(recordID)\(action == .deleteSelf ? "; deletes self" : "")>"
    }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKReference"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(self) } }

    public init?(coder: NSCoder) {
        if let reference = ArchiveBlock.read(Self.block, from: coder, { try $0.readReference() }) {
            recordID = reference.recordID
            action = reference.action
        } else {
            let archive = ArchiveReader(coder)
            guard let id = archive.object(CKRecordID.self, "RecordID"),
                let number = archive.integer("ReferenceAction"), let raw = UInt(exactly: number),
                let action = CKRecord.ReferenceAction(rawValue: raw), archive.isIntact
            else { return nil }
            recordID = id
            self.action = action
        }
        super.init()
    }
}

extension CKRecord {
    /// The effect on the record that holds a reference when the target is deleted.
    public enum ReferenceAction: UInt, Sendable, BitwiseCopyable {
        /// The record stays, with a dangling reference.
        case none = 0
        /// The record is deleted too.
        case deleteSelf = 1
    }
}

/// The effect on the record that holds a reference when the target is deleted.
@available(*, deprecated, renamed: "CKRecord.ReferenceAction")
public typealias CKRecord_Reference_Action = CKRecord.ReferenceAction
