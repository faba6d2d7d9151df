import StrataConnections
import StrataModel

/// A connection to the primary of a store's servers, which is opened again when it is lost. One thread at a time uses
/// it, and one statement is on its way.
final class PostgresLink {
    private struct Session {
        let connection: PQConnection
        let server: ServerAddress.Server
        /// The start and the timeline of the server, which no other server and no other start has.
        let identity: String
    }

    private static let connectTime = Duration.seconds(2)
    private static let firstPause = Duration.milliseconds(20)
    private static let longestPause = Duration.milliseconds(500)
    /// The time without an answer after which other servers are asked whether one is the primary.
    private static let doubtTime = Duration.seconds(5)

    private let options: PostgresOptions
    private let tables: PostgresTables
    private let library: PQLibrary
    private let closing: SocketSignal
    private let createsTables: Bool
    private let channels: [String]
    private var session: Session?
    /// When the statement was sent whose answer is still to come.
    private var sent: ContinuousClock.Instant?

    /// - Parameters:
    ///   - createsTables: true for a link that makes the tables of a store, false for statements on them.
    ///   - channels: those whose notifications come over the link.
    init(
        _ options: PostgresOptions, _ library: PQLibrary, closing: SocketSignal, createsTables: Bool = false,
        listeningOn channels: [String] = []
    ) {
        self.options = options
        self.library = library
        self.closing = closing
        self.createsTables = createsTables
        self.channels = channels
        tables = PostgresTables(store: options.store)
    }

    /// The server of the present connection; nil without one.
    var identity: String? { session?.identity }

    func drop() { (session, sent) = (nil, nil) }

    // MARK: Connecting

