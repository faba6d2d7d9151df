import Foundation

/// A record as an archive had it.
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
}
