import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

extension FuzzBodies {
    /// Any bytes, with the checksum that they need, as a change token and as a query's cursor: reading gives one or an
    /// error, and what is read is written as bytes that read as the same.
    ///
    /// - Returns: whether it was one of them.
    @discardableResult
    package static func token(_ input: UnsafeRawBufferPointer) -> Bool {
        var writer = ByteWriter()
        writer.append(bytes: Array(input))
        let bytes = ChecksummedBytes.seal(writer)
        var isOne = false
        if let token = try? FeedToken(decoding: bytes) {
            precondition((try? FeedToken(decoding: token.encoded())) == token, "a token reads as it was written")
            isOne = true
        }
        if let cursor = try? QueryCursor(decoding: bytes) {
            // Its numbers may be no numbers, which are not equal to themselves.
            precondition((try? QueryCursor(decoding: cursor.encoded())) != nil, "a cursor reads as it was written")
            isOne = true
        }
        return isOne
    }
}
