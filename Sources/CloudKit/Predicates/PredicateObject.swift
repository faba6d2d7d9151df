import Foundation
import StrataQuery

/// A record or dictionary, as a predicate sees it.
struct PredicateObject: PredicateSubject {
    private let value: (String) -> Any?
    private let texts: () -> [String]

    /// nil for an object whose keys nobody can ask for.
    init?(_ object: Any?) {
        switch object {
        case let record as CKRecord:
            value = { key in SystemField(key)?.value(of: record) ?? record.object(forKey: key) }
            texts = { record.allTokens() }
        case let values as [String: Any]:
            value = { values[$0] }
            texts = { values.values.compactMap { $0 as? String } }
        default: return nil
        }
    }

    func predicateValue(forKey key: String) -> PredicateValue? {
        // What cannot be compared is there nevertheless.
        value(key).map { PredicateArgument($0).value ?? .opaque }
    }

    var searchedTexts: [String] { texts() }
}

extension SystemField {
    func value(of record: CKRecord) -> Any? {
        switch self {
        case .recordID: record.recordID
        case .creationDate: record.creationDate
        case .modificationDate: record.modificationDate
        case .creatorUserRecordID: record.creatorUserRecordID
        case .lastModifiedUserRecordID: record.lastModifiedUserRecordID
        case .parent: record.parent
        case .share: record.share
        }
    }
}
