import StrataModel

/// A sequencer that also carries requests from one process of a store to another (docs/replication-internals.md §6).
///
/// Only speed depends on it: a request may be lost, and its answer may be late or lost.
package protocol RequestCarrier: Sequencer {
    /// The maximum length of a message with requests.
    var maximumMessageBytes: Int { get }

    /// Calls `body`, on any thread, with each message to a process, and with a function that takes the answer. Ends
    /// when the sequencer is closed.
    func serve(_ process: Identifier, _ body: @escaping @Sendable ([UInt8], @escaping Answering) -> Void) throws

    /// Sends a message to a process, and waits for the answer.
    func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer
}

extension RequestCarrier {
    package typealias Answering = @Sendable ([UInt8]) -> Void
}

package enum CarriedAnswer: Sendable {
    case answer([UInt8])
    /// No process took the message, and none will.
    case undelivered
    /// A process may have taken the message, or may take it later.
    case unknown(StrataError)
}
