import Foundation
import StrataModel
import StrataStore

extension CloudStore {
    /// Returns the store as it was after a commit. All reads work, of records, queries, feeds and assets; changes fail.
    /// Any number of past states can be open at once.
    ///
    /// ```swift
    /// let past = try store.asOf(1_207)
    /// let before = try await past.container(user: "anna").privateCloudDatabase.record(for: id)
    /// try past.close()
    /// ```
    /// - Throws: `CKError`: `invalidArguments` for an offset after the end, and for one whose history was compacted.
    public func asOf(_ offset: UInt64) throws -> CloudStore {
        try past { try store.asOf(offset) }
    }

    /// Returns the store as it was at a time, with all commits up to then and none after it.
    ///
    /// ```swift
    /// let yesterday = try store.asOf(Date(timeIntervalSinceNow: -86_400))
    /// ```
    /// - Throws: `CKError`: `invalidArguments` for a time whose history was compacted.
    public func asOf(_ date: Date) throws -> CloudStore {
        let beyond: Int64 = date.timeIntervalSince1970 > 0 ? .max : .min
        return try past { try store.asOf(time: date.microseconds ?? beyond) }
    }

    private func past(_ open: () throws -> Store) throws -> CloudStore {
        try CloudStore(options, at: nil) {
            do { return try open() } catch let error as StrataError where error.code == .outOfRange {
                throw CKError(
                    .invalidArguments,
                    message: "The store does not have the requested state, or no longer has it: \(error)",
                    cause: error)
            }
        }
    }
}
