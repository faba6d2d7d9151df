import StrataModel
import StrataReplication
import StrataSystem

/// A sequencer in a stream of NATS JetStream: an entry is a message, and its number the message's in the stream.
///
/// ```swift
/// let address = try ServerAddress(parsing: "nats://n1,n2,n3/notes")
/// let sequencer = try JetStreamSequencer(JetStreamOptions(address))
/// let log = try ReplicatedLog.open(at: "Notes.strata", sequencer: sequencer)
/// ```
/// The connection is restored while the sequencer is open. The servers and the stream's settings are checked at every
/// connection and with every ``last()``.
package final class JetStreamSequencer: Sequencer {
    struct State {
        /// The greatest number that an entry, an acknowledgement or an answer had.
        var seen: UInt64 = 0
        /// The time since which the servers report fewer entries than were seen.
        var doubtful: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
    }

    package let maximumEntryBytes: Int
    let options: JetStreamOptions
    let stream: StreamConnection
    let state: Lock<State>
    /// Held while entries are read.
    let reader = Lock<OrderedConsumer?>(nil)
    /// Takes the requests of other processes.
    let server = WorkerHandle()
    let questions = CarriedQuestions()

    /// The time in which a server answers a question.
    static let answerMilliseconds = 2_000
    /// The part of a message that is left for its headers.
    static let headerBytes = 1_024

    /// Connects to the servers, and checks them and the stream.
    ///
    /// - Throws: `.unreachable` if no server answers in time, `.unsuitable` if the servers or the stream do not meet a
    ///   store's requirements.
    package init(_ options: JetStreamOptions) throws {
        self.options = options
        stream = StreamConnection(options, try NATSLibrary.shared())
        let (info, maximumPayloadBytes) = try stream.open()
        maximumEntryBytes = max(0, maximumPayloadBytes - Self.headerBytes)
        state = Lock(State(seen: info.state.last))
    }

    deinit { close() }

    package func close() {
        stream.close()
        server.join()
    }

    static func unreachable(_ options: JetStreamOptions, _ cause: (any Error)? = nil) -> StrataError {
        StrataError(
            .unreachable, "The servers of the sequencer do not answer; check that they run and can be reached.",
            .init(path: options.address), cause: cause)
    }
}
