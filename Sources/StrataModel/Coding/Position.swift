/// A position in a log's history: the offset of a commit and the chain value after it (docs/format.md §5).
///
/// Two logs that share a position share everything before it.
///
/// ```swift
/// let seen = log.end
/// var newer = try log.read(from: seen.offset + 1)
/// ```
public struct Position: Hashable, Sendable, CustomStringConvertible {
    /// The number of the commit; 0 is the position before the first.
    public var offset: UInt64
    /// The running checksum of the log's logical content up to and including that commit.
    public var chain: UInt32

    public init(offset: UInt64, chain: UInt32) {
        self.offset = offset
        self.chain = chain
    }

    /// The position before the first commit of every log.
    public static let start = Position(offset: 0, chain: 0)

    public var description: String { "\(offset)/\(hexadecimal(chain))" }
}
