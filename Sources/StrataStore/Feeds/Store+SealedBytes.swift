import StrataModel
import StrataQuery
import StrataRules
import StrataSystem

/// Tokens and cursors as the bytes that clients keep.
extension Store {
    /// Returns a token's bytes, which can only be made with the store's secret (docs/security.md §2).
    ///
    /// ```swift
    /// try Data(store.bytes(of: page.token)).write(to: file)
    /// let token = try store.token(from: [UInt8](Data(contentsOf: file)))
    /// ```
    ///
    /// - Throws: ``StrataError`` if the store has no secret, because it was made before secrets and was not opened for
    ///   writing since.
    public func bytes(of token: FeedToken) throws -> [UInt8] { token.sealed(by: try engine.secret()) }

    /// Returns the token of bytes that `bytes(of:)` returned.
    ///
    /// - Throws: ``Refusal``: `changeTokenExpired` for a token that this store did not make, or that was changed;
    ///   `invalidArguments` for bytes that are not a token (B161).
    public func token(from bytes: [UInt8]) throws -> FeedToken {
        let secret = try engine.secret()
        do { return try FeedToken(opening: bytes, with: secret) } catch let error as StrataError {
            if FeedToken.isOfEarlierRelease(bytes) { throw FeedToken.expired("an earlier release made it") }
            guard StoreSecret.hasForm(bytes) else {
                throw Refusal(.invalidArguments, "The change token is invalid: \(error)", rule: .tokenScope)
            }
            let isOfOtherRelease = error.code == .newerFormat
            throw FeedToken.expired(
                isOfOtherRelease ? "another release made it" : "this store did not make it, or it was changed")
        }
    }

    /// Returns a cursor's bytes, which can only be made with the store's secret.
    ///
    /// - Throws: ``StrataError`` if the store has no secret, as for a token.
    public func bytes(of cursor: QueryCursor) throws -> [UInt8] { cursor.sealed(by: try engine.secret()) }

    /// Returns the cursor of bytes that `bytes(of:)` returned.
    ///
    /// - Throws: ``Refusal`` `invalidArguments` for all other bytes (B144).
    public func cursor(from bytes: [UInt8]) throws -> QueryCursor {
        let secret = try engine.secret()
        do { return try QueryCursor(opening: bytes, with: secret) } catch let error as StrataError {
            throw Refusal(
                .invalidArguments, "The cursor is invalid; query again without it: \(error)", rule: .cursors)
        }
    }

    /// Returns the answer to the bytes of a token, without any changes fetched.
    package func standing(ofBytes bytes: [UInt8]) throws -> TokenValidity {
        do { return try standing(of: token(from: bytes)) } catch let refusal as Refusal {
            return TokenValidity(refusal: refusal)
        }
    }
}

extension FeedToken {
    /// True for intact bytes of the form that had a checksum for a seal, and for those of a member's zone in the form
    /// without cursors. They are recognized, never read.
    package static func isOfEarlierRelease(_ bytes: [UInt8]) -> Bool {
        let checked = try? ChecksummedBytes.open(bytes, what, atMost: maximumBytes) { reader, _ in
            reader.readRemainingBytes().first
        }
        if checked == 1 { return true }
        // Version, feed, the store's ID, and the scope of the database.
        let payload = (try? StoreSecret.unverifiedPayload(of: bytes, what)) ?? []
        return payload.prefix(2) == [1, 2] && payload.dropFirst(18).first == InternedName.Scope.shared.rawValue
    }
}
