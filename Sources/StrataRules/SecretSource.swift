import StrataSystem

/// The secret of a store whose state has none yet, and the names that a history to be
/// judged again derived from its own.
package struct SecretSource: Sendable {
    /// Nil for states that need no secret.
    package var newSecret: StoreSecret?
    /// True if the next commit records the new secret, as the first one of a store does. Otherwise
    /// ``AdministerRequest/drawSecret(from:before:)`` records it.
    package var recordsSecret = false
    /// Returns the name that the history gave the record of a user; nil for a name derived now.
    package var recordedName: @Sendable (String) throws -> String? = { _ in nil }
}
