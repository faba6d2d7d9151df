import StrataModel
import StrataSystem

/// The connection to the servers of a stream. Another one takes its place when the library gives it up, and the servers
/// and the stream's settings are checked at each.
final class StreamConnection: Sendable {
    private struct State {
        var connection: NATSConnection?
        /// The restorations of the connection at which the server and the stream were checked; nil if never.
        var checked: UInt64?
        /// The greatest number that the stream was reported to begin with.
        var first: UInt64 = 0
        var isClosed = false
    }

    let options: JetStreamOptions
    private let library: NATSLibrary
    private let state = Monitor(State())
    /// Held while a connection is made.
    private let connecting = Lock(true)

    /// The pause before a server is asked again.
    private static let pauseMilliseconds = 20
    /// The time in which a server without JetStream is given the chance to have started it.
    private static let startMilliseconds = 2_000

    /// Connects to nothing yet.
    init(_ options: JetStreamOptions, _ library: NATSLibrary) { (self.options, self.library) = (options, library) }

    deinit { close() }

    /// True once nothing may use the connection.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// The greatest number that the stream was reported to begin with.
    var first: UInt64 { state.withLock { $0.first } }

    /// Ends all use of the connection, and wakes the threads that wait for it.
    func close() {
        let connection = state.withLock { state in
            state.isClosed = true
            return state.connection
        }
        state.notifyAll()
        connection?.close()
    }

    /// Connects and checks the stream, again and again until the deadline; returns the stream's state.
    ///
    /// - Throws: `.unreachable` if no server answers in time, `.unsuitable` if the servers or the stream do not meet a
    ///   store's requirements.
    func open() throws -> (info: StreamInfo, maximumPayloadBytes: Int) {
        let attempts = Attempts(milliseconds: options.openMilliseconds)
        var silent: ContinuousClock.Instant?
        return try attempts.run {
            let connection = try Self.connect(options, library)
            do {
                let reconnects = connection.reconnects
                let info = try JetStreamSequencer.checked(connection, options)
                state.withLock { ($0.connection, $0.checked) = (connection, reconnects) }
                note(info)
                return (info, connection.maximumPayloadBytes)
            } catch {
                connection.close()
                let cause = (error as? StrataError)?.cause as? NATSFailure
                guard cause?.status == .noResponders else { throw error }
                let start = silent ?? .now
                silent = start
                guard start.duration(to: .now) > .milliseconds(Self.startMilliseconds) else { throw error }
                throw StrataError(
                    .unsuitable, "JetStream is not enabled at the server; set 'jetstream' in its configuration.",
                    .init(path: options.address), cause: cause)
            }
        } pause: {
            Self.pause()
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
                : JetStreamSequencer.unreachable(options, error)
        }
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

    /// Returns the connection, after a check if it was restored in the meantime.
    func checkedConnection() throws -> NATSConnection {
        let connection = try connection()
        let reconnects = connection.reconnects
        let isChecked = state.withLock { $0.connection === connection && $0.checked == reconnects }
        if isChecked { return connection }
        let info = try JetStreamSequencer.checked(connection, options)
        note(info)
        state.withLock { state in if state.connection === connection { state.checked = reconnects } }
        return connection
    }

    private static func closed(_ options: JetStreamOptions) -> StrataError {
        StrataError(.closed, "The connection to the servers has been closed.", .init(path: options.address))
    }

    /// Returns the connection; makes another if there is none, or the library gave it up.
    private func connection() throws -> NATSConnection {
        try connecting.withLock { _ in
            let (current, isClosed) = state.withLock { ($0.connection, $0.isClosed) }
            if isClosed { throw Self.closed(options) }
            if let current, !current.isClosed {
                guard current.isConnected else { throw JetStreamSequencer.unreachable(options) }
                return current
            }
            let connection = try Self.connect(options, library)
            let isLate = state.withLock { state in
                if !state.isClosed { (state.connection, state.checked) = (connection, nil) }
                return state.isClosed
            }
            if isLate {
                connection.close()
                throw Self.closed(options)
            }
            return connection
        }
    }

    /// Notes where the stream begins.
    func note(_ info: StreamInfo) { state.withLock { $0.first = max($0.first, info.state.first) } }
}
