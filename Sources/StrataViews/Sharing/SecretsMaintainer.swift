import StrataModel
import StrataSystem
import StrataTree

extension ViewTree {
    package static let secrets = TreeID(rawValue: 27)
}

/// The secrets of the store (docs/security.md §1): number of the secret → event that drew it.
enum SecretsMaintainer: EventRowMaintainer {
    typealias Body = SecretDrawnEvent

    static let tree = ViewTree.secrets
    static let name = "secrets"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.number) }

    /// Covers the number alone, because digests are printed.
    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        DigestHash.hash(seed(), words: [event.number])
    }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        let expected = try fold.fork.secretCount() + 1
        guard event.number == expected else {
            throw StrataError(
                .brokenSequence, "A secret does not have the next number.",
                .init(expected: "secret \(expected)", found: "secret \(event.number)"))
        }
        try put(event, body, at: place, in: fold)
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "secret \(try reader.readNumber())"
    }
}

extension TreeReading {
    /// Returns the store's secret, the newest if there are several; nil if the store has none.
    package func secret() throws -> StoreSecret? {
        let count = try secretCount()
        let event: SecretDrawnEvent? = try event(in: ViewTree.secrets, key: ViewKeys.numbers(count))
        return event.map { StoreSecret(number: $0.number, key: $0.secret) }
    }

    /// Returns the version of the event that drew the store's first secret; nil if the store has none.
    package func firstSecretVersion() throws -> Version? {
        try version(in: ViewTree.secrets, key: ViewKeys.numbers(1))
    }

    fileprivate func secretCount() throws -> UInt64 {
        try countDense { try hasRow(ViewTree.secrets, key: ViewKeys.numbers($0)) }
    }
}
