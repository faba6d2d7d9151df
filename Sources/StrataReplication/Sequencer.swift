import StrataModel

/// Puts entries of several writers into one order, and keeps them. Numbers begin at 1 and have no gaps.
///
/// A log relies on it for nothing but the order (docs/replication-internals.md §7): it may lose answers, give them
/// late, accept an entry twice or after another one than expected, and name an entry before anyone can read it. It must
/// never give another entry for a number, or lose one; a ``ReplicatedLog`` notices that and stops writing.
package protocol Sequencer: AnyObject, Sendable {
    /// The maximum length of an entry.
    var maximumEntryBytes: Int { get }

    /// Appends an entry after the one with the number `expecting`, which must be the last.
    ///
    /// - Parameter id: the same when the same entry is sent again, so that it can be recognized.
    func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer

    /// Returns entries after `number` in order, as many as are convenient, without gaps. If there are none yet, waits
    /// for one to come and returns none after `milliseconds`, or when the sequencer is closed.
    ///
    /// - Throws: `.outOfRange` if the next entry was trimmed; other errors if the sequencer cannot be reached.
    func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]]

    /// Returns the number of the last entry: never a smaller one than an earlier call, an answer or an entry gave.
    ///
    /// - Throws: ``StrataError`` if the sequencer cannot be reached, or does not know whether it is up to date.
    func last() throws -> UInt64

    /// Removes the entries up to `number`, and returns the number up to which they are removed.
    func trim(through number: UInt64) throws -> UInt64

    /// Ends all use by this process, and wakes the threads that wait.
    func close()
}

/// The answer of a ``Sequencer`` to an append.
package enum SequencerAnswer: Sendable {
    /// The entry has this number. It counts only once it has been read there.
    case accepted(UInt64)
    /// Another entry has the number after the expected one, or will have it; possibly an earlier try of the same entry.
    case taken
    /// The entry may be in, may come in later, or may be lost.
    case unknown(StrataError)
    /// The entry is not in, and will not be.
    case refused(StrataError)
}

extension StrataError.Code {
    /// A server cannot be reached, or does not answer in time.
    public static let unreachable = Self(rawValue: "unreachable")
    /// A server or its settings do not meet a store's requirements.
    public static let unsuitable = Self(rawValue: "unsuitable")
}
