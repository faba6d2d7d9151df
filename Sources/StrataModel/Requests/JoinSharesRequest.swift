/// A user's request to accept shares, or to ask for access to them, by the tokens of their URLs. Its database is the
/// user's shared database; its commit changes the shares in their owners' databases.
package struct JoinSharesRequest: Sendable, Hashable {
    package enum Action: UInt8, Sendable {
        case accept = 1, requestAccess
    }

    package var action: Action
    /// The tokens of the shares' URLs. Each has a result of its own, in `saves` of the request's result.
    package var tokens: [String]

    package init(_ action: Action, tokens: [String]) {
        self.action = action
        self.tokens = tokens
    }

    func encode(into writer: inout ByteWriter) throws {
        writer.append(action.rawValue)
        try writer.appendList(tokens) { $1.appendString($0) }
    }

    init(from reader: inout ByteReader) throws {
        action = try reader.readNumbered("an action on shares")
        tokens = try reader.readList("the number of shares") {
            try $0.readString("a share's token", atMost: ShareSavedEvent.maximumTokenBytes)
        }
    }
}
