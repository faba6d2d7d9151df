/// Keeps the newest message of each name, for all processes of a store. An ``ObjectStore`` is built on it.
///
/// A name has words with dots between them. The keeper may lose an answer, give it late, and keep a message twice or
/// later than another one. It must never lose or change a message that it gave out or acknowledged, and never put one
/// in the place of another than was expected.
package protocol MessageKeeper: AnyObject, Sendable {
    /// Returns the maximum length of a message.
    ///
    /// - Throws: `.unreachable` if the servers do not answer.
    func maximumMessageBytes() throws -> Int

    /// Keeps a message in place of the one that its name has.
    ///
    /// - Parameter expecting: the number of the message that is replaced, 0 if there must be none; nil for any.
    func keep(_ bytes: [UInt8], as name: String, expecting: UInt64?) -> SequencerAnswer

    /// Returns the message of a name; nil if there is none. It may be that of an earlier time.
    ///
    /// - Throws: `.unreachable` if the servers do not answer.
    func message(_ name: String) throws -> KeptMessage?

    /// Makes sure that later reads include every message that was acknowledged to anyone before the call.
    ///
    /// - Throws: `.unreachable` if the servers cannot confirm it.
    func confirm() throws

    /// Returns the names that match a pattern, in which `*` stands for any word.
    func names(_ pattern: String) throws -> [String]

    /// Removes the messages whose names begin with these words and have more.
    func remove(below words: String) throws

    /// Ends all use by this process.
    func close()
}

/// A message that a ``MessageKeeper`` has.
package struct KeptMessage: Sendable {
    /// Greater than that of every earlier message.
    package let number: UInt64
    package let bytes: [UInt8]

    package init(number: UInt64, bytes: [UInt8]) { (self.number, self.bytes) = (number, bytes) }
}
