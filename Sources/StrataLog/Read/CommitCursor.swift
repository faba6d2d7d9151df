/// A cursor that returns commits one after another.
package protocol CommitCursor {
    /// Returns the next commit; nil at the end, where a later call may return more.
    mutating func next() throws -> Commit?
}
