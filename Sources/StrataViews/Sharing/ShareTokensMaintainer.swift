import StrataModel
import StrataTree

extension ViewTree {
    package static let shareTokens = TreeID(rawValue: 22)
}

/// The URLs of the shares that have not ended: token → number of the share, and the participant who alone may use it.
enum ShareTokensMaintainer: ViewMaintainer {
    static let tree = ViewTree.shareTokens
    static let name = "share tokens"

    static func add(_ share: ShareSavedEvent, to fork: Fork) throws {
        for (token, participant) in tokens(of: share) {
            var row = ByteWriter()
            row.appendVarint(share.share)
            row.appendString(participant)
            try fork.put(tree, key: Array(token.utf8), row: row.bytes)
        }
    }

    static func remove(_ share: ShareSavedEvent, from fork: Fork) throws {
        for (token, _) in tokens(of: share) { try fork.delete(tree, key: Array(token.utf8)) }
    }

    private static func tokens(of share: ShareSavedEvent) -> [(token: String, participant: String)] {
        [(share.urlToken, "")] + share.oneTimeTokens.map { ($0.token, $0.participant) }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        "URL \(words.text(key)) of a share"
    }

    /// Returns the offset of the commit that last saved the share.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        var reader = ByteReader(entry.row)
        let share = try reader.readVarint("a share")
        return try trees.version(in: ViewTree.shares, key: ViewKeys.numbers(share))?.offset
    }
}

extension TreeReading {
    /// Returns the share whose URL has a token, and the only participant who may use that URL, empty for the URL that
    /// everybody uses. Nil if no share has the token now.
    package func share(ofToken token: String) throws -> (share: UInt64, participant: String)? {
        if token.isEmpty { return nil }
        return try get(ViewTree.shareTokens, key: Array(token.utf8)) { row in
            var reader = ByteReader(row)
            let share = try reader.readVarint("a share")
            return (share, try reader.readString("a participant", atMost: Envelope.maximumNameBytes))
        }
    }
}
