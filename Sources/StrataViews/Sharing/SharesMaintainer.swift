import StrataModel
import StrataTree

extension ViewTree {
    package static let shares = TreeID(rawValue: 21)
}

/// The shares of all zones, including those that have ended: number of the share → share.
enum SharesMaintainer: EventRowMaintainer {
    typealias Body = ShareSavedEvent

    static let tree = ViewTree.shares
    static let name = "shares"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.share) }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(
            try fold.records.names.hash(.zone, event.record.zone, in: fold.fork),
            DigestHash.hash(0, text: event.record.name))
        let numbers = DigestHash.hash(
            seed,
            words: [
                event.share, UInt64(event.publicPermission.rawValue), event.isEnded ? 1 : 0,
                event.root == nil ? 0 : 1, UInt64(event.oneTimeTokens.count),
            ])
        let texts = [event.root ?? "", event.urlToken] + event.oneTimeTokens.flatMap { [$0.token, $0.participant] }
        return texts.reduce(numbers) { DigestHash.hash($0, text: $1) }
    }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        if let before = try fold.fork.share(event.share) {
            guard !before.isEnded || event.isEnded else {
                throw StrataError(.brokenSequence, "A share that has ended was saved.", .init(found: "\(event.share)"))
            }
            try ShareTokensMaintainer.remove(before, from: fold.fork)
        }
        try put(event, body, at: place, in: fold)
        try SharedRootsMaintainer.note(event, in: fold.fork)
        if !event.isEnded { try ShareTokensMaintainer.add(event, to: fold.fork) }
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "share \(try reader.readNumber())"
    }
}

extension TreeReading {
    /// Returns a share, which may have ended.
    package func share(_ number: UInt64) throws -> ShareSavedEvent? {
        try event(in: ViewTree.shares, key: ViewKeys.numbers(number))
    }

    /// Returns the number of shares that there ever were. Numbers are dense, so a binary search finds it.
    package func shareCount() throws -> UInt64 {
        try countDense { try hasRow(ViewTree.shares, key: ViewKeys.numbers($0)) }
    }
}
