import Foundation
import StrataQuery

/// A record or dictionary that a predicate evaluates.
struct PredicateObject: PredicateSubject {
    private let value: (String) -> Any?
    private let texts: () -> [String]

    /// Returns nil for an object without keys.
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
        // A value that cannot be compared still exists.
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
