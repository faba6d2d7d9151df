import StrataModel

/// The limits of a request (docs/rules.md §2).
public struct Limits: Sendable, Hashable {
    /// The maximum number of saves and deletes together.
    public var itemsPerRequest: Int
    public var requestBytes: Int
    public var recordBytes: Int
    /// The maximum number of records that refer to one record with `deleteSelf`.
    public var owningReferences: Int
    /// The default number of results in a page of a query or feed.
    public var pageSize: Int
    public var pageSizeMaximum: Int
    /// The maximum number of records that a request brings under another share, or under none (B322).
    package var movedRecords = 100_000

    public init(
        itemsPerRequest: Int, requestBytes: Int, recordBytes: Int, owningReferences: Int, pageSize: Int,
        pageSizeMaximum: Int
    ) {
        self.itemsPerRequest = itemsPerRequest
        self.requestBytes = requestBytes
        self.recordBytes = recordBytes
        self.owningReferences = owningReferences
        self.pageSize = pageSize
        self.pageSizeMaximum = pageSizeMaximum
    }

    /// CloudKit's limits.
    public static let service = Limits(
        itemsPerRequest: 400, requestBytes: 2_000_000, recordBytes: 1_000_000, owningReferences: 750, pageSize: 200,
        pageSizeMaximum: 400)
    /// Limits for servers and tools.
    public static let embedded = Limits(
        itemsPerRequest: 10_000, requestBytes: 64_000_000, recordBytes: 16_000_000, owningReferences: 1_000_000,
        pageSize: 1_000, pageSizeMaximum: 10_000)
}

extension Limits {
    /// - Throws: ``Refusal`` if a request has too many bytes.
    func checkByteCount(_ count: Int) throws {
        guard count <= requestBytes else {
            throw Refusal(
                .limitExceeded, "Your request has \(count) bytes, more than the maximum of \(requestBytes).",
                rule: .byteLimit)
        }
    }

    /// - Throws: ``Refusal`` if a request has too many items.
    package func checkItemCount(_ count: Int) throws {
        guard count <= itemsPerRequest else {
            throw Refusal(
                .limitExceeded,
                """
                Your request contains \(count) items which is more than the maximum number of items in a single \
                request (\(itemsPerRequest))
                """, rule: .itemLimit)
        }
    }
}
