import StrataModel
import StrataSystem
import StrataTree

extension ViewTree {
    package static let recordNames = TreeID(rawValue: 29)
}

/// The names of users' own records: user → name. Users whom a store met before it had a secret have no rows: the names
/// of their records are computed.
enum RecordNamesMaintainer: OwnedRowMaintainer {
    typealias Body = UserRecordNamedEvent

    static let tree = ViewTree.recordNames
    static let name = "record names"
    static let namespace = Namespace.user

    static func owner(of event: Body) -> UInt64 { event.user }

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let event = try Body(decoding: body)
        if let known = try fold.fork.recordedName(ofUser: event.user), !isSameText(known, event.recordName) {
            throw StrataError(
                .brokenSequence, "The record of a user is named twice.",
                .init(expected: known, found: event.recordName))
        }
        try put(event, body, at: place, in: fold)
        let earlier = UserAddress(.recordName, try earlierName(ofUser: event.user, in: fold.fork))
        if try fold.fork.user(at: earlier) == event.user { try AddressesMaintainer.remove(earlier, from: fold.fork) }
        let address = UserAddress(.recordName, event.recordName)
        if let other = try fold.fork.user(at: address), try fold.fork.recordedName(ofUser: other) == nil {
            // The recorded name goes before the computed one, whichever of the users comes first.
            try AddressesMaintainer.remove(address, from: fold.fork)
        }
        try AddressesMaintainer.add(address, of: event.user, to: fold.fork)
    }

    /// Makes a new user known by the computed name, until a name is recorded.
    static func addEarlierName(ofUser ordinal: UInt64, _ user: String, to fork: Fork) throws {
        let address = UserAddress(.recordName, UserRecord.earlierName(of: user))
        guard try fork.user(at: address) == nil else { return }
        try AddressesMaintainer.add(address, of: ordinal, to: fork)
    }

    private static func earlierName(ofUser ordinal: UInt64, in fork: Fork) throws -> String {
        UserRecord.earlierName(of: try fork.user(ordinal) ?? "")
    }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        let seed = seed(try fold.records.names.hash(.user, event.user, in: fold.fork))
        return DigestHash.hash(seed, text: event.recordName)
    }

    static func describe(_ owner: UInt64, _ words: EntryWords) -> String {
        "record name of user \(words.name(.user, owner))"
    }
}

extension TreeReading {
    /// Returns the recorded name of a user's record; nil before the store has a secret.
    package func recordedName(ofUser ordinal: UInt64) throws -> String? {
        try get(ViewTree.recordNames, key: ViewKeys.numbers(ordinal)) { row in
            var reader = ByteReader(row, at: RowLayout.body)
            return try UserRecordNamedEvent(from: &reader).recordName
        }
    }

    /// Returns the name of a user's record: the recorded one, or the one that a user gets whom the store has not met.
    ///
    /// - Parameter secret: nil for a state without a secret, in which the names of all users are computed.
    package func recordName(of user: String, secret: @autoclosure () throws -> StoreSecret?) throws -> String {
        if let ordinal = try ordinal(of: .user(user)) {
            return try recordedName(ofUser: ordinal) ?? UserRecord.earlierName(of: user)
        }
        return try secret().map { try nameOfNewRecord(of: user, secret: $0) } ?? UserRecord.earlierName(of: user)
    }

    /// Returns the name to record for a user whom the state does not have: another one if an import took the first.
    package func nameOfNewRecord(of user: String, secret: StoreSecret) throws -> String {
        for attempt in 0...UInt8.max {
            let name = UserRecord.name(of: user, secret, attempt: attempt)
            if try self.user(at: UserAddress(.recordName, name)) == nil { return name }
        }
        throw StrataError(.brokenSequence, "All names for the record of a new user are taken.", .init(found: user))
    }
}