    /// Makes sure that there is a connection on which a statement can be sent.
    ///
    /// - Throws: `.unreachable` after `deadline`, `.closed`, or the reason why the servers do not suit.
    func connect(until deadline: ContinuousClock.Instant) throws {
        if let session, session.connection.isAlive() {
            guard sent != nil else { return }
            // Left by a statement without a wait for its answer, or one that a paused primary does not answer: then
            // another server is looked for after each wait.
            guard case .answer(let answer) = receive(until: min(deadline, .now + Self.connectTime)) else {
                throw lateError
            }
            if answer.failure.map(\.isOfStatement) ?? true { return }
        }
        drop()
        var pause = Self.firstPause
        while true {
            var reasons: [String] = []
            var unsuitable: StrataError?
            for server in options.address.servers {
                do {
                    session = try open(server, until: min(deadline, .now + Self.connectTime))
                    return
                } catch let error as StrataError where error.code == .unreachable {
                    reasons.append("\(server.host):\(server.port ?? 5432): \(error.context.found ?? error.message)")
                } catch let error as StrataError where error.code != .closed {
                    // Another server may be the primary now.
                    unsuitable = unsuitable ?? error
                }
            }
            if let unsuitable { throw unsuitable }
            let next = min(deadline, .now + pause)
            if SocketSignal.wait(for: nil, or: [closing], until: next) == .signal { throw closedError }
            guard next < deadline else { throw unreachable(reasons) }
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func unreachable(_ reasons: [String]) -> StrataError {
        StrataError(
            .unreachable, "No server that takes writes can be reached; check the servers and the address.",
            .init(path: options.description, found: reasons.joined(separator: "; ")))
    }

    var closedError: StrataError {
        StrataError(.closed, "The sequencer has been closed.", .init(path: options.description))
    }

    private func open(_ server: ServerAddress.Server, until deadline: ContinuousClock.Instant) throws -> Session {
        let connection = try PQConnection(
            options.parameters(of: server), library, signals: [closing], until: deadline)
        func ask(_ statement: String) throws -> PQResult {
            try answer(connection, connection.send(statement), until: deadline)
        }
        let found = try ask(PostgresSettings.question)
        guard let identity = found.text(0, 1) else {
            throw StrataError(.unreachable, "The server is a standby.", .init(found: "a standby"))
        }
        guard let settings = PostgresSettings(found, version: connection.serverVersion) else {
            throw StrataError(.unsuitable, "The server does not state its settings.", .init(path: options.description))
        }
        do { try settings.check(standbys: options.standbys) } catch let error as StrataError {
            throw error.located(path: options.description)
        }
        let session = Session(connection: connection, server: server, identity: identity)
        if createsTables { return session }
        guard try ask(tables.existence).text(0, 0) == "t" else {
            throw StrataError(
                .notFound, "The database has no such store; create it with `strata create`.",
                .init(path: options.description))
        }
        for statement in PostgresTables.Statement.allCases {
            let text = tables.text(of: statement, isReplicated: options.standbys > 0)
            _ = try answer(connection, connection.sendPreparing(statement.rawValue, text), until: deadline)
        }
        let state = try answer(
            connection, connection.send(prepared: PostgresTables.Statement.state.rawValue, []), until: deadline)
        guard state.number(0, 1) == PostgresTables.format else {
            throw StrataError(
                .newerFormat, "The store's tables were made by a later version; use that version.",
                .init(
                    path: options.description, expected: "format \(PostgresTables.format)",
                    found: state.number(0, 1).map { "format \($0)" } ?? "none"))
        }
        for channel in channels { _ = try ask("listen \"\(channel)\"") }
        return session
    }

    /// Returns the result of a statement of a connection that is being opened.
    private func answer(
        _ connection: PQConnection, _ isSent: Bool, until deadline: ContinuousClock.Instant
    ) throws -> PQResult {
        guard isSent, case .answer(let answer) = connection.receive(until: deadline) else { throw lateError }
        if let failure = answer.failure { throw failure.error(at: options.description) }
        guard let result = answer.result else { throw lateError }
        return result
    }

    /// Replaces a connection whose server gives no answer, if another server has become the primary.
    private func moveIfAnotherIsPrimary() {
        guard let sent, sent.duration(to: .now) > Self.doubtTime else { return }
        move()
    }

    /// Connects to another server that is a primary, if there is one.
    func move() {
        guard let session else { return }
        for server in options.address.servers where server != session.server {
            guard let other = try? open(server, until: .now + Self.connectTime) else { continue }
            (self.session, self.sent) = (other, nil)
            return
        }
    }

    // MARK: Statements

    /// Sends a statement, after ``connect(until:)``. False if the connection was lost: the server may have it.
    func send(_ statement: PostgresTables.Statement, _ values: [[UInt8]]) -> Bool {
        send { $0.send(prepared: statement.rawValue, values) }
    }

    /// Sends statements without parameters.
    func send(_ statements: String) -> Bool { send { $0.send(statements) } }

    private func send(_ body: (PQConnection) -> Bool) -> Bool {
        guard let session, body(session.connection) else {
            drop()
            return false
        }
        sent = .now
        return true
    }

    /// Waits for the answer to what was sent. A connection that was lost is dropped.
    func receive(until deadline: ContinuousClock.Instant) -> PQConnection.Reception {
        guard let session, sent != nil else {
            return .answer(PQAnswer(failure: PQFailure(severity: nil, state: nil, message: "no connection")))
        }
        guard case .answer(let answer) = session.connection.receive(until: deadline) else {
            moveIfAnotherIsPrimary()
            return .none
        }
        sent = nil
        // A server that became read-only is no longer the primary.
        if let failure = answer.failure, !failure.isOfStatement || failure.state == "25006" { drop() }
        return .answer(answer)
    }

    /// Executes a statement that may be repeated, on a new connection too.
    ///
    /// - Throws: `.unreachable` if it was not executed by `deadline`, or not by as many servers as it must be.
    func ask(
        _ statement: PostgresTables.Statement, _ values: [[UInt8]] = [], until deadline: ContinuousClock.Instant
    ) throws -> PQResult {
        try ask(until: deadline) { $0.send(prepared: statement.rawValue, values) }
    }

    /// Executes statements without parameters that may be repeated.
    func ask(_ statements: String, until deadline: ContinuousClock.Instant) throws -> PQResult {
        try ask(until: deadline) { $0.send(statements) }
    }

    private func ask(until deadline: ContinuousClock.Instant, _ body: (PQConnection) -> Bool) throws -> PQResult {
        while true {
            try connect(until: deadline)
            guard send(body) else { continue }
            guard case .answer(let answer) = receive(until: deadline) else {
                throw lateError
            }
            if let warning = answer.warning { throw Self.unconfirmed(warning, at: options.description) }
            if let failure = answer.failure {
                guard failure.isOfStatement || deadline <= .now else { continue }
                throw failure.error(at: options.description)
            }
            if let result = answer.result { return result }
        }
    }

    /// The error of a statement whose commit the standbys may not have.
    static func unconfirmed(_ warning: PQFailure, at address: String) -> StrataError {
        StrataError(
            .unreachable, "The standby servers did not confirm a commit.",
            .init(path: address, found: warning.message))
    }

    var lateError: StrataError {
        if closing.isSet { return closedError }
        return StrataError(
            .unreachable, "The primary or its standby servers do not answer in time.",
            .init(path: options.description, found: session.map { "no answer of \($0.server.host)" }))
    }

    // MARK: Notifications

    /// Takes the notifications that have come, and returns the texts of the first ones.
    func notifications(atMost limit: Int = .max) -> [String] {
        session?.connection.notifications(atMost: limit) ?? []
    }

    /// Waits for a notification, for one of `signals`, or for the end of the connection.
    func waitForInput(or signals: [SocketSignal], until deadline: ContinuousClock.Instant) -> SocketSignal.Event {
        session?.connection.waitForInput(or: signals, until: deadline) ?? .socket
    }

    /// Returns false if there is no longer a connection.
    func isConnected() -> Bool { session?.connection.isAlive() ?? false }
}
