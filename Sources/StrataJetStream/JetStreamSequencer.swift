import StrataConnections
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
        var connection: NATSConnection?
        /// The restorations of the connection at which the server and the stream were checked; nil if never.
        var checked: UInt64?
        /// The greatest number that an entry, an acknowledgement or an answer had.
        var seen: UInt64 = 0
        /// The greatest number that the stream was reported to begin with.
        var first: UInt64 = 0
        /// The time since which the servers report fewer entries than were seen.
        var doubtful: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
        var isClosed = false
    }

    package let maximumEntryBytes: Int
    let options: JetStreamOptions
    let library: NATSLibrary
    let state: Monitor<State>
    /// Held while entries are read.
    let reader = Lock<OrderedConsumer?>(nil)
    /// Takes the requests of other processes.
    let server = WorkerHandle()
    /// The process that answered last, and when.
    let answered = Lock<(process: Identifier, time: ContinuousClock.Instant)?>(nil)
    /// Held while a connection is made.
    private let connecting = Lock(true)

    /// The time in which a server answers a question.
    static let answerMilliseconds = 2_000
    /// The pause before a server is asked again.
    private static let pauseMilliseconds = 20
    /// The part of a message that is left for its headers.
    static let headerBytes = 1_024
    /// The time in which a server without JetStream is given the chance to have started it.
    private static let startMilliseconds = 2_000

    /// Connects to the servers, and checks them and the stream.
    ///
    /// - Throws: `.unreachable` if no server answers in time, `.unsuitable` if the servers or the stream do not keep
    ///   what a store needs.
    package init(_ options: JetStreamOptions) throws {
        self.options = options
        library = try NATSLibrary.shared()
        let connection = try Self.opened(options, library)
        maximumEntryBytes = max(0, connection.value.maximumPayloadBytes - Self.headerBytes)
        let (last, first) = (connection.info.state.last, connection.info.state.first)
        state = Monitor(
            State(connection: connection.value, checked: connection.reconnects, seen: last, first: first))
    }

    deinit { close() }

    package func close() {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        state.notifyAll()
        connection?.close()
        server.join()
    }

    // MARK: Connections

    private struct Opened {
        let value: NATSConnection
        let info: StreamInfo
        let reconnects: UInt64
    }

    /// Connects and checks the stream, again and again until the deadline.
    private static func opened(_ options: JetStreamOptions, _ library: NATSLibrary) throws -> Opened {
        let attempts = Attempts(milliseconds: options.openMilliseconds)
        var silent: ContinuousClock.Instant?
        return try attempts.run {
            let connection = try connect(options, library)
            do {
                let reconnects = connection.reconnects
                return Opened(value: connection, info: try checked(connection, options), reconnects: reconnects)
            } catch {
                connection.close()
                let cause = (error as? StrataError)?.cause as? NATSFailure
                guard cause?.status == .noResponders else { throw error }
                let start = silent ?? .now
                silent = start
                guard start.duration(to: .now) > .milliseconds(startMilliseconds) else { throw error }
                throw StrataError(
                    .unsuitable, "JetStream is not enabled at the server; set 'jetstream' in its configuration.",
                    .init(path: options.address), cause: cause)
            }
        } pause: {
            pause()
            return true
        }
    }

    static func pause() { Monitor(true).wait(milliseconds: 5 * pauseMilliseconds) { _ in nil as Void? } }

    static func connect(_ options: JetStreamOptions, _ library: NATSLibrary) throws -> NATSConnection {
        do throws(NATSFailure) { return try NATSConnection(library, options) } catch {
            throw error.isFinal
                ? StrataError(
                    .unsuitable, "The servers reject the connection; check the credentials and the certificates.",
                    .init(path: options.address), cause: error)
                : unreachable(options, error)
        }
    }

    static func unreachable(_ options: JetStreamOptions, _ cause: (any Error)? = nil) -> StrataError {
        StrataError(
            .unreachable, "The servers of the sequencer do not answer; check that they run and can be reached.",
            .init(path: options.address), cause: cause)
    }

    var closedError: StrataError {
        StrataError(.closed, "The sequencer has been closed.", .init(path: options.address))
    }

    /// Calls `body` with a connection to a server that was checked. Does so again while servers cannot be reached, for
    /// about so long.
    func attempt<Result>(milliseconds: Int, _ body: (NATSConnection) throws -> Result) throws -> Result {
        try Attempts(milliseconds: milliseconds).run {
            try body(try checkedConnection())
        } pause: {
            state.wait(milliseconds: Self.pauseMilliseconds) { $0.isClosed ? () : nil } == nil
        }
    }

    /// Returns the connection, after a check if it was restored meanwhile.
    func checkedConnection() throws -> NATSConnection {
        let connection = try connection()
        let reconnects = connection.reconnects
        let isChecked = state.withLock { $0.connection === connection && $0.checked == reconnects }
        if isChecked { return connection }
        let info = try Self.checked(connection, options)
        note(info)
        state.withLock { state in if state.connection === connection { state.checked = reconnects } }
        return connection
    }

    /// Returns the connection; makes another if the library gave it up.
    private func connection() throws -> NATSConnection {
        try connecting.withLock { _ in
            let (current, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
            if isClosed { throw closedError }
            if let current, !current.isClosed {
                guard current.isConnected else { throw Self.unreachable(options) }
                return current
            }
            let connection = try Self.connect(options, library)
            let isLate = state.withLock { state in
                if !state.isClosed { (state.connection, state.checked) = (connection, nil) }
                return state.isClosed
            }
            if isLate {
                connection.close()
                throw closedError
            }
            return connection
        }
    }

    /// Notes where the stream begins.
    func note(_ info: StreamInfo) { state.withLock { $0.first = max($0.first, info.state.first) } }
}
