import Foundation

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
        value(key).flatMap { PredicateArgument($0).value }
    }

    var searchedTexts: [String] { texts() }
}

/// A property that every record has, under either of its names (B129).
enum SystemField: String, CaseIterable, Sendable {
    case recordID, creationDate, modificationDate, creatorUserRecordID, lastModifiedUserRecordID, parent, share

    private static let storedNames: [SystemField: String] = [
        .recordID: "___recordID", .creationDate: "___createTime", .modificationDate: "___modTime",
        .creatorUserRecordID: "___createdBy", .lastModifiedUserRecordID: "___modifiedBy", .parent: "___parent",
        .share: "___share",
    ]
    private static let byName: [String: SystemField] = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { field in
            [(field.rawValue, field), (storedNames[field] ?? "", field)]
        })

    init?(_ name: String) {
        guard let field = Self.byName[name] else { return nil }
        self = field
    }

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
