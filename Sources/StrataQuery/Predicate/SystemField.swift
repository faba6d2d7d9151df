/// A property that every record has, under either of its names (B129).
package enum SystemField: String, CaseIterable, Sendable {
    case recordID, creationDate, modificationDate, creatorUserRecordID, lastModifiedUserRecordID, parent, share

    /// The name in the schema language.
    package var storedName: String {
        switch self {
        case .recordID: "___recordID"
        case .creationDate: "___createTime"
        case .modificationDate: "___modTime"
        case .creatorUserRecordID: "___createdBy"
        case .lastModifiedUserRecordID: "___modifiedBy"
        case .parent: "___parent"
        case .share: "___share"
        }
    }

    private static let byName: [String: SystemField] = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { [($0.rawValue, $0), ($0.storedName, $0)] })

    package init?(_ name: String) {
        guard let field = Self.byName[name] else { return nil }
        self = field
    }
}
