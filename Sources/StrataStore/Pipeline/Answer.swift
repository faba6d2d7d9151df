import StrataModel

/// The answer to a request.
public struct Answer: Sendable {
    public var result: RequestResult
    /// The commit that holds the result; nil if nothing was written.
    public var offset: UInt64?
    /// A state that includes the result, or a later one if a frame of it is damaged.
    public var snapshot: StoreSnapshot
}
