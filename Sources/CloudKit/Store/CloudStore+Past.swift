import Foundation
import StrataModel
import StrataStore

extension CloudStore {
    /// The store as it was when a commit was its last: whatever can be read can be read of it, records, queries, feeds
    /// and assets, and nothing can be changed. Any number of them can be open at once.
    ///
    /// ```swift
    /// let past = try store.asOf(1_207)
    /// let before = try await past.container(user: "anna").privateCloudDatabase.record(for: id)
    /// try past.close()
    /// ```
    /// - Throws: `CKError`: `invalidArguments` for an offset behind the end, and for one whose history was let go.
    public func asOf(_ offset: UInt64) throws -> CloudStore {
        try past { try store.asOf(offset) }
    }

    /// The store as it was at a time: with all that was committed up to then, and nothing that came later.
    ///
    /// ```swift
    /// let yesterday = try store.asOf(Date(timeIntervalSinceNow: -86_400))
    /// ```
    /// - Throws: `CKError`: `invalidArguments` for a time whose history was let go.
    public func asOf(_ date: Date) throws -> CloudStore {
        let beyond: Int64 = date.timeIntervalSince1970 > 0 ? .max : .min
        return try past { try store.asOf(time: date.microseconds ?? beyond) }
    }

    private func past(_ open: () throws -> Store) throws -> CloudStore {
        try CloudStore(options, at: nil) {
            do { return try open() } catch let error as StrataError where error.code == .outOfRange {
                throw CKError(
                    .invalidArguments, message: "The store has no such state to show, or not any more: \(error)",
                    cause: error)
            }
        }
    }
}
