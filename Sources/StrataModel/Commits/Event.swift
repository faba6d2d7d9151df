/// An event with its encoded body.
public struct Event: Sendable, Equatable {
    public var kind: EventKind
    public var body: ArraySlice<UInt8>

    public init(_ kind: EventKind, body: ArraySlice<UInt8>) {
        self.kind = kind
        self.body = body
    }
}
