import Foundation

/// The opaque position of a query's next page: `CKQueryOperation.Cursor`.
///
/// ```swift
/// var (matches, cursor) = try await database.records(matching: query)
/// while let next = cursor {
///     (matches, cursor) = try await database.records(continuingMatchFrom: next)
/// }
/// ```
// @unchecked: its one property is a constant.
public final class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKQueryCursor)?.bytes == bytes }
    public override var hash: Int { bytes.hashValue }
    public override var description: String { "<CKQueryCursor: \(Data(bytes).base64EncodedString())>" }

    // MARK: NSSecureCoding, NSCopying

    private static let key = "CursorData"

    public func encode(with coder: NSCoder) { coder.encode(NSData(data: Data(bytes)), forKey: Self.key) }

    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let bytes = archive.data(Self.key), archive.isIntact else { return nil }
        self.bytes = bytes
        super.init()
    }
}
