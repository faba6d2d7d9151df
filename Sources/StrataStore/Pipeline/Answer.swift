import StrataModel

/// The answer to a request.
public struct Answer: Sendable {
    public var result: RequestResult
    /// The commit that holds it; nil if there was nothing to write.
    public var offset: UInt64?
    /// A state that has it.
    public var snapshot: StoreSnapshot
}
