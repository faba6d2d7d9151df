/// An event with its encoded body.
package struct Event: Sendable, Equatable {
    package var kind: EventKind
    package var body: ArraySlice<UInt8>

    package init(_ kind: EventKind, body: ArraySlice<UInt8>) {
        self.kind = kind
        self.body = body
    }
}
