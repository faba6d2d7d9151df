import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

extension FuzzBodies {
    /// Any bytes, as the payload of a change token and of a query's cursor: reading gives one or an error, and what is
    /// read is written as bytes that read as the same. Besides, as sealed bytes, which they never are.
    ///
    /// - Returns: whether it was one of them.
    @discardableResult
    package static func token(_ input: UnsafeRawBufferPointer) -> Bool {
        let payload = Array(input)
        checkSeal(of: payload)
        var isOne = false
        if let token = try? FeedToken(payload: payload) {
            precondition((try? FeedToken(payload: token.payload())) == token, "a token reads as it was written")
            isOne = true
        }
        if let cursor = try? QueryCursor(payload: payload) {
            // Its numbers may be no numbers, which are not equal to themselves.
            precondition((try? QueryCursor(payload: cursor.payload())) != nil, "a cursor reads as it was written")
            isOne = true
        }
        return isOne
    }

    /// Bytes open if they were sealed, and only for the purpose; the bytes themselves are sealed by nobody.
    private static func checkSeal(of payload: [UInt8]) {
        let secret = StoreSecret(number: 1, key: Array(repeating: 7, count: StoreSecret.byteCount))
        let sealed = secret.seal(payload, as: .changeToken)
        precondition((try? secret.open(sealed, as: .changeToken, "a token")) == payload, "a seal opens")
        precondition((try? secret.open(sealed, as: .queryCursor, "a cursor")) == nil, "a purpose is another one")
        precondition((try? secret.open(payload, as: .changeToken, "a token")) == nil, "anyone can seal")
        _ = try? FeedToken(unverified: payload)
        _ = FeedToken.isOfEarlierRelease(payload)
    }
}
